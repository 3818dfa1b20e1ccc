// The baseline: the score of a guess that uses the training labels alone. It assigns the same
// classes to every node: the most frequent class of the training nodes or, where nodes have several
// classes, the classes that at least half of the training nodes have. Of numbers it is the mean of
// the training nodes.

#include "internal.h"

void baseline_of_class(const Shard *shard, const Comm *comm, double baseline[4]) {
    int64_t hit[4] = {0}, all[4] = {0, shard->train_nodes, shard->val_nodes, shard->test_nodes};
    for (int64_t row = 0; shard->label != NULL && row < shard->set[NODES].own; row++)
        hit[shard->split[row]] += shard->label[row] == shard->majority;
    comm_sum_int64(comm, hit, 4);
    for (int split = SPLIT_TRAIN; split <= SPLIT_TEST; split++)
        baseline[split] = all[split] > 0 ? (double)hit[split] / (double)all[split] : NAN;
}

// The guessed classes as a row of 0 and 1. Collective.
static uint8_t *common_classes(const Shard *shard, const Comm *comm) {
    FREED int64_t *nodes = ALLOC(int64_t, shard->classes, "training nodes of a class");
    uint8_t *common = ALLOC(uint8_t, shard->classes, "common classes");
    for (int64_t row = 0; row < shard->set[NODES].own; row++)
        for (int64_t k = 0; shard->split[row] == SPLIT_TRAIN && k < shard->classes; k++)
            nodes[k] += shard->labels[row * shard->classes + k];
    comm_sum_int64(comm, nodes, (int)shard->classes);
    for (int64_t k = 0; k < shard->classes; k++)
        common[k] = shard->train_nodes > 0 && 2 * nodes[k] >= shard->train_nodes;
    return common;
}

// Micro-F1 of guessing `common` for every node: 2 TP / (guessed + true). Collective.
void baseline_of_classes(const Shard *shard, const Comm *comm, double baseline[4]) {
    FREED uint8_t *common = common_classes(shard, comm);
    int64_t count[4][2] = {{0}}; // 2 TP; guessed + true
    for (int64_t row = 0; row < shard->set[NODES].own; row++)
        for (int64_t k = 0; k < shard->classes; k++) {
            uint8_t has = shard->labels[row * shard->classes + k];
            count[shard->split[row]][0] += 2 * (has & common[k]);
            count[shard->split[row]][1] += has + common[k];
        }
    comm_sum_int64(comm, &count[0][0], 8);
    for (int split = 0; split < 4; split++)
        baseline[split] =
            count[split][1] > 0 ? (double)count[split][0] / (double)count[split][1] : NAN;
}

// Collective.
static double *training_means(const Shard *shard, const Comm *comm) {
    double *mean = ALLOC(double, shard->classes, "means of the training nodes");
    for (int64_t row = 0; row < shard->set[NODES].own; row++)
        for (int64_t k = 0; shard->split[row] == SPLIT_TRAIN && k < shard->classes; k++)
            mean[k] += (double)shard->numbers[row * shard->classes + k];
    comm_sum_double(comm, mean, (int)shard->classes);
    for (int64_t k = 0; k < shard->classes; k++)
        mean[k] /= (double)shard->train_nodes;
    return mean;
}

// RMSE of guessing the means for every node. Collective.
void baseline_of_mean(const Shard *shard, const Comm *comm, double baseline[4]) {
    FREED double *mean = training_means(shard, comm);
    double square[4] = {0}, rows[4] = {0, (double)shard->train_nodes, (double)shard->val_nodes,
                                       (double)shard->test_nodes};
    for (int64_t row = 0; row < shard->set[NODES].own; row++)
        for (int64_t k = 0; k < shard->classes && shard->split[row] != SPLIT_NONE; k++) {
            double miss = (double)shard->numbers[row * shard->classes + k] - mean[k];
            square[shard->split[row]] += miss * miss;
        }
    comm_sum_double(comm, square, 4);
    for (int split = 0; split < 4; split++)
        baseline[split] = rows[split] > 0 && rows[SPLIT_TRAIN] > 0
                              ? sqrt(square[split] / rows[split] / (double)shard->classes)
                              : NAN;
}
