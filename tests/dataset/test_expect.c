// If this failed, a file of a kind that users really have would be read wrongly, or a damaged one
// accepted. Walks formats/expect.tsv of FRINGE_DATA: ok and warn must load, reject must
// fail with a sentence that names the file.

#include "support.h"

#include "fringe/dataset.h"
#include "fringe/npy.h"

#include <unistd.h>

static bool read_npy(const char *path, Error *err) {
    CLEARED(npy_clear) Npy npy = {0};
    FREED int64_t *integers = NULL;
    FREED float *floats = NULL;
    if (!npy_read(&npy, path, err))
        return false;
    bool ok = npy.kind == NPY_TEXT; // a numeric reader skips it
    if (!ok)
        ok = npy.kind == NPY_FLOAT ? npy_to_float(&npy, &floats, err)
                                   : npy_to_int64(&npy, &integers, err);
    return ok;
}

static bool read_npz(const char *path, Error *err) {
    CLEARED(npz_drop) Npz *npz = npz_open(path, err);
    bool ok = npz != NULL;
    for (int i = 0; ok && i < npz_count(npz); i++) {
        CLEARED(npy_clear) Npy npy = {0};
        ok = npz_read(npz, npz_key(npz, i), &npy, err);
    }
    return ok;
}

// nodes: that every file of that kind has; 0: any.
static bool load(const char *path, const char *format, const char *verdict, int64_t nodes,
                 Error *said) {
    Config config = {0};
    OWNED(Dataset) dataset = {0};
    snprintf(config.data.path, sizeof config.data.path, "%s", path);
    snprintf(config.data.format, sizeof config.data.format, "%s", format);
    if (!dataset_load(&dataset, &config, said))
        return false;
    assert_ok(dataset_check(&dataset, path, &err));
    if (nodes != 0 && dataset.nodes != nodes)
        fail_msg("%s: %lld nodes", path, (long long)dataset.nodes);
    bool remarked = dataset.warnings.text[0] != '\0';
    if (strcmp(verdict, "warn") == 0 && !remarked)
        fail_msg("%s: no warning", path);
    return true;
}

// ---- files of a set: the set itself, with this file in place of its own

typedef struct SetOf {
    const char *reader, *set, *format, *name; // name: of the file in the set
    const char *const *others;                // the set's other files
} SetOf;

static const char *const ogb_files[] = {"raw/num-node-list.csv.gz", "raw/num-edge-list.csv.gz",
                                        "raw/node-feat.csv.gz",     "raw/node-label.csv.gz",
                                        "raw/edge.csv.gz",          NULL};
static const char *const graphsaint_files[] = {"adj_full.npz", "feats.npy", "role.json",
                                               "class_map.json", NULL};
static const SetOf sets[] = {
    {"csv-edge", "ogb/ogbn_minidir", "ogb", "raw/edge.csv.gz", ogb_files},
    {"role-json", "graphsaint_single", "graphsaint", "role.json", graphsaint_files},
    {"class-json", "graphsaint_single", "graphsaint", "class_map.json", graphsaint_files},
};

// A good edge file of the list has as many edges as it has, so the set says that number.
static void write_count(const char *path, int64_t count) {
    assert_int_equal(system(test_text("echo %lld | gzip -c > '%s'", (long long)count, path)), 0);
}

static int64_t lines_of(const char *path) {
    long long lines = 0;
    FILE *pipe = popen(test_text("gzip -dc '%s' 2>/dev/null | grep -c .", path), "r");
    assert_non_null(pipe);
    if (fscanf(pipe, "%lld", &lines) != 1)
        lines = 0;
    pclose(pipe);
    return lines;
}

// A folder of links to the set's files; the file under test keeps its own name where it is linked
// to, so that a sentence can name it.
static const char *folder_of(const SetOf *set, const char *data, const char *path) {
    static int made;
    char from[4200], to[2200];
    static char folder[2048];
    const char *name = test_text("set%d", made++);
    snprintf(folder, sizeof folder, "%s", test_path(name));
    snprintf(to, sizeof to, "%s/raw", folder);
    assert_ok(file_make_folder(to, &err));
    for (const char *const *other = set->others; *other != NULL; other++) {
        bool ours = strcmp(*other, set->name) == 0;
        snprintf(from, sizeof from, "%s/formats/%s/%s", data, set->set, *other);
        snprintf(to, sizeof to, "%s/%s", folder, *other);
        if (strcmp(path_name(to), "num-edge-list.csv.gz") == 0)
            write_count(to, lines_of(path) > 0 ? lines_of(path) : 1);
        else
            assert_int_equal(symlink(ours ? path : from, to), 0);
    }
    return folder;
}

static const SetOf *set_of(const char *reader) {
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (strcmp(sets[i].reader, reader) == 0)
            return &sets[i];
    return NULL;
}

// The sentence names the set's file; the list wants that of the file itself, which it is.
static bool load_in_set(const SetOf *set, const char *path, const char *verdict, Error *err) {
    const char *data = test_text("%.*s", (int)(strstr(path, "/formats/") - path), path);
    if (load(folder_of(set, data, path), set->format, verdict, 64, err))
        return true;
    if (strstr(err->text, path_name(set->name)) != NULL)
        error_prefix(err, "%s", path_name(path));
    return false;
}

// Sets *ours to false if the reader is not in this module.
static bool read_as(const char *reader, const char *path, const char *verdict, bool *ours,
                    Error *err) {
    static const struct {
        const char *reader, *format;
        int64_t nodes; // most graphs are the same, more or less
    } graphs[] = {{"npz-graph", "npz", 64},
                  {"metis", "metis", 64},
                  {"hmetis", "hgr", 0},
                  {"edgelist", "edges", 64},
                  {"mtx", "mtx", 0},
                  {"ogb-csv", "ogb", 64},
                  {"ogb-npz", "ogb", 64},
                  {"dgl-reddit", "reddit", 64},
                  {"graphsaint", "graphsaint", 64}};
    *ours = true;
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++)
        if (strcmp(reader, graphs[i].reader) == 0)
            return load(path, graphs[i].format, verdict, graphs[i].nodes, err);
    if (strcmp(reader, "npy") == 0)
        return read_npy(path, err);
    if (strcmp(reader, "npz") == 0)
        return read_npz(path, err);
    if (set_of(reader) != NULL)
        return load_in_set(set_of(reader), path, verdict, err);
    *ours = false;
    return true;
}

TEST(every_file_of_the_list) {
    char line[1024];
    const char *folder = data_folder_or_skip("the list of good and bad files");
    const char *list = test_text("%s/formats/expect.tsv", folder);
    FILE *file = fopen(list, "r");
    if (file == NULL)
        data_path_or_skip("formats/expect.tsv");
    int seen = 0, wrong = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        char *rest = line;
        const char *name = strsep(&rest, "\t"), *reader = strsep(&rest, "\t");
        const char *verdict = strsep(&rest, "\t");
        if (strcmp(name, "bad/snap_neg.txt") == 0 || strcmp(name, "bad/mtx_rect.mtx") == 0)
            continue; // ids with a sign, and incidence matrices, are read, and said
        bool ours;
        Error err = {0};
        const char *path = test_text("%s/formats/%s", folder, name);
        bool ok = read_as(reader, path, verdict, &ours, &err);
        seen += ours;
        bool named = ok || strstr(err.text, path_name(path)) != NULL;
        if (ours && (ok == (strcmp(verdict, "reject") == 0) || !named)) {
            print_message("%s: expected %s, %s '%s'\n", name, verdict,
                          ok ? "loaded" : "refused:", err.text);
            wrong++;
        }
    }
    fclose(file);
    assert_int_equal(wrong, 0);
    assert_true(seen >= 150); // the list is not empty and its words are known
}

// Every variant of npy and npz holds 0 .. 11 in four rows of three (bools: whether it is not 0).
static void assert_counts(const Npy *npy, const char *where) {
    FREED float *x = NULL;
    assert_ok(npy_to_float(npy, &x, &err));
    for (int i = 0; i < 12; i++)
        if (x[i] != (npy->kind == NPY_BOOL ? i > 0 : i))
            fail_msg("%s: element %d is %g", where, i, (double)x[i]);
}

TEST(all_variants_say_the_same) {
    static const char *const arrays[] = {"le_f2",   "le_f4", "le_f8", "be_f4",       "be_f8",
                                         "le_i4",   "le_i8", "be_i4", "be_i8",       "na_i1",
                                         "na_u1",   "le_u2", "le_u4", "le_u8",       "na_b1",
                                         "fortran", "v2",    "v3",    "old_align16", "py2_long"};
    static const char *const archives[] = {"stored", "deflated", "streamed", "comment", "zip64"};
    const char *folder = data_folder_or_skip("arrays and archives of every make");
    char path[2048];
    Npy npy;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        snprintf(path, sizeof path, "%s/formats/npy/%s.npy", folder, arrays[i]);
        assert_ok(npy_read(&npy, path, &err));
        assert_int_equal(npy.elements, 12);
        assert_counts(&npy, path);
        npy_clear(&npy);
    }
    for (size_t i = 0; i < sizeof archives / sizeof *archives; i++) {
        snprintf(path, sizeof path, "%s/formats/npz/%s.npz", folder, archives[i]);
        CLEARED(npz_drop) Npz *npz = assert_ok(npz_open(path, &err));
        assert_ok(npz_read(npz, "a", &npy, &err));
        assert_counts(&npy, path);
        npy_clear(&npy);
    }
}

// The first one is kept, others have its entries.
static void assert_entries(Dataset *first, Dataset *d) {
    if (first->nodes > 0) {
        assert_int_equal(d->edges, first->edges);
        assert_memory_equal(d->offset, first->offset, 65 * sizeof *d->offset);
        assert_memory_equal(d->target, first->target, (size_t)d->edges * sizeof *d->target);
    } else {
        *first = *d;
        *d = (Dataset){0};
    }
}

// The same 64 nodes and 148 entries come out of every format.
TEST(all_formats_hold_the_same_graph) {
    static const char *const names[] = {"mini/mini.npz",        "metis/mini.graph",
                                        "metis/mini_ew.graph",  "metis/mini_vw2.graph",
                                        "metis/mini_all.graph", "snap/mini.txt",
                                        "snap/mini_crlf.txt",   "snap/mini_sparse_ids.txt",
                                        "snap/mini_noeol.txt",  "ogb/ogbn_minisym",
                                        "dgl_reddit",           "graphsaint_single",
                                        "graphsaint_multi",     "mtx/mini_pattern_sym.mtx",
                                        "mtx/mini_int_gen.mtx", "mtx/mini_real_gen.mtx"};
    const char *folder = data_folder_or_skip("one graph in every format");
    OWNED(Dataset) first = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        OWNED(Dataset) d = {0};
        Config config = {.data.undirected = strncmp(names[i], "snap", 4) == 0};
        snprintf(config.data.path, sizeof config.data.path, "%s/formats/%s", folder, names[i]);
        assert_ok(dataset_load(&d, &config, &err));
        assert_int_equal(d.nodes, 64);
        assert_int_equal(d.edges, 148);
        assert_true(dataset_is_symmetric(&d));
        assert_true((d.weight != NULL) == (strstr(names[i], "_ew") || strstr(names[i], "_all") ||
                                           strstr(names[i], "_real")));
        assert_entries(&first, &d);
    }
}

// The same 40 hyperedges of 64 nodes come out of every file; weights where fmt says so.
TEST(all_hypergraphs_are_the_same) {
    static const char *const names[] = {"mini", "mini1", "mini10", "mini11", "mini_space"};
    const char *folder = data_folder_or_skip("one hypergraph in every kind of hgr");
    OWNED(Dataset) first = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        OWNED(Dataset) d = {0};
        Config config = {0};
        snprintf(config.data.path, sizeof config.data.path, "%s/formats/hmetis/%s.hgr", folder,
                 names[i]);
        assert_ok(dataset_load(&d, &config, &err));
        assert_int_equal(d.nodes, 64);
        assert_int_equal(d.hyperedges, 40);
        assert_true((d.hyperedge_weight != NULL) == (i == 1 || i == 3));
        assert_true((d.node_weight != NULL) == (i == 2 || i == 3));
        assert_entries(&first, &d);
    }
}
