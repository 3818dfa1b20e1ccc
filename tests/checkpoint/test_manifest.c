// ranks: 1 2
// If this failed, a bit of checkpoint.json could change unseen, or numbers that no training can
// have would be believed, and a run would go on from another state than it was in; or a checkpoint
// that is only older or newer than this program would be taken for a damaged one.
#include "checkpoints.h"

static char *manifest;
static size_t manifest_bytes;

// What the head of the file says: the hash of the text whose 32 digits are zeros.
static void seal(char *text, size_t bytes) {
    char hash[33], *digits = strstr(text, "\"checksum\": \"");
    assert_non_null(digits);
    digits += strlen("\"checksum\": \"");
    memset(digits, '0', 32);
    Hash *sum = hash_new();
    hash_add(sum, text, bytes);
    hash_end(sum, hash);
    memcpy(digits, hash, 32);
}

// checkpoint.json of epoch 4 with the first `from` replaced by `to`; *bytes of it.
static char *edited(const char *from, const char *to, size_t *bytes) {
    char *at = strstr(manifest, from);
    if (at == NULL)
        fail_msg("%s is not in %s", from, manifest);
    *bytes = manifest_bytes - strlen(from) + strlen(to);
    char *text = TEST_ARRAY(char, *bytes + 1);
    size_t before = (size_t)(at - manifest);
    memcpy(text, manifest, before);
    memcpy(text + before, to, strlen(to));
    memcpy(text + before + strlen(to), at + strlen(from),
           manifest_bytes - before - strlen(from) + 1);
    return text;
}

static void put_manifest(const char *text, size_t bytes) {
    comm_barrier(&test_comm);
    if (test_comm.rank == 0)
        test_write(in_run("epoch-4/checkpoint.json"), text, bytes);
    comm_barrier(&test_comm);
}

static void put_edited(const char *from, const char *to, bool sealed) {
    size_t bytes;
    char *text = edited(from, to, &bytes);
    if (sealed)
        seal(text, bytes);
    put_manifest(text, bytes);
}

static int make_manifest(void **state) {
    make_run(state);
    manifest = test_read(in_run("epoch-4/checkpoint.json"), &manifest_bytes);
    return 0;
}

#define MANIFEST_TEST(name) TEST_WITH(name, make_manifest, NULL)

static void assert_gives_way(const char *what, const char *warning) {
    Error err = {0};
    Warnings warnings = {0};
    int64_t epoch = resumed(&warnings, &err);
    if (epoch != 2)
        fail_msg("%s: %s (resumed at %d)", what, err.text, (int)epoch);
    if (test_comm.rank == 0 && strstr(warnings.text, warning) == NULL)
        fail_msg("%s: the warning is '%s', expected '%s'", what, warnings.text, warning);
}

MANIFEST_TEST(the_test_can_seal) {
    put_edited("\"epoch\": 4", "\"epoch\":  4", true);
    assert_int_equal(resumed(&(Warnings){0}, &(Error){0}), 4);
}

#define ANY_METRICS "{\"loss\": 1, \"accuracy\": 0, \"micro_f1\": 0, \"macro_f1\": 0, \"rows\": 0}"

// Each number out of what it can be: as bytes of the disk change, and as a program that is wrong
// would write it.
static const struct {
    const char *from, *to, *named;
} wrong[] = {
    {"\"epoch\": 4", "\"epoch\": 2", "'epoch'"},
    {"\"epoch\": 4", "\"epoch\": -5", "'epoch'"},
    {"\"epoch\": 4", "\"epoch\": 2e12", "'epoch'"},
    {"\"epoch\": 4", "\"epoch\": 4.5", "not a checkpoint manifest"},
    {"\"best_epoch\": ", "\"best_epoch\": 1", "'best_epoch'"},
    {"\"best_epoch\": ", "\"best_epoch\": -", "'best_epoch'"},
    {"\"stale_evaluations\": ", "\"stale_evaluations\": 99", "'stale_evaluations'"},
    {"\"stale_evaluations\": ", "\"stale_evaluations\": -1", "'stale_evaluations'"},
    {"\"best_score\": ", "\"best_score\": 8.75, \"was\": ", "'best_score'"},
    {"\"best_score\": ", "\"best_score\": 0.015625, \"was\": ", "'best_score'"},
    {"\"best_score\": ", "\"best_score\": null, \"was\": ", "'best_score'"},
    {"\"best_score\": ", "\"was\": ", "not a checkpoint manifest"},
    {"\"best_score\": ", "\"best_score\": \"high\", \"was\": ", "not a checkpoint manifest"},
    {"\"micro_f1\": ", "\"micro_f1\": -0.5, \"was\": ", "'best_metrics'"},
    {"\"micro_f1\": ", "\"micro_f1\": 1.5, \"was\": ", "'best_metrics'"},
    {"\"rows\": ", "\"rows\": -1", "'best_metrics'"},
    {"\"best_metrics\": [", "\"were\": [", "not a checkpoint manifest"},
    {"\"best_metrics\": [", "\"best_metrics\": [" ANY_METRICS ", ", "not a checkpoint manifest"},
    {"\"best_metrics\": [",
     "\"best_metrics\": {\"a\": 0, \"b\": 0, \"c\": 0, \"d\": 0}, \"were\": [",
     "not a checkpoint manifest"},
    {"\"data\": \"", "\"data\": \"00000000000000000000000000000000", "not a checkpoint manifest"},
    {"\"seed\": 3", "\"seed\": \"3\"", "not a checkpoint manifest"},
    {"\"config\": {", "\"config\": 1, \"was\": {", "not a checkpoint manifest"},
    {"\"format\": \"fringe", "\"format\": \"other", "not a checkpoint manifest"},
    {"\"version\": 2", "\"version\": 1", "not a checkpoint manifest"},
    {"\"model.safetensors\"", "\"../LATEST\"", "not a file name"},
    {"\"model.safetensors\"", "7", "not a file name"},
    {"\"model.safetensors\"", "\"best.safetensors\"", "best.safetensors: its hash"},
};

MANIFEST_TEST(numbers_that_cannot_be_give_way) {
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        put_edited(wrong[i].from, wrong[i].to, true);
        assert_gives_way(wrong[i].to, wrong[i].named);
        if (strstr(wrong[i].named, "not a") == NULL) {
            put_edited(wrong[i].from, wrong[i].to, false);
            assert_gives_way(wrong[i].to, "its checksum is not that of its text");
        }
    }
}

// What names another training is damage, too, where the checksum says so.
MANIFEST_TEST(a_changed_digit_of_a_hash_gives_way) {
    static const char *const members[] = {"\"data\": \"", "\"hash\": \"",
                                          "\"seed\": ", "\"checksum\": \""};
    for (int i = 0; i < 4; i++) {
        size_t bytes;
        char *text = edited(members[i], members[i], &bytes);
        char *digit = strstr(text, members[i]) + strlen(members[i]);
        *digit = *digit == '1' ? '2' : '1';
        put_manifest(text, bytes);
        assert_gives_way(members[i], "checkpoint.json: ");
    }
}

MANIFEST_TEST(every_flipped_bit_gives_way) {
    enum { FLIPS = 300 };
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < FLIPS; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        size_t at = (size_t)(random % manifest_bytes);
        int bit = (int)(random >> 40 & 7);
        manifest[at] = (char)(manifest[at] ^ 1 << bit);
        put_manifest(manifest, manifest_bytes);
        assert_gives_way(test_text("bit %d of byte %zu", bit, at), "checkpoint.json");
        manifest[at] = (char)(manifest[at] ^ 1 << bit);
    }
}

MANIFEST_TEST(shorter_and_longer_files_give_way) {
    for (size_t cut = 0; cut < manifest_bytes; cut += manifest_bytes / 20) {
        put_manifest(manifest, cut);
        assert_gives_way("cut", "checkpoint.json");
    }
    put_edited("\"checksum\"", "\"checksum\": \"\", \"sum\"", false);
    assert_gives_way("two checksums", "checkpoint.json");
}

// A newer program's checkpoint is one only where its checksum is right.
MANIFEST_TEST(a_newer_version_is_no_damage) {
    put_edited("\"version\": 2", "\"version\": 3", true);
    assert_refused(resumed(&(Warnings){0}, &err) != -2, EXIT_CONFIG, "version 3 is of a newer");
    put_edited("\"version\": 2", "\"version\": 3", false);
    assert_gives_way("version 3", "its checksum");
}

static void weights_are_found(const char *name) {
    char path[1024];
    assert_ok(checkpoint_weights_path(run_dir, false, path, sizeof path, &err));
    assert_string_equal(path, in_run(name));
    comm_barrier(&test_comm);
}

// Sections come later; one that this program does not know is state that it would lose.
MANIFEST_TEST(a_file_that_is_not_known_is_not_lost) {
    char hash[33];
    if (test_comm.rank == 0)
        test_write_text(in_run("epoch-4/stale.safetensors"), "rows in flight");
    comm_barrier(&test_comm);
    assert_ok(hash_file(in_run("epoch-4/stale.safetensors"), hash, &err));
    const char *files =
        test_text("\"files\": [{\"name\": \"stale.safetensors\", \"hash\": \"%s\"},", hash);
    put_edited("\"files\": [", files, true);
    assert_refused(resumed(&(Warnings){0}, &err) != -2, EXIT_CONFIG,
                   "holds stale.safetensors, which a newer version of fringe wrote");
    weights_are_found("epoch-4/model.safetensors");
    comm_barrier(&test_comm);
    if (test_comm.rank == 0)
        test_write_text(in_run("epoch-4/stale.safetensors"), "rows at rest..");
    assert_gives_way("an unknown file", "stale.safetensors: its hash");
}
