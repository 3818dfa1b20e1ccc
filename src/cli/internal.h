// Inside the cli room: commands, their options, and the session that train, evaluate and predict
// begin with.
#pragma once

#include "fringe/base/event_log.h"
#include "fringe/base/terminal.h"
#include "fringe/checkpoint.h"
#include "fringe/report.h"
#include "fringe/runfolder.h"

#include <signal.h>

enum { CLI_ARGUMENTS = 256, CLI_SETTINGS = 64, CLI_SWEEPS = 8 };

// What a command needs on disk besides its config.
enum {
    NEEDS_DATA = 1,       // what data.* and partition.method name, and data.cache
    NEEDS_START = 2,      // model.weights, and the run that is replayed
    NEEDS_RUN = 4,        // a run.dir that can be created
    NEEDS_WEIGHTS = 8,    // of --weights, or of run.dir
    NEEDS_OUTPUT = 16,    // an --output that can be created
    NEEDS_TO_FINISH = 32, // an epoch or iteration, when it is asked to stop
    NEEDS_TRAINING = NEEDS_DATA | NEEDS_START | NEEDS_RUN | NEEDS_TO_FINISH
};

typedef struct Options { // the command line
    const char *argument[CLI_ARGUMENTS];
    int arguments;
    const char *setting[CLI_SETTINGS]; // --set
    int settings;
    int ranks;         // 0: not given
    const char *hosts; // --hosts; NULL: this machine
    bool oversubscribe;
    int runs;    // --runs
    bool resume; // --resume auto
    bool best, json, help, all_metrics, changed, verbose;
    const char *output;            // -o
    const char *weights;           // --weights
    int layer;                     // --layer; 0: not given
    int parts;                     // --parts; 0: not given
    int64_t seed;                  // --seed
    int64_t skip;                  // --skip
    const char *nodes;             // --nodes
    const char *data, *csv, *npz;  // of predict: --data, --csv, --npz
    const char *modes;             // --modes
    const char *sweep[CLI_SWEEPS]; // --sweep
    int sweeps;
    const char *older;                                     // --older
    const char *plan_ranks, *link, *cores, *compute, *svg; // of plan: --ranks, --link, ...
    int ranks_per_host;                                    // of plan; 0: not given
    const char *to;                                        // of convert
    const char *events;                                    // --events
    bool force, store;                                     // of convert: --force, --store
    bool all;                                              // --all
    int needs;                                             // of the command, or --files: NEEDS_...
    int *argc;                                             // of main, for MPI
    char ***argv;
} Options;

// The config is the last argument of a command that takes one.
static inline const char *config_named(const Options *options) {
    return options->arguments > 0 ? options->argument[options->arguments - 1] : NULL;
}

// Leaves a mistake to main, which prints it; a command with ranks ends its session itself.
typedef ExitCode CommandRun(const Options *options, Error *err);
typedef struct Command {
    const char *name;
    const char *arguments; // "CONFIG", for the usage line
    int least, most;       // least and largest number of arguments
    bool ranks;            // runs on MPI ranks
    int needs;             // NEEDS_...
    const char *options;   // letters of its options (options.c), besides --help
    const char *summary;   // one line
    const char *details;   // for its --help
    CommandRun *run;
} Command;

extern const Command commands[];
extern const int command_count;
const Command *command_find(const char *name, Error *err); // NULL: EXIT_USAGE

typedef struct Option {   // options.c
    char letter;          // how commands[].options names it
    const char *name;     // after --
    const char *argument; // NULL: none
    const char *help;
    // What becomes of its text: the bytes of the member of Options that it sets, and how.
    enum { OPTION_FLAG, OPTION_TEXT, OPTION_INT, OPTION_INT64, OPTION_KEY, OPTION_OTHER } kind;
    size_t at;
    int most;        // of an int, from 1
    const char *key; // that it sets as --set KEY= does
} Option;
const Option *option_at(int i); // NULL: past the last one
bool option_is_of(const Option *option, const Command *command);

bool options_parse(Options *options, const Command *command, int argc, char **argv, Error *err);
void options_help(const Command *command); // stdout

// --- new_data.c: predict --data
typedef struct Settings {
    const char *setting[CLI_SETTINGS + 16];
    int count;
    char path[PATH_BYTES + 16];
    char full[CLI_SETTINGS][PATH_BYTES + 64];
} Settings;
// The settings of the command line, after `first` (NULL: none) and what replaces the graph.
void new_data_settings(Settings *settings, const Options *options, const char *first);
// Names what the steps took from the data of the run in data.fitted. False: a step cannot serve new
// nodes, or the run does not hold it.
bool new_data_fits(Config *config, Error *err);
// --- manual.c: what is printed from the tables of commands, options, exit codes and keys

void exit_codes_print(void); // stdout, in lines of at most 80 columns
// completion.c: a script that completes command lines, for bash and for zsh (stdout).
void completion_print_bash(void);
void completion_print_zsh(void);
void help_print(void);               // main.c: the text of fringe --help (stdout)
void print_broken(const char *text); // its lines, broken at 80 columns (stdout)

// --- launch.c: this program under mpirun

bool launch_inside_job(void);               // started by mpirun, or by srun with PMI
bool launch_wanted(const Options *options); // --ranks above 1 or --hosts, and no MPI job around us
// False with EXIT_USAGE if --hosts is wrong, or if --ranks is beyond reason for the cores that this
// process may use and --oversubscribe is not given. Under Slurm the job's machines count.
bool launch_fits(const Options *options, Error *err);
// Starts mpirun with this command line, forwards signals, and returns the exit code. A command that
// trains gets INT, TERM and HUP as USR1.
ExitCode launch(const Options *options, int threads, char **argv);
// Lets threads spin only briefly at barriers, by the environment of programs that start later, if
// `ranks` times `threads` do not leave a core to every other busy thread of this machine. The
// user's OMP_WAIT_POLICY and GOMP_SPINCOUNT win. True if it changed the environment.
bool spin_choose(int ranks, int threads);
// The same for this process, a single rank: starts the program again if it must, before MPI starts.
void spin_restart(int threads, char **argv);

bool launch_is_supervised(void);   // a supervisor started this rank and writes to the terminal
void launch_die_with_parent(void); // a rank that a supervisor started ends with its mpirun
// Runs command[0] (found in PATH) and waits at most `seconds`; its exit code, or -1.
int launch_quietly(char *const *command, double seconds);

// --- hosts.c: --hosts

bool hosts_are_file(const char *hosts); // a hostfile, no list of names
// EXIT_USAGE if it is not a list of hosts for so many ranks (0: not given), or EXIT_NO_INPUT.
bool hosts_fit(const char *hosts, int ranks, Error *err);
// What mpirun gets: the ranks are spread evenly over hosts that have no numbers, in blocks.
// memory_free it.
char *hosts_for_mpirun(const char *hosts, int ranks);

// --- supervisor.c

// Runs mpirun and explains how it ended. saves: the command finishes an epoch and saves when it is
// asked to stop.
ExitCode supervisor_run(char *const *command, int ranks, bool saves);

// --- families.c: the families that a config can name

void families_learn(void); // registers them with the config room, before any config is loaded

// --- early.c: mistakes that are reported before anything is loaded

// Loads the config at `path` (a file, or the folder of a run; NULL: none) with the settings of
// `options`, and checks no more than its values.
bool read_config(Config *config, const Options *options, const char *path, Error *err);
// The same for a command that works with it. The
// error lists, one per line, every mistake in its values and in what options->needs on disk.
// `ranks`: the number of ranks that will run; 0: unknown.
bool load_config(Config *config, const Options *options, const char *path, int ranks, Error *err);
// The same for a command with one config, with warnings of keys that have no effect in it.
bool load_config_aloud(Config *config, const Options *options, const char *path, int ranks,
                       Error *err);

// --- doubts.c

// Warns of what is legal, but hardly meant: epochs of run.trace that the training does not reach,
// and gradients that are lost in noise.
void warn_of_doubts(const Config *config);
// Keys that no config of a command uses. The format that data.format=auto finds counts.
void add_idle_keys(IdleKeys *keys, const Config *config);
void warn_of_idle_keys(const IdleKeys *keys, const Config *config); // one of their configs

// --- forward.c: stdout and stderr of the mpirun that was started

typedef struct Forward {
    int from[2], into[2]; // pipes: stdout, stderr
    int lost[2];          // errno of the first write that failed; 0: none did
    double heard;         // clock, when the child printed last
    bool hung;            // it did not end after its own children had ended, and was killed
} Forward;
bool forward_open(Forward *forward);
void forward_in_child(const Forward *forward); // after fork: its stdout and stderr are the pipes
// Forwards what the child prints until it has ended; returns its wait status. Meanwhile it calls
// look() at least ten times a second, unless the terminal is blocked.
int forward_until_end(Forward *forward, int child, void (*look)(void));
bool forward_check(const Forward *forward, Error *err); // EXIT_IO if something was lost

// --- hang.c: an mpirun that does not end, and its ranks

typedef struct HangWatch {
    double looked, seen; // clock: of the last look, and when a child was last seen alive
} HangWatch;
// True if process `mpirun` has had children, and for 10 s has neither had a living child nor
// printed anything. `heard`: when it printed last. Call it often: it checks at every call until it
// has seen a child, then once a second. False if the kernel does not list children.
bool mpirun_hangs(HangWatch *watch, int mpirun, double heard);
// Kills it and its ranks on this machine.
void mpirun_kill(int mpirun);

// --- session.c: all ranks with one config, and a shard for each

typedef struct Sweep { // the point of a sweep that is trained now
    const char *point; // "train.lr=0.01"; NULL: no sweep
    int before, total; // runs of earlier points, of all points
} Sweep;

typedef struct Session {
    Comm comm;
    Config config;
    Shard shard;
    Error err;
    const Options *options; // of the config, while it is loaded
    double started;         // clock
    int threads;            // of each rank
    bool open;              // shard is mapped
    bool compares;          // the output is a table, so the results of runs go to stderr
    bool described;         // the facts of the training are printed
    Sweep sweep;
    PrecisionChoice precision; // of run.precision=auto, for all runs of the session or of a point
    IdleKeys idle;             // of the configs so far
    RunFolder folder; // of train and compare: claimed by rank 0 for the life of the session
} Session;

// Starts MPI and loads the config (rank 0 reads it). False: session_end says why. Collective.
bool session_start(Session *session, const Options *options);
bool session_load(Session *session); // loads the shard. Collective.
// session_start, then session_load. Collective.
bool session_begin(Session *session, const Options *options);
// Loads the config that the options name on all ranks; rank 0 reads it. Collective.
bool session_config(Session *session, const Options *options);
// Rank 0 reports what has ended, with an error of its own; one that ended the others stays.
// Collective.
void session_report(Session *session, void (*report)(void *context, Error *err), void *context);
ExitCode session_end(Session *session); // prints the error if there is one. Collective.
void print_error(const Error *err);     // "fringe: sentence", line by line, on stderr
void say_lines(const char *before, const char *lines); // prints each line with `before` in front
// Ends the object, prints it and clears the writer. sink NULL: does not print it.
void print_object(JsonWriter *writer, const Sink *sink);
// Warns of keys that no config of the session uses. Rank 0 has a say.
void session_warn_of_idle_keys(const Session *session);
// Warns if the user set OMP_NUM_THREADS, which has no effect.
void warn_of_omp_threads(void);
// Writes report.html of all runs below `folder` into it, and prints its path.
bool report_folder(const char *folder, Error *err);
// Loads the weights of --weights, or of run.dir, on all ranks: [state_count], memory_free it.
// NULL with an error. Collective.
float *load_weights(Session *session, const ModelShape *shape, const Options *options);
// predict --data: checks the widths of the new graph and takes classes from the run. Collective.
bool new_data_take(Session *session);
// names.c: what rank 0 writes of the user's names beside predictions.
typedef struct Predicted { // of some nodes, from `first` on
    int64_t first, nodes, classes;
    bool several;
    const float *scores; // [nodes, classes]
    const int64_t *best; // [nodes] classes, or [nodes, classes] of 0 and 1; NULL: scores are all
} Predicted;
typedef struct PredictedNames {
    NodeIds ids, classes; // count 0: numbers from 0
} PredictedNames;
bool names_open(PredictedNames *names, const Config *config, Error *err);
void names_close(PredictedNames *names);
// ids.npy or ids.txt where ids are not 0 to n-1, class_names.txt where classes have names.
bool names_write(const PredictedNames *names, const char *folder, Error *err);
// The table --csv: its first line, with the best class or without, then the lines of some nodes.
bool names_put_head(FileWriter *table, const PredictedNames *names, int64_t classes, bool best,
                    Error *err);
bool names_put_rows(FileWriter *table, const PredictedNames *names, const Predicted *predicted,
                    Error *err);
// answers.c: rank 0 writes one npz, `id`, `class`, `scores` and what else there is, of the files
// that predict has written.
typedef struct AnswerFiles {
    const char *folder, *embedding; // names; NULL: there are no embeddings
    const PredictedNames *names;
    const Shard *shard;
    int64_t width; // of the embeddings
} AnswerFiles;
bool answers_write(const char *path, const AnswerFiles *files, Error *err);

// --- stop.c: INT, TERM, HUP and USR1

#define STOPPED_IN_SETUP "fringe: stopped during set-up; there was nothing to save\n"
// How a rank under a supervisor ends then, and how one ends that does not yet listen to USR1.
enum { EXIT_IN_SETUP = 128 + SIGUSR1 };

// Signals that the caller ignores stay ignored: nohup, and background jobs of a script.
bool signal_is_ignored(int number);
void stop_listen(void); // before MPI starts its threads, which inherit the mask
// From now on a request only lets stop_asked say so; `what` is for the sentence "stop requested;
// <what> saved first" (a literal). Before this call there is nothing to save, and a request ends
// the process at once.
void stop_waits_for(const char *what);
bool stop_asked(void);
// True if this is a repeated INT or TERM, at least a second after the first one, so that the
// process must end at once. One that comes sooner is the same request, sent twice.
// Async-signal-safe.
bool stop_is_final(int number);

// Claims config->run.dir, which may become another one. Collective.
bool folder_claim(Session *session, RunFolder *folder, Config *config, RunClaim how);

// --- backend.c

// Gives a run that is resumed the backend of its checkpoint, unless the command line names one;
// says so if the config names another. Also what `auto` of its other kernels took. Collective.
void resume_backend(Session *session, Config *config, const Options *options);
// What run.precision=auto stands for, in its place: with --resume what the run began with, else
// what the session chose for an earlier run, else what is measured. EXIT_CONFIG: nothing is as
// exact as run.precision_error says. Collective.
bool settle_precision(Session *session, Config *config, const Options *options);
// Makes the precision that a run has, if it has begun, that of the session. Collective.
void recall_precision(Session *session, const Config *config);
// The same for a command that reads the weights of the config's run, and the order in which that
// adds up products of bf16. EXIT_CONFIG: there is no run. Collective.
bool find_precision(Session *session);

// --- cmd_generate.c: the sizes of the dataset that was written to `path` (stdout)

void print_made(const Dataset *dataset, const char *path);

// --- cmd_train.c: what compare calls for each variant

// --runs runs in run.dir (run.dir/run-1, ... if there are several, or in a sweep). Collective.
bool train_runs(Session *session, const Options *options, RunResult *result);

// --- train_summary.c

// Data, parts and baseline of a training before it begins, and with --verbose its messages, memory
// and kernels (stderr).
void print_training(const Config *config, const Shard *shard, const Comm *comm,
                    const Trainer *trainer, const RunSummary *summary);
// "qsgd: codec grid, 4 bits, memory none": how gradients are coded.
enum { GRADIENTS_TEXT = 6 * CONFIG_WORD };
const char *gradients_text(char out[GRADIENTS_TEXT], const Config *config);
// Warns of settings without an effect in this training.
void warn_of_training(const Config *config, const Comm *comm, const RunSummary *summary);

// --- result_tables.c (stdout)

void comparison_print(const Comparison *comparison); // count > 0
// Long names stand alone on their lines; the winner has a `*`.
void result_table_print(const ResultTable *table);

// --- runs_table.c: a table of runs, whose names are relative to `folder`

void runs_table_print(const RunRecords *records, const char *folder);                   // stdout
void runs_table_put(JsonWriter *writer, const RunRecords *records, const char *folder); // "runs"

// --- cmd_cache.c: the entries of data.cache, as lines (stdout) and as members of an object

void cache_print_list(const CacheList *list, const char *cache);
void cache_put_list(JsonWriter *writer, const CacheList *list, const char *cache);
void cache_print_entry(const CacheEntry *entry);
void cache_put_entry(JsonWriter *writer, const CacheEntry *entry); // in a list

// --- doctor_config.c: what one config needs from this machine

typedef enum Health { HEALTH_OK, HEALTH_WARN, HEALTH_FAIL } Health;
typedef struct Finding { // of one check
    const Config *config;
    const Options *options;
    char text[2 * PATH_BYTES], cure[256]; // text: one sentence per line
} Finding;
typedef struct Check {
    const char *name;
    Health (*run)(Finding *finding);
} Check;
#define SAY(...) snprintf(finding->text, sizeof finding->text, __VA_ARGS__)
#define CURE(...) snprintf(finding->cure, sizeof finding->cure, __VA_ARGS__)
extern const Check doctor_config_checks[];
extern const int doctor_config_check_count;

// --- sweep.c: --sweep

// Checks every combination of the values of --sweep, warns of keys that none of them reads, and
// keeps the session's config. Collective.
bool sweep_check(Session *session, const Options *options);
// Trains --runs runs for every combination of the values of --sweep. Collective.
bool sweep_train(Session *session, const Options *options);
// True if the run with that config, in its run.dir, has ended already; says so. Collective.
bool sweep_is_done(Session *session, const Config *config);

CommandRun cmd_train, cmd_compare, cmd_evaluate, cmd_predict, cmd_program, cmd_partition, cmd_plan,
    cmd_stream, cmd_generate, cmd_convert, cmd_inspect, cmd_report, cmd_cache, cmd_runs, cmd_config,
    cmd_doctor, cmd_help, cmd_probe;
