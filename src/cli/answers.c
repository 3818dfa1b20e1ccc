// predict --npz: ids, classes, scores and the rows that enter a layer in one archive. Rank 0 makes
// it of the .npy files that it has written, so no array is in memory as a whole.

#include "fringe/npy.h"
#include "internal.h"

#include <errno.h>
#include <unistd.h>

enum { MOST_ARRAYS = 5, LETTER = 4 }; // bytes of a letter of numpy's <U

typedef struct Source { // what makes the elements of an array
    const NodeIds *names;
    int64_t first;   // number of the first id, where there are no names
    size_t item;     // of a file, or of a name
    int file;        // -1: none
    int64_t skipped; // bytes before its elements
    char path[PATH_BYTES], descr[16];
} Source;

typedef struct Answers {
    Source source[MOST_ARRAYS];
    NpzOut array[MOST_ARRAYS];
    int count;
} Answers;

// ---- elements

static bool make_from_file(void *context, int64_t first, int64_t count, void *out, Error *err) {
    const Source *s = context;
    size_t wanted = (size_t)count * s->item, done = 0;
    int64_t at = s->skipped + first * (int64_t)s->item;
    while (done < wanted) {
        ssize_t got = pread(s->file, (char *)out + done, wanted - done, at + (off_t)done);
        if (got <= 0 && (got == 0 || errno != EINTR))
            return error_set(err, EXIT_IO, "%s: cannot read: %s", s->path,
                             got == 0 ? "it became shorter" : strerror(errno));
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

static bool make_numbers(void *context, int64_t first, int64_t count, void *out,
                         UNUSED Error *err) {
    const Source *s = context;
    int64_t *number = out;
    for (int64_t i = 0; i < count; i++)
        number[i] = s->names->count > 0 ? s->names->number[first + i] : first + i;
    return true;
}

// The letter at `at` and its bytes. Bytes that are no UTF-8 are letters of their own.
static uint32_t letter_at(const unsigned char *at, int64_t left, int *bytes) {
    *bytes = *at < 0xC0 ? 1 : *at < 0xE0 ? 2 : *at < 0xF0 ? 3 : 4;
    uint32_t letter = *bytes == 1 ? *at : *at & (0x7Fu >> *bytes);
    bool whole = *bytes <= left;
    for (int i = 1; whole && i < *bytes; i++) {
        whole = (at[i] & 0xC0) == 0x80;
        letter = letter << 6 | (at[i] & 0x3Fu);
    }
    if (whole)
        return letter;
    *bytes = 1;
    return *at;
}

static int64_t letters_of(const NodeIds *names, int64_t i, uint32_t *out) {
    int64_t at = names->offset[i], end = names->offset[i + 1], letters = 0;
    for (int bytes; at < end; at += bytes, letters++) {
        uint32_t letter = letter_at((const unsigned char *)names->bytes + at, end - at, &bytes);
        if (out != NULL)
            out[letters] = letter;
    }
    return letters;
}

static bool make_names(void *context, int64_t first, int64_t count, void *out, UNUSED Error *err) {
    const Source *s = context;
    memset(out, 0, (size_t)count * s->item);
    for (int64_t i = 0; i < count; i++)
        letters_of(s->names, first + i, (uint32_t *)out + (size_t)i * s->item / LETTER);
    return true;
}

// ---- arrays

static NpzOut *add(Answers *a, const char *key, const char *descr, size_t item, int64_t rows,
                   int64_t columns) {
    Source *s = &a->source[a->count];
    NpzOut *out = &a->array[a->count++];
    *s = (Source){.file = -1, .item = item};
    snprintf(s->descr, sizeof s->descr, "%s", descr);
    *out = (NpzOut){.key = key,
                    .descr = s->descr,
                    .item = item,
                    .rank = columns > 0 ? 2 : 1,
                    .shape = {rows, columns},
                    .context = s};
    return out;
}

static bool add_file(Answers *a, const char *key, const char *folder, const char *name,
                     const char *descr, size_t item, int64_t rows, int64_t columns, Error *err) {
    int64_t bytes;
    NpzOut *out = add(a, key, descr, item, rows, columns);
    Source *s = out->context;
    out->make = make_from_file;
    path_join(s->path, sizeof s->path, folder, name);
    s->file = file_open(s->path, &bytes, err);
    s->skipped = bytes - (int64_t)memory_product(rows * (columns > 0 ? columns : 1), item);
    return s->file >= 0;
}

static void add_names(Answers *a, const char *key, const NodeIds *names, int64_t rows) {
    char descr[16];
    int64_t longest = 1;
    for (int64_t i = 0; names->offset != NULL && i < names->count; i++) {
        int64_t letters = letters_of(names, i, NULL);
        longest = letters > longest ? letters : longest;
    }
    snprintf(descr, sizeof descr,
             names->offset != NULL ? "<U%ld"
             : names->is_unsigned  ? "<u8"
                                   : "<i8",
             longest);
    NpzOut *out = add(a, key, descr,
                      names->offset != NULL ? (size_t)longest * LETTER : sizeof(int64_t), rows, 0);
    Source *s = out->context;
    s->names = names;
    out->make = names->offset != NULL ? make_names : make_numbers;
    out->packed = true; // most names are shorter than the longest
}

static bool add_all(Answers *a, const AnswerFiles *files, Error *err) {
    const Shard *shard = files->shard;
    int64_t n = shard->set[NODES].total, k = shard->classes;
    add_names(a, "id", &files->names->ids, n);
    if (files->names->classes.count > 0)
        add_names(a, "class_names", &files->names->classes, files->names->classes.count);
    return (shard->numeric || add_file(a, "class", files->folder, "classes.npy", "<i8", 8, n,
                                       shard->multilabel ? k : 0, err)) &&
           add_file(a, "scores", files->folder, "scores.npy", "<f4", 4, n, k, err) &&
           (files->embedding == NULL || add_file(a, "embeddings", files->folder, files->embedding,
                                                 "<f4", 4, n, files->width, err));
}

bool answers_write(const char *path, const AnswerFiles *files, Error *err) {
    FREED Answers *a = ALLOC(Answers, 1, "arrays of answers");
    bool ok = add_all(a, files, err) && npz_write(path, a->array, a->count, err);
    for (int i = 0; i < a->count; i++)
        if (a->source[i].file >= 0)
            close(a->source[i].file);
    if (ok) {
        terminal_print("%s", SHOWN(path));
        for (int i = 0; i < a->count; i++)
            terminal_print("%s%s", i > 0 ? ", " : " ", a->array[i].key);
        terminal_print("\n");
    }
    return ok;
}
