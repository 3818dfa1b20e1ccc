// If this failed, the tables and reports of runs would show other numbers than the runs wrote, or
// miss runs.

#include "support.h"

#include "fringe/records.h"

#include <sys/stat.h>

static void put(const char *run, const char *name, const char *text) {
    mkdir(test_path(run), 0777);
    test_write_text(test_path(test_text("%s/%s", run, name)), text);
}

TEST(a_run_is_read_with_its_epochs) {
    RunRecord record;
    put("run-2", "run.json", "{\"config\": {}}");
    put("run-2", "metrics.jsonl",
        "{\"epoch\": 1, \"gradient_memory\": 1}\n{\"epoch\": 2, \"gradient_memory\": 0.5}\n");
    assert_ok(record_read(&record, test_path("run-2"), &err));
    assert_true(record.epoch[1].gradient_memory == 0.5);
    assert_true(record_figures(&record).gradient_memory == 0.75);
    record_clear(&record);
    put("run-2", "run.json",
        "{\"config\": {\"mode\": \"adaqp\", \"run\": {\"seed\": 3}}, \"result\": {\"epochs\": 2}}");
    put("run-2", "metrics.jsonl",
        "{\"epoch\": 1, \"loss\": 2.5, \"bytes\": 10, \"time\": {\"epoch\": 0.5, \"wait\": 0.25}}\n"
        "{\"epoch\": 2, \"loss\": 1.5, \"validation\": {\"accuracy\": 0.75}}\n");
    assert_ok(record_read(&record, test_path("run-2"), &err));
    assert_int_equal(record.state, RECORD_FINISHED);
    assert_string_equal(record_text(&record, "config.mode"), "adaqp");
    assert_true(record_number(&record, "config.run.seed") == 3);
    assert_true(isnan(record_number(&record, "config.mode")));
    assert_null(record_text(&record, "config.model.layer"));
    assert_int_equal(record.epochs, 2);
    assert_true(record.epoch[0].loss == 2.5 && record.epoch[0].wait == 0.25);
    assert_true(isnan(record.epoch[0].validation));
    assert_true(record.epoch[1].validation == 0.75);
    assert_true(isnan(record_figures(&record).gradient_memory));
    record_clear(&record);
}

// Of the starts of one name the newest comes first; run-1 and run-2 of --runs are no such starts.
TEST(the_newest_start_of_a_name_comes_first) {
    const char *const name[] = {"a-9", "starts-10", "starts-9", "starts", "starts-more"};
    RunRecords records = {0};
    put("listed", ".fringe", "");
    for (int i = 4; i >= 0; i--) {
        const char *run = test_text("listed/%s", name[i]);
        put(run, "run.json", "{\"config\": {}}");
    }
    assert_ok(records_add(&records, test_path("listed"), NULL, &err));
    assert_int_equal(records.count, 5);
    for (int i = 0; i < 5; i++)
        assert_string_equal(path_name(records.run[i].folder), name[i]);
    records_clear(&records);
    file_remove(test_path("listed"), &(Error){0});
}

TEST(runs_are_found_in_the_order_of_their_numbers) {
    RunRecords records = {0};
    put("run-10", "run.json", "{\"config\": {}}");
    put("run-2", "run.json", "{\"config\": {}}");
    assert_ok(records_add(&records, test_folder(), NULL, &err));
    assert_int_equal(records.count, 2);
    assert_non_null(strstr(records.run[0].folder, "run-2"));
    assert_non_null(strstr(records.run[1].folder, "run-10"));
    assert_int_equal(records.run[1].state, RECORD_UNFINISHED);
    assert_int_equal(records.run[1].epochs, 0);
    records_clear(&records);
    assert_refused(records_add(&records, "/nonexistent", NULL, &err), EXIT_NO_INPUT,
                   "/nonexistent");
}

TEST(what_differs_is_named) {
    CLEARED(records_clear) RunRecords records = {0};
    int count;
    char value[RECORD_VALUE];
    put("of", ".fringe", "");
    put("of/a", "run.json",
        "{\"machine\": {\"ranks\": 1}, \"config\": {\"train\": {\"lr\": 0.5, \"betas\": [0.5, 1]},"
        " \"run\": {\"dir\": \"a\", \"seed\": 1, \"log_every\": 1}, \"data\": {\"new\": 1}}}");
    put("of/b", "run.json",
        "{\"machine\": {\"ranks\": 1}, \"config\": {\"train\": {\"lr\": 0.25, \"betas\": [0.5, 1]},"
        " \"run\": {\"dir\": \"b\", \"seed\": 1, \"log_every\": 2}}}");
    assert_ok(records_add(&records, test_path("of"), NULL, &err));
    char(*key)[RECORD_KEY] = records_differing_keys(&records, &count);
    assert_int_equal(count, 1);
    assert_string_equal(key[0], "config.train.lr");
    assert_string_equal(record_short_key((const char(*)[RECORD_KEY])key, count, 0), "lr");
    assert_true(record_value(&records.run[1], key[0], value));
    assert_string_equal(value, "0.25");
    assert_false(record_value(&records.run[1], "config.data.new", value));
    memory_free(key);
}

TEST(figures_are_those_of_the_best_validation) {
    CLEARED(record_clear) RunRecord record = {0};
    put("figures", "run.json", "{\"config\": {}, \"ended\": \"2020-01-01T00:00:00Z\"}");
    put("figures", "metrics.jsonl",
        "{\"epoch\": 1, \"bytes\": 5, \"validation\": {\"accuracy\": 0.75}, \"test\": "
        "{\"accuracy\": "
        "0.5}, \"time\": {\"epoch\": 3}}\n"
        "{\"epoch\": 2, \"bytes\": 7, \"validation\": {\"accuracy\": 0.5}, \"test\": "
        "{\"accuracy\": "
        "1}, \"time\": {\"epoch\": 1}}\n"
        "{\"epoch\": 3, \"bytes\": 6, \"time\": {\"epoch\": 2}}\n");
    assert_ok(record_read(&record, test_path("figures"), &err));
    RunFigures f = record_figures(&record);
    assert_int_equal(f.best_epoch, 1);
    assert_true(f.validation == 0.75 && f.test == 0.5);
    assert_true(f.last_validation == 0.5 && f.last_test == 1);
    assert_true(f.seconds == 2 && f.bytes == 6);
    assert_true(f.age > 86400 * 365.0);
}
