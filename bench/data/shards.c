// Shards of a large graph, made by all ranks: seconds, and the memory of each rank. bench/data/shards.sh
// makes the dataset FOLDER/graph and the cut FOLDER/cut, and runs this under mpirun.
//
// The time begins when rank 0 has made the folder of the shards, so reading the dataset and the cut
// are not in it; the order of rows and opening the shards, which are checked then, are.
//
// Memory is what a rank has for itself (anonymous and shared pages, sampled) beyond what it had
// before. Pages of mapped files do not count: the kernel drops them when it must. So rank 0 may
// have what any other rank may: its largest shard and 64 MiB.
#include "bench.h"
#include "fringe/partition.h"

#include <glob.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static const double mebibyte = 1 << 20;

// ---- memory of this process

static double own_bytes(void) { return bench_status("RssAnon:") + bench_status("RssShmem:"); }

typedef struct Sampler {
    pthread_t thread;
    atomic_bool ended;
    double before, most;
    char shards[PATH_BYTES + 32]; // pattern of their folder while it is made
    double begun;                 // clock when it was there
} Sampler;

static bool is_there(const char *pattern) {
    glob_t found;
    bool there = glob(pattern, 0, NULL, &found) == 0;
    globfree(&found);
    return there;
}

static void *sample(void *context) {
    static const struct timespec moment = {.tv_nsec = 5000000};
    Sampler *s = context;
    while (!atomic_load(&s->ended)) {
        double now = own_bytes();
        s->most = now > s->most ? now : s->most;
        if (s->begun == 0 && is_there(s->shards))
            s->begun = clock_seconds();
        nanosleep(&moment, NULL);
    }
    return NULL;
}

static void sampler_start(Sampler *s, const char *cache) {
    *s = (Sampler){.before = own_bytes()};
    snprintf(s->shards, sizeof s->shards, "%s/parts-*.fringe-tmp-*", cache);
    CHECK(pthread_create(&s->thread, NULL, sample, s) == 0, EXIT_MEMORY, "no thread can start");
}

static double sampler_stop(Sampler *s) {
    atomic_store(&s->ended, true);
    pthread_join(s->thread, NULL);
    return s->most - s->before;
}

// ---- the shards

typedef struct Made {
    double seconds, taken, shard; // taken: memory of this rank; shard: bytes of its file
} Made;

static Made make(const Config *config, const Comm *comm) {
    CLEARED(shard_clear) Shard shard = {0};
    Sampler sampler;
    comm_barrier(comm);
    sampler_start(&sampler, config->data.cache);
    need(partition_load(&shard, config, comm, &(Warnings){0}, &err));
    double ended = clock_seconds(), taken = sampler_stop(&sampler);
    CHECK(sampler.begun > 0, EXIT_BUG, "the shards were there, or were made in no time");
    Made made = {ended - sampler.begun, taken, (double)shard.map.bytes};
    return made;
}

static void print(const Made *all, int ranks) {
    double seconds = 0, taken = 0, shard = 0;
    for (int r = 0; r < ranks; r++) {
        seconds = all[r].seconds > seconds ? all[r].seconds : seconds;
        taken = all[r].taken > taken ? all[r].taken : taken;
        shard = all[r].shard > shard ? all[r].shard : shard;
    }
    double allowed = shard + 64 * mebibyte;
    bench_at_most(seconds, "s", 1, "limit", 20, "shards made and opened, the cut is known");
    bench_at_most(taken / mebibyte, "MiB", 1, "largest shard + 64 MiB", allowed / mebibyte,
                  "memory of the rank that takes most");
}

BENCH(shards) {
    const char *folder = bench_first("bench/data/shards.sh runs this, and says in which folder");
    Config config = BENCH_CONFIG(bench_print("data.path=%s/graph", folder),
                                 bench_print("data.cache=%s/cache-ranks", folder),
                                 bench_print("partition.method=\"file:%s/cut\"", folder));
    const Comm *comm = bench_ranks();
    Made all[256], mine = make(&config, comm);
    CHECK(comm->size <= 256, EXIT_USAGE, "at most 256 ranks");
    comm_all_gather(comm, &mine, all, sizeof mine);
    if (comm->rank == 0)
        print(all, comm->size);
}
