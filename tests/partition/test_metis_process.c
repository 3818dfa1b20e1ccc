// If this fails, a stop waits until METIS has ended, a damaged job makes METIS read outside its
// memory, or nobody hears what METIS took.
#include "cut.h"
#include "partition/metis_process.h"
#include <signal.h>
#include <sys/stat.h>

static const char *script(const char *text) {
    const char *path = test_path("metis");
    test_write_text(path, test_text("#!/bin/sh\n%s\n", text));
    assert_int_equal(chmod(path, 0755), 0);
    return path;
}

// ---- the job

enum { VERTICES = 4 };

// A square for METIS.
static MetisProcess square(void) {
    static const idx_t offset[] = {0, 2, 4, 6, 8}, neighbour[] = {1, 3, 0, 2, 1, 3, 0, 2};
    MetisProcess process;
    assert_ok(metis_process_init(&process, &(MetisSizes){VERTICES, 8, false}, &err));
    memcpy(metis_job_array(process.job, process.job->offset), offset, sizeof offset);
    memcpy(metis_job_array(process.job, process.job->neighbour), neighbour, sizeof neighbour);
    process.job->constraints = 1;
    process.job->parts = 2;
    process.job->node_weight = 0;
    return process;
}

TEST(a_job_whose_arrays_lie_outside_is_refused) {
    CLEARED(metis_process_clear) MetisProcess process = square();
    MetisJob *job = process.job, whole = *job;
    assert_true(metis_job_is_whole(job, process.bytes));
    const struct {
        void *at;
        uint64_t value;
    } damages[] = {{&job->offset, process.bytes - 8},
                   {&job->offset, 8},
                   {&job->offset, UINT64_MAX - 3},
                   {&job->neighbour, process.bytes},
                   {&job->neighbour, 0},
                   {&job->edge_weight, process.bytes - 4},
                   {&job->part, process.bytes + 64},
                   {&job->part, whole.part + 1},
                   {&job->node_weight, UINT64_MAX},
                   {&job->nodes, 0},
                   {&job->nodes, INT64_MAX},
                   {&job->nodes, UINT64_MAX},
                   {&job->edges, INT64_MAX / 4},
                   {&job->constraints, 0},
                   {&job->constraints, 5},
                   {&job->parts, 5},
                   {&job->parts, 0},
                   {&job->index_bytes, 0},
                   {&job->index_bytes, 16},
                   {&job->bytes, process.bytes + 4096},
                   {&job->magic, 1}};
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        memcpy(damages[i].at, &damages[i].value, sizeof damages[i].value);
        if (metis_job_is_whole(job, process.bytes))
            fail_msg("damage %zu was not seen", i);
        *job = whole;
    }
}

// fringe-metis looks before it reads.
TEST(the_program_refuses_a_damaged_job) {
    CLEARED(metis_process_clear) MetisProcess process = square();
    process.job->neighbour = process.bytes;
    assert_refused(metis_process_run(&process, &err), EXIT_UNAVAILABLE,
                   "ended with status 66 and cut nothing");
}

// A program that writes over the head of the job: what it left there is not used.
TEST(a_job_that_comes_back_damaged_is_refused) {
    CLEARED(metis_process_clear) MetisProcess process = square();
    char text[400];
    int64_t status = (char *)&process.job->status - (char *)process.job;
    int64_t part = (char *)&process.job->part - (char *)process.job;
    snprintf(
        text, sizeof text,
        "poke() { printf \"$2\" | dd of=/proc/self/fd/3 bs=1 seek=$1 conv=notrunc 2>/dev/null; "
        "}\npoke %lld '\\001\\000\\000\\000'\npoke %lld '\\377\\377\\377\\177'",
        (long long)status, (long long)part);
    setenv("FRINGE_METIS", script(text), 1);
    assert_refused(metis_process_run(&process, &err), EXIT_UNAVAILABLE,
                   "has damaged the head of the memory");
    unsetenv("FRINGE_METIS");
}

TEST(what_metis_took_is_known) {
    CLEARED(metis_process_clear) MetisProcess process = square();
    assert_ok(metis_process_run(&process, &err));
    assert_int_equal(process.job->cut, 2);
    assert_true(metis_process_taken() > 1 << 18); // a process has a quarter of a MiB at least
    assert_true(partition_metis_memory() >= metis_process_taken());
}

// ---- a stop

static double asked_at; // clock
static bool is_asked(void) { return clock_seconds() >= asked_at; }

TEST(a_stop_kills_metis_at_once) {
    OWNED(Dataset) d = graph_make(60, graph_random_both, false, 3);
    int32_t part[60];
    Config config = CONFIGURED();
    const char *pid_file = test_path("pid");
    setenv("FRINGE_METIS", script(test_text("echo $$ >%s; exec sleep 20", pid_file)), 1);
    double since = clock_seconds();
    asked_at = since + 0.3;
    partition_stops_when(is_asked);
    assert_refused(partition_cut(part, &d, 2, &config, &err, &(Warnings){0}), EXIT_STOPPED,
                   "stopped while METIS cut 60 nodes");
    assert_true(clock_seconds() - since < 10);
    partition_stops_when(NULL);
    unsetenv("FRINGE_METIS");
    FILE *file = fopen(pid_file, "re");
    int pid = 0;
    assert_true(file != NULL && fscanf(file, "%d", &pid) == 1);
    fclose(file);
    assert_int_equal(kill(pid, 0), -1); // it has ended and was waited for
}
