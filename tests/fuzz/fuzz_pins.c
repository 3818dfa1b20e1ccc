// The readers of lists of pins and of members.

#include "fuzz_dataset.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    fuzz_text_format(&format_pins, bytes, count);
    fuzz_text_format(&format_members, bytes, count);
    return 0;
}
