// A fuzzer of the hMETIS reader, for clang's -fsanitize=fuzzer: whatever the bytes are, they are
// read or refused with a sentence, under AddressSanitizer and UndefinedBehaviorSanitizer.
//
//   CC=clang cmake -S . -B build-fuzz && ninja -C build-fuzz fuzz_hgr
//   build-fuzz/fuzz_hgr -max_len=4096 -max_total_time=60 FOLDER_OF_HGR_FILES

#include "dataset/internal.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    Dataset dataset = {0};
    Error err = {0};
    char *text = malloc(count + 1); // exactly, so that a read behind it is noticed
    memcpy(text, bytes, count);
    text[count] = '\0';
    bool ok = hgr_parse(&dataset, text, count, "fuzz.hgr", &err);
    if (ok != (err.code == 0))
        abort();
    if (ok && !dataset_check(&dataset, "fuzz.hgr", &err))
        abort(); // the reader lets nothing through that the checks refuse
    if (ok)
        dataset_finish(&dataset);
    dataset_clear(&dataset);
    if (memory_in_use() != 0)
        abort();
    free(text);
    return 0;
}
