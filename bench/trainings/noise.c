// What quantized messages add to the gradient, against the bytes that they take: at one set of
// trained weights, for uniform, random and adaptive bit widths.
//
// A vanilla training makes the weights. Each variant then repeats the same epoch, without dropout
// and without moving the weights, so that all that differs from epoch to epoch is how rows were
// rounded:
//
//   noise = sqrt(mean over epochs of |g - g0|^2) / |g0|,   g0: the gradient of fp32 messages
//
// Adaptive widths are assigned from the first epochs of their variant with a fixed link model, so
// they are the same in every run.
//
//   noise --data=FOLDER [--graph=reddit-small] [--train=60] [--samples=12] [KEY=VALUE...]
//
// KEY=VALUE is a setting of all trainings, as --set of `fringe train` has it; with data.path no
// graph is generated.
// Prints one line a variant: "variant RULE WIDTHS LAMBDA BYTES NOISE SECONDS" (bytes: of all ranks,
// an epoch; seconds: median epoch here, for the cost of packing). noise.py runs it.
#include "../../src/trainer/internal.h"
#include "bench.h"

enum { SAMPLES_MOST = 256, SETTINGS = 48, PERIOD = 2 };

typedef struct Scene {
    const Comm *comm;
    const char *data, *cache;
    const char *const *settings; // of the command line; NULL ends them
    int64_t samples;
    Shard shard;
    int64_t parameters;
    float *weights, *exact; // [parameters] trained; the gradient of fp32 messages
} Scene;

// What all trainings have in common, and then the variant's own settings; NULL ends them.
static void configure(Config *config, const Scene *scene, const char *const *own) {
    const char *settings[SETTINGS] = {scene->data,
                                      scene->cache,
                                      "model.layers=3",
                                      "model.hidden=[256]",
                                      "model.post=[\"dropout\",\"norm\",\"activation\"]",
                                      "model.norm=layer",
                                      "run.threads=1",
                                      "train.eval_every=0",
                                      "train.epochs=100000"};
    int count = 0;
    while (settings[count] != NULL)
        count++;
    for (const char *const *more = scene->settings; *more != NULL; more++)
        settings[count++] = *more;
    for (; *own != NULL; own++)
        settings[count++] = *own;
    need(config_load(config, NULL, settings, count, &err));
}

// ---- the weights

static void train(Scene *scene, int64_t epochs) {
    static Config config;
    EpochRecord record;
    configure(&config, scene,
              (const char *const[]){"mode=vanilla", "model.dropout=0.5", "train.lr=0.01", NULL});
    CLEARED(trainer_drop)
    Trainer *trainer = need(trainer_new(&config, &scene->shard, scene->comm, 1, NULL, &err));
    for (int64_t e = 0; e < epochs; e++)
        need(trainer_epoch(trainer, &record, &err));
    scene->parameters = trainer->shape.parameter_count;
    scene->weights = ALLOC(float, scene->parameters, "weights");
    scene->exact = ALLOC(float, scene->parameters, "gradient");
    memcpy(scene->weights, trainer_parameters(trainer, false),
           (size_t)scene->parameters * sizeof(float));
    if (scene->comm->rank == 0)
        printf("trained %lld epochs: loss %.4f\n", (long long)epochs, record.loss);
}

// ---- a variant

typedef struct Variant {
    const char *rule, *widths; // "adaptive" and "[2,4,8]"
    double lambda;
} Variant;

// Steps of the smallest size move no weight.
static Trainer *variant_new(Config *config, Scene *scene, const Variant *variant) {
    bool exact = variant == NULL, uniform = !exact && strcmp(variant->rule, "uniform") == 0;
    configure(
        config, scene,
        (const char *const[]){
            "mode=adaqp-published",
            bench_print("quantization.assign=%s", exact ? "uniform" : variant->rule),
            bench_print("quantization.bits=%s", exact || uniform ? "[2,4,8]" : variant->widths),
            bench_print("quantization.initial_bits=%s", uniform ? variant->widths : "8"),
            bench_print("quantization.lambda=%g", exact ? 0.5 : variant->lambda),
            "quantization.period=2", "quantization.delay=0", "quantization.solver=exact",
            "quantization.link=[8e-9,5e-5]", "quantization.group_size=100", "model.dropout=0",
            "train.optimizer=sgd", "train.lr=1e-30", exact ? "quantization.codec=fp32" : NULL,
            NULL});
    Trainer *trainer = need(trainer_new(config, &scene->shard, scene->comm, 1, NULL, &err));
    memcpy(trainer->parameters, scene->weights, (size_t)scene->parameters * sizeof(float));
    trainer_upload(trainer);
    return trainer;
}

static void measure_exact(Scene *scene) {
    static Config config;
    EpochRecord record;
    CLEARED(trainer_drop) Trainer *trainer = variant_new(&config, scene, NULL);
    need(trainer_epoch(trainer, &record, &err));
    memcpy(scene->exact, trainer->gradient, (size_t)scene->parameters * sizeof(float));
    if (scene->comm->rank == 0)
        printf("variant fp32 - 0 %lld 0 %.4f\n", (long long)record.bytes, record.seconds);
}

// The first epochs choose the widths and are not counted.
static void measure(Scene *scene, const Variant *variant) {
    static Config config;
    EpochRecord record;
    double squares = 0, seconds[SAMPLES_MOST], bytes = 0;
    CLEARED(trainer_drop) Trainer *trainer = variant_new(&config, scene, variant);
    for (int64_t e = -PERIOD; e < scene->samples; e++) {
        need(trainer_epoch(trainer, &record, &err));
        if (e < 0)
            continue;
        squares += bench_square_distance(trainer->gradient, scene->exact, scene->parameters);
        seconds[e] = record.seconds;
        bytes += (double)record.bytes;
    }
    CHECK(memcmp(trainer->parameters, scene->weights, (size_t)scene->parameters * sizeof(float)) ==
              0,
          EXIT_BUG, "the weights have moved");
    double norm = bench_square_distance(scene->exact, NULL, scene->parameters);
    double n = (double)scene->samples;
    if (scene->comm->rank == 0)
        printf("variant %s %s %g %.0f %.6f %.4f\n", variant->rule, variant->widths, variant->lambda,
               bytes / n, sqrt(squares / n / norm), bench_median(seconds, (int)scene->samples));
    fflush(stdout);
}

static void measure_all(Scene *scene) {
    static const char *const uniform[] = {"1", "2", "3", "4", "5", "6", "7", "8"};
    static const char *const sets[] = {"[2,4,8]", "[1,2,3,4,5,6,7,8]"};
    static const double lambdas[] = {0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 0.99};
    for (int i = 0; i < 8; i++)
        measure(scene, &(Variant){"uniform", uniform[i], 0.5});
    for (int s = 0; s < 2; s++)
        measure(scene, &(Variant){"random", sets[s], 0.5});
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < 8; i++)
            measure(scene, &(Variant){"adaptive", sets[s], lambdas[i]});
}

// The arguments that are no options, ended by NULL.
static const char *const *settings_of(void) {
    static const char *settings[SETTINGS / 2];
    bench_settings(settings, SETTINGS / 2);
    return settings;
}

static bool names_data(const char *const *settings) {
    for (; *settings != NULL; settings++)
        if (strncmp(*settings, "data.path=", 10) == 0)
            return true;
    return false;
}

BENCH(noise) {
    static Config config;
    const char *folder = bench_text("--data", "");
    CHECK(folder[0] != 0, EXIT_USAGE, "--data=FOLDER is missing; noise.py runs this program");
    Scene scene = {
        .comm = bench_ranks(), .settings = settings_of(), .samples = bench_option("--samples", 12)};
    CHECK(scene.samples > 0 && scene.samples <= SAMPLES_MOST, EXIT_USAGE, "--samples: 1 to %d",
          SAMPLES_MOST);
    scene.cache = bench_print("data.cache=%s/cache", folder);
    scene.data = bench_print("data.path=%s/graph", folder);
    if (!names_data(scene.settings))
        bench_dataset(scene.data + strlen("data.path="),
                      bench_recipe(bench_text("--graph", "reddit-small")), scene.comm);
    configure(&config, &scene, (const char *const[]){NULL});
    need(partition_load(&scene.shard, &config, scene.comm, &(Warnings){0}, &err));
    train(&scene, bench_option("--train", 60));
    measure_exact(&scene);
    measure_all(&scene);
    memory_free(scene.exact);
    memory_free(scene.weights);
    shard_clear(&scene.shard);
}
