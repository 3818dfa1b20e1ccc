// npy: one array in a file (numpy/lib/format.py). The idea: the shape is checked against the bytes
// that exist before memory is taken.
//
//   offset  bytes
//   0       6      \x93 N U M P Y
//   6       2      version, major and minor: 1.0, 2.0 or 3.0
//   8       2 / 4  header length H, little endian (version 1 / 2, 3)
//   10 / 12 H      a Python dict literal with the keys descr, fortran_order, shape; ends in \n
//   then           the data

#include "npy_input.h"

// A position in the header's dict literal.
typedef struct Literal {
    const char *at, *end;
} Literal;

static void skip_blanks(Literal *text) {
    while (text->at < text->end && (*text->at == ' ' || *text->at == '\n' || *text->at == '\t'))
        text->at++;
}

static bool take_char(Literal *text, char wanted) {
    skip_blanks(text);
    if (text->at == text->end || *text->at != wanted)
        return false;
    text->at++;
    return true;
}

static bool take_word(Literal *text, const char *word) {
    skip_blanks(text);
    size_t length = strlen(word);
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, word, length) != 0)
        return false;
    text->at += length;
    return true;
}

// 'text' or "text" on one line and without escapes, at most size - 1 bytes.
static bool take_string(Literal *text, char *out, size_t size) {
    skip_blanks(text);
    if (text->at == text->end || (*text->at != '\'' && *text->at != '"'))
        return false;
    char quote = *text->at++;
    size_t length = 0;
    while (text->at < text->end && *text->at != quote && *text->at != '\\' &&
           (unsigned char)*text->at >= ' ' && length + 1 < size)
        out[length++] = *text->at++;
    out[length] = '\0';
    return take_char(text, quote);
}

// Digits, optionally with Python 2's L after them.
static bool take_extent(Literal *text, int64_t *out) {
    skip_blanks(text);
    const char *start = text->at;
    int64_t value = 0;
    while (text->at < text->end && *text->at >= '0' && *text->at <= '9')
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *text->at++ - '0', &value))
            return false;
    if (text->at == start)
        return false;
    if (text->at < text->end && *text->at == 'L')
        text->at++;
    *out = value;
    return true;
}

static bool parse_shape(Npy *npy, Literal *text, Error *err) {
    if (!take_char(text, '('))
        return error_data(err, "the header's shape is not a tuple");
    npy->rank = 0;
    while (!take_char(text, ')')) {
        if (npy->rank == NPY_RANK)
            return error_data(err, "the array has more than %d dimensions", NPY_RANK);
        if (!take_extent(text, &npy->shape[npy->rank]))
            return error_data(err,
                              "the header's shape holds something else than non-negative numbers");
        npy->rank++;
        if (!take_char(text, ',') && (text->at == text->end || *text->at != ')'))
            return error_data(err, "the header's shape is not a tuple");
    }
    return true;
}

static bool kind_is_allowed(char kind, int64_t size) {
    bool power = size == 1 || size == 2 || size == 4 || size == 8;
    switch (kind) {
    case 'f':
        return power && size > 1;
    case 'i':
    case 'u':
        return power;
    case 'b':
        return size == 1;
    default:
        return (kind == 'U' || kind == 'S') && size < 1 << 18;
    }
}

// Byte order, kind, size: "<f4", "|b1", "<U17".
static bool parse_descr(Npy *npy, const char *descr, Error *err) {
    char order = descr[0], kind = order == '\0' ? '\0' : descr[1];
    if (kind == 'O')
        return error_data(err, "it is an object array (a Python pickle), which is never read; "
                               "store it as numbers or as fixed-width text");
    Literal digits = {descr + 2, descr + strlen(descr)};
    int64_t size = 0;
    bool ok = (order == '<' || order == '>' || order == '|') && kind != '\0' &&
              digits.at < digits.end && *digits.at != ' ' && take_extent(&digits, &size) &&
              digits.at == digits.end && digits.end[-1] != 'L';
    ok = ok && kind_is_allowed(kind, size) && (order != '|' || size == 1 || kind == 'S');
    if (!ok)
        return error_data(
            err, "the type '%s' is not one of f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 U S", descr);
    npy->kind = kind == 'S' ? NPY_TEXT : (NpyKind)kind;
    npy->wide = kind == 'U';
    npy->item = (int)(kind == 'U' ? 4 * size : size);
    npy->big_endian = order == '>';
    return true;
}

static bool parse_entry(Npy *npy, Literal *text, unsigned *seen, Error *err) {
    static const char *const keys[3] = {"descr", "fortran_order", "shape"};
    char key[32], descr[32];
    if (!take_string(text, key, sizeof key) || !take_char(text, ':'))
        return error_data(err, "the header is not a Python dict");
    unsigned which = 0;
    while (which < 3 && strcmp(key, keys[which]) != 0)
        which++;
    if (which == 3 || (*seen >> which & 1) != 0)
        return error_data(err, "the header's key '%s' is %s", key,
                          which == 3 ? "unknown" : "there twice");
    *seen |= 1u << which;
    if (which == 2)
        return parse_shape(npy, text, err);
    if (which == 1) {
        npy->fortran = take_word(text, "True");
        return npy->fortran || take_word(text, "False") ||
               error_data(err, "the header's fortran_order is neither True nor False");
    }
    if (!take_string(text, descr, sizeof descr))
        return error_data(
            err,
            "the header's descr is not the name of a plain type (structured arrays are not read)");
    return parse_descr(npy, descr, err);
}

static bool parse_dict(Npy *npy, Literal *text, Error *err) {
    unsigned seen = 0;
    if (!take_char(text, '{'))
        return error_data(err, "the header is not a Python dict");
    while (!take_char(text, '}')) {
        if (!parse_entry(npy, text, &seen, err))
            return false;
        if (!take_char(text, ',') && (text->at == text->end || *text->at != '}'))
            return error_data(err, "the header is not a Python dict");
    }
    skip_blanks(text);
    if (text->at != text->end)
        return error_data(err, "something follows the header's dict");
    if (seen != 7)
        return error_data(err, "the header has no '%s'",
                          (seen & 1) == 0   ? "descr"
                          : (seen & 2) == 0 ? "fortran_order"
                                            : "shape");
    return true;
}

// Computes elements and *bytes from the shape; every product is checked.
static bool count_elements(Npy *npy, size_t *bytes, Error *err) {
    npy->elements = 1;
    bool overflow = false;
    for (int d = 0; d < npy->rank; d++)
        overflow |= __builtin_mul_overflow(npy->elements, npy->shape[d], &npy->elements);
    overflow |= __builtin_mul_overflow((size_t)npy->elements, (size_t)npy->item, bytes);
    if (overflow || *bytes > (size_t)INT64_MAX)
        return error_data(err, "the shape asks for more bytes than there can be");
    return true;
}

// Reads the header; *start is where the data begins.
static bool read_header(Npy *npy, NpyInput *input, size_t *start, Error *err) {
    unsigned char head[12];
    if (input->bytes < 10)
        return error_data(err, "%zu bytes are too few for an npy array", input->bytes);
    if (!input->pull(input->context, head, 10, err))
        return false;
    if (memcmp(head, "\x93NUMPY", 6) != 0)
        return error_data(err, "it does not begin like an npy array");
    if (head[6] < 1 || head[6] > 3 || head[7] != 0)
        return error_data(err, "npy version %d.%d is unknown (1.0, 2.0 and 3.0 are)", head[6],
                          head[7]);
    size_t length = (size_t)head[8] | (size_t)head[9] << 8;
    *start = 10 + length;
    if (head[6] > 1) {
        if (input->bytes < 12 || !input->pull(input->context, head + 10, 2, err))
            return error_data(err, "it ends inside the header");
        length |= (size_t)head[10] << 16 | (size_t)head[11] << 24;
        *start = 12 + length;
    }
    char text[NPY_HEADER];
    if (*start > input->bytes)
        return error_data(err, "it ends inside the header");
    if (length == 0 || length > sizeof text)
        return error_data(err, "the header has %zu bytes (1 to %zu are read)", length, sizeof text);
    if (!input->pull(input->context, text, length, err))
        return false;
    if (text[length - 1] != '\n')
        return error_data(err, "the header does not end in a newline");
    return parse_dict(npy, &(Literal){text, text + length}, err);
}

bool npy_head(Npy *npy, const char *name, NpyInput *input, size_t *bytes, Error *err) {
    *npy = (Npy){0};
    snprintf(npy->name, sizeof npy->name, "%s", name);
    size_t start = 0;
    if (!read_header(npy, input, &start, err) || !count_elements(npy, bytes, err))
        return false;
    if (*bytes > input->bytes - start)
        return error_data(err, "it holds %zu data bytes but its shape asks for %zu",
                          input->bytes - start, *bytes);
    npy->trailing = *bytes < input->bytes - start;
    return true;
}

bool npy_from(Npy *npy, const char *name, NpyInput *input, Error *err) {
    size_t bytes = 0;
    if (!npy_head(npy, name, input, &bytes, err))
        return false;
    npy->data = memory_try(bytes, "an array read from a file", err);
    if (npy->data == NULL || !input->pull(input->context, npy->data, bytes, err)) {
        npy_clear(npy);
        return false;
    }
    return true;
}

void npy_clear(Npy *npy) {
    memory_free(npy->data);
    *npy = (Npy){0};
}

static bool pull_file(void *context, void *into, size_t bytes, Error *err) {
    FILE *file = context;
    return bytes == 0 || fread(into, 1, bytes, file) == bytes ||
           error_set(err, EXIT_IO, "cannot be read to its end");
}

static bool read_file(Npy *npy, const char *path, bool head, Error *err) {
    int64_t size;
    size_t bytes;
    *npy = (Npy){0};
    CLEARED(stream_drop) FILE *file = file_stream(path, &size, err);
    if (file == NULL)
        return false;
    NpyInput input = {pull_file, file, (size_t)size};
    bool ok = head ? npy_head(npy, path_name(path), &input, &bytes, err)
                   : npy_from(npy, path_name(path), &input, err);
    return ok || error_prefix(err, "%s", path);
}

bool npy_read(Npy *npy, const char *path, Error *err) { return read_file(npy, path, false, err); }

bool npy_look(Npy *npy, const char *path, Error *err) { return read_file(npy, path, true, err); }

// --- writing

size_t npy_header(char out[NPY_WRITTEN], const char *descr, int rank, const int64_t *shape) {
    char dict[256];
    int used =
        snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (int d = 0; d < rank; d++)
        used += snprintf(dict + used, sizeof dict - (size_t)used, "%s%ld", d == 0 ? "" : ", ",
                         shape[d]);
    used += snprintf(dict + used, sizeof dict - (size_t)used, "%s), }", rank == 1 ? "," : "");
    size_t total = ((size_t)used + 11 + 63) / 64 * 64;
    memset(out, ' ', total);
    memcpy(out, "\x93NUMPY\1\0", 8);
    out[8] = (char)((total - 10) & 0xff);
    out[9] = (char)((total - 10) >> 8);
    memcpy(out + 10, dict, (size_t)used);
    out[total - 1] = '\n';
    return total;
}

bool npy_begin(FileWriter *writer, const char *path, const char *descr, int rank,
               const int64_t *shape, Error *err) {
    char header[NPY_WRITTEN];
    size_t length = npy_header(header, descr, rank, shape);
    if (!file_writer_replace(writer, path, err))
        return false;
    return file_writer_put(writer, header, length, err) ||
           file_writer_take_place(writer, false, err);
}

bool npy_write(const char *path, const char *descr, const void *data, size_t item, int rank,
               const int64_t *shape, Error *err) {
    assert(rank >= 0 && rank <= NPY_RANK);
    size_t bytes = item;
    for (int d = 0; d < rank; d++)
        bytes *= (size_t)shape[d];
    FileWriter writer;
    return npy_begin(&writer, path, descr, rank, shape, err) &&
           file_writer_take_place(&writer, file_writer_put(&writer, data, bytes, err), err);
}
