// A JSON file, piece by piece (json_pull.h).

#include "json_pull.h"

#include <stdarg.h>
#include <stdio.h>

enum { BUFFER = 1 << 18 };

struct JsonPull {
    FILE *file; // NULL: all is in the buffer
    const char *path;
    int64_t before; // bytes of the file before the buffer
    size_t at, bytes;
    const unsigned char *buffer;
    unsigned char *own; // [BUFFER] where a file is read to
};

JsonPull *json_pull_open(const char *path, Error *err) {
    int64_t size;
    FILE *file = file_stream(path, &size, err);
    if (file == NULL) {
        error_prefix(err, "%s", path);
        return NULL;
    }
    JsonPull *pull = json_pull_memory(NULL, 0, path);
    pull->file = file;
    pull->buffer = pull->own = ALLOC(unsigned char, BUFFER, "the text of a file");
    return pull;
}

JsonPull *json_pull_memory(const void *text, size_t bytes, const char *path) {
    JsonPull *pull = ALLOC(JsonPull, 1, "the text of a file");
    *pull = (JsonPull){.path = path, .buffer = text, .bytes = bytes};
    return pull;
}

void json_pull_close(JsonPull *pull) {
    if (pull == NULL)
        return;
    if (pull->file != NULL)
        fclose(pull->file);
    memory_free(pull->own);
    memory_free(pull);
}

// The next byte without taking it; -1 at the end.
static int peek(JsonPull *pull) {
    if (pull->at == pull->bytes) {
        pull->before += (int64_t)pull->bytes;
        pull->at = 0;
        pull->bytes = pull->file != NULL ? fread(pull->own, 1, BUFFER, pull->file) : 0;
        if (pull->bytes == 0)
            return -1;
    }
    return pull->buffer[pull->at];
}

static int peek_after_blanks(JsonPull *pull) {
    int c;
    while ((c = peek(pull)) == ' ' || c == '\t' || c == '\n' || c == '\r')
        pull->at++;
    return c;
}

static bool failed(const JsonPull *pull) { return pull->file != NULL && ferror(pull->file); }

bool json_pull_error(JsonPull *pull, Error *err, const char *format, ...) {
    char sentence[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (failed(pull))
        return error_set(err, EXIT_IO, "%s: cannot be read to its end", pull->path);
    return error_set(err, EXIT_DATA, "%s: byte %lld: %s", pull->path,
                     (long long)pull->before + (long long)pull->at, sentence);
}

static bool unexpected(JsonPull *pull, const char *wanted, int found, Error *err) {
    if (found < 0)
        return json_pull_error(pull, err, "expected %s, but the file ends", wanted);
    return json_pull_error(pull, err, "expected %s, found '%c'", wanted,
                           found >= ' ' && found <= '~' ? found : '?');
}

bool json_pull_if(JsonPull *pull, char wanted) {
    if (peek_after_blanks(pull) != wanted)
        return false;
    pull->at++;
    return true;
}

bool json_pull_take(JsonPull *pull, char wanted, Error *err) {
    char name[4] = {'\'', wanted, '\'', 0};
    return json_pull_if(pull, wanted) || unexpected(pull, name, peek_after_blanks(pull), err);
}

bool json_pull_key(JsonPull *pull, char out[64], Error *err) {
    int length = 0, c;
    if (!json_pull_take(pull, '"', err))
        return false;
    for (; (c = peek(pull)) >= ' ' && c != '"' && c != '\\' && length < 63; pull->at++)
        out[length++] = (char)c;
    out[length] = '\0';
    if (c != '"')
        return unexpected(pull, "the end of a short key", c, err);
    pull->at++;
    return true;
}

bool json_pull_integer(JsonPull *pull, int64_t *out, Error *err) {
    int c = peek_after_blanks(pull);
    bool negative = c == '-';
    int digits = 0, first = 0;
    *out = 0;
    pull->at += negative;
    for (; (c = peek(pull)) >= '0' && c <= '9'; pull->at++) {
        first = digits++ == 0 ? c : first;
        if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, c - '0', out))
            return json_pull_error(pull, err, "the number does not fit 64 bits");
    }
    if (digits == 0)
        return unexpected(pull, "an integer", c, err);
    if (digits > 1 && first == '0')
        return json_pull_error(pull, err, "a number may not begin with 0");
    if (c == '.' || c == 'e' || c == 'E')
        return unexpected(pull, "an integer", c, err);
    *out = negative ? -*out : *out;
    return true;
}

bool json_pull_end(JsonPull *pull, Error *err) {
    int c = peek_after_blanks(pull);
    return c < 0 ? !failed(pull) || json_pull_error(pull, err, "it ends early")
                 : unexpected(pull, "the end of the file", c, err);
}
