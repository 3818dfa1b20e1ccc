// The reader of edge lists.

#include "fuzz_dataset.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    fuzz_text_format(edges_parse, bytes, count);
    return 0;
}
