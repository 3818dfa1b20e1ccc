// Fennel beside METIS: edges cut and edges streamed in a second.
// bench_fennel [--seed=1] [--parts=0] [--strict]; parts 0: 2, 4 and 8
//
// The graphs are products-small and reddit-small, with the ids that the generator
// gives and with ids at random: a stream may not live on what the order of ids tells. Every cut is
// checked before a figure is printed: ids in range, no part empty or above METIS's tolerance, the
// edges between parts counted here.
#include "bench.h"
#include "fringe/partition.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 15, PARTS_MOST = 1024 };
static const double tolerance = 1.03;

static void need(bool good, const Error *err) { CHECK(good, (ExitCode)err->code, "%s", err->text); }

static void swap(int32_t *a, int32_t *b) {
    int32_t kept = *a;
    *a = *b;
    *b = kept;
}

// Gives every node another id, at random.
static void shuffle_ids(Dataset *d) {
    Csr edges = dataset_csr(d), listed, turned, sorted;
    Error err = {0};
    RandomStream stream = random_stream(1, RANDOM_GENERATE, 0, 0, 0);
    int32_t *id = ALLOC(int32_t, d->nodes, "new ids");
    int32_t *row = ALLOC(int32_t, d->edges, "new ids"),
            *column = ALLOC(int32_t, d->edges, "new ids");
    for (int64_t v = 0; v < d->nodes; v++) {
        id[v] = (int32_t)v;
        swap(&id[v], &id[(int64_t)((double)(v + 1) * (double)random_uniform32(stream, v, 0, 0))]);
    }
    for (int64_t v = 0; v < d->nodes; v++)
        for (int64_t e = edges.offset[v]; e < edges.offset[v + 1]; e++) {
            row[e] = id[v];
            column[e] = id[edges.column[e]];
        }
    need(csr_from_pairs(&listed, d->nodes, d->edges, row, column, NULL, "edges", &err), &err);
    csr_transpose(&turned, &listed, d->nodes);
    csr_transpose(&sorted, &turned, d->nodes);
    memcpy(d->offset, sorted.offset, (size_t)(d->nodes + 1) * sizeof *d->offset);
    memcpy(d->target, sorted.column, (size_t)d->edges * sizeof *d->target);
    csr_free(&sorted);
    csr_free(&turned);
    csr_free(&listed);
    memory_free(column);
    memory_free(row);
    memory_free(id);
}

typedef struct Task {
    const Dataset *dataset;
    const char *method;
    int parts;
    int32_t *part;
} Task;

static void cut(void *context) {
    Task *task = context;
    Config config = {.partition.seed = 1};
    Error err = {0};
    Warnings warnings = {0};
    snprintf(config.partition.method, sizeof config.partition.method, "%s", task->method);
    need(partition_cut(task->part, task->dataset, task->parts, &config, &err, &warnings), &err);
}

// Edges between two parts, of a cut that is what it should be.
static double edges_cut(const Task *task) {
    int64_t count[PARTS_MOST] = {0}, between = 0, nodes = task->dataset->nodes;
    Csr edges = dataset_csr(task->dataset);
    for (int64_t v = 0; v < nodes; v++) {
        CHECK(task->part[v] >= 0 && task->part[v] < task->parts, EXIT_BUG, "a part out of range");
        count[task->part[v]]++;
        for (int64_t e = edges.offset[v]; e < edges.offset[v + 1]; e++)
            between += task->part[v] != task->part[edges.column[e]];
    }
    for (int p = 0; p < task->parts; p++)
        CHECK(count[p] > 0 && (double)count[p] <= tolerance * (double)nodes / task->parts + 1,
              EXIT_BUG, "%s: part %d has %lld nodes", task->method, p, (long long)count[p]);
    return (double)between / 2;
}

static double cut_by(Task task, const char *method) {
    task.method = method;
    cut(&task);
    return edges_cut(&task);
}

static void compare(Bench *bench, const char *graph, const Task *task) {
    double metis = cut_by(*task, "metis"), random = cut_by(*task, "random");
    double one = cut_by(*task, "fennel"), three = cut_by(*task, "fennel:3");
    Figure figure = {.value = one, .unit = "edges", .limit = metis, .ratio = one / metis};
    snprintf(figure.against, sizeof figure.against, "METIS");
    snprintf(figure.name, sizeof figure.name, "%s, %d parts, 1 pass", graph, task->parts);
    bench_figure(bench, &figure);
    figure.value = three, figure.ratio = three / metis, figure.bar = 2.5, figure.at_most = true;
    snprintf(figure.name, sizeof figure.name, "%s, %d parts, 3 passes", graph, task->parts);
    bench_figure(bench, &figure);
    figure.limit = random, figure.ratio = three / random, figure.bar = 0.5;
    snprintf(figure.against, sizeof figure.against, "random");
    bench_figure(bench, &figure);
}

// Seconds of the processor, for a core is shared with others; the method has one thread.
static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Stored edges in a second of one core, of the cut alone.
static void measure(Bench *bench, const char *graph, Task task) {
    double seconds[ROUNDS];
    task.method = "fennel";
    cut(&task); // brings the graph into the cache
    for (int round = 0; round < ROUNDS; round++) {
        double since = processor_seconds();
        cut(&task);
        seconds[round] = processor_seconds() - since;
    }
    double rate = 1e-6 * (double)task.dataset->edges / bench_median(seconds, ROUNDS);
    Figure figure = {.value = rate, .unit = "M edges/s", .limit = 30, .ratio = rate / 30, .bar = 1};
    snprintf(figure.against, sizeof figure.against, "30 M stored edges/s");
    snprintf(figure.name, sizeof figure.name, "%s, %d parts, 1 pass", graph, task.parts);
    bench_figure(bench, &figure);
}

int main(int argc, char **argv) {
    static const char *const graphs[] = {"products-small", "reddit-small"};
    Bench bench;
    bench_start(&bench, "fennel", argc, argv);
    int64_t seed = bench_option(argc, argv, "--seed", 1);
    int asked = (int)bench_option(argc, argv, "--parts", 0);
    for (int g = 0; g < 2; g++) {
        Dataset dataset;
        Error err = {0};
        need(dataset_generate(&dataset, graphs[g], seed, &err), &err);
        Task task = {.dataset = &dataset, .part = ALLOC(int32_t, dataset.nodes, "parts")};
        for (int shuffled = 0; shuffled < 2; shuffled++) {
            char name[64];
            snprintf(name, sizeof name, "%s%s", graphs[g], shuffled ? ", ids shuffled" : "");
            if (shuffled)
                shuffle_ids(&dataset);
            for (int parts = 2; parts <= 8; parts *= 2) {
                task.parts = asked > 0 ? asked : parts;
                compare(&bench, name, &task);
                measure(&bench, name, task);
                if (asked > 0)
                    break;
            }
        }
        memory_free(task.part);
        dataset_clear(&dataset);
    }
    return bench_end(&bench);
}
