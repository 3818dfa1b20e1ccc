// The reader of METIS graphs (.graph).

#include "fuzz_dataset.h"

FUZZER { fuzz_text_format(&format_metis, bytes, count); }
