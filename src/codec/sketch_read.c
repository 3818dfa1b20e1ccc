// A message of sketch.h to floats.

#include "differences.h"
#include "rans.h"
#include "sketch_shape.h"

// ---- numbers

static bool unpack(uint8_t *number, int64_t n, int bits, const unsigned char *in) {
    uint32_t waiting = 0;
    int have = 0;
    for (int64_t i = 0; i < n; i++) {
        for (; have < bits; have += 8)
            waiting |= (uint32_t)*in++ << have;
        number[i] = (uint8_t)(waiting & ((1U << bits) - 1));
        waiting >>= bits;
        have -= bits;
    }
    return waiting == 0;
}

static bool read_numbers(uint8_t *number, const Shape *shape, int64_t n, int zero,
                         const unsigned char *in, const unsigned char *end) {
    int64_t packed = numbers_most(n, shape->bits);
    if (n == 0 || packed == 0) {
        memset(number, 0, (size_t)n);
        return in == end;
    }
    if (in == end)
        return false;
    if (in[0] == RANS_PACKED)
        return end - in == packed && unpack(number, n, shape->bits, in + 1);
    return shape->options->entropy &&
           rans_decode(number, n, shape->bits, (uint8_t)zero, in, (size_t)(end - in));
}

// ---- levels

// Levels of the other sign are refused.
static bool read_levels(float level[CODES], const Shape *shape, const unsigned char *in) {
    for (int c = 0; c < codes_of(shape); c++) {
        level[c] = 0;
        if (c == zero_of(shape))
            continue;
        memcpy(&level[c], in, sizeof *level);
        in += sizeof *level;
        if (!isfinite(level[c]) || (c < zero_of(shape) ? level[c] > 0 : level[c] < 0))
            return false;
    }
    return true;
}

// ---- codes

// What is left of a message.
typedef struct Left {
    const unsigned char *at, *end;
} Left;

// The next `bytes` of it; NULL: there are fewer.
static const unsigned char *take(Left *left, int64_t bytes) {
    const unsigned char *at = left->at;
    if (bytes > left->end - at)
        return NULL;
    left->at += bytes;
    return at;
}

static bool read_dense(float *x, Work *work, const Shape *shape, const float level[CODES],
                       Left left) {
    if (!read_numbers(work->code, shape, shape->n, zero_of(shape), left.at, left.end))
        return false;
    for (int64_t i = 0; i < shape->n; i++) {
        if (work->code[i] >= codes_of(shape))
            return false;
        x[i] = level[work->code[i]];
    }
    return true;
}

// ---- lists

// How many keys there are in each list: no more than may be.
static bool read_counts(Lists *lists, const Shape *shape, Left *left) {
    const unsigned char *count = take(left, COUNT_BYTES * lists_of(shape));
    int64_t room = sketch_keys_most(shape->options, shape->n);
    if (count == NULL)
        return false;
    for (int i = 0; i < lists_of(shape); i++, count += COUNT_BYTES) {
        lists->begin[i + 1] = number_get(count, COUNT_BYTES);
        if (lists->begin[i + 1] > room)
            return false;
        room -= lists->begin[i + 1];
    }
    place_lists(lists, shape);
    return true;
}

// The keys of a list. Each is of no other list.
static bool read_keys(Work *work, const Shape *shape, const Lists *lists, int i, Left *left) {
    DifferenceReader keys;
    if (!differences_read(&keys, left->at, left->end, keys_in(lists, i)))
        return false;
    for (int64_t key, k = lists->begin[i]; k < lists->begin[i + 1]; k++) {
        if (!differences_get(&keys, shape->n, &key) || work->code[key]++ > 0)
            return false;
        work->key[k] = (uint32_t)key;
    }
    left->at = keys.at;
    return true;
}

static bool get_list(float *x, const Work *work, const Shape *shape, const Lists *lists, int i,
                     uint32_t seed, const float level[CODES]) {
    List list = list_at(shape, i);
    MinMax sketch = sketch_at(shape, lists, i, seed, work->cell);
    for (int64_t k = lists->begin[i]; k < lists->begin[i + 1]; k++) {
        int code = code_of_key(shape, list, &sketch, work->key[k]);
        if (code == zero_of(shape))
            return false;
        x[work->key[k]] = level[code];
    }
    return true;
}

static bool read_lists(float *x, Work *work, const Shape *shape, const float level[CODES],
                       Left left) {
    Lists lists;
    const unsigned char *seed = take(&left, SEED_BYTES);
    if (seed == NULL || !read_counts(&lists, shape, &left))
        return false;
    memset(x, 0, (size_t)shape->n * sizeof *x);
    memset(work->code, 0, (size_t)shape->n);
    for (int i = 0; i < lists_of(shape); i++)
        if (!read_keys(work, shape, &lists, i, &left))
            return false;
    if (!read_numbers(work->cell, shape, lists.cell[lists_of(shape)], 0, left.at, left.end))
        return false;
    for (int i = 0; i < lists_of(shape); i++)
        if (!get_list(x, work, shape, &lists, i, number_get(seed, SEED_BYTES), level))
            return false;
    return true;
}

// ---- all of it

bool sketch_read(float *x, int64_t n, const SketchOptions *options, const unsigned char *in,
                 size_t bytes, void *scratch) {
    Work work = work_at(scratch, options, n);
    Left left = {in, in + bytes};
    float level[CODES];
    const unsigned char *head = n > 0 ? take(&left, HEAD_BYTES) : NULL;
    if (head == NULL)
        return n == 0 && bytes == 0;
    const int buckets[SIGNS] = {head[1], head[2]};
    if (head[0] > SKETCH_KEYS || buckets[0] > sketch_sign_most(options) ||
        buckets[1] > sketch_sign_most(options))
        return false;
    Shape shape = shape_of(options, n, (SketchForm)head[0], buckets);
    const unsigned char *levels = take(&left, LEVEL_BYTES * (codes_of(&shape) - 1));
    if (levels == NULL || !read_levels(level, &shape, levels))
        return false;
    return head[0] == SKETCH_KEYS ? read_lists(x, &work, &shape, level, left)
                                  : read_dense(x, &work, &shape, level, left);
}
