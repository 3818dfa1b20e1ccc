// If this failed, the line on the terminal or the names of the libraries would say something that
// is not so.

#include "scores.h"
#include "support.h"

#include "report/internal.h"

TEST(one_row_is_measured_and_none_is_not) {
    for (int rows = 0; rows < 2; rows++) {
        CLEARED(json_writer_clear) JsonWriter w = {0};
        Metrics metrics = metrics_with(rows, "loss", 0.5);
        json_writer_init(&w, false);
        json_begin_object(&w, NULL);
        report_put_metrics(&w, "test", &metrics);
        json_end_object(&w);
        assert_true((strstr(w.text, "0.5") != NULL) == (rows == 1));
        assert_true((strstr(w.text, "null") != NULL) == (rows == 0));
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
TEST(the_parts_split_the_epoch) {
    char line[REPORT_LINE];
    EpochRecord record = example();
    report_parts_line(&record, line);
    assert_string_equal(line,
                        "           compute 0.400 s, pack 50.0 ms, wait 0.250 s, rest 0.300 s");
}

TEST(the_line_says_what_is_left) {
    char line[REPORT_LINE];
    EpochRecord record = example();
    report_line(&record, score_of_labels(LABEL_CLASS), 200, 3725, line);
    assert_string_equal(line, "epoch  10/200  loss 0.500  1.00 s  2.5 MB  1:02:05 left");
    report_line(&record, score_of_labels(LABEL_CLASS), 200, NAN, line);
    assert_string_equal(line, "epoch  10/200  loss 0.500  1.00 s  2.5 MB");
}

TEST(the_line_shows_metrics_of_its_own_splits) {
    char line[REPORT_LINE];
    EpochRecord record = example();
    record.evaluated = record.best = true;
    record.metrics[SPLIT_TRAIN] = metrics_with(8, "accuracy", 0.99);
    record.metrics[SPLIT_VAL] = metrics_with(8, "accuracy", 0.875);
    record.metrics[SPLIT_TEST] = metrics_with(8, "accuracy", 0.25);
    report_line(&record, score_of_labels(LABEL_CLASS), 200, 59, line);
    assert_string_equal(line, "epoch  10/200  loss 0.500  val 87.50  test 25.00 *  1.00 s  2.5 MB"
                              "  0:59 left");
    record.best = false;
    record.metrics[SPLIT_VAL] = (Metrics){0}; // nothing was measured
    report_line(&record, score_of_labels(LABEL_CLASS), 200, 59, line);
    assert_non_null(strstr(line, "val  none  test 25.00    1.00 s"));
}

// Bytes are left out first.
TEST(the_line_fits_80_columns) {
    char line[REPORT_LINE];
    EpochRecord record = example();
    record.epoch = 99999, record.loss = 0.00012345, record.seconds = 0.1234;
    record.evaluated = record.best = true;
    record.metrics[SPLIT_VAL] = record.metrics[SPLIT_TEST] = metrics_with(8, "accuracy", 1);
    report_line(&record, score_of_labels(LABEL_CLASS), 100000, 360000, line);
    assert_string_equal(
        line, "epoch 99999/100000 loss 1e-04 val 100.00 test 100.00 * 0.123 s 100:00:00 left");
    record.epoch = 999, record.loss = 0.634;
    report_line(&record, score_of_labels(LABEL_CLASS), 1000, 14, line);
    assert_string_equal(
        line, "epoch 999/1000 loss 0.634 val 100.00 test 100.00 * 0.123 s 2.5 MB 0:14 left");
    record.epoch = 99999;
    report_line(&record, score_of_labels(LABEL_CLASS), 100000, 360000, line);
    assert_non_null(strstr(line, "100:00:00 left"));
}

// The first epoch is slow and counts for nothing after enough others.
TEST(the_time_left_is_that_of_the_last_epochs) {
    Pace pace = {0};
    EpochRecord slow = {.seconds = 100}, fast = {.seconds = 1};
    pace_add(&pace, &slow);
    pace_add(&pace, &fast);
    assert_true(isnan(pace_left(&pace, 10))); // too early to say
    pace_add(&pace, &fast);
    assert_true(pace_left(&pace, 10) == 10);
    for (int epoch = 0; epoch < 40; epoch++) // from now on epochs are slower
        pace_add(&pace, &(EpochRecord){.seconds = 3});
    assert_true(pace_left(&pace, 10) == 30);
}

// Every second epoch is evaluated and every fourth one assigns widths.
TEST(the_time_left_has_evaluations_and_assignments) {
    Pace pace = {0};
    for (int epoch = 0; epoch < 8; epoch++)
        pace_add(&pace, &(EpochRecord){.seconds = 1,
                                       .evaluated = epoch % 2 == 0,
                                       .eval_seconds = 2,
                                       .assign_seconds = epoch % 4 == 0 ? 8 : 0});
    assert_true(pace_left(&pace, 10) == 10 + 5 * 2 + 2.5 * 8);
}

TEST(quantities_are_short) {
    static const struct {
        double seconds;
        const char *text;
    } of[] = {{0.00012, "0.12 ms"}, {0.0443, "44.3 ms"}, {0.157, "0.157 s"}, {0.9999, "1.00 s"},
              {12.34, "12.3 s"},    {123.4, "123 s"},    {NAN, "none"}};
    char out[QUANTITY];
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)
        assert_string_equal(quantity_seconds(out, of[i].seconds), of[i].text);
    assert_string_equal(quantity_bytes(out, 999), "999 B");
    assert_string_equal(quantity_bytes(out, 23512000), "23.5 MB");
    assert_string_equal(quantity_memory(out, 1536.0 * 1024 * 1024), "1.5 GiB");
    assert_string_equal(quantity_clock(out, 7200), "2:00:00");
    assert_string_equal(quantity_percent(out, 0.5), "50.00 %");
}

TEST(versions_are_members_and_name_what_is_linked) {
    static const char *const names[] = {"fringe", "compiler", "MPI",    "kernels",
                                        "METIS",  "cJSON",    "libzip", "xxHash"};
    CLEARED(json_writer_clear) JsonWriter writer = {0};
    const Backend *backend = assert_ok(backend_find("cpu", &err));
    assert_ok(backend != NULL && backend->start(&(BackendStart){0}, &err));
    json_writer_init(&writer, true);
    json_begin_object(&writer, NULL);
    report_versions(&writer, NULL, backend);
    json_end_object(&writer);
    OWNED(Json) *object = assert_ok(json_parse(writer.text, writer.bytes, "versions", &err));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const Json *version = json_get(object, names[i]);
        assert_non_null(version);
        assert_true(strlen(json_string(version)) > 0);
    }
}

// Twenty in a row, and once; a memory that is exact, or none, begins the count anew.
TEST(a_costly_memory_is_told_once) {
    int epochs = 0, told = 0;
    for (int e = 0; e < 19; e++)
        assert_false(report_memory_costs(&epochs, 1.5));
    assert_false(report_memory_costs(&epochs, 1));
    assert_false(report_memory_costs(&epochs, NAN));
    for (int e = 0; e < 19; e++)
        assert_false(report_memory_costs(&epochs, 1.01));
    for (int e = 0; e < 50; e++)
        told += report_memory_costs(&epochs, 1.01);
    assert_int_equal(told, 1);
}

TEST(the_winner_is_the_best_by_its_score) {
    const ResultRow row[4] = {{.validation.mean = NAN},
                              {.validation.mean = 0.5},
                              {.validation.mean = 0.75},
                              {.validation.mean = 0.25}};
    assert_int_equal(result_winner(row, 4, score_find("accuracy")), 2);
    assert_int_equal(result_winner(row, 4, score_find("loss")), 3);
    assert_int_equal(result_winner(row, 1, score_find("loss")), -1);
}
