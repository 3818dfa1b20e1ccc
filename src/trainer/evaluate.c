// Evaluation between epochs, which weights are the best, and early stopping. Only validation
// decides; what is said of a split is of the weights that were evaluated, or it is not said.
#include "internal.h"

bool trainer_may_train(const Trainer *t, Error *err) {
    const Config *c = t->config;
    if (c->train.patience > 0 && t->shard->val_nodes == 0)
        return error_config(err,
                            "train.patience: %s has no validation nodes, so no validation ever "
                            "gets better; name some in data.splits, or set train.patience=0",
                            t->shard->dataset_name);
    if (t->rate_schedule->watches && (t->shard->val_nodes == 0 || c->train.eval_every == 0))
        return error_config(
            err,
            "train.lr_schedule: plateau looks at the validation score of every evaluation, but %s; "
            "use another schedule, or %s",
            c->train.eval_every == 0 ? "train.eval_every=0 evaluates after the last epoch only"
                                     : "there are no validation nodes",
            c->train.eval_every == 0 ? "set train.eval_every" : "name some in data.splits");
    if (c->train.patience > 0 && c->train.eval_every == 0)
        return error_config(
            err, "train.patience: it counts evaluations, but train.eval_every=0 evaluates after "
                 "the last epoch only; set train.eval_every, or train.patience=0");
    return true;
}

// ---- evaluation

void trainer_evaluate(Trainer *t, bool best, Metrics out[4]) {
    bool kept = best && t->now.best_epoch > 0;
    stream_timer_use(NULL);
    model_metrics(t->model, model_infer(t->model, kept ? t->device.best : t->device.parameters),
                  out);
    stream_timer_use(t->timer);
}

// Of the weights as they are.
static void evaluate_now(Trainer *t) {
    trainer_evaluate(t, false, t->now.last_metrics);
    t->evaluated = t->now.epoch;
}

void trainer_evaluate_last(Trainer *t) {
    if (t->evaluated != t->now.epoch)
        evaluate_now(t);
}

// ---- the best so far, and early stopping

bool patience_is_over(const Trainer *t) {
    return t->config->train.patience > 0 && t->now.stale_evaluations >= t->config->train.patience;
}

int64_t trainer_stopped_early(const Trainer *t) {
    return t->stopped && t->now.epoch < t->config->train.epochs ? t->now.stale_evaluations : 0;
}

// Keeps the weights of the best validation so far; counts evaluations since.
static bool judge(Trainer *t) {
    double score = metrics_value(&t->now.last_metrics[SPLIT_VAL], t->judge);
    if (!score_better(t->judge, score, t->now.best_epoch > 0 ? t->now.best_score : NAN)) {
        t->now.stale_evaluations++;
        t->stopped = patience_is_over(t);
        return false;
    }
    t->now.best_score = score;
    t->now.best_epoch = t->now.epoch;
    t->now.stale_evaluations = 0;
    t->backend->copy(t->device.best, t->device.parameters, trainer_flat_bytes(t));
    memcpy(t->now.best_metrics, t->now.last_metrics, sizeof t->now.best_metrics);
    return true;
}

bool evaluate_when_due(Trainer *t, EpochRecord *record, Error *err) {
    int64_t every = t->config->train.eval_every;
    bool regular = every > 0 && t->now.epoch % every == 0;
    if (!regular && t->now.epoch != t->config->train.epochs)
        return true;
    double begin = clock_seconds();
    int64_t bytes = model_count(t->model).bytes_sent;
    evaluate_now(t);
    average_after(t);
    record->evaluated = true;
    record->average = t->average.most > 0 ? t->now.average_metrics : NULL;
    record->best = judge(t);
    if (regular)
        plateau_after(t, metrics_value(&t->now.last_metrics[SPLIT_VAL], t->judge));
    memcpy(record->metrics, t->now.last_metrics, sizeof record->metrics);
    record->eval_bytes = model_count(t->model).bytes_sent - bytes;
    record->eval_seconds = clock_seconds() - begin;
    trace_add(t->timers.trace, (TraceEvent){.begin = begin,
                                            .end = clock_seconds(),
                                            .kind = TRACE_SPAN,
                                            .span = TIMER_KINDS,
                                            .layer = -1,
                                            .direction = -1});
    return trainer_replicas_agree(t, err);
}
