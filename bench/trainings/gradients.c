// What codecs make of the weight gradients of a training: each rank's own share, as the sum would
// be told of it, before it is summed.
//
//   gradients --config=FILE [--rounds=11] [--epochs=1,20,100] [KEY=VALUE...]
//
// KEY=VALUE is a setting, as --set of `fringe train` has it. After each of these epochs the share
// of the next one is taken and held against what that epoch sums. It is coded in messages of 16
// rows, as sums of up to a million values by 4 ranks are. Prints one line a codec:
//
//   variant EPOCH RULE BITS ROUNDING LEAST MOST PACKED CODED ENTROPY WRITE READ CODED-WRITE
//   CODED-READ
//
// LEAST and MOST of |Q(g) - g|^2 / |g|^2 over ranks, mean over rounds; bits a value, packed and
// with entropy codes, scales and tables included, and the entropy of the codes alone (mean over
// messages of all ranks; 0: not known); nanoseconds a value, the fastest round of rank 0. Of the
// codec sketch BITS are its buckets. gradients.py runs it.
#include "../../src/gradsync/internal.h"
#include "../../src/trainer/internal.h"
#include "bench.h"
#include "device.h"

enum { SETTINGS = 48, BUCKET = 512, ROWS = 16, CODES = 256 };

// ---- the share of a rank

typedef struct Share {
    const Comm *comm;
    Cut cut;
    int32_t *length; // [units]
    Rows x, out;     // [units, BUCKET] its buckets, and what becomes of them
    int32_t *row;    // [ROWS] 0, 1, 2, ...
    int64_t *id;     // [units] likewise
    uint32_t epoch;
    int rounds;
    unsigned char *bytes; // of one message
    DeviceByte *scratch;  // of the codec
} Share;

static SketchOptions sketch_of(int buckets, bool entropy) {
    return (SketchOptions){.buckets = buckets,
                           .groups = 8,
                           .tables = 2,
                           .bins = .3,
                           .recalibrate = true,
                           .entropy = entropy,
                           .part = 1};
}

// Of the codec that needs the most.
static size_t most_scratch(void) {
    MessageLayout layout = {.rows = ROWS, .columns = BUCKET};
    sketch_set(&layout.values, sketch_of(SKETCH_BUCKETS, false));
    return codec_sketch.scratch(&layout);
}

static Share share_new(const Trainer *t, int rounds) {
    GradSpan span[MODEL_PARAMETERS];
    GradForm form = {.bucket = BUCKET};
    model_spans(&form, &t->shape, span);
    Share s = {.comm = t->comm, .rounds = rounds};
    s.cut = (Cut){.floats = form.count, .units = bucket_count(&form)};
    s.cut.bucket = ALLOC(int64_t, s.cut.units + 1, "buckets");
    buckets_fill(s.cut.bucket, &form);
    s.length = ALLOC(int32_t, s.cut.units, "lengths");
    bucket_lengths(s.length, &s.cut);
    s.x = rows_alloc(device(), s.cut.units, BUCKET, "share");
    s.out = rows_alloc(device(), s.cut.units, BUCKET, "decoded share");
    s.row = ALLOC(int32_t, ROWS, "rows");
    s.id = ALLOC(int64_t, s.cut.units, "numbers of rows");
    for (int64_t i = 0; i < s.cut.units; i++)
        s.id[i] = i;
    for (int32_t i = 0; i < ROWS; i++)
        s.row[i] = i;
    s.bytes = memory_alloc(2 * ROWS * 8 * BUCKET, "message");
    s.scratch = on_device(memory_alloc(most_scratch(), "scratch of a codec"));
    return s;
}

static void share_clear(Share *s) {
    memory_free(s->scratch);
    memory_free(s->bytes);
    memory_free(s->id);
    memory_free(s->row);
    rows_free(device(), &s->out);
    rows_free(device(), &s->x);
    memory_free(s->length);
    memory_free(s->cut.bucket);
}

// Sums over ranks in double.
static double *sum_of(const Comm *comm, const float *share, int64_t count) {
    double *sum = ALLOC(double, count, "sum");
    for (int64_t i = 0; i < count; i++)
        sum[i] = (double)share[i];
    comm_sum_double(comm, sum, (int)count);
    return sum;
}

static double apart(const double *a, const float *b, int64_t count) {
    double difference = 0, all = 0;
    for (int64_t i = 0; i < count; i++) {
        difference += (a[i] - (double)b[i]) * (a[i] - (double)b[i]);
        all += a[i] * a[i];
    }
    return sqrt(difference / all);
}

// The schedule hides no messages, so the model sums nothing.
static void take_share(Share *s, Trainer *t) {
    EpochRecord record;
    s->epoch = (uint32_t)t->now.epoch + 1;
    model_loss_and_gradient(t->model, t->device.parameters, t->device.gradient, t->seed, s->epoch);
    trainer_download(t);
    for (int64_t i = 0; i < s->cut.units; i++)
        memcpy(floats(s->x) + i * s->x.stride, t->gradient + s->cut.bucket[i],
               (size_t)s->length[i] * sizeof(float));
    FREED double *sum = sum_of(t->comm, t->gradient, s->cut.floats);
    need(trainer_epoch(t, &record, &err));
    double error = apart(sum, t->gradient, s->cut.floats);
    CHECK(error < 1e-5, EXIT_BUG, "epoch %u sums other shares (%g apart)", s->epoch, error);
}

// ---- its messages by one codec

typedef struct Variant {
    const Codec *codec;
    MemberValues values;  // its options
    double error;         // mean over rounds
    double bits, entropy; // of all messages
    double write, read;   // seconds, fastest round
} Variant;

static MessageLayout layout_of(const Share *s, const Variant *variant, int64_t first) {
    int64_t rows = s->cut.units - first;
    MessageLayout layout = {.rows = rows < ROWS ? rows : ROWS,
                            .columns = BUCKET,
                            .length = s->length + first,
                            .values = variant->values,
                            .scratch = s->scratch};
    return layout;
}

// Each round has random numbers of its own.
static void encode(const Share *s, const Variant *variant, int round, int64_t first,
                   MessageLayout *layout) {
    int64_t bad = 0;
    MessageSource source = {.x = rows_range(s->x, (Range){first, first + layout->rows}),
                            .partials = {.columns = s->x.columns, .stride = s->x.stride},
                            .row = on_device(s->row),
                            .gid = on_device(s->id + first),
                            .random = random_key(1, RANDOM_GRADIENT, s->epoch, round, UP),
                            .peer = s->comm->rank};
    layout->bytes = variant->codec->encode(device(), on_device(s->bytes), layout, &source,
                                           on_device(&bad), NULL);
    CHECK(bad == 0, EXIT_BUG, "a row was refused");
}

static void decode(const Share *s, const Variant *variant, int64_t first,
                   const MessageLayout *layout) {
    variant->codec->decode(device(), s->out, first, layout, on_device(s->bytes), NULL);
}

// Scales of 1 and minima of 0 make a packed message decode to its codes, less that of 0.
static void show_codes(const Share *s, const Variant *variant, const MessageLayout *layout) {
    static const unsigned char one[2] = {0x80, 0x3f}; // bf16
    int64_t before = grid_get(&variant->values).rule == GRID_MINMAX ? layout->rows : 0;
    memset(s->bytes, 0, 2 * (size_t)before);
    for (int64_t i = before; i < before + layout->rows; i++)
        memcpy(s->bytes + 2 * i, one, sizeof one);
}

// The code of such a value. Those of powers of two are no whole numbers.
static int code_of(GridOptions grid, float value) {
    if (grid.rule != GRID_LOG || value == 0)
        return (int)value;
    int magnitude = (1 << (grid.bits - 1)) - 1 + ilogbf(value);
    return value < 0 ? -magnitude : magnitude;
}

// Of the codes of rows that show them: bits of all.
static double entropy(const Share *s, GridOptions grid, int64_t first, int64_t rows) {
    int64_t count[2 * CODES] = {0}, values = 0;
    double bits = 0;
    for (int64_t i = first; i < first + rows; i++)
        for (int64_t c = 0; c < s->length[i]; c++, values++)
            count[CODES + code_of(grid, floats(s->out)[i * s->out.stride + c])]++;
    for (int k = 0; k < 2 * CODES; k++)
        bits -= count[k] > 0 ? (double)count[k] * log2((double)count[k] / (double)values) : 0;
    return bits;
}

static void measure_entropy(const Share *s, Variant *variant) {
    variant->entropy = 0;
    for (int64_t first = 0; first < s->cut.units; first += ROWS) {
        MessageLayout layout = layout_of(s, variant, first);
        encode(s, variant, 0, first, &layout);
        show_codes(s, variant, &layout);
        decode(s, variant, first, &layout);
        variant->entropy += entropy(s, grid_get(&variant->values), first, layout.rows);
    }
}

static void lower(double *least, double seconds, int round) {
    *least = round == 0 || seconds < *least ? seconds : *least;
}

static double relative_error(const Share *s) {
    double error = 0, all = 0;
    for (int64_t i = 0; i < s->cut.units; i++)
        for (int64_t c = 0; c < s->length[i]; c++) {
            double x = floats(s->x)[i * s->x.stride + c];
            double d = floats(s->out)[i * s->out.stride + c] - x;
            error += d * d, all += x * x;
        }
    return error / all;
}

static void measure_messages(const Share *s, Variant *variant) {
    variant->bits = variant->error = 0;
    for (int round = 0; round < s->rounds; round++) {
        double write = 0, read = 0;
        for (int64_t first = 0; first < s->cut.units; first += ROWS) {
            MessageLayout layout = layout_of(s, variant, first);
            double begin = clock_seconds();
            encode(s, variant, round, first, &layout);
            double middle = clock_seconds();
            decode(s, variant, first, &layout);
            read += clock_seconds() - middle;
            write += middle - begin;
            variant->bits += 8 * (double)layout.bytes / s->rounds;
        }
        variant->error += relative_error(s) / s->rounds;
        lower(&variant->write, write, round);
        lower(&variant->read, read, round);
    }
}

// Both stand for the same values; coded has entropy codes. name: RULE BITS ROUNDING.
static void measure(const Share *s, const char *name, Variant *packed, Variant *coded) {
    measure_messages(s, packed);
    measure_messages(s, coded);
    CHECK(packed->error == coded->error, EXIT_BUG, "entropy codes stand for other values");
    if (packed->codec == &codec_grid)
        measure_entropy(s, packed);
    double least = -comm_max_double(s->comm, -packed->error),
           most = comm_max_double(s->comm, packed->error);
    double bits[3] = {packed->bits, coded->bits, packed->entropy};
    comm_sum_double(s->comm, bits, 3);
    double values = (double)s->cut.floats, all = values * s->comm->size, ns = 1e9 / values;
    if (s->comm->rank == 0)
        printf("variant %u %s %.4g %.4g %.3f %.3f %.3f %.2f %.2f %.2f %.2f\n", s->epoch, name,
               least, most, bits[0] / all, bits[1] / all, bits[2] / all, ns * packed->write,
               ns * packed->read, ns * coded->write, ns * coded->read);
    fflush(stdout);
}

static void measure_grid(const Share *s, const char *rule, GridOptions grid) {
    Variant packed = {.codec = &codec_grid}, coded = {.codec = &codec_grid_entropy};
    const char *way = grid.nearest ? "nearest" : "random";
    grid_set(&packed.values, grid);
    grid_set(&coded.values, grid);
    measure(s, bench_print("%s %d %s", rule, grid.bits, way), &packed, &coded);
}

static void measure_sketch(const Share *s, int buckets) {
    Variant packed = {.codec = &codec_sketch}, coded = packed;
    sketch_set(&packed.values, sketch_of(buckets, false));
    sketch_set(&coded.values, sketch_of(buckets, true));
    measure(s, bench_print("sketch %d nearest", buckets), &packed, &coded);
}

static void measure_all(const Share *s) {
    static const struct {
        const char *name;
        GridRule rule;
        int least, most; // bits
    } rules[] = {{"minmax", GRID_MINMAX, 1, 8},
                 {"max", GRID_MAX, 2, 8},
                 {"l2", GRID_L2, 2, 8},
                 {"mean", GRID_MEAN, 1, 1},
                 {"log", GRID_LOG, 3, 8}};
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
        for (int bits = rules[r].least; bits <= rules[r].most; bits++)
            for (int nearest = rules[r].rule == GRID_MEAN; nearest < 2; nearest++)
                measure_grid(s, rules[r].name, (GridOptions){rules[r].rule, bits, nearest, true});
    for (int buckets = 16; buckets <= SKETCH_BUCKETS; buckets *= 4)
        measure_sketch(s, buckets);
}

// ---- the training

static void configure(Config *config) {
    const char *path = bench_text("--config", "");
    const char *settings[SETTINGS] = {"mode=lossless", "run.backend=cpu", "run.threads=1",
                                      "train.eval_every=0", "train.epochs=100000"};
    CHECK(path[0] != 0, EXIT_USAGE, "--config=FILE is missing; gradients.py runs this program");
    int count = bench_settings(settings, SETTINGS);
    need(config_load(config, path, settings, count, &err));
}

// After the epochs of a list "1,20".
static void sample(Trainer *t, const char *epochs, int rounds) {
    EpochRecord record;
    Share share = share_new(t, rounds);
    for (const char *at = epochs; at != NULL; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        while (t->now.epoch < strtoll(at, NULL, 10))
            need(trainer_epoch(t, &record, &err));
        take_share(&share, t);
        measure_all(&share);
    }
    share_clear(&share);
}

BENCH(gradients) {
    static Config config;
    const Comm *comm = bench_ranks();
    Shard shard;
    configure(&config);
    need(partition_load(&shard, &config, comm, &(Warnings){0}, &err));
    Trainer *trainer = need(trainer_new(&config, &shard, comm, 1, NULL, &err));
    sample(trainer, bench_text("--epochs", "1,20,100"), (int)bench_option("--rounds", 11));
    trainer_free(trainer);
    shard_clear(&shard);
}
