// Text from outside (names in files, config values, paths) on its way to a terminal, which obeys
// control characters: whoever prints such text prints SHOWN(text).
#ifndef FRINGE_BASE_TEXT_H
#define FRINGE_BASE_TEXT_H

#include <stddef.h>

// Copies `text` with what a terminal would obey as escapes: control characters (U+0000 to U+001F,
// U+007F to U+009F), marks that turn the direction of writing and line separators as \uXXXX, bytes
// that are no UTF-8 as \xXX. All other letters stay. Cut to `size`, between two letters. Returns
// out.
const char *text_shown(char *out, size_t size, const char *text);

// The same in an array that lives as long as the block around it.
enum { TEXT_SHOWN = 2048 };
#define SHOWN(text) text_shown((char[TEXT_SHOWN]){0}, TEXT_SHOWN, (text))

#endif
