// What the files of the module program share.
#pragma once

#include "fringe/operator.h"
#include "fringe/program.h"

// ---- components.c: the components of the graph, which every report names

typedef struct Components {
    int64_t *component; // [own nodes] owned: the smallest node id of the node's component
    uint8_t *covered;   // [own nodes] owned: the node has an edge, or a hyperedge
    int64_t count;      // components of covered nodes
    int64_t nodes;      // covered, of all ranks
    int64_t largest;    // nodes of the largest component
    int64_t rounds;
    double seconds; // of all rounds
    int64_t bytes;  // sent by this rank in them
} Components;

// ---- a program

typedef struct ProgramRun {
    const ProgramParts *parts;
    const Components *components;
    int64_t iterations;  // of the result
    double seconds;      // of its iterations
    int64_t bytes;       // sent by this rank in them
    double aggregates;   // of the seconds, with their messages; 0: not known
    double eigenproblem; // of the seconds, which rank 0 needs for a small one
    ProgramResult *result;
    Error *err;
} ProgramRun;

// The memory of a program in the making (plan.c).
typedef struct ProgramPlan {
    const ProgramParts *parts;
    MemoryForecast *most; // of all phases so far
    MemoryForecast phase; // that is planned
    Allocator allocator;  // plans in `phase`
} ProgramPlan;

// Programs are a table (program.c); random_walk.c is the one to copy.
typedef struct Program {
    const char *name, *also; // `also`: a shorter word for it; NULL: none
    const char *keys;        // that it reads of section `program`, separated by blanks
    const char *start;       // what an empty program.start stands for; NULL: it has none
    bool labels;             // it needs labels, wherever it starts
    bool several;            // nodes may have several labels
    bool undirected;         // directed edges are refused
    bool ignores_zeros;      // edges and hyperedges of weight 0 do not join components
    int64_t iterations;      // the default of the key
    // Adds to plan->phase what is there at once beside the components, before anything is.
    // Collective.
    void (*plan)(ProgramPlan *plan);
    int64_t (*row_bytes)(const ProgramParts *parts); // of a node, in all arrays of the result
    void (*run)(ProgramRun *run);                    // sets *err. Collective.
} Program;
extern const Program program_components, program_random_walk, program_label_propagation,
    program_harmonic, program_spectral;

// ignore_zeros: edges and hyperedges of weight 0 join nothing. Collective.
void components_find(Components *components, const ProgramParts *parts, bool ignore_zeros);
void components_clear(Components *components);
// reached[i] (own nodes): the component of node i has a training node. The caller frees it.
// Collective.
uint8_t *components_reached(const Components *components, const ProgramParts *parts);

// Adds a figure, or an array, which it takes over.
void program_figure(ProgramRun *run, const char *name, double value);
void program_count(ProgramRun *run, const char *name, int64_t value);
void program_array(ProgramRun *run, ProgramArray array);
// After an iteration: tells its number and a figure of it. False if the run is stopped, on all
// ranks alike. Collective.
bool program_goes_on(ProgramRun *run, int64_t iteration, const char *what, double value);
const char *program_start(const ProgramParts *parts, const Program *program); // "": none
int64_t program_iterations(const ProgramRun *run, const Program *program);    // at most
// A number summed over the ranks. Collective.
int64_t program_sum(const ProgramParts *parts, int64_t value);
// The numbers of all ranks on every rank, [*total]; the caller frees them. Collective.
int64_t *program_gather(const ProgramParts *parts, const int64_t *own, int64_t count,
                        int64_t *total);

static inline const RowSet *nodes_of(const ProgramParts *parts) {
    return &parts->shard->set[NODES];
}

const Program *program_find(const char *name, Error *err); // NULL with EXIT_USAGE
// False with EXIT_DATA, on all ranks.
bool program_suits(const Program *program, const ProgramParts *parts, Error *err);

// ---- plan.c: what is planned of a phase

void plan_phase(ProgramPlan *plan, const MemoryForecast *phase); // as one that has ended
// Patterns of all stages; the phase of their making ends. Collective.
void plan_patterns(ProgramPlan *plan, const Cover cover[SHARD_SETS]);
void plan_node_operator(ProgramPlan *plan, int64_t columns); // collective
void plan_gather(ProgramPlan *plan, int64_t row_bytes);      // rows of all nodes on rank 0

// ---- topology.c: who reads whom, without kernels

// The Pattern of a stage: all rows, covered as `cover` says of the set that it leads to.
PatternKind kind_of_stage(const ProgramParts *parts, int stage, const Cover cover[SHARD_SETS]);
static const Cover cover_of_sources[SHARD_SETS] = {COVER_SOURCES, COVER_SOURCES};
// Patterns of all rows whose halo rows are those of sources: stage 0 of a graph; of a hypergraph
// stage 0 leads to hyperedges, and stage 1 back.
typedef struct Topology {
    int stages;
    Pattern *pattern[SHARD_SETS];
} Topology;
void topology_init(Topology *topology, const ProgramParts *parts); // collective
void topology_clear(Topology *topology);
int64_t topology_sent(const Topology *topology); // rows that this rank sends in all stages
// One element of `bytes` of each own source to its readers: received [H]. Collective.
void topology_tell(const HaloPlan *plan, const void *own, void *received, size_t bytes);
// The most that a row reads on this rank, in any stage.
int64_t longest_row(Pattern *const *pattern, int stages);

// ---- nodes.c: a linear operator from nodes to nodes

typedef struct NodeOperator {
    const ProgramParts *parts;
    int stages;
    Pattern *pattern[SHARD_SETS];
    Block block[SHARD_SETS];
    const DeviceFloat *left[SHARD_SETS], *right[SHARD_SETS];
    Operators operators;
    ExchangeBuffers *buffers;
    Propagation over[SHARD_SETS];
    Rows between; // [own hyperedges, columns]
    Taken *taken; // owned: its blocks, and those of the program that it is of
    OperatorRun how;
    double seconds; // that it took so far, where operations run during their call
} NodeOperator;
CodecOptions options_of_rows(const ProgramParts *parts, Error *err); // of their messages
// With the diagonals of a normalisation (halo.h) of that name, for rows of `columns`. False with
// the error of the data, on all ranks; clear it also then. Collective.
bool node_operator_init(NodeOperator *op, const ProgramParts *parts, const char *normalisation,
                        int64_t columns, Error *err);
void node_operator_clear(NodeOperator *op);
// out = the operator on `in`, both [own nodes, columns]. Collective.
void node_operator_apply(NodeOperator *op, Rows out, Rows in);
// Adds what the operator has cost to that of the run.
void node_operator_report(ProgramRun *run, const NodeOperator *op);

// ---- ids.c: nodes by their ids, where these are not 0 to n - 1 (snapshots of streams)

// Adds ids.npy to the result, before all other arrays, where there are such ids. Sets *err.
// Collective.
void ids_report(ProgramRun *run);
size_t ids_bytes(const ProgramParts *parts); // of these on rank 0
// own[i] (own nodes) = 1 where program.start, a .npy of ids, names the node, else 0. False with an
// error on all ranks. Collective.
bool ids_mark(const ProgramRun *run, float *own);

// ---- scores.c: classes by scores

// Figures of the nodes whose class the start did not know: how many have one, and the right one.
void report_reached(ProgramRun *run, int64_t asked, int64_t reached, int64_t right);
// Adds the scores [own nodes, classes] as scores.npy and, where nodes have one label each, the
// accuracy of the class with the largest score (the first of equals) over the nodes that are
// `reached` ([own nodes]; NULL: those with a score that is not 0). Collective.
void scores_report(ProgramRun *run, Rows scores, const uint8_t *reached);
