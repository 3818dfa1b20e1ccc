// If this failed, a list of numbers in a cell would be no features, or others, and a cell that says
// that nothing is known would be a class or a number.

#include "loading.h"

#include "dataset/internal.h"

// A list of numbers in a cell is as many features, as DGL, Geom-GCN and pandas write it.
TEST(lists_in_cells) {
    static const char edges[] = "a b\nb c\nc a\n";
    static const struct {
        const char *nodes, *words; // words: of a warning or a refusal
        int64_t features;          // -1: it is refused
        float x[6];                // of the first nodes
    } cases[] = {
        {"id,f,g\na,\"1, 2.5,-3\",7\nb,\"4,5,6\",8\nc,\"0,0,0\",9\n",
         "4 features: f (3), g",
         4,
         {1, 2.5f, -3, 7, 4, 5}},
        {"id\tf\na\t0,1,1\nb\t1,0,1\nc\t0,0,0\n", "3 features: f (3)", 3, {0, 1, 1, 1, 0, 1}},
        {"id,f\na,[ 1.  2.]\nb,[3. 4. ]\nc,[-5e-1 6]\n",
         "2 features: f (2)",
         2,
         {1, 2, 3, 4, -.5f, 6}},
        {"id,f\na,\"(1, 2)\"\nb,\"(3, 4)\"\nc,\"(5,6)\"\n", "2 features", 2, {1, 2, 3, 4, 5, 6}},
        {"id;f\na;1,5\nb;2,5\nc;3\n", "1 feature: f", 1, {1.5f, 2.5f, 3}}, // decimal commas
        {"id,f\na,\"1,2\"\nb,\"1,2,3\"\nc,\"1,2\"\n",
         "nodes.csv:3: column 'f' has lists of other lengths above",
         0,
         {0}},
        {"id,f\na,1 2\nb,3 4\nc,5 6\n", "column 'f' holds words", 0, {0}},
        {"id,f\na,\"1,x\"\nb,\"1,2\"\nc,\"1,2\"\n", "column 'f' holds words", 0, {0}},
        {"id,f\na,\"[1, 2\"\nb,\"[1, 2\"\nc,\"1,\"\n", "column 'f' holds words", 0, {0}},
        {"id,f\na,\"1,2\"\nb,\nc,\"1,2\"\n", "nodes.csv:3: column 'f' has no number here", -1, {0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(Dataset) d = {0};
        Error err;
        test_write_text(test_path("nodes.csv"), cases[i].nodes);
        bool loaded =
            load_section(&d, "e.txt", edges, strlen(edges), ", \"nodes\": \"nodes.csv\"", &err);
        const char *said = loaded ? d.warnings.text : err.text;
        if (loaded != (cases[i].features >= 0) || strstr(said, cases[i].words) == NULL)
            fail_msg("'%s': '%s'", cases[i].nodes, said);
        assert_int_equal(loaded ? d.features : -1, cases[i].features);
        for (int64_t k = 0; k < 6 && k < cases[i].features * 3; k++)
            assert_float_equal(d.x[k], cases[i].x[k], 0);
    }
}

// Cells that pandas and R write where nothing is known, and truth values as features.
TEST(what_is_missing) {
    static const char edges[] = "a b\nb c\nc a\n";
    static const char *const nodes = ", \"nodes\": \"nodes.csv\"";
    OWNED(Dataset) d = {0};
    char name[NODE_ID_TEXT];
    test_write_text(test_path("nodes.csv"),
                    "id,label,split,x\na,u,train,True\nb,NA,NA,0.5\nc,\"NA\",test,false\n");
    assert_ok(load_section(&d, "e.txt", edges, strlen(edges), nodes, &err));
    assert_memory_equal(d.label, ((int32_t[]){1, -1, 0}), 12);
    assert_memory_equal(d.split, "\1\0\3", 3);
    assert_memory_equal(d.x, ((float[]){1, 0.5f, 0}), 12);
    assert_string_equal(node_id_text(&d.names, 0, name), "NA");
    assert_non_null(strstr(d.warnings.text, "1 label is NA, null or the like"));
    test_write_text(test_path("nodes.csv"), "id,label\na,2\nNA,?\nc,NaN\n");
    assert_ok(load_section(&d, "e.txt", "a NA\nNA c\nc a\n", 14, nodes, &err));
    assert_memory_equal(d.label, ((int32_t[]){-1, 2, -1}), 12); // a node may be called NA
    test_write_text(test_path("nodes.csv"), "id;label\na;2,5\nb;1\nc;\n");
    assert_ok(load_section(&d, "e.txt", edges, strlen(edges), nodes, &err));
    assert_non_null(strstr(d.warnings.text, "labels are not all whole, so they are numbers"));
    assert_true(d.numeric && d.numbers[0] == 2.5f && d.numbers[1] == 1 && isnan(d.numbers[2]));
}
