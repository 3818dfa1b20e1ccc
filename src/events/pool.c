// Lists in blocks of two sizes per power of two. A free block begins with 1 + the place of the next
// free one.
#include "fringe/growing.h"

bool pool_init(Pool *pool, size_t item, const char *what, Error *err) {
    *pool = (Pool){0};
    return growing_init(&pool->elements, UINT32_MAX, item, what, err);
}

void pool_clear(Pool *pool) { growing_clear(&pool->elements); }

// Sizes by class: 1, 2, 3, 4, 6, 8, 12, 16, ...
static int class_of(int32_t count) {
    if (count <= 2)
        return count - 1;
    uint32_t last = (uint32_t)count - 1;
    int power = 31 - __builtin_clz(last);
    return 2 * power + (last >= 3u << (power - 1));
}

static int64_t size_of(int class) {
    int power = class / 2;
    if (class < 2)
        return class + 1;
    return class % 2 == 1 ? (int64_t)2 << power : (int64_t)3 << (power - 1);
}

static unsigned char *element(const Pool *pool, uint32_t place) {
    return (unsigned char *)pool->elements.at + place * pool->elements.item;
}

uint32_t pool_take(Pool *pool, int32_t count) {
    int class = class_of(count);
    uint32_t place = pool->free[class];
    if (place != 0) {
        memcpy(&pool->free[class], element(pool, place - 1), sizeof pool->free[class]);
        return place - 1;
    }
    int64_t at = pool->used, size = size_of(class);
    CHECK(at + size <= pool->elements.most, EXIT_MEMORY, "no room for %s: more than 2^32 elements",
          pool->elements.what);
    growing_reach(&pool->elements, at + size);
    pool->used += size;
    return (uint32_t)at;
}

void pool_give(Pool *pool, uint32_t place, int32_t count) {
    int class = class_of(count);
    memcpy(element(pool, place), &pool->free[class], sizeof pool->free[class]);
    pool->free[class] = place + 1;
}

// Moves a list of `count` elements into a block for `room` of them.
static uint32_t move(Pool *pool, uint32_t place, int32_t count, int32_t room) {
    uint32_t to = pool_take(pool, room);
    memcpy(element(pool, to), element(pool, place),
           (size_t)(count < room ? count : room) * pool->elements.item);
    pool_give(pool, place, count);
    return to;
}

uint32_t pool_lengthen(Pool *pool, uint32_t place, int32_t count) {
    if (count == 0)
        return pool_take(pool, 1);
    return class_of(count) == class_of(count + 1) ? place : move(pool, place, count, count + 1);
}

uint32_t pool_shorten(Pool *pool, uint32_t place, int32_t count) {
    if (count == 1) {
        pool_give(pool, place, 1);
        return 0;
    }
    return class_of(count) == class_of(count - 1) ? place : move(pool, place, count, count - 1);
}
