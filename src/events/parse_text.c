// One line of a stream as text: a sign, then ids; "#" begins a comment anywhere.
//
//   +h 17 w=0.5 3 4 5   # a hyperedge of three nodes

#include "internal.h"

#include <float.h>

enum { WORD = 80 }; // most characters of a word that a message shows or a weight has

typedef struct Line { // what is left of it
    const char *at, *end;
} Line;

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static bool ends_word(const Line *line) {
    return line->at == line->end || is_blank(*line->at) || *line->at == '#';
}

static bool at_end(Line *line) {
    while (line->at < line->end && is_blank(*line->at))
        line->at++;
    return line->at == line->end || *line->at == '#';
}

// Takes the word that begins here into `out`, cut if it is long. Returns its whole length.
static size_t take_word(Line *line, char out[WORD + 1]) {
    const char *first = line->at;
    while (!ends_word(line))
        line->at++;
    size_t length = (size_t)(line->at - first), shown = length < WORD ? length : WORD;
    memcpy(out, first, shown);
    out[shown] = 0;
    return length;
}

static bool unknown_sign(const char *word, Error *err) {
    char forms[256] = "";
    for (int kind = EVENT_HYPEREDGE; kind <= EVENT_SNAPSHOT; kind++)
        text_add(forms, sizeof forms, kind == EVENT_SNAPSHOT ? " or " : ", ", "'%s'",
                 event_forms[kind].form);
    return error_data(err, "'%s' begins no event; an event is %s", word, forms);
}

static bool take_kind(Line *line, EventKind *kind, Error *err) {
    char word[WORD + 1];
    take_word(line, word);
    for (int k = EVENT_HYPEREDGE; k <= EVENT_SNAPSHOT; k++)
        if (strcmp(word, event_forms[k].sign) == 0) {
            *kind = (EventKind)k;
            return true;
        }
    return unknown_sign(word, err);
}

static bool no_id(const char *first, const Line *line, EventKind kind, Error *err) {
    char word[WORD + 1];
    take_word(&(Line){first, line->end}, word);
    if (strspn(word, "0123456789") == strlen(word))
        return error_data(err, "'%s' is above 18446744073709551615, the largest id", word);
    return error_data(err, "'%s' is not an id (digits only); the form is '%s'", word,
                      event_forms[kind].form);
}

// The line stands at a word.
static bool take_id(Line *line, EventKind kind, uint64_t *out, Error *err) {
    const char *first = line->at, *at = first;
    uint64_t value = 0;
    bool overflow = false;
    for (; at < line->end && *at >= '0' && *at <= '9'; at++) {
        overflow |= __builtin_mul_overflow(value, 10, &value);
        overflow |= __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value);
    }
    line->at = at;
    *out = value;
    return (at > first && !overflow && ends_word(line)) || no_id(first, line, kind, err);
}

// strtof knows "inf", "nan" and hexadecimal numbers, too; the characters leave only decimals.
static bool is_weight(const char *text, float *out) {
    char *end;
    *out = strtof(text, &end);
    return end > text && *end == 0 && strspn(text, "0123456789.eE+-") == strlen(text) &&
           *out >= 0 && *out <= FLT_MAX;
}

// w=F, if it is there.
static bool take_weight(Line *line, Event *event, Error *err) {
    char word[WORD + 1];
    if (at_end(line) || *line->at != 'w')
        return true;
    event->weighted = true;
    size_t length = take_word(line, word);
    return (length <= WORD && word[1] == '=' && is_weight(word + 2, &event->weight)) ||
           error_data(err, "'%s' is not a weight (w= and a number from 0 to 3.4e38)", word);
}

static bool take_name(Line *line, Event *event, Error *err) {
    char word[WORD + 1] = "";
    bool missing = at_end(line);
    take_word(line, word);
    if (missing || !at_end(line))
        return error_data(err, "'=' with %s; its form is '= NAME'",
                          missing ? "no name" : "more than a name");
    if (!event_name_is_valid(word))
        return event_name_error(word, err);
    memcpy(event->name, word, strlen(word) + 1);
    return true;
}

static bool take_ids(Line *line, Event *event, uint64_t *ids, Error *err) {
    if (at_end(line))
        return error_data(err, "'%s' without an id; its form is '%s'",
                          event_forms[event->kind].sign, event_forms[event->kind].form);
    if (!take_id(line, event->kind, &event->id, err))
        return false;
    if (event->kind == EVENT_HYPEREDGE && !take_weight(line, event, err))
        return false;
    int64_t count = 0;
    while (!at_end(line))
        if (!take_id(line, event->kind, &ids[count++], err))
            return false;
    event->count = count;
    return event_is_whole(event, err);
}

EventParsed event_parse_line(Event *event, uint64_t *ids, const char *text, size_t bytes,
                             Error *err) {
    Line line = {text, text + bytes - (bytes > 0 && text[bytes - 1] == '\r')};
    const char *nul = memchr(text, 0, bytes);
    if (nul != NULL) {
        error_data(err, "byte %ld of the line is zero; a text has no zero bytes", (nul - text) + 1);
        return PARSED_WRONG;
    }
    if (at_end(&line))
        return PARSED_NOTHING;
    *event = (Event){.other = ids, .weight = 1};
    bool ok = take_kind(&line, &event->kind, err) &&
              (event->kind == EVENT_SNAPSHOT ? take_name(&line, event, err)
                                             : take_ids(&line, event, ids, err));
    return ok ? PARSED_EVENT : PARSED_WRONG;
}
