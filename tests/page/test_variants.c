// If this failed, a report would mix runs of different settings, name them alike, count a run
// twice, or break on files that are not whole.

#include "support.h"

#include "page/internal.h"

#include <sys/stat.h>

static void put(const char *run, const char *name, const char *text) {
    mkdir(test_path(run), 0777);
    test_write_text(test_path(test_text("%s/%s", run, name)), text);
}

static void put_run(const char *run, const char *mode, int ranks, double lr, int seed) {
    const char *text =
        test_text("{\"config\": {\"mode\": \"%s\", \"data\": {\"path\": \"/graphs/%s\"}, "
                  "\"train\": {\"lr\": %g, \"weight_decay\": [0.5, 0]}, \"run\": {\"seed\": %d, "
                  "\"dir\": \"%s\"}}, \"machine\": {\"ranks\": %d}}",
                  mode, "tiny", lr, seed, run, ranks);
    put(run, "run.json", text);
}

static void add(RunRecords *records, const char *run) {
    assert_ok(records_add(records, test_path(run), NULL, &err));
}

TEST(runs_that_differ_in_their_seed_are_one_variant) {
    CLEARED(records_clear) RunRecords records = {0};
    CLEARED(variants_clear) Variants variants = {0};
    put_run("seed-1", "adaqp", 2, 0.01, 1);
    put_run("seed-2", "adaqp", 2, 0.01, 2);
    put_run("other", "adaqp", 2, 0.02, 1);
    add(&records, "seed-1");
    add(&records, "other");
    add(&records, "seed-2");
    add(&records, "./seed-1");
    variants_gather(&variants, &records);
    assert_int_equal(variants.count, 2);
    assert_int_equal(variants.variant_of[0], 0);
    assert_int_equal(variants.variant_of[1], 1);
    assert_int_equal(variants.variant_of[2], 0);
    assert_int_equal(variants.variant_of[3], -1); // named before
    assert_string_equal(variants.variant[0].label, "lr=0.01");
    assert_string_equal(variants.variant[1].label, "lr=0.02");
    assert_int_equal(variants.keys, 1);
    assert_string_equal(variants.key[0], "config.train.lr");
}

// A run that is started again lies in NAME-2, NAME-3, ...; the same seed there is no second sample.
TEST(a_run_that_was_started_again_counts_once) {
    CLEARED(records_clear) RunRecords records = {0};
    CLEARED(variants_clear) Variants variants = {0};
    static const struct {
        const char *name;
        int seed, variant;
    } run[] = {{"again", 1, -1},
               {"again-2", 1, -1},
               {"again-10", 1, 0},
               {"again-3", 2, 0}, // another seed
               {"again2", 1, 0}}; // another name
    for (size_t i = 0; i < sizeof run / sizeof run[0]; i++) {
        put_run(run[i].name, "adaqp", 2, 0.01, run[i].seed);
        add(&records, run[i].name);
    }
    variants_gather(&variants, &records);
    assert_int_equal(variants.count, 1);
    for (size_t i = 0; i < sizeof run / sizeof run[0]; i++)
        assert_int_equal(variants.variant_of[i], run[i].variant);
}

TEST(a_variant_is_named_by_what_divides_it_from_the_others) {
    CLEARED(records_clear) RunRecords records = {0};
    CLEARED(variants_clear) Variants variants = {0};
    put_run("a", "adaqp", 4, 0.01, 1);
    put_run("b", "vanilla", 1, 0.01, 1);
    put_run("c", "vanilla", 4, 0.02, 1);
    put_run("d", "vanilla", 4, 0.01, 1);
    for (const char *run = "abcd"; *run != 0; run++)
        add(&records, (char[2]){*run, 0});
    variants_gather(&variants, &records);
    assert_int_equal(variants.count, 4); // modes in the order of their table, more ranks first
    assert_string_equal(variants.variant[0].label, "vanilla, 4 ranks, lr=0.02");
    assert_string_equal(variants.variant[1].label, "vanilla, 4 ranks, lr=0.01");
    assert_string_equal(variants.variant[2].label, "vanilla, 1 rank");
    assert_string_equal(variants.variant[3].label, "adaqp");
    assert_int_equal(variants.variant_of[0], 3);
    assert_int_equal(variants.variant_of[1], 2);
    assert_int_equal(variants.variant_of[2], 0);
    assert_int_equal(variants.variant_of[3], 1);
}

// The data of the page for the run in that folder; json_free it.
static Json *data_of(const char *run) {
    CLEARED(records_clear) RunRecords records = {0};
    CLEARED(json_writer_clear) JsonWriter writer = {0};
    add(&records, run);
    json_writer_init(&writer, false);
    page_put_data(&writer, &records);
    Json *data = assert_ok(json_parse(writer.text, writer.bytes, "page", &err));
    return data;
}

static const Json *first_run(const Json *data) {
    const Json *variant = json_first(json_get(data, "variants"));
    return json_first(json_get(variant, "runs"));
}

TEST(a_long_curve_is_made_of_epochs_that_were_evaluated) {
    static char text[700 * 128];
    char *at = text;
    for (int epoch = 1; epoch <= 700; epoch++)
        at += sprintf(at,
                      epoch % 10 == 0 ? "{\"epoch\": %d, \"validation\": {\"accuracy\": 0.5}}\n"
                                      : "{\"epoch\": %d, \"loss\": 1}\n",
                      epoch);
    put_run("long", "vanilla", 1, 0.01, 1);
    put("long", "metrics.jsonl", text);
    OWNED(Json) *data = data_of("long");
    const Json *epochs = json_get(json_get(first_run(data), "curve"), "epoch");
    int evaluated = 0, points = 0;
    for (const Json *epoch = json_first(epochs); epoch != NULL; epoch = json_next(epoch)) {
        evaluated += (int)json_number(epoch) % 10 == 0;
        points++;
    }
    assert_in_range(points, 125, 250);
    assert_int_equal(evaluated, 70);
}

TEST(files_that_are_not_whole_leave_gaps_only) {
    put("torn", "run.json",
        "{\"config\": {\"mode\": 3, \"run\": 7}, \"machine\": [], \"exchanges\": [{\"columns\": 4, "
        "\"rows\": null, \"pairs\": [[[0, 0], [1, 1]], [[2], 5]]}, 8], \"rank_times\": 1}");
    put("torn", "metrics.jsonl", "{\"epoch\": 1}\n");
    mkdir(test_path("torn/assignments"), 0777);
    test_write_text(test_path("torn/assignments/epoch-3.json"), "{\"parts\": [{\"layer\": 1},");
    test_write_text(test_path("torn/assignments/epoch-5.json"),
                    "{\"parts\": [{\"layer\": 1}, 4, {\"layer\": 1, \"direction\": \"forward\", "
                    "\"rows\": {\"2\": 6, \"4\": null}}]}");
    OWNED(Json) *data = data_of("torn");
    const Json *assignments = json_get(first_run(data), "assignments");
    assert_int_equal(json_size(assignments), 1);
    const Json *parts = json_get(json_first(assignments), "parts");
    assert_int_equal(json_size(parts), 1);
    assert_int_equal(json_size(json_get(json_first(parts), "rows")), 1);
}
