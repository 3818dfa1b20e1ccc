// Counts the memory that loading a dataset will take: sums, and the facts of a text, which has no
// header and is read through once to count lines and ids.

#include "internal.h"

#include <zlib.h>

void tally_add(Tally *tally, size_t bytes) {
    tally->now += bytes;
    tally->most = tally->now > tally->most ? tally->now : tally->most;
}

void tally_sub(Tally *tally, size_t bytes) {
    tally->now -= bytes < tally->now ? bytes : tally->now;
}

size_t tally_rows(const Tally *tally, int64_t edges) {
    return csr_bytes_of(tally->nodes, edges, tally->weight > 0);
}

// With reverses: the rows, their transpose and that one's, then the union beside both of these.
void tally_pairs(Tally *tally, int64_t pairs, bool undirected) {
    size_t ends = memory_product(pairs, 2 * sizeof(int32_t)), rows = tally_rows(tally, pairs);
    tally_add(tally, ends + rows);
    tally_sub(tally, ends);
    tally->edges = undirected ? 2 * pairs : pairs;
    if (!undirected)
        return;
    tally_add(tally, rows);
    tally_add(tally, tally_rows(tally, tally->edges));
    tally_sub(tally, 2 * rows);
}

int64_t tally_array(Tally *tally, const Npy *npy, size_t item) {
    size_t raw = memory_product(npy->elements, (size_t)npy->item);
    tally_add(tally, raw);
    tally_add(tally, memory_product(npy->elements, item));
    tally_sub(tally, raw);
    return npy->elements;
}

// ---- texts

// State inside a line.
typedef struct Line {
    int64_t number; // being read
    int numbers;    // read so far
    bool inside, comment, start;
    size_t kept; // bytes of facts->first
} Line;

static void end_number(TextFacts *facts, Line *line) {
    facts->numbers += line->inside;
    if (line->inside && line->numbers++ < 2 && line->number > facts->largest)
        facts->largest = line->number;
    line->inside = false;
    line->number = 0;
}

static void look_at(TextFacts *facts, Line *line, char c) {
    if (c == '\n') {
        if (!line->comment)
            end_number(facts, line);
        facts->lines += !line->comment && line->numbers > 0;
        bool first = facts->lines == 0;
        *line = (Line){.start = true, .kept = first ? 0 : line->kept};
        return;
    }
    line->comment |= line->start && (c == '#' || c == '%');
    line->start = false;
    if (line->comment)
        return;
    if (facts->lines == 0 && line->kept + 1 < sizeof facts->first)
        facts->first[line->kept++] = c, facts->first[line->kept] = '\0';
    bool digit = c >= '0' && c <= '9';
    if (digit && line->number < DATASET_MAX_NODES)
        line->number = line->number * 10 + (c - '0');
    if (digit)
        line->inside = true;
    else
        end_number(facts, line);
}

bool text_facts(TextFacts *facts, const char *path) {
    enum { PIECE = 1 << 18 };
    *facts = (TextFacts){0};
    gzFile file = file_is_regular(path) ? gzopen(path, "rb") : NULL;
    if (file == NULL)
        return false;
    char *piece = ALLOC(char, PIECE, "text being looked at");
    Line line = {.start = true};
    int got;
    while ((got = gzread(file, piece, PIECE)) > 0) {
        facts->bytes += (size_t)got;
        for (int i = 0; i < got; i++)
            look_at(facts, &line, piece[i]);
    }
    look_at(facts, &line, '\n');
    facts->packed = !gzdirect(file);
    gzclose(file);
    memory_free(piece);
    return got == 0;
}

// A plain text is read into one block; a gzip text grows by half each time, with a copy.
size_t text_most(const TextFacts *facts) {
    return facts->packed ? facts->bytes * 5 / 2 : facts->bytes;
}
