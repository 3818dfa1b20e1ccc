// If this fails, a partitioner gives a wrong part, an empty part, or not the same parts again.
#include "hypergraphs.h"
#include "method.h"

static void assert_good_cut(const int32_t *part, int64_t nodes, int parts) {
    int64_t *count = TEST_ARRAY(int64_t, parts);
    for (int64_t v = 0; v < nodes; v++) {
        assert_in_range(part[v], 0, parts - 1);
        count[part[v]]++;
    }
    for (int p = 0; p < parts; p++)
        assert_true(count[p] > 0);
}

// Every member of the family but file:, whose parts a file gives; N is 3. metis:star cuts only
// hypergraphs.
static const char *const *method_words(bool star) {
    static const char *word[16];
    int count = 0;
    for (int i = 0; i < method_family.count; i++) {
        const char *name = family_word(&method_family, i);
        if (strcmp(name, "fennel:N") == 0)
            word[count++] = "fennel:3";
        else if (strcmp(name, "file:PATH") != 0 && (star || strcmp(name, "metis:star") != 0))
            word[count++] = name;
    }
    word[count] = NULL;
    return word;
}

// Each cut by METIS is a process, whose start takes the sanitizers longer than all cuts.
#ifdef __SANITIZE_ADDRESS__
enum { SIZE_STEP = 2 };
#else
enum { SIZE_STEP = 1 };
#endif

TEST(test_every_method_fills_every_part_and_repeats) {
    static const int sizes[] = {1, 2, 3, 8, 34, 150}, counts[] = {1, 2, 3, 4, 8};
    int32_t part[150], again[150];
    for (int r = 0; r < GRAPH_RULES; r++)
        for (int s = r % SIZE_STEP; s < 6; s += SIZE_STEP) {
            OWNED(Dataset) d = graph_make(sizes[s], graph_rules[r], false, 1);
            for (const char *const *method = method_words(false); *method != NULL; method++)
                for (int c = 0; c < 5 && counts[c] <= sizes[s]; c++) {
                    cut_by(*method, part, &d, counts[c]);
                    assert_good_cut(part, sizes[s], counts[c]);
                    cut_by(*method, again, &d, counts[c]);
                    assert_memory_equal(part, again, (size_t)sizes[s] * sizeof part[0]);
                }
        }
}

static void check_hyper_cut(const Dataset *d, const char *method, int parts) {
    int32_t part[200], again[200];
    cut_by(method, part, d, parts);
    assert_good_cut(part, d->nodes, parts);
    for (int64_t h = 0; h < d->hyperedges; h++)
        assert_in_range(part[d->nodes + h], 0, parts - 1);
    cut_by(method, again, d, parts);
    assert_memory_equal(part, again, (size_t)(d->nodes + d->hyperedges) * sizeof part[0]);
}

TEST(test_every_method_cuts_hypergraphs) {
    static const int sizes[] = {1, 3, 8, 90}, counts[] = {1, 2, 3, 4, 8};
    for (int r = 0; r < HYPER_RULES; r++)
        for (int s = 0; s < 4; s++)
            for (int turn = 0; turn < test_turns(1, 2); turn++) { // each cut by METIS is a process
                bool directed = (r + s + turn) % 2 == 1;
                HyperKind kind = {sizes[s], 110 - sizes[s], hyper_rules[r], directed, r % 2 == 0};
                OWNED(Dataset) d = hyper_make(kind, 1);
                for (const char *const *method = method_words(true); *method != NULL; method++)
                    for (int c = 0; c < 5 && counts[c] <= sizes[s]; c++)
                        check_hyper_cut(&d, *method, counts[c]);
            }
}

static int64_t largest(const int32_t *part, int64_t nodes, int parts) {
    int64_t count[64] = {0}, most = 0;
    for (int64_t v = 0; v < nodes; v++)
        count[part[v]]++;
    for (int p = 0; p < parts; p++)
        most = count[p] > most ? count[p] : most;
    return most;
}

TEST(test_random_and_blocks_are_even_and_what_they_say) {
    int32_t part[101], other[101];
    OWNED(Dataset) d = graph_make(101, graph_random, false, 1);
    cut_by("blocks", part, &d, 4);
    assert_int_equal(largest(part, 101, 4), 26); // ceil(101 / 4)
    for (int v = 1; v < 101; v++)
        assert_true(part[v] >= part[v - 1]);
    cut_by("random", part, &d, 4);
    assert_int_equal(largest(part, 101, 4), 26);
    Config config = config_for("random");
    config.partition.seed = 4;
    assert_ok(partition_cut(other, &d, 4, &config, &err, &(Warnings){0}));
    assert_memory_not_equal(part, other, sizeof part);
}

// A method that reads no edges gets no transpose.
TEST(test_methods_get_what_they_ask_for) {
    OWNED(Dataset) d = graph_make(600, graph_random, false, 1); // directed
    assert_int_equal(bytes_of_cut(&d, "blocks", 4),
                     4 * sizeof(int64_t)); // what counts the nodes of parts
    assert_int_equal(bytes_of_cut(&d, "random", 4), 600 * 16);
    assert_true(bytes_of_cut(&d, "metis", 4) > csr_bytes_of(d.nodes, d.edges, false));
}

TEST(test_metis_finds_the_two_cliques) {
    int32_t part[80];
    OWNED(Dataset) d = graph_make(80, graph_cliques, false, 1);
    cut_by("metis", part, &d, 2);
    for (int v = 0; v < 80; v++)
        assert_int_equal(part[v], part[v % 2]);
    assert_int_not_equal(part[0], part[1]);
}

// METIS gives garbage for loops, one-way edges and duplicates. Its graph has none, so the cut is as
// small as that of the clean graph.
TEST(test_metis_cuts_a_dirty_graph_like_a_clean_one) {
    enum { N = 40 };
    int32_t clean_part[N], dirty_part[N];
    Dataset clean = graph_make(N, graph_cliques, false, 1), dirty = {.nodes = N, .name = "dirty"};
    dirty.offset = ALLOC(int64_t, N + 1, "test");
    dirty.target = ALLOC(int32_t, 3 * clean.edges, "test");
    dirty.split = ALLOC(uint8_t, N, "test");
    for (int64_t i = 0; i < N; i++) {
        for (int64_t e = clean.offset[i]; e < clean.offset[i + 1]; e++)
            for (int k = 0; k < (clean.target[e] > i ? 2 : 0); k++) // upwards only, twice
                dirty.target[dirty.edges++] = clean.target[e];
        dirty.offset[i + 1] = dirty.edges;
    }
    cut_by("metis", clean_part, &clean, 3);
    cut_by("metis", dirty_part, &dirty, 3);
    assert_memory_equal(clean_part, dirty_part, sizeof clean_part);
    dataset_clear(&clean);
    dataset_clear(&dirty);
}

static int64_t most_trained(const int32_t *part, const Dataset *d, int parts) {
    int64_t count[8] = {0}, most = 0;
    for (int64_t v = 0; v < d->nodes; v++)
        count[part[v]] += d->split[v] == SPLIT_TRAIN;
    for (int p = 0; p < parts; p++)
        most = count[p] > most ? count[p] : most;
    return most;
}

static bool graph_ring(int64_t i, int64_t j, int64_t n, uint64_t seed) {
    (void)seed;
    return (i + 1) % n == j || (j + 1) % n == i || (i + 2) % n == j || (j + 2) % n == i;
}

// All training nodes lie together on a ring: a plain cut gives them to one part.
TEST(test_training_nodes_are_balanced_when_asked_for) {
    enum { N = 1200 };
    static int32_t part[N];
    OWNED(Dataset) d = graph_make(N, graph_ring, false, 1);
    for (int v = 0; v < N; v++)
        d.split[v] = v < N / 4 ? SPLIT_TRAIN : SPLIT_TEST;
    Config config = config_for("metis");
    config.partition.balance = (ConfigWords){2, {"train", "edges"}};
    assert_ok(partition_cut(part, &d, 4, &config, &err, &(Warnings){0}));
    assert_true(most_trained(part, &d, 4) < 1.25 * N / 16); // 75 each would be perfect
    config.partition.balance.count = 0;
    assert_ok(partition_cut(part, &d, 4, &config, &err, &(Warnings){0}));
    assert_true(most_trained(part, &d, 4) > 1.25 * N / 16);
    memset(d.split, SPLIT_NONE, N); // nothing to balance: still a cut
    config.partition.balance.count = 1;
    assert_ok(partition_cut(part, &d, 4, &config, &err, &(Warnings){0}));
    assert_good_cut(part, N, 4);
}

TEST(test_wrong_requests_are_refused) {
    int32_t part[10];
    OWNED(Dataset) d = graph_make(10, graph_random, false, 1);
    static const char *const wrong[] = {"mettis", "file:", "file", "metis:4", "", "METIS"};
    for (int i = 0; i < 6; i++) {
        Config config = config_for(wrong[i]);
        assert_refused(partition_cut(part, &d, 2, &config, &err, &(Warnings){0}), EXIT_CONFIG,
                       "metis, metis:star, random, blocks, fennel, fennel:N, srp, file:PATH");
    }
    Config config = config_for("metis");
    assert_refused(partition_cut(part, &d, 11, &config, &err, &(Warnings){0}), EXIT_CONFIG,
                   "10 nodes cannot be cut into 11 parts");
    Config star = config_for("metis:star");
    assert_refused(partition_cut(part, &d, 2, &star, &err, &(Warnings){0}), EXIT_CONFIG,
                   "has no hyperedges; use metis");
    config.partition.balance = (ConfigWords){1, {"nodes"}};
    assert_refused(partition_cut(part, &d, 2, &config, &err, &(Warnings){0}), EXIT_CONFIG,
                   "'nodes' cannot be balanced");
}

// The contents of the file, a part of the error sentence, and the code.
TEST(test_part_files_are_checked) {
    static const struct {
        const char *text, *expected;
        ExitCode code;
    } cases[] = {
        {"0\n1\n2\n0\n", NULL, EXIT_OK},
        {"0\r\n1 \n 2\n0", NULL, EXIT_OK}, // Windows lines, spaces, no final newline
        {"0\n1\n2\n", "3 lines for 4 nodes", EXIT_DATA},
        {"0\n1\n2\n0\n0\n", "5 lines for 4 nodes", EXIT_DATA},
        {"0\n1\n3\n0\n", ":3: part 3 is outside 0..2", EXIT_DATA},
        {"0\n-1\n2\n0\n", ":2: part -1 is outside 0..2", EXIT_DATA},
        {"0\n1.5\n2\n0\n", ":2: not a part id", EXIT_DATA},
        {"0\n\n2\n0\n", ":2: not a part id", EXIT_DATA},
        {"0\n99999999999999999999\n2\n0\n", ":2: not a part id", EXIT_DATA},
        {"", "0 lines for 4 nodes", EXIT_DATA},
    };
    static const int32_t expected[4] = {0, 1, 2, 0};
    OWNED(Dataset) d = graph_make(4, graph_star, false, 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *path = test_path("four.part.3");
        char method[CONFIG_TEXT];
        int32_t part[4];
        test_write_text(path, cases[i].text);
        snprintf(method, sizeof method, "file:%s", path);
        Config config = config_for(method);
        if (cases[i].code != EXIT_OK) {
            assert_refused(partition_cut(part, &d, 3, &config, &err, &(Warnings){0}), cases[i].code,
                           cases[i].expected);
            continue;
        }
        cut_by(method, part, &d, 3);
        assert_memory_equal(part, expected, sizeof part);
        method[strlen(method) - strlen(".part.3")] = '\0'; // the ending may be left out
        cut_by(method, part, &d, 3);
        assert_memory_equal(part, expected, sizeof part);
    }
}

TEST(test_missing_part_file_and_empty_part) {
    char method[CONFIG_TEXT];
    Warnings warnings = {0};
    int32_t part[4];
    OWNED(Dataset) d = graph_make(4, graph_star, false, 1);
    snprintf(method, sizeof method, "file:%s", test_path("nowhere.part.2"));
    Config config = config_for(method);
    assert_refused(partition_cut(part, &d, 2, &config, &err, &warnings), EXIT_NO_INPUT,
                   "nowhere.part.2");
    test_write_text(test_path("gap.part.3"), "0\n2\n2\n0\n");
    snprintf(method, sizeof method, "file:%s", test_path("gap.part.3"));
    config = config_for(method);
    assert_ok(partition_cut(part, &d, 3, &config, &err, &warnings));
    assert_non_null(strstr(warnings.text, "part 1 is empty"));
}

// The rows of formats/expect.tsv whose reader is `part`: a ring of 64 nodes cut into 4.
TEST(test_listed_files_give_the_listed_outcome) {
    const char *list = data_path_or_skip("formats/expect.tsv");
    char folder[1024], line[1024];
    path_folder(folder, sizeof folder, list);
    FILE *file = fopen(list, "r");
    assert_non_null(file);
    OWNED(Dataset) d = graph_make(64, graph_ring, false, 1);
    int rows = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        char *path = strtok(line, "\t"), *reader = strtok(NULL, "\t"),
             *verdict = strtok(NULL, "\t\n");
        if (verdict == NULL || strcmp(reader, "part") != 0)
            continue;
        Warnings warnings = {0};
        int32_t part[64];
        Config config = config_for(test_text("file:%s/%s", folder, path));
        if (strcmp(verdict, "reject") == 0) {
            assert_refused(partition_cut(part, &d, 4, &config, &err, &warnings), EXIT_DATA, path);
        } else {
            assert_ok(partition_cut(part, &d, 4, &config, &err, &warnings));
            assert_int_equal(strcmp(verdict, "warn") == 0, warnings.text[0] != '\0');
        }
        rows++;
    }
    fclose(file);
    assert_true(rows >= 5);
}
