// ranks: 1 3
// If this failed, the score that a guess reaches would be wrong, and a model that has learned
// nothing could look as if it had.
#include "../small_graph.h"
#include "../support.h"
#include "fringe/model.h"

enum { ALL_NODES = 12, CLASSES = 3 };

typedef struct Node {
    int split, label, has[CLASSES];
} Node;

// Class 2 has most training nodes. Half of the four training nodes have class 0, three have class
// 1, one has class 2.
static const Node nodes[ALL_NODES] = {
    {SPLIT_TRAIN, 2, {1, 1, 0}}, {SPLIT_TRAIN, 0, {1, 0, 0}}, {SPLIT_TRAIN, 2, {0, 1, 1}},
    {SPLIT_TRAIN, 1, {0, 1, 0}}, {SPLIT_VAL, 2, {1, 1, 0}},   {SPLIT_VAL, 0, {0, 0, 1}},
    {SPLIT_VAL, 2, {0, 1, 0}},   {SPLIT_NONE, -1, {1, 1, 1}}, {SPLIT_NONE, -1, {0, 0, 0}},
    {SPLIT_NONE, -1, {1, 0, 0}}, {SPLIT_NONE, -1, {0, 0, 0}}, {SPLIT_NONE, -1, {1, 1, 0}},
};

static int split_of(int64_t node) { return nodes[node].split; }
static int label_of(int64_t node, int64_t column) {
    (void)column;
    return nodes[node].label;
}
static int has_class(int64_t node, int64_t column) { return nodes[node].has[column]; }

// Of labels of that kind.
static void measure(TestGraphKind kind, double baseline[4]) {
    kind.nodes = ALL_NODES;
    kind.degree = 3;
    kind.features = 4;
    kind.split = split_of;
    OWNED(TestGraph) graph = test_graph(kind, 5, &test_comm);
    model_baseline(&graph.shard, &test_comm, baseline);
}

TEST(one_label_is_the_most_frequent_of_the_training_nodes) {
    double baseline[4];
    measure((TestGraphKind){.classes = CLASSES, .label = label_of}, baseline);
    assert_near(baseline[SPLIT_TRAIN], 2 / 4.0, 1e-15);
    assert_near(baseline[SPLIT_VAL], 2 / 3.0, 1e-15);
    assert_true(isnan(baseline[SPLIT_TEST])); // no node is there
}

// Micro-F1 is 2 TP / (guessed + true), and two classes are guessed for every node:
//   training   TP 5   guessed 8   true 6        validation   TP 3   guessed 6   true 4
TEST(several_labels_are_those_of_half_the_training_nodes) {
    double baseline[4];
    measure((TestGraphKind){.classes = CLASSES, .multilabel = true, .label = has_class}, baseline);
    assert_near(baseline[SPLIT_TRAIN], 10 / 14.0, 1e-15);
    assert_near(baseline[SPLIT_VAL], 6 / 10.0, 1e-15);
    assert_true(isnan(baseline[SPLIT_TEST]));
}

static double number_of(int64_t node, int64_t column) {
    return column == 0 ? (double)(node * node) : 7;
}

// Training nodes 0 to 3 have 0, 1, 4 and 9, whose mean is 3.5; validation nodes 16, 25 and 36. The
// other column is always right.
TEST(numbers_are_the_mean_of_the_training_nodes) {
    double baseline[4];
    measure((TestGraphKind){.classes = 2, .number = number_of}, baseline);
    assert_near(baseline[SPLIT_TRAIN], sqrt((12.25 + 6.25 + 0.25 + 30.25) / 8), 1e-12);
    assert_near(baseline[SPLIT_VAL], sqrt((156.25 + 462.25 + 1056.25) / 6), 1e-12);
    assert_true(isnan(baseline[SPLIT_TEST]));
}
