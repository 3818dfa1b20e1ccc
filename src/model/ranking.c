// Areas under curves: how well the scores of a class rank the rows that have it above the others.
//
// The one idea: a class is a list of (score, has it), gathered on rank 0 and sorted there, and rows
// of equal score are one step. Counts are whole numbers, so no result depends on ranks or on the
// order inside a step. Scores are logits where rows have several labels, else their softmax in
// double, for those of different rows are compared. The mean is over the classes that some rows of
// the split have and some have not; the others say nothing and are left out, as OGB does.
//
//   roc-auc            of a row with the class and one without, the first has the larger score; a
//                      tie counts half (scikit-learn: roc_auc_score, one against the rest, macro)
//   average precision  sum over steps of the precision down to it times the recall that it adds
//                      (scikit-learn: average_precision_score, macro)
#include "internal.h"

typedef struct Ranked { // a row in the list of a class
    double score;       // -infinity: not a number
    int64_t has;        // 1 or 0
} Ranked;

typedef struct Ranking { // of one class, on rank 0
    Ranked *list;        // [count]
    int64_t count;
    double (*area)(const Ranked *list, int64_t count, int64_t with);
    double value; // NaN: all rows have the class, or none
} Ranking;

static int descending(const void *a, const void *b) {
    double x = ((const Ranked *)a)->score, y = ((const Ranked *)b)->score;
    return (x < y) - (x > y);
}

// Moves *at behind the rows of one score, and counts those with the class.
static int64_t next_step(const Ranked *list, int64_t count, int64_t *at) {
    int64_t with = 0;
    double score = list[*at].score;
    for (; *at < count && list[*at].score == score; ++*at)
        with += list[*at].has;
    return with;
}

// Halves of pairs in the right order, in whole numbers.
static double roc_auc(const Ranked *list, int64_t count, int64_t with) {
    uint64_t halves = 0, below = (uint64_t)(count - with);
    for (int64_t at = 0; at < count;) {
        int64_t begin = at;
        uint64_t have = (uint64_t)next_step(list, count, &at);
        uint64_t others = (uint64_t)(at - begin) - have;
        below -= others;
        halves += have * (2 * below + others);
    }
    return (double)halves / (2 * (double)with * (double)(count - with));
}

static double average_precision(const Ranked *list, int64_t count, int64_t with) {
    double sum = 0;
    int64_t found = 0;
    for (int64_t at = 0; at < count;) {
        int64_t have = next_step(list, count, &at);
        found += have;
        sum += (double)have / (double)with * ((double)found / (double)at);
    }
    return sum;
}

static void rank_class(void *context) {
    Ranking *ranking = context;
    int64_t with = 0;
    for (int64_t i = 0; i < ranking->count; i++)
        with += ranking->list[i].has;
    ranking->value = NAN;
    if (with == 0 || with == ranking->count)
        return;
    qsort(ranking->list, (size_t)ranking->count, sizeof *ranking->list, descending);
    ranking->value = ranking->area(ranking->list, ranking->count, with);
}

// ---- the lists

// Probabilities of softmax; logits of the others, each of which has a scale of its own.
static double softmax_at(const float *z, int64_t classes, int64_t c) {
    double most = -INFINITY, sum = 0;
    for (int64_t k = 0; k < classes; k++)
        most = fmax(most, (double)z[k]);
    for (int64_t k = 0; k < classes; k++)
        sum += exp((double)z[k] - most);
    return exp((double)z[c] - most) / sum;
}

// This rank's rows of the split that have a label, with class c; returns how many.
static int64_t list_class(Ranked *out, const Evaluated *e, const float *logits, int64_t c) {
    const Shard *shard = e->model->parts.shard;
    bool apart = shard->multilabel || strcmp(e->model->shape.loss->name, "softmax") != 0;
    int64_t count = 0;
    for (int64_t r = 0; r < e->logits.count; r++) {
        const float *z = logits + r * e->classes;
        if (shard->split[r] != e->split || (!shard->multilabel && shard->label[r] < 0))
            continue;
        bool has =
            shard->multilabel ? shard->labels[r * e->classes + c] != 0 : shard->label[r] == c;
        double score = apart ? (double)z[c] : softmax_at(z, e->classes, c);
        out[count++] = (Ranked){isnan(score) ? -INFINITY : score, has};
    }
    return count;
}

// The area of one class on all ranks: the list of the others travels to rank 0. Collective.
static double area_of(const Evaluated *e, Ranking *ranking, Ranked *mine, const float *logits,
                      int64_t c) {
    const Comm *comm = e->model->parts.comm;
    int64_t own = list_class(mine, e, logits, c) * (int64_t)sizeof *mine;
    FREED int64_t *offset = comm_offsets(comm, own);
    ranking->count = offset[comm->size] / (int64_t)sizeof(Ranked);
    if (comm->rank == 0)
        ranking->list = ALLOC(Ranked, ranking->count, "scores of a class");
    comm_gather_v(comm, mine, ranking->list, offset);
    if (comm->rank == 0)
        comm_on_helper(comm, rank_class, ranking);
    comm_broadcast(comm, &ranking->value, sizeof ranking->value, 0);
    memory_free(ranking->list);
    ranking->list = NULL;
    return ranking->value;
}

static double mean_area(const Evaluated *e, Ranking ranking) {
    const Backend *b = e->model->parts.backend;
    FREED float *logits = ALLOC(float, e->logits.count * e->classes, "logits on the host");
    FREED Ranked *mine = ALLOC(Ranked, e->logits.count, "scores of a class");
    double sum = 0, counted = 0;
    b->download_rows(logits, e->logits);
    b->finish(NULL);
    for (int64_t c = 0; c < e->classes; c++) {
        double area = area_of(e, &ranking, mine, logits, c);
        if (!isnan(area))
            sum += area, counted++;
    }
    return counted > 0 ? sum / counted : NAN;
}

double score_roc_auc(const Evaluated *e) { return mean_area(e, (Ranking){.area = roc_auc}); }

double score_average_precision(const Evaluated *e) {
    return mean_area(e, (Ranking){.area = average_precision});
}

// ---- is there something to rank?

bool score_is_defined(const Score *score, const Shard *shard, const Comm *comm, int64_t *left_out,
                      Error *err) {
    *left_out = 0;
    if (!score->asked || shard->val_nodes == 0)
        return true;
    FREED int64_t *count = ALLOC(int64_t, shard->classes, "validation nodes of a class");
    int64_t ranked = 0;
    for (int64_t r = 0; r < shard->set[NODES].own; r++)
        for (int64_t c = 0; shard->split[r] == SPLIT_VAL && c < shard->classes; c++)
            count[c] += shard->multilabel ? shard->labels[r * shard->classes + c] != 0
                                          : shard->label[r] == c;
    comm_sum_int64(comm, count, (int)shard->classes);
    for (int64_t c = 0; c < shard->classes; c++)
        ranked += count[c] > 0 && count[c] < shard->val_nodes;
    *left_out = shard->classes - ranked;
    return ranked > 0 || error_config(err,
                                      "train.metric: %s compares nodes that have a class with "
                                      "nodes that have it not, but all %ld validation nodes of %s "
                                      "have the same; use another metric, or splits with both",
                                      score->name, shard->val_nodes, shard->dataset_name);
}
