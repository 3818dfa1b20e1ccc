// Optimizers and learning-rate schedules, both tables.
//
// plateau is torch's ReduceLROnPlateau of the score that train.metric names, with threshold 0 and
// no cooldown: the rate becomes train.lr_gamma times as large after more than train.lr_patience
// evaluations in a row without a better score.
#include "internal.h"

// The proximal step of l1 |w|_1, which follows that of everything else (as in DIANA, algorithm 1).
// Whatever codec the gradient has crossed, w is the same on all ranks, and so is this. Where w
// rests, a velocity is g / (1 - momentum): by as much longer is this step, or l1 would count less.
static void shrink_matrices(Trainer *t, float by) {
    for (int i = 0; by > 0 && i < t->shape.parameter_spans; i++) {
        const Parameter *p = &t->shape.parameter[i];
        if (p->matrix)
            t->backend->shrink(flat_at(t->device.parameters, p->begin), p->rows * p->columns, by);
    }
}

static void sgd_step(Trainer *t, double rate, UNUSED int64_t epoch) {
    t->backend->sgd(t->device.parameters, t->device.moment1, t->device.gradient, t->device.decay,
                    t->shape.parameter_count, (float)rate, (float)t->config->train.momentum);
    shrink_matrices(t, (float)(rate * t->config->train.l1 / (1 - t->config->train.momentum)));
}

// torch rounds 1 - beta from double. adam subtracts floats, as it always has: 1.3e-5 of 1 - 0.999.
static AdamStep step_of_adam(const Trainer *t, double rate, int64_t epoch) {
    const double *beta = t->config->train.betas.value;
    return (AdamStep){.rate = (float)rate,
                      .beta1 = (float)beta[0],
                      .beta2 = (float)beta[1],
                      .epsilon = (float)t->config->train.eps,
                      .rest1 = 1.0f - (float)beta[0],
                      .rest2 = 1.0f - (float)beta[1],
                      .correction1 = (float)(1 - pow(beta[0], (double)epoch)),
                      .correction2 = (float)(1 - pow(beta[1], (double)epoch))};
}

static void take_step(const Trainer *t, AdamStep step) {
    t->backend->adam(t->device.parameters, t->device.moment1, t->device.moment2, t->device.gradient,
                     t->device.decay, t->shape.parameter_count, step);
}

// Kingma & Ba 2015, as torch.optim.Adam computes it.
static void adam_step(Trainer *t, double rate, int64_t epoch) {
    take_step(t, step_of_adam(t, rate, epoch));
}

// Loshchilov & Hutter 2019, as torch.optim.AdamW computes it; decay is of matrices alone.
static void adamw_step(Trainer *t, double rate, int64_t epoch) {
    AdamStep step = step_of_adam(t, rate, epoch);
    step.rest1 = (float)(1 - t->config->train.betas.value[0]);
    step.rest2 = (float)(1 - t->config->train.betas.value[1]);
    step.decoupled = true;
    take_step(t, step);
}

static const Optimizer optimizers[] = {
    {"adam", adam_step}, {"adamw", adamw_step}, {"sgd", sgd_step}};

const Family optimizer_family = FAMILY("train.optimizer", NULL, optimizers);

static double constant_factor(UNUSED const Config *config, UNUSED int64_t epoch) { return 1; }

static double cosine_factor(const Config *config, int64_t epoch) {
    int64_t warmup = config->train.warmup, past = epoch - 1 - warmup;
    double at = past > 0 ? (double)past / (double)(config->train.epochs - warmup) : 0;
    return 0.5 * (1 + cos(acos(-1.0) * at));
}

static double step_factor(const Config *config, int64_t epoch) {
    return pow(config->train.lr_gamma, (double)((epoch - 1) / config->train.lr_step_size));
}

static double exponential_factor(const Config *config, int64_t epoch) {
    return pow(config->train.lr_gamma, (double)(epoch - 1));
}

// Half the rate after train.lr_step_size epochs, a third after twice as many: the decreasing steps
// 2 / (mu k + theta) of DIANA with train.lr = 2 / theta and theta / mu epochs.
static double inverse_factor(const Config *config, int64_t epoch) {
    double epochs = (double)config->train.lr_step_size;
    return epochs / (epochs + (double)(epoch - 1));
}

static const RateSchedule rate_schedules[] = {
    {"constant", constant_factor, false}, {"cosine", cosine_factor, false},
    {"step", step_factor, false},         {"exponential", exponential_factor, false},
    {"inverse", inverse_factor, false},   {"plateau", constant_factor, true},
};

const Family rate_schedule_family = FAMILY("train.lr_schedule", NULL, rate_schedules);

double rate_of(const Trainer *t, int64_t epoch) {
    double warmup = (double)t->config->train.warmup;
    double ramp = (double)epoch < warmup ? (double)epoch / warmup : 1;
    double watched = t->rate_schedule->watches ? t->now.plateau.factor : 1;
    return t->config->train.lr * ramp * t->rate_schedule->factor(t->config, epoch) * watched;
}

// torch leaves a rate as it is where the change would be 1e-8 or less.
static const double LEAST_CHANGE = 1e-8;

void plateau_begin(Trainer *t) {
    t->now.plateau = (Plateau){.factor = t->rate_schedule->watches ? 1 : 0, .best = NAN};
}

void plateau_after(Trainer *t, double score) {
    Plateau *p = &t->now.plateau;
    const double gamma = t->config->train.lr_gamma;
    if (!t->rate_schedule->watches)
        return;
    p->bad++;
    if (score_better(t->judge, score, p->best)) {
        p->best = score;
        p->bad = 0;
    }
    if (p->bad <= t->config->train.lr_patience)
        return;
    p->bad = 0;
    if (t->config->train.lr * p->factor * (1 - gamma) > LEAST_CHANGE)
        p->factor *= gamma;
}
