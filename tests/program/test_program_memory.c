// ranks: 1 3; also on fenced
// If this failed, a program would be refused that fits, or be killed for memory that its plan does
// not have.
#include "programs.h"

static const TestGraphKind kinds[] = {
    {.nodes = 1500, .degree = 6, .weighted = true, .features = 2, .classes = 11},
    {.nodes = 1500,
     .hyperedges = 1100,
     .degree = 5,
     .weighted = true,
     .features = 2,
     .classes = 11},
};
static const char *const programs[] = {"components", "random-walk", "harmonic", "label-propagation",
                                       "spectral"};

// As `fringe program` does: rank 0 holds the rows of all ranks, one array after the other.
static void gather(const TestGraph *graph, const ProgramResult *result) {
    void *all[PROGRAM_ARRAYS] = {0};
    for (int i = 0; i < result->arrays; i++) {
        const ProgramArray *array = &result->array[i];
        size_t bytes = array->item * (size_t)(array->columns > 0 ? array->columns : 1);
        if (array->rows == 0)
            all[i] = shard_gather(&graph->shard, &test_comm, array->data, bytes);
    }
    for (int i = 0; i < result->arrays; i++)
        memory_free(all[i]);
}

// The most that a run takes, with the rows that rank 0 gathers then.
static double used_by(const TestGraph *graph, const Config *config, const char *program) {
    ProgramResult result = {0};
    void *filler = memory_alloc(memory_peak() - memory_in_use(), "test"); // in use is the peak
    size_t before = memory_peak();
    assert_ok(run_on(graph, config, program, &result, &err) == EXIT_OK);
    gather(graph, &result);
    size_t most = memory_peak() - before;
    memory_free(filler);
    program_result_clear(&result);
    return (double)most;
}

static double planned_for(const TestGraph *graph, const Config *config, const char *program) {
    MemoryForecast forecast = {0};
    ProgramParts parts = {
        .config = config, .shard = &graph->shard, .comm = &test_comm, .backend = device()};
    assert_ok(program_forecast(&forecast, program, &parts, &err));
    return (double)(forecast_total(&forecast) + forecast_device_total(&forecast));
}

// Within what is asked of a training: small items are not planned. Of several ranks the Patterns
// are bounded, with the gaps that the heap may have beside them.
TEST(the_plan_is_what_is_used) {
    double most = test_comm.size == 1 ? 1.1 : 1.4;
    Config config = CONFIGURED();
    config.program.blocks = 12;
    config.program.pairs = 20;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        OWNED(TestGraph) graph = test_graph(kinds[k], 42, &test_comm);
        for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
            double planned = planned_for(&graph, &config, programs[i]),
                   used = used_by(&graph, &config, programs[i]);
            if (planned < 0.95 * used - 20e3 || planned > most * used + 20e3)
                fail_msg("%s: planned %.0f bytes, used %.0f", programs[i], planned, used);
        }
    }
}
