// The memory that loading a dataset may take, before any of it is taken, by one rule a format: the
// bytes of its files and a factor for what they hold. Blocks that are too large all the same are
// refused one by one, where they are taken.
//
//   a text    its bytes, and factor.word for each of its words; how many these are is judged by the
//             beginning of the text
//   an array  its values as numbers of 32 bits where they are floats, else item + factor.number

#include "parts.h"

enum {
    PACKED = 4,           // bytes of a text for one of gzip
    OF_CELL = 48,         // factor.word of tables about nodes
    OF_NODES = 24,        // factor.number of arrays about nodes
    BEGINNING = 1 << 16,  // bytes that are looked at
    LIBRARIES = (2 << 20) // buffers of libzip, zlib and stdio
};

// Bytes of a text as it is read. gzip ends in their number, of which 32 bits are kept and which
// says nothing of members before the last one.
static size_t text_bytes(const char *path, bool *packed) {
    unsigned char head[2] = {0}, tail[4] = {0};
    size_t bytes = (size_t)file_size(path);
    CLEARED(stream_drop) FILE *file = fopen(path, "rbe");
    *packed = file != NULL && bytes > 18 && fread(head, 1, 2, file) == 2 && head[0] == 0x1f &&
              head[1] == 0x8b;
    size_t least = bytes > UINT32_MAX / PACKED ? PACKED * bytes : bytes, said = 0;
    if (*packed && fseek(file, -4, SEEK_END) == 0 && fread(tail, 1, 4, file) == 4)
        for (int i = 3; i >= 0; i--)
            said = said << 8 | tail[i];
    return !*packed ? bytes : said >= least ? said : PACKED * bytes;
}

// Words for each byte of its beginning.
static double word_density(const char *path) {
    FREED char *text = ALLOC(char, BEGINNING, "the beginning of a text");
    size_t got = text_head(path, text, BEGINNING);
    int words = 0;
    bool inside = false;
    for (size_t i = 0; i < got; i++) {
        bool letter = (unsigned char)text[i] > ' ' && strchr(",;|", text[i]) == NULL;
        words += letter && !inside;
        inside = letter;
    }
    return got > 0 ? (double)words / (double)got : 0;
}

// A plain text is read into one block; one of gzip grows by half each time, with a copy.
static size_t bound_of_text(const char *path, const Format *format, int of_word) {
    bool packed;
    size_t bytes = text_bytes(path, &packed), held = packed ? bytes * 5 / 2 : bytes;
    double words = (double)bytes * word_density(path);
    return (format->streams ? LIBRARIES : held) + (size_t)(words * of_word);
}

static size_t bound_of_array(const Npy *npy, int of_number) {
    size_t item = (size_t)npy->item;
    bool floats = npy->kind == NPY_FLOAT;
    size_t each = !floats ? item + (size_t)of_number : item == 4 ? item : item + sizeof(float);
    return memory_product(npy->elements, each);
}

static size_t bound_of_archive(const char *path, int of_number) {
    CLEARED(npz_drop) Npz *npz = npz_open(path, &(Error){0});
    size_t bytes = 0;
    Npy npy;
    for (int i = 0; npz != NULL && i < npz_count(npz); i++)
        if (npz_look(npz, npz_key(npz, i), &npy, &(Error){0}))
            bytes += bound_of_array(&npy, of_number);
    return bytes;
}

static size_t bound_of_file(const char *path, const Format *format, Factor factor) {
    Npy npy;
    char head[3];
    if (file_head(path, head, sizeof head) == 0)
        return 0;
    if (strcmp(head, "PK") == 0)
        return bound_of_archive(path, factor.number);
    if (path_ends(path, ".npy"))
        return npy_look(&npy, path, &(Error){0}) ? bound_of_array(&npy, factor.number) : 0;
    return bound_of_text(path, format, factor.word);
}

static size_t bound_of_dataset(const char *path, const Format *format) {
    FormatFile file[FORMAT_FILES];
    CLEARED(parts_clear) Parts parts = {0};
    size_t bytes = 0;
    int count = format->files != NULL ? format->files(path, file) : 0;
    if (format->files == NULL && !parts_find(&parts, path))
        return bound_of_file(path, format, format->factor);
    for (int i = 0; i < count; i++)
        bytes += bound_of_file(file[i].path, format, format->factor);
    for (int i = 0; i < parts.count; i++)
        bytes += bound_of_file(parts.path[i], format, format->factor);
    return bytes;
}

static size_t bound_of_key(const Config *config, const char *path, const Format *format) {
    if (path[0] == '\0')
        return 0;
    return bound_of_file(DATASET_PATH(config, path), format, (Factor){OF_CELL, OF_NODES});
}

void dataset_forecast(MemoryForecast *forecast, const Config *config) {
    const char *path = DATASET_PATH(config, config->data.path);
    const Format *format = format_find(config->data.format, path, &(Error){0});
    if (format == NULL || !(file_exists(path) || parts_are(path)))
        return;
    // Rows of data.nodes with ids are read, and then put at their nodes.
    size_t beside = 2 * bound_of_key(config, config->data.nodes, format) +
                    bound_of_key(config, config->data.features, format) +
                    bound_of_key(config, config->data.labels, format);
    size_t bytes = format->maps ? 0 : bound_of_dataset(path, format);
    forecast_add(forecast, "loading the dataset", bytes + beside + LIBRARIES);
}
