// See quantiles.h.

#include "quantiles.h"

// A bin belongs where its first value stands among all. Buckets that no bin begins in are left out.
int quantiles_make(uint32_t *bin, int64_t n, int most) {
    int64_t before = 0, last = -1;
    int buckets = 0;
    for (int i = 0; i < QUANTILE_BINS; i++) {
        if (bin[i] == 0)
            continue;
        int64_t quantile = before * most / n;
        before += bin[i];
        buckets += quantile > last;
        last = quantile;
        bin[i] = (uint32_t)(buckets - 1);
    }
    return buckets;
}
