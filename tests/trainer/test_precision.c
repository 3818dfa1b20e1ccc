// ranks: 1 2 3
// If this failed, run.precision=auto would take what is not the fastest of what the user allows, or
// call an error what is none; ranks would take different precisions; or a bound that nothing meets
// would train anyway.
#include "fixture.h"

static PrecisionChoice measured(double fp32, double fp32_error, double bf16, double bf16_error) {
    return (PrecisionChoice){
        .measured = true, .seconds = {fp32, bf16, -1}, .error = {fp32_error, bf16_error}};
}

static void takes(PrecisionChoice choice, double bound, const char *word) {
    assert_ok(precision_take(&choice, bound, &err));
    assert_string_equal(choice.taken, word);
    assert_near(choice.bound, bound, 0);
}

TEST(the_fastest_that_the_bound_allows) {
    takes(measured(2, 1e-7, 1, 3e-3), 0.01, "bf16");
    takes(measured(2, 1e-7, 1, 3e-3), 3e-3, "bf16"); // the bound itself is allowed
    takes(measured(2, 1e-7, 1, 3e-3), 2.9e-3, "fp32");
    takes(measured(1, 1e-7, 2, 3e-3), 0.01, "fp32"); // slower
    takes(measured(1, 1e-7, 1, 3e-3), 0.01, "fp32"); // no faster
    takes(measured(1, 1e-7, -1, 0), 0.01, "fp32");   // the backend has none
    takes(measured(2, 1e-7, 1, INFINITY), 1, "fp32");
    takes(measured(0, 0, 0, 0), 0, "fp32"); // no products at all
    PrecisionChoice all = {.seconds = {2, 1, 1.5}, .error = {1e-7, 3e-3, 1e-5}};
    takes(all, 0.01, "bf16");
    takes(all, 1e-4, "bf16x3");
    takes(all, 1e-6, "fp32");
}

TEST(a_bound_that_nothing_meets_is_a_sentence) {
    PrecisionChoice choice = measured(2, 1e-7, 1, 3e-3);
    assert_refused(precision_take(&choice, 1e-8, &err), EXIT_CONFIG,
                   "run.precision_error 1e-08: no precision is that exact: products of this model "
                   "have a relative error of 1e-07 in fp32, 0.003 in bf16; allow more");
    assert_string_equal(choice.taken, "");
    choice.seconds[PRECISION_BF16] = -1;
    assert_refused(precision_take(&choice, 1e-8, &err), EXIT_CONFIG, "1e-07 in fp32; allow");
}

static bool cpu_has(Precision precision) {
    BackendStart how = {.precision = precision_names[precision]};
    const Backend *cpu = backend_find("cpu", &(Error){0});
    bool starts = cpu->start(&how, &(Error){0});
    cpu->start(&(BackendStart){0}, &(Error){0});
    return starts;
}

static void measure(PrecisionChoice *choice, TestGraphKind kind, const char *layers) {
    config = CONFIGURED(layers, "model.hidden=[24]", "run.threads=1", "run.seed=5",
                        "run.precision=auto");
    use_graph(kind, 4);
    assert_ok(precision_measure(choice, &config, &graph.shard, &test_comm, &err));
    assert_true(choice->measured);
    assert_string_equal(choice->taken, "");
}

static void assert_same_on_all_ranks(const PrecisionChoice *choice) {
    PrecisionChoice *all = TEST_ARRAY(PrecisionChoice, test_comm.size);
    comm_all_gather(&test_comm, choice, all, sizeof *choice);
    for (int rank = 0; rank < test_comm.size; rank++)
        assert_memory_equal(&all[rank], choice, sizeof *choice);
}

static int last_part_empty(int64_t node, int parts) {
    return parts > 1 ? (int)(node % (parts - 1)) : 0;
}

TEST(all_ranks_have_the_slowest_and_the_largest_error) {
    PrecisionChoice choice;
    TestGraphKind kind = {.nodes = 90, .degree = 5, .features = 40, .classes = 3};
    measure(&choice, kind, "model.layers=3");
    assert_same_on_all_ranks(&choice);
    assert_true(choice.error[PRECISION_FP32] > 1e-9 && choice.error[PRECISION_FP32] < 1e-6);
    assert_true(choice.error[PRECISION_BF16] > 1e-3 && choice.error[PRECISION_BF16] < 1e-2);
    for (int type = 0; type < PRECISIONS; type++)
        assert_true(cpu_has(type) ? choice.seconds[type] > 0 && isfinite(choice.seconds[type])
                                  : choice.seconds[type] == -1);
    if (cpu_has(PRECISION_BF16X3))
        assert_true(choice.error[PRECISION_BF16X3] > 1e-7 && choice.error[PRECISION_BF16X3] < 3e-5);
    kind.cut = last_part_empty; // a rank without rows has nothing to say
    measure(&choice, kind, "model.layers=3");
    assert_same_on_all_ranks(&choice);
    assert_true(choice.error[PRECISION_BF16] > 1e-3 && choice.error[PRECISION_BF16] < 1e-2);
}

static double rounded(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// Of this rank's first 32 rows of features with the one matrix; logits stay fp32.
static double error_of_one_layer(void) {
    ModelShape *shape = TEST_ARRAY(ModelShape, 1);
    double wrong = 0, whole = 0;
    const Shard *s = &graph.shard;
    snprintf(config.run.precision, sizeof config.run.precision, "bf16");
    assert_ok(model_shape_of_shard(shape, &config, s, &err));
    float *all = TEST_ARRAY(float, shape->state_count);
    model_initial(shape, 5, all);
    const float *w = all + shape->parameter[0].begin;
    for (int64_t r = 0; r < s->set[NODES].own && r < 32; r++)
        for (int64_t c = 0; c < s->classes; c++) {
            double exact = 0, bf16 = 0;
            for (int64_t i = 0; i < s->features; i++) {
                float a = s->x[r * s->features + i], b = w[i * s->classes + c];
                exact += (double)a * (double)b;
                bf16 += rounded(a) * rounded(b);
            }
            wrong += (bf16 - exact) * (bf16 - exact);
            whole += exact * exact;
        }
    return whole > 0 ? sqrt(wrong / whole) : 0;
}

TEST(the_error_is_that_of_the_first_product) {
    PrecisionChoice choice;
    measure(&choice, (TestGraphKind){.nodes = 90, .degree = 5, .features = 40, .classes = 3},
            "model.layers=1");
    double want = comm_max_double(&test_comm, error_of_one_layer());
    assert_near(choice.error[PRECISION_BF16], want, 1e-3 * want);
}

TEST(sparse_features_multiply_in_fp32_anyway) {
    PrecisionChoice choice;
    TestGraphKind kind = {.nodes = 90, .degree = 5, .features = 40, .classes = 3, .sparse = true};
    measure(&choice, kind, "model.layers=1");
    for (int type = 0; type < PRECISIONS; type++)
        assert_true(choice.seconds[type] == (cpu_has(type) ? 0 : -1) && choice.error[type] == 0);
    measure(&choice, kind, "model.layers=2"); // the second layer's rows are dense
    assert_true(choice.seconds[PRECISION_BF16] > 0);
    assert_true(choice.error[PRECISION_BF16] > 1e-4 && choice.error[PRECISION_BF16] < 1e-2);
}
