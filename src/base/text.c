// Escapes text from outside, character by character.

#include "fringe/base/text.h"
#include "fringe/base/file.h"
#include "internal.h"

// Bytes of the well-formed UTF-8 sequence at `at`, or 0 (Unicode 15, table 3-7).
size_t utf8_length(const unsigned char *at, size_t left) {
    static const struct {
        unsigned char first, last, low, high; // ranges of the lead byte and of the next one
        unsigned char length;
    } form[] = {
        {0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4}};
    for (size_t f = 0; f < sizeof form / sizeof form[0]; f++) {
        if (at[0] < form[f].first || at[0] > form[f].last)
            continue;
        size_t length = form[f].length;
        if (length > left || (length > 1 && (at[1] < form[f].low || at[1] > form[f].high)))
            return 0;
        for (size_t i = 2; i < length; i++)
            if ((at[i] & 0xC0) != 0x80)
                return 0;
        return length;
    }
    return 0;
}

unsigned utf8_point(const unsigned char *at, size_t length) {
    static const unsigned lead[5] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    unsigned point = at[0] & lead[length];
    for (size_t i = 1; i < length; i++)
        point = point << 6 | (at[i] & 0x3Fu);
    return point;
}

size_t utf8_put(char out[4], unsigned point) {
    size_t bytes = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const unsigned lead[5] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = bytes; i-- > 1; point >>= 6)
        out[i] = (char)(0x80 | (point & 0x3F));
    out[0] = (char)(lead[bytes] | point);
    return bytes;
}

bool utf8_is_command(const unsigned char *at, size_t length) {
    if (at[0] >= ' ' && at[0] <= '~')
        return false;
    static const struct {
        unsigned first, last;
    } ranges[] = {{0x00, 0x1F},     {0x7F, 0x9F},     {0x061C, 0x061C}, {0x200E, 0x200F},
                  {0x2028, 0x202E}, {0x2066, 0x2069}, {0xFFF9, 0xFFFB}};
    unsigned point = utf8_point(at, length);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (point >= ranges[i].first && point <= ranges[i].last)
            return true;
    return false;
}

// Writes the character at `at` as it is shown; returns its bytes in the text.
static size_t show(char letter[16], const unsigned char *at, size_t left) {
    size_t length = at[0] >= ' ' && at[0] <= '~' ? 1 : utf8_length(at, left);
    if (length == 0) {
        snprintf(letter, 16, "\\x%02x", at[0]);
        return 1;
    }
    if (utf8_is_command(at, length)) {
        snprintf(letter, 16, "\\u%04x", utf8_point(at, length));
        return length;
    }
    memcpy(letter, at, length);
    letter[length] = 0;
    return length;
}

const char *text_shown(char *out, size_t size, const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    size_t left = strlen(text), used = 0;
    while (left > 0) {
        char letter[16];
        size_t length = show(letter, at, left);
        at += length, left -= length;
        if (used + strlen(letter) >= size)
            break;
        strcpy(out + used, letter);
        used += strlen(letter);
    }
    out[used] = 0;
    return out;
}

void text_fit(char *out, size_t size, const char *format, va_list arguments) {
    static const char gap[] = " ... ";
    char whole[4 * PATH_BYTES];
    vsnprintf(whole, sizeof whole, format, arguments);
    size_t length = strlen(whole);
    if (length < size) {
        memcpy(out, whole, length + 1);
        return;
    }
    size_t kept = size - sizeof gap, first = kept / 2, last = kept - first;
    memcpy(out, whole, first);
    memcpy(out + first, gap, sizeof gap - 1);
    memcpy(out + first + sizeof gap - 1, whole + length - last, last + 1);
}

void text_add(char *list, size_t size, const char *between, const char *format, ...) {
    size_t used = strlen(list);
    if (used > 0)
        used += (size_t)snprintf(list + used, size - used, "%s", between);
    va_list arguments;
    va_start(arguments, format);
    if (used < size)
        vsnprintf(list + used, size - used, format, arguments);
    va_end(arguments);
}

bool text_begins(const char *list, const char *text) {
    for (size_t length; *list != 0; list += length + strspn(list + length, " ")) {
        length = strcspn(list, " ");
        if (strncmp(text, list, length) == 0)
            return true;
    }
    return false;
}

bool text_lists(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = list; length > 0 && (at = strstr(at, word)) != NULL; at++)
        if ((at == list || at[-1] == ' ') && (at[length] == 0 || at[length] == ' '))
            return true;
    return false;
}
