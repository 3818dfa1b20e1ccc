// An array that grows in place: addresses are reserved once and memory is taken as it is used, so
// that growing never copies, moves or waits. For arrays whose final size nobody knows, such as
// those of a stream. New elements are zero.
#ifndef FRINGE_BASE_GROWING_H
#define FRINGE_BASE_GROWING_H

#include "fringe/base/error.h"
#include <stdint.h>

typedef struct Growing {
    void *at;         // the elements; never moves
    int64_t most;     // elements that addresses are reserved for
    int64_t usable;   // elements [0, usable) may be used
    size_t item;      // bytes of an element
    const char *what; // for messages; a literal
} Growing;

// Reserves addresses for `most` elements. EXIT_MEMORY.
bool growing_init(Growing *growing, int64_t most, size_t item, const char *what, Error *err);
void growing_clear(Growing *growing);
// Makes elements [0, count) usable; count is at most `most`. Aborts if the machine has no memory
// left.
void growing_reach_slowly(Growing *growing, int64_t count);
static inline void growing_reach(Growing *growing, int64_t count) {
    if (count > growing->usable)
        growing_reach_slowly(growing, count);
}

#endif
