// data.transforms: a list of steps, applied in order. Graph steps build new rows; feature steps
// work in place (on a copy if the features are mapped). drop_edges is the smallest one to copy.

#include "internal.h"

typedef enum StepOf { OF_BOTH, OF_GRAPHS, OF_HYPERGRAPHS } StepOf;

typedef struct Step {
    const char *name;
    StepOf of;   // what it can be applied to
    bool sparse; // leaves features alone, or knows them as CSR; else they are made dense before it
    bool (*known)(const char *argument,
                  Error *err); // true if the argument is valid; NULL: the step takes none
    bool fits;                 // it takes something from the data
    bool (*apply)(Dataset *dataset, const StepInput *input, Error *err);
} Step;

// --- the graph

static bool drop_some(Dataset *d, bool loops) {
    Csr rows = dataset_csr(d);
    if ((loops ? csr_loops : csr_duplicates)(&rows) == 0)
        return true;
    size_t offsets = (size_t)(d->nodes + 1) * sizeof *d->offset, edges = (size_t)d->edges;
    d->offset = dataset_writable(d, d->offset, offsets, "edges of a graph");
    d->target = dataset_writable(d, d->target, edges * sizeof *d->target, "edges of a graph");
    d->weight = dataset_writable(d, d->weight, edges * sizeof *d->weight, "edges of a graph");
    rows = dataset_csr(d);
    d->edges -= csr_drop(&rows, loops);
    return true;
}

static bool drop_duplicates(Dataset *dataset, UNUSED const StepInput *input, UNUSED Error *err) {
    return drop_some(dataset, false);
}

static bool drop_loops(Dataset *dataset, UNUSED const StepInput *input, UNUSED Error *err) {
    return drop_some(dataset, true);
}

// Any dataset becomes a graph without edges: a node reads itself alone.
static bool drop_edges(Dataset *dataset, UNUSED const StepInput *input, Error *err) {
    Csr none;
    if (!csr_try(&none, dataset->nodes, 0, false, "edges of a graph", err))
        return false;
    become_graph(dataset, &none);
    return true;
}

// The union of A and its transpose; an entry in both keeps the larger weight. A symmetric graph
// stays unchanged.
static bool symmetrize(Dataset *dataset, const StepInput *input, Error *err) {
    if (!drop_duplicates(dataset, input, err))
        return false;
    Csr in = dataset_csr(dataset), back, out;
    csr_transpose(&back, &in, in.rows);
    bool ok = csr_unite(&out, &in, &back, NULL, err);
    csr_free(&back);
    if (ok)
        dataset_set_csr(dataset, &out);
    return ok;
}

// --- existing features

// Makes the features writable; NULL with an error if there are none.
static float *features(Dataset *dataset, Error *err) {
    if (!has_features(dataset, err))
        return NULL;
    size_t bytes = memory_product(dataset->nodes * dataset->features, sizeof *dataset->x);
    dataset->x = dataset_writable(dataset, dataset->x, bytes, "features");
    return dataset->x;
}

static float *sparse_values(Dataset *dataset) {
    size_t bytes = (size_t)csr_entries(&dataset->sparse) * sizeof(float);
    return dataset->sparse.weight =
               dataset_writable(dataset, dataset->sparse.weight, bytes, "features");
}

static bool binary(Dataset *dataset, UNUSED const StepInput *input, Error *err) {
    if (dataset->sparse.offset != NULL) {
        float *value = sparse_values(dataset);
        for (int64_t e = 0; e < csr_entries(&dataset->sparse); e++)
            value[e] = 1;
        return true;
    }
    float *x = features(dataset, err);
    if (x == NULL)
        return false;
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < dataset->nodes * dataset->features; k++)
        x[k] = x[k] != 0;
    return true;
}

static void normalize_row(float *row, int64_t columns) {
    double sum = 0;
    for (int64_t f = 0; f < columns; f++)
        sum += fabs((double)row[f]);
    for (int64_t f = 0; sum > 0 && f < columns; f++)
        row[f] = (float)(row[f] / sum);
}

// x[i, :] / sum |x[i, :]|; a row of zeros stays unchanged. Zeros change no sum.
static bool row_normalize(Dataset *dataset, UNUSED const StepInput *input, Error *err) {
    const Csr *sparse = &dataset->sparse;
    float *x = sparse->offset != NULL ? sparse_values(dataset) : features(dataset, err);
    if (x == NULL)
        return false;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < dataset->nodes; i++)
        if (sparse->offset != NULL)
            normalize_row(x + sparse->offset[i], sparse->offset[i + 1] - sparse->offset[i]);
        else
            normalize_row(x + i * dataset->features, dataset->features);
    return true;
}

// Mean and population deviation (as GraphSAINT) of the training rows in columns [begin, end). One
// thread per column block adds the rows in ascending order.
enum { COLUMNS_OF_BLOCK = 16 };

static void fit_columns(const Dataset *dataset, FittedStep *fit, int64_t begin, int64_t end) {
    double sum[COLUMNS_OF_BLOCK] = {0}, squares[COLUMNS_OF_BLOCK] = {0};
    const float *x = dataset->x;
    int64_t rows = 0, columns = dataset->features;
    for (int64_t i = 0; i < dataset->nodes; i++) {
        rows += dataset->split[i] == SPLIT_TRAIN;
        for (int64_t f = begin; dataset->split[i] == SPLIT_TRAIN && f < end; f++)
            sum[f - begin] += x[i * columns + f];
    }
    for (int64_t f = begin; f < end; f++)
        fit->mean[f] = sum[f - begin] / (double)rows;
    for (int64_t i = 0; i < dataset->nodes; i++)
        for (int64_t f = begin; dataset->split[i] == SPLIT_TRAIN && f < end; f++) {
            double apart = x[i * columns + f] - fit->mean[f];
            squares[f - begin] += apart * apart;
        }
    for (int64_t f = begin; f < end; f++)
        fit->deviation[f] = sqrt(squares[f - begin] / (double)rows);
}

static bool fit_standardize(const Dataset *dataset, FittedStep *fit, Error *err) {
    int64_t columns = dataset->features;
    if (!has_split(dataset, SPLIT_TRAIN))
        return error_config(err, "standardize needs mean and deviation of the training nodes, but "
                                 "there are none; name a split in data.splits");
    fit->mean = TRY(double, columns, "means of features", err);
    fit->deviation = TRY(double, columns, "deviations of features", err);
    if (fit->mean == NULL || fit->deviation == NULL)
        return false;
    fit->columns = columns;
#pragma omp parallel for schedule(dynamic)
    for (int64_t begin = 0; begin < columns; begin += COLUMNS_OF_BLOCK)
        fit_columns(dataset, fit, begin,
                    begin + COLUMNS_OF_BLOCK < columns ? begin + COLUMNS_OF_BLOCK : columns);
    return true;
}

// (x - mean) / deviation; a column that was constant is only shifted.
static bool standardize(Dataset *dataset, const StepInput *input, Error *err) {
    float *x = features(dataset, err);
    const FittedStep *fit = input->fitted;
    if (x == NULL || !(input->known ? fitted_takes(fit, dataset, err)
                                    : fit_standardize(dataset, input->fitted, err)))
        return false;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < dataset->nodes; i++)
        for (int64_t f = 0; f < fit->columns; f++) {
            double shifted = x[i * fit->columns + f] - fit->mean[f], apart = fit->deviation[f];
            x[i * fit->columns + f] = (float)(apart > 0 ? shifted / apart : shifted);
        }
    return true;
}

// --- new features

// Memory for new features; an error if there are any, which would be lost silently.
static float *new_features(Dataset *dataset, int64_t columns, Error *err) {
    if (dataset->features > 0) {
        error_config(err, "the dataset already has %ld features; remove this step",
                     dataset->features);
        return NULL;
    }
    dataset->x = TRY(float, dataset->nodes *columns, "features made by data.transforms", err);
    dataset->features = dataset->x == NULL ? 0 : columns;
    return dataset->x;
}

bool random_width(int64_t *columns, const char *argument, int64_t most, Error *err) {
    char *end = NULL;
    *columns = strtol(argument, &end, 10);
    if (end == argument || *end != '\0' || *columns < 1 || *columns > most)
        return error_config(err, "'random:%s' needs a width of 1 to %ld, as in random:64", argument,
                            most);
    return true;
}

void random_rows(float *x, int64_t nodes, int64_t columns, int64_t seed, const uint64_t *id) {
    RandomKey random = random_key((uint64_t)seed, RANDOM_FEATURES, 0, 0, 0);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < nodes; i++) {
        uint64_t key = id == NULL ? (uint64_t)i : id[i];
        int64_t row = (int64_t)(key & 0xffffffffffff);
        for (int64_t f = 0; f < columns; f++)
            x[i * columns + f] = (float)random_normal(random, row, (int)(key >> 48), f);
    }
}

static bool random_known(const char *argument, Error *err) {
    int64_t columns;
    return random_width(&columns, argument, 1 << 17, err);
}

static bool random_features(Dataset *dataset, const StepInput *input, Error *err) {
    int64_t columns = strtol(input->argument, NULL, 10);
    float *x = new_features(dataset, columns, err);
    if (x != NULL)
        random_rows(x, dataset->nodes, columns, input->seed, NULL);
    return x != NULL;
}

// Edges that arrive and leave; of a hypergraph the hyperedges that a node is a target and a source
// of.
static void count_degrees(const Dataset *dataset, int64_t *in, int64_t *out) {
    for (int64_t i = 0; i < dataset->nodes; i++)
        for (int64_t e = dataset->offset[i]; e < dataset->offset[i + 1]; e++) {
            bool pin = dataset->hyperedges > 0;
            in[pin ? i : dataset->target[e]] += (pin_role(dataset, e) & PIN_TARGET) != 0;
            out[i] += (pin_role(dataset, e) & PIN_SOURCE) != 0;
        }
}

// Columns 0..15: 1 at bucket floor(log2(1 + in-degree)), the last for all larger ones; 16: ln(1 +
// in-degree); 17: ln(1 + out-degree). With the buckets a linear layer can be any function of the
// degree's magnitude; the logarithms distinguish degrees in a bucket.
static bool degree_features(Dataset *dataset, UNUSED const StepInput *input, Error *err) {
    enum { BUCKETS = 16, COLUMNS = BUCKETS + 2 };
    float *x = new_features(dataset, COLUMNS, err);
    if (x == NULL)
        return false;
    FREED int64_t *in = ALLOC(int64_t, dataset->nodes, "in-degrees");
    FREED int64_t *out = ALLOC(int64_t, dataset->nodes, "out-degrees");
    count_degrees(dataset, in, out);
    for (int64_t i = 0; i < dataset->nodes; i++) {
        int bucket = 63 - __builtin_clzll((unsigned long long)in[i] + 1);
        x[i * COLUMNS + (bucket < BUCKETS ? bucket : BUCKETS - 1)] = 1;
        x[i * COLUMNS + BUCKETS] = (float)log1p((double)in[i]);
        x[i * COLUMNS + BUCKETS + 1] = (float)log1p((double)out[i]);
    }
    return true;
}

// --- the family

static const Step steps[] = {
    {.name = "symmetrize", .of = OF_GRAPHS, .sparse = true, .apply = symmetrize},
    {.name = "drop-loops", .of = OF_GRAPHS, .sparse = true, .apply = drop_loops},
    {.name = "drop-duplicates", .of = OF_GRAPHS, .sparse = true, .apply = drop_duplicates},
    {.name = "drop-edges", .sparse = true, .apply = drop_edges},
    {.name = "binary", .sparse = true, .apply = binary},
    {.name = "row-normalize", .sparse = true, .apply = row_normalize},
    {.name = "standardize", .fits = true, .apply = standardize},
    {.name = "one-hot", .fits = true, .apply = one_hot},
    {.name = "one-hot:drop=I,J", .known = one_hot_known, .fits = true, .apply = one_hot},
    {.name = "random:D", .known = random_known, .apply = random_features},
    {.name = "degree", .apply = degree_features},
    {.name = "singletons:WHICH",
     .of = OF_HYPERGRAPHS,
     .sparse = true,
     .known = singletons_known,
     .apply = add_singletons},
    {.name = "clique", .of = OF_HYPERGRAPHS, .sparse = true, .apply = expand_cliques},
    {.name = "star", .of = OF_HYPERGRAPHS, .apply = expand_star},
};
const Family step_family = FAMILY("data.transforms", NULL, steps);

bool dataset_step_fits(const char *word, Error *err) {
    const char *argument;
    const Step *step = family_find(&step_family, word, &argument, err);
    return step != NULL && (step->known == NULL || step->known(argument, err));
}

bool dataset_steps_fit(const ConfigWords *words) {
    for (int i = 0; i < words->count; i++) {
        const char *argument;
        const Step *step = family_find(&step_family, words->word[i], &argument, &(Error){0});
        if (step != NULL && step->fits)
            return true;
    }
    return false;
}

static bool step_applies(const Step *step, const Dataset *dataset, Error *err) {
    StepOf is = dataset->hyperedges > 0 ? OF_HYPERGRAPHS : OF_GRAPHS;
    if (step->of == OF_BOTH || step->of == is)
        return true;
    return error_config(err, "%s",
                        is == OF_GRAPHS ? "this step is for hypergraphs, but the dataset is a graph"
                                        : "this step is for graphs, but the dataset is a "
                                          "hypergraph; clique or star before it makes a graph");
}

void fitted_begin(Dataset *dataset, int count) {
    if (dataset->fitted_before)
        return;
    fitted_clear(dataset);
    dataset->fitted = ALLOC(FittedStep, count, "what steps take from data");
    dataset->fitted_steps = count;
}

bool dataset_prepare(Dataset *dataset, const ConfigWords *words, int64_t seed, double memory_limit,
                     Error *err) {
    StepInput input = {.seed = seed, .memory_limit = memory_limit};
    fitted_begin(dataset, words->count);
    for (int i = 0; i < words->count; i++)
        if (!dataset_step_fits(words->word[i], err))
            return false;
    for (int i = 0; i < words->count; i++) {
        const Step *step = family_find(&step_family, words->word[i], &input.argument, err);
        progress_begin("prepare", "%s", SHOWN(words->word[i]));
        input.fitted = &dataset->fitted[i];
        input.known = dataset->fitted_before;
        if (step_applies(step, dataset, err) &&
            (step->sparse || features_make_dense(dataset, err)) &&
            step->apply(dataset, &input, err))
            continue;
        fitted_clear(dataset);
        return error_prefix(err, "%s", words->word[i]);
    }
    return true;
}
