// The bound on the pins of a part in a snapshot: what stream.epsilon or stream.capacity asks for,
// or more where hyperedges, which are not split, cannot be spread so evenly. The test is longest
// processing time first: the largest hyperedges come first, each to the lightest part.
#include "internal.h"

// ---- the lightest part: a heap of parts by (load, part)

static bool is_lighter(const int64_t *load, int32_t one, int32_t other) {
    return load[one] != load[other] ? load[one] < load[other] : one < other;
}

static void sink(int32_t *heap, const int64_t *load, int parts) {
    for (int at = 0, next; (next = 2 * at + 1) < parts; at = next) {
        next += next + 1 < parts && is_lighter(load, heap[next + 1], heap[next]);
        if (!is_lighter(load, heap[next], heap[at]))
            return;
        int32_t kept = heap[at];
        heap[at] = heap[next];
        heap[next] = kept;
    }
}

int64_t bound_spread(const int64_t *size, int64_t count, int parts, int64_t small, int32_t *part) {
    FREED int32_t *heap = ALLOC(int32_t, parts, "parts by their load");
    int64_t *load = ALLOC(int64_t, parts, "loads of parts"), most = 0;
    for (int32_t p = 0; p < parts; p++)
        heap[p] = p;
    for (int64_t i = 0; i < count && size[i] > small; i++) {
        int32_t to = heap[0];
        load[to] += size[i];
        most = load[to] > most ? load[to] : most;
        if (part != NULL)
            part[i] = to;
        sink(heap, load, parts);
    }
    memory_free(load);
    return most;
}

// ---- the bound

static double promise(const SrpOptions *options, int64_t pins) {
    return options->capacity > 0 ? (double)options->capacity
                                 : (1 + options->epsilon) * (double)pins / options->parts;
}

static int64_t larger(int64_t one, int64_t other) { return one > other ? one : other; }

static void sort_descending(int64_t *size, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        size[i] = -size[i];
    sort_int64(size, count);
    for (int64_t i = 0; i < count; i++)
        size[i] = -size[i];
}

// A bound so far above the mean is reached by moving small hyperedges, of which every part can be
// expected to have some; one closer to the mean is a puzzle, which costs many replicas. An eighth
// of all pins are in hyperedges of at most so many.
static int64_t least_slack(const int64_t *descending, int64_t hyperedges, int64_t pins,
                           int64_t mean) {
    int64_t i = hyperedges, smaller = 0;
    while (i > 0 && 8 * smaller < pins)
        smaller += descending[--i];
    int64_t common = i < hyperedges ? descending[i] : 0;
    return common < mean / 16 ? common : mean / 16;
}

SrpBound srp_bound(const SrpOptions *options, int64_t *size, int64_t hyperedges) {
    int64_t pins = 0;
    for (int64_t h = 0; h < hyperedges; h++)
        pins += size[h];
    sort_descending(size, hyperedges);
    double promised = fmin(promise(options, pins), (double)pins);
    int64_t mean = pins / options->parts; // what has no more than most - mean pins fits somewhere
    int64_t least = mean + least_slack(size, hyperedges, pins, mean);
    int64_t most = larger((int64_t)promised, least < pins ? least : pins);
    int64_t spread = bound_spread(size, hyperedges, options->parts, most - mean, NULL);
    return (SrpBound){.mean = (double)pins / options->parts,
                      .promised = promised,
                      .largest = hyperedges > 0 ? size[0] : 0,
                      .most = larger(most, spread)};
}

// ---- in words

// Three digits, rounded up, so that what is allowed is no less than what is needed.
static double rounded_up(double value) {
    double unit = value > 0 ? pow(10, floor(log10(value)) - 2) : 1;
    return ceil(value / unit) * unit;
}

void srp_bound_text(char *out, size_t size, const SrpOptions *options, const SrpBound *bound) {
    char key[64];
    if (options->capacity > 0)
        snprintf(key, sizeof key, "stream.capacity=%ld", options->capacity);
    else
        snprintf(key, sizeof key, "stream.epsilon=%g", options->epsilon);
    snprintf(out, size,
             "%s cannot be kept: hyperedges are not split, the largest has %ld pins, and %d parts "
             "have %.1f in the mean; a part gets at most %ld, as with stream.epsilon=%.3g",
             key, bound->largest, options->parts, bound->mean, bound->most,
             rounded_up((double)bound->most / bound->mean - 1));
}
