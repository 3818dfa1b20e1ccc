// Durations in bins of 1/16 of a power of two of nanoseconds.
#include "internal.h"

static int bin_of(double seconds) {
    uint64_t nanoseconds = seconds > 0 ? (uint64_t)(seconds * 1e9) : 0;
    if (nanoseconds < 16)
        return (int)nanoseconds;
    int power = 63 - __builtin_clzll(nanoseconds);
    return 16 * (power - 3) + (int)(nanoseconds >> (power - 4) & 15);
}

// The end of a bin.
static double end_of(int bin) {
    if (bin < 16)
        return (bin + 1) * 1e-9;
    return ldexp(16 + bin % 16 + 1, bin / 16 - 1) * 1e-9;
}

void latency_add(Latency *latency, double seconds) {
    latency->bin[bin_of(seconds)]++;
    latency->count++;
    latency->total += seconds;
    latency->longest = seconds > latency->longest ? seconds : latency->longest;
}

double latency_quantile(const Latency *latency, double share) {
    int64_t wanted = (int64_t)ceil(share * (double)latency->count), seen = 0;
    for (int bin = 0; bin < LATENCY_BINS; bin++) {
        seen += latency->bin[bin];
        if (seen >= wanted && seen > 0)
            return end_of(bin) < latency->longest ? end_of(bin) : latency->longest;
    }
    return latency->longest;
}
