// Sanitizer builds only: the report of leaks at a process's end is about ours, not about MPI's.
// What MPI takes while it starts and ends is not watched at all: to find the names of such leaks,
// which tests/leaks.txt compares, takes longer than most tests. Other leaks of MPI's are told from
// ours by the name of their module, so modules that MPI loads stay loaded.

#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <sanitizer/lsan_interface.h>
#include <stdlib.h>

int dlclose(void *module) {
    (void)module;
    return 0;
}

static int in_mpi; // while one of the two calls below lasts

static void enter(void) {
    in_mpi = 1;
    __lsan_disable(); // of this thread
}

static int leave(int status) {
    __lsan_enable();
    in_mpi = 0;
    return status;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    enter();
    return leave(PMPI_Init_thread(argc, argv, required, provided));
}

int MPI_Finalize(void) {
    enter();
    return leave(PMPI_Finalize());
}

// The threads that MPI starts are not watched, either.

typedef struct Start {
    void *(*run)(void *);
    void *argument;
} Start;

static void *run_unwatched(void *argument) {
    Start start = *(Start *)argument;
    free(argument);
    __lsan_disable();
    return start.run(start.argument);
}

typedef int (*Create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument) {
    static Create next; // the sanitizer's
    if (next == NULL)
        next = (Create)dlsym(RTLD_NEXT, "pthread_create");
    Start *start = in_mpi ? malloc(sizeof *start) : NULL;
    if (start == NULL)
        return next(thread, attributes, run, argument);
    *start = (Start){run, argument};
    return next(thread, attributes, run_unwatched, start);
}
