// The reader of Matrix Market files.

#include "fuzz_dataset.h"

FUZZER { fuzz_text_format(&format_mtx, bytes, count); }
