// What coded halo rows add to the gradient of a training as it goes on, by what is remembered of
// them (quantization.memory) and by their bits.
//
// A training with fp32 rows makes the weights of every epoch. Each variant then goes the same way:
// it begins every epoch with those weights, has the same dropout, and sends its rows coded. What it
// remembers follows the rows of a training, and all that differs from fp32 is the noise of rows:
//
//   noise = sqrt(sum over the last epochs of |g - g0|^2 / sum of |g0|^2),   g0: the gradient of
//   fp32 rows
//
//   differences --config=FILE [--train=50] [--samples=10] [--layer=0]
//               [--memories=none,difference,ef21,anchor] [--widths=1,2,3,4,5,6,7,8] [KEY=VALUE...]
//
// KEY=VALUE is a setting, as --set of `fringe train` has it. Rows of the way back are fp32 in all
// variants; with --layer, so are those of all other layers. An anchor comes once in the samples.
// Prints one line a variant: "variant MEMORY BITS BYTES NOISE" (bytes: of all ranks, an epoch, mean
// over the samples). differences.py runs it.
#include "../../src/trainer/internal.h"
#include "bench.h"

enum { SETTINGS = 48, LAYERS = EXCHANGE_LAYERS };

typedef struct Scene {
    const Comm *comm;
    Shard shard;
    int64_t warm, samples;      // epochs
    ExchangeSet full_precision; // of all variants
    int64_t parameters;
    float *weights;  // [warm + samples, parameters] before each epoch
    float *gradient; // [samples, parameters] of the last epochs, with fp32 rows
} Scene;

static Config configure(const Scene *scene, const char *codec, const char *memory,
                        const char *width) {
    static Config config;
    const char *settings[SETTINGS] = {
        "mode=quantize",
        "quantization.assign=uniform",
        "quantization.exchanges=replay:the set of this bench",
        "run.backend=cpu",
        "run.threads=1",
        "train.eval_every=0",
        "train.epochs=100000",
        bench_print("quantization.refresh=%lld", (long long)scene->samples),
        codec,
        memory,
        width};
    int count = bench_settings(settings, SETTINGS);
    need(config_load(&config, bench_text("--config", ""), settings, count, &err));
    return config;
}

// The rows of the way back, and all rows but those of the layer, if one is named.
static ExchangeSet exact_of(int64_t layer) {
    ExchangeSet set = 0;
    for (int l = 0; l < LAYERS; l++) {
        set |= exchange_set_of((ExchangeId){l, BACKWARD});
        if (layer > 0 && l != layer)
            set |= exchange_set_of((ExchangeId){l, FORWARD});
    }
    return set;
}

// ---- the way of the weights

static void allocate(Scene *scene, const Trainer *trainer) {
    scene->parameters = trainer->shape.parameter_count;
    scene->weights =
        ALLOC(float, (scene->warm + scene->samples) * scene->parameters, "weights of all epochs");
    scene->gradient = ALLOC(float, scene->samples * scene->parameters, "gradients");
}

static float *weights_of(const Scene *scene, int64_t epoch) {
    return scene->weights + epoch * scene->parameters;
}

static float *gradient_of(const Scene *scene, int64_t epoch) {
    return scene->gradient + (epoch - scene->warm) * scene->parameters;
}

static void train(Scene *scene) {
    Config config = configure(scene, "quantization.codec=fp32", "quantization.memory=none",
                              "quantization.initial_bits=8");
    EpochRecord record;
    CLEARED(trainer_drop)
    Trainer *t =
        need(trainer_new(&config, &scene->shard, scene->comm, 1,
                         &(Replay){.epochs = 1, .full_precision = &scene->full_precision}, &err));
    allocate(scene, t);
    size_t bytes = (size_t)scene->parameters * sizeof(float);
    for (int64_t e = 0; e < scene->warm + scene->samples; e++) {
        memcpy(weights_of(scene, e), t->parameters, bytes);
        need(trainer_epoch(t, &record, &err));
        if (e >= scene->warm)
            memcpy(gradient_of(scene, e), t->gradient, bytes);
    }
    if (scene->comm->rank == 0)
        printf("trained %lld epochs: loss %.4f\n", (long long)record.epoch, record.loss);
}

// ---- a variant

typedef struct Noise {
    double squares, all, bytes;
} Noise;

static void epoch_of(const Scene *scene, Trainer *t, int64_t e, Noise *noise) {
    EpochRecord record;
    memcpy(t->parameters, weights_of(scene, e), (size_t)scene->parameters * sizeof(float));
    trainer_upload(t);
    need(trainer_epoch(t, &record, &err));
    if (e < scene->warm)
        return;
    noise->squares += bench_square_distance(t->gradient, gradient_of(scene, e), scene->parameters);
    noise->all += bench_square_distance(gradient_of(scene, e), NULL, scene->parameters);
    noise->bytes += (double)record.bytes / (double)scene->samples;
}

static Noise noise_of(const Scene *scene, const char *codec, const char *memory,
                      const char *width) {
    Noise noise = {0};
    Config config = configure(scene, codec, bench_print("quantization.memory=%s", memory),
                              bench_print("quantization.initial_bits=%s", width));
    Replay replay = {.epochs = 1, .full_precision = (ExchangeSet[]){scene->full_precision}};
    CLEARED(trainer_drop)
    Trainer *t = need(trainer_new(&config, &scene->shard, scene->comm, 1, &replay, &err));
    for (int64_t e = 0; e < scene->warm + scene->samples; e++)
        epoch_of(scene, t, e, &noise);
    return noise;
}

static void measure(const Scene *scene, const char *memory, const char *width) {
    Noise noise = noise_of(scene, "quantization.codec=integer", memory, width);
    if (scene->comm->rank == 0)
        printf("variant %s %s %.0f %.6g\n", memory, width, noise.bytes,
               sqrt(noise.squares / noise.all));
    fflush(stdout);
}

// A variant with fp32 rows has the gradients of the training, or noise would mean something else.
static void check_way(const Scene *scene) {
    Noise noise = noise_of(scene, "quantization.codec=fp32", "none", "8");
    CHECK(noise.squares == 0, EXIT_BUG, "fp32 rows give other gradients than in the training");
    if (scene->comm->rank == 0)
        printf("variant fp32 32 %.0f 0\n", noise.bytes);
}

// The words of a list "2,4" in turn: copies the next one, false after the last.
static bool next_word(char word[32], const char **list) {
    size_t length = strcspn(*list, ",");
    CHECK(length < 32, EXIT_USAGE, "'%s' is too long", *list);
    memcpy(word, *list, length);
    word[length] = 0;
    *list += length + ((*list)[length] == ',');
    return length > 0;
}

static void measure_all(const Scene *scene) {
    const char *memories = bench_text("--memories", "none,difference,ef21,anchor");
    char memory[32], width[32];
    while (next_word(memory, &memories)) {
        const char *widths = bench_text("--widths", "1,2,3,4,5,6,7,8");
        while (next_word(width, &widths))
            measure(scene, memory, width);
    }
}

BENCH(differences) {
    Scene scene = {.comm = bench_ranks(),
                   .warm = bench_option("--train", 50),
                   .samples = bench_option("--samples", 10),
                   .full_precision = exact_of(bench_option("--layer", 0))};
    CHECK(scene.warm >= 0 && scene.samples >= 2, EXIT_USAGE, "--samples: at least 2");
    Config config = configure(&scene, "quantization.codec=fp32", "quantization.memory=none",
                              "quantization.initial_bits=8");
    need(partition_load(&scene.shard, &config, scene.comm, &(Warnings){0}, &err));
    train(&scene);
    check_way(&scene);
    measure_all(&scene);
    memory_free(scene.gradient);
    memory_free(scene.weights);
    shard_clear(&scene.shard);
}
