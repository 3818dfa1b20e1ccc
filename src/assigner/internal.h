// Shared by the files of the assigner. A ChannelAssignment is one channel with the data for its
// assignment. Lists of rows and groups are in ring order (invariant 4) on each rank, and in rank
// order on rank 0.
#pragma once

#include "fringe/assigner.h"
#include "fringe/bitwidth.h"

typedef struct SolverRun { // a process of fringe-solver for one problem (solver.c)
    pid_t pid;             // 0: none
    FILE *solution;
    double deadline; // clock_seconds()
} SolverRun;

typedef struct ChannelAssignment {
    AssignedChannel of;
    const HaloPlan *plan;
    char name[EXCHANGE_NAME];
    bool asked;         // it takes part in the pending assignment: it is not in full precision
    int64_t rows;       // of the send list
    float *coefficient; // [rows] c_k
    int32_t *order;     // [rows] entries of the send list, by beta inside each ring round
    int64_t *begin;     // [size] first group of each ring round
    uint8_t *choice;    // [begin[size - 1]] of this rank's groups
    uint8_t *next;      // [rows] widths to be applied
    double transfer, covered; // channel_seconds() when the last assignment was applied
    int64_t exchanges;        // since then
    double hidden;            // covered seconds of an exchange at the last request
    // rank 0 only
    int64_t *sent;      // [size, size - 1] rows that each rank sends in each round
    int64_t *start;     // [size, size - 1] first group of each rank and round, by rank; + 1
    int64_t *piece;     // [size + 1] first group of each rank
    int64_t *row_piece; // [size + 1] first row of each rank
    Taken *taken;       // owned: the lists above
    int64_t *place;     // [problem.groups] index of each group of the problem in rank order
    Problem problem;
    Solution solution;
    SolverRun solver;
} ChannelAssignment;

typedef enum Pending { NOTHING_PENDING, SOLUTION_PENDING, WIDTHS_DECIDED } Pending;

struct Assigner {
    const Config *config; // borrowed
    const Comm *comm;     // borrowed
    const struct Rule *rule;
    uint64_t seed;
    int64_t group_size;
    int channels;
    ChannelAssignment assigned[ASSIGNED_CHANNELS];
    Pending pending;
    int64_t requested, applied; // epochs of the last assignment
    Assignment assignment;
    double *theta, *gamma;                  // rank 0: [size, size - 1] by source and ring round
    const Replay *replay;                   // borrowed; of the rule replay:RUN
    double direct_noise[ASSIGNED_CHANNELS]; // of the rows themselves, in this period (memories.c)
};

// A rule chooses the width of each row. Rules are a table (rules.c); uniform is the smallest member
// and the one to copy. All functions are collective.
typedef struct Rule {
    const char *name;
    bool at_once;  // applied when requested; else quantization.delay epochs later
    bool periodic; // requested every quantization.period epochs
    bool (*due)(const Assigner *assigner, int64_t epoch);
    bool (*request)(Assigner *assigner, Error *err); // before epoch assigner->requested
    // Fills ChannelAssignment.next and the parts of the report.
    bool (*decide)(Assigner *assigner, Error *err);
} Rule;
const Rule *rule_find(const char *word, Error *err);
bool adaptive_request(Assigner *assigner, Error *err); // adaptive.c
bool adaptive_decide(Assigner *assigner, Error *err);

// ---- assigner.c
// Decides a pending assignment now. Collective.
bool assigner_decide(Assigner *assigner, Error *err);
// Sets the widths of the channel to ChannelAssignment.next. Collective.
void assigned_apply(ChannelAssignment *assigned);

// ---- adaptive.c
// Seconds of an exchange that computation on own rows covers on every rank: the mean since the last
// assignment was applied, or the value before it if there was no exchange yet; 0 unless
// quantization.time is hidden. Collective.
double assigned_hidden(const Assigner *assigner, ChannelAssignment *assigned);
// Starts fringe-solver if quantization.solver is glpk and the solution is not proven optimal. Rank
// 0.
void assigned_start_solver(Assigner *assigner, ChannelAssignment *assigned);

// ---- memories.c: quantization.memory=auto
bool memories_are_chosen(const Assigner *assigner);
void memories_init(Assigner *assigner);
// Around an epoch, on all ranks alike: says which exchanges send rows or differences. Collective.
void memories_before(Assigner *assigner, int64_t epoch);
void memories_after(Assigner *assigner, int64_t epoch);

// ---- groups.c
void groups_init(ChannelAssignment *assigned, const Comm *comm, int64_t group_size);
void groups_coefficients(ChannelAssignment *assigned, bool safe);
// Sorts the send list by beta and gathers (beta, rows) of all groups on rank 0, in rank order.
// Restarts the tracing of ranges.
void groups_gather(ChannelAssignment *assigned, const Comm *comm, int64_t group_size, Group *group);
// Sends the choices of rank 0 (indices into width) to ChannelAssignment.next on all ranks.
void groups_spread(ChannelAssignment *assigned, const Comm *comm, int64_t group_size,
                   const uint8_t *choice, const int *width);

// ---- link.c
typedef struct PairTime { // of an ordered pair of ranks
    double theta, gamma;
    double bytes; // of the longer message that was timed
} PairTime;
typedef double RoundTimer(Channel *channel, int round, int64_t sent, int64_t received);
// The shortest of a few times of a ring round in which messages have that many bits a value, but at
// most `most` bytes. *bytes: what this rank receives. Collective.
double link_time_round(RoundTimer *time, Channel *channel, int round, int bits, int64_t most,
                       int64_t *bytes);
// Fits a line through the seconds of a small and of a large message. It goes through the large one;
// theta > 0 and gamma >= 0 for any times (ALGORITHMS A.6).
PairTime link_fit(double small, int64_t small_bytes, double large, int64_t large_bytes);
// Gives pairs whose timed messages were too small the median of the others.
void link_fill_in(PairTime *all, int64_t pairs);
// Copies the times of all pairs, ordered by receiver and ring round (in round g rank r receives
// from r - 1 - g), to theta and gamma, which are ordered by source.
void link_keep(Assigner *assigner, const PairTime *all);
void link_measure(Assigner *assigner); // fills theta, gamma and the report's link model

// ---- solver.c
bool solver_start(SolverRun *run, const Problem *problem, const uint8_t *incumbent, double limit);
// Waits for the solver's solution. If the solver did not help, keeps `solution` and writes the
// reason to `warning`; also warns if GLPK ended too early, whatever it found.
void solver_finish(SolverRun *run, const Problem *problem, Solution *solution, const Comm *comm,
                   char warning[256]);
void solver_stop(SolverRun *run);

// ---- lists.c: per-row lists of all ranks, on rank 0 in rank order. Collective.
// The number of rows that all ranks send; 0 on other ranks than rank 0. Local.
int64_t assigned_messages(const ChannelAssignment *assigned, const Comm *comm);
// Checks that every width of the tensor is one that the codec has. Local.
bool widths_check(const Tensor *tensor, const char *path, Error *err);
// Gather one piece from each rank on rank 0, in rank order, and scatter it; offset [size + 1] in
// elements, rank 0.
void list_gather(const Comm *comm, const void *mine, int64_t count, void *all,
                 const int64_t *offset, size_t bytes);
void list_scatter(const Comm *comm, const void *all, const int64_t *offset, void *mine,
                  int64_t count, size_t bytes);
