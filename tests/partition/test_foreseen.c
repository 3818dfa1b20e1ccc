// If this fails, rank 0 takes more memory than it foresaw, and is killed where it should have said
// so; or it refuses graphs that fit well.
#include "graphs.h"
#include "resident.h"

enum { GRAPH_NODES = UNDER_SANITIZERS(20000, 60000), DEGREE = 12 };

// The other end of the k-th edge of node i: most are near, or anywhere.
static int64_t other_end(int64_t i, int64_t k, bool near) {
    double u = graph_uniform(7, i, k);
    int64_t j = near && k > 0 ? i / 3000 * 3000 + (int64_t)(3000 * u) : (int64_t)(GRAPH_NODES * u);
    return j == i ? (i + 1) % GRAPH_NODES : j;
}

// Edge lists: of communities, each line an edge both ways; at random, each line an edge one way.
static void write_graph(const char *path, bool near) {
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    for (int64_t i = 0; i < GRAPH_NODES; i++)
        for (int64_t k = 0; k < DEGREE; k++)
            fprintf(file, "%d %d\n", (int)i, (int)other_end(i, k, near));
    assert_int_equal(fclose(file), 0);
}

static Config config_of(const char *path, bool near, const char *limit) {
    Config config =
        CONFIGURED(test_text("data.path=%s", path), test_text("data.cache=%s", test_path("cache")),
                   near ? "data.undirected=true" : "data.undirected=false",
                   "data.transforms=[\"degree\"]", limit);
    return config;
}

TEST(what_is_taken_was_foreseen) {
#ifdef __SANITIZE_ADDRESS__
    skip(); // its own memory is resident, too
#endif
    for (int near = 0; near < 2; near++) {
        OWNED(Dataset) dataset = {0};
        MemoryForecast forecast = {0};
        const char *path = test_path(near ? "near.txt" : "far.txt");
        write_graph(path, near);
        Config config = config_of(path, near, "run.memory_limit=0");
        dataset_forecast(&forecast, &config);
        double before = begin();
        assert_ok(dataset_load(&dataset, &config, &err));
        assert_foreseen("loading", (double)forecast_total(&forecast), status("VmHWM:") - before,
                        2 /* a word of any list of edges costs as many bytes */);
        int32_t *part = TEST_ARRAY(int32_t, GRAPH_NODES);
        before = begin();
        size_t used = memory_in_use();
        assert_ok(partition_cut(part, &dataset, 8, &config, &err, &(Warnings){0}));
        assert_foreseen("METIS", (double)(memory_foreseen() - used), taken_since(before), 1.5);
    }
}

// Each step is refused before it begins, in a sentence that names it.
TEST(what_does_not_fit_is_refused) {
    static const struct {
        const char *limit, *named;
    } cases[] = {
        {UNDER_SANITIZERS("run.memory_limit=0.003", "run.memory_limit=0.01"),
         "loading the dataset"},
        {UNDER_SANITIZERS("run.memory_limit=0.02", "run.memory_limit=0.06"), "METIS itself"}};
    const char *path = test_path("far.txt");
    write_graph(path, false);
    for (int i = 0; i < 2; i++) {
        char folder[1024];
        Config config = config_of(path, false, cases[i].limit);
        assert_refused(partition_build(&config, 8, folder, sizeof folder, &(Warnings){0}, &err),
                       EXIT_MEMORY, cases[i].named);
    }
}

// If there is memory for the shards but not for METIS on a part, rows are ordered without clusters,
// with a warning, also when the parts come from the cache.
TEST(parts_too_large_for_metis_are_ordered_without_clusters) {
    int made[2] = {0};
    const char *path = test_path("near.txt");
    write_graph(path, true);
    for (int mebibytes = 0; mebibytes < 200 && made[1] < 2; mebibytes += UNDER_SANITIZERS(2, 6)) {
        char folder[1024];
        Warnings warnings = {0};
        Error refused = {0};
        const char *limit = test_text("run.memory_limit=%f", mebibytes / 1024.0); // 0: none
        Config config = config_of(path, true, limit);
        snprintf(config.partition.method, sizeof config.partition.method, "fennel");
        if (!partition_build(&config, 2, folder, sizeof folder, &warnings, &refused)) {
            assert_int_equal(refused.code, EXIT_MEMORY);
            continue;
        }
        bool said = strstr(warnings.text, "parts are too large for METIS") != NULL;
        bool all = strstr(warnings.text, "2 of 2 parts") != NULL;
        made[!said] += all == said;
        assert_ok(partition_build(&config, 2, folder, sizeof folder, &warnings, &err));
        assert_int_equal(strstr(warnings.text, "too large for METIS") != NULL, said);
        Shard shard;
        assert_ok(shard_open(&shard, folder, 0, &err));
        int64_t falls = 0; // without clusters ids ascend among central and marginal rows
        for (int64_t i = 1; i < shard.set[NODES].own; i++)
            falls += shard.set[NODES].gid[i] < shard.set[NODES].gid[i - 1];
        if (all == said) // where one part alone is too large it may be the other one
            assert_int_equal(falls <= 1, said);
        shard_clear(&shard);
        assert_ok(file_discard(folder, &err));
    }
    assert_true(made[0] > 0 && made[1] == 2); // one without limit, which fills the cache
}
