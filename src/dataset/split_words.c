// Splits as words: of a column of a table, or of the array 'split' of an npz, one for each node.

#include "internal.h"
#include "table.h"

int split_of_word(const char *word, int64_t length) {
    static const char *const words[4] = {"none", "train training", "val valid validation dev",
                                         "test testing"};
    char text[32];
    snprintf(text, sizeof text, "%.*s", (int)(length < 31 ? length : 31), word);
    for (int s = 0; s < 4 && length > 0; s++)
        if (text_lists(words[s], text) || column_is_word(text, words[s]))
            return s;
    return length == 0 ? SPLIT_NONE : -1;
}

bool splits_are_words(Npz *npz) {
    Npy npy;
    return npz != NULL && npz_has(npz, "split") && npz_look(npz, "split", &npy, &(Error){0}) &&
           npy.kind == NPY_TEXT;
}

static bool put_words(Dataset *dataset, const Npy *npy, Error *err) {
    FREED char *text = NULL;
    FREED int64_t *span = NULL;
    if (npy->elements != dataset->nodes)
        return error_data(err, "it has %ld words, but there are %ld nodes", npy->elements,
                          dataset->nodes);
    if (!npy_to_text(npy, &text, &span, err))
        return false;
    for (int64_t i = 0; i < dataset->nodes; i++) {
        const char *word = text + (span[i] >> SPAN_BITS);
        int found = split_of_word(word, span_bytes(span[i]));
        if (found < 0)
            return error_data(err, "'%.*s' of node %ld is none of train, val, test, none",
                              (int)(span_bytes(span[i]) < 31 ? span_bytes(span[i]) : 31), word, i);
        dataset->split[i] = (uint8_t)found;
    }
    return true;
}

bool splits_read_words(Dataset *dataset, const SplitSource *source, Error *err) {
    CLEARED(npy_clear) Npy npy = {0};
    bool ok = npz_read(source->npz, "split", &npy, err) && put_words(dataset, &npy, err);
    return ok || error_prefix(err, "%s: array 'split'", source->path);
}
