// program: learning on Blocks without a network (the programs of the HyperX thesis;
// docs/programs.md). A program is a member of a table: random walks, label propagation and the
// like, over all ranks, on a graph or a hypergraph. What it makes are arrays in the order of the
// nodes, and figures.
#pragma once

#include "fringe/backend.h"
#include "fringe/base.h"
#include "fringe/config.h"
#include "fringe/partition.h"

typedef struct ProgramParts { // all borrowed
    const Config *config;
    const Shard *shard;
    const Comm *comm;
    const Backend *backend;
    bool (*stopped)(void); // asked on every rank between iterations; NULL: never
    // Told on rank 0 after each iteration; NULL: nobody listens.
    void (*progress)(int64_t iteration, const char *what, double value);
} ProgramParts;

// An array of the result: a row for each own node; or, where `rows` is not 0, so many rows on rank
// 0.
typedef struct ProgramArray {
    const char *file; // "scores.npy"; or "ids.npy", the ids of the nodes
    const char *type; // of npy_write: "<f4", "<f8", "<i8"
    size_t item;      // bytes
    int64_t columns;  // 0: the array has one dimension
    int64_t rows;
    void *data; // owned
} ProgramArray;

typedef struct ProgramFigure { // NaN: it does not apply
    char name[40];
    double value;
    bool whole; // a count
} ProgramFigure;

enum { PROGRAM_ARRAYS = 4, PROGRAM_FIGURES = 40 };
typedef struct ProgramResult {
    int arrays, figures; // the figures are the same on all ranks
    ProgramArray array[PROGRAM_ARRAYS];
    ProgramFigure figure[PROGRAM_FIGURES];
    char warning[256]; // "": none
} ProgramResult;

// Checks, without data, that there is such a program and that it reads the keys of section
// `program` that the user set. False with EXIT_USAGE or EXIT_CONFIG.
bool program_fits(const char *name, const Config *config, Error *err);
// What a run takes beside the shard, at most: the largest of its phases. False with an error that
// all ranks share: EXIT_DATA where the data do not suit the program. Collective.
bool program_forecast(MemoryForecast *forecast, const char *name, const ProgramParts *parts,
                      Error *err);
// Runs it. False with an error that all ranks share: EXIT_STOPPED when it was asked to stop, or as
// program_forecast. program_result_clear in any case. Collective.
bool program_run(const char *name, const ProgramParts *parts, ProgramResult *result, Error *err);
void program_result_clear(ProgramResult *result);
