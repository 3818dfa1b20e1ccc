// `--ranks P` outside an MPI job: this process starts mpirun with its own command line, and becomes
// its supervisor (supervisor.c). For the flags see TRAPS 1-9: more ranks than
// cores are allowed, no rank is bound to a core (else OpenMP gets one thread), waiting is passive
// when ranks and threads outnumber the cores, and mpirun's own messages are switched off.

#include "internal.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    OWN_WORDS = 64,  // at most, beside those of the command line
    RANKS_A_CORE = 8 // unless told otherwise: ranks that share a core wait for each other
};
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

bool launch_is_supervised(void) { return is_set(mark); }

bool launch_wanted(const Options *options) {
    return (options->ranks > 1 || options->hosts != NULL) && !launch_inside_job();
}

// The cores that count are not those of this machine, or not those alone.
static bool is_elsewhere(const Options *options) {
    return options->hosts != NULL || is_set("SLURM_JOB_ID");
}

bool launch_fits(const Options *options, Error *err) {
    int cores = threads_usable();
    if (options->hosts != NULL)
        return hosts_fit(options->hosts, options->ranks, err);
    if (options->oversubscribe || is_elsewhere(options) || options->ranks <= RANKS_A_CORE * cores)
        return true;
    return error_usage(err,
                       "--ranks %d is more than %d for each of the %d core%s that this process may "
                       "use; give at most %d, or also --oversubscribe if so many are meant",
                       options->ranks, RANKS_A_CORE, cores, cores == 1 ? "" : "s",
                       RANKS_A_CORE * cores);
}

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
    char *hosts; // NULL: none; owned
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

// Under Slurm the job's machines and slots count, with --hosts those that it names, otherwise this
// machine's cores.
static void set_environment(const Options *options, int threads) {
    char text[16];
    int cores = threads_on_node();
    bool local = !is_elsewhere(options);
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

// The sessions of mpirun's daemons stay its children, by which it is seen to work (hang.c).
static void add_hosts(Words *words, const Options *options) {
    if (options->hosts == NULL)
        return;
    words->hosts = hosts_for_mpirun(options->hosts, options->ranks);
    add(words, hosts_are_file(options->hosts) ? "--hostfile" : "--host");
    add(words, words->hosts);
    add(words, "--leave-session-attached");
}

static void build(Words *words, const Options *options, char *program, char **argv) {
    words->room = OWN_WORDS;
    for (int i = 1; argv[i] != NULL; i++)
        words->room++;
    words->word = ALLOC(char *, words->room + 1, "command line");
    snprintf(words->ranks, sizeof words->ranks, "%d", options->ranks);
    static const char *const first[] = {"mpirun", "-q", "--bind-to", "none"};
    for (int i = 0; i < FAMILY_COUNT(first); i++)
        add(words, first[i]);
    if (!is_set("SLURM_JOB_ID"))
        add(words, "--oversubscribe");
    add(words, "-n");
    add(words, words->ranks);
    add_hosts(words, options);
    add_variables(words);
    add(words, program);
    for (int i = 1; argv[i] != NULL; i++)
        add(words, argv[i]);
}

ExitCode launch(const Options *options, int threads, char **argv) {
    Words words = {0};
    char program[PATH_BYTES];
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
    ExitCode code =
        supervisor_run(words.word, options->ranks, (options->needs & NEEDS_TO_FINISH) != 0);
    MEMORY_FREE(words.hosts, words.word);
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
