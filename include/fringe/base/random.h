// Counter-based random numbers: philox4x32 (Salmon et al., SC 2011), of ten rounds or, where a
// RandomKind says so, of seven, the fewest that passed BigCrush there. A number is a function of
// (seed, purpose, epoch, layer, direction, global row id, peer, column) only, so it does not depend
// on ranks, threads or parts. The layout of the counter never changes (ALGORITHMS 0):
//
//   key      64-bit seed
//   word 0   row id, low 32 bits; for a partial aggregate -1 - its target, which no row has
//   word 1   row id, high 16 bits | peer << 16
//   word 2   epoch
//   word 3   purpose << 28 | layer << 20 | direction << 19 | column block
//
// A block holds 8 numbers of 16 bits, low half of word 0 first, for columns 8b .. 8b+7;
// u = (k + 1/2) / 2^16. Users that need 32 bits take the four words of block b for columns 4b ..
// 4b+3. Of numbers of 8 bits (RandomKind) a block holds 16, low byte of word 0 first, for columns
// 16b .. 16b+15; u = (k + 1/2) / 2^8.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef enum RandomPurpose { // 4 bits
    RANDOM_WEIGHTS = 0, // row = input row of the matrix, layer = layer, direction 1 = self weights
    RANDOM_DROPOUT = 1,
    RANDOM_ROUNDING = 2,
    RANDOM_GENERATE = 3, // generators; `layer` numbers the draw
    RANDOM_FEATURES = 4, // features made by data.transforms, or by ids: row and peer are the id
    RANDOM_PARTITION = 5,
    RANDOM_ASSIGN = 6,   // random bit widths; epoch = when they were requested
    RANDOM_GRADIENT = 7, // coded weight gradients; row = bucket, peer = who codes; direction: 0
                         // shares, 1 sums. Layer 1: the first Q of low rank; row, peer = parameter
    RANDOM_SPLIT = 7,    // drawn splits; row = node. Epoch 0, which no gradient of layer 0 has
    RANDOM_STREAM = 8,   // score random of streams; `layer` 0: nodes, 1: hyperedges; row, peer: id
    RANDOM_SAMPLE = 9,   // comm.sample; row = node or hyperedge, peer = its reader, or who made its
                         // partial aggregate; `layer` = relation
    RANDOM_PROGRAM = 10, // columns of programs; row = node, epoch = the draw
    RANDOM_LABEL_INPUT = 12,  // train.label_input: which training nodes are inputs; row = node
    RANDOM_TRAIN_SAMPLE = 11, // train.sample: which training nodes count in an epoch; row = node
} RandomPurpose;

// How the numbers of dropout and of rounding are made (run.random, run.random_bits).
typedef struct RandomKind {
    bool seven;  // rounds, in the place of ten
    bool narrow; // values are rounded to 8 bits or fewer by numbers of 8 bits, in the place of 16
} RandomKind;

typedef struct RandomKey {
    uint64_t seed;
    uint32_t epoch;
    uint32_t tag;    // purpose << 28 | layer << 20 | direction << 19
    RandomKind kind; // of random_key: ten rounds, 16 bits
} RandomKey;

static inline RandomKey random_key(uint64_t seed, RandomPurpose purpose, uint32_t epoch, int layer,
                                   int direction) {
    return (RandomKey){.seed = seed,
                       .epoch = epoch,
                       .tag = (uint32_t)purpose << 28 | (uint32_t)(layer & 0xff) << 20 |
                              (uint32_t)(direction & 1) << 19,
                       .kind = {.seven = false, .narrow = false}};
}

static inline RandomKey random_of_kind(RandomKey key, RandomKind kind) {
    key.kind = kind;
    return key;
}

static inline int random_rounds(RandomKind kind) { return kind.seven ? 7 : 10; }

// The four words of one block. block < 2^19.
void random_block(uint32_t out[4], RandomKey key, int64_t row, int peer, uint32_t block);

// One philox4x32 permutation of a counter under a key (for tests against known vectors).
void random_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2], int rounds);

// Uniform in (0,1): 16-bit number k of column `column` as (k + 1/2) / 2^16.
float random_uniform16(RandomKey key, int64_t row, int peer, int64_t column);
// Uniform in (0,1) with 32 bits: (k + 1/2) / 2^32.
double random_uniform32(RandomKey key, int64_t row, int peer, int64_t column);
// A random order: everything draws a number (words 0 and 1 of its block), and these are sorted.
typedef struct RandomDraw {
    uint64_t number;
    int32_t of;
} RandomDraw;
RandomDraw random_draw(RandomKey key, int32_t of);
void random_sort(RandomDraw *draw, int64_t count); // those with equal numbers by `of`
// Standard normal (Box-Muller on the 32-bit numbers of columns 2c and 2c+1).
double random_normal(RandomKey key, int64_t row, int peer, int64_t column);
