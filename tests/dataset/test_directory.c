// If this failed, a dataset would not come back as it was written, a damaged directory would be
// opened, or two different datasets would share a cache key.

#include "bytes.h"
#include "loading.h"

#include "fringe/base/terminal.h"

#include <unistd.h>

static void generate(Dataset *d, int64_t seed) {
    assert_ok(dataset_generate(d, "tiny", seed, &err));
}

static void assert_same(const Dataset *a, const Dataset *b) {
    size_t n = (size_t)a->nodes, edges = (size_t)a->edges;
    assert_int_equal(a->nodes, b->nodes);
    assert_int_equal(a->edges, b->edges);
    assert_int_equal(a->features, b->features);
    assert_int_equal(a->classes, b->classes);
    assert_memory_equal(a->offset, b->offset, (n + 1) * sizeof *a->offset);
    assert_memory_equal(a->target, b->target, edges * sizeof *a->target);
    assert_memory_equal(a->split, b->split, n);
    assert_true((a->x == NULL) == (b->x == NULL));
    if (a->x != NULL)
        assert_memory_equal(a->x, b->x, n * (size_t)a->features * sizeof *a->x);
    if (a->label != NULL)
        assert_memory_equal(a->label, b->label, n * sizeof *a->label);
    if (a->labels != NULL)
        assert_memory_equal(a->labels, b->labels, n * (size_t)a->classes);
    if (a->weight != NULL)
        assert_memory_equal(a->weight, b->weight, edges * sizeof *a->weight);
    assert_string_equal(hashed(a), hashed(b));
}

TEST(what_is_written_opens_again) {
    OWNED(Dataset) made = {0}, read = {0}, again = {0};
    const char *folder = test_path("a/b/tiny");
    generate(&made, 3);
    assert_ok(dataset_write(&made, folder, &err));
    assert_ok(dataset_open(&read, folder, &err));
    assert_true(read.mapped);
    assert_string_equal(read.name, "tiny");
    assert_same(&made, &read);
    assert_ok(dataset_write(&made, folder, &err)); // over an older one
    assert_ok(dataset_open(&again, folder, &err));
    assert_same(&made, &again);
    assert_ok(dataset_inspect(&terminal_tables, folder, &err));
}

TEST(weights_and_multi_labels_too) {
    OWNED(Dataset) made = {0}, read = {0};
    const char *folder = test_path("weighted");
    generate(&made, 4);
    made.weight = ALLOC(float, made.edges, "weights");
    for (int64_t e = 0; e < made.edges; e++)
        made.weight[e] = (float)(e % 7) + 0.5f;
    memory_free(made.label);
    made.label = NULL;
    made.labels = ALLOC(uint8_t, made.nodes * made.classes, "labels");
    made.labels[7] = 1;
    made.multilabel = true;
    memory_free(made.x);
    made.x = NULL;
    made.features = 0;
    assert_ok(dataset_write(&made, folder, &err));
    assert_ok(dataset_open(&read, folder, &err));
    assert_same(&made, &read);
}

TEST(steps_on_a_mapped_dataset_copy) {
    OWNED(Dataset) made = {0}, read = {0};
    ConfigWords steps = {4, {"symmetrize", "binary", "row-normalize", "standardize"}};
    generate(&made, 5);
    assert_ok(dataset_write(&made, test_path("mapped"), &err));
    assert_ok(dataset_open(&read, test_path("mapped"), &err));
    assert_ok(dataset_prepare(&made, &steps, 0, 0, &err));
    assert_ok(dataset_prepare(&read, &steps, 0, 0, &err)); // would be SIGSEGV in place
    assert_same(&made, &read);
}

TEST(other_folders_are_left_alone) {
    OWNED(Dataset) made = {0};
    generate(&made, 1);
    assert_ok(file_make_folder(test_path("mine"), &err));
    test_write_text(test_path("mine/diary.txt"), "dear diary");
    assert_refused(dataset_write(&made, test_path("mine"), &err), EXIT_CANNOT_WRITE,
                   "is not a dataset");
    assert_true(file_exists(test_path("mine/diary.txt")));
    assert_ok(dataset_write(&made, test_path("ours"), &err));
    assert_ok(dataset_write(&made, test_path("ours"), &err));
    test_write_text(test_path("ours/notes.md"), "what the columns mean");
    assert_refused(dataset_write(&made, test_path("ours"), &err), EXIT_CANNOT_WRITE,
                   "holds notes.md, which does not belong to a dataset");
    assert_true(file_exists(test_path("ours/notes.md")));
}

// --- directories written elsewhere

static const int64_t offset[5] = {0, 2, 3, 3, 4};
static const int32_t target[4] = {3, 1, 0, 2}; // row 0 is not ascending
static const float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static const int32_t label[4] = {0, 1, -1, 1};
static const uint8_t split[4] = {1, 2, 0, 3};

static const char *const manifest =
    "{\"format\": \"fringe-dataset\", \"version\": 1, \"name\": \"foreign\", \"nodes\": 4, "
    "\"edges\": 4, \"features\": 2, \"classes\": 2, \"multilabel\": false}";

// A directory with these tensors; `change` may replace one.
static const char *write_foreign(const char *name, const char *json, const Tensor *change) {
    Tensor tensors[] = {{"edge_offset", TENSOR_I64, 1, {5}, offset},
                        {"edge_target", TENSOR_I32, 1, {4}, target},
                        {"features", TENSOR_F32, 2, {4, 2}, x},
                        {"labels", TENSOR_I32, 1, {4}, label},
                        {"split", TENSOR_U8, 1, {4}, split}};
    char path[2048];
    const char *folder = test_path(name);
    for (int i = 0; change != NULL && i < 5; i++)
        if (strcmp(tensors[i].name, change->name) == 0)
            tensors[i] = *change;
    assert_ok(file_remove(folder, &err) && file_make_folder(folder, &err));
    snprintf(path, sizeof path, "%s/dataset.json", folder);
    test_write_text(path, json);
    snprintf(path, sizeof path, "%s/dataset.safetensors", folder);
    assert_ok(tensors_write(path, tensors, 5, NULL, false, &err));
    return folder;
}

TEST(a_foreign_directory_opens) {
    OWNED(Dataset) d = {0};
    const char *folder = write_foreign("foreign", manifest, NULL);
    assert_ok(dataset_open(&d, folder, &err));
    assert_int_equal(d.target[0], 1); // rows come out ascending
    assert_int_equal(d.target[1], 3);
    assert_memory_equal(d.x, x, sizeof x);
    assert_non_null(strstr(d.warnings.text, "1 node without label"));
    assert_ok(dataset_inspect(&terminal_tables, folder, &err));
    Config config = {0}; // named by its manifest, and through dataset_load
    path_join(config.data.path, sizeof config.data.path, folder, "dataset.json");
    assert_ok(load_config(&d, &config, &err));
    assert_int_equal(d.edges, 4);
}

TEST(a_damaged_directory_is_refused) {
    static const int64_t falls[5] = {0, 3, 2, 3, 4}, ends[5] = {0, 2, 3, 3, 5};
    static const int64_t beyond[5] = {0, 1000000, 3, 3, 4};
    static const int32_t outside[4] = {3, 4, 0, 2}, untrained[4] = {-1, 1, 0, 1},
                         third[4] = {0, 1, 2, 1};
    static const uint8_t fifth[4] = {1, 2, 4, 3};
    static const uint32_t bits[8] = {0x7fc00000};
    const struct {
        Tensor change;
        const char *part;
    } cases[] = {
        {{"edge_offset", TENSOR_I64, 1, {5}, falls}, "offsets fall at node 1"},
        {{"edge_offset", TENSOR_I64, 1, {5}, ends}, "0 to 5"},
        {{"edge_offset", TENSOR_I64, 1, {5}, beyond}, "offsets fall at node 0"},
        {{"edge_offset", TENSOR_I64, 1, {4}, offset}, "edge_offset"},
        {{"edge_target", TENSOR_I32, 1, {4}, outside}, "leads to node 4"},
        {{"edge_target", TENSOR_I64, 1, {4}, offset}, "edge_target"},
        {{"features", TENSOR_F32, 2, {4, 2}, bits}, "feature 0 of node 0 is not a number"},
        {{"features", TENSOR_F32, 2, {2, 4}, x}, "features"},
        {{"labels", TENSOR_I32, 1, {4}, untrained}, "node 0 is a training node"},
        {{"labels", TENSOR_I32, 1, {4}, third}, "node 2 has label 2"},
        {{"split", TENSOR_U8, 1, {4}, fifth}, "node 2 is in split 4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(Dataset) d = {0};
        const char *folder = write_foreign("damaged", manifest, &cases[i].change);
        assert_refused(dataset_open(&d, folder, &err), EXIT_DATA, cases[i].part, "damaged");
    }
}

TEST(a_wrong_manifest_is_refused) {
    static const char *const cases[][2] = {
        {"{", "dataset.json"},
        {"[]", "not a JSON object"},
        {"{\"format\": \"other\"}", "'format'"},
        {"{\"format\": \"fringe-dataset\", \"version\": 2}", "version 2"},
        {"{\"format\": \"fringe-dataset\", \"version\": 1, \"nodes\": -4}", "'nodes'"},
        {"{\"format\": \"fringe-dataset\", \"version\": 1, \"nodes\": 4.5}", "'nodes'"},
        {"{\"format\": \"fringe-dataset\", \"version\": 1, \"nodes\": 5, \"edges\": 4, "
         "\"features\": 2, \"classes\": 2}",
         "edge_offset"},
        {"{\"format\": \"fringe-dataset\", \"version\": 1, \"nodes\": 4, \"edges\": 4, "
         "\"features\": 3, \"classes\": 2}",
         "features"},
        {"{\"format\": \"fringe-dataset\", \"version\": 1, \"nodes\": 4, \"edges\": 4, "
         "\"features\": 2, \"classes\": 2, \"multilabel\": true}",
         "labels"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(Dataset) d = {0};
        const char *folder = write_foreign("wrong", cases[i][0], NULL);
        assert_refused(dataset_open(&d, folder, &err), EXIT_DATA, cases[i][1], "wrong");
    }
    OWNED(Dataset) d = {0};
    assert_refused(dataset_open(&d, test_folder(), &err), EXIT_NO_INPUT, "not a dataset");
}

// --- hashes

TEST(hashes_are_of_contents) {
    OWNED(Dataset) d = {0};
    generate(&d, 9);
    const char *first = hashed(&d);
    strcpy(d.name, "renamed");
    assert_string_equal(first, hashed(&d)); // never of names
    float was = d.x[100];
    d.x[100] += 1;
    assert_string_not_equal(first, hashed(&d));
    d.x[100] = was;
    assert_string_equal(first, hashed(&d));
    d.split[3] = (uint8_t)(1 + d.split[3] % 3);
    assert_string_not_equal(first, hashed(&d));
}

TEST(sources_are_hashed_by_content_and_steps) {
    Config config = config_at(test_path("one.txt"));
    char none[33];
    test_write_text(test_path("one.txt"), "0 1\n1 2\n");
    test_write_text(test_path("two.txt"), "0 1\n1 2\n");
    const char *first = source_hashed(&config);
    config = config_at(test_path("two.txt"));
    assert_string_equal(first, source_hashed(&config));
    config.data.transforms = (ConfigWords){1, {"one-hot:drop=1"}};
    const char *dropped = source_hashed(&config);
    assert_string_not_equal(first, dropped);
    config.data.transforms = (ConfigWords){1, {"one-hot:drop=2"}};
    assert_string_not_equal(dropped, source_hashed(&config));
    config.data.transforms.count = 0;
    config.data.undirected = true;
    assert_string_not_equal(first, source_hashed(&config));
    config.data.undirected = false;
    test_write_text(test_path("two.txt"), "0 1\n1 3\n");
    assert_string_not_equal(first, source_hashed(&config));
    config = config_at(test_path("three.txt"));
    assert_refused(dataset_source_hash(&config, none, &err), EXIT_NO_INPUT, "three.txt");
}
