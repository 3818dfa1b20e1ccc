// Dropout of single entries: the number of (row, column) as a whole row's dropout draws it.
//
// The one idea: each lane holds the block of random numbers of one entry, so all four words of the
// counter are vectors; of its eight numbers one is used. What is dropped becomes +0 by a mask, not
// by a branch: which entries stay is random.
#include "../bf16.h"
#include "entries.h"
#include "philox_lanes.h"

enum { CHAINS = 4, GROUP = CHAINS * WIDE_BLOCKS };

LANES_INLINE Wide wide_load(const uint64_t *from) {
    Wide wide;
    __builtin_memcpy(&wide, from, sizeof wide);
    return wide;
}

// The words of the blocks of `count` entries from `first` on, which has the last one again where
// there are fewer than GROUP: word[j][lane].
LANES_INLINE void entry_words(uint64_t word[4][GROUP], const EntriesCall *call, int64_t first,
                              int64_t count) {
    uint64_t low[GROUP], high[GROUP], block[GROUP];
    Wide chain[CHAINS][4];
    for (int64_t i = 0; i < GROUP; i++) {
        int64_t k = first + (i < count ? i : count - 1);
        uint64_t id = (uint64_t)call->gid[call->row[k]];
        low[i] = (uint32_t)id;
        high[i] = id >> 32 & 0xffff;
        block[i] = call->key.philox.tag | (uint32_t)call->column[k] >> 3;
    }
#pragma GCC unroll 4
    for (int i = 0; i < CHAINS; i++) {
        chain[i][0] = wide_load(low + i * WIDE_BLOCKS);
        chain[i][1] = wide_load(high + i * WIDE_BLOCKS);
        chain[i][2] = wide_set(call->key.philox.epoch);
        chain[i][3] = wide_load(block + i * WIDE_BLOCKS);
    }
    philox_rounds(chain, CHAINS, &call->key.philox, 0, 7);
    if (!call->key.philox.kind.seven)
        philox_rounds(chain, CHAINS, &call->key.philox, 7, 10);
#pragma GCC unroll 4
    for (int i = 0; i < CHAINS; i++)
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++)
            __builtin_memcpy(word[j] + i * WIDE_BLOCKS, &chain[i][j], sizeof(Wide));
}

// x scale, or +0.
LANES_INLINE float kept_or_zero(float x, float scale, bool kept) {
    return float_of_bits(float_bits(x * scale) & (0u - (uint32_t)kept));
}

void LANES_NAME(dropout_entries)(const EntriesCall *call, int64_t begin, int64_t end) {
    uint64_t word[4][GROUP];
    for (int64_t first = begin; first < end; first += GROUP) {
        int64_t count = end - first < GROUP ? end - first : GROUP;
        entry_words(word, call, first, count);
        for (int64_t i = 0; i < count; i++) {
            uint32_t at = (uint32_t)call->column[first + i] & 7;
            uint32_t number = (uint32_t)(word[at / 2][i] >> (at % 2 * 16)) & 0xffff;
            call->out[first + i] =
                kept_or_zero(call->value[first + i], call->key.scale, number < call->key.threshold);
        }
    }
}
