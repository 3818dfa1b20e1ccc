// Where an epoch goes: 3 x 256 on reddit-small, one rank. What is neither aggregate, dense product
// nor message must stay below 8 % (pointwise work, loss, optimizer, gradient sum, bookkeeping).
//
//   epoch [--threads=2] [--epochs=12] [--layer=gcn|sage-mean] [--order=aggregate-first|auto]
//
// smoke: --epochs=1
#include "bench.h"
#include "fringe/trainer.h"

static void load(Shard *shard, Config *config, const Comm *comm, const char *folder, int argc,
                 char **argv) {
    Error err = {0};
    char path[BENCH_PATH + 16], data[BENCH_PATH + 32], cache[BENCH_PATH + 32], layer[64], order[64],
        threads[64];
    Warnings warnings = {0};
    snprintf(path, sizeof path, "%s/reddit-small", folder);
    snprintf(data, sizeof data, "data.path=%s", path);
    snprintf(cache, sizeof cache, "data.cache=%s/cache", folder);
    snprintf(layer, sizeof layer, "model.layer=%s", bench_text(argc, argv, "--layer", "gcn"));
    snprintf(order, sizeof order, "lossless.order=%s",
             bench_text(argc, argv, "--order", "aggregate-first"));
    snprintf(threads, sizeof threads, "run.threads=%d",
             (int)bench_option(argc, argv, "--threads", 2));
    const char *settings[] = {data,
                              cache,
                              layer,
                              order,
                              threads,
                              "lossless.input_features=exchange",
                              "train.eval_every=0",
                              "train.epochs=1000"};
    bench_dataset(path, bench_recipe("reddit-small"), NULL);
    need(config_load(config, NULL, settings, sizeof settings / sizeof *settings, &err), &err);
    need(partition_load(shard, config, comm, &warnings, &err), &err);
}

typedef struct Parts {
    double epoch, kind[TIMER_KINDS];
} Parts;

static Parts measure(Trainer *trainer, int epochs) {
    Error err = {0};
    EpochRecord record;
    enum { MOST = 64 };
    static double epoch[MOST], kind[TIMER_KINDS][MOST];
    if (epochs > MOST)
        epochs = MOST;
    need(trainer_epoch(trainer, &record, &err), &err); // touches every page
    for (int e = 0; e < epochs; e++) {
        need(trainer_epoch(trainer, &record, &err), &err);
        epoch[e] = record.seconds;
        for (int k = 0; k < TIMER_KINDS; k++)
            kind[k][e] = record.timers.seconds[k];
    }
    Parts parts = {.epoch = bench_median(epoch, epochs)};
    for (int k = 0; k < TIMER_KINDS; k++)
        parts.kind[k] = bench_median(kind[k], epochs);
    return parts;
}

static void tell(Bench *bench, const Parts *parts, const char *layer) {
    double useful = 0;
    for (int k = 0; k < TIMER_KINDS; k++) {
        bench_at_most(bench, parts->kind[k] * 1e3, "ms", 0, "epoch", parts->epoch * 1e3, "%s: %s",
                      layer, timer_names[k]);
        if (k != TIMER_POINTWISE && k != TIMER_REDUCE)
            useful += parts->kind[k];
    }
    bench_at_most(bench, (parts->epoch - useful) * 1e3, "ms", 0.08, "epoch", parts->epoch * 1e3,
                  "%.40s: outside aggregate, dense and messages", layer);
}

int main(int argc, char **argv) {
    Comm comm;
    Bench bench;
    Shard shard;
    Config config;
    Error err = {0};
    char folder[BENCH_PATH];
    comm_start(&comm, &argc, &argv);
    bench_start(&bench, "epoch", argc, argv);
    bench_folder(folder);
    load(&shard, &config, &comm, folder, argc, argv);
    Trainer *trainer = trainer_new(&config, &shard, &comm, 1, NULL, &err);
    need(trainer != NULL, &err);
    Parts parts = measure(trainer, (int)bench_option(argc, argv, "--epochs", 12));
    printf("%s, %d threads, %s\n", shard.dataset_name, trainer_threads(trainer),
           trainer_kernels(trainer));
    tell(&bench, &parts, config.model.layer);
    trainer_free(trainer);
    shard_clear(&shard);
    file_remove(folder, &err);
    int status = bench_end(&bench);
    comm_stop(&comm);
    return status;
}
