// ranks: 1
// If this failed, the line on the terminal or the names of the libraries would say something that
// is not so.

#include "support.h"

#include "fringe/report.h"

#include <string.h>

static void one_row_is_measured_and_none_is_not(void **state) {
    (void)state;
    for (int rows = 0; rows < 2; rows++) {
        JsonWriter w;
        Metrics metrics = {.loss = 0.5, .accuracy = 1, .micro_f1 = 1, .macro_f1 = 1, .rows = rows};
        json_writer_init(&w, false);
        json_begin_object(&w, NULL);
        report_put_metrics(&w, "test", &metrics);
        json_end_object(&w);
        assert_true((strstr(w.text, "0.5") != NULL) == (rows == 1));
        assert_true((strstr(w.text, "null") != NULL) == (rows == 0));
        json_writer_clear(&w);
    }
}

static EpochRecord example(void) {
    EpochRecord record = {.epoch = 10, .loss = 0.5, .bytes = 2500000, .seconds = 1.0};
    record.timers.seconds[TIMER_AGGREGATE_OWN] = 0.1;
    record.timers.seconds[TIMER_AGGREGATE_HALO] = 0.1;
    record.timers.seconds[TIMER_DENSE] = 0.1;
    record.timers.seconds[TIMER_POINTWISE] = 0.1;
    record.timers.seconds[TIMER_PACK] = 0.02;
    record.timers.seconds[TIMER_UNPACK] = 0.03;
    record.timers.seconds[TIMER_WAIT] = 0.25;
    record.timers.seconds[TIMER_REDUCE] = 0.2;
    return record;
}

// compute, pack, wait and rest add up to the epoch: 0.4 + 0.05 + 0.25 + 0.3
static void the_line_splits_the_epoch(void **state) {
    (void)state;
    char line[512];
    EpochRecord record = example();
    report_line(&record, 200, 3725, line, sizeof line);
    assert_non_null(strstr(line, "epoch   10/200  loss 0.5000"));
    assert_non_null(strstr(line, "1.0000 s (compute 0.4000 pack 0.0500 wait 0.2500 rest 0.3000)"));
    assert_non_null(strstr(line, "2.5 MB"));
    assert_non_null(strstr(line, "ETA 1:02:05"));
    assert_null(strstr(line, "test"));
    report_line(&record, 200, 7200, line, sizeof line);
    assert_non_null(strstr(line, "ETA 2:00:00"));
}

static void the_line_shows_metrics_of_its_own_splits(void **state) {
    (void)state;
    char line[512];
    EpochRecord record = example();
    record.evaluated = record.best = true;
    record.metrics[SPLIT_TRAIN] = (Metrics){.micro_f1 = 0.99, .rows = 8};
    record.metrics[SPLIT_VAL] = (Metrics){.micro_f1 = 0.875, .rows = 8};
    record.metrics[SPLIT_TEST] = (Metrics){.micro_f1 = 0.25, .rows = 8};
    report_line(&record, 200, 59, line, sizeof line);
    assert_non_null(strstr(line, "validation 87.50 %  test 25.00 % *"));
    assert_non_null(strstr(line, "ETA 0:59"));
    record.best = false;
    record.metrics[SPLIT_VAL] = (Metrics){0}; // nothing was measured
    report_line(&record, 200, 59, line, sizeof line);
    assert_non_null(strstr(line, "validation    none  test 25.00 %  1.0000 s"));
}

static void versions_are_members_and_name_what_is_linked(void **state) {
    (void)state;
    static const char *const names[] = {"fringe", "compiler", "MPI",    "kernels",
                                        "METIS",  "cJSON",    "libzip", "xxHash"};
    Error err = {0};
    JsonWriter writer;
    const Backend *backend = backend_find("cpu", &err);
    assert_ok(backend != NULL && backend->start("auto", &err), &err);
    json_writer_init(&writer, true);
    json_begin_object(&writer, NULL);
    report_versions(&writer, backend);
    json_end_object(&writer);
    Json *object = json_parse(writer.text, writer.bytes, "versions", &err);
    assert_ok(object, &err);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const Json *version = json_get(object, names[i]);
        assert_non_null(version);
        assert_true(strlen(json_string(version)) > 0);
    }
    json_free(object);
    json_writer_clear(&writer);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(one_row_is_measured_and_none_is_not),
    cmocka_unit_test(the_line_splits_the_epoch),
    cmocka_unit_test(the_line_shows_metrics_of_its_own_splits),
    cmocka_unit_test(versions_are_members_and_name_what_is_linked),
};
TEST_MAIN(tests)
