// Scores: how good logits are, split by split. A score is a row of the table and a function; who
// writes, prints or compares scores knows none of them by name.
#include "errors.h"

#define CLASSES "softmax bce hinge"

static double mean_loss(const Evaluated *e) {
    return e->loss / (double)(e->rows > 0 ? e->rows : 1);
}

static double accuracy(const Evaluated *e) {
    return (double)e->right / (double)(e->rows > 0 ? e->rows : 1);
}

static double f1(int64_t tp, int64_t fp, int64_t fn) {
    return 2 * tp + fp + fn == 0 ? 0 : 2.0 * (double)tp / (double)(2 * tp + fp + fn);
}

static double micro_f1(const Evaluated *e) {
    int64_t tp = 0, fp = 0, fn = 0;
    for (int64_t c = 0; c < e->classes; c++)
        tp += e->tp[c], fp += e->fp[c], fn += e->fn[c];
    return f1(tp, fp, fn);
}

// The mean over classes that occur (in labels or predictions), as scikit-learn has it.
static double macro_f1(const Evaluated *e) {
    double sum = 0;
    int64_t present = 0;
    for (int64_t c = 0; c < e->classes; c++)
        if (e->tp[c] + e->fp[c] + e->fn[c] > 0) {
            present++;
            sum += f1(e->tp[c], e->fp[c], e->fn[c]);
        }
    return present > 0 ? sum / (double)present : 0;
}

static const Score scores[] = {
    {"loss", "loss", "loss", "softmax bce hinge mse", mean_loss, .lower = true},
    {"accuracy", "accuracy", "accuracy", CLASSES, accuracy, .percent = true, .brief = true},
    {"micro-f1", "micro_f1", "micro-F1", CLASSES, micro_f1, .percent = true, .brief = true},
    {"macro-f1", "macro_f1", "macro-F1", CLASSES, macro_f1, .percent = true},
    {"roc-auc", "roc_auc", "ROC-AUC", CLASSES, score_roc_auc, .percent = true, .asked = true},
    {"average-precision", "average_precision", "AP", CLASSES, score_average_precision,
     .percent = true, .asked = true},
    {"rmse", "rmse", "RMSE", "mse", score_rmse, .lower = true, .brief = true},
    {"mae", "mae", "MAE", "mse", score_mae, .lower = true},
    {"r2", "r2", "R2", "mse", score_r2, .brief = true},
};
// The loss is what training makes smaller, and chooses no epoch.
const Family score_family = {"train.metric", "auto", scores + 1, FAMILY_COUNT(scores) - 1,
                             sizeof *scores, 0};

const Score *score_find(const char *key) {
    for (int i = 0; i < FAMILY_COUNT(scores); i++)
        if (strcmp(key, scores[i].key) == 0 || strcmp(key, scores[i].title) == 0)
            return &scores[i];
    return NULL;
}

const Score *score_row(int64_t row) { return &scores[row]; }
int64_t score_row_of(const Score *score) { return score - scores; }

bool score_better(const Score *score, double value, double than) {
    return isnan(than) ? !isnan(value) : score->lower ? value < than : value > than;
}

const char *score_text(char out[QUANTITY], const Score *score, double value) {
    if (score->percent || isnan(value))
        return quantity_percent(out, value);
    snprintf(out, QUANTITY, "%.4g", value);
    return out;
}

// ---- the scores of a task

bool score_is_of(const Score *score, const Loss *loss) {
    size_t letters = strlen(loss->name);
    for (const char *at = score->tasks; (at = strstr(at, loss->name)) != NULL; at += letters)
        if ((at == score->tasks || at[-1] == ' ') && (at[letters] == ' ' || at[letters] == 0))
            return true;
    return false;
}

void metrics_list(Metrics *metrics, const Loss *loss, const Score *named, bool all) {
    *metrics = (Metrics){0};
    for (int i = 0; i < FAMILY_COUNT(scores); i++)
        if (score_is_of(&scores[i], loss) && (all || !scores[i].asked || &scores[i] == named)) {
            assert(metrics->count < SCORES_MOST);
            metrics->score[metrics->count++].of = i;
        }
}

void metrics_init(Metrics *metrics, const Loss *loss, const Score *named) {
    metrics_list(metrics, loss, named, false);
}

double metrics_value(const Metrics *metrics, const Score *score) {
    for (int i = 0; metrics->rows > 0 && i < metrics->count; i++)
        if (score_row(metrics->score[i].of) == score)
            return metrics->score[i].value;
    return NAN;
}
