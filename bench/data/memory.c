// Memory foreseen against memory taken: loading a dataset, cutting it with METIS, and making the
// Patterns of its parts. bench/data/memory.sh runs it:
//
//   bench_memory FOLDER           writes the graphs to FOLDER, loads and cuts each in a process of
//                                 its own
//   mpirun bench_memory FOLDER    makes the Patterns of each, every rank those of its part
//
// Taken is what the kernel says of resident memory: its peak less what was there before.
#include "base/testing.h"
#include "bench.h"
#include "fringe/halo.h"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const double mebibyte = 1 << 20;
enum { PARTS = 8 };

typedef struct Graph {
    const char *name;
    const char *made; // how `fringe generate` calls it; NULL: a real one under FRINGE_DATA
    const char *path; // in FOLDER, or under FRINGE_DATA
    bool directed;    // keeps the edges to larger ids only
    const char *prepare;
} Graph;

static const Graph graphs[] = {
    {"amazon_computers, directed", NULL, "amazon_computers/amazon_electronics_computers.npz", true,
     "data.transforms=[]"},
    {"coauthor_cs", NULL, "coauthor_cs/ms_academic_cs.npz", false,
     "data.transforms=[\"symmetrize\"]"},
    {"reddit-small", "reddit-small", "reddit.graph", false, "data.transforms=[\"random:64\"]"},
    {"planted, 3 edges a node", "planted:nodes=200000,edges=600000,features=1,communities=100",
     "sparse.txt", false, "data.transforms=[\"degree\"]"},
    {"planted, hubs", "planted:nodes=100000,edges=2000000,features=1,communities=40,spread=1.5",
     "hubs.txt", false, "data.transforms=[\"degree\"]"},
    {"planted, directed", "planted:nodes=100000,edges=4000000,features=1,communities=300",
     "directed.txt", true, "data.transforms=[\"degree\"]"},
};
enum { GRAPHS = sizeof graphs / sizeof graphs[0] };

// Resident bytes now; the peak is counted from here.
static double begin(void) {
    malloc_trim(0);
    FILE *file = fopen("/proc/self/clear_refs", "we");
    CHECK(file != NULL && fputs("5", file) >= 0 && fclose(file) == 0, EXIT_UNAVAILABLE,
          "the kernel does not reset the peak of resident memory");
    return bench_status("VmRSS:");
}

static void path_of(const Graph *graph, const char *folder, char out[1024]) {
    const char *data = getenv("FRINGE_DATA");
    path_join(out, 1024, graph->made != NULL ? folder : data != NULL ? data : "", graph->path);
}

static Config config_of(const Graph *graph, const char *folder, const char *method) {
    char path[1024];
    path_of(graph, folder, path);
    return BENCH_CONFIG(bench_print("data.path=%s", path),
                        bench_print("data.cache=%s/cache", folder), graph->prepare, method);
}

// ---- one process

static void write_text(const Dataset *d, const char *path, bool directed) {
    bool metis = strstr(path, ".graph") != NULL;
    FILE *file = fopen(path, "we");
    CHECK(file != NULL, EXIT_CANNOT_WRITE, "%s cannot be written", path);
    if (metis)
        fprintf(file, "%lld %lld\n", (long long)d->nodes, (long long)d->edges / 2);
    for (int64_t i = 0; i < d->nodes; i++) {
        for (int64_t e = d->offset[i]; e < d->offset[i + 1]; e++)
            if (metis)
                fprintf(file, " %d", d->target[e] + 1);
            else if (!directed || d->target[e] > i)
                fprintf(file, "%lld %d\n", (long long)i, d->target[e]);
        if (metis)
            fputc('\n', file);
    }
    CHECK(fclose(file) == 0, EXIT_IO, "%s cannot be written", path);
}

typedef struct Pair {
    double foreseen, taken;
} Pair;

static void make_graph(const Graph *graph, const char *folder, Pair *out) {
    char path[1024];
    Dataset dataset;
    (void)out;
    path_of(graph, folder, path);
    if (graph->made == NULL || file_exists(path))
        return;
    need(dataset_generate(&dataset, bench_recipe(graph->made), 1, &err));
    write_text(&dataset, path, graph->directed);
}

static void load_graph(const Graph *graph, const char *folder, Pair *out) {
    Dataset dataset;
    MemoryForecast forecast = {0};
    Config config = config_of(graph, folder, "partition.method=metis");
    double before = begin();
    need(dataset_load(&dataset, &config, &err));
    out->taken = bench_status("VmHWM:") - before;
    dataset_forecast(&forecast, &config);
    out->foreseen = (double)forecast_total(&forecast);
}

static void cut_graph(const Graph *graph, const char *folder, Pair *out) {
    Dataset dataset;
    Config config = config_of(graph, folder, "partition.method=metis");
    need(dataset_load(&dataset, &config, &err));
    int32_t *part = ALLOC(int32_t, dataset.nodes + dataset.hyperedges, "parts");
    double before = begin();
    size_t used = memory_in_use();
    need(partition_cut(part, &dataset, PARTS, &config, &err, &(Warnings){0}));
    out->taken = bench_status("VmHWM:") - before;
    out->foreseen = (double)(memory_foreseen() - used);
}

// Runs it in a process of its own, forked before any thread was started.
static Pair alone(void (*run)(const Graph *, const char *, Pair *), const Graph *graph,
                  const char *folder) {
    Pair *out = mmap(NULL, sizeof *out, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = fork();
    if (child == 0) {
        run(graph, folder, out);
        _exit(0);
    }
    int ended = 0;
    CHECK(child > 0 && waitpid(child, &ended, 0) == child && ended == 0, EXIT_BUG,
          "a process for %s failed", graph->name);
    Pair pair = *out;
    munmap(out, sizeof *out);
    return pair;
}

static void print(const char *what, const Graph *graph, Pair pair) {
    bool is_less = pair.foreseen < pair.taken; // which it must never be
    (is_less ? bench_at_least : bench_at_most)(pair.foreseen / mebibyte, "MiB", is_less ? 1 : 1.5,
                                               "taken", pair.taken / mebibyte, "%s: %s", what,
                                               graph->name);
}

// ---- ranks

static Pair make_patterns(const Graph *graph, const char *folder, const Comm *comm) {
    Shard shard;
    Config config = config_of(graph, folder, "partition.method=random"); // the most edges across
    need(partition_load(&shard, &config, comm, &(Warnings){0}, &err));
    PatternKind kind = {.target_hops = HOPS_ALL, .source_hops = HOPS_ALL, .cover = COVER_MIN};
    PatternBytes forward = pattern_bound(&shard, &kind, false), backward = {0};
    if (!shard_is_symmetric(&shard))
        backward = pattern_bound(
            &shard,
            &(PatternKind){shard.relation[IN_EDGES].transpose, HOPS_ALL, HOPS_ALL, COVER_MIN},
            true);
    double both = (double)(forward.kept + backward.most), one = (double)forward.most;
    comm_barrier(comm);
    double before = begin();
    Pattern *first = pattern_new(&shard, &kind, NULL, comm), *second = NULL;
    kind.relation = shard.relation[IN_EDGES].transpose;
    if (!shard_is_symmetric(&shard))
        second = pattern_new(&shard, &kind, first, comm);
    Pair mine = {both > one ? both : one, bench_status("VmHWM:") - before}, all[64];
    pattern_free(second);
    pattern_free(first);
    shard_clear(&shard);
    comm_all_gather(comm, &mine, all, sizeof mine);
    int most = 0; // the rank that takes most
    for (int r = 1; r < comm->size; r++)
        most = all[r].taken > all[most].taken ? r : most;
    return all[most];
}

BENCH(memory) {
    const char *folder = bench_first("bench/data/memory.sh runs this, and says in which folder");
    bool ranks = getenv("OMPI_COMM_WORLD_SIZE") != NULL;
    const Comm *comm = ranks ? bench_ranks() : NULL;
    for (int i = 0; i < GRAPHS; i++) {
        const Graph *graph = &graphs[i];
        char path[1024];
        path_of(graph, folder, path);
        if (graph->made == NULL && !file_exists(path))
            continue;
        if (ranks) {
            Pair pair = make_patterns(graph, folder, comm);
            if (comm->rank == 0)
                print("Patterns", graph, pair);
            continue;
        }
        alone(make_graph, graph, folder);
        print("load", graph, alone(load_graph, graph, folder));
        print("METIS", graph, alone(cut_graph, graph, folder));
    }
}
