// If this failed, the rows of a table of features or labels that has ids would be those of other
// nodes.

#include "loading.h"

static const char edges[] = "30 10\n10 20\n20 30\n30 40\n";

static bool loads(Dataset *d, const char *graph, const char *data, Error *err) {
    return load_section(d, "e.txt", graph, strlen(graph), data, err);
}

static void expect(const char *data, const char *x, const char *y) {
    OWNED(Dataset) d = {0};
    Error err;
    test_write_text(test_path("x.csv"), x);
    test_write_text(test_path("y.csv"), y);
    if (!loads(&d, edges, data, &err))
        fail_msg("%s: '%s'", data, err.text);
    assert_memory_equal(d.label, ((int32_t[]){0, 0, 1, 1}), 16);
    assert_int_equal(d.features, 2);
    assert_memory_equal(d.x, ((float[]){1, 4, 2, 5, 3, 5, 7, 8}), 32);
}

TEST(tables_by_id) {
    static const char x[] = "20,2,5\n40,7,8\n30,3,5\n10,1,4\n";
    static const char y[] = "txId,class\n40,b\n10,a\n30,b\n20,a\n";
    static const char named[] = "id,txId,f,g\n1,20,2,5\n2,40,7,8\n3,30,3,5\n4,10,1,4\n";
    expect(", \"labels\": \"y.csv\", \"features\": \"x.csv\", \"columns\": {\"id\": 1}", x, y);
    expect(", \"labels\": \"y.csv\", \"nodes\": \"x.csv\", \"columns\": {\"id\": 1}", x, y);
    expect(", \"nodes\": \"y.csv\", \"features\": \"x.csv\", \"columns\": {\"id\": 1}", x, y);
    // what is said of the label is said of the labels' table
    expect(", \"labels\": \"y.csv\", \"nodes\": \"x.csv\", \"columns\": {\"id\": 1, \"label\": 2}",
           x, "40,b,9\n10,a,9\n30,b,9\n20,a,9\n");
    expect(", \"labels\": \"y.csv\", \"features\": \"x.csv\", "
           "\"columns\": {\"id\": 1, \"label\": \"kl\"}",
           x, "txId,kl,z\n40,b,1\n10,a,1\n30,b,1\n20,a,1\n");
    expect(", \"labels\": \"y.csv\", \"features\": \"x.csv\"",
           "id,label,f,g\n20,9,2,5\n30,9,3,5\n10,9,1,4\n40,9,7,8\n",
           "class;id\nb;30\na;10\na;20\nb;40\n");
    expect(", \"labels\": \"y.csv\", \"features\": \"x.csv\", "
           "\"columns\": {\"id\": \"txId\", \"features\": [\"f\", \"g\"]}",
           named, y);
}

// Of a graph, a table and the rest of the section: what is said, and the labels, a digit each; or,
// without labels, the refusal.
TEST(what_tables_of_labels_say) {
    static const char signs[] = "-5 10\n10 20\n20 -5\n20 40\n", words[] = "10 11\n11 2\n2 9\n";
    static const char ones[] = "1 2\n2 3\n3 4\n", zeros[] = "0 1\n1 2\n2 3\n";
    static const struct {
        const char *graph, *table, *more, *words, *labels;
    } cases[] = {
        {edges, "txId,class\n40,1\n10,0\n30,1\n20,0\n", "", "its column 'txId' holds ids", NULL},
        {edges, "txId,class\n9,0\n10,0\n20,1\n30,1\n", "", "its column 'txId' holds ids", NULL},
        {edges, "txId,class\n10,0\n20,0\n30,1\n40,1\n", "", "", "0011"},
        {edges, "score,class\n1.5,0\n.5,0\n1,1\n7,1\n", "", "", "0011"},
        {edges, "class,degree\n0,7\n0,2\n1,9\n1,4\n", "", "", "0011"},
        {edges, "0\n0\n1\n1\n", ", \"columns\": {\"id\": 1}", "", "0011"}, // labels alone
        {edges, "40,1\n10,0\n40,1\n20,0\n", ", \"columns\": {\"id\": 1, \"label\": 2}",
         "y.csv:3: the id '40' stands in line 1 already", NULL},
        {edges, "40,1\n,0\n30,1\n20,0\n", ", \"columns\": {\"id\": 1, \"label\": 2}",
         "y.csv:2: its id is empty", NULL},
        {edges, "id,class\n30,1\n99,0\n20,1\n10,0\n", "",
         "1 row in y.csv of a node that is not in the graph\n1 node without a row in y.csv: no "
         "label",
         "011-"},
        {edges, "id,class\nx,1\ny,0\nz,0\nw,1\n", "", "its ids are text", NULL},
        {edges, "id,class\n1,1\n2,0\n3,0\n4,1\n", "", "none of its 4 ids is one of the graph",
         NULL},
        {signs, "40,1\n-5,0\n20,1\n10,0\n", ", \"columns\": {\"id\": 1, \"label\": 2}", "", "0011"},
        {signs, "tx,class\n40,1\n-5,0\n20,1\n10,0\n", "", "its column 'tx' holds ids", NULL},
        {edges, "amount,txId,class\n5,40,1\n7,10,0\n9,30,1\n11,20,0\n", "",
         "its column 'txId' holds ids", NULL},
        {edges, "txId,class\n40.0,1\n10.0,0\n30.0,1\n20.0,0\n", "", "its column 'txId' holds",
         NULL},
        {edges, "txId,class\n40,1\n10,0\n40,1\n20,0\n", "", "its column 'txId' holds ids", NULL},
        {edges, "class,txId,z\n1,40,1\n0,10,1\n1,30,1\n0,20,1\n1,50,2\n", "", "'txId' holds ids",
         NULL},
        {edges, "id,class\n40,1\n10,0\n30,1\n20,0\n", ", \"columns\": {\"id\": \"txid\"}", "",
         "0011"},
        {edges, "who,class\n40,1\n10,0\n30,1\n20,0\n", ", \"columns\": {\"id\": \"hwo\"}",
         "id='hwo' is none of its columns", NULL},
        {ones, ",class\n0,0\n1,0\n2,1\n3,1\n", "", "", "0011"}, // as pandas counts rows
        {ones, "no,class\n1,0\n2,0\n3,1\n4,1\n", "", "", "0011"},
        {zeros, "\"\",\"class\"\n\"1\",0\n\"2\",0\n\"3\",1\n\"4\",1\n", "", "", "0011"}, // R
        {words, "id,kl\n10,x\n2,y\n11,x\n9,y\n",
         ", \"ids\": \"text\", \"columns\": {\"id\": 1, \"label\": 2}", "", "0011"},
        {words, "who,class\n2,0\n9,0\n10,1\n11,1\n", ", \"ids\": \"text\"",
         "its column 'who' holds ids", NULL},
        {words, "who,class\n10,0\n11,0\n2,1\n9,1\n", ", \"ids\": \"text\"", "", "0011"},
        {words, "who,class\n2,1\n9,1\n10,0\n11,0\n",
         ", \"ids\": \"text\", \"columns\": {\"id\": \"who\"}", "", "0011"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(Dataset) d = {0};
        Error err;
        test_write_text(test_path("y.csv"), cases[i].table);
        bool loaded =
            loads(&d, cases[i].graph, test_text(", \"labels\": \"y.csv\"%s", cases[i].more), &err);
        const char *said = loaded ? d.warnings.text : err.text;
        if (loaded != (cases[i].labels != NULL) || strstr(said, cases[i].words) == NULL)
            fail_msg("'%s': '%s'", cases[i].table, said);
        for (int64_t n = 0; loaded && n < d.nodes; n++)
            assert_int_equal(d.label[n] < 0 ? '-' : '0' + d.label[n], cases[i].labels[n]);
    }
}

TEST(what_tables_of_features_say) {
    static const struct {
        const char *table, *words;
        int64_t features; // 0: it is refused
    } cases[] = {
        {"id,x,y\n10,1,2\n20,3,4\n30,5,6\n40,7,8\n",
         "column 'y' has the name of labels or splits, so it is no feature", 1},
        {"id,s\n10,a\n20,b\n30,c\n40,d\n", "column 's' holds words and is not read; features are",
         0},
        {"id,f,s\n10,1,a\n20,1,b\n30,1,c\n40,1,d\n", "features are numbers", 0},
        {"id,label\n10,1\n20,1\n30,1\n40,1\n", "it has no column of features", 0},
        {"40,1\n10,2\n30,3\n20,4\n", "its feature 1 is the ids of the nodes, and its rows", 0},
        {"1,40\n2,10\n3,30\n4,20\n", "its feature 2 is the ids of the nodes, and its rows", 0},
        {",txId,f\n0,40,1\n1,10,2\n2,30,3\n3,20,4\n", "its feature 1 is the ids", 0},
        {"txId,f\n40.0,1\n10.0,2\n30.0,3\n20.0,4\n", "its feature 1 is the ids", 0},
        {"10,1\n20,2\n30,3\n40,4\n", "its first feature is the ids of the nodes", 2},
        {"f,g\n10,1\n20,2\n40,4\n40,4\n", "", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(Dataset) d = {0};
        Error err;
        test_write_text(test_path("x.csv"), cases[i].table);
        bool loaded = loads(&d, edges, ", \"features\": \"x.csv\"", &err);
        const char *said = loaded ? d.warnings.text : err.text;
        if (loaded != (cases[i].features > 0) || strstr(said, cases[i].words) == NULL)
            fail_msg("'%s': '%s'", cases[i].table, said);
        assert_int_equal(loaded ? d.features : 0, cases[i].features);
    }
}

// Columns that data.columns says, of a table that has no such ones, or has other numbers there.
TEST(what_is_said_of_another_table) {
    OWNED(Dataset) d = {0};
    static const char columns[] = ", \"columns\": {\"id\": 1, \"label\": 2}";
    test_write_text(test_path("n.csv"), "10,a\n20,a\n30,b\n40,b\n");
    test_write_text(test_path("x.csv"), "0.5,1\n0.5,2\n.7,3\n.8,4\n");
    assert_ok(loads(&d, edges,
                    test_text(", \"nodes\": \"n.csv\", \"features\": \"x.csv\"%s", columns), &err));
    assert_memory_equal(d.x, ((float[]){.5f, 1, .5f, 2, .7f, 3, .8f, 4}), 32);
    test_write_text(test_path("n.csv"), "id,kl,f\n10,1,5\n20,1,6\n30,2,7\n40,2,8\n");
    test_write_text(test_path("y.csv"), "id,kl\n40,b\n10,a\n30,b\n20,a\n");
    assert_ok(loads(
        &d, edges,
        ", \"nodes\": \"n.csv\", \"labels\": \"y.csv\", \"columns\": {\"label\": \"kl\"}", &err));
    assert_memory_equal(d.x, ((float[]){5, 6, 7, 8}), 16); // and not kl
    assert_memory_equal(d.label, ((int32_t[]){0, 0, 1, 1}), 16);
    // a name that the table does not have takes nothing from the usual one
    test_write_text(test_path("x.csv"), "id,label,f\n10,1,5\n20,1,6\n30,2,7\n40,2,8\n");
    assert_ok(
        loads(&d, edges,
              ", \"features\": \"x.csv\", \"labels\": \"y.csv\", \"columns\": {\"label\": \"kl\"}",
              &err));
    assert_int_equal(d.features, 1);
    assert_memory_equal(d.x, ((float[]){5, 6, 7, 8}), 16);
}
