// The reader of METIS graphs (.graph).

#include "fuzz_dataset.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    fuzz_text_format(&format_metis, bytes, count);
    return 0;
}
