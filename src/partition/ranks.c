// ranks.jsonl: one line for each part, a JSON object with its statistics and the size and hash of
// its shard. All lines have the same length (padded with blanks), so a rank reads only its own at
// part * RANKS_LINE; other programs can read line by line.
//
//   {"part":0,"own":4,"central":1, ... ,"bytes":4810,"hash":"0f3c..."}        \n      384 bytes
#include "internal.h"
#include <unistd.h>

// The integers of a part and their names; one table for writing and reading.
static const struct {
    const char *key;
    size_t at;
} figures[] = {{"own", offsetof(PartFigures, own)},
               {"central", offsetof(PartFigures, central)},
               {"boundary", offsetof(PartFigures, boundary)},
               {"halo", offsetof(PartFigures, halo)},
               {"halo_backward", offsetof(PartFigures, halo_backward)},
               {"edges", offsetof(PartFigures, edges)},
               {"edges_remote", offsetof(PartFigures, edges_remote)},
               {"train_nodes", offsetof(PartFigures, train)},
               {"bytes", offsetof(PartFigures, bytes)},
               {"hyperedges", offsetof(PartFigures, hyperedges)},
               {"replicas", offsetof(PartFigures, replicas)}};
enum {
    FIGURES = sizeof figures / sizeof figures[0],
    ALWAYS = 9, // those that follow are left out where they are 0, as in a graph
};

static int64_t *figure(PartFigures *part, int i) {
    return (int64_t *)(void *)((char *)part + figures[i].at);
}

// ---- sums over all parts

static double ratio(int64_t a, int64_t b) { return b > 0 ? (double)a / (double)b : 0.0; }

double ranks_balance(const PartFigures *part, int parts, BalanceOf of) {
    int64_t sum = 0, most = 0;
    for (int p = 0; p < parts; p++) {
        int64_t value = of == BALANCE_NODES   ? part[p].own
                        : of == BALANCE_EDGES ? part[p].edges
                                              : part[p].train;
        sum += value;
        most = value > most ? value : most;
    }
    return sum > 0 ? (double)most * parts / (double)sum : 1.0;
}

double ranks_halo_ratio(const PartFigures *part, int parts) {
    double sum = 0;
    for (int p = 0; p < parts; p++)
        sum += ratio(part[p].halo, part[p].own);
    return sum / parts;
}

PartFigures ranks_sum(const PartFigures *part, int parts) {
    PartFigures sum = {0};
    for (int p = 0; p < parts; p++) {
        PartFigures one = part[p];
        for (int i = 0; i < FIGURES; i++)
            *figure(&sum, i) += *figure(&one, i);
    }
    return sum;
}

double ranks_remote_share(const PartFigures *part, int parts) {
    PartFigures sum = ranks_sum(part, parts);
    return ratio(sum.edges_remote, sum.edges);
}

double ranks_multiplicity(const PartFigures *part, int parts) {
    PartFigures sum = ranks_sum(part, parts);
    return ratio(sum.halo, sum.boundary);
}

Workload ranks_workload(const PartFigures *part, int parts) {
    double sum = 0, squares = 0, most = 0;
    for (int p = 0; p < parts; p++) {
        sum += (double)ranks_work(&part[p]);
        most = fmax(most, (double)ranks_work(&part[p]));
    }
    double mean = sum / parts;
    for (int p = 0; p < parts; p++)
        squares += pow((double)ranks_work(&part[p]) - mean, 2);
    return (Workload){sqrt(squares / parts) / mean, most / mean};
}

// ---- writing

static bool write_line(FileWriter *writer, PartFigures *part, int p, Error *err) {
    char line[RANKS_LINE];
    CLEARED(json_writer_clear) JsonWriter out;
    json_writer_begin(&out, false);
    json_put_int(&out, "part", p);
    for (int i = 0; i < FIGURES; i++)
        if (i < ALWAYS || *figure(part, i) != 0)
            json_put_int(&out, figures[i].key, *figure(part, i));
    JSON_PUT(&out, PAIR("marginal", part->own - part->central), PAIR("hash", part->hash));
    json_end_object(&out);
    size_t length = strcspn(out.text, "\n");
    assert(length < RANKS_LINE);
    memset(line, ' ', sizeof line);
    memcpy(line, out.text, length);
    line[RANKS_LINE - 1] = '\n';
    return file_writer_put(writer, line, sizeof line, err);
}

bool ranks_write(const PartFigures *part, int parts, const char *path, Error *err) {
    FileWriter writer;
    if (!file_writer_open(&writer, path, err))
        return false;
    bool ok = true;
    for (int p = 0; p < parts && ok; p++) {
        PartFigures one = part[p];
        ok = write_line(&writer, &one, p, err);
    }
    return file_writer_close(&writer, ok, err) && ok;
}

// ---- reading

static bool line_parse(PartFigures *out, int part, const Json *line) {
    int64_t number;
    *out = (PartFigures){0};
    if (!json_get_int(line, "part", &number) || number != part)
        return false;
    for (int i = 0; i < FIGURES; i++) {
        const Json *value = json_get(line, figures[i].key);
        if (value == NULL && i >= ALWAYS)
            continue;
        if (value == NULL || !json_is_int64(value, figure(out, i)))
            return false;
    }
    const char *hash = json_get_text(line, "hash");
    if (strlen(hash) != 32)
        return false;
    memcpy(out->hash, hash, sizeof out->hash);
    return true;
}

static bool read_line(int descriptor, PartFigures *out, int part, const char *path, Error *err) {
    char line[RANKS_LINE];
    ssize_t got = pread(descriptor, line, sizeof line, (off_t)part * RANKS_LINE);
    if (got < 0)
        return error_cannot(err, EXIT_IO, "read", path);
    CLEARED(json_drop)
    Json *json = got == RANKS_LINE ? json_parse(line, sizeof line, path, &(Error){0}) : NULL;
    bool ok = json != NULL && line_parse(out, part, json);
    return ok ||
           error_data(err, "%s: damaged (line %d); remove its folder and let fringe make it again",
                      path, part + 1);
}

// Lines `first` to `end`.
static bool read_lines(PartFigures *out, int first, int end, const char *path, Error *err) {
    int64_t bytes;
    CLEARED(descriptor_drop) int descriptor = file_open(path, &bytes, err);
    bool ok = descriptor >= 0;
    for (int p = first; p < end && ok; p++)
        ok = read_line(descriptor, &out[p - first], p, path, err);
    return ok;
}

bool ranks_read_one(PartFigures *out, int part, const char *path, Error *err) {
    return read_lines(out, part, part + 1, path, err);
}

bool ranks_read(PartFigures *part, int parts, const char *path, Error *err) {
    return read_lines(part, 0, parts, path, err);
}
