// Text ids become numbers: 5 million edges between a million nodes whose ids are 12 letters.
//
//   bench/run.sh ids [--edges=5000000] [--nodes=1000000] [--rounds=3] [--threads=2] [--strict]
//
// fringe: ids_number of both columns and the map and numbers saved as files; pandas: factorize of
// both columns (dtype str) and numpy.save of codes and uniques, without reading the text. Reading
// and numbering stand beside pandas.read_csv and factorize. The numbers are checked: each id of the
// map ascends, and an edge's numbers lead back to its text. What the machine needs for the same
// accesses stands beside it: each text read once, for each end a read at a random place of a table
// of slots and one of names, fetched ahead, and files of the same sizes; the sort of the names is
// not in it. Memory is what is in use at most beside
// the map while fringe reads the text, by edge. PYTHON: an interpreter that has pandas.
//
// smoke: --edges=2000 --nodes=500 --rounds=1
#include "bench.h"

#include "dataset/internal.h"

#include <omp.h>

enum { LETTERS = 12, LINE = 2 * LETTERS + 2 };

static const char *folder;
static int64_t edges, nodes;
static Text text;
static NodeIds map; // of the last round
static int64_t *end[2];

static void put_id(char *out, uint64_t node) {
    uint64_t left = bench_mixed(node);
    for (int i = 0; i < LETTERS; i++, left /= 26)
        out[i] = (char)('a' + left % 26);
}

static void path_of(char out[PATH_BYTES], const char *name) {
    path_join(out, PATH_BYTES, folder, name);
}

static void write_file(const char *name, const void *bytes, size_t count) {
    char path[PATH_BYTES];
    path_of(path, name);
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(bytes, 1, count, file) == count && fclose(file) == 0, EXIT_IO,
          "%s cannot be written", path);
}

static void make_text(void) {
    text.bytes = (size_t)(edges * LINE);
    text.data = memory_alloc(text.bytes + 1, "the text of the bench");
#pragma omp parallel for
    for (int64_t e = 0; e < edges; e++) {
        char *line = text.data + e * LINE;
        put_id(line, bench_mixed((uint64_t)(2 * e)) % (uint64_t)nodes);
        put_id(line + LETTERS + 1, bench_mixed((uint64_t)(2 * e + 1)) % (uint64_t)nodes);
        line[LETTERS] = ',';
        line[LINE - 1] = '\n';
    }
    text.data[text.bytes] = '\0';
    write_file("edges.csv", text.data, text.bytes);
}

static void lay_spans(void) {
    for (int64_t e = 0; e < edges; e++)
        for (int k = 0; k < 2; k++)
            end[k][e] = span_of(e * LINE + k * (LETTERS + 1), LETTERS);
}

static void save(void) {
    write_file("source", end[0], (size_t)edges * sizeof **end);
    write_file("target", end[1], (size_t)edges * sizeof **end);
    write_file("ids", map.bytes, (size_t)map.offset[map.count]);
    write_file("offsets", map.offset, (size_t)(map.count + 1) * sizeof *map.offset);
}

static void number(void *context) {
    (void)context;
    IdColumns columns = {.noun = "node",
                         .columns = 2,
                         .of = {{edges, end[0], text.data}, {edges, end[1], text.data}}};
    node_ids_clear(&map);
    lay_spans();
    need(ids_number(&columns, &map, &err));
    save();
}

typedef struct Line { // as large as a name of the numbering
    uint64_t word[4];
} Line;
enum { AHEAD = 32 };

// The accesses of numbering for the ends [e, e + AHEAD) of a column.
static uint64_t touch(int k, int64_t e, uint64_t mask, const uint64_t *slot, const Line *line) {
    uint64_t at[AHEAD], word, found = 0;
    for (int i = 0; i < AHEAD; i++) {
        memcpy(&word, text.data + (end[k][e + i] >> SPAN_BITS), sizeof word);
        at[i] = bench_mixed(word) & mask;
        __builtin_prefetch(&slot[at[i]]);
    }
    for (int i = 0; i < AHEAD; i++) {
        at[i] = (slot[at[i]] + at[i]) >> 1;
        __builtin_prefetch(&line[at[i]]);
    }
    for (int i = 0; i < AHEAD; i++) {
        found += line[at[i]].word[0];
        end[k][e + i] = (int64_t)(at[i] % (uint64_t)nodes);
    }
    return found;
}

// After `number`, whose map it saves again.
static void touch_all(void *context) {
    uint64_t slots = 16, found = 0;
    (void)context;
    while (slots < 2 * (uint64_t)nodes)
        slots *= 2;
    FREED uint64_t *slot = ALLOC(uint64_t, (int64_t)slots, "slots");
    FREED Line *line = ALLOC(Line, (int64_t)slots / 2, "names");
    FREED int32_t *place = ALLOC(int32_t, nodes, "places");
    lay_spans();
    for (int k = 0; k < 2; k++) {
#pragma omp parallel for reduction(+ : found)
        for (int64_t e = 0; e < edges / AHEAD; e++)
            found += touch(k, e * AHEAD, slots - 1, slot, line);
#pragma omp parallel for
        for (int64_t e = 0; e < edges / AHEAD * AHEAD; e++)
            end[k][e] = place[end[k][e]];
    }
    CHECK(found == 0, EXIT_BUG, "slots and names are empty");
    save();
}

static void check_numbers(void) {
    for (int64_t k = 1; k < map.count; k++)
        CHECK(memcmp(map.bytes + LETTERS * (k - 1), map.bytes + LETTERS * k, LETTERS) < 0, EXIT_BUG,
              "id %lld does not ascend", (long long)k);
    for (int64_t e = 0; e < edges; e++)
        for (int k = 0; k < 2; k++)
            CHECK(memcmp(map.bytes + LETTERS * end[k][e], text.data + e * LINE + k * (LETTERS + 1),
                         LETTERS) == 0,
                  EXIT_BUG, "end %d of edge %lld has another id", k, (long long)e);
}

static size_t in_map; // bytes of the map of the graph that was read

static void read_all(void *context) {
    (void)context;
    static Config config;
    CLEARED(dataset_clear) Dataset d = {0};
    path_of(config.data.path, "edges.csv");
    need(dataset_load(&d, &config, &err));
    CHECK(d.edges == edges, EXIT_BUG, "%lld edges were read", (long long)d.edges);
    in_map = (size_t)d.ids.offset[d.ids.count] + (size_t)(d.ids.count + 1) * sizeof *d.ids.offset;
}

// Seconds of pandas: factorize and save; with read_csv.
static bool run_pandas(double seconds[2]) {
    bool ok = bench_ask_python(
        seconds, 2,
        "import pandas, numpy, time; d = '%s/'; t = time.monotonic(); "
        "f = pandas.read_csv(d + 'edges.csv', header=None, dtype=str); r = time.monotonic(); "
        "both = pandas.concat([f[0], f[1]], ignore_index=True); "
        "c, u = pandas.factorize(both); numpy.save(d + 'codes.npy', c); "
        "numpy.save(d + 'names.npy', numpy.asarray(u, dtype='S')); e = time.monotonic(); "
        "print(e - r, e - t)",
        folder);
    if (!ok)
        printf("python3 has no pandas (PYTHON names another), so there is no peer\n");
    return ok;
}

static void measure_time(int rounds) {
    double median[3], pandas[2];
    BenchCase cases[] = {{"number and save", number, NULL},
                         {"the same accesses", touch_all, NULL},
                         {"read and number", read_all, NULL}};
    bench_compare(cases, 3, rounds, median);
    number(NULL);
    check_numbers();
    bool peer = run_pandas(pandas);
    Figure both = {
        .name = "ids of both columns numbered and saved", .value = median[0], .unit = "s"};
    Figure alone = {.name = "numbered and saved, beside its accesses alone",
                    .value = median[0],
                    .unit = "s",
                    .against = "texts, 2 random reads an end, files",
                    .limit = median[1],
                    .ratio = median[1] / median[0]};
    Figure read = {.name = "read, numbered, rows made", .value = median[2], .unit = "s"};
    if (peer) {
        snprintf(both.against, sizeof both.against, "pandas.factorize, numpy.save");
        both.limit = pandas[0], both.ratio = pandas[0] / median[0], both.bar = 3;
        snprintf(read.against, sizeof read.against, "pandas.read_csv and factorize");
        read.limit = pandas[1], read.ratio = pandas[1] / median[2];
    }
    bench_figure(&both);
    bench_figure(&alone);
    bench_figure(&read);
}

static void measure_memory(void) {
    size_t before = memory_in_use();
    read_all(NULL);
    double each = (double)(memory_peak() - before - in_map) / (double)edges;
    bench_at_most(each, "bytes", 1, "the bar", 60,
                  "bytes an edge at most beside the map, with its text");
}

BENCH(ids) {
    edges = bench_option("--edges", 5000000);
    nodes = bench_option("--nodes", 1000000);
    int rounds = (int)bench_option("--rounds", 3);
    omp_set_num_threads((int)bench_option("--threads", 2));
    folder = bench_folder();
    make_text();
    text_clear(&text);
    measure_memory(); // first: the peak is that of the whole process
    if (rounds > 0) {
        make_text();
        for (int k = 0; k < 2; k++)
            end[k] = ALLOC(int64_t, edges, "ends of the bench");
        measure_time(rounds);
    }
}
