// ranks: 1 4, once
// If this failed, fringe plan would foresee other memory or other messages for a cut that exists
// than the training on it takes.
#include "fringe/plan.h"
#include "fringe/trainer.h"
#include "small_graph.h"
#include "support.h"
#include "write_shards.h"

static const PlanMachine machine = {.ranks_per_host = 4,
                                    .cores = 2,
                                    .bandwidth = 1e9,
                                    .latency = 1e-5,
                                    .speed = {1e10, 1e10, 1e10, 1e10, 1e10, 1e10}};

static Config config_of(const char *mode, const char *more) {
    return CONFIGURED(test_text("mode=%s", mode), "model.layers=3", "model.hidden=[20]",
                      "run.threads=1", more);
}

// The shards of all parts, where every rank can read them.
static const char *write_shards(const TestGraph *graph) {
    const char *folder = test_path("shards");
    if (test_comm.rank == 0) {
        int64_t rows = graph->dataset.nodes + graph->dataset.hyperedges;
        int32_t *part = TEST_ARRAY(int32_t, rows);
        for (int64_t i = 0; i < rows; i++)
            part[i] = (int32_t)(i * i / 3 % test_comm.size);
        file_remove(folder, &(Error){0});
        assert_ok(test_write_shards(&graph->dataset, part, test_comm.size, true, folder, &err));
    }
    comm_barrier(&test_comm);
    return folder;
}

static void assert_same_plans(const MemoryForecast *found, const MemoryForecast *wanted) {
    assert_int_equal(found->count, wanted->count);
    for (int i = 0; i < wanted->count; i++) {
        assert_string_equal(found->item[i].what, wanted->item[i].what);
        assert_int_equal(found->item[i].bytes, wanted->item[i].bytes);
    }
}

// Rows are foreseen in the mean: 5 standard errors, and for bytes those of the longest rows with a
// header each.
static void compare_sampled(const PlanEstimate *estimate, const EpochRecord *record) {
    double error = 5 * sqrt(estimate->rows);
    assert_near((double)record->halo_rows, estimate->rows, error);
    assert_near((double)record->bytes, estimate->bytes, error * (20 * sizeof(float) + 64));
}

// The first one; where that is a refresh of gradients, which goes in full, the second.
static void usual_epoch(EpochRecord *record, Trainer *t, const Config *config) {
    for (int i = 0; i < 1 + (strcmp(config->gradients.memory, "anchor") == 0); i++)
        assert_ok(trainer_epoch(t, record, &err));
}

// The rank with the largest plan compares; trainer_new is collective.
static void compare(PlanCut *cut, const Config *config, const Shard *shard) {
    PlanEstimate *estimate = TEST_ARRAY(PlanEstimate, 1);
    OWNED(Trainer) *t = assert_ok(trainer_new(config, shard, &test_comm, 1, NULL, &err));
    EpochRecord record;
    usual_epoch(&record, t, config);
    assert_ok(plan_estimate(estimate, config, cut, &machine, &err));
    double mine = (double)forecast_total(trainer_forecast(t));
    double most = comm_max_double(&test_comm, mine), least = -comm_max_double(&test_comm, -mine);
    assert_int_equal((int64_t)most, (int64_t)forecast_total(&estimate->memory));
    assert_int_equal((int64_t)least, (int64_t)estimate->least);
    if (mine == most)
        assert_same_plans(&estimate->memory, trainer_forecast(t));
    if (config->comm.sample < 1)
        compare_sampled(estimate, &record);
    else if (strcmp(config->quantization.codec, "fp32") == 0)
        assert_int_equal((int64_t)estimate->bytes, record.bytes);
    if (strcmp(config->gradients.wire, "packed") == 0 &&
        strcmp(config->gradients.codec, "keys") != 0 &&
        strcmp(config->gradients.codec, "sketch") != 0)
        assert_int_equal((int64_t)estimate->reduce_bytes, record.reduce_bytes);
    assert_true((int64_t)estimate->reduce_bytes >= record.reduce_bytes);
}

// A schedule that leaves rows out leaves out no partial aggregates, so it is refused beside them.
static bool goes(const Config *config) {
    return strcmp(config->comm.schedule, "skip") != 0 ||
           strcmp(config->lossless.cover, "sources") == 0;
}

static void compare_modes(PlanCut *cut, const Shard *shard, const char *const *more, int count) {
    for (int m = 0; m < mode_family.count; m++)
        for (int i = 0; i < count; i++) {
            Config config = config_of(family_word(&mode_family, m), more[i]);
            if (goes(&config))
                compare(cut, &config, shard);
        }
}

static void compare_one_mode(PlanCut *cut, const Shard *shard, const char *const *more, int count) {
    for (int i = 0; i < count; i++) {
        Config config = config_of("overlap", more[i]);
        compare(cut, &config, shard);
    }
}

typedef void CompareSome(PlanCut *cut, const Shard *shard, const char *const *more, int count);

static void compare_all(TestGraphKind kind, CompareSome *some, const char *const *more, int count) {
    Shard shard;
    PlanCut cut;
    OWNED(TestGraph) graph = test_graph(kind, 8, &test_comm);
    const char *folder = write_shards(&graph);
    assert_ok(shard_open(&shard, folder, test_comm.rank, &err));
    assert_ok(plan_cut_open(&cut, folder, test_comm.size, &err));
    some(&cut, &shard, more, count);
    plan_cut_clear(&cut);
    shard_clear(&shard);
    comm_barrier(&test_comm);
}

TEST(graphs_take_what_was_foreseen) {
    static const char *const more[] = {"model.layer=gcn", "model.layer=sage-mean",
                                       "model.layer=gin", "model.input_dropout=0.3",
                                       "lossless.cover=min"};
    for (int directed = 0; directed < 2; directed++)
        for (int weighted = 0; weighted < 2; weighted++)
            compare_all((TestGraphKind){.nodes = 150,
                                        .degree = 6,
                                        .directed = directed,
                                        .weighted = weighted,
                                        .features = 19,
                                        .classes = 4},
                        compare_modes, more, FAMILY_COUNT(more));
}

TEST(hypergraphs_take_what_was_foreseen) {
    static const char *const more[] = {"model.layer=hgnn", "model.layer=hnhn"};
    for (int directed = 0; directed < 2; directed++)
        compare_all((TestGraphKind){.nodes = 120,
                                    .degree = 5,
                                    .directed = directed,
                                    .hyperedges = 60,
                                    .features = 9,
                                    .classes = 3},
                    compare_modes, more, FAMILY_COUNT(more));
}

// At most what was foreseen where codes vary in length.
TEST(coded_gradients_take_what_was_foreseen) {
    static char setting[CHOICES_MOST][64];
    const char *more[CHOICES_MOST];
    for (int i = 0; i < gradient_method_family.count; i++) {
        snprintf(setting[i], sizeof setting[i], "gradients.method=%s",
                 test_word(family_word(&gradient_method_family, i)));
        more[i] = setting[i];
    }
    compare_all((TestGraphKind){.nodes = 150, .degree = 6, .features = 19, .classes = 4},
                compare_one_mode, more, gradient_method_family.count);
}
