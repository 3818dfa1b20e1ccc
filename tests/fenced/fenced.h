// The backend "fenced", for tests: the CPU's operations behind a fence. It shows that nobody
// outside kernels/ touches the memory of a device and that every wait is there, on machines without
// one.
//
// Memory (memory.c): what alloc returns is a handle, an address that nobody may read or write, the
// system included. Each block has a twin that can be read; operations alone know where it lies.
// Lateness (stream.c): a call puts a command on the queue of its stream and returns. Commands run
// only while somebody waits, and only as far as that wait needs.
#pragma once

#include "../../kernels/internal.h"

extern const Backend backend_fenced;

// Every function and operation of the list, as fenced_<name>.
#define FUNCTION(type, name, parameters) type fenced_##name parameters;
#define OPERATION(name, stream, time, ...) void fenced_##name(OPERATION_PARAMETERS(__VA_ARGS__));
#include "fringe/operations.def"

// The twin of an address in a living block, or of its end; NULL for NULL. Any other address is an
// error of the caller and stops the program.
void *fenced_twin(const void *handle);
Rows fenced_rows(Rows rows); // the same rows at their twin
// The CPU's aggregate, of which the device has another.
Aggregate *fenced_aggregate_of_cpu(Aggregate *aggregate);
HaloAggregate *fenced_halo_aggregate_of_cpu(HaloAggregate *aggregate);

// What a command does, with the arguments that were copied at its call and the Poll of the wait
// that runs it.
typedef void FencedRun(const void *arguments, const Poll *poll);
// Puts a command with a copy of its arguments on the stream. A queue that is full runs its oldest
// command first.
void fenced_put(DeviceStream stream, FencedRun *run, const void *arguments, size_t bytes);
#define FENCED_PUT(stream, run, type, ...)                                                         \
    fenced_put(stream, run, &(type){__VA_ARGS__}, sizeof(type))
