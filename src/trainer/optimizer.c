// Optimizers and learning-rate schedules, both tables.
#include "internal.h"
#include <math.h>
#include <string.h>

static void sgd_step(Trainer *t, double rate, int64_t epoch) {
    (void)epoch;
    t->backend->sgd(t->device.parameters, t->device.moment1, t->device.gradient, t->device.decay,
                    t->shape.parameter_count, (float)rate, (float)t->config->train.momentum);
}

// Kingma & Ba 2015, as torch.optim.Adam computes it.
static void adam_step(Trainer *t, double rate, int64_t epoch) {
    const double *beta = t->config->train.betas.value;
    AdamStep step = {.rate = (float)rate,
                     .beta1 = (float)beta[0],
                     .beta2 = (float)beta[1],
                     .epsilon = (float)t->config->train.eps,
                     .correction1 = (float)(1 - pow(beta[0], (double)epoch)),
                     .correction2 = (float)(1 - pow(beta[1], (double)epoch))};
    t->backend->adam(t->device.parameters, t->device.moment1, t->device.moment2, t->device.gradient,
                     t->device.decay, t->shape.parameter_count, step);
}

static const Optimizer optimizers[] = {{"adam", adam_step}, {"sgd", sgd_step}};

const Family optimizer_family = FAMILY("train.optimizer", NULL, optimizers);

static double constant_factor(const Config *config, int64_t epoch) {
    (void)config, (void)epoch;
    return 1;
}

static double cosine_factor(const Config *config, int64_t epoch) {
    int64_t warmup = config->train.warmup, past = epoch - 1 - warmup;
    double at = past > 0 ? (double)past / (double)(config->train.epochs - warmup) : 0;
    return 0.5 * (1 + cos(acos(-1.0) * at));
}

static double step_factor(const Config *config, int64_t epoch) {
    return pow(config->train.lr_gamma, (double)((epoch - 1) / config->train.lr_step_size));
}

static const RateSchedule rate_schedules[] = {
    {"constant", constant_factor}, {"cosine", cosine_factor}, {"step", step_factor}};

const Family rate_schedule_family = FAMILY("train.lr_schedule", NULL, rate_schedules);

double rate_of(const Trainer *t, int64_t epoch) {
    double warmup = (double)t->config->train.warmup;
    double ramp = (double)epoch < warmup ? (double)epoch / warmup : 1;
    return t->config->train.lr * ramp * t->rate_schedule->factor(t->config, epoch);
}
