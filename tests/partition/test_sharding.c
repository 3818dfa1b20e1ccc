// ranks: 1 2 3
// If this fails, shards that all ranks make differ from those that one process makes, or a rank
// that cannot write its shard, or sees another dataset, does harm.
#include "cut.h"
#include <dirent.h>
#include <sys/stat.h>

static Config config_of(const char *path, const char *cache, const char *method) {
    Config config = CONFIGURED(test_text("data.path=%s", path), test_text("data.cache=%s", cache),
                               test_text("partition.method=%s", method));
    snprintf(config.data.path, sizeof config.data.path, "%s", path); // a relative one stays so
    return config;
}

// The same on all ranks; a new one for each call.
static const char *new_name(const char *what) {
    static int calls;
    return test_path(test_text("%s-%d", what, calls++));
}

// Writes the dataset on rank 0. Collective.
static const char *write_dataset(Dataset *dataset) {
    const char *folder = new_name("data");
    if (test_comm.rank == 0)
        assert_ok(dataset_write(dataset, folder, &err));
    dataset_clear(dataset);
    comm_barrier(&test_comm);
    return folder;
}

// ---- the same bytes

static void assert_same_file(const char *one, const char *other) {
    char first[33], second[33];
    assert_ok(hash_file(one, first, &err));
    assert_ok(hash_file(other, second, &err));
    if (strcmp(first, second) != 0)
        fail_msg("%s and %s differ", one, other);
}

// Each file of one folder is in the other, and no more, as rank 0 sees them. Collective.
static void assert_same_folders(const char *one, const char *other) {
    int files[2] = {0};
    const char *folders[2] = {one, other};
    for (int i = 0; i < 2 && test_comm.rank == 0; i++) {
        DIR *list = opendir(folders[i]);
        assert_non_null(list);
        for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
            if (entry->d_name[0] == '.')
                continue;
            files[i]++;
            const char *here = test_text("%s/%s", folders[i], entry->d_name);
            assert_same_file(here, test_text("%s/%s", folders[1 - i], entry->d_name));
        }
        closedir(list);
    }
    assert_int_equal(files[0], files[1]);
    assert_true(test_comm.rank > 0 || files[0] >= 4 + test_comm.size - (test_comm.size == 1));
    comm_barrier(&test_comm);
}

// Rank 0 alone makes the parts in `one`.
static void make_alone(const char *data, const char *method, char one[1024]) {
    Config config = config_of(data, new_name("one"), method);
    if (test_comm.rank == 0)
        assert_ok(partition_build(&config, test_comm.size, one, 1024, &(Warnings){0}, &err));
    comm_barrier(&test_comm);
}

// All ranks make those in `folder`.
static void make_together(const char *data, const char *method, char folder[1024],
                          Warnings *warnings) {
    Shard shard;
    Config config = config_of(data, new_name("all"), method);
    assert_ok(partition_load(&shard, &config, &test_comm, warnings, &err));
    shard_clear(&shard);
    if (test_comm.rank == 0)
        assert_ok(partition_folder(&config, test_comm.size, folder, 1024, &err));
}

static void assert_same_bytes(const char *data, const char *method) {
    char one[1024], folder[1024];
    make_alone(data, method, one);
    make_together(data, method, folder, &(Warnings){0});
    assert_same_folders(one, folder);
}

TEST(all_ranks_make_the_bytes_of_one) {
    enum { GRAPHS = 4, HYPERGRAPHS = 3 };
    static const char *const methods[] = {"metis", "random", "fennel"};
    static const struct {
        int64_t nodes;
        EdgeRule rule;
        bool weighted;
    } graphs[GRAPHS] = {{60, graph_random_both, false},
                        {60, graph_random, true},
                        {60, graph_loops, false},
                        {40, graph_star, false}};
    static const HyperKind hypergraphs[HYPERGRAPHS] = {{50, 30, hyper_random, false, true},
                                                       {50, 30, hyper_mixed, true, true},
                                                       {40, 25, hyper_isolated, true, false}};
    for (int kind = 0; kind < GRAPHS + HYPERGRAPHS; kind++) {
        uint64_t seed = 3 + (uint64_t)kind;
        Dataset d = kind < GRAPHS ? graph_make(graphs[kind].nodes, graphs[kind].rule,
                                               graphs[kind].weighted, seed)
                                  : hyper_make(hypergraphs[kind - GRAPHS], seed);
        const char *data = write_dataset(&d);
        for (int m = 0; m < 3; m++)
            assert_same_bytes(data, methods[m]);
    }
}

// ---- clusters

enum { ROWS = 2100 }; // of a part: enough for clusters

// A ring of which each node is joined to four others: clusters are easy to find.
static Dataset ring(int64_t nodes) {
    Dataset d = graph_make(nodes, graph_empty, false, 1);
    memory_free(d.target);
    d.edges = 4 * nodes;
    d.target = ALLOC(int32_t, d.edges, "test");
    static const int step[] = {-2, -1, 1, 2};
    for (int64_t v = 0; v < nodes; v++) {
        for (int k = 0; k < 4; k++) {
            int32_t u = (int32_t)((v + step[k] + nodes) % nodes);
            int64_t at = 4 * v + k;
            for (; at > 4 * v && d.target[at - 1] > u; at--)
                d.target[at] = d.target[at - 1];
            d.target[at] = u;
        }
        d.offset[v + 1] = 4 * (v + 1);
    }
    return d;
}

static void use_metis(const char *script) {
    const char *path = test_path("metis");
    const char *text = test_text("#!/bin/sh\n%s\n", script);
    if (test_comm.rank == 0) {
        test_write_text(path, text);
        assert_int_equal(chmod(path, 0755), 0);
    }
    comm_barrier(&test_comm);
    setenv("FRINGE_METIS", path, 1);
}

// METIS has too little memory at the first try of each process: alone it has another one.
TEST(parts_that_were_too_large_beside_others_have_another_try) {
    char one[1024], folder[1024];
    Warnings warnings = {0};
    Dataset d = ring(ROWS * test_comm.size);
    const char *data = write_dataset(&d);
    path_program_folder(folder, sizeof folder);
    const char *real = test_text("%.600s/../fringe-metis", folder);
    if (test_comm.size == 1)
        skip(); // one rank has the memory for itself
    const char *script = test_text("[ -e %s.$PPID ] && exec %s \"$@\"; : >%s.$PPID; kill -9 $$",
                                   test_path("tried"), real, test_path("tried"));
    make_alone(data, "random", one);
    use_metis(script);
    make_together(data, "random", folder, &warnings);
    unsetenv("FRINGE_METIS");
    assert_true(test_comm.rank > 0 || strstr(warnings.text, "too large for METIS") == NULL);
    assert_same_folders(one, folder);
}

TEST(parts_that_are_too_large_are_counted_over_the_ranks) {
    char one[1024], folder[1024];
    Warnings warnings = {0};
    Dataset d = ring(ROWS * test_comm.size);
    const char *data = write_dataset(&d);
    use_metis("kill -9 $$");
    make_alone(data, "random", one);
    make_together(data, "random", folder, &warnings);
    unsetenv("FRINGE_METIS");
    const char *said =
        test_text("%d of %d parts are too large for METIS", test_comm.size, test_comm.size);
    assert_true(test_comm.rank > 0 || strstr(warnings.text, said) != NULL);
    assert_same_folders(one, folder);
}

// ---- a rank that cannot

static bool holds_parts(const char *cache) {
    DIR *list = opendir(cache);
    bool found = false;
    for (struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;)
        found = found || strncmp(entry->d_name, "parts-", 6) == 0;
    if (list != NULL)
        closedir(list);
    return found;
}

// Files of the last rank cannot grow beyond 1 KiB: all ranks hear it, and nothing is left.
TEST(a_rank_without_room_ends_all_in_one_sentence) {
    Dataset d = graph_make(60, graph_random_both, false, 3);
    const char *data = write_dataset(&d), *cache = new_name("full");
    Config config = config_of(data, cache, "random");
    CLEARED(shard_clear) Shard shard = {0};
    Error said = load_without_room(&config, test_comm.rank == test_comm.size - 1 ? 1024 : -1);
    assert_non_null(strstr(said.text, "/part-"));
    comm_barrier(&test_comm);
    assert_false(holds_parts(cache));
    comm_barrier(&test_comm);
    assert_ok(partition_load(&shard, &config, &test_comm, &(Warnings){0}, &err));
}

// The last rank sees another dataset under the same name (data.path is relative): rank 0 makes all
// shards.
TEST(a_rank_that_sees_another_dataset_makes_no_shard) {
    char here[1024], place[2][650];
    const char *base = new_name("places");
    assert_non_null(getcwd(here, sizeof here));
    for (int i = 0; i < 2; i++) {
        OWNED(Dataset) d = graph_make(60, graph_random, true, 3 + (uint64_t)i);
        snprintf(place[i], sizeof place[i], "%s/%d", base, i);
        const char *data = test_text("%s/data", place[i]);
        if (test_comm.rank == 0)
            assert_ok(dataset_write(&d, data, &err));
        comm_barrier(&test_comm);
    }
    bool last = test_comm.rank > 0 && test_comm.rank == test_comm.size - 1;
    assert_int_equal(chdir(place[last]), 0);
    assert_same_bytes("data", "metis");
    assert_int_equal(chdir(here), 0);
}
