// If this failed, a node would get the wrong sum of its neighbours, or one that depends on threads,
// vector width or column panels.
#include "aggregates.h"

static void check_problem(int combination, int64_t columns, bool all_panels) {
    Problem p = problem_make(combination, columns);
    Rows expected = test_rows(ROWS, columns), out = test_rows(ROWS, columns);
    plain_reference(expected, &p);
    assert_near_oracle(expected, &p);
    for (int v = 0; v < VECTORS; v++)
        for (int w = 0; w < (all_panels ? PANELS : 1) && vectors_start(vectors[v]); w++) {
            const char *what = test_text("%s, %s, width %d, combination %d", vectors[v], panels[w],
                                         (int)columns, combination);
            run(out, &p, panels[w]);
            assert_same_bits(expected, out, what); // padding is zero in both
        }
}

TEST(every_width_and_every_factor) {
    static const int64_t wide[] = {128, 200, 256, 300, 602};
    omp_set_num_threads(1);
    for (int combination = 0; combination < 16; combination++) {
        // the sanitizers see every width modulo 16, and the wide ones by turns
        for (int64_t columns = 1; columns <= UNDER_SANITIZERS(49, 70);
             columns += UNDER_SANITIZERS(3, 1))
            check_problem(combination, columns, columns % 16 == 1);
        for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
            if (UNDER_SANITIZERS(combination % 5 == (int)i, true))
                check_problem(combination, wide[i], true);
        test_clear();
    }
}

TEST(threads_and_tuning_change_no_bit) {
    enum { WIDE = 400 }; // a table that aggregate_tune does not take for small
    Problem p = large_problem(WIDE);
    Rows expected = test_rows(MANY, WIDE), out = test_rows(MANY, WIDE);
    plain_reference(expected, &p);
    for (int threads = 1; threads <= 3; threads++)
        for (int w = 0; w < PANELS; w++) {
            omp_set_num_threads(threads);
            run(out, &p, panels[w]);
            assert_same_bits(expected, out, panels[w]);
        }
}

TEST(ranges_leave_other_rows_alone) {
    enum { WIDE = 48 };
    omp_set_num_threads(2);
    Problem p = large_problem(WIDE);
    Rows expected = test_rows(MANY, WIDE), out = test_rows(MANY, WIDE);
    plain_reference(expected, &p);
    for (int w = 0; w < PANELS; w++) {
        const int64_t bound[] = {0, 0, 1, 64, 200, 201, 2900, MANY};
        const int order[] = {5, 0, 3, 6, 1, 2, 4};
        Aggregate *aggregate = aggregate_ready(&p, panels[w], out);
        rows_dirty(out);
        for (int r = 0; r < 7; r++) {
            int64_t begin = bound[order[r]], end = bound[order[r] + 1];
            float after = end < MANY ? floats(out)[end * out.stride] : 0;
            float before = begin > 0 ? floats(out)[begin * out.stride - 1] : 0;
            backend_cpu.aggregate_rows(aggregate, out, (Range){begin, end}, p.self,
                                       on_device(p.left), NULL);
            if (end < MANY)
                assert_memory_equal(&after, floats(out) + end * out.stride, sizeof after);
            if (begin > 0)
                assert_memory_equal(&before, floats(out) + begin * out.stride - 1, sizeof before);
        }
        assert_same_bits(expected, out, panels[w]);
        backend_cpu.aggregate_free(aggregate);
    }
}

// ---- what it may take and whom it may call

TEST(memory_is_as_predicted_and_taken_once) {
    enum { WIDE = 400 };
    Problem p = large_problem(WIDE);
    Rows out = test_rows(MANY, WIDE), scratch = test_rows(MANY, WIDE);
    for (int w = 0; w < PANELS; w++) {
        size_t before = memory_in_use();
        Aggregate *aggregate = backend_cpu.aggregate_new(&p.csr, MANY, WIDE, ROWS_FP32, panels[w]);
        assert_true(memory_in_use() - before <=
                    backend_cpu.aggregate_bytes(&p.csr, MANY, WIDE, ROWS_FP32, panels[w]));
        int64_t takes = memory_allocs();
        backend_cpu.aggregate_tune(aggregate, out, scratch);
        backend_cpu.aggregate_prepare(aggregate, p.x, on_device(p.right), NULL);
        backend_cpu.aggregate_rows(aggregate, out, (Range){0, MANY}, true, NULL, NULL);
        assert_int_equal(memory_allocs(), takes);
        const char *says = test_text(w == 0 ? "whole rows" : "panels of %s", panels[w]);
        if (strcmp(panels[w], "auto") != 0)
            assert_string_equal(backend_cpu.aggregate_describe(aggregate, WIDE, ROWS_FP32), says);
        assert_string_equal(backend_cpu.aggregate_describe(aggregate, 16, ROWS_FP32), "whole rows");
        backend_cpu.aggregate_free(aggregate);
        assert_int_equal(memory_in_use(), before);
    }
}

TEST(floats_take_no_panel_that_was_made_for_halves) {
    enum { WIDE = 400 };
    Problem p = large_problem(WIDE);
    Rows halves[] = {test_rows_of(ROWS_BF16, MANY, WIDE), test_rows_of(ROWS_BF16, MANY, WIDE)};
    static const char *const width[] = {"128", "32", "auto"};
    for (int w = 0; w < 3; w++) {
        Aggregate *a = backend_cpu.aggregate_new(&p.csr, MANY, WIDE, ROWS_BF16, width[w]);
        backend_cpu.aggregate_tune(a, halves[0], halves[1]);
        assert_string_equal(backend_cpu.aggregate_describe(a, WIDE, ROWS_FP32), "whole rows");
        if (w < 2)
            assert_string_not_equal(backend_cpu.aggregate_describe(a, WIDE, ROWS_BF16),
                                    "whole rows");
        backend_cpu.aggregate_free(a);
    }
}

typedef struct Calls {
    int count, elsewhere; // by thread 0, by another
} Calls;
static void count_call(void *context) {
    Calls *calls = (Calls *)context;
    if (omp_get_thread_num() == 0)
        calls->count++;
    else
        calls->elsewhere++;
}

TEST(poll_is_called_from_thread_0_while_it_works) {
    omp_set_num_threads(2);
    Problem p = large_problem(256);
    Rows out = test_rows(MANY, 256);
    for (int w = 0; w < PANELS; w++) {
        Aggregate *aggregate = aggregate_ready(&p, panels[w], out);
        Calls calls = {0, 0};
        Poll poll = {count_call, &calls};
        double begin = clock_seconds(); // on a loaded machine thread 0 may get few of the blocks
        for (int i = 0; i < 1000 && (calls.count < 5 || clock_seconds() - begin < 0.02); i++)
            backend_cpu.aggregate_rows(aggregate, out, (Range){0, MANY}, true, on_device(p.left),
                                       &poll);
        assert_true(calls.count >= 5);
        assert_int_equal(calls.elsewhere, 0);
        backend_cpu.aggregate_free(aggregate);
    }
}

TEST(names_are_checked) {
    assert_ptr_equal(assert_ok(backend_find("cpu", &err)), &backend_cpu);
    assert_refused(backend_find("abacus", &err), EXIT_CONFIG, "cpu");
    assert_refused(backend_cpu.start(&(BackendStart){.vectors = "avx1024"}, &err), EXIT_CONFIG,
                   "avx512");
    assert_true(vectors_start("auto"));
}
