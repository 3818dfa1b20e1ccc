// A program on the graph of a test, and what it told.
#pragma once

#include "../device.h"
#include "../oracle.h"
#include "../small_graph.h"
#include "../support.h"
#include "fringe/program.h"

// *result is cleared before. Collective.
static inline ExitCode run_on(const TestGraph *graph, const Config *config, const char *program,
                              ProgramResult *result, Error *err) {
    ProgramParts parts = {
        .config = config, .shard = &graph->shard, .comm = &test_comm, .backend = device()};
    program_result_clear(result);
    program_run(program, &parts, result, err);
    return (ExitCode)err->code;
}

static inline double figure_of(const ProgramResult *result, const char *name) {
    for (int i = 0; i < result->figures; i++)
        if (strcmp(result->figure[i].name, name) == 0)
            return result->figure[i].value;
    fail_msg("no figure %s", name);
    return 0;
}
