// The strict scanner before cJSON (RFC 8259). The idea: cJSON accepts duplicate keys, 1e400,
// leading zeros, broken UTF-8, raw line breaks and trailing garbage. So a scanner that knows line
// and column checks the whole text first; a text that passes means the same to both.

#include "fringe/base/file.h"
#include "fringe/base/json.h"
#include "fringe/base/text.h"
#include "internal.h"

#include <ctype.h>

enum { DEEPEST = 64, MOST_VALUES = 1 << 22 };
enum { LONGEST_NUMBER = 60 }; // cJSON reads 63 characters of a number

typedef struct Key { // a key of some object, to find duplicates
    int64_t object;
    uint64_t hash; // of the decoded key
    size_t at;     // its position in the text
} Key;

typedef struct Scanner {
    const char *name, *text, *at, *end;
    Error *err;
    int depth;
    int64_t objects, values;
    Key *key;
    size_t keys, key_room;
    char *decoded; // the last string without its escapes
    size_t decoded_bytes, decoded_room;
} Scanner;

// --- messages

// Reports an error at a place as name:line:column; columns count characters.
static bool refuse_at(Scanner *s, const char *where, const char *what) {
    int64_t line = 1, column = 1;
    for (const char *c = s->text; c < where; c++)
        if (*c == '\n')
            line++, column = 1;
        else if (((unsigned char)*c & 0xC0) != 0x80)
            column++;
    return error_data(s->err, "%s:%ld:%ld: %s", s->name, line, column, what);
}

static bool refuse(Scanner *s, const char *what) { return refuse_at(s, s->at, what); }

// What the writer took for JSON: ways of Python, JavaScript or YAML.
static const char *cure_of(const Scanner *s, bool word) {
    const char *before = s->at;
    while (before > s->text && strchr(" \t\r\n", before[-1]) != NULL)
        before--;
    if (*s->at == '/' || *s->at == '#')
        return "; JSON has no comments";
    if (*s->at == '\'')
        return "; JSON quotes texts by \"";
    if ((*s->at == '}' || *s->at == ']') && before > s->text && before[-1] == ',')
        return "; remove the comma before it";
    return word ? "; JSON has true, false, null, and texts in \"\"" : "";
}

// Reports a character, or a word in the place of a value, that is not allowed here.
static bool refuse_found(Scanner *s, const char *expected) {
    char text[200];
    int length = 0;
    while (strcmp(expected, "a value") == 0 && length < 32 && s->at + length < s->end &&
           isalpha((unsigned char)s->at[length]))
        length++;
    if (s->at == s->end)
        snprintf(text, sizeof text, "the text ends where %s should be", expected);
    else if (*s->at >= ' ' && *s->at < 127)
        snprintf(text, sizeof text, "expected %s, found '%.*s'%s", expected,
                 length > 0 ? length : 1, s->at, cure_of(s, length > 0));
    else
        snprintf(text, sizeof text, "expected %s, found byte 0x%02x", expected,
                 (unsigned)(unsigned char)*s->at);
    return refuse(s, text);
}

// --- strings

void *json_grown(void *old, size_t used, size_t bytes, size_t *room) {
    if (used + bytes <= *room)
        return old;
    size_t larger = *room * 2 > used + bytes ? *room * 2 : used + bytes + 256;
    void *grown_block = realloc(old, larger);
    CHECK(grown_block != NULL, EXIT_MEMORY, "no memory for %zu bytes of JSON", larger);
    *room = larger;
    return grown_block;
}

static void decoded_add(Scanner *s, const char *bytes, size_t count) {
    s->decoded = json_grown(s->decoded, s->decoded_bytes, count, &s->decoded_room);
    memcpy(s->decoded + s->decoded_bytes, bytes, count);
    s->decoded_bytes += count;
}

static void decoded_add_point(Scanner *s, unsigned point) {
    char utf8[4];
    decoded_add(s, utf8, utf8_put(utf8, point));
}

// The value of four hexadecimal digits, or -1.
static int hex4(const char *at, const char *end) {
    if (end - at < 4)
        return -1;
    int value = 0;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

// "\uXXXX" or a surrogate pair; s->at points to the backslash.
static bool scan_unicode_escape(Scanner *s) {
    int first = hex4(s->at + 2, s->end);
    if (first < 0)
        return refuse(s, "\\u needs four hexadecimal digits");
    if (first == 0)
        return refuse(s, "\\u0000 is not allowed in a string");
    if (first >= 0xDC00 && first <= 0xDFFF)
        return refuse(s, "second half of a surrogate pair without the first");
    unsigned point = (unsigned)first;
    const char *next = s->at + 6;
    if (first >= 0xD800 && first <= 0xDBFF) {
        int second =
            s->end - next >= 6 && next[0] == '\\' && next[1] == 'u' ? hex4(next + 2, s->end) : -1;
        if (second < 0xDC00 || second > 0xDFFF)
            return refuse(s, "first half of a surrogate pair without the second");
        point = 0x10000u + (((unsigned)first - 0xD800u) << 10) + ((unsigned)second - 0xDC00u);
        next += 6;
    }
    decoded_add_point(s, point);
    s->at = next;
    return true;
}

static bool scan_escape(Scanner *s) {
    static const char escapes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    if (s->end - s->at < 2)
        return refuse(s, "the text ends inside a string");
    char c = s->at[1];
    if (c == 'u')
        return scan_unicode_escape(s);
    const char *found = c == 0 ? NULL : strchr(escapes, c);
    if (found == NULL)
        return refuse(s, "unknown escape; JSON has \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
    decoded_add(s, &meanings[found - escapes], 1);
    s->at += 2;
    return true;
}

static bool scan_string(Scanner *s) {
    const char *begin = s->at++;
    s->decoded_bytes = 0;
    while (s->at < s->end && *s->at != '"') {
        unsigned char c = (unsigned char)*s->at;
        if (c == '\\') {
            if (!scan_escape(s))
                return false;
            continue;
        }
        if (c < 0x20)
            return refuse(s, c == '\n' ? "line break inside a string; write \\n"
                                       : "control character inside a string; write it as \\uXXXX");
        size_t length = utf8_length((const unsigned char *)s->at, (size_t)(s->end - s->at));
        if (length == 0)
            return refuse(s, "not UTF-8");
        decoded_add(s, s->at, length);
        s->at += length;
    }
    if (s->at == s->end)
        return refuse_at(s, begin, "this string has no closing quote");
    s->at++;
    return true;
}

// --- numbers

static bool is_digit(const Scanner *s) { return s->at < s->end && *s->at >= '0' && *s->at <= '9'; }

static bool scan_digits(Scanner *s) {
    if (!is_digit(s))
        return refuse_found(s, "a digit");
    while (is_digit(s))
        s->at++;
    return true;
}

static bool number_in_range(Scanner *s, const char *begin, bool integer) {
    char digits[LONGEST_NUMBER + 1];
    size_t length = (size_t)(s->at - begin);
    if (length > LONGEST_NUMBER)
        return refuse_at(s, begin, "this number has more than 60 characters");
    memcpy(digits, begin, length);
    digits[length] = 0;
    double value = strtod(digits, NULL);
    if (!isfinite(value))
        return refuse_at(s, begin, "this number is too large for a double");
    // 2^53 + 1 reads as 2^53, so compare the digits
    if (integer &&
        (fabs(value) > JSON_LARGEST_INTEGER ||
         (fabs(value) == JSON_LARGEST_INTEGER && strstr(digits, "9007199254740992") == NULL)))
        return refuse_at(s, begin, "this integer is beyond 2^53 and would lose digits");
    return true;
}

// -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?
static bool scan_number(Scanner *s) {
    const char *begin = s->at;
    bool integer = true;
    if (*s->at == '-')
        s->at++;
    const char *first = s->at;
    if (!scan_digits(s))
        return false;
    if (*first == '0' && s->at - first > 1)
        return refuse_at(s, begin, "a number may not begin with 0");
    if (s->at < s->end && *s->at == '.') {
        integer = false;
        s->at++;
        if (!scan_digits(s))
            return false;
    }
    if (s->at < s->end && (*s->at == 'e' || *s->at == 'E')) {
        integer = false;
        s->at++;
        if (s->at < s->end && (*s->at == '+' || *s->at == '-'))
            s->at++;
        if (!scan_digits(s))
            return false;
    }
    return number_in_range(s, begin, integer);
}

// --- values

static void skip_space(Scanner *s) {
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
}

static bool scan_value(Scanner *s);

static bool scan_word(Scanner *s) {
    static const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(s->end - s->at) >= length && memcmp(s->at, words[i], length) == 0) {
            s->at += length;
            return true;
        }
    }
    return refuse_found(s, "a value");
}

static bool scan_key(Scanner *s, int64_t object) {
    const char *begin = s->at;
    if (s->at == s->end || *s->at != '"')
        return refuse_found(s, "a key in double quotes");
    if (!scan_string(s))
        return false;
    size_t bytes = s->keys * sizeof(Key);
    s->key = json_grown(s->key, bytes, sizeof(Key), &s->key_room);
    s->key[s->keys++] =
        (Key){object, hash_bytes(s->decoded, s->decoded_bytes), (size_t)(begin - s->text)};
    skip_space(s);
    if (s->at == s->end || *s->at != ':')
        return refuse_found(s, "':' after the key");
    s->at++;
    return true;
}

// An array or an object; s->at points to its bracket.
static bool scan_container(Scanner *s) {
    bool object = *s->at == '{';
    char close = object ? '}' : ']';
    int64_t number = object ? ++s->objects : 0;
    if (++s->depth > DEEPEST)
        return refuse(s, "nested deeper than 64 levels");
    s->at++;
    skip_space(s);
    bool empty = s->at < s->end && *s->at == close;
    while (!empty) {
        skip_space(s);
        if (object && !scan_key(s, number))
            return false;
        if (!scan_value(s))
            return false;
        skip_space(s);
        if (s->at < s->end && *s->at == close)
            break;
        if (s->at == s->end || *s->at != ',')
            return refuse_found(s, object ? "',' or '}'" : "',' or ']'");
        s->at++;
    }
    s->at++;
    s->depth--;
    return true;
}

static bool scan_value(Scanner *s) {
    skip_space(s);
    if (++s->values > MOST_VALUES)
        return refuse(s, "more than 4 million values, which would fill the memory");
    if (s->at == s->end)
        return refuse_found(s, "a value");
    if (*s->at == '{' || *s->at == '[')
        return scan_container(s);
    if (*s->at == '"')
        return scan_string(s);
    if (*s->at == '-' || is_digit(s))
        return scan_number(s);
    return scan_word(s);
}

static int compare_keys(const void *a, const void *b) {
    const Key *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

// Two keys of one object with the same hash are the same key (64 bits of XXH3).
static bool keys_differ(Scanner *s) {
    if (s->keys > 1)
        qsort(s->key, s->keys, sizeof(Key), compare_keys);
    const char *first = NULL;
    for (size_t i = 1; i < s->keys; i++) {
        const char *at = s->text + s->key[i].at;
        if (s->key[i].object == s->key[i - 1].object && s->key[i].hash == s->key[i - 1].hash &&
            (first == NULL || at < first))
            first = at;
    }
    if (first == NULL)
        return true;
    char text[128];
    const char *close = memchr(first + 1, '"', (size_t)(s->end - first - 1));
    int length = close == NULL ? 0 : (int)(close - first - 1 < 64 ? close - first - 1 : 64);
    snprintf(text, sizeof text, "the key \"%.*s\" is there twice", length, first + 1);
    return refuse_at(s, first, text);
}

static bool scan_document(Scanner *s) {
    if (s->end - s->at >= 3 && memcmp(s->at, "\xEF\xBB\xBF", 3) == 0)
        return refuse(s, "begins with a byte-order mark; save it as plain UTF-8");
    if (!scan_value(s))
        return false;
    skip_space(s);
    if (s->at < s->end)
        return refuse(s, "something follows the end of the JSON value");
    return keys_differ(s);
}

bool json_scan(const char *text, size_t bytes, const char *name, Error *err) {
    Scanner scanner = {.name = name, .text = text, .at = text, .end = text + bytes, .err = err};
    bool ok = scan_document(&scanner);
    free(scanner.key);
    free(scanner.decoded);
    return ok;
}
