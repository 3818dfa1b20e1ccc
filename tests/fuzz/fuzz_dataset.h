// What the fuzzers of formats that are one text share: a dataset comes out, or a sentence.
#pragma once

#include "fuzz.h"

#include "dataset/internal.h"

// A reader lets nothing through that the checks after it refuse, but for weights and the like,
// which are theirs: then they have a sentence. What passes is finished as dataset_load does it.
static inline void fuzz_dataset(Dataset *dataset, bool ok, Error *err) {
    fuzz_verdict(ok, err);
    if (ok && dataset_need_split(dataset, err) && dataset_check(dataset, "fuzz", err))
        dataset_finish(dataset);
    fuzz_verdict(err->code == 0, err);
    dataset_clear(dataset);
}

// Texts of odd length are read with data.undirected, every fourth pair of lengths with 6 rows of
// features beside them.
static inline void fuzz_text_with(const Format *format, Config *config, const uint8_t *bytes,
                                  size_t count) {
    Dataset dataset = {0};
    Error err = {0};
    config->data.undirected = count % 2 == 1;
    Text text = {ALLOC(char, count + 1, "text of a fuzzer"), count};
    if (count > 0)
        memcpy(text.data, bytes, count);
    Request request = {.config = config, .path = "fuzz", .rows = count / 2 % 4 == 3 ? 6 : -1};
    bool ok = format->parse(&dataset, &text, &request, &err);
    text_clear(&text);
    fuzz_dataset(&dataset, ok, &err);
}
static inline void fuzz_text_format(const Format *format, const uint8_t *bytes, size_t count) {
    static Config config;
    fuzz_text_with(format, &config, bytes, count);
}
