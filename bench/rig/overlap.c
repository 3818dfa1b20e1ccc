// What the schedule `overlap` hides: 3 x 256 GCN, epochs of `blocking` and `overlap` in turn on the
// ranks it is started on (overlap.sh: 2 hosts with 1 rank each, on the network rig, with a link
// rate at which exchanges take as long as what can hide them).
//
// Of each exchange the blocking schedule tells two parts, means over the ranks: `wait`, the
// messages' transfer, and `own`, the work that needs no message. The rest of the epoch (pack,
// unpack, halo part, dense work on marginal rows, ...) can hide nothing. So the epoch could be
//
//   ideal = sum over exchanges of max(wait, own) + rest = epoch(blocking) - sum of min(wait, own)
//
// What never vanishes is the work of the network itself: on the rig every byte passes the kernel of
// the machine that also computes.
//
//   overlap --data=FOLDER [--graph=reddit-small] [--epochs=16] [--piece=65280] [--probe=1]
//           [--rate=TEXT]
#include "bench.h"
#include "trainer/internal.h"

enum { EPOCHS_MOST = 256, EXCHANGES = 2 * MODEL_LAYERS };

static Config config_of(const char *folder, const char *schedule, int64_t piece) {
    return BENCH_CONFIG(
        bench_print("data.path=%s/graph", folder), bench_print("data.cache=%s/cache", folder),
        bench_print("comm.schedule=%s", schedule), bench_print("comm.chunk=%lld", (long long)piece),
        "lossless.input_features=exchange", // every layer's messages, as published
        "lossless.order=aggregate-first", "model.layers=3", "model.hidden=[256]", "run.threads=1",
        "train.eval_every=0", "train.epochs=100000");
}

// --- one epoch and its parts, means over ranks

typedef struct Parts {
    double epoch, wait, own, shorter, pack, unpack, halo;
} Parts;

typedef struct Sample { // of this rank since the start
    ChannelSeconds exchange[EXCHANGES];
} Sample;

static Sample sample(const Trainer *trainer) {
    Sample s = {0};
    for (int l = 0; l < trainer->shape.layers; l++)
        for (int d = 0; d < 2; d++) {
            const Channel *channel = model_channel(trainer->model, (ExchangeId){l, d});
            if (channel != NULL)
                s.exchange[2 * l + d] = channel_seconds(channel);
        }
    return s;
}

static Parts epoch_parts(Trainer *trainer, const Comm *comm) {
    EpochRecord record;
    Sample before = sample(trainer);
    comm_barrier(comm);
    need(trainer_epoch(trainer, &record, &err));
    Sample after = sample(trainer);
    Parts parts = {.epoch = record.seconds};
    for (int e = 0; e < EXCHANGES; e++) {
        const ChannelSeconds *a = &after.exchange[e], *b = &before.exchange[e];
        double mean[] = {a->wait - b->wait, a->own - b->own, a->pack - b->pack,
                         a->unpack - b->unpack, a->halo - b->halo};
        comm_sum_double(comm, mean, 5);
        double wait = mean[0] / comm->size, own = mean[1] / comm->size;
        parts.wait += wait;
        parts.own += own;
        parts.shorter += wait < own ? wait : own;
        parts.pack += mean[2] / comm->size;
        parts.unpack += mean[3] / comm->size;
        parts.halo += mean[4] / comm->size;
    }
    return parts;
}

// --- many epochs of both in turn

typedef struct Series {
    double epoch[EPOCHS_MOST], wait[EPOCHS_MOST], own[EPOCHS_MOST], shorter[EPOCHS_MOST],
        pack[EPOCHS_MOST], unpack[EPOCHS_MOST], halo[EPOCHS_MOST];
} Series;

static Parts medians(Series *s, int count) {
    return (Parts){bench_median(s->epoch, count), bench_median(s->wait, count),
                   bench_median(s->own, count),   bench_median(s->shorter, count),
                   bench_median(s->pack, count),  bench_median(s->unpack, count),
                   bench_median(s->halo, count)};
}

static void put(Series *s, int at, const Parts *parts) {
    s->epoch[at] = parts->epoch;
    s->wait[at] = parts->wait;
    s->own[at] = parts->own;
    s->shorter[at] = parts->shorter;
    s->pack[at] = parts->pack;
    s->unpack[at] = parts->unpack;
    s->halo[at] = parts->halo;
}

enum { BLOCKING, OVERLAP };

static void measure(Trainer *const trainer[2], const Comm *comm, int epochs, Parts out[2]) {
    static Series series[2];
    for (int e = -2; e < epochs; e++)
        for (int s = 0; s < 2; s++) {
            Parts parts = epoch_parts(trainer[s], comm);
            if (e >= 0) // the first ones touch every page and open every connection
                put(&series[s], e, &parts);
        }
    for (int s = 0; s < 2; s++)
        out[s] = medians(&series[s], epochs);
}

// The same weights, or the times mean nothing.
static void check_weights(Trainer *const trainer[2]) {
    size_t bytes = (size_t)trainer[0]->shape.parameter_count * sizeof(float);
    CHECK(memcmp(trainer_parameters(trainer[BLOCKING], false),
                 trainer_parameters(trainer[OVERLAP], false), bytes) == 0,
          EXIT_BUG, "blocking and overlap gave different weights");
}

// --- what is told

static void tell_parts(const char *schedule, const Parts *parts) {
    const struct {
        const char *name;
        double seconds;
    } line[] = {{"epoch", parts->epoch},   {"exchange (wait)", parts->wait},
                {"own work", parts->own},  {"pack", parts->pack},
                {"unpack", parts->unpack}, {"halo part", parts->halo}};
    for (size_t i = 0; i < sizeof line / sizeof *line; i++)
        bench_value(line[i].seconds * 1e3, "ms", "%s: %s", schedule, line[i].name);
}

static void tell(const Parts *blocking, const Parts *overlap, const char *rate) {
    double ideal = blocking->epoch - blocking->shorter;
    double hidden = blocking->epoch - overlap->epoch;
    tell_parts("blocking", blocking);
    tell_parts("overlap", overlap);
    bench_at_most(blocking->wait * 1e3, "ms", 0, "what can hide it", blocking->own * 1e3,
                  "exchanges at %s", rate);
    bench_at_most(overlap->epoch * 1e3, "ms", 1.08, "sum of max(exchange, own) + rest", ideal * 1e3,
                  "epoch of overlap");
    bench_at_least(hidden * 1e3, "ms", 0.90, "the shorter of the two", blocking->shorter * 1e3,
                   "vanished");
}

BENCH(overlap) {
    static Config config[2];
    const Comm *comm = bench_ranks();
    Shard shard;
    const char *folder = bench_text("--data", "");
    CHECK(folder[0] != 0, EXIT_USAGE, "--data=FOLDER is missing; overlap.sh runs this program");
    int epochs = (int)bench_option("--epochs", 16);
    CHECK(epochs > 0 && epochs <= EPOCHS_MOST, EXIT_USAGE, "--epochs: 1 to %d", EPOCHS_MOST);
    int64_t piece = bench_option("--piece", 65280);
    bench_dataset(bench_print("%s/graph", folder), bench_text("--graph", "reddit-small"), comm);
    Trainer *trainer[2];
    for (int s = 0; s < 2; s++)
        config[s] = config_of(folder, s == BLOCKING ? "blocking" : "overlap", piece);
    need(partition_load(&shard, &config[0], comm, &(Warnings){0}, &err));
    for (int s = 0; s < 2; s++) {
        trainer[s] = need(trainer_new(&config[s], &shard, comm, 1, NULL, &err));
    }
    Parts parts[2];
    measure(trainer, comm, epochs, parts);
    check_weights(trainer);
    if (comm->rank == 0 && bench_option("--probe", 0) != 0)
        printf("probe %.6f %.6f\n", parts[BLOCKING].wait, parts[BLOCKING].own);
    else if (comm->rank == 0)
        tell(&parts[BLOCKING], &parts[OVERLAP], bench_text("--rate", "?"));
    for (int s = 0; s < 2; s++)
        trainer_free(trainer[s]);
    shard_clear(&shard);
}
