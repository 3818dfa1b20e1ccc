// If this fails, a damaged shard or manifest is believed, or a full disk goes unnoticed.
#include "cut.h"

static const char *shard_name = "part-0-of-2.safetensors";

static char *read_shard(const Cut *cut, char path[1024], size_t *bytes) {
    path_join(path, 1024, cut->folder, shard_name);
    return test_read(path, bytes);
}

static void assert_not_believed(const Cut *cut) {
    Shard shard;
    assert_refused(shard_open(&shard, cut->folder, 0, &err), EXIT_DATA, shard_name);
}

static const HyperKind directed = {30, 25, hyper_random, true, true};

static void check_truncated_and_changed(Dataset dataset) {
    CLEARED(cut_close) Cut cut = cut_open(dataset, 2, NULL, true);
    char path[1024];
    size_t bytes;
    char *data = read_shard(&cut, path, &bytes);
    for (size_t length = 0; length < bytes; length += 1 + bytes / 41) {
        test_write(path, data, length);
        assert_not_believed(&cut);
    }
    for (size_t at = 0; at < bytes; at += 1 + bytes / 97) {
        data[at] ^= 0x40;
        test_write(path, data, bytes);
        assert_not_believed(&cut);
        data[at] ^= 0x40;
    }
    Shard shard;
    file_remove(path, &(Error){0});
    assert_refused(shard_open(&shard, cut.folder, 0, &err), EXIT_NO_INPUT, shard_name);
}

TEST(test_truncated_and_changed_shards_are_refused) {
    check_truncated_and_changed(graph_make(30, graph_random, true, 5));
    check_truncated_and_changed(hyper_make(directed, 5));
}

// Replaces the hash of shard 0 in ranks.jsonl by that of the file as it now is, so that only the
// checks of the content are left.
static void forge_hash(const Cut *cut, const char *before, const char *shard) {
    char now[33];
    size_t bytes;
    assert_ok(hash_file(shard, now, &err));
    const char *path = test_text("%s/ranks.jsonl", cut->folder);
    char *text = test_read(path, &bytes);
    char *at = strstr(text, before);
    assert_non_null(at);
    memcpy(at, now, 32);
    test_write(path, text, bytes);
}

// The hash that ranks.jsonl now has for shard 0.
static void shard_hash(const Cut *cut, char hash[33]) {
    char *text = test_read(test_text("%s/ranks.jsonl", cut->folder), NULL);
    memcpy(hash, strstr(text, "\"hash\": \"") + strlen("\"hash\": \""), 32);
    hash[32] = '\0';
}

// A file that was changed on purpose, hash and all: no flipped byte may crash the reader. What it
// accepts is a change of a harmless value (a weight, a feature, a degree).
static void check_forged(Dataset dataset) {
    CLEARED(cut_close) Cut cut = cut_open(dataset, 2, NULL, true);
    char path[1024], hash[33];
    size_t bytes;
    int refused = 0, tried = 0;
    char *data = read_shard(&cut, path, &bytes);
    assert_ok(hash_file(path, hash, &err));
    for (size_t at = 0; at < bytes; at += 29) {
        Shard shard;
        data[at] ^= 0x7f;
        test_write(path, data, bytes);
        data[at] ^= 0x7f;
        forge_hash(&cut, hash, path);
        assert_ok(hash_file(path, hash, &err));
        if (shard_open(&shard, cut.folder, 0, &(Error){0}))
            shard_clear(&shard);
        else
            refused++;
        tried++;
    }
    assert_true(refused > tried / 3);
}

TEST(test_forged_shards_do_not_crash) {
    check_forged(graph_make(12, graph_random, true, 5));
    check_forged(hyper_make((HyperKind){12, 14, hyper_random, true, true}, 5));
}

// The first value of a tensor of a mapped shard, as an offset in the file; -1: there is none.
static int64_t place_of(const char *path, const char *name) {
    CLEARED(tensors_close) Tensors map = {0};
    assert_ok(tensors_open(&map, path, &err));
    const Tensor *tensor = tensors_find(&map, name);
    int64_t at = tensor == NULL || tensor_elements(tensor) == 0
                     ? -1
                     : (const char *)tensor->data - (const char *)map.mapping;
    return at;
}

// Every array of the second set and of its relations is checked against its bounds: a file with one
// value out of them is refused, with a sentence that says where.
TEST(test_arrays_of_hyperedges_are_checked) {
    static const struct {
        const char *tensor, *what;
        int64_t value;
        int bytes;
    } cases[] = {
        {"hyperedge.gid", "ids", 25, 8},
        {"hyperedge.gid", "ids", -1, 8},
        {"hyperedge.reach", "reach", -1, 8},
        {"hyperedge.reach", "reach", 26, 8},
        {"hyperedge.weight", "weights of hyperedges", 0xbf800000, 4}, // -1
        {"hyperedge.weight", "weights of hyperedges", 0x7fc00000, 4}, // NaN
        {"forward.offset", "offsets", 1, 8},
        {"forward2.offset", "offsets", -1, 8},
        {"backward2.offset", "offsets", 1000, 8},
        {"forward2.column", "columns", 26, 4},
        {"backward2.column", "columns", -1, 4},
        {"forward2.remote_owner", "remote rows", 0, 4},
        {"forward2.remote_row", "remote rows", 25, 4},
        {"forward2.remote_gid", "remote rows", 25, 8},
        {"backward2.remote_gid", "remote rows", 30, 8},
    };
    char path[1024], hash[33];
    size_t bytes;
    CLEARED(cut_close) Cut cut = cut_open(hyper_make(directed, 5), 2, NULL, true);
    char *data = read_shard(&cut, path, &bytes);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Shard shard;
        test_write(path, data, bytes);
        int64_t at = place_of(path, cases[i].tensor);
        assert_true(at > 0);
        char *changed = TEST_ARRAY(char, bytes);
        memcpy(changed, data, bytes);
        memcpy(changed + at, &cases[i].value, (size_t)cases[i].bytes); // little-endian
        shard_hash(&cut, hash);
        test_write(path, changed, bytes);
        forge_hash(&cut, hash, path);
        assert_refused(shard_open(&shard, cut.folder, 0, &err), EXIT_DATA, cases[i].what);
    }
}

// Sets the first digit of a fact of shard 0 to 9, or to 8 if it is 9.
static void assert_fact_is_checked(const Cut *cut, const char *fact) {
    char path[1024], hash[33];
    size_t bytes;
    Shard shard;
    char *data = read_shard(cut, path, &bytes), *before = read_shard(cut, path, &bytes);
    const char *key = test_text("\"%s\"", fact);
    char *digit = (char *)memmem(data, bytes, key, strlen(key)) + strlen(key);
    digit += strcspn(digit, "0123456789");
    *digit = *digit == '9' ? '8' : '9';
    shard_hash(cut, hash);
    test_write(path, data, bytes);
    forge_hash(cut, hash, path);
    assert_refused(shard_open(&shard, cut->folder, 0, &err), EXIT_DATA, shard_name);
    shard_hash(cut, hash);
    test_write(path, before, bytes);
    forge_hash(cut, hash, path);
}

TEST(test_sizes_of_hyperedges_are_checked) {
    static const char *const facts[] = {"own_hyperedges", "forward2.remote", "backward2.edges"};
    CLEARED(cut_close) Cut cut = cut_open(hyper_make(directed, 5), 2, NULL, true);
    for (int i = 0; i < 3; i++)
        assert_fact_is_checked(&cut, facts[i]);
    cut_close(&cut);
    cut = cut_open(hyper_make((HyperKind){30, 25, hyper_empty, false, false}, 5), 2, NULL, true);
    assert_fact_is_checked(&cut, "central_hyperedges"); // all are central
}

TEST(test_damaged_manifest_is_refused) {
    CLEARED(cut_close) Cut cut = cut_open(graph_make(12, graph_random, false, 5), 2, NULL, true);
    size_t bytes;
    const char *path = test_text("%s/partition.json", cut.folder);
    char *text = test_read(path, &bytes);
    for (size_t length = 0; length + 2 < bytes; length += 7) {
        Shard shard;
        test_write(path, text, length);
        assert_refused(shard_open(&shard, cut.folder, 0, &err), EXIT_DATA, "partition.json");
    }
}

// Only the line of a part vouches for its shard: a rank that finds another line there must refuse
// the shard.
TEST(test_damaged_line_of_a_rank_is_refused) {
    CLEARED(cut_close) Cut cut = cut_open(graph_make(12, graph_random, false, 5), 2, NULL, true);
    size_t bytes;
    const char *path = test_text("%s/ranks.jsonl", cut.folder);
    char *text = test_read(path, &bytes);
    size_t line = bytes / 2;
    Shard shard;
    for (size_t length = 0; length < line; length += 13) { // part 0 has no whole line
        test_write(path, text, length);
        assert_refused(shard_open(&shard, cut.folder, 0, &err), EXIT_DATA, "ranks.jsonl");
    }
    test_write(path, text + line, line); // part 1 in the place of part 0
    assert_refused(shard_open(&shard, cut.folder, 0, &err), EXIT_DATA, "ranks.jsonl");
    static const char *const keys[] = {"\"bytes\": ", "\"hash\": \""};
    for (int i = 0; i < 2; i++) {
        char *digit = strstr(text, keys[i]) + strlen(keys[i]);
        *digit = *digit == '1' ? '2' : '1';
        test_write(path, text, bytes);
        assert_refused(shard_open(&shard, cut.folder, 0, &err), EXIT_DATA, shard_name);
    }
}

// A disk that is full: /dev/full refuses every write. Here the shard's name leads there.
TEST(test_full_disk_is_one_sentence) {
    Error said = {0};
    int32_t part[12] = {0};
    OWNED(Dataset) d = graph_make(12, graph_random, false, 5);
    const char *folder = test_path("full");
    assert_ok(file_make_folder(folder, &err));
    const char *path = test_text("%s/part-0-of-1.safetensors", folder);
    assert_int_equal(symlink("/dev/full", path), 0);
    assert_false(test_write_shards(&d, part, 1, true, folder, &said));
    assert_true(said.code == EXIT_CANNOT_WRITE || said.code == EXIT_IO);
    assert_non_null(strstr(said.text, "part-0-of-1.safetensors"));
}
