// ranks: 1 3
// If this fails, a run trains on another graph or cut than it asked for: a stale, damaged or half
// written cache was believed.
#include "graphs.h"
#include <dirent.h>
#include <time.h>

static char cache[512];

// The graph as an edge list, `extra` as one more line. On every rank the same; rank 0 writes.
static const char *write_graph(const char *name, const char *extra) {
    static char path[512];
    char text[1 << 14] = "";
    size_t used = 0;
    for (int64_t i = 0; i < 40; i++)
        for (int64_t j = i + 1; j < 40; j++)
            if (graph_random_both(i, j, 40, 9) || j == i + 1)
                used +=
                    (size_t)snprintf(text + used, sizeof text - used, "%d %d\n", (int)i, (int)j);
    snprintf(text + used, sizeof text - used, "%s", extra);
    snprintf(path, sizeof path, "%s", test_path(name));
    if (test_comm.rank == 0)
        test_write_text(path, text);
    comm_barrier(&test_comm);
    return path;
}

static Config config_with(const char *graph, const char *more) {
    Config config;
    const char *path = test_text("data.path=%s", graph);
    const char *folder = test_text("data.cache=%s", cache);
    const char *settings[] = {path,
                              folder,
                              "data.format=edges",
                              "data.undirected=true",
                              "data.transforms=[\"degree\"]",
                              "partition.method=random",
                              more};
    assert_ok(config_load(&config, NULL, settings, more != NULL ? 7 : 6, &err));
    return config;
}

// Each test has its own cache.
static int new_cache(void **state) {
    (void)state;
    static int calls;
    snprintf(cache, sizeof cache, "%s", test_path(test_text("cache-%d", calls++)));
    return 0;
}

#define CACHE_TEST(name) TEST_WITH(name, new_cache, NULL)

static const char *load(const Config *config, Warnings *warnings) {
    Shard shard;
    assert_ok(partition_load(&shard, config, &test_comm, warnings, &err));
    assert_int_equal(shard.part, test_comm.rank);
    assert_int_equal(shard.set[NODES].total, 40);
    int64_t own = shard.set[NODES].own;
    comm_sum_int64(&test_comm, &own, 1);
    assert_int_equal(own, 40);
    const char *hash = test_text("%s", shard.partition_hash);
    shard_clear(&shard);
    comm_barrier(&test_comm);
    return hash;
}

// The first entry of the cache whose name has this in it; false if there is none.
static bool look_for(const char *kind, char path[1024]) {
    DIR *folder = opendir(cache);
    bool found = false;
    for (struct dirent *entry; folder != NULL && !found && (entry = readdir(folder)) != NULL;) {
        found = strstr(entry->d_name, kind) != NULL;
        if (found)
            path_join(path, 1024, cache, entry->d_name);
    }
    if (folder != NULL)
        closedir(folder);
    return found;
}

// The same, on all ranks before any goes on. Collective.
static bool find_entry(const char *kind, char path[1024]) {
    bool found = look_for(kind, path);
    comm_barrier(&test_comm);
    return found;
}

static void remove_entry(const char *kind) {
    char path[1024];
    if (test_comm.rank == 0) {
        assert_true(look_for(kind, path));
        assert_ok(file_remove(path, &err));
    }
    comm_barrier(&test_comm);
}

CACHE_TEST(test_second_load_needs_the_shards_only) {
    char path[1024];
    Warnings warnings = {0};
    Config config = config_with(write_graph("graph.txt", ""), NULL);
    const char *first = load(&config, &warnings);
    assert_true(find_entry("dataset-", path));
    assert_true(find_entry("parts-", path));
    assert_false(find_entry(FILE_TEMPORARY, path));
    remove_entry("dataset-");
    assert_string_equal(first, load(&config, &warnings));
    assert_string_equal(warnings.text, "");
    comm_barrier(&test_comm);
    assert_false(find_entry("dataset-", path)); // it was not missed
}

CACHE_TEST(test_parts_are_made_from_the_prepared_dataset) {
    Config config = config_with(write_graph("graph.txt", ""), NULL);
    const char *first = load(&config, &(Warnings){0});
    remove_entry("parts-");
    assert_string_equal(first, load(&config, &(Warnings){0}));
}

static const char *folder_of(const char *graph, const char *more, int parts) {
    char out[1024];
    Config config = config_with(graph, more);
    assert_ok(partition_folder(&config, parts, out, sizeof out, &err));
    comm_barrier(&test_comm); // before rank 0 writes the next graph
    return test_text("%s", out);
}

CACHE_TEST(test_keys_change_with_content_and_not_with_names) {
    const char *first = folder_of(write_graph("one.txt", ""), NULL, 3);
    assert_string_equal(first, folder_of(write_graph("two.txt", ""), NULL, 3));
    assert_string_not_equal(
        first, folder_of(write_graph("one.txt", "0 39\n"), NULL, 3)); // same name, one edge more
    const char *graph = write_graph("two.txt", "");
    assert_string_not_equal(first, folder_of(graph, NULL, 4));
    static const char *const changes[] = {"partition.seed=99", "partition.method=blocks",
                                          "partition.reorder=false",
                                          "partition.balance=[\"train\"]"};
    for (int i = 0; i < 4; i++) {
        assert_string_not_equal(first, folder_of(graph, changes[i], 3));
    }
}

static void write_parts(const char *name, int shift) {
    char text[256] = "";
    for (int v = 0; v < 40; v++) {
        text[2 * v] = (char)('0' + (v + shift) % 3);
        text[2 * v + 1] = '\n';
    }
    if (test_comm.rank == 0)
        test_write_text(test_path(name), text);
    comm_barrier(&test_comm);
}

CACHE_TEST(test_part_files_are_known_by_content) {
    const char *graph = write_graph("graph.txt", "");
    const char *one = test_text("partition.method=\"file:%s\"", test_path("a.part.3"));
    const char *two = test_text("partition.method=\"file:%s\"", test_path("b.part.3"));
    write_parts("a.part.3", 0);
    write_parts("b.part.3", 0);
    const char *first = folder_of(graph, one, 3);
    assert_string_equal(first, folder_of(graph, two, 3));
    write_parts("b.part.3", 1);
    assert_string_not_equal(first, folder_of(graph, two, 3));
}

// Keeps the first `keep` thousandths of a file, or changes a byte in the middle (keep 1000).
static void damage(const char *path, int keep) {
    size_t bytes;
    if (test_comm.rank == 0) {
        char *data = test_read(path, &bytes);
        data[bytes / 2] ^= keep == 1000 ? 1 : 0;
        assert_ok(file_remove(path, &err)); // others may have it mapped
        size_t kept = bytes * (size_t)keep / 1000;
        if (keep < 1000 && kept + 2 > bytes) // a JSON file without its last newline is whole
            kept = bytes - 2;
        test_write(path, data, kept);
    }
    comm_barrier(&test_comm);
}

// The next load sees what is damaged, and makes the same again.
static void assert_mended(const Config *config, const char *first) {
    Warnings warnings = {0};
    assert_string_equal(first, load(config, &warnings));
    assert_int_equal(strstr(warnings.text, "damaged and is made again") != NULL,
                     test_comm.rank == 0);
}

CACHE_TEST(test_damaged_shards_are_made_anew) {
    static const int keeps[] = {0, 500, 999, 1000};
    char folder[1024], path[1024];
    Warnings warnings = {0};
    Config config = config_with(write_graph("graph.txt", ""), NULL);
    const char *first = load(&config, &warnings);
    assert_true(find_entry("parts-", folder));
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%.900s/part-%d-of-%d.safetensors", folder, test_comm.size - 1,
                 test_comm.size);
        damage(path, keeps[i]);
        assert_mended(&config, first);
        static const char *const files[] = {"partition.json", "ranks.jsonl",
                                            "messages.safetensors"};
        for (int f = 0; f < 3; f++) {
            path_join(path, sizeof path, folder, files[f]);
            damage(path, f == 0 && keeps[i] >= 999 ? 700 : keeps[i]);
            assert_mended(&config, first);
            load(&config, &warnings); // healed
            assert_string_equal(warnings.text, "");
        }
    }
}

CACHE_TEST(test_damaged_dataset_and_index_are_made_anew) {
    static const int keeps[] = {0, 999, 1000};
    char folder[1024], path[1024];
    Warnings warnings = {0};
    Config config = config_with(write_graph("graph.txt", ""), NULL);
    const char *first = load(&config, &warnings);
    for (int i = 0; i < 3; i++) {
        assert_true(find_entry("dataset-", folder));
        path_join(path, sizeof path, folder, "dataset.safetensors");
        damage(path, keeps[i]);
        remove_entry("parts-");
        assert_mended(&config, first);
        assert_true(find_entry("source-", folder));
        damage(folder, keeps[i]);
        assert_string_equal(first, load(&config, &warnings));
    }
}

// Every rank by itself, all at once, into one empty cache.
CACHE_TEST(test_runs_at_the_same_time_share_the_cache) {
    char folder[1024], theirs[1024], path[1024];
    for (int round = 0; round < 2; round++) {
        new_cache(NULL);
        Config config = config_with(write_graph("graph.txt", ""), NULL);
        assert_ok(partition_build(&config, 2, folder, sizeof folder, &(Warnings){0}, &err));
        memcpy(theirs, folder, sizeof theirs);
        comm_broadcast(&test_comm, theirs, sizeof theirs, 0);
        assert_string_equal(folder, theirs);
        for (int p = 0; p < 2; p++) {
            CLEARED(shard_clear) Shard shard = {0};
            assert_ok(shard_open(&shard, folder, p, &err));
        }
        comm_barrier(&test_comm);
        assert_false(find_entry(FILE_TEMPORARY, path));
    }
}

// Files of a killed run are removed; those that may belong to a living run stay.
CACHE_TEST(test_leftovers_are_swept) {
    char dead[1200], living[1200];
    Config config = config_with(write_graph("graph.txt", ""), NULL);
    const char *plain = test_text("%s/parts-1", cache);
    test_temporary(dead, plain, test_dead_process());
    test_temporary(living, plain, getppid());
    if (test_comm.rank == 0) {
        assert_ok(file_make_folder(dead, &err));
        assert_ok(file_make_folder(living, &err));
    }
    comm_barrier(&test_comm);
    load(&config, &(Warnings){0});
    comm_barrier(&test_comm);
    assert_true(test_comm.rank > 0 || !file_exists(dead));
    assert_true(file_exists(living));
}

// Files cannot grow beyond 2 KiB: one sentence, and no partial entry is left.
CACHE_TEST(test_full_disk_leaves_no_half_entry) {
    char folder[1024], path[1024];
    Config config = config_with(write_graph("graph.txt", ""), NULL);
    load_without_room(&config, 2048);
    comm_barrier(&test_comm);
    assert_false(find_entry(FILE_TEMPORARY, path));
    assert_false(find_entry("parts-", path));
    assert_false(find_entry("dataset-", path));
    if (test_comm.rank == 0)
        assert_ok(partition_build(&config, 2, folder, sizeof folder, &(Warnings){0}, &err));
    comm_barrier(&test_comm);
}

CACHE_TEST(test_all_ranks_hear_what_is_wrong) {
    Shard shard;
    Config config = config_with(write_graph("graph.txt", ""), "partition.method=mettis");
    assert_refused(partition_load(&shard, &config, &test_comm, &(Warnings){0}, &err), EXIT_CONFIG,
                   "metis, metis:star, random, blocks");
    if (test_comm.rank == 0)
        test_write_text(test_path("two.txt"), "0 1\n");
    comm_barrier(&test_comm);
    config = config_with(test_path("two.txt"), NULL);
    if (test_comm.size > 2)
        assert_refused(partition_load(&shard, &config, &test_comm, &(Warnings){0}, &err),
                       EXIT_CONFIG, "cannot be cut into 3 parts");
}
