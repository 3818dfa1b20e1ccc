// Where an epoch goes: 3 x 256 on reddit-small, one rank. What is neither aggregate, dense product
// nor message must stay below 8 % (pointwise work, loss, optimizer, gradient sum, bookkeeping).
//
//   epoch [--threads=2] [--epochs=12] [--layer=gcn|sage-mean] [--order=aggregate-first|auto]
//
// smoke: --epochs=1
#include "bench.h"
#include "fringe/trainer.h"

static void load(Shard *shard, Config *config, const Comm *comm, const char *folder) {
    const char *path = bench_print("%s/reddit-small", folder);
    bench_dataset(path, bench_recipe("reddit-small"), NULL);
    *config =
        BENCH_CONFIG(bench_print("data.path=%s", path), bench_print("data.cache=%s/cache", folder),
                     bench_print("model.layer=%s", bench_text("--layer", "gcn")),
                     bench_print("lossless.order=%s", bench_text("--order", "aggregate-first")),
                     bench_print("run.threads=%d", (int)bench_option("--threads", 2)),
                     "lossless.input_features=exchange", "train.eval_every=0", "train.epochs=1000");
    need(partition_load(shard, config, comm, &(Warnings){0}, &err));
}

typedef struct Parts {
    double epoch, kind[TIMER_KINDS];
} Parts;

static Parts measure(Trainer *trainer, int epochs) {
    EpochRecord record;
    enum { MOST = 64 };
    static double epoch[MOST], kind[TIMER_KINDS][MOST];
    if (epochs > MOST)
        epochs = MOST;
    need(trainer_epoch(trainer, &record, &err)); // touches every page
    for (int e = 0; e < epochs; e++) {
        need(trainer_epoch(trainer, &record, &err));
        epoch[e] = record.seconds;
        for (int k = 0; k < TIMER_KINDS; k++)
            kind[k][e] = record.timers.seconds[k];
    }
    Parts parts = {.epoch = bench_median(epoch, epochs)};
    for (int k = 0; k < TIMER_KINDS; k++)
        parts.kind[k] = bench_median(kind[k], epochs);
    return parts;
}

static void tell(const Parts *parts, const char *layer) {
    double useful = 0;
    for (int k = 0; k < TIMER_KINDS; k++) {
        bench_at_most(parts->kind[k] * 1e3, "ms", 0, "epoch", parts->epoch * 1e3, "%s: %s", layer,
                      timer_names[k]);
        if (k != TIMER_POINTWISE && k != TIMER_REDUCE)
            useful += parts->kind[k];
    }
    bench_at_most((parts->epoch - useful) * 1e3, "ms", 0.08, "epoch", parts->epoch * 1e3,
                  "%.40s: outside aggregate, dense and messages", layer);
}

BENCH(epoch) {
    const Comm *comm = bench_ranks();
    Shard shard;
    Config config;
    load(&shard, &config, comm, bench_folder());
    Trainer *trainer = need(trainer_new(&config, &shard, comm, 1, NULL, &err));
    Parts parts = measure(trainer, (int)bench_option("--epochs", 12));
    printf("%s, %d threads, %s\n", shard.dataset_name, trainer_threads(trainer),
           trainer_kernels(trainer));
    tell(&parts, config.model.layer);
    trainer_free(trainer);
    shard_clear(&shard);
}
