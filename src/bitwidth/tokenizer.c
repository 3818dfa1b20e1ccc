// Reads words and numbers of an untrusted text.

#include "tokenizer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const size_t longest_text = (size_t)1 << 30;

// The whole file in memory; memory_free it.
static char *take_text(FILE *file, size_t *bytes, Error *err) {
    size_t room = (size_t)1 << 16, used = 0;
    char *text = memory_try(room, "a text for the solver", err);
    while (text != NULL) {
        used += fread(text + used, 1, room - used, file);
        if (used < room)
            break;
        char *larger = NULL;
        if (room < longest_text)
            larger = memory_try(2 * room, "a text for the solver", err);
        else
            error_set(err, EXIT_DATA, "the text is longer than %zu bytes", longest_text);
        if (larger != NULL)
            memcpy(larger, text, used);
        memory_free(text);
        text = larger;
        room *= 2;
    }
    if (text != NULL && ferror(file) != 0) {
        error_set(err, EXIT_IO, "the text cannot be read");
        memory_free(text);
        return NULL;
    }
    *bytes = used;
    return text;
}

bool words_open(Words *w, const char *what, FILE *file, Error *err) {
    size_t bytes;
    *w = (Words){.what = what, .line = 1, .err = err, .text = take_text(file, &bytes, err)};
    if (w->text == NULL)
        return error_prefix(err, "%s", what);
    w->at = w->text;
    w->end = w->text + bytes;
    return true;
}

void words_close(Words *w) { memory_free(w->text); }

static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

bool words_refuse(Words *w, const char *expected) {
    for (char *c = w->word; *c != 0; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    return error_set(w->err, EXIT_DATA, "%s, line %lld: expected %s, found '%s'", w->what,
                     (long long)w->line, expected, w->word);
}

void words_next(Words *w) {
    while (w->at < w->end && is_space(*w->at))
        w->line += *w->at++ == '\n';
    size_t length = 0;
    for (; w->at < w->end && !is_space(*w->at) && length < LONGEST_WORD; w->at++)
        w->word[length++] = *w->at != 0 ? *w->at : '?';
    w->word[length] = 0;
}

bool words_name(Words *w, const char *name) {
    words_next(w);
    return strcmp(w->word, name) == 0 || words_refuse(w, name);
}

bool words_int(Words *w, const char *what, int64_t low, int64_t high, int64_t *out) {
    words_next(w);
    char *end;
    errno = 0;
    *out = strtoll(w->word, &end, 10);
    return (end != w->word && *end == 0 && errno == 0 && *out >= low && *out <= high) ||
           words_refuse(w, what);
}

bool words_small(Words *w, const char *what, int *out) {
    int64_t value;
    if (!words_int(w, what, INT32_MIN, INT32_MAX, &value))
        return false;
    *out = (int)value;
    return true;
}

bool words_double(Words *w, const char *what, double *out) {
    words_next(w);
    char *end;
    *out = strtod(w->word, &end);
    return (end != w->word && *end == 0 && isfinite(*out)) || words_refuse(w, what);
}
