// The reader of hMETIS hypergraphs (.hgr).

#include "fuzz_dataset.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    fuzz_text_format(&format_hgr, bytes, count);
    return 0;
}
