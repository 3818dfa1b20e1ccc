// Text files: read whole (gzip through zlib), then scanned by number parsers that know their line.
// The idea: the text is in memory and ends in a 0, so a scan needs no buffer. Every number is
// checked for overflow while its digits are read.

#include "internal.h"

#include <errno.h>
#include <float.h>
#include <stdarg.h>
#include <unistd.h>
#include <zlib.h>

bool text_ends(const char *path, const char *endings) {
    char plain[PATH_BYTES];
    int packed = path_ends(path, ".gz") ? 3 : 0;
    snprintf(plain, sizeof plain, "%.*s", (int)strlen(path) - packed, path);
    return path_ends(plain, endings);
}

size_t text_head(const char *path, char *head, size_t size) {
    gzFile file = file_is_regular(path) ? gzopen(path, "rb") : NULL;
    int got = file == NULL ? 0 : gzread(file, head, (unsigned)size - 1);
    if (file != NULL)
        gzclose(file);
    got = got > 0 ? got : 0;
    head[got] = '\0';
    return (size_t)got;
}

bool text_grow(Text *text, size_t *room, size_t wanted, Error *err) {
    if (wanted <= *room)
        return true;
    size_t larger = *room == 0 ? wanted : wanted + wanted / 2;
    char *data = memory_try(larger, "the text of a file", err);
    if (data == NULL)
        return false;
    if (text->bytes > 0)
        memcpy(data, text->data, text->bytes);
    memory_free(text->data);
    text->data = data;
    *room = larger;
    return true;
}

static bool refuse_damage(gzFile file, Error *err) {
    int status = Z_OK;
    const char *message = gzerror(file, &status), *reason = strstr(message, ": ");
    if (status == Z_ERRNO)
        return error_set(err, EXIT_IO, "cannot be read to its end: %s", strerror(errno));
    if (status == Z_BUF_ERROR)
        return error_data(err, "cannot be read to its end: the gzip stream is cut");
    return status == Z_OK || status == Z_STREAM_END ||
           error_data(err, "its gzip stream is damaged%s", reason != NULL ? reason : "");
}

size_t text_pull(gzFile file, char *out, size_t room, Error *err) {
    const size_t most = 1 << 30;
    size_t done = 0;
    int got = 1;
    while (done < room && got > 0) {
        got = gzread(file, out + done, (unsigned)(room - done < most ? room - done : most));
        done += got > 0 ? (size_t)got : 0;
    }
    if ((got > 0 || refuse_damage(file, err)) && memchr(out, 0, done) != NULL)
        error_data(err, "is not a text file (it holds a zero byte); if it is UTF-16, convert it: "
                        "iconv -f UTF-16 -t UTF-8 OLD > NEW");
    return done;
}

// Reads to the end of the file. `size` is that of a plain file, so that one allocation suffices.
static bool read_stream(Text *text, gzFile file, size_t size, Error *err) {
    size_t room = 0, left, got;
    do {
        if (!text_grow(text, &room, (text->bytes == 0 ? size : text->bytes) + 2, err))
            return false;
        left = room - text->bytes - 1; // at least one, and the 0 at the end
        text->bytes += got = text_pull(file, text->data + text->bytes, left, err);
    } while (got == left && err->code == 0);
    text->data[text->bytes] = '\0';
    return err->code == 0;
}

gzFile text_open(const char *path, int64_t *size, Error *err) {
    int descriptor = file_open(path, size, err);
    gzFile file = descriptor < 0 ? NULL : gzdopen(descriptor, "rb");
    if (file == NULL && descriptor >= 0) {
        close(descriptor);
        error_set(err, EXIT_MEMORY, "%s: no memory to read it", path);
    }
    if (file == NULL)
        return NULL;
    gzbuffer(file, 1 << 18);
    if (!gzdirect(file) || !path_ends(path, ".gz"))
        return file;
    gzclose(file);
    error_data(err, "%s: is not a gzip file although its name says so", path);
    return NULL;
}

bool text_read(Text *text, const char *path, Error *err) {
    int64_t size;
    *text = (Text){0};
    gzFile file = text_open(path, &size, err);
    if (file == NULL)
        return false;
    bool ok = read_stream(text, file, (size_t)size, err) || error_prefix(err, "%s", path);
    gzclose(file);
    if (!ok)
        text_clear(text);
    return ok;
}

void text_clear(Text *text) {
    memory_free(text->data);
    *text = (Text){0};
}

int64_t text_newlines(const char *data, size_t bytes) {
    int64_t newlines = 0;
    const char *at = data, *end = data + bytes;
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        newlines++;
        at++;
    }
    return newlines;
}

int64_t text_lines(const Text *text) { return 1 + text_newlines(text->data, text->bytes); }

Scan scan_text(const Text *text, const char *path) {
    return (Scan){text->data, text->data + text->bytes, 1, path};
}

static void skip_blanks(Scan *scan) {
    while (*scan->at == ' ' || *scan->at == '\t')
        scan->at++;
}

bool scan_at_line_end(Scan *scan) {
    skip_blanks(scan);
    return scan->at == scan->end || *scan->at == '\n' ||
           (*scan->at == '\r' && (scan->at[1] == '\n' || scan->at[1] == '\0'));
}

void scan_skip_comma(Scan *scan) {
    if (!scan_at_line_end(scan) && *scan->at == ',')
        scan->at++;
}

void scan_next_line(Scan *scan) {
    const char *newline = memchr(scan->at, '\n', (size_t)(scan->end - scan->at));
    scan->at = newline == NULL ? scan->end : newline + 1;
    scan->line++;
}

bool scan_error(const Scan *scan, Error *err, const char *format, ...) {
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return error_data(err, "%s:%ld: %s", scan->path, scan->line, sentence);
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A number must end at a blank, a comma or the end of the line.
static bool ends_word(char c) {
    return c == ' ' || c == '\t' || c == ',' || c == '\r' || c == '\n' || c == '\0';
}

bool scan_skip_comments(Scan *scan) {
    while (scan->at < scan->end && *scan->at == '%')
        scan_next_line(scan);
    return scan->at < scan->end;
}

// The word at the scan position, shortened and printable, for messages.
static const char *word_at(const Scan *scan, char out[32]) {
    int length = 0;
    while (length < 24 && !ends_word(scan->at[length])) {
        char c = scan->at[length];
        out[length++] = c >= ' ' && c <= '~' ? c : '?';
    }
    out[length] = '\0';
    return length > 0 ? out : *scan->at == ',' ? "," : "the end of the line";
}

bool scan_int64(Scan *scan, int64_t *out, const char *what, Error *err) {
    char word[32];
    skip_blanks(scan);
    const char *at = scan->at;
    bool negative = *at == '-', overflow = false;
    int64_t value = 0;
    at += negative;
    const char *digits = at;
    for (; is_digit(*at); at++) {
        int digit = negative ? -(*at - '0') : *at - '0';
        overflow |= __builtin_mul_overflow(value, 10, &value) ||
                    __builtin_add_overflow(value, digit, &value);
    }
    if (at == digits || !ends_word(*at))
        return scan_error(scan, err, "expected %s (an integer), found '%s'", what,
                          word_at(scan, word));
    if (overflow)
        return scan_error(scan, err, "%s '%s' does not fit 64 bits", what, word_at(scan, word));
    scan->at = at;
    *out = value;
    return true;
}

typedef struct Decimal { // mantissa * 10^exponent
    uint64_t mantissa;
    int digits; // of the mantissa, without leading zeros; beyond DECIMAL_DIGITS it has overflowed
    int exponent;
} Decimal;
enum { DECIMAL_DIGITS = 15, POWERS = 23 }; // such mantissas and powers of ten are exact doubles

// digits [. digits] [e [sign] digits]. False if the text has another form.
static bool decimal(const char **at, Decimal *d) {
    const char *c = *at;
    bool any = false, point = false;
    *d = (Decimal){0};
    for (; is_digit(*c) || (*c == '.' && !point); c++) {
        if (*c == '.') {
            point = true;
            continue;
        }
        any = true;
        d->mantissa = d->mantissa * 10 + (uint64_t)(*c - '0');
        d->digits += d->digits > 0 || *c != '0';
        d->exponent -= point;
    }
    if (!any)
        return false;
    if (*c == 'e' || *c == 'E') {
        bool negative = *++c == '-';
        c += *c == '-' || *c == '+';
        int power = 0;
        if (!is_digit(*c))
            return false;
        for (; is_digit(*c); c++)
            power = power < 100000 ? power * 10 + (*c - '0') : power;
        d->exponent += negative ? -power : power;
    }
    *at = c;
    return true;
}

// The nearest float, as strtof. One operation on exact doubles rounds correctly; rounding that
// again to a float is wrong only where the double lies halfway between two floats (or below the
// normal ones), and there strtof decides.
static float nearest_float(const Decimal *d, const char *text) {
    static const double ten[POWERS] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (d->mantissa == 0 && d->digits == 0)
        return 0;
    if (d->digits > DECIMAL_DIGITS || d->exponent <= -POWERS || d->exponent >= POWERS)
        return fabsf(strtof(text, NULL)); // the form was checked, so it is not hex, inf or nan
    double mantissa = (double)d->mantissa;
    double value = d->exponent < 0 ? mantissa / ten[-d->exponent] : mantissa * ten[d->exponent];
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t below = ((uint64_t)1 << 29) - 1; // bits that a float has no room for
    bool halfway = (bits & below) == (below + 1) / 2;
    return halfway || value < (double)FLT_MIN ? fabsf(strtof(text, NULL)) : (float)value;
}

bool scan_float(Scan *scan, float *out, const char *what, Error *err) {
    char word[32];
    skip_blanks(scan);
    const char *at = scan->at;
    bool negative = *at == '-';
    Decimal d;
    at += *at == '-' || *at == '+';
    if (!decimal(&at, &d) || !ends_word(*at))
        return scan_error(scan, err, "expected %s (a number), found '%s'", what,
                          word_at(scan, word));
    float value = nearest_float(&d, scan->at);
    if (isinf(value))
        return scan_error(scan, err, "%s '%s' does not fit a 32-bit float", what,
                          word_at(scan, word));
    scan->at = at;
    *out = negative ? -value : value;
    return true;
}

bool scan_weight(Scan *scan, float *out, const char *what, Error *err) {
    char name[64];
    snprintf(name, sizeof name, "the weight of a %s", what);
    if (!scan_float(scan, out, name, err))
        return false;
    return *out >= 0 ||
           scan_error(scan, err, "the %s weighs %g; weights are not negative", what, (double)*out);
}
