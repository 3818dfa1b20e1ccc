// The reader of hMETIS hypergraphs (.hgr).

#include "fuzz_dataset.h"

FUZZER { fuzz_text_format(&format_hgr, bytes, count); }
