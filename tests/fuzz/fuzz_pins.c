// The reader of lists of pins (.pins).

#include "fuzz_dataset.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    fuzz_text_format(&format_pins, bytes, count);
    return 0;
}
