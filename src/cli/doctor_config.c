// What one config needs from this machine, for `fringe doctor CONFIG`: its files, cores for its
// ranks and threads, and memory for its graph and on its devices.

#include "internal.h"

// "3.1 GiB", "12.0 MiB"
typedef char Amount[32];
static const char *amount(Amount out, double bytes) {
    bool large = bytes >= 1 << 30;
    snprintf(out, sizeof(Amount), "%.1f %s", bytes / (large ? 1 << 30 : 1 << 20),
             large ? "GiB" : "MiB");
    return out;
}

// What `needs` asks for on disk, with the sentences that `config check --files` has for it.
static bool check_needs(Finding *finding, int needs) {
    Config config;
    Error err = {0};
    Options with = *finding->options;
    with.needs = needs;
    if (load_config(&config, &with, with.argument[0], with.ranks, &err))
        return true;
    SAY("%s", err.text);
    return false;
}

static Health check_graph(Finding *finding) {
    const Config *config = finding->config;
    char name[DATASET_NAME];
    if (!check_needs(finding, NEEDS_DATA))
        return HEALTH_FAIL;
    SAY("%s:\n%s", dataset_name(config, name, &(Error){0}) ? name : "graph", config->data.path);
    return HEALTH_OK;
}

static Health check_start(Finding *finding) {
    const Config *config = finding->config;
    if (!check_needs(finding, NEEDS_START))
        return HEALTH_FAIL;
    SAY("%s", config->model.weights[0] != 0 ? config->model.weights : "random initial weights");
    return HEALTH_OK;
}

static int ranks_of(const Options *options) { return options->ranks > 0 ? options->ranks : 1; }

static Health check_cores(Finding *finding) {
    const Config *config = finding->config;
    int ranks = ranks_of(finding->options), cores = threads_on_node();
    Error err = {0};
    if (!launch_fits(finding->options, &err)) {
        SAY("%s", err.text);
        CURE("fewer ranks, or --oversubscribe");
        return HEALTH_FAIL;
    }
    int fair = cores / ranks > 0 ? cores / ranks : 1;
    int threads = config->run.threads > 0 ? (int)config->run.threads : fair;
    SAY("%d rank%s x %d thread%s on %d cores", ranks, ranks == 1 ? "" : "s", threads,
        threads == 1 ? "" : "s", cores);
    if (ranks * threads <= cores)
        return HEALTH_OK;
    CURE("several share a core, which is slow; fewer ranks, or run.threads=%d", fair);
    return HEALTH_WARN;
}

// One process reads the whole graph. The plan is made from headers.
static Health check_loading(Finding *finding) {
    const Config *config = finding->config;
    MemoryForecast forecast = {0};
    double limit = config->run.memory_limit > 0 ? config->run.memory_limit * (1 << 30)
                                                : (double)memory_available();
    dataset_forecast(&forecast, config);
    double need = (double)forecast_total(&forecast);
    if (!file_exists(config->data.path)) {
        SAY("not known without the graph");
        return HEALTH_OK;
    }
    SAY("reading the graph takes up to %s of %s", amount((Amount){0}, need),
        amount((Amount){0}, limit));
    if (need <= limit)
        return HEALTH_OK;
    CURE("free memory, raise run.memory_limit, or partition it on a larger machine");
    return HEALTH_FAIL;
}

// What a training needs of a device is known when its parts are: it is refused then if it does not
// fit. Here stands what it may need.
static Health check_device_memory(Finding *finding) {
    const Config *config = finding->config;
    const BackendStart how = {.vectors = config->run.simd,
                              .spmm = config->run.spmm,
                              .node_size = ranks_of(finding->options)};
    const Backend *backend = backend_open(config->run.backend, &how, &(Error){0});
    if (backend == NULL || backend->device_free == NULL)
        SAY("run.backend=%s takes it from the machine's", config->run.backend);
    else
        SAY("%s of its device for each rank, if %d share this machine",
            amount((Amount){0}, (double)backend->device_free()), ranks_of(finding->options));
    return HEALTH_OK;
}

const Check doctor_config_checks[] = {
    {"graph", check_graph},
    {"weights", check_start},
    {"cores", check_cores},
    {"loading", check_loading},
    {"device memory", check_device_memory},
};
const int doctor_config_check_count = FAMILY_COUNT(doctor_config_checks);
