// If this failed, a text file in another dialect, with other names of columns or other ids would be
// read as another graph without a word, a file of nodes would give its rows to other nodes, or a
// drawn split would be another one. The project's own table beside test_people.c.

#include "loading.h"

#include "dataset/internal.h"

typedef struct Case {
    const char *text, *data; // data: further members of the section, or ""
    const char *words; // of the refusal where nodes is 0, else of a warning; "": none is asked
    int64_t nodes;
    const char *target; // of all edges, a digit each
} Case;

// Loads a file if that is `wanted`, else sees it refused; the words stand in a warning or in the
// refusal. Returns wanted.
static bool loads(Dataset *d, const char *name, const char *text, const char *data, bool wanted,
                  const char *words) {
    Error err;
    bool loaded = load_section(d, name, text, strlen(text), data, &err);
    if (loaded != wanted)
        fail_msg("'%s': %s", text, loaded ? "was not refused" : err.text);
    const char *said = loaded ? d->warnings.text : err.text;
    if (strstr(said, words) == NULL)
        fail_msg("'%s': '%s' is not said in '%s'", text, words, said);
    return loaded;
}

static void try_case(const Case *c) {
    OWNED(Dataset) d = {0};
    if (loads(&d, "list.csv", c->text, c->data, c->nodes > 0, c->words)) {
        if (d.nodes != c->nodes || d.edges != (int64_t)strlen(c->target))
            fail_msg("'%s': %d nodes, %d edges", c->text, (int)d.nodes, (int)d.edges);
        for (int e = 0; e < d.edges; e++)
            if (d.target[e] != c->target[e] - '0')
                fail_msg("'%s': target %d is %d", c->text, e, (int)d.target[e]);
    }
}

TEST(lists_of_edges) {
    static const Case cases[] = {
        // separators, quotes, marks
        {"\xEF\xBB\xBFsource,target\r\n0,1\r\n1,0\r\n", "", "", 2, "10"},
        {"a|b\nb|a\n", "", "", 2, "10"},
        {"\"a,x\",\"b\"\"q\"\n\"b\"\"q\",\"a,x\"\n", "", "run from a,x to b\"q", 2, "10"},
        {"a b\tc d\nc d\ta b\n", "", "from a b to c d", 2, "10"},
        {"// c\n0 1\n% c\n1 0\n", "", "1 comment line after the first edge", 2, "10"},
        {"from;to;amount\n0;1;2,5\n", ", \"columns\": {\"weight\": \"amount\"}", "", 2, "1"},
        {"\"a\n", "", "a quote is not closed", 0, ""},
        {"x,y\n\"a,b\nc\",d\n", "", "in quotes has no line breaks", 0, ""},
        {"sep=;\nfrom;to\n0;1\n1;0\n", "", "", 2, "10"},
        {"(0, 1)\n(1, 0)\n", "", "as Python prints lists; leave brackets out", 0, ""},
        {"# sets\n{a, b}\n{b, c}\n", "", "leave brackets out", 0, ""},
        {"a: b\nb: a\n", "", "begins with 'a:', a name and a colon", 0, ""},
        {"0 : 1 2 3\n1 : 0\n", "", "a name and a colon", 0, ""},
        {"0:1,2\n1:0,2\n", "", "a name and a colon", 0, ""},
        {"x:a y:b\ny:b x:a\n", "", "", 2, "10"},
        {"a -> b\nb -> a\n", "", "with an arrow", 0, ""},
        {"0->1\n1->0\n", "", "with an arrow", 0, ""},
        {"a => b\n", "", "with an arrow", 0, ""},
        {"a \xe2\x86\x92 b\n", "", "with an arrow", 0, ""},
        {"12:30 12:40\n12:40 12:30\n", "", "", 2, "10"},
        {"00:1a,00:1b\n00:1b,00:1a\n", "", "", 2, "10"},
        {"5 9\n0 1\n1 2\n2 3\n3 4\n4 0\n0 2\n2 4\n4 1\n1 3\n", "",
         "'5 9', is no edge: it counts the nodes and the edges", 0, ""},
        {"a likes b\nb likes a\n", "", "{\"source\": 1, \"target\": 3} if edges", 0, ""},
        {"0 1 0\n1 0 2\n", "", "1 edge of weight 0, which adds nothing", 2, "10"},
        {"0 1 -2\n", "", "stored edge 0 weighs -2", 0, ""},
        {"0 1\r1 0\r", "", "end in CR alone", 0, ""},
        {"0 1\n\xff 0\n", "", "list.csv:2: it is not UTF-8; convert it: iconv", 0, ""},
        // columns
        {"target,source\n0,1\n0,2\n", "", "", 3, "00"},
        {":START_ID(P),x,:END_ID(P)\n1,9,0\n0,9,1\n", "", "column 'x' is not read", 2, "10"},
        {"src,dst,time\n0,1,5\n1,0,6\n", "", "column 'time' is not read", 2, "10"},
        {"who,whom\n1,0\n0,1\n", "", "lead from column 'who' to 'whom'", 2, "10"},
        {"head,tail\n0,1\n", "", "used both ways", 0, ""},
        {"a,b,c\n0,1,2\n", "", "do not say which ones", 0, ""},
        {"g1,g2,g3\n0,1,2\n", "", "do not say which ones", 0, ""},
        {"source,x1,x2\n0,1,2\n", "", "do not say which ones", 0, ""},
        {"x1,x2,y1,y2\n0,1,2,3\n", "", "do not say which ones", 0, ""},
        {"protein1 protein2 score\n1 0 9\n0 1 9\n", "", "from column 'protein1' to 'protein2'", 2,
         "10"},
        {"a,b,c\n0,1,2\n1,0,2\n", ", \"columns\": {\"source\": \"c\", \"target\": \"b\"}",
         "'a' is not read", 3, "01"},
        {"0 1 7 9\n1 0 7 9\n", ", \"columns\": {\"source\": 2, \"target\": 1}", "", 2, "10"},
        {"a,b\n0,1\n", ", \"columns\": {\"source\": \"x\"}", "is none of its columns: a, b", 0, ""},
        {"node,hyperedge\n0,1\n", "", "data.format=pins", 0, ""},
        {"edge_id,node_id,weight\n0,1,2\n", "", "data.format=pins", 0, ""},
        {"anna,ben\ncarl,dora\n", "", "is read as an edge although neither", 4, "13"},
        {"Source,Target,Type\n0,1,Undirected\n", "", "Undirected, so each edge", 2, "10"},
        {"Source,Target,Type\n0,1,Undirected\n1,2,Directed\n", "", "of 1 of 2 edges", 0, ""},
        {"0\t1\n1,0\n", "", "list.csv:2: 1 column where the lines before have 2", 0, ""},
        {"0,1\n1\t0\n", "", "one of which must stand in every line", 0, ""},
        {"0 1 0 0 0 0 0 0\n1 0 0 0 0 0 0 0\n0 0 0 0 0 0 0 0\n0 0 0 0 0 0 0 0\n"
         "0 0 0 0 0 0 0 0\n0 0 0 0 0 0 0 0\n0 0 0 0 0 0 0 0\n0 0 0 0 0 0 0 0\n",
         "", "looks like a dense matrix; write its edges: numpy.save", 0, ""},
        // ids
        {"7 007\n", "", "'007' is not written as a number", 0, ""},
        {"7.0 10.0\n", "", "'7.0' is a whole number with a point; set data.ids=number", 0, ""},
        {"1.23e+11 7\n", "", "'1.23e+11' is as spreadsheets show long numbers", 0, ""},
        {"7.0 10.0\n", ", \"ids\": \"number\"", "from 7 to 10", 2, "1"},
        {"10.0 7.5\n", ", \"ids\": \"text\"", "from 10.0 to 7.5", 2, "1"},
        {"7 007\n8 7\n", ", \"ids\": \"number\"", "", 2, "00"},
        {"7 007\n8 7\n", ", \"ids\": \"text\"", "from 007 to 8", 3, "01"},
        {"0,1\n,1\n", "", "an id is empty", 0, ""},
        // directions
        {"0 1\n1 2\n", "", "data.undirected=true", 3, "12"},
        {"0 1\n1 0\n1 2\n", ", \"undirected\": true", "", 3, "1021"},
        {"0 1 2\n1 0 3\n", ", \"undirected\": true", "with other weights", 0, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        try_case(&cases[i]);
}

TEST(files_of_nodes) {
    static const struct {
        const char *nodes, *words; // words: of a refusal; NULL: none
        const char *split, *label; // of a, b, c, d; a label is a digit, or - where there is none
    } cases[] = {
        {"id,label,split,x\nc,red,test,3\na,blue,train,1\nb,red,val,2\nd,,none,4\n", NULL,
         "\1\2\3\0", "011-"},
        {"name;class;y2\nb;1;5\na;0;5\n", NULL, "\0\0\0\0", "01--"},
        {"paperId:ID(Paper),label:int,train_mask:boolean,valid_mask,test_mask\na,1,True,False,\nb,"
         "0,false,1,0\nc,0,0,0,1.0\n",
         NULL, "\1\2\3\0", "100-"},
        {"id,label,x,train,val,is_test\na,1,5,1,0,0\nb,0,5,0,1,0\nc,0,5,0,0,1\n", NULL, "\1\2\3",
         "100"},
        {"id,label,train\na,1,1\nb,0,0\nc,0,0\n", NULL, "\0\0\0", "100"}, // it is a feature
        {"id,label\n\"a\",\"x\ny\"\n", "nodes.csv:2: a quote is not closed", "", ""},
        {"x1,x2\na,1\n", "none of its columns is called id", "", ""},
        {"id,label\nd,1\ne,0\n", "none of the 2 ids of data.nodes stands in it", "", ""},
        {"id,train_mask,test_mask\na,1,0\nb,1,1\n",
         "nodes.csv:3: column 'test_mask' has a node that another mask has, too", "", ""},
        {"id,train_mask\na,maybe\n", "neither true, false, 1 nor 0", "", ""},
        {"id,label\na,x\na,y\n", "nodes.csv:3: the id 'a' stands in line 2 already", "", ""},
        {"id,label\na,p\nb,q\nc,r\nd,s\n", "names rather than classes", "", ""},
        {"label,split\nx,train\n", "one of them 'id'", "", ""},
        {"id,split\na,later\n", "the split 'later' is none of", "", ""},
        {"id,x\na,1\nb,\n", "nodes.csv:3: column 'x' has no number here", "", ""},
        {"id,x\na,1\nb,nan\n", "nodes.csv:3: column 'x' has no number here", "", ""},
        {"id,x\n1,1\n", "is made of digits; set data.ids=text", "", ""},
    };
    static const char edges[] = "a b\nb c\nc a\n";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(Dataset) d = {0};
        Error err;
        char id[NODE_ID_TEXT];
        test_write_text(test_path("nodes.csv"), cases[i].nodes);
        bool loaded =
            load_section(&d, "e.txt", edges, strlen(edges), ", \"nodes\": \"nodes.csv\"", &err);
        if (loaded != (cases[i].words == NULL) ||
            (!loaded && strstr(err.text, cases[i].words) == NULL))
            fail_msg("'%s': '%s'", cases[i].nodes, loaded ? "was not refused" : err.text);
        if (!loaded)
            continue;
        assert_int_equal(d.nodes, i == 0 ? 4 : 3); // d stands in nodes.csv alone
        for (int n = 0; n < d.nodes; n++)
            assert_int_equal(d.label[n] < 0 ? '-' : '0' + d.label[n], cases[i].label[n]);
        assert_memory_equal(d.split, cases[i].split, (size_t)d.nodes);
        assert_string_equal(node_id_text(&d.ids, 1, id), "b");
        assert_int_equal(d.names.count, i == 0 ? 2 : 0);
        assert_int_equal(d.features, i != 2); // masks are no features
        if (i == 0)
            assert_memory_equal(d.x, ((float[]){1, 2, 3, 4}), 16);
        assert_int_equal(strstr(d.warnings.text, "1 node of data.nodes in no edge") != NULL,
                         i == 0);
    }
}

// Files beside the graph: the content of a file says that it is a table, whatever its name; what is
// not read has a sentence with the cure.
TEST(files_under_other_names) {
    static const struct {
        const char *name, *key, *text, *words; // words: of the refusal; NULL: it is read
    } cases[] = {
        {"people", "nodes", "id,x\na,1\nb,2\nc,3\n", NULL},
        {"people.content", "nodes", "a 0 1 red\n", "must name its columns, one of them 'id'"},
        {"rows.data", "features", "1,2\n3,4\n5,6\n", NULL},
        {"rows.svm", "features", "1 1:2 3:4\n", "is a file of svmlight"},
        {"people.svm", "nodes", "1 1:2 3:4\n", "is a file of svmlight"},
        {"rows.mtx", "features", "%%MatrixMarket matrix coordinate real general\n3 2 1\n1 1 5\n",
         "scipy.io.mmread(\"rows.mtx\")"},
        {"split.csv", "splits", "id,split\na,train\n", "give the split as a column of data.nodes"},
        {"split.npy", "splits", "\x93NUMPY", "and this is none; for example"},
        {"y.txt", "labels", "0 1\n1 0\n2 1\n", "or {\"id\": 1, \"label\": 2} if one of them"},
    };
    static const char edges[] = "a b\nb c\nc a\n";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(Dataset) d = {0};
        Error err;
        test_write_text(test_path(cases[i].name), cases[i].text);
        const char *data = test_text(", \"%s\": \"%s\"", cases[i].key, cases[i].name);
        bool loaded = load_section(&d, "e.txt", edges, strlen(edges), data, &err);
        if (loaded != (cases[i].words == NULL) ||
            (!loaded && strstr(err.text, cases[i].words) == NULL))
            fail_msg("%s: '%s'", cases[i].name, loaded ? "was not refused" : err.text);
        if (loaded)
            assert_int_equal(d.features, strcmp(cases[i].key, "nodes") == 0 ? 1 : 2);
    }
    test_write_text(test_path("e.txt.bz2"), "BZh91AY");
    assert_refused(!format_is_refused(test_path("e.txt.bz2"), &err), EXIT_DATA, "packed by bzip2",
                   "unpack it: bunzip2 -k");
    test_write_text(test_path("e.xlsx"), "PK");
    assert_refused(!format_is_refused(test_path("e.xlsx"), &err), EXIT_DATA, "a workbook of Excel",
                   "save each sheet as CSV");
    test_write_text(test_path("g.gr"), "p sp 2 1\na 1 2 5\n");
    assert_refused(!format_is_refused(test_path("g.gr"), &err), EXIT_DATA, "a graph of DIMACS",
                   "awk '/^[ae] / {print $2, $3}' '");
}

// Folders of others, or whose folder raw/ is one: what they are, and the files that are read.
TEST(folders_of_others) {
    static const struct {
        const char *file, *whose, *cure;
    } cases[] = {
        {"meta.yaml", "DGL's CSVDataset", "f/edges.csv and data.nodes="},
        {"out1_graph_edges.txt", "Geom-GCN", "f/out1_node_feature_label.txt"},
        {"cora.cites", "LINQS", "f/cora.content"},
        {"musae_x_target.csv", "MUSAE", "f/musae_x_edges.csv and data.nodes="},
        {"raw/ind.cora.allx", "f/raw is a folder of Planetoid", "f/raw' graph.npz"},
        {"ppi-class_map.json", "GraphSAGE", "f' graph.npz"},
        {"train_graph_id.npy", "PPI", "f' graph.npz"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = test_path(test_text("f/%s", cases[i].file));
        assert_ok(file_make_folder(test_path("f"), &err));
        assert_ok(file_make_folder(test_path("f/raw"), &err));
        test_write_text(path, "x\n");
        assert_refused(!format_is_refused(test_path("f"), &err), EXIT_DATA, cases[i].whose,
                       cases[i].cure);
        remove(path);
    }
    assert_false(format_is_refused(test_path("f"), &(Error){0}));
}

// Rows of which no edge tells: ids count from 0 where all are below the rows, from 1 where the
// largest is the number of rows.
TEST(ids_that_count_from_one) {
    static const struct {
        const char *edges, *words;
        int64_t nodes, first; // the node of the first edge
    } cases[] = {
        {"1 2\n2 5\n5 1\n", "run from 1 to 5; the 5 nodes are numbered 0 to 4", 5, 0},
        {"2 4\n4 5\n5 2\n", "run from 1 to 5", 5, 1},
        {"1 2\n2 4\n4 1\n", "taken as rows, the first of which is 0", 5, 1},
        {"1 2\n2 6\n6 1\n", "labels have 5 entries but there are 3 nodes", 0, 0},
        {"0 2\n2 5\n5 0\n", "labels have 5 entries but there are 3 nodes", 0, 0},
    };
    test_write_text(test_path("five.csv"), "y\n0\n1\n0\n1\n0\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(Dataset) d = {0};
        if (!loads(&d, "e.txt", cases[i].edges, ", \"labels\": \"five.csv\"", cases[i].nodes > 0,
                   cases[i].words))
            continue;
        assert_int_equal(d.nodes, cases[i].nodes);
        for (int64_t n = 0; n < d.nodes; n++)
            assert_int_equal(d.offset[n + 1] > 0, n >= cases[i].first);
    }
}

// A line lists the nodes of a hyperedge.
TEST(lines_of_members) {
    static const struct {
        const char *text, *words; // words: of a refusal, or of a warning
        int64_t nodes, hyperedges, pins;
        const char *first; // the hyperedges of node 0, a digit each
    } cases[] = {
        {"1,2,3\n2\n3, 1\n", "run from 1 to 3", 3, 3, 6, "02"},
        {"# trips\na b c\n\nc\n\"x y\" b\n", "from a to x y", 4, 3, 6, "0"},
        {"\xEF\xBB\xBF"
         "0\t1\t\n1\t2\n",
         "", 3, 2, 4, "0"},
        {"\"a,b\"c\n", "from a,b to c", 2, 1, 2, "0"},
        {"5\n5\n", "run from 5 to 5", 1, 2, 2, "01"},
        {"1,2\n3,,1\n", "list.csv:2: an id is empty", 0, 0, 0, ""},
        {"h1: a b\nh2: b\n", "of the members of hyperedges leave the name out", 0, 0, 0, ""},
        {"1,2\n3,anna\n", "'anna' is not written as a number", 0, 0, 0, ""},
        {"# nothing\n", "there are no pins in it", 0, 0, 0, ""},
        {"p a b\nq b c\nr c a\ns a d\n", "if it names the hyperedge", 8, 4, 12, "023"},
        {"p a b\nq b c\nr c a\na d\n", "from a to r", 7, 4, 11, "023"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(Dataset) d = {0};
        if (!loads(&d, "list.csv", cases[i].text, ", \"format\": \"members\"", cases[i].nodes > 0,
                   cases[i].words))
            continue;
        if (d.nodes != cases[i].nodes || d.hyperedges != cases[i].hyperedges ||
            d.edges != cases[i].pins)
            fail_msg("case %d: %d nodes, %d hyperedges, %d pins", (int)i, (int)d.nodes,
                     (int)d.hyperedges, (int)d.edges);
        for (int64_t p = 0; p < d.offset[1]; p++)
            assert_int_equal('0' + d.target[p], cases[i].first[p]);
        assert_int_equal(d.offset[1], strlen(cases[i].first));
    }
    OWNED(Dataset) d = {0};
    assert_true(loads(&d, "list.csv", "hyperedge_id,node_id,size\n7,0,3\n7,1,3\n8,1,2\n7,2,3\n",
                      ", \"format\": \"pins\"", true, "column 'size' is not read"));
    assert_int_equal(d.nodes, 3);
    assert_int_equal(d.hyperedges, 2);
    test_write_text(test_path("nodes.csv"), "id,x\na,1\nb,1\nc,1\nd,1\n");
    assert_false(loads(&d, "list.csv", "p a b\nq b c\nr c a\ns a d\n",
                       ", \"format\": \"members\", \"nodes\": \"nodes.csv\"", false,
                       "nor in data.nodes; if it names the hyperedge"));
}

// A column of numbers to predict; the nodes of a graph and rows in their order.
TEST(numbers_to_predict) {
    static const char edges[] = "a b\nb c\nc a\n";
    static const char *const as_numbers = ", \"nodes\": \"nodes.csv\", \"labels_are\": \"numbers\"";
    OWNED(Dataset) d = {0};
    test_write_text(test_path("nodes.csv"), "id,label,split\nc,2.5,test\na,-1e3,train\nb,,none\n");
    assert_ok(load_section(&d, "e.txt", edges, strlen(edges), as_numbers, &err));
    assert_true(d.numeric && d.classes == 1 && d.label == NULL);
    assert_true(d.numbers[0] == -1000 && isnan(d.numbers[1]) && d.numbers[2] == 2.5f);
    test_write_text(test_path("nodes.csv"), "id,label\na,much\n");
    assert_refused(load_section(&d, "e.txt", edges, strlen(edges), as_numbers, &err), EXIT_DATA,
                   "nodes.csv: the label 'much' of row 1 is no number");
    test_write_text(test_path("y.csv"), "y\n0.5\n\n3\n");
    assert_ok(load_section(&d, "e.txt", "0 1\n1 0\n", 8,
                           ", \"labels\": \"y.csv\", \"labels_are\": \"numbers\"", &err));
    assert_true(d.numeric && d.nodes == 2 && d.numbers[0] == 0.5f && d.numbers[1] == 3);
}

// What a dataset directory keeps of names.
TEST(names_are_stored) {
    OWNED(Dataset) d = {0}, opened = {0};
    char id[NODE_ID_TEXT];
    test_write_text(test_path("nodes.csv"), "id,label\nb,red\na,blue\nc,red\ne,blue\n");
    assert_ok(load_section(&d, "e.txt", "a c\nc e\n", 8, ", \"nodes\": \"nodes.csv\"", &err));
    assert_ok(dataset_write(&d, test_path("kept"), &err));
    assert_ok(dataset_open(&opened, test_path("kept"), &err));
    assert_string_equal(hashed(&d), hashed(&opened));
    assert_string_equal(node_id_text(&opened.ids, 3, id), "e");
    assert_string_equal(node_id_text(&opened.names, 1, id), "red");
    assert_ok(load_section(&d, "u.txt", "1 18446744073709551615\n", 23, "", &err));
    assert_string_equal(node_id_text(&d.ids, 1, id), "18446744073709551615");
}

// The orders of ten nodes are those of an independent program.
TEST(splits_are_drawn) {
    static const struct {
        const char *splits;
        const char *wanted; // of nodes 0 to 9; NULL: refused
        const char *words;
    } cases[] = {
        // seed 0: 4 7 9 2 1 3 6 5 8 0
        {", \"splits\": \"random:0.3,0.2\"", "\3\2\2\3\1\3\3\1\3\1", ""},
        // seed 1: 0 8 9 5 7 1 4 6 2 3; .25 of 10 is 2.5, and half goes up
        {", \"splits\": \"random:.25\", \"split_seed\": 1", "\1\3\3\3\3\3\3\3\1\1", ""},
        // odd and even nodes are the classes
        {", \"splits\": \"per-class:1,2,3\"", "\0\3\2\3\1\0\3\1\0\2", ""},
        {", \"splits\": \"shchur:1,1\"", "\3\3\2\3\1\3\3\1\3\2", ""},
        {", \"splits\": \"shchur:4,2\"", "\2\1\1\1\1\2\1\1\1\1", "2 of the classes have fewer"},
        {", \"splits\": \"random:0.9,0.2\"", NULL, "together at most 1"},
        {", \"splits\": \"per-class:x\"", NULL, "whole numbers"},
    };
    static const char ring[] = "0 1\n1 2\n2 3\n3 4\n4 5\n5 6\n6 7\n7 8\n8 9\n9 0\n";
    test_write_text(test_path("y.csv"), "0\n1\n0\n1\n0\n1\n0\n1\n0\n1\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(Dataset) d = {0};
        const char *data = test_text(", \"labels\": \"y.csv\"%s", cases[i].splits);
        if (!loads(&d, "ring.txt", ring, data, cases[i].wanted != NULL, cases[i].words))
            continue;
        for (int n = 0; n < 10; n++)
            if (d.split[n] != (uint8_t)cases[i].wanted[n])
                fail_msg("%s: node %d is in %d", cases[i].splits, n, d.split[n]);
    }
}
