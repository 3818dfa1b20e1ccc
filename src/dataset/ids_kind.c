// Whether ids are numbers or text. See links.h.

#include "links.h"

bool ids_are_text(const Config *config) { return strcmp(config->data.ids, "text") == 0; }

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool are_digits(const char *at, int64_t bytes) {
    for (int64_t i = 0; i < bytes; i++)
        if (!is_digit(at[i]))
            return false;
    return bytes > 0;
}

static void note(IdSeen *seen, const char *path, int64_t line, const Cell *cell) {
    if (seen->line > 0)
        return;
    *seen = (IdSeen){.path = path, .line = line};
    snprintf(seen->word, sizeof seen->word, "%.*s", (int)(cell->length < 32 ? cell->length : 32),
             cell->at);
}

// Digits to a number below 2^64. False: it is larger.
static bool to_number(const char *at, int64_t digits, uint64_t *out) {
    *out = 0;
    for (int64_t i = 0; i < digits; i++)
        if (__builtin_mul_overflow(*out, 10, out) ||
            __builtin_add_overflow(*out, (uint64_t)(at[i] - '0'), out))
            return false;
    return true;
}

// "007", "+7" and "7.0" without what numbers do not have.
static Cell plain(const Cell *cell) {
    Cell out = *cell;
    while (out.length > 2 && out.at[out.length - 1] == '0' &&
           memchr(out.at, '.', (size_t)out.length) != NULL)
        out.length--;
    out.length -= out.length > 1 && out.at[out.length - 1] == '.';
    for (; out.length > 1 && (*out.at == '+' || *out.at == '0'); out.length--)
        out.at++;
    return out;
}

// True if it is written as numbers are.
static bool is_canonical(const Cell *cell, bool *negative) {
    *negative = cell->length > 1 && cell->at[0] == '-';
    const char *at = cell->at + *negative;
    int64_t digits = cell->length - *negative;
    return are_digits(at, digits) && (at[0] != '0' || (digits == 1 && !*negative));
}

static bool take(IdKind *kind, const char *path, int64_t line, const Cell *cell, bool negative,
                 int64_t *number) {
    uint64_t value;
    const uint64_t half = UINT64_C(1) << 63;
    bool fits = to_number(cell->at + negative, cell->length - negative, &value) &&
                (!negative || value <= half);
    *number = negative ? (int64_t)(0 - value) : (int64_t)value;
    if (negative)
        note(&kind->negative, path, line, cell);
    if (!fits || (!negative && value >= half))
        note(&kind->huge, path, line, cell);
    if (!fits) // a line below 0 stands for an id that no 64 bits hold
        kind->huge.line = -line;
    return true;
}

bool id_note(IdKind *kind, const Config *config, const char *path, int64_t line, const Cell *cell,
             int64_t *number) {
    bool negative;
    if (is_canonical(cell, &negative)) {
        if (!negative && kind->digits.line == 0)
            note(&kind->digits, path, line, cell);
        return take(kind, path, line, cell, negative, number);
    }
    if (are_digits(cell->at, cell->length))
        note(&kind->digits, path, line, cell);
    if (strcmp(config->data.ids, "number") == 0) {
        Cell bare = plain(cell);
        if (is_canonical(&bare, &negative))
            return take(kind, path, line, &bare, negative, number);
    }
    note(&kind->odd, path, line, cell);
    return false;
}

static void add(IdSeen *to, const IdSeen *more) {
    if (to->line == 0)
        *to = *more;
}

void id_kind_add(IdKind *to, const IdKind *more) {
    add(&to->odd, &more->odd);
    add(&to->digits, &more->digits);
    add(&to->negative, &more->negative);
    add(&to->huge, &more->huge);
}

// "7.0", which a program wrote whose column had gaps: as text it would stand behind "10.0".
static bool has_point(const IdSeen *odd) {
    Cell bare =
        plain(&(Cell){.at = (char *)(uintptr_t)odd->word, .length = (int64_t)strlen(odd->word)});
    bool negative;
    return odd->line > 0 && strchr(odd->word, '.') != NULL && is_canonical(&bare, &negative);
}

bool id_kind_decide(bool *text, const IdKind *kind, const Config *config, Error *err) {
    const IdSeen *odd = &kind->odd, *digits = &kind->digits, *huge = &kind->huge;
    bool number = strcmp(config->data.ids, "number") == 0;
    *text = ids_are_text(config) || (!number && odd->line > 0);
    if (ids_are_text(config))
        return true;
    if (odd->line > 0 && number)
        return error_data(
            err, "%s:%ld: the id '%s' is no whole number; set data.ids=text if ids are names",
            odd->path, odd->line, SHOWN(odd->word));
    if ((strstr(odd->word, "E+") != NULL || strstr(odd->word, "e+") != NULL) &&
        strspn(odd->word, "0123456789.,eE+") == strlen(odd->word))
        return error_data(
            err,
            "%s:%ld: the id '%s' is as spreadsheets show long numbers, whose other digits are "
            "lost; write ids in full, or set data.ids=text if it is a name",
            odd->path, odd->line, SHOWN(odd->word));
    if (!number && has_point(odd))
        return error_data(err,
                          "%s:%ld: the id '%s' is a whole number with a point; set data.ids=number "
                          "to take it as such, or data.ids=text to take all ids as names",
                          odd->path, odd->line, SHOWN(odd->word));
    if (odd->line > 0 && digits->line > 0)
        return error_data(
            err,
            "%s:%ld: the id '%s' is not written as a number, but '%s' (%s:%ld) is made of digits; "
            "set data.ids=text to take all ids as names, or data.ids=number to take 007 as 7",
            odd->path, odd->line, SHOWN(odd->word), SHOWN(digits->word), path_name(digits->path),
            digits->line);
    if (!*text && (huge->line < 0 || (huge->line > 0 && kind->negative.line > 0)))
        return error_data(
            err,
            "%s:%ld: the id '%s' does not fit 64 bits%s; set data.ids=text to take ids as names",
            huge->path, huge->line < 0 ? -huge->line : huge->line, SHOWN(huge->word),
            huge->line > 0 ? " with a sign, which others have" : "");
    return true;
}
