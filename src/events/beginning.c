// The first bytes of a stream: which of the two forms it has, or what the file is instead.

#include "internal.h"

enum { FIRST_LINE = 128 }; // most bytes of it; a file without lines is none of ours

// What else is taken for a stream.
static const struct {
    const char *begin, *sentence;
} others[] = {
    {"\x1f\x8b", "is a gzip file; a stream is not compressed, but 'zcat FILE | fringe stream -' "
                 "reads it"},
    {"PK\x03\x04", "is a zip or .npz archive and not a stream of events; a dataset is read by "
                   "'fringe train' and 'fringe partition'"},
    {"\xef\xbb\xbf", "begins with a byte order mark (EF BB BF); save it without one"},
};

#define WRONG(err, ...) (error_data((err), __VA_ARGS__), BEGINNING_WRONG)

static EventBeginning wrong_version(Error *err, const char *version) {
    return WRONG(err, "is a stream of version %s; this program reads version %d", version,
                 EVENT_VERSION);
}

static EventBeginning begin_binary(const char *bytes, size_t count, bool all, size_t *length,
                                   Error *err) {
    uint32_t version;
    char text[16];
    if (count < EVENT_HEAD)
        return all ? WRONG(err, "ends within the 12 bytes that a binary stream begins with")
                   : BEGINNING_CUT;
    memcpy(&version, bytes + EVENT_MAGIC_BYTES, sizeof version);
    snprintf(text, sizeof text, "%u", version);
    *length = EVENT_HEAD;
    return version == EVENT_VERSION ? BEGINNING_BINARY : wrong_version(err, text);
}

// `line` is the first line, or what there is of it.
static EventBeginning other_file(const char *line, size_t length, Error *err) {
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(line, others[i].begin, strlen(others[i].begin)) == 0)
            return WRONG(err, "%s", others[i].sentence);
    if (line[0] == '%' || (line[0] >= '0' && line[0] <= '9'))
        return WRONG(err, "is not a stream of events; it looks like a graph or a hypergraph "
                          "(.graph, .hgr), which 'fringe train' and 'fringe partition' read");
    if (strlen(line) < length)
        return WRONG(err, "is not a stream of events: its first line holds a zero byte");
    return WRONG(err,
                 "is not a stream of events: it begins with '%.40s', not with the line "
                 "'" EVENT_TEXT_BEGIN "'",
                 line);
}

static EventBeginning begin_text(char *line, size_t length, Error *err) {
    static const char name[] = "fringe-stream ";
    length -= length > 0 && line[length - 1] == '\r';
    while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t'))
        length--;
    line[length] = 0;
    if (strcmp(line, EVENT_TEXT_BEGIN) == 0)
        return BEGINNING_TEXT;
    const char *version = line + strlen(name);
    if (strncmp(line, name, strlen(name)) == 0 && strspn(version, "0123456789") == strlen(version))
        return wrong_version(err, version);
    return other_file(line, length, err);
}

EventBeginning event_beginning(const char *bytes, size_t count, bool all, size_t *length,
                               Error *err) {
    char line[FIRST_LINE + 1];
    if (count >= EVENT_MAGIC_BYTES && memcmp(bytes, EVENT_MAGIC, EVENT_MAGIC_BYTES) == 0)
        return begin_binary(bytes, count, all, length, err);
    size_t looked = count < FIRST_LINE ? count : FIRST_LINE;
    const char *newline = memchr(bytes, '\n', looked);
    if (newline == NULL && count < FIRST_LINE && !all)
        return BEGINNING_CUT;
    if (count == 0)
        return WRONG(err, "is empty; a stream begins with the line '" EVENT_TEXT_BEGIN "'");
    size_t used = newline == NULL ? looked : (size_t)(newline - bytes);
    memcpy(line, bytes, used);
    line[used] = 0;
    *length = used + (newline != NULL);
    bool whole = newline != NULL || (all && count <= FIRST_LINE);
    return whole && strlen(line) == used ? begin_text(line, used, err)
                                         : other_file(line, used, err);
}
