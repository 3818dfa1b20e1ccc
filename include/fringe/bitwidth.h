// bitwidth: chooses the bit width of each row of an exchange, for one layer and direction at a time
// (ALGORITHMS A.6, A.7). It is a pure solver: it uses no MPI and no GLPK. The assigner calls it,
// and fringe-solver links it.
//
// Rows that travel from one rank to another are cut into groups; a group's rows share a bit width.
// Choosing b bits for group g adds beta_g / (2^b - 1)^2 to the variance V and rows_g * row_bytes(b)
// bytes to its link. The links of a round transfer at once, the rounds one after the other:
//
//   time of link c    t_c = gamma_c + sum over its groups of theta_g * bytes_g
//   time of round r   Z_r = max over its links of t_c,      T = sum over rounds of Z_r
//   objective         lambda (V - V_ut) / (V_nad - V_ut)
//                     + (1 - lambda) (T' - T_ut) / (T_nad - T_ut)
//
// T' is T, or max(T, hidden) where time that computation covers costs nothing (`hidden` > 0). V_ut
// and T_nad are the values with the largest width for all groups, V_nad and T_ut those with the
// smallest; T_ut and T_nad are values of T'. A term whose two normalizers are equal is dropped.
// Among choices of equal objective the one with less V is better.
#pragma once

#include "fringe/base.h"

enum { PROBLEM_WIDTHS = 8 };

typedef struct Group {
    double beta;  // [0, 1e100]: sum of the sensitivities of its rows
    double theta; // [1e-60, 1e60]: seconds per byte of the link its rows take
    int64_t rows; // > 0
} Group;

typedef struct Link {   // groups sent in sequence: one ordered pair of ranks, or one sender
    int source, target; // ranks; target -1: everything that source sends
    double gamma;       // >= 0: seconds at any width (latency, parameters of rows)
    int64_t begin, end; // its groups in Problem.group, after those of the previous link; by beta
                        // descending among neighbours of the same theta
} Link;

typedef struct Problem {
    int layer, direction;
    int widths;                        // >= 1
    int bits[PROBLEM_WIDTHS];          // bit widths, ascending
    int64_t row_bytes[PROBLEM_WIDTHS]; // of one row at that width, never descending
    double lambda;                     // [0, 1]: weight of the variance
    double hidden;                     // seconds that computation covers; 0: none
    int rounds;
    int *round_begin; // [rounds + 1] links of a round; owned
    int links;
    Link *link; // [links] owned
    int64_t groups;
    Group *group; // [groups] owned
} Problem;

// Allocates the arrays, zeroed. problem_clear frees them.
void problem_init(Problem *problem, int rounds, int links, int64_t groups);
void problem_clear(Problem *problem);
// False with EXIT_DATA and a sentence if the problem violates a comment of the struct above.
bool problem_check(const Problem *problem, Error *err);

// A choice is [groups] indices into Problem.bits.
typedef struct Value {
    double objective;
    double variance; // V
    double seconds;  // T, predicted
} Value;
Value problem_value(const Problem *problem, const uint8_t *choice);
// What V and T consist of: 1 / (2^b - 1)^2 of a width of b bits, t_c of a link, Z_r of a round.
double width_variance(int bits);
double link_seconds(const Problem *problem, const Link *link, const uint8_t *choice);
double round_seconds(const Problem *problem, int round, const uint8_t *choice);
typedef struct Normalizers { // utopia (best) and nadir (worst) of both terms
    double v_ut, v_nad, t_ut, t_nad;
} Normalizers;
Normalizers problem_normalizers(const Problem *problem);
typedef struct Weights { // cost of a unit of V and of a second in the objective; 0: dropped term
    double variance, seconds;
} Weights;
Weights problem_weights(const Problem *problem, Normalizers *normalizers); // and fills those
// True if the objective of `found` is smaller than that of `there` by more than rounding errors.
bool value_gains(const Value *found, const Value *there);
// The same width for all groups: index into Problem.bits.
void problem_uniform(const Problem *problem, int width, uint8_t *choice);

typedef struct Solution {
    char by[16];     // what found it: "exact" (proven), "fronts", "prices", "uniform", "glpk"
    uint8_t *choice; // [groups] owned
    Value value;
    double bound;   // no choice has a smaller objective
    double seconds; // duration of the search
    int trouble;    // how GLPK's process ended too early: a signal, or its exit code negated
} Solution;
void solution_init(Solution *solution, const Problem *problem);
void solution_clear(Solution *solution);

// Finds the best choice by Pareto fronts of links and a sweep over the times of a round (A.7). It
// is at least as good as every uniform choice. It is exact, and the bound equals the objective (up
// to 1e-10 of a link's time where thetas differ inside it), with two exceptions: a link's front has
// more points than are kept ("fronts"), or hidden time couples the rounds ("prices"). Then
// objective - bound limits the distance from the optimum. Local.
void problem_solve(const Problem *problem, Solution *solution);
// True if searching one round after the other may find a better choice than problem_solve. False if
// only one term counts or time is hidden.
bool problem_is_open(const Problem *problem);
// True if such a search may find a better choice than this solution of problem_solve. False also if
// its bound proves that it is optimal.
bool solution_is_open(const Solution *solution, const Problem *problem);
// A lower bound of the objective from the LP relaxation's duals (A.7). Local.
double problem_bound(const Problem *problem);

// ---- the bytes that fringe-solver reads and writes, in a file that one can seek in. Readers check
// everything and trust no count.
bool problem_write(const Problem *problem, const uint8_t *incumbent, FILE *file);
bool problem_read(Problem *problem, uint8_t **incumbent, FILE *file, Error *err);
bool solution_write(const Solution *solution, const Problem *problem, FILE *file);
// Reads what a solver wrote for `problem` and computes its value again; false with a sentence
// if it is not a valid solution.
bool solution_read(Solution *solution, const Problem *problem, FILE *file, Error *err);
