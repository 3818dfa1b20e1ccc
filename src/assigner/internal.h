// What the files of the assigner share. A ChannelAssignment is one channel and what its assignment
// needs; lists of rows and groups are in the order of the ring (law 4) on each rank, and by rank on
// rank 0.
#ifndef FRINGE_SRC_ASSIGNER_INTERNAL_H
#define FRINGE_SRC_ASSIGNER_INTERNAL_H

#include "fringe/assigner.h"
#include "fringe/bitwidth.h"

#include <sys/types.h>

typedef struct SolverRun { // fringe-solver on one problem (solver.c)
    pid_t pid;             // 0: none
    FILE *solution;
    double deadline; // clock_seconds()
} SolverRun;

typedef struct ChannelAssignment {
    AssignedChannel of;
    const HaloPlan *plan;
    char name[EXCHANGE_NAME];
    int64_t rows;             // of the send list
    float *coefficient;       // [rows] c_k
    int32_t *order;           // [rows] places in the send list, by beta inside each ring round
    int64_t *begin;           // [size] first group of each ring round
    uint8_t *choice;          // [begin[size - 1]] of this rank's groups
    uint8_t *next;            // [rows] widths to be taken
    double transfer, covered; // channel_seconds() when counting started
    int64_t exchanges;        // since then
    double hidden;            // seconds of an exchange that computation covered when last asked
    // rank 0 only
    int64_t *sent;      // [size, size - 1] rows that each rank sends in each round
    int64_t *start;     // [size, size - 1] first group of each rank and round, by rank; + 1
    int64_t *piece;     // [size + 1] the same of whole ranks
    int64_t *row_piece; // [size + 1] rows of whole ranks
    int64_t *place;     // [problem.groups] which of the groups by rank each of the problem's is
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
    double *theta, *gamma;    // rank 0: [size, size - 1] by source and ring round
    int64_t replays, *replay; // taken epochs of the run that is replayed, ascending
};

// Rules say which row gets which width: a table (rules.c); uniform is the smallest member and the
// one to copy. All collective.
typedef struct Rule {
    const char *name;
    bool at_once;  // taken when asked; else quantization.delay later
    bool periodic; // asked every quantization.period epochs
    bool (*check)(const Config *config, Error *err); // the files that it needs; NULL: none
    bool (*open)(Assigner *assigner, Error *err);    // them; NULL: none
    bool (*due)(const Assigner *assigner, int64_t epoch);
    bool (*ask)(Assigner *assigner, Error *err); // before epoch assigner->requested
    bool (*decide)(Assigner *assigner,
                   Error *err); // fills ChannelAssignment.next and the parts of the report
} Rule;
const Rule *rule_find(const char *word, Error *err);
bool adaptive_ask(Assigner *assigner, Error *err); // adaptive.c
bool adaptive_decide(Assigner *assigner, Error *err);
bool replay_open(Assigner *assigner, Error *err); // replay.c
bool replay_check(const Config *config, Error *err);
bool replay_due(const Assigner *assigner, int64_t epoch);
bool replay_decide(Assigner *assigner, Error *err);

// ---- assigner.c
bool assigner_decide(Assigner *assigner, Error *err); // what is asked, at once. Collective.
void assigned_apply(
    ChannelAssignment *assigned); // ChannelAssignment.next comes into use. Collective.

// ---- adaptive.c
// Seconds of an exchange that the own part covers on every rank, since the last assignment, or
// before it where none has been yet; 0 unless quantization.time is hidden. Collective.
double assigned_hidden(const Assigner *assigner, ChannelAssignment *assigned);
// Starts fringe-solver where quantization.solver asks for it and the assigned's solution is not
// proven the best. Rank 0.
void assigned_ask_solver(Assigner *assigner, ChannelAssignment *assigned);

// ---- groups.c
void groups_init(ChannelAssignment *assigned, const Comm *comm, int64_t group_size);
void groups_coefficients(ChannelAssignment *assigned, bool safe);
// Sorts the send list by beta; rank 0 gets (beta, rows) of all groups, by rank. Restarts tracing.
void groups_gather(ChannelAssignment *assigned, const Comm *comm, int64_t group_size, Group *group);
// Choices of rank 0 (indices into width) to ChannelAssignment.next on all ranks.
void groups_spread(ChannelAssignment *assigned, const Comm *comm, int64_t group_size,
                   const uint8_t *choice, const int *width);

void groups_clear(ChannelAssignment *assigned);

// ---- link.c
typedef struct PairTime { // of an ordered pair of ranks
    double theta, gamma;
    double bytes; // of the longer message that was timed
} PairTime;
// The line through the seconds of a small and a large message, of at least as many bytes. It meets
// the large one; theta is above 0 and gamma not below, whatever the times are (ALGORITHMS A.6).
PairTime link_fit(double small, int64_t small_bytes, double large, int64_t large_bytes);
// Pairs of which too little was timed become ordinary ones: the median of the others.
void link_fill_in(PairTime *all, int64_t pairs);
// Times of all pairs, by receiver and ring round (in round g rank r receives from r - 1 - g), to
// theta and gamma, which are by source.
void link_keep(Assigner *assigner, const PairTime *all);
void link_measure(Assigner *assigner); // fills theta, gamma and the report's link model

// ---- solver.c
bool solver_start(SolverRun *run, const Problem *problem, const uint8_t *incumbent, double limit);
// Waits for the solution; keeps `solution` as it is where the solver was no help, and says why.
// That GLPK ended before its time is said, too, whatever it had found.
void solver_finish(SolverRun *run, const Problem *problem, Solution *solution, const Comm *comm,
                   char warning[256]);
void solver_stop(SolverRun *run);

// ---- state.c: what all ranks hold per message, on rank 0 by rank. Collective.
int64_t assigned_messages(const ChannelAssignment *assigned,
                          const Comm *comm); // of all ranks; 0 but on rank 0
void assigned_gather_rows(const ChannelAssignment *assigned, const Comm *comm, const void *mine,
                          void *all, size_t bytes);
void assigned_scatter_rows(const ChannelAssignment *assigned, const Comm *comm, const void *all,
                           void *mine, size_t bytes);
bool widths_check(const Tensor *tensor, const char *path, Error *err); // all known. Local.

// ---- lists.c. Collective.
// One piece from each rank to rank 0, by rank, and back; offset [size + 1] in elements, rank 0.
void list_gather(const Comm *comm, const void *mine, int64_t count, void *all,
                 const int64_t *offset, size_t bytes);
void list_scatter(const Comm *comm, const void *all, const int64_t *offset, void *mine,
                  int64_t count, size_t bytes);

#endif
