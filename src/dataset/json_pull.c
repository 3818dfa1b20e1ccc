// A JSON file, piece by piece (json_pull.h).

#include "json_pull.h"

#include <stdarg.h>

struct JsonPull {
    FILE *file;
    const char *path;
    int64_t at; // bytes that were taken
    int next;   // the byte after these; EOF: there is none
};

static void advance(JsonPull *pull) {
    pull->next = getc_unlocked(pull->file);
    pull->at++;
}

JsonPull *json_pull_open(const char *path, Error *err) {
    int64_t size;
    FILE *file = file_stream(path, &size, err);
    if (file == NULL) {
        error_prefix(err, "%s", path);
        return NULL;
    }
    JsonPull *pull = ALLOC(JsonPull, 1, "the text of a file");
    *pull = (JsonPull){.file = file, .path = path, .next = getc_unlocked(file)};
    return pull;
}

void json_pull_close(JsonPull *pull) {
    if (pull != NULL)
        fclose(pull->file);
    memory_free(pull);
}

static int peek_after_blanks(JsonPull *pull) {
    while (pull->next == ' ' || pull->next == '\t' || pull->next == '\n' || pull->next == '\r')
        advance(pull);
    return pull->next;
}

bool json_pull_error(JsonPull *pull, Error *err, const char *format, ...) {
    char sentence[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (ferror(pull->file))
        return error_set(err, EXIT_IO, "%s: cannot be read to its end", pull->path);
    return error_data(err, "%s: byte %ld: %s", pull->path, pull->at, sentence);
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
    advance(pull);
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
    for (; (c = pull->next) >= ' ' && c != '"' && c != '\\' && length < 63; advance(pull))
        out[length++] = (char)c;
    out[length] = '\0';
    if (c != '"')
        return unexpected(pull, "the end of a short key", c, err);
    advance(pull);
    return true;
}

bool json_pull_integer(JsonPull *pull, int64_t *out, Error *err) {
    int c = peek_after_blanks(pull);
    bool negative = c == '-';
    int digits = 0, first = 0;
    *out = 0;
    if (negative)
        advance(pull);
    for (; (c = pull->next) >= '0' && c <= '9'; advance(pull)) {
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
    return c < 0 ? !ferror(pull->file) || json_pull_error(pull, err, "it ends early")
                 : unexpected(pull, "the end of the file", c, err);
}
