// If this failed, the backend "fenced" would let a host, MPI or the system touch the memory of the
// device, or would let a Poll wait: a program that does so would pass its tests on it.
#include "device.h"
#include "fenced/fenced.h"
#include "fringe/base/mpi.h"
#include "support.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static const Backend *const fenced = &backend_fenced;

// Each misuse happens in a process of its own.
enum { FLOATS = 64, LIVES = 0, REFUSED = 3 };

static void host_reads(const Backend *b, void *device) {
    (void)b;
    if (*(volatile float *)device != 0)
        _exit(1);
}

static void host_writes(const Backend *b, void *device) {
    (void)b;
    *(volatile float *)device = 1;
}

static void system_reads(const Backend *b, void *device) {
    int ends[2];
    (void)b;
    if (pipe(ends) != 0)
        _exit(1);
    if (write(ends[1], device, FLOATS) != FLOATS)
        _exit(REFUSED); // EFAULT
}

static void mpi_sends(const Backend *b, void *device) {
    float got[FLOATS];
    (void)b;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (MPI_Sendrecv(device, FLOATS, MPI_FLOAT, 0, 1, got, FLOATS, MPI_FLOAT, 0, 1, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE) != MPI_SUCCESS)
        _exit(REFUSED);
}

static void mpi_receives(const Backend *b, void *device) {
    float sent[FLOATS] = {0};
    (void)b;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (MPI_Sendrecv(sent, FLOATS, MPI_FLOAT, 0, 1, device, FLOATS, MPI_FLOAT, 0, 1, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE) != MPI_SUCCESS)
        _exit(REFUSED);
}

static void host_memory_is_given_to_an_operation(const Backend *b, void *device) {
    static float host[FLOATS];
    (void)device;
    b->scale((DeviceFloat *)host, FLOATS, 2);
    b->finish(NULL);
}

static void a_view_lies_outside(const Backend *b, void *device) {
    static float host[FLOATS];
    b->host_is_device ? (void)host : b->download(host, flat_at(device, FLOATS + 1), sizeof(float));
}

static void a_stream_is_waited_for(const Backend *b, void *device) {
    DeviceEvent *event = b->event_new();
    b->scale(device, FLOATS, 2);
    b->event_record(event, STREAM_COMPUTE);
    b->event_wait(event, NULL);
}

typedef struct Misuse {
    const char *name;
    void (*act)(const Backend *b, void *device);
    bool outside, inside; // where it is misuse: outside and inside a Poll
} Misuse;

static const Misuse misuses[] = {
    {"host reads", host_reads, true, true},
    {"host writes", host_writes, true, true},
    {"the system reads", system_reads, true, true},
    {"MPI sends", mpi_sends, true, true},
    {"MPI receives", mpi_receives, true, true},
    {"host memory in an operation", host_memory_is_given_to_an_operation, true, true},
    {"a view outside its block", a_view_lies_outside, true, true},
    {"a wait", a_stream_is_waited_for, false, true},
};
enum { MISUSES = sizeof misuses / sizeof *misuses };

typedef struct Scene {
    const Backend *b;
    void *device;
    const Misuse *misuse;
    bool polled;
} Scene;

static void misuse_in_poll(void *context) {
    Scene *scene = context;
    if (!scene->polled)
        scene->misuse->act(scene->b, scene->device);
    scene->polled = true;
}

// An operation calls the Poll: its own where operations run during their call, else that of the
// wait.
static void run_polled(Scene *scene) {
    const Backend *b = scene->b;
    Poll poll = {misuse_in_poll, scene};
    const int64_t count = 20000; // so many that the first of many threads has some, too
    Rows rows = rows_alloc(b, count, 16, "test"), out = rows_alloc(b, count, 16, "test");
    DeviceFloat *w = b->alloc(16 * 16 * sizeof(float), "test");
    b->dense(out, (Range){0, count}, rows, w, NULL, false, &poll);
    b->finish(&poll);
    if (!scene->polled)
        _exit(2);
}

static int status_of(const Backend *b, const Misuse *misuse, bool inside) {
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        signal(SIGSEGV, SIG_DFL); // MPI's and the sanitizers' handlers would talk
        signal(SIGBUS, SIG_DFL);
        signal(SIGABRT, SIG_DFL);
        if (freopen("/dev/null", "w", stderr) == NULL)
            _exit(1);
        Scene scene = {
            .b = b, .device = b->alloc_zeroed(FLOATS * sizeof(float), "t"), .misuse = misuse};
        if (inside)
            run_polled(&scene);
        else
            misuse->act(b, scene.device);
        _exit(LIVES);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static bool dies(int status) {
    int by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return by == SIGSEGV || by == SIGBUS || by == SIGABRT ||
           (WIFEXITED(status) && WEXITSTATUS(status) == REFUSED);
}

TEST(misuse_dies) {
    for (int i = 0; i < MISUSES; i++)
        for (int inside = 0; inside < 2; inside++) {
            const Misuse *m = &misuses[i];
            int got = status_of(fenced, m, inside), control = status_of(&backend_cpu, m, inside);
            bool wrong = inside ? m->inside : m->outside;
            if (wrong != dies(got) || (!wrong && got != 0))
                fail_msg("%s%s: status %x", m->name, inside ? " in a Poll" : "", (unsigned)got);
            if (control != 0)
                fail_msg("%s%s on cpu: status %x", m->name, inside ? " in a Poll" : "",
                         (unsigned)control);
        }
}
