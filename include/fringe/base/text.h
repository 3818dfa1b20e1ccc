// Text from outside (names in files, config values, paths) may contain control characters that
// change what a terminal shows. Code that prints such text prints SHOWN(text).
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

// Copies `text` and escapes what would change a terminal: control characters (U+0000 to U+001F,
// U+007F to U+009F), direction marks and line separators as \uXXXX, bytes that are not UTF-8 as
// \xXX. All other characters stay. Cuts to `size`, between two characters. Returns out.
const char *text_shown(char *out, size_t size, const char *text);

// The same into an array that lives as long as the enclosing block.
enum { TEXT_SHOWN = 8192 };
#define SHOWN(text) text_shown((char[TEXT_SHOWN]){0}, TEXT_SHOWN, (text))

// Is the word one of a list that blanks separate?
bool text_lists(const char *list, const char *word);
// Does the text begin with one of them?
bool text_begins(const char *list, const char *text);

// Appends to a list in a text, behind `between` unless the text is empty, as far as it fits.
void text_add(char *list, size_t size, const char *between, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// Bytes of the well-formed UTF-8 sequence that begins `left` bytes before the end; 0: there is
// none.
size_t utf8_length(const unsigned char *at, size_t left);
size_t utf8_put(char out[4], unsigned point); // returns its bytes

// vsnprintf, except that of a text that does not fit the middle is left out: paths are long, and a
// sentence says at its end what to do.
void text_fit(char *out, size_t size, const char *format, va_list arguments);
