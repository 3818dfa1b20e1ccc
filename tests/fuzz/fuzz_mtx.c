// The reader of Matrix Market files.

#include "fuzz_dataset.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    fuzz_text_format(&format_mtx, bytes, count);
    return 0;
}
