// A graph cut into very many parts: what rank 0 needs to make them, and what a rank reads to open
// its own. bench_parts [--nodes=40000] [--parts=10000] [--strict]
//
// The graph is a planted one and the cut is `blocks`, so that nearly every edge lies between two
// parts: the most messages that a graph of that size can have. Rank 0's share runs in a process of
// its own, whose peak the kernel tells; bytes are those of read() as /proc/self/io counts them.
//
// smoke: --nodes=4000 --parts=20
#include "bench.h"
#include "fringe/partition.h"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const double mebibyte = 1 << 20, kibibyte = 1 << 10;

// Bytes that this process has read with read() and the like.
static int64_t bytes_read(void) {
    long long bytes = 0;
    FILE *file = fopen("/proc/self/io", "re");
    CHECK(file != NULL && fscanf(file, "rchar: %lld", &bytes) == 1, EXIT_UNAVAILABLE,
          "/proc/self/io does not say what was read");
    fclose(file);
    return bytes;
}

typedef struct Task {
    Config config;
    const char *graph; // folder
    int64_t nodes;
    int parts;
} Task;

static void make_graph(const Task *task) {
    bench_dataset(task->graph,
                  bench_print("planted:nodes=%lld,edges=%lld,features=16,communities=200",
                              (long long)task->nodes, (long long)(10 * task->nodes)),
                  NULL);
}

static void make_parts(const Task *task) {
    char made[1024];
    need(partition_build(&task->config, task->parts, made, sizeof made, &(Warnings){0}, &err));
}

// Runs it in a process of its own (forked before any thread was started): seconds, and its peak.
static double alone(void (*run)(const Task *task), const Task *task, double *peak) {
    double since = clock_seconds();
    pid_t child = fork();
    if (child == 0) {
        run(task);
        _exit(0);
    }
    int status = 0;
    struct rusage usage;
    CHECK(child > 0 && wait4(child, &status, 0, &usage) == child && status == 0, EXIT_BUG,
          "the process that makes the graph or its parts failed");
    *peak = (double)usage.ru_maxrss * kibibyte;
    return clock_seconds() - since;
}

typedef struct Opened {
    double seconds;
    int64_t rows, most_read; // rows of all parts; bytes of files that all ranks read
} Opened;

static Opened open_parts(const char *folder, int parts) {
    Opened opened = {0};
    double since = clock_seconds();
    for (int p = 0; p < parts; p++) {
        CLEARED(shard_clear) Shard shard = {0};
        int64_t before = bytes_read();
        need(shard_open(&shard, folder, p, &err));
        int64_t bytes = bytes_read() - before;
        opened.most_read = bytes > opened.most_read ? bytes : opened.most_read;
        opened.rows += shard.set[NODES].own;
    }
    opened.seconds = clock_seconds() - since;
    return opened;
}

// Bytes of the files in a folder whose names begin so, or do not.
static double bytes_of(const char *folder, const char *prefix, bool with) {
    double bytes = 0;
    DIR *list = opendir(folder);
    for (struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;) {
        char path[1400];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.' &&
            (strncmp(entry->d_name, prefix, strlen(prefix)) == 0) == with)
            bytes += (double)file_size(path);
    }
    if (list != NULL)
        closedir(list);
    return bytes;
}

BENCH(parts) {
    Task task = {.parts = (int)bench_option("--parts", 10000),
                 .nodes = bench_option("--nodes", 40000)};
    char made[1024];
    double peak = 0;
    const char *folder = bench_folder();
    task.graph = bench_print("%s/graph", folder);
    task.config =
        BENCH_CONFIG(bench_print("data.path=%s", task.graph),
                     bench_print("data.cache=%s/cache", folder), "partition.method=blocks");
    alone(make_graph, &task, &peak);
    double seconds = alone(make_parts, &task, &peak);
    int parts = task.parts;
    need(partition_folder(&task.config, parts, made, sizeof made, &err));
    Opened opened = open_parts(made, parts);
    CHECK(opened.rows == task.nodes, EXIT_BUG, "the parts have %lld rows", (long long)opened.rows);
    double manifest = bytes_of(made, "part-", false); // with <name>.part.K, which nobody reads back
    bench_at_most(seconds, "s", 1, "limit", 60, "load, cut and write");
    bench_at_most(peak / mebibyte, "MiB", 1, "limit", 512, "peak of rank 0");
    bench_at_most(manifest / parts, "B", 1, "limit", 1024, "manifest a part");
    bench_at_most((double)opened.most_read / kibibyte, "KiB", 1, "limit", 64,
                  "shared files read by a rank");
    bench_at_most(opened.seconds, "s", 1, "limit", 60, "all parts opened, one by one");
    bench_value(bytes_of(made, "part-", true) / mebibyte, "MiB", "shards");
}
