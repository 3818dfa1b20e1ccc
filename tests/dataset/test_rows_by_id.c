// If this failed, the rows of a table of features or labels that has ids would be those of other
// nodes.

#include "loading.h"

static const char edges[] = "30 10\n10 20\n20 30\n30 40\n";
static const char labels[] = "txId,class\n40,b\n10,a\n30,b\n20,a\n";
static const char features[] = "20,2,5\n40,7,8\n30,3,5\n10,1,4\n";

static bool loads(Dataset *d, const char *data, Error *err) {
    return load_section(d, "e.txt", edges, strlen(edges), data, err);
}
static void expect(const char *data) {
    OWNED(Dataset) d = {0};
    Error err;
    if (!loads(&d, data, &err))
        fail_msg("%s: '%s'", data, err.text);
    assert_memory_equal(d.label, ((int32_t[]){0, 0, 1, 1}), 16);
    assert_int_equal(d.features, 2);
    assert_memory_equal(d.x, ((float[]){1, 4, 2, 5, 3, 5, 7, 8}), 32);
}

TEST(tables_by_id) {
    test_write_text(test_path("y.csv"), labels);
    test_write_text(test_path("x.csv"), features);
    expect(", \"labels\": \"y.csv\", \"features\": \"x.csv\", \"columns\": {\"id\": 1}");
    expect(", \"labels\": \"y.csv\", \"nodes\": \"x.csv\", \"columns\": {\"id\": 1}");
    expect(", \"nodes\": \"y.csv\", \"features\": \"x.csv\", \"columns\": {\"id\": 1}");
    test_write_text(test_path("y.csv"), "class;id\nb;30\na;10\na;20\nb;40\n");
    test_write_text(test_path("x.csv"), "id,label,f,g\n20,9,2,5\n30,9,3,5\n10,9,1,4\n40,9,7,8\n");
    expect(", \"labels\": \"y.csv\", \"features\": \"x.csv\"");
}

TEST(some_nodes_have_no_row) {
    OWNED(Dataset) d = {0};
    test_write_text(test_path("y.csv"), "id,class\n30,b\n99,a\n20,b\n10,a\n");
    assert_ok(loads(&d, ", \"labels\": \"y.csv\"", &err));
    assert_memory_equal(d.label, ((int32_t[]){0, 1, 1, -1}), 16);
    assert_non_null(strstr(d.warnings.text, "1 row in y.csv of a node that is not in the graph"));
    assert_non_null(strstr(d.warnings.text, "1 node without a row in y.csv: no label"));
    test_write_text(test_path("y.csv"), "id,class\nx,b\ny,a\nz,a\nw,b\n");
    assert_refused(loads(&d, ", \"labels\": \"y.csv\"", &err), EXIT_DATA, "its ids are text");
}

// A column of other numbers, or of ids in the order of nodes, does no harm.
TEST(rows_in_their_order) {
    OWNED(Dataset) d = {0};
    static const struct {
        const char *text, *more;
        bool loads;
    } cases[] = {
        {"txId,class\n40,1\n10,0\n30,1\n20,0\n", "", false},
        {"who,class\nx,1\na,0\nb,1\nc,0\n", "", false},
        {"txId,class\n9,0\n10,0\n20,1\n30,1\n", "", true},
        {"score,class\n1.5,0\n.5,0\n1,1\n7,1\n", "", true},
        {"group,class\n2,0\n1,0\n2,1\n1,1\n", "", true},
        {"0\n0\n1\n1\n", ", \"columns\": {\"id\": 1}", true}, // labels alone
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Error err;
        test_write_text(test_path("y.csv"), cases[i].text);
        bool loaded = loads(&d, test_text(", \"labels\": \"y.csv\"%s", cases[i].more), &err);
        if (loaded != cases[i].loads ||
            (!loaded && strstr(err.text, "seems to hold ids, which are not in the order") == NULL))
            fail_msg("'%s': '%s'", cases[i].text, loaded ? "was not refused" : err.text);
        if (loaded)
            assert_memory_equal(d.label, ((int32_t[]){0, 0, 1, 1}), 16);
    }
}
