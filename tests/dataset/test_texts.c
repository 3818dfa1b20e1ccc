// If this failed, a damaged METIS file, edge list or hypergraph would be read, or a sound one
// would be read wrongly, or a message would not name the line.

#include "loading.h"

#include <zlib.h>

typedef struct TextCase {
    const char *text;
    const char *refused; // part of the sentence; NULL: must load
    int64_t nodes, edges;
} TextCase;

static void try_texts(const TextCase *cases, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        OWNED(Dataset) d = {0};
        Error err;
        test_write_text(test_path(name), cases[i].text);
        bool loaded = load(&d, test_path(name), &err);
        if (loaded != (cases[i].refused == NULL))
            fail_msg("'%s': %s", cases[i].text, loaded ? "was not refused" : err.text);
        if (!loaded && (strstr(err.text, name) == NULL || !strstr(err.text, cases[i].refused)))
            fail_msg("'%s': the message is '%s'", cases[i].text, err.text);
        if (loaded) {
            assert_int_equal(d.nodes, cases[i].nodes);
            assert_int_equal(d.edges, cases[i].edges);
        }
    }
}

TEST(metis_graphs) {
    static const TextCase cases[] = {
        {"3 2\n2\n1 3\n2\n", NULL, 3, 4},
        {"% a\n3 2\n% b\n2\n1 3\n2\n", NULL, 3, 4},
        {"3 2\n2\n1 3\n2", NULL, 3, 4},             // no newline at the end
        {"3 2\r\n2 \r\n1\t3\r\n2\r\n", NULL, 3, 4}, // CRLF
        {"3 1\n2\n1\n\n", NULL, 3, 2},              // an isolated vertex
        {"3 2 1\n2 5\n1 5 3 7\n2 7\n", NULL, 3, 4}, // edge weights
        {"3 2 011\n9 2 5\n9 1 5 3 7\n9 2 7\n", NULL, 3, 4},
        {"3 2 10 2\n9 8 2\n9 8 1 3\n9 8 2\n", NULL, 3, 4},
        {"3 2 100\n4 2\n4 1 3\n4 2\n", NULL, 3, 4},
        {"", "no header", 0, 0},
        {"% only a comment\n", "no header", 0, 0},
        {"3\n2\n1 3\n2\n", ":1: expected the number of edges", 0, 0},
        {"3 3\n2\n1 3\n2\n", "says 3 edges, so 6 entries, but 4", 0, 0},
        {"3 1\n2\n1 3\n2\n", ":3: the header says 1 edges", 0, 0},
        {"3 4\n2\n1 3\n2\n", "says 4 edges", 0, 0},
        {"3 2\n2\n1 3\n", ":4: the file ends at vertex 3 of 3", 0, 0},
        {"3 2\n0\n1 3\n2\n", ":2: neighbour 0", 0, 0},
        {"3 2\n2\n1 4\n2\n", ":3: neighbour 4 is not in 1..3", 0, 0},
        {"3 2\n2\n1 x\n2\n", ":3: expected a neighbour (an integer), found 'x'", 0, 0},
        {"3 2\n2\n1 3.5\n2\n", ":3: expected a neighbour", 0, 0},
        {"3 2 7\n2\n1 3\n2\n", ":1: fmt 7", 0, 0},
        {"3 2 0 1\n2\n1 3\n2\n", ":1: ncon 1 is given", 0, 0},
        {"3 2\n1\n1 3\n2\n", ":2: vertex 1 lists itself", 0, 0},
        {"3 2\n2 3\n1\n2\n", "but", 0, 0}, // one way only
        {"2 2\n2 2\n1 1\n", "lists 2 twice", 0, 0},
        {"3 2 1\n2 5\n1 6 3 7\n2 7\n", "weighs 5 at one end", 0, 0},
        {"3 2 1\n2 0\n1 0 3 7\n2 7\n", ":2: edge weight 0", 0, 0},
        {"3 2 1\n2\n1 5 3 7\n2 7\n", ":2: expected an edge weight", 0, 0},
        {"3 2 10\n-1 2\n1 1 3\n1 2\n", ":2: a vertex size or weight is negative", 0, 0},
        {"9999999999 2\n2\n1 3\n2\n", "do not fit a file", 0, 0},
        {"3 99999999999999999999\n2\n1 3\n2\n", "does not fit 64 bits", 0, 0},
        {"-3 2\n2\n1 3\n2\n", "must be above 0", 0, 0},
    };
    try_texts(cases, sizeof cases / sizeof *cases, "case.graph");
}

TEST(edge_lists) {
    static const TextCase cases[] = {
        {"0 1\n1 2\n", NULL, 3, 2},
        {"# Directed\n0\t1\n1\t2\n", NULL, 3, 2},
        {"0 1\r\n1 2\r\n", NULL, 3, 2},
        {"0 1\n1 2", NULL, 3, 2},
        {"0,1\n1,2\n\n", NULL, 3, 2},
        {"10 20\n20 1000000000000\n", NULL, 3, 2}, // ids are renumbered
        {"0 1 0.5\n1 2 1e-3\n", NULL, 3, 2},
        {"", "no edges", 0, 0},
        {"# nothing\n", "no edges", 0, 0},
        {"0 1\n1\n", ":2: 1 column where the lines before have 2", 0, 0},
        {"0 1\n1 2 3\n", ":2: 3 columns where the lines before have 2", 0, 0},
        {"0 1 1\n1 2\n", ":2: 2 columns where the lines before have 3", 0, 0},
        {"0 1 1 1\n", "data.format=members", 0, 0},
        {"0 one\n", ":1: the id 'one' is not written as a number, but '0'", 0, 0},
        {"0 1.0\n", ":1: the id '1.0' is a whole number with a point", 0, 0},
        {"0 -1\n1 0\n", NULL, 3, 2}, // -1, 0, 1
        {"0 9223372036854775808\n", NULL, 2, 1},
        {"-1 9223372036854775808\n", "does not fit 64 bits with a sign", 0, 0},
        {"0 18446744073709551616\n", ":1: the id '18446744073709551616' does not fit 64 bits", 0,
         0},
        {"0 1 nan\n", "expected a weight (a number) in the third column, found 'nan'", 0, 0},
        {"0 1 1\n0 1 0x1p3\n", ":2: expected a weight", 0, 0},
        {"0 1 1e99\n", "expected a weight", 0, 0},
        {"0 1 1\n0 1 1e99\n", "that fits a 32-bit float", 0, 0},
        {"0 1 -2\n", "weighs -2", 0, 0},
    };
    try_texts(cases, sizeof cases / sizeof *cases, "case.txt");
}

// edges counts pins.
TEST(hmetis_hypergraphs) {
    static const TextCase cases[] = {
        {"2 3\n1 2\n2 3\n", NULL, 3, 4},
        {"% a\n2 3\n% b\n1 2\n2 3", NULL, 3, 4},
        {"2 3 \r\n1\t2 \r\n2 3\r\n", NULL, 3, 4},
        {"1 5\n2\n", NULL, 5, 1}, // a hyperedge of one vertex; four vertices in none
        {"2 3 1\n0 1 2\n2.5 2 3\n", NULL, 3, 4},
        {"1 3 10\n1 2\n7\n0\n2\n", NULL, 3, 2},
        {"1 2 11\n3 1 2\n% c\n7\n0\n", NULL, 2, 2},
        {"1 3\n1 2 1\n", NULL, 3, 2}, // a pin twice
        {"", "no header", 0, 0},
        {"% only a comment\n", "no header", 0, 0},
        {"2\n1 2\n", ":1: expected the number of vertices", 0, 0},
        {"2 3 5\n1 2\n2 3\n", ":1: fmt 5 is none of 0, 1, 10, 11", 0, 0},
        {"2 3 -1\n1 2\n2 3\n", ":1: fmt -1", 0, 0},
        {"2 3 0 1\n1 2\n2 3\n", ":1: something follows the header", 0, 0},
        {"0 3\n", ":1: 3 nodes and 0 hyperedges; at least one of each", 0, 0},
        {"1 0\n1\n", ":1: 0 nodes and 1 hyperedges", 0, 0},
        {"1 -3\n1\n", ":1: -3 nodes", 0, 0},
        {"99 3\n1 2\n", ":1: 99 hyperedges of 3 vertices do not fit a file of 9 bytes", 0, 0},
        {"1 2147483648\n1\n", "do not fit a file", 0, 0},
        {"1 9223372036854775807\n1\n", "do not fit a file", 0, 0},
        {"2 3\n1 2\n\n2 3\n", ":3: hyperedge 2 has no pins", 0, 0},
        {"1 3 1\n4\n", ":2: hyperedge 1 has no pins", 0, 0},
        {"1 3\n0 1\n", ":2: pin 0 is not in 1..3", 0, 0},
        {"1 3\n1 4\n", ":2: pin 4 is not in 1..3", 0, 0},
        {"1 3\n1 x\n", ":2: expected a pin (an integer), found 'x'", 0, 0},
        {"3 3\n1 2\n2 3\n", ":4: the file ends at hyperedge 3 of 3", 0, 0},
        {"1 3 1\n-4 1 2\n", ":2: the hyperedge weighs -4", 0, 0},
        {"1 3 1\nnan 1 2\n", ":2: expected the weight of a hyperedge (a number), found 'nan'", 0,
         0},
        {"1 3 1\n1e99 1 2\n", "does not fit a 32-bit float", 0, 0},
        {"1 3 10\n1 2\n1\n1\n", ":5: the file ends at the weight of vertex 3 of 3", 0, 0},
        {"1 2 10\n1 2\n1\n-1\n", ":4: a vertex weighs -1", 0, 0},
        {"1 2 10\n1 2\n1\n2147483648\n", ":4: a vertex weighs 2147483648", 0, 0},
        {"1 2 10\n1 2\n1 1\n1\n", ":3: something follows the weight", 0, 0},
    };
    try_texts(cases, sizeof cases / sizeof *cases, "case.hgr");
}

// What is a graph of METIS to the last pin is not read as a hypergraph, unless the config says so.
TEST(a_graph_that_is_named_like_a_hypergraph) {
    static const char square[] = "4 4\n2 4\n1 3\n2 4\n1 3\n";
    static const TextCase cases[] = {
        {square, "looks like a METIS graph of 4 nodes", 0, 0},
        {"4 4\n2 4\n1 3\n2 4\n1 2\n", NULL, 4, 8}, // one line is listed, and does not list
        {"4 4\n2 4\n1 3\n2 3\n1 4\n", NULL, 4, 8}, // lines list themselves
        {"4 5\n2 4\n1 3\n2 4\n1 3\n", NULL, 5, 8}, // another number of edges
    };
    try_texts(cases, sizeof cases / sizeof *cases, "graph.hgr");
    for (int hyper = 0; hyper < 2; hyper++) {
        Config config = config_at(test_path("graph.hgr"));
        OWNED(Dataset) d = {0};
        test_write_text(test_path("graph.hgr"), square);
        snprintf(config.data.format, sizeof config.data.format, "%s", hyper ? "hgr" : "metis");
        assert_ok(load_config(&d, &config, &err));
        assert_int_equal(d.hyperedges, hyper ? 4 : 0);
    }
}

TEST(matrix_market_files) {
#define BANNER "%%MatrixMarket matrix coordinate real "
    static const TextCase cases[] = {
        {BANNER "general\n%\n5 5 0\n", NULL, 5, 0}, // as scipy.io.mmwrite has it
        {BANNER "symmetric\n5 5 0\n", NULL, 5, 0},
        {BANNER "general\n5 5 0", NULL, 5, 0},
        {BANNER "general\n5 5 1\n2 3 4\n", NULL, 5, 1},
        {BANNER "general\n5 5 0\n2 3 4\n", "more than the 0 entries", 0, 0},
        {BANNER "general\n5 5 1\n", "0 entries, but the file announces 1", 0, 0},
        {BANNER "general\n5 5 -1\n", "-1 entries, which do not fit", 0, 0},
    };
    try_texts(cases, sizeof cases / sizeof *cases, "case.mtx");
}

TEST(lists_of_pins) {
    static const TextCase cases[] = {
        {"0 0\n1 0\n1 1\n", NULL, 2, 3},
        {"# c\nnode,hyperedge\n0,0\n1,0\n", NULL, 2, 2},
        {"7\t900\r\n8\t1000000000000\r\n", NULL, 2, 2}, // ids are renumbered
        {"0 0 2.5\n1 0 2.5\n1 1 0\n", NULL, 2, 3},
        {"0 0 s\n1 0 t\n", NULL, 2, 2},
        {"0,0,2,s\n1,0,2,b\n", NULL, 2, 2},
        {"0 0 s\n0 0 t\n1 0 s\n", NULL, 2, 2}, // the same pin twice, as source and as target
        {"", "no pins", 0, 0},
        {"# nothing\n", "no pins", 0, 0},
        {"0\n", "its first line has 1 column", 0, 0},
        {"0 0\n1 0 2\n", ":2: 3 columns where the lines before have 2", 0, 0},
        {"0 0 2\n1 0\n", ":2: 2 columns where the lines before have 3", 0, 0},
        {"0 0 x\n", ":1: expected the role s, t or b", 0, 0},
        {"0 0 1 1\n", "expected the role s, t or b", 0, 0},
        {"0 0 s s\n", ":1: expected a weight", 0, 0},
        {"0 0 s\n1 0 2\n", ":2: expected the role s, t or b", 0, 0},
        {"0 0 -1\n", ":1: the hyperedge weighs -1", 0, 0},
        {"0 0 1e99\n", "that fits a 32-bit float", 0, 0},
        {"0 0 2\n0 1 3\n# c\n1 0 3\n", ":4: the hyperedge weighs 3 here, but 2 in line 1", 0, 0},
    };
    try_texts(cases, sizeof cases / sizeof *cases, "case.pins");
    try_texts(cases, sizeof cases / sizeof *cases, "case.pins.csv");
}

TEST(numbers_are_read_exactly) {
    static const char *const texts[] = {
        "0.1",    "3.4028234e38", "1e-45",         "123456789012345678",
        "5e-324", "1.5",          "0.30000001192", "16777217",
        ".5",     "2.",           "1E+2"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        test_write_text(test_path("w.txt"), test_text("0 1 %s\n1 0 2\n", texts[i]));
        OWNED(Dataset) d = loaded(test_path("w.txt"));
        assert_true(d.weight[0] == (float)strtod(texts[i], NULL)); // the C library is the oracle
    }
}

TEST(edge_lists_can_mean_both_directions) {
    Config config = config_at(test_path("u.txt"));
    OWNED(Dataset) d = {0};
    test_write_text(test_path("u.txt"), "# Undirected graph\n7 3 2\n3 3 5\n3 9 4\n");
    config.data.undirected = true;
    assert_ok(load_config(&d, &config, &err));
    assert_int_equal(d.nodes, 3); // 3, 7, 9 become 0, 1, 2
    ASSERT_INTS(d.target, 0, 1, 2, 0, 0);
    const float weight[5] = {5, 2, 4, 2, 4};
    assert_memory_equal(d.weight, weight, sizeof weight);
    config.data.undirected = false;
    assert_ok(load_config(&d, &config, &err));
    assert_int_equal(d.edges, 3);
    assert_non_null(strstr(d.warnings.text, "data.undirected"));
}

static void write_gzip(const char *path, const char *text, const char *mode) {
    gzFile file = gzopen(path, mode);
    assert_non_null(file);
    assert_int_equal(gzwrite(file, text, (unsigned)strlen(text)), (int)strlen(text));
    assert_int_equal(gzclose(file), Z_OK);
}

TEST(gzipped_lists) {
    const char *path = test_path("e.txt.gz");
    write_gzip(path, "0 1\n", "wb");
    write_gzip(path, "1 2\n2 0\n", "ab"); // a second member
    OWNED(Dataset) d = loaded(path);
    assert_int_equal(d.edges, 3);
    size_t size;
    char *whole = test_read(path, &size);
    test_write(path, whole, size - 6);
    assert_refused(load(&d, path, &err), EXIT_DATA, "the gzip stream is cut");
    whole[size - 6] ^= 1; // in the checksum of the second member
    test_write(path, whole, size);
    assert_refused(load(&d, path, &err), EXIT_DATA,
                   "e.txt.gz: its gzip stream is damaged: incorrect");
    test_write_text(path, "0 1\n");
    assert_refused(load(&d, path, &err), EXIT_DATA, "is not a gzip file");
}
