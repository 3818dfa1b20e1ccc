// What METIS balances (partition.balance): nodes by their weight, and where asked for training
// nodes and edges; the hyperedges of a star graph by their pins. Each is a column of weights; a
// column of zeros is left out, since METIS cannot balance it.
#include "internal.h"

static int64_t node_weight(const CutInput *input, int64_t v) {
    const Dataset *d = input->dataset;
    return v >= d->nodes ? 0 : d->node_weight != NULL ? d->node_weight[v] : 1;
}

static int64_t one(const CutInput *input, int64_t v) { return v < input->dataset->nodes; }

static int64_t train_weight(const CutInput *input, int64_t v) {
    return v < input->dataset->nodes && input->dataset->split[v] == SPLIT_TRAIN;
}

// Neighbours in either direction, or hyperedges.
static int64_t edges_weight(const CutInput *input, int64_t v) {
    const Dataset *d = input->dataset;
    if (d->hyperedges == 0)
        return graph_neighbours(input->graph, v);
    return v < d->nodes ? d->offset[v + 1] - d->offset[v] : 0;
}

static int64_t pins_weight(const CutInput *input, int64_t v) {
    return v < input->dataset->nodes ? 0 : graph_neighbours(input->graph, v);
}

// Sums stay below 2^31, which every METIS can count: larger ones are divided.
static void add_column(Balance *balance, BalanceWeight *of, int64_t vertices) {
    int64_t sum = 0;
    for (int64_t v = 0; v < vertices; v++)
        sum += of(balance->input, v);
    int64_t divisor = sum <= INT32_MAX ? 1 : sum / (INT32_MAX / 2) + 1;
    if (sum > 0)
        balance->column[balance->columns++] = (BalanceColumn){of, divisor};
}

bool balance_init(Balance *balance, const CutInput *input, int64_t vertices, Error *err) {
    const ConfigWords *words = &input->config->partition.balance;
    *balance = (Balance){.input = input};
    for (int i = 0; i < words->count; i++)
        if (strcmp(words->word[i], "train") != 0 && strcmp(words->word[i], "edges") != 0)
            return error_config(
                err, "partition.balance: '%s' cannot be balanced; use train, edges, or both",
                words->word[i]);
    add_column(balance, node_weight, vertices);
    if (balance->columns == 0) // all weights are 0
        add_column(balance, one, vertices);
    if (config_has_word(words, "train"))
        add_column(balance, train_weight, vertices);
    if (config_has_word(words, "edges"))
        add_column(balance, edges_weight, vertices);
    if (vertices > input->dataset->nodes)
        add_column(balance, pins_weight, vertices);
    return true;
}

int64_t balance_weight(const Balance *balance, int column, int64_t v) {
    const BalanceColumn *c = &balance->column[column];
    int64_t weight = c->of(balance->input, v);
    return weight == 0 || weight / c->divisor > 0 ? weight / c->divisor : 1;
}
