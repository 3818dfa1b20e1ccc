// Starts fringe-metis and says how it ended.
#include "metis_process.h"
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char advice[] = "use partition.method fennel, which needs less memory, or file:PATH";

// ---- the memory

// Takes room for an array; aligned.
static uint64_t place(uint64_t *bytes, int64_t count) {
    uint64_t at = (*bytes + 63) / 64 * 64;
    *bytes = at + (uint64_t)count * sizeof(idx_t);
    return at;
}

bool metis_process_init(MetisProcess *process, const MetisSizes *sizes, Error *err) {
    MetisJob job = {.magic = METIS_JOB_MAGIC,
                    .bytes = sizeof job,
                    .index_bytes = sizeof(idx_t),
                    .nodes = sizes->nodes,
                    .status = METIS_JOB_UNFINISHED};
    job.offset = place(&job.bytes, sizes->nodes + 1);
    job.neighbour = place(&job.bytes, sizes->entries);
    job.edge_weight = sizes->weighted ? place(&job.bytes, sizes->entries) : 0;
    job.part = place(&job.bytes, sizes->nodes);
    // pages of weights that are not used are never taken
    job.node_weight = place(&job.bytes, sizes->nodes * METIS_CONSTRAINTS);
    job.edges = sizes->entries;
    *process =
        (MetisProcess){.descriptor = memfd_create("fringe-metis", MFD_CLOEXEC), .bytes = job.bytes};
    void *at = MAP_FAILED;
    if (process->descriptor >= 0 && ftruncate(process->descriptor, (off_t)job.bytes) == 0)
        at = mmap(NULL, job.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, process->descriptor, 0);
    if (at == MAP_FAILED) {
        error_set(err, EXIT_MEMORY, "no memory for the graph that METIS cuts (%.1f MiB): %s; %s",
                  (double)job.bytes / (1 << 20), strerror(errno), advice);
        metis_process_clear(process);
        return false;
    }
    process->job = at;
    *process->job = job;
    return true;
}

void metis_process_clear(MetisProcess *process) {
    if (process->job != NULL)
        munmap(process->job, process->bytes);
    if (process->descriptor >= 0)
        close(process->descriptor);
    *process = (MetisProcess){.descriptor = -1};
}

// ---- the program

// The descriptor stays open in the program; what METIS prints is dropped.
static int spawn(pid_t *pid, const char *program, int descriptor) {
    enum { ITS_DESCRIPTOR = 3 };
    char number[] = "3", *arguments[] = {(char *)program, number, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, descriptor, ITS_DESCRIPTOR);
    int status = posix_spawnp(pid, program, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return status;
}

static size_t taken, most; // by the last process; by the one that took most

size_t metis_process_taken(void) { return taken; }
size_t partition_metis_memory(void) { return most; }

// ---- its end

static bool (*stop_is_asked)(void);

void partition_stops_when(bool (*is_asked)(void)) { stop_is_asked = is_asked; }

// Waits until the program has ended; kills it when a stop is asked for. Returns at once where the
// system has no descriptors of processes: then the caller can only wait.
static void watch(pid_t pid, bool *stopped) {
    enum { TURN = 100 }; // milliseconds
    struct pollfd program = {.fd = pidfd_open(pid, 0), .events = POLLIN};
    if (program.fd < 0)
        return;
    while (poll(&program, 1, TURN) <= 0 && !*stopped) {
        *stopped = stop_is_asked != NULL && stop_is_asked();
        if (*stopped)
            kill(pid, SIGKILL);
    }
    close(program.fd);
}

// The status of its end; -1: unknown.
static int wait_for(pid_t pid, bool *stopped) {
    int status = 0;
    struct rusage usage = {0};
    pid_t ended;
    watch(pid, stopped);
    do
        ended = wait4(pid, &status, 0, &usage);
    while (ended < 0 && errno == EINTR);
    taken = (size_t)usage.ru_maxrss * 1024;
    most = taken > most ? taken : most;
    return ended == pid ? status : -1;
}

// How it ended, where that is not by writing the parts.
static bool say_end(const MetisProcess *process, const char *program, int status, Error *err) {
    const MetisJob *job = process->job;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return error_set(err, EXIT_MEMORY,
                         "METIS was killed while it cut %ld nodes, probably by the kernel for lack "
                         "of memory (it had taken %.1f GiB); %s",
                         job->nodes, (double)taken / (1 << 30), advice);
    if (WIFSIGNALED(status))
        return error_set(err, EXIT_UNAVAILABLE, "METIS failed on %ld nodes (%s); %s", job->nodes,
                         strsignal(WTERMSIG(status)), advice);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return error_set(err, EXIT_UNAVAILABLE,
                         "%s cannot be started; install it beside fringe, or %s", program, advice);
    return error_set(err, EXIT_UNAVAILABLE,
                     "%s ended with status %d and cut nothing; is it of this version? Or %s",
                     program, WEXITSTATUS(status), advice);
}

static bool say_status(const MetisJob *job, Error *err) {
    if (job->status == METIS_ERROR_MEMORY)
        return error_set(err, EXIT_MEMORY, "METIS ran out of memory on %ld nodes; %s", job->nodes,
                         advice);
    if (job->status == METIS_ERROR_INPUT)
        return error_set(err, EXIT_UNAVAILABLE, "METIS refuses the graph of %ld nodes; %s",
                         job->nodes, advice);
    return error_set(err, EXIT_STOPPED, "METIS was interrupted (status %d); start again",
                     job->status);
}

bool metis_process_run(MetisProcess *process, Error *err) {
    char program[PATH_BYTES];
    pid_t pid;
    bool stopped = false;
    path_of_program(program, sizeof program, "fringe-metis", "FRINGE_METIS");
    process->job->parent = getpid();
    int failed = spawn(&pid, program, process->descriptor);
    if (failed != 0)
        return error_set(
            err, EXIT_UNAVAILABLE,
            "%s cannot be started: %s; install it beside fringe, set FRINGE_METIS, or %s", program,
            strerror(failed), advice);
    int status = wait_for(pid, &stopped);
    if (stopped)
        return error_set(err, EXIT_STOPPED, "stopped while METIS cut %ld nodes; start again",
                         process->job->nodes);
    const MetisJob *job = process->job;
    if (status != 0 || job->status == METIS_JOB_UNFINISHED)
        return say_end(process, program, status, err);
    if (!metis_job_is_whole(job, process->bytes))
        return error_set(err, EXIT_UNAVAILABLE,
                         "%s has damaged the head of the memory that it shares with fringe; is it "
                         "of this version? Or %s",
                         program, advice);
    return job->status == METIS_OK || say_status(job, err);
}
