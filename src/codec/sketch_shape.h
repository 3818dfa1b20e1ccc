// What a message of sketch.h is made of, for those who write it and who read it: all that follows
// from the options and the head of a message.
#pragma once

#include "min_max.h"
#include "sketch.h"

enum {
    SIGNS = 2,       // negative, positive
    SIGN_MOST = 127, // buckets of one, so that with zero they have 255 codes
    CODES = 2 * SIGN_MOST + 1,
    VALUES_MOST = 16, // for each bucket, whose level so takes a quarter of a byte a value
    HEAD_BYTES = 1 + SIGNS,
    SEED_BYTES = 4,
    COUNT_BYTES = 4,
    LEVEL_BYTES = 4,
    LISTS = SIGNS * SKETCH_GROUPS
};

typedef struct Shape {
    const SketchOptions *options;
    int64_t n; // floats
    int buckets[SIGNS];
    int width[SIGNS]; // buckets of a group
    int lists[SIGNS]; // groups
    int bits;         // of a number
} Shape;
Shape shape_of(const SketchOptions *options, int64_t n, SketchForm form, const int buckets[SIGNS]);
int sketch_sign_most(const SketchOptions *options); // buckets of a sign
// Values that have keys. Of a part no more are not zero; else keys are for fewer than half.
int64_t sketch_keys_most(const SketchOptions *options, int64_t n);

// ---- codes: places of levels, zero between the signs
static inline int codes_of(const Shape *shape) { return shape->buckets[0] + shape->buckets[1] + 1; }
static inline int zero_of(const Shape *shape) { return shape->buckets[0]; }
static inline int code_at(const Shape *shape, int sign, int bucket) {
    return sign == 0 ? zero_of(shape) - 1 - bucket : zero_of(shape) + 1 + bucket;
}
// Of a code that is not that of zero.
static inline int bucket_at(const Shape *shape, int code) {
    return code < zero_of(shape) ? zero_of(shape) - 1 - code : code - zero_of(shape) - 1;
}

// ---- numbers
// The most bytes, which they take as bits: 0 without any.
static inline int64_t numbers_most(int64_t numbers, int bits) {
    return numbers == 0 || bits == 0 ? 0 : 1 + (numbers * bits + 7) / 8;
}

// ---- lists of keys
typedef struct List {
    int sign, first, width; // its buckets begin with `first`
} List;
static inline int lists_of(const Shape *shape) { return shape->lists[0] + shape->lists[1]; }
List list_at(const Shape *shape, int i);
int list_of(const Shape *shape, int code);

// What the lists of a message hold.
typedef struct Lists {
    int64_t begin[LISTS + 1]; // list i has the keys [begin[i], begin[i + 1])
    int64_t cell[LISTS + 1];  // and these cells
} Lists;
static inline int64_t keys_in(const Lists *lists, int i) {
    return lists->begin[i + 1] - lists->begin[i];
}
// begin[i + 1] comes as the keys of list i.
void place_lists(Lists *lists, const Shape *shape);
MinMax sketch_at(const Shape *shape, const Lists *lists, int i, uint32_t seed, uint8_t *cell);
// The code of a key of a list, as its sketch has it; that of zero if it is damaged.
int code_of_key(const Shape *shape, List list, const MinMax *sketch, uint32_t key);

// ---- scratch
typedef struct Work {
    uint32_t *bin[SIGNS]; // [QUANTILE_BINS]
    uint32_t *key;        // [keys] list by list
    uint8_t *code;        // [n]
    uint8_t *cell;        // of all lists
} Work;
Work work_at(void *scratch, const SketchOptions *options, int64_t n);
