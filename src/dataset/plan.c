// Predicts the memory that loading a dataset takes from the headers of its files: every reader has
// a `plan` that follows its steps and only adds sizes. A text has no header, so it is read through
// once to count lines and ids.

#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    gzFile file = file_is_folder(path) ? NULL : gzopen(path, "rb");
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

// ---- what follows the reader

// Rows that do not ascend are transposed twice; assume that, since it is not known yet.
static void plan_sorting(Tally *tally) {
    size_t rows =
        tally_rows(tally, tally->edges) + memory_product(tally->hyperedges, sizeof(int64_t));
    if (tally->mapped)
        return;
    tally->copied = true;
    tally_add(tally, 2 * rows);
    tally_sub(tally, 2 * rows);
}

// New rows beside the old ones. How many edges the cliques have is not known: that step checks it.
static void plan_expansion(Tally *tally, const char *step) {
    int64_t more = strncmp(step, "singletons:", 11) == 0 ? tally->nodes : 0;
    size_t old = tally_rows(tally, tally->edges);
    if (more == 0) {
        tally->nodes += strcmp(step, "star") == 0 ? tally->hyperedges : 0;
        more = tally->edges;
        tally->weight = sizeof(float);
        tally_add(tally, memory_product(tally->nodes * tally->features, sizeof(float)));
    }
    tally->edges += more;
    tally_add(tally, tally_rows(tally, tally->edges));
    tally_sub(tally, old);
}

static bool is_expansion(const char *step) {
    return strncmp(step, "singletons:", 11) == 0 || strcmp(step, "clique") == 0 ||
           strcmp(step, "star") == 0;
}

static void plan_step(Tally *tally, const char *step) {
    if (is_expansion(step)) {
        plan_expansion(tally, step);
        return;
    }
    int64_t made = strncmp(step, "random:", 7) == 0 ? atoll(step + 7)
                   : strcmp(step, "degree") == 0    ? 18
                                                    : 0;
    bool graph = strcmp(step, "symmetrize") == 0 || strncmp(step, "drop-", 5) == 0;
    if (made > 0) {
        tally->features = made;
        tally_add(tally, memory_product(tally->nodes * made, sizeof(float)));
    } else if (graph) { // the transposed rows, and the new rows beside the old
        size_t old = tally_rows(tally, tally->edges);
        bool doubles = strcmp(step, "symmetrize") == 0 && !tally->symmetric;
        tally->edges *= doubles ? 2 : 1;
        tally->symmetric |= doubles;
        size_t rows = tally_rows(tally, tally->edges);
        tally_add(tally, old + rows);
        tally_sub(tally, 2 * old);
    } else if (tally->mapped) { // a writable copy
        tally_add(tally, memory_product(tally->nodes * tally->features, sizeof(float)));
        tally->mapped = false;
    }
}

static const size_t libraries = 2 << 20; // buffers of libzip, zlib and stdio

static void plan_all(Tally *tally, const Config *config, const Format *format, const char *path,
                     Beside *beside) {
    Request request = {config, path, beside_rows(beside), beside};
    tally_add(tally, beside_bytes(beside));
    format->plan(tally, &request);
    beside_plan(tally, beside);
    plan_sorting(tally);
    for (int i = 0; i < config->data.transforms.count; i++)
        plan_step(tally, config->data.transforms.word[i]);
}

void dataset_plan(MemoryPlan *plan, const Config *config) {
    char path[PATH_BYTES];
    Tally tally = {0};
    dataset_path(config, config->data.path, path);
    const Format *format = format_find(config->data.format, path, &(Error){0});
    Beside *beside = format != NULL && file_exists(path) ? beside_look(config) : NULL;
    if (beside == NULL)
        return;
    plan_all(&tally, config, format, path, beside);
    beside_close(beside);
    memory_plan_add(plan, "loading the dataset", tally.most + (tally.copied ? libraries : 0));
}
