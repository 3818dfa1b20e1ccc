// The readers of lists of pins and of members.

#include "fuzz_dataset.h"

FUZZER {
    fuzz_text_format(&format_pins, bytes, count);
    fuzz_text_format(&format_members, bytes, count);
}
