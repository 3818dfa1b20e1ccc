// `--ranks P` outside an MPI job: this process (the keeper) starts mpirun with its own command
// line, forwards signals and returns the exit code. For the flags see TRAPS 1-9: more ranks than
// cores are allowed, no rank is bound to a core (else OpenMP gets one thread), waiting is passive
// when ranks and threads outnumber the cores, and mpirun's own messages are switched off.

#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OWN_WORDS = 64 }; // at most, beside those of the command line
static const char mark[] = "FRINGE_LAUNCHED";

static bool is_set(const char *name) {
    const char *value = getenv(name);
    return value != NULL && value[0] != 0;
}

// mpirun and srun with PMI set these; SLURM_PROCID is set in every batch script, too.
bool launch_inside_job(void) {
    return is_set("OMPI_COMM_WORLD_SIZE") || is_set("PMIX_RANK") || is_set("PMI_SIZE") ||
           is_set("PMI_RANK");
}

bool launch_is_kept(void) { return is_set(mark); }

bool launch_wanted(const Options *options) { return options->ranks > 1 && !launch_inside_job(); }

void launch_die_with_parent(void) {
    if (!is_set(mark))
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == 1) // the parent died before prctl
        _exit(EXIT_HUNG);
}

// --- the command line

typedef struct Words {
    char **word; // [room + 1], ends with NULL; owned
    char ranks[16];
    int count, room;
} Words;

static void add(Words *words, const char *word) {
    assert(words->count < words->room);
    words->word[words->count++] = (char *)word;
}

// Variables that ranks on other machines need, too; mpirun passes OMPI_MCA_... on by itself.
static void add_variables(Words *words) {
    static const char *const names[] = {mark,
                                        "FRINGE_DATA",
                                        "FRINGE_TEST_STOP_STEP",
                                        "XDG_CACHE_HOME",
                                        "OMP_NUM_THREADS",
                                        "OMP_WAIT_POLICY",
                                        "GOMP_SPINCOUNT",
                                        "LD_LIBRARY_PATH",
                                        "ASAN_OPTIONS",
                                        "LSAN_OPTIONS",
                                        "UBSAN_OPTIONS"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (is_set(names[i])) {
            add(words, "-x");
            add(words, names[i]);
        }
}

// Under Slurm the job's machines and slots count, otherwise this machine's cores.
static void set_environment(const Options *options, int threads) {
    char text[16];
    int cores = threads_on_node();
    bool local = !is_set("SLURM_JOB_ID");
    int each = threads > 0 ? threads : cores / options->ranks > 0 ? cores / options->ranks : 1;
    snprintf(text, sizeof text, "%d", each);
    if (local)
        setenv("OMP_NUM_THREADS", text, 0);
    bool crowded = local && options->ranks * each > cores;
    if (crowded) {
        setenv("OMP_WAIT_POLICY", "passive", 0);
        setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    } else if (local) {
        spin_choose(options->ranks, each);
    }
    setenv("OMPI_MCA_btl_tcp_flags", "1", 0);
    setenv(mark, "1", 1);
    if (geteuid() == 0) {
        setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
        setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    }
}

static void build(Words *words, const Options *options, char *program, char **argv) {
    words->room = OWN_WORDS;
    for (int i = 1; argv[i] != NULL; i++)
        words->room++;
    words->word = ALLOC(char *, words->room + 1, "command line");
    snprintf(words->ranks, sizeof words->ranks, "%d", options->ranks);
    add(words, "mpirun");
    add(words, "-q");
    add(words, "--bind-to");
    add(words, "none");
    if (!is_set("SLURM_JOB_ID"))
        add(words, "--oversubscribe");
    add(words, "-n");
    add(words, words->ranks);
    add_variables(words);
    add(words, program);
    for (int i = 1; argv[i] != NULL; i++)
        add(words, argv[i]);
}

// --- the keeper

static struct Keeper {
    bool saves;                     // the command finishes an epoch and saves
    volatile sig_atomic_t child;    // mpirun
    volatile sig_atomic_t asked;    // 1 after the ranks got a stop request
    volatile sig_atomic_t ended_by; // the signal that was to end it at once
} keeper;

// Sends the request before the message, because the terminal may be blocked.
static void ask_to_stop(int number) {
    bool first = !keeper.asked;
    keeper.asked = 1;
    kill(keeper.child, SIGUSR1); // mpirun forwards it to all ranks; TERM would give them one second
    if (first)
        terminal_say_now(
            number == SIGINT
                ? "\nfringe: stopping; the current epoch is finished and saved first; Ctrl-C "
                  "again ends at once\n"
                : "fringe: stopping; the current epoch is finished and saved first\n");
}

// Repeats the request, because mpirun loses signals that arrive before its ranks have started.
static void ask_again(int number) {
    (void)number;
    int kept = errno;
    if (keeper.asked)
        kill(keeper.child, SIGUSR1);
    errno = kept;
}

static void ask_again_regularly(void) {
    struct sigaction action = {.sa_handler = ask_again, .sa_flags = SA_RESTART};
    struct itimerval often = {.it_interval = {.tv_usec = 200000}, .it_value = {.tv_usec = 200000}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

static void on_signal(int number) {
    int kept = errno;
    if (!keeper.saves) {
        keeper.ended_by = number;
        kill(keeper.child, number);
    } else if (stop_insists(number)) {
        keeper.ended_by = number;
        kill(keeper.child, SIGKILL); // its ranks die with it
    } else {
        ask_to_stop(number);
    }
    errno = kept;
}

// Signals that the caller ignores stay ignored: nohup, and background jobs of a script.
static void listen_to_signals(void) {
    static const int numbers[] = {SIGUSR1, SIGTERM, SIGINT, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
    sigfillset(&action.sa_mask); // one signal at a time
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
}

// Runs in its own process group, so that the terminal's Ctrl-C reaches only the keeper.
_Noreturn static void become(char *const *command, const Forward *forward, sigset_t *before) {
    setpgid(0, 0);
    forward_in_child(forward);
    int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
    prctl(PR_SET_PDEATHSIG, SIGTERM); // mpirun then ends its ranks
    signal(SIGUSR1, SIG_IGN);         // until mpirun handles it, and after it has stopped doing so
    sigprocmask(SIG_SETMASK, before, NULL);
    execvp(command[0], command);
    _exit(127);
}

// mpirun hung after its ranks had ended, so their exit codes are unknown.
static ExitCode explain_hung(void) {
    terminal_say("fringe: mpirun did not end after its ranks and was killed; --resume auto "
                 "continues from the last checkpoint, if there is one\n");
    return keeper.asked ? EXIT_STOPPED : EXIT_HUNG;
}

// The ranks have explained fringe's own exit codes; all others come from mpirun or the system.
static ExitCode explain(int status, bool hung) {
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (keeper.ended_by != 0 && code != EXIT_STOPPED) {
        terminal_say("fringe: ended at once by signal %d (%s)%s\n", (int)keeper.ended_by,
                     strsignal((int)keeper.ended_by),
                     keeper.saves ? "; --resume auto continues from the last checkpoint" : "");
        return (ExitCode)(128 + keeper.ended_by);
    }
    if (hung)
        return explain_hung();
    if (keeper.asked && code == 128 + SIGUSR1) { // a rank on another host was not listening yet
        terminal_say("fringe: stopped during set-up; there was nothing to save\n");
        return EXIT_STOPPED;
    }
    if (code == 127)
        terminal_say("fringe: mpirun could not be started; install OpenMPI (openmpi-bin) or "
                     "drop --ranks\n");
    else if (code > 128)
        terminal_say("fringe: a rank or mpirun was killed by signal %d (%s)%s%s\n", code - 128,
                     strsignal(code - 128),
                     code == 128 + SIGKILL ? "; out of memory? see dmesg, or use more ranks" : "",
                     keeper.saves
                         ? "; --resume auto continues from the last checkpoint, if there is one"
                         : "");
    else if (code != 0 && (code < EXIT_USAGE || code > EXIT_MISMATCH))
        terminal_say("fringe: mpirun exited with status %d; fringe doctor looks for the cause\n",
                     code);
    return (ExitCode)(code == 127 ? EXIT_UNAVAILABLE : code);
}

ExitCode launch(const Options *options, int threads, char **argv) {
    Words words = {0};
    char program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    Error err = {0};
    if (length <= 0) {
        error_set(&err, EXIT_UNAVAILABLE, "the program's own path is unknown: is /proc mounted?");
        print_error(&err);
        return EXIT_UNAVAILABLE;
    }
    program[length] = 0;
    if (threads == 0)
        warn_of_omp_threads();
    set_environment(options, threads);
    build(&words, options, program, argv);
    Forward forward;
    CHECK(forward_open(&forward), EXIT_UNAVAILABLE, "cannot make a pipe: %s", strerror(errno));
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); // no signal is lost between fork and handler
    keeper.saves = (options->needs & NEEDS_RUN) != 0;
    pid_t pid = fork();
    CHECK(pid >= 0, EXIT_UNAVAILABLE, "cannot start a process: %s", strerror(errno));
    if (pid == 0)
        become(words.word, &forward, &before);
    keeper.child = pid;
    stage_begin("start", "%d ranks", options->ranks);
    listen_to_signals();
    if (keeper.saves)
        ask_again_regularly();
    sigprocmask(SIG_SETMASK, &before, NULL);
    int status = forward_until_end(&forward, pid);
    ExitCode code = explain(status, forward.hung);
    memory_free(words.word);
    if (!forward_check(&forward, &err) && code == EXIT_OK) {
        print_error(&err);
        code = (ExitCode)err.code;
    }
    return code;
}

// --- for doctor

int launch_quietly(char *const *command, double seconds) {
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        if (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL)
            _exit(127);
        execvp(command[0], command);
        _exit(127);
    }
    double end = clock_seconds() + seconds;
    int status = 0;
    while (pid > 0 && waitpid(pid, &status, WNOHANG) == 0) {
        if (clock_seconds() > end) {
            kill(-pid, SIGKILL);
            waitpid(pid, &status, 0);
            return -1;
        }
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
