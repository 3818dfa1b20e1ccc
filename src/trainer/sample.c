// train.sample: which training nodes count in an epoch's loss. The forward pass is that of the
// whole graph, so no epoch is cheaper; but gradients are those of stochastic gradient descent.
//
// The one idea (ALGORITHMS A.11): node v counts with probability q_v = min(1, B p_v), and then 1 /
// q_v times, so that the mean over draws is the loss of all nodes. A draw is a function of seed,
// epoch and node: the same nodes on any number of ranks. Rules are a table: p_v is equal for all,
// or follows the norm of the gradient of the node's loss by its logits, as it was some epochs ago.
#include "internal.h"

struct SampleRule {
    const char *name;
    bool measures; // norms of the nodes' gradients
};

static const SampleRule rules[] = {{"all", false}, {"uniform:B", false}, {"importance:B", true}};
const Family sample_family = FAMILY("train.sample", NULL, rules);

// This share of the mean norm is added to every norm, so that a node whose norm has grown since it
// was measured counts now and then all the same.
static const double SMOOTHING = 0.1;
// Where p is right, the standard deviation of the gradient is sqrt(N sum p^2) times smaller than
// that of a uniform draw. Below this gain the draw is uniform: then it depends on no measurement.
static const double LEAST_GAIN = 1.05;

bool sampler_configure(Sampler *s, const Config *config, Error *err) {
    const char *argument;
    char *end = NULL;
    *s = (Sampler){.rule = family_find(&sample_family, config->train.sample, &argument, err)};
    if (s->rule == NULL || s->rule == rules)
        return s->rule != NULL;
    double size = strtod(argument, &end);
    if (*end != 0 || !(size >= 1 && size <= 1e15) || size != floor(size))
        return error_config(err,
                            "train.sample: expected a whole number of nodes of 1 or more in '%s'",
                            config->train.sample);
    s->size = (int64_t)size;
    return true;
}

bool sampler_fits(const Sampler *s, const Shard *shard, Error *err) {
    return s->size <= shard->train_nodes ||
           error_config(err,
                        "train.sample: a sample of %ld nodes is larger than the training split of "
                        "%s, %ld nodes; use a smaller one, or train.sample=all",
                        s->size, shard->dataset_name, shard->train_nodes);
}

void sampler_alloc(Sampler *s, const Shard *shard, const Allocator *allocator) {
    size_t rows = (size_t)shard->set[NODES].own;
    if (s->size == 0)
        return;
    s->row = alloc_host(allocator, rows * sizeof *s->row, "weights of the sample");
    if (!s->rule->measures)
        return;
    s->norm = alloc_host(allocator, rows * sizeof *s->norm, "weights of the sample");
    s->gradient = alloc_host(allocator, rows * (size_t)shard->classes * sizeof *s->gradient,
                             "gradients of logits on the host");
    if (allocator->forecast == NULL)
        memset(s->norm, 0, rows * sizeof *s->norm);
}

// ---- probabilities

// Of the norms of all ranks. Collective.
static void sum_norms(Sampler *s, const Trainer *t) {
    double sum[2] = {0};
    for (int64_t r = 0; r < t->shard->set[NODES].own; r++) {
        sum[0] += (double)s->norm[r];
        sum[1] += (double)s->norm[r] * (double)s->norm[r];
    }
    comm_sum_double(t->comm, sum, 2);
    double n = (double)t->shard->train_nodes, least = SMOOTHING * sum[0] / n;
    s->least = least;
    s->total = sum[0] + n * least;
    s->gain =
        s->total > 0 ? sqrt(n * (sum[1] + 2 * least * sum[0] + n * least * least)) / s->total : 1;
}

static double probability(const Sampler *s, const Trainer *t, int64_t row) {
    double p = s->gain > LEAST_GAIN ? ((double)s->norm[row] + s->least) / s->total
                                    : 1 / (double)t->shard->train_nodes;
    return fmin(1, (double)s->size * p);
}

// ---- an epoch

// Weights of rows, and how many of this rank count.
static int64_t draw(const Sampler *s, const Trainer *t, int64_t epoch) {
    const Shard *shard = t->shard;
    RandomKey key = random_key(t->seed, RANDOM_TRAIN_SAMPLE, (uint32_t)epoch, 0, 0);
    int64_t count = 0;
    for (int64_t r = 0; r < shard->set[NODES].own; r++) {
        double q = shard->split[r] == SPLIT_TRAIN ? probability(s, t, r) : 0;
        bool counts = q > 0 && random_uniform32(key, shard->set[NODES].gid[r], 0, 0) < q;
        s->row[r] = counts ? (float)(1 / q) : 0;
        count += counts;
    }
    return count;
}

void sampler_before(Trainer *t, EpochRecord *record) {
    Sampler *s = &t->sampler;
    record->sampled = -1;
    if (s->size == 0)
        return;
    record->sampled = draw(s, t, record->epoch);
    record->sample_gain = s->gain;
    record->sample_uniform = s->gain > 0 && s->gain <= LEAST_GAIN;
    model_set_row_weights(t->model, s->row, 0);
}

void sampler_after(Trainer *t, int64_t epoch) {
    Sampler *s = &t->sampler;
    if (s->norm == NULL || (epoch - 1) % t->config->train.sample_period != 0)
        return;
    model_loss_norms(t->model, s->norm, s->gradient);
    sum_norms(s, t);
}

// ---- checkpoints

static bool walk_norms(void *owner, StateWalk *walk, Error *err) {
    Trainer *t = owner;
    int64_t own = t->shard->set[NODES].own;
    bool ok = state_distributed(walk, "norms", TENSOR_F32, own, t->sampler.norm, err);
    if (ok && walk->restores)
        sum_norms(&t->sampler, t);
    return ok;
}

StateSection sampler_section(Trainer *t) {
    bool keeps = t->sampler.norm != NULL;
    return keeps ? (StateSection){"sample", walk_norms, t} : (StateSection){0};
}
