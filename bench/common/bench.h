// What every bench shares: options, repeated and interleaved measurements, the limits of the
// machine, and the lines a bench ends with.
//
// Machines are shared and drift: what is compared is measured in turns, in the same run, and the
// ratio is that of the medians. A bench checks its result before it prints a time. Each figure is
// one line (name, value, limit or peer, ratio, bar, ok or short) and the bench ends with one line
// of JSON; --strict makes the exit status say whether every bar was reached.
//
// With it come the headers of C that most benches use. In a smoke run (bench/run.sh NAME --smoke,
// which sets FRINGE_SMOKE) there are no bars, and what has no option for its size asks bench_sized
// and bench_recipe.
#pragma once

#include "fringe/base.h"

enum { BENCH_FIGURES = 256 };

typedef struct Figure {
    char name[96]; // "aggregate 256, random graph, 2 threads"
    double value;
    const char *unit;
    char against[64]; // the limit or peer: "best hand-written (panels of 64)"; "" if there is none
    double limit;     // its value, in the same unit
    double ratio;     // what the bar is about; 0: none
    double bar;       // 0: none
    bool at_most;     // the ratio may not exceed the bar, instead of reaching it
} Figure;

// BENCH(name) { ... } is the program of a bench: what is between the braces measures, and then the
// line of JSON is printed, if there are figures.
#define BENCH(name)                                                                                \
    static void name##_measure(void);                                                          \
    int main(int argc, char **argv) {                                                              \
        bench_start(#name, argc, argv);                                                            \
        name##_measure();                                                                      \
        return bench_end();                                                                        \
    }                                                                                              \
    static void name##_measure(void)
void bench_start(const char *name, int argc, char **argv);
// Rank 0 prints the JSON line, if there are figures, and all remove the folder and leave their
// ranks; the exit status: 1 if --strict is given and a bar was missed, else 0.
int bench_end(void);

// "--name N" or "--name=N" among the arguments, else `otherwise`.
int64_t bench_option(const char *name, int64_t otherwise);
const char *bench_text(const char *name, const char *otherwise);
bool bench_flag(const char *name);
// The first argument, which is no option; without it the bench ends with the sentence `without`.
const char *bench_first(const char *without);
// Adds the arguments that are no options, settings KEY=VALUE, behind those that are there (NULL
// ends them) to an array of that many; returns how many there are then.
int bench_settings(const char **settings, int most);
// What printf would print; it stays until the bench has ended.
char *bench_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
// Makes a folder below TMPDIR (or /tmp); bench_end removes the last one.
const char *bench_folder(void);
// The ranks of a bench that is started on several, or one; bench_end lets them go.
const Comm *bench_ranks(void);
// Lends the call an empty `Error err`. The value of the call, or the end of the bench with the
// sentence of `err` where it is false or NULL.
#define need(call)                                                                                 \
    __extension__({                                                                                \
        Error err = {0};                                                                           \
        __auto_type answer = (call);                                                               \
        CHECK(answer, (ExitCode)err.code, "%s", err.text);                                         \
        answer;                                                                                    \
    })
// The config of such settings alone; the bench includes the header of configs.
#define BENCH_CONFIG(...)                                                                          \
    __extension__({                                                                                \
        const char *settings[] = {__VA_ARGS__};                                                    \
        Config configured;                                                                         \
        need(config_load(&configured, NULL, settings, sizeof settings / sizeof *settings, &err));  \
        configured;                                                                                \
    })
// Makes what dataset_generate calls so, a folder, if it is not there; rank 0 does (comm NULL: no
// other ranks).
void bench_dataset(const char *path, const char *recipe, const Comm *comm);
// A figure of /proc/self/status in bytes: "VmRSS:".
double bench_status(const char *key);
// Runs a program with the interpreter that PYTHON names, or python3, and reads the numbers that it
// prints; false unless there are so many.
bool bench_ask_python(double *number, int count, const char *program, ...)
    __attribute__((format(printf, 3, 4)));
uint64_t bench_mixed(uint64_t x); // splitmix64
// Says why the bench cannot run here, and ends it with 77.
_Noreturn void bench_skip(const char *name, const char *why);
int64_t bench_sized(int64_t full, int64_t smoke);
const char *bench_recipe(const char *full); // what dataset_generate is to make
// Prints the figure's line and keeps it for the JSON line.
void bench_figure(const Figure *figure);
// The same in few words, the name as printf has it. The bar is about value / limit, or, without a
// limit ("", 0), about the value.
void bench_value(double value, const char *unit, const char *name, ...)
    __attribute__((format(printf, 3, 4)));
void bench_at_least(double value, const char *unit, double bar, const char *against, double limit,
                    const char *name, ...) __attribute__((format(printf, 6, 7)));
void bench_at_most(double value, const char *unit, double bar, const char *against, double limit,
                   const char *name, ...) __attribute__((format(printf, 6, 7)));

double bench_median(double *value, int count); // sorts
// |a - b|^2; b NULL: |a|^2
double bench_square_distance(const float *a, const float *b, int64_t count);
// Rounds of all the cases in turn (one unmeasured round first): median[i] of case i's seconds.
typedef struct BenchCase {
    const char *name;
    void (*run)(void *context);
    void *context;
} BenchCase;
void bench_compare(const BenchCase *cases, int count, int rounds, double *median);

// Limits of this machine with that many threads, GB/s (medians of 5); tables are of `bytes` bytes.
typedef struct BenchLimits {
    double sequential_read, memory_copy, random_rows; // copy: read and write counted; rows of 1 KiB
} BenchLimits;
BenchLimits bench_limits(int threads, size_t bytes);
