// What a program tells: figures and arrays, and how far it is.
#include "internal.h"

int64_t program_sum(const ProgramParts *parts, int64_t value) {
    comm_sum_int64(parts->comm, &value, 1);
    return value;
}

int64_t *program_gather(const ProgramParts *parts, const int64_t *own, int64_t count,
                        int64_t *total) {
    FREED int64_t *offset = comm_offsets(parts->comm, count * (int64_t)sizeof *own);
    *total = offset[parts->comm->size] / (int64_t)sizeof *own;
    int64_t *all = ALLOC(int64_t, *total, "numbers of all ranks");
    comm_gather_v(parts->comm, own, all, offset);
    comm_broadcast(parts->comm, all, (size_t)offset[parts->comm->size], 0);
    return all;
}

static void add_figure(ProgramRun *run, const char *name, double value, bool whole) {
    ProgramResult *result = run->result;
    assert(result->figures < PROGRAM_FIGURES);
    ProgramFigure *figure = &result->figure[result->figures++];
    *figure = (ProgramFigure){.value = value, .whole = whole};
    snprintf(figure->name, sizeof figure->name, "%s", name);
}

void program_figure(ProgramRun *run, const char *name, double value) {
    add_figure(run, name, value, false);
}

void program_count(ProgramRun *run, const char *name, int64_t value) {
    add_figure(run, name, (double)value, true);
}

void program_array(ProgramRun *run, ProgramArray array) {
    assert(run->result->arrays < PROGRAM_ARRAYS);
    run->result->array[run->result->arrays++] = array;
}

void program_result_clear(ProgramResult *result) {
    while (result->arrays > 0)
        memory_free(result->array[--result->arrays].data);
    *result = (ProgramResult){0};
}

const char *program_start(const ProgramParts *parts, const Program *program) {
    const char *said = parts->config->program.start;
    return said[0] != 0 || program->start == NULL ? said : program->start;
}

int64_t program_iterations(const ProgramRun *run, const Program *program) {
    int64_t said = run->parts->config->program.iterations;
    return said > 0 ? said : program->iterations;
}

bool program_goes_on(ProgramRun *run, int64_t iteration, const char *what, double value) {
    const ProgramParts *parts = run->parts;
    run->iterations = iteration;
    if (parts->comm->rank == 0 && parts->progress != NULL)
        parts->progress(iteration, what, value);
    bool asked = parts->stopped != NULL && parts->stopped();
    if (comm_max_double(parts->comm, asked) == 0)
        return true;
    error_set(run->err, EXIT_STOPPED, "stopped after %ld iterations; nothing was written",
              iteration);
    return false;
}
