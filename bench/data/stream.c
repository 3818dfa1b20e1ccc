// Streams of 10^5 to 10^7 events through the partitioner: pins per second from a binary file, with
// and without the window, time and work of one event, memory per pin.
// bench_stream [--events=10000000] [--parts=28] [--strict]
//
// Hyperedge h of n belongs to a random community of 1,000 nodes; of its 2 to 10 pins (the second
// stream: 2 to 100, three quarters of them below 10) nine in ten are of that community, so that the
// degrees of nodes do not depend on the length of the stream. Next to the rates stands what the
// machine can do: reads of 64 bytes at random places of a table as large as the partitioner's
// memory, as many for each pin as the layout needs at least (two to find the node, one each for its
// place, its pins and its parts).
//
// smoke: --events=3000 --parts=4
#include "bench.h"
#include "event_writer.h"
#include "fringe/srp.h"

#include <unistd.h>

enum { COMMUNITY = 1000, ARITY_MOST = 100, READS = 5, SIZES = 3 };

// ---- the stream

static uint64_t next(uint64_t *state) { // splitmix64
    uint64_t z = *state;
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return bench_mixed(z);
}

static int64_t arity_of(uint64_t draw, bool wide) {
    int64_t small = 2 + (int64_t)(draw % 9);
    return wide && (draw >> 32) % 4 == 0 ? 2 + (int64_t)(draw % 99) : small;
}

static int64_t draw_hyperedge(uint64_t other[ARITY_MOST], int64_t h, int64_t events, bool wide) {
    uint64_t state = (uint64_t)h * 0x2545f4914f6cdd1du + 7;
    int64_t communities = (events + COMMUNITY - 1) / COMMUNITY;
    int64_t arity = arity_of(next(&state), wide), count = 0;
    uint64_t base = COMMUNITY * (next(&state) % (uint64_t)communities);
    while (count < arity) {
        uint64_t draw = next(&state), pin = base + draw / 10 % COMMUNITY;
        if (draw % 10 == 0)
            pin = next(&state) % (uint64_t)(communities * COMMUNITY);
        bool is_new = true;
        for (int64_t i = 0; i < count; i++)
            is_new = is_new && other[i] != pin;
        if (is_new)
            other[count++] = pin;
    }
    return count;
}

static void write_stream(const char *path, int64_t events, bool wide) {
    uint64_t other[ARITY_MOST];
    EventWriter *writer = need(event_writer_open(path, true, &err));
    for (int64_t h = 0; h < events; h++) {
        int64_t count = draw_hyperedge(other, h, events, wide);
        Event event = {EVENT_HYPEREDGE, (uint64_t)h, count, other, false, 1, ""};
        need(event_writer_put(writer, &event, &err));
    }
    need(event_writer_close(writer, &err));
}

// ---- one run over it

typedef struct Outcome {
    int64_t pins, items;
    double seconds, work;           // seconds: reading and applying
    double resident, settled;       // bytes: after the last event, and while settled for a snapshot
    double p50, p99, p999, longest; // seconds of one event
    int64_t replicas;
} Outcome;

static int by_value(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double resident(void) {
    long pages = 0, all = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &all, &pages) != 2)
        pages = 0;
    if (file != NULL)
        fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void sort_times(Outcome *out, float *time, int64_t events) {
    qsort(time, (size_t)events, sizeof *time, by_value);
    out->p50 = (double)time[events / 2];
    out->p99 = (double)time[events * 99 / 100];
    out->p999 = (double)time[events * 999 / 1000];
    out->longest = (double)time[events - 1];
}

// time[events]: of each event, or the shorter of this one and what it holds.
static Outcome run(const char *path, int64_t events, int parts, int64_t window, float *time) {
    Outcome out = {0};
    Event event;
    SrpOptions options = {.parts = parts,
                          .score = "marginal",
                          .during = window > 0,
                          .after = window > 0,
                          .window = window,
                          .iterations = 10,
                          .epsilon = 0.1,
                          .passes = 1};
    double before = resident();
    CLEARED(srp_drop) Srp *srp = need(srp_new(&options, &err));
    CLEARED(reader_drop) EventReader *reader = need(event_reader_open(path, &err));
    double begin = clock_seconds();
    for (int64_t i = 0; event_reader_next(reader, &event, &(Error){0}) == EVENT_READ; i++) {
        double start = clock_seconds();
        need(srp_apply(srp, &event, &err));
        float taken = (float)(clock_seconds() - start);
        time[i] = time[i] > 0 && time[i] < taken ? time[i] : taken;
    }
    out.seconds = clock_seconds() - begin;
    out.resident = resident() - before;
    const LiveHypergraph *live = srp_live(srp);
    CHECK(live->side[SIDE_HYPEREDGE].count == events, EXIT_BUG, "hyperedges are missing");
    out.pins = live->pins;
    out.items = live->side[SIDE_NODE].count + live->side[SIDE_HYPEREDGE].count;
    out.work = (double)srp_totals(srp).work;
    out.replicas = srp_totals(srp).replicas;
    srp_settle(srp);
    out.settled = resident() - before;
    srp_unsettle(srp);
    return out;
}

// Several runs over the same events, so that an event is not blamed for what other programs do.
static Outcome run_again(const char *path, int64_t events, int parts, int64_t window, int runs) {
    FREED float *time = ALLOC(float, events, "times of events");
    Outcome out = {0};
    for (int64_t i = 0; i < events; i++)
        time[i] = 0; // touched, so that it is not counted as the partitioner's memory
    for (int r = 0; r < runs; r++)
        out = run(path, events, parts, window, time);
    sort_times(&out, time, events);
    return out;
}

// ---- the limit: reads of 64 bytes at random places, a second

static double random_reads(double bytes) {
    const int64_t count = bench_sized(4000000, 1000);
    int64_t lines = (int64_t)(bytes / 64) + 1;
    uint64_t *table = ALLOC(uint64_t, lines * 8, "table of random reads"), state = 1, sum = 0;
    for (int64_t i = 0; i < lines; i++)
        table[i * 8] = (uint64_t)i;
    double begin = clock_seconds();
    for (int64_t i = 0; i < count; i++)
        sum += table[(next(&state) % (uint64_t)lines) * 8];
    double rate = (double)count / (clock_seconds() - begin);
    CHECK(sum > 0, EXIT_BUG, "nothing was read");
    memory_free(table);
    return rate;
}

// ---- figures

static void rate(const char *what, const Outcome *out, double bar) {
    Figure f = {.value = (double)out->pins / out->seconds / 1e6, .unit = "M pins/s", .bar = bar};
    snprintf(f.name, sizeof f.name, "%s", what);
    snprintf(f.against, sizeof f.against, "random reads of memory / %d", READS);
    f.limit = random_reads(out->resident) / READS / 1e6;
    f.ratio = f.value;
    bench_figure(&f);
}

static double memory_share(const Outcome *out) {
    return out->resident / (40.0 * (double)out->pins + 64.0 * (double)out->items);
}

static void lengths(const char *path, int64_t most, int parts, int64_t window) {
    Outcome out[SIZES];
    int count = 0;
    for (int64_t events = bench_sized(100000, 300); events <= most && count < SIZES;
         events *= 10, count++) {
        write_stream(path, events, false);
        out[count] = run_again(path, events, parts, window, 1);
        const char *name = window > 0 ? "default" : "phase 1 alone";
        rate(bench_print("%s, %.0e events", name, (double)events), &out[count],
             window > 0 ? 0.25 : 1);
        bench_at_most(memory_share(&out[count]), "", 1, "", 0,
                      "memory / (40 B a pin + 64 B an item), %.0e events", (double)events);
        if (window > 0)
            bench_at_most(out[count].settled / out[count].resident, "", 1.5, "", 0,
                          "  memory while settled for a snapshot / memory");
        printf("  replicas %lld, work per pin %.2f, %.3g us per event\n",
               (long long)out[count].replicas, out[count].work / (double)out[count].pins,
               1e6 * out[count].seconds / (double)events);
    }
    const Outcome *first = &out[0], *last = &out[count - 1];
    double work = last->work / (double)last->pins / (first->work / (double)first->pins);
    double time = last->seconds / (double)last->pins / (first->seconds / (double)first->pins);
    bench_at_most(work, "x", 1.1, "", 0, "work per pin, longest / shortest stream");
    bench_at_most(1 / work, "x", 1.1, "", 0, "work per pin, shortest / longest stream");
    bench_at_most(time, "x", 4, "", 0, "time per pin, longest / shortest stream");
}

static void wide(const char *path, int parts) {
    const int64_t events = bench_sized(1000000, 1000);
    write_stream(path, events, true);
    Outcome out = run_again(path, events, parts, 4096, (int)bench_sized(3, 1));
    rate("arity up to 100, default, 1e6 events", &out, 0.25);
    bench_at_most(1e6 * out.p50, "us", 0, "", 0, "  one event, median");
    bench_at_most(1e6 * out.p99, "us", 50, "", 0, "  one event, p99");
    bench_at_most(1e3 * out.p999, "ms", 20, "", 0, "  one event, p99.9");
    bench_at_most(1e3 * out.longest, "ms", 20, "", 0, "  one event, longest");
}

BENCH(stream) {
    int64_t most = bench_option("--events", 10000000);
    int parts = (int)bench_option("--parts", 28);
    const char *path = bench_print("%s/events", bench_folder());
    lengths(path, most, parts, 0);
    lengths(path, most, parts, 4096);
    wide(path, parts);
}
