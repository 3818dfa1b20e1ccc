// A device's operations against its own memory, through the table of the plug-in: what bench/gpu.sh
// calls for its stage `speed`.
//
//   bench_gpu [--stage=all|kernels|epoch] [--data=FOLDER] [--rows=FILE] [--strict]
//             [--plugin=FILE --name=NAME] [--tiny]
//
// FOLDER is a dataset directory (none: a small one is generated). Every figure goes to FILE as one
// line: stage, row, value, unit, bar, met. --plugin loads that library in place of the program's
// own: with build/tests/libfringe-emulated.so --name=emulated --tiny all of this runs without a
// device, and its times mean nothing. Without a device it says so and is skipped.
//
// smoke: --plugin=BUILD/tests/libfringe-emulated.so --name=emulated --tiny
//
// A bound is bytes over the bandwidth of a copy from device to device (read and written), measured
// before everything else. Times are of events on the operation's own stream.
#include "fringe/trainer.h"
#include "gpu_operations.h"

// ---- an epoch of GCN, 3 x 256, against the sum of what its parts must take

// Aggregates and products of all layers, forward and backward (the first layer passes nothing
// back), the work between the layers (forward reads and writes a row; backward reads two and
// writes one), and the loss (reads and writes a row).
static double epoch_bound(const Job *job) {
    const double n = (double)job->csr.rows;
    const int64_t width[] = {job->features, WIDTH, WIDTH, job->classes};
    double seconds = 0;
    for (int l = 0; l < 3; l++) {
        double in = (double)width[l], out = (double)width[l + 1];
        double number = (double)rows_number(job->precision);
        double product = 2 * n * in * out / job->flops;
        double moved = number * n * (in + out) / job->bandwidth;
        double products = l > 0 ? 3 : 2, aggregates = l > 0 ? 2 : 1;
        seconds += products * (product > moved ? product : moved);
        seconds += aggregates * spmm_bytes(&job->csr, width[l], job->precision) / job->bandwidth;
        seconds += (l < 2 ? 5 * number : 8) * n * out / job->bandwidth;
    }
    return seconds;
}

static double epoch_seconds(const Config *config, const Comm *comm, int epochs) {
    enum { MOST = 32 };
    Shard shard;
    EpochRecord record;
    double seconds[MOST];
    need(partition_load(&shard, config, comm, &(Warnings){0}, &err));
    Trainer *trainer = need(trainer_new(config, &shard, comm, 1, NULL, &err));
    for (int e = -2; e < epochs && e < MOST; e++) { // two unmeasured ones first
        need(trainer_epoch(trainer, &record, &err));
        if (e >= 0)
            seconds[e] = record.seconds;
    }
    printf("# %s, loss %.6f\n", trainer_kernels(trainer), record.loss);
    trainer_free(trainer);
    shard_clear(&shard);
    return bench_median(seconds, epochs);
}

static Config config_of_mode(const Job *job, const char *mode, const char *data, const char *work) {
    Config config =
        BENCH_CONFIG(bench_print("mode=%s", mode), bench_print("data.path=%s", data),
                     bench_print("data.cache=%s/cache", work),
                     bench_print("run.precision=%s", precision_name(job->precision)),
                     "model.layer=gcn", "model.layers=3", "model.hidden=256", "model.dropout=0.5",
                     "model.post=[\"dropout\",\"norm\",\"activation\"]", "train.eval_every=0",
                     "train.epochs=1000");
    snprintf(config.run.backend, sizeof config.run.backend, "cuda");
    return config;
}

static double epoch_of_mode(const Job *job, const Comm *comm, const char *mode, const char *data,
                            const char *work) {
    const Config config = config_of_mode(job, mode, data, work);
    return epoch_seconds(&config, comm, job->is_tiny ? 2 : 12);
}

// The aggregate over the rows of a training, which lie cluster by cluster.
static void clustered_measure(Job *job, const Comm *comm, const char *data, const char *work) {
    Shard shard;
    const Config config = config_of_mode(job, "vanilla", data, work);
    need(partition_load(&shard, &config, comm, &(Warnings){0}, &err));
    const ShardRelation *edges = &shard.relation[IN_EDGES];
    const Csr given = job->csr;
    job->csr = (Csr){.rows = shard.set[NODES].own,
                     .offset = (int64_t *)edges->offset,
                     .column = (int32_t *)edges->column,
                     .weight = (float *)edges->weight};
    job->is_clustered = true;
    aggregate_measure(job);
    job->is_clustered = false;
    job->csr = given;
    shard_clear(&shard);
}

// The bound is that of all the work that vanilla does, of which the savings leave out a part.
static void epoch_measure(Job *job, const Comm *comm, const char *data, const char *work) {
    double bound = epoch_bound(job), vanilla = epoch_of_mode(job, comm, "vanilla", data, work);
    double savings = epoch_of_mode(job, comm, "lossless", data, work);
    Figure plain = {.value = vanilla * 1e3,
                    .unit = "ms",
                    .against = "sum of its parts' bounds",
                    .limit = bound * 1e3,
                    .ratio = vanilla / bound,
                    .bar = 1.5,
                    .at_most = true};
    Figure saved = {.value = savings * 1e3,
                    .unit = "ms",
                    .against = "without",
                    .limit = vanilla * 1e3,
                    .ratio = savings / vanilla};
    named(job, "epoch of GCN 3 x 256, one rank", plain.name);
    named(job, "epoch of GCN 3 x 256 with the savings, one rank", saved.name);
    say(job, plain);
    say(job, saved);
}

// ---- the program

static const Backend *device_start(void) {
    Error err = {0};
    const char *path = bench_text("--plugin", NULL);
    const char *name = bench_text("--name", "cuda");
    bool ok = path == NULL || plugin_load(&backend_cuda, path, name, &err);
    backend_cuda.name = "cuda"; // whatever was loaded: the trainer finds it by this name
    if (ok && backend_cuda.start(&(BackendStart){.spmm = "own"}, &err))
        return &backend_cuda;
    bench_skip("gpu", err.text);
}

static void stages_run(Job *job, const Comm *comm, const char *stage, const char *data,
                       const char *work) {
    printf("# %s\n", job->b->describe());
    put_row(job, "device", job->b->describe(), "", "", "");
    copy_measure(job);
    for (RowsType type = ROWS_FP32; type <= ROWS_BF16; type++) {
        BackendStart how = {.spmm = "own", .precision = precision_name(type)};
        CHECK(job->b->start(&how, &(Error){0}), EXIT_BUG, "no second start");
        job->precision = type;
        dense_measure(job);
        if (strcmp(stage, "epoch") != 0) {
            for (int bits = 2; bits <= 8; bits *= 2)
                message_measure(job, bits);
            aggregate_measure(job);
        }
        if (strcmp(stage, "kernels") != 0) {
            clustered_measure(job, comm, data, work);
            epoch_measure(job, comm, data, work);
        }
    }
}

BENCH(gpu) {
    const Comm *comm = bench_ranks();
    Dataset dataset;
    Job job = {.is_tiny = bench_flag("--tiny")};
    job.b = device_start();
    const char *rows = bench_text("--rows", NULL);
    CHECK(rows == NULL || (job.rows = fopen(rows, "a")) != NULL, EXIT_CANNOT_WRITE,
          "%s cannot be written", rows);
    const char *work = bench_folder(), *folder = bench_print("%s/graph", work);
    const char *data = bench_text("--data", NULL);
    if (data == NULL)
        bench_dataset(folder, job.is_tiny ? "tiny" : "reddit-small", NULL);
    data = data != NULL ? data : folder;
    need(dataset_open(&dataset, data, &err));
    job.csr = dataset_csr(&dataset);
    job.features = dataset.features;
    job.classes = dataset.classes;
    stages_run(&job, comm, bench_text("--stage", "all"), data, work);
    dataset_clear(&dataset);
    if (job.rows != NULL)
        fclose(job.rows);
}
