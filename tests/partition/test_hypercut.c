// If this fails, a hyperedge has another home than the majority rule says, a measure of a cut
// hypergraph is not what its definition gives, or a part file is not read back.
#include "cut.h"
#include "fringe/base/terminal.h"
#include "method.h"

enum { NODES_MADE = 40, HYPEREDGES_MADE = 57, ROWS = NODES_MADE + HYPEREDGES_MADE };
static const int part_counts[] = {1, 2, 3, 4, 8};

static HyperKind kind_of(int r, int c) {
    return (HyperKind){NODES_MADE, HYPEREDGES_MADE, hyper_rules[r], c % 2 == 1, (r + c) % 2 == 0};
}

// Places each hyperedge by comparing all parts.
static void homes_by_definition(int32_t *part, const HyperKind *kind, int parts) {
    int64_t load[8] = {0};
    for (int64_t h = 0; h < HYPEREDGES_MADE; h++) {
        int64_t pins[8] = {0}, all = 0;
        for (int64_t v = 0; v < NODES_MADE; v++) {
            pins[part[v]] += kind->rule(h, v, 5);
            all += kind->rule(h, v, 5);
        }
        int best = 0;
        for (int p = 1; p < parts; p++)
            if (pins[p] > pins[best] || (pins[p] == pins[best] && load[p] < load[best]))
                best = p;
        part[NODES_MADE + h] = best;
        load[best] += all;
    }
}

TEST(test_homes_follow_the_majority_rule) {
    static const char *const methods[] = {"blocks", "random"};
    for (int r = 0; r < HYPER_RULES; r++)
        for (int c = 0; c < 5; c++)
            for (int m = 0; m < 2; m++) {
                int32_t part[ROWS], expected[ROWS];
                HyperKind kind = kind_of(r, c);
                OWNED(Dataset) d = hyper_make(kind, 5);
                cut_by(methods[m], part, &d, part_counts[c]);
                memcpy(expected, part, sizeof part);
                homes_by_definition(expected, &kind, part_counts[c]);
                assert_memory_equal(part, expected, sizeof part);
            }
}

// ---- the measures

static double number(const Json *object, const char *key) {
    assert_non_null(json_get(object, key));
    return json_number(json_get(object, key));
}

typedef struct Measures {
    int64_t replicas, cut, connectivity, replicas_of[8], pins_of[8], work_of[8];
    double weight, cut_weight, variation, largest;
} Measures;

static bool has_pin(const Cut *cut, const HyperKind *kind, int64_t v, int p) {
    for (int64_t h = 0; h < HYPEREDGES_MADE; h++)
        if (cut->part[NODES_MADE + h] == p && kind->rule(h, v, 5))
            return true;
    return false;
}

static void count_hyperedge(Measures *m, const Cut *cut, const HyperKind *kind, int64_t h) {
    bool home[8] = {0};
    int64_t lambda = 0;
    for (int64_t v = 0; v < NODES_MADE; v++) {
        home[cut->part[v]] |= kind->rule(h, v, 5);
        m->pins_of[cut->part[NODES_MADE + h]] += kind->rule(h, v, 5);
    }
    for (int p = 0; p < cut->parts; p++)
        lambda += home[p];
    double weight = kind->weighted ? (double)(h % 5) / 4 : 1;
    m->cut += lambda > 1;
    m->connectivity += lambda > 1 ? lambda - 1 : 0;
    m->weight += weight;
    m->cut_weight += lambda > 1 ? weight : 0;
    m->work_of[cut->part[NODES_MADE + h]]++;
}

static Measures measures_by_definition(const Cut *cut, const HyperKind *kind) {
    Measures m = {0};
    for (int64_t v = 0; v < NODES_MADE; v++)
        for (int p = 0; p < cut->parts; p++) {
            m.replicas_of[p] += p != cut->part[v] && has_pin(cut, kind, v, p);
            m.work_of[p] += p == cut->part[v] || has_pin(cut, kind, v, p);
        }
    for (int64_t h = 0; h < HYPEREDGES_MADE; h++)
        count_hyperedge(&m, cut, kind, h);
    double sum = 0, squares = 0;
    for (int p = 0; p < cut->parts; p++) {
        m.replicas += m.replicas_of[p];
        sum += (double)m.work_of[p];
        m.largest = fmax(m.largest, (double)m.work_of[p]);
    }
    double mean = sum / cut->parts;
    for (int p = 0; p < cut->parts; p++)
        squares += ((double)m.work_of[p] - mean) * ((double)m.work_of[p] - mean);
    m.variation = sqrt(squares / cut->parts) / mean;
    m.largest /= mean;
    return m;
}

static void check_json(const Json *json, const Measures *m, const HyperKind *kind) {
    assert_true(number(json, "hyperedges") == HYPEREDGES_MADE);
    assert_true(number(json, "replicas") == (double)m->replicas);
    assert_true(number(json, "cut_hyperedges") == (double)m->cut);
    assert_true(number(json, "connectivity_minus_1") == (double)m->connectivity);
    assert_near(number(json, "replication_factor"), 1 + (double)m->replicas / NODES_MADE, 1e-12);
    assert_near(number(json, "cut_share"), (double)m->cut / HYPEREDGES_MADE, 1e-12);
    assert_near(number(json, "workload_cov"), m->variation, 1e-12);
    assert_near(number(json, "workload_balance"), m->largest, 1e-12);
    if (!kind->directed)
        assert_true(number(json, "rows_sent") == 2.0 * (double)m->replicas);
    assert_int_equal(json_get(json, "weight") != NULL, kind->weighted);
    if (kind->weighted) { // quarters: exact
        assert_true(number(json, "weight") == m->weight);
        assert_true(number(json, "cut_weight") == m->cut_weight);
    }
    assert_null(json_get(json, "edge_cut"));
}

static Json *report_of(const Cut *cut) {
    CLEARED(json_writer_clear) JsonWriter writer = {0};
    json_writer_init(&writer, false);
    json_begin_object(&writer, NULL);
    assert_ok(partition_put_report(&writer, cut->folder, NULL, &err));
    json_end_object(&writer);
    Json *json = assert_ok(json_parse(writer.text, writer.bytes, "report", &err));
    return json;
}

static void check_parts(const Json *report, const Measures *m, int parts) {
    const Json *part = json_first(json_get(report, "parts"));
    int p = 0;
    for (; part != NULL; p++, part = json_next(part)) {
        assert_true(number(part, "replicas") == (double)m->replicas_of[p]);
        assert_true(number(part, "pins") == (double)m->pins_of[p]);
        assert_true(number(part, "workload") == (double)m->work_of[p]);
        assert_true(number(part, "own") + number(part, "hyperedges") + number(part, "replicas") ==
                    number(part, "workload"));
    }
    assert_int_equal(p, parts);
}

TEST(test_measures_are_those_of_their_definitions) {
    for (int r = 0; r < HYPER_RULES; r++)
        for (int c = 0; c < 5; c++) {
            HyperKind kind = kind_of(r, c);
            CLEARED(cut_close) Cut cut = cut_open(hyper_make(kind, 5), part_counts[c], NULL, true);
            Measures m = measures_by_definition(&cut, &kind);
            const char *path = test_text("%s/partition.json", cut.folder);
            Json *manifest = assert_ok(json_read(path, &err)), *report = report_of(&cut);
            check_json(manifest, &m, &kind);
            check_json(report, &m, &kind);
            check_parts(report, &m, part_counts[c]);
            assert_ok(partition_report(&terminal_tables, cut.folder, NULL, &err));
            json_free(manifest);
            json_free(report);
        }
}

// Rows that one part sends to another in a stage: to parts that have a hyperedge with the node as
// source; back from parts that have one with the node as target.
static void count_sent(const Cut *cut, const HyperKind *kind, int64_t sent[2][4][4]) {
    for (int64_t v = 0; v < NODES_MADE; v++)
        for (int p = 0; p < 4; p++) {
            int role = 0, home = cut->part[v];
            for (int64_t h = 0; h < HYPEREDGES_MADE; h++)
                role |= cut->part[NODES_MADE + h] == p ? hyper_role(kind, h, v, 5) : 0;
            sent[0][home][p] += p != home && (role & PIN_SOURCE) != 0;
            sent[1][p][home] += p != home && (role & PIN_TARGET) != 0;
        }
}

// In a directed hypergraph a source needs no row back and a target none there.
TEST(test_rows_sent_are_those_of_sources_and_targets) {
    static const char *const ways[] = {"sent", "sent_backward"}; // entries are [from, to, rows]
    HyperKind kind = kind_of(0, 1);
    int64_t sent[2][4][4] = {0}, told[2][4][4] = {0}, rows = 0;
    CLEARED(cut_close) Cut cut = cut_open(hyper_make(kind, 5), 4, NULL, true);
    count_sent(&cut, &kind, sent);
    OWNED(Json) *report = report_of(&cut);
    for (int w = 0; w < 2; w++)
        for (const Json *m = json_first(json_get(report, ways[w])); m != NULL; m = json_next(m)) {
            const Json *from = json_first(m), *to = json_next(from);
            int64_t count = (int64_t)json_number(json_next(to));
            told[w][(int)json_number(from)][(int)json_number(to)] = count;
            rows += count;
        }
    assert_memory_equal(told, sent, sizeof sent);
    assert_true(number(report, "rows_sent") == (double)rows);
}

// ---- part files

TEST(test_part_files_are_read_back) {
    Warnings warnings = {0};
    int32_t part[ROWS];
    char method[CONFIG_TEXT];
    CLEARED(cut_close) Cut cut = cut_open(hyper_make(kind_of(1, 2), 5), 3, NULL, true);
    snprintf(method, sizeof method, "file:%.400s/made", cut.folder);
    Config config = config_for(method);
    assert_ok(partition_cut(part, &cut.dataset, 3, &config, &err, &warnings));
    assert_memory_equal(part, cut.part, sizeof part);
    snprintf(method, sizeof method, "file:%.400s/made.part.3", cut.folder); // the whole name
    config = config_for(method);
    assert_ok(partition_cut(part, &cut.dataset, 3, &config, &err, &warnings));
    assert_memory_equal(part, cut.part, sizeof part);
    const char *path = test_text("%s/made.hpart.3", cut.folder);
    test_write_text(path, "0\n1\n2\n");
    assert_refused(partition_cut(part, &cut.dataset, 3, &config, &err, &warnings), EXIT_DATA,
                   "made.hpart.3: 3 lines for 57 hyperedges");
    test_write_text(path, "0\n3\n");
    assert_refused(partition_cut(part, &cut.dataset, 3, &config, &err, &warnings), EXIT_DATA,
                   "made.hpart.3:2: part 3 is outside 0..2");
    assert_ok(file_remove(path, &err)); // without it the majority rule holds
    assert_ok(partition_cut(part, &cut.dataset, 3, &config, &err, &warnings));
    HyperKind kind = kind_of(1, 2);
    homes_by_definition(cut.part, &kind, 3);
    assert_memory_equal(part, cut.part, sizeof part);
}

// The folder that holds the parts of a cut by file:NAME.
static void build(const char *data, const char *name, char folder[1024]) {
    Config config = CONFIGURED(
        test_text("data.path=%s", data), test_text("data.cache=%s", test_path("hypercache")),
        test_text("partition.method=\"file:%s\"", test_path(name)), "data.transforms=[\"degree\"]");
    assert_ok(partition_build(&config, 2, folder, 1024, &(Warnings){0}, &err));
}

// Parts in the cache are those of both files, and have the name of each source in both.
TEST(test_the_cache_knows_the_parts_of_hyperedges) {
    char first[1024], other[1024], again[1024], path[1100];
    char data[2][512];
    for (int i = 0; i < 2; i++) {
        snprintf(data[i], sizeof data[i], "%s", test_path(i == 0 ? "one.hgr" : "two.hgr"));
        test_write_text(data[i], "3 4\n1 2\n2 3 4\n1 4\n");
    }
    test_write_text(test_path("cut.part.2"), "0\n0\n1\n1\n");
    test_write_text(test_path("cut.hpart.2"), "0\n1\n0\n");
    build(data[0], "cut", first);
    test_write_text(test_path("cut.hpart.2"), "0\n1\n1\n");
    build(data[0], "cut", other);
    assert_string_not_equal(first, other);
    test_write_text(test_path("cut.hpart.2"), "0\n1\n0\n");
    build(data[1], "cut", again);
    assert_string_equal(first, again);
    for (int i = 0; i < 4; i++) {
        static const char *const names[] = {"one.part.2", "one.hpart.2", "two.part.2",
                                            "two.hpart.2"};
        path_join(path, sizeof path, first, names[i]);
        assert_int_equal(file_size(path), i % 2 == 0 ? 8 : 6);
    }
}
