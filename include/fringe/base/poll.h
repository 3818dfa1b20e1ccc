// MPI moves no TCP data while nobody calls it (LIMITS 4), and the kernels lie below the exchange:
// so a long operation takes a Poll, and its thread 0 calls it between panels, about every
// millisecond. The only upward call of the house, and it is data.
#ifndef FRINGE_BASE_POLL_H
#define FRINGE_BASE_POLL_H

#include <stddef.h>

typedef struct Poll {
    void (*function)(void *context);
    void *context;
} Poll;

// For kernels: calls *poll if there is one. Only from thread 0 of a parallel region, or outside
// one.
static inline void poll_call(const Poll *poll) {
    if (poll != NULL)
        poll->function(poll->context);
}

#endif
