// Memory of streams, part of what the module events shows.
//
// An array that grows in place: addresses are reserved once and memory is taken as it is used, so
// that growing never copies, moves or waits. For arrays whose final size nobody knows, such as
// those of a stream. New elements are zero.
#pragma once

#include "fringe/base.h"

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

// Many short lists in one growing array. A list of n elements lies in a block of the next size of
// 1, 2, 3, 4, 6, 8, 12, 16, 24, ... elements, so at most a third of it is unused; a block that a
// list has outgrown serves another list. A list is named by the place of its block and its length,
// which its owner stores: a few million lists take no more than that.
enum { POOL_CLASSES = 64 };
typedef struct Pool {
    Growing elements;            // .at: of all lists, at least 4 bytes each
    int64_t used;                // elements in blocks, full or free
    uint32_t free[POOL_CLASSES]; // 1 + place of the first free block of each size; 0: none
} Pool;

bool pool_init(Pool *pool, size_t item, const char *what, Error *err);
void pool_clear(Pool *pool);
// A list of `count` elements gets one more, which is not set: returns its new place. The place of
// an empty list is not looked at.
uint32_t pool_lengthen(Pool *pool, uint32_t place, int32_t count);
// Its last element goes. The place of a list that becomes empty is 0.
uint32_t pool_shorten(Pool *pool, uint32_t place, int32_t count);
// A block for a list of `count` elements at once, and back; count > 0.
uint32_t pool_take(Pool *pool, int32_t count);
void pool_give(Pool *pool, uint32_t place, int32_t count);
