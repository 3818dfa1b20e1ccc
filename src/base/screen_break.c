// Breaks a line at words.

#include "fringe/base/terminal.h"

enum { LABEL = 11, GAP_MOST = 24 }; // columns of a label, "warning    "; of other first columns

// A label begins with a small letter, a sentence whose second word stands there does not.
static bool begins_label(char c) { return c >= 'a' && c <= 'z'; }

// Where the text behind the first two or more spaces inside the line begins, as in lists of two
// columns; the line's end without any.
static size_t behind_gap(const char *line, size_t bytes) {
    size_t i = strspn(line, " ");
    while (i + 2 < bytes && (line[i] != ' ' || line[i + 1] != ' '))
        i++;
    while (i < bytes && line[i] == ' ')
        i++;
    return i + 2 < bytes ? i : bytes;
}

// Columns that the lines after the first one are indented by.
static int indent_of(const char *line, size_t bytes) {
    size_t spaces = strspn(line, " "), column = behind_gap(line, bytes);
    if (bytes > 8 && strncmp(line, "fringe: ", 8) == 0)
        return 8;
    if (bytes > LABEL && begins_label(line[0]) && line[LABEL - 1] == ' ' && line[LABEL] != ' ')
        return LABEL;
    if (column < GAP_MOST)
        return (int)column;
    return spaces < GAP_MOST ? (int)spaces : 2;
}

// Bytes that continue a character of UTF-8 take no column.
static int columns_of(const char *text, size_t bytes) {
    int columns = 0;
    for (size_t i = 0; i < bytes; i++)
        columns += ((unsigned char)text[i] & 0xC0) != 0x80;
    return columns;
}

typedef struct Breaking {
    char *out;
    size_t bytes;
    int column, indent, width;
} Breaking;

static void put(Breaking *b, const char *text, size_t bytes) {
    memcpy(b->out + b->bytes, text, bytes);
    b->bytes += bytes;
    b->column += columns_of(text, bytes);
}

static void new_line(Breaking *b, int indent) {
    b->out[b->bytes++] = '\n';
    memset(b->out + b->bytes, ' ', (size_t)indent);
    b->bytes += (size_t)indent;
    b->column = indent;
}

// A word that fits on no line, such as a path, gets a line of its own, where it can be copied.
static void put_word(Breaking *b, const char *word, size_t spaces, size_t bytes) {
    int columns = columns_of(word + spaces, bytes);
    bool too_long = columns > b->width - b->indent;
    if (b->column + (int)spaces + columns <= b->width) {
        put(b, word, spaces + bytes);
        return;
    }
    if (b->column > 0)
        new_line(b, too_long ? 0 : b->indent);
    put(b, word + spaces, bytes);
}

size_t screen_break(char *out, const char *line, size_t bytes, int width) {
    Breaking b = {.out = out, .indent = indent_of(line, bytes), .width = width};
    for (size_t at = 0; at < bytes;) {
        size_t spaces = 0, word = 0;
        while (at + spaces < bytes && line[at + spaces] == ' ')
            spaces++;
        while (at + spaces + word < bytes && line[at + spaces + word] != ' ')
            word++;
        put_word(&b, line + at, spaces, word);
        at += spaces + word;
    }
    b.out[b.bytes++] = '\n';
    return b.bytes;
}
