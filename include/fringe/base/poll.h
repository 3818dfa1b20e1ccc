// MPI moves TCP data only while it is called (LIMITS 4), and the kernels lie below the exchange. So
// a long operation takes a Poll, and its thread 0 calls it between panels, about every millisecond.
// This is the only upward call between modules.
#pragma once

#include <stddef.h>

typedef struct Poll {
    void (*function)(void *context);
    void *context;
} Poll;

// For kernels: calls *poll unless it is NULL. Call it only from thread 0 of a parallel region, or
// outside one.
static inline void poll_call(const Poll *poll) {
    if (poll != NULL)
        poll->function(poll->context);
}
