// ranks: 1 3
// If this failed, a loss, an accuracy, an F1 or an area under a curve would not be that of its
// definition, or of another split: whatever is printed, compared or selected by it would be wrong.
#include "../rows.h"
#include "../scores.h"
#include "../small_graph.h"

enum { COLUMNS = 4, NOWHERE = -1 };

typedef struct Node {
    int split, label;
    float logit[COLUMNS];
} Node;

// Class 3 occurs in no validation node and no prediction for one; of equals the first is said.
static const Node singles[] = {
    {SPLIT_VAL, 0, {2, 0, 0, 0}},        {SPLIT_VAL, 0, {0, 2, 0, 0}},
    {SPLIT_VAL, 1, {0, 2, 0, 0}},        {SPLIT_VAL, 1, {0, 2, 0, 0}},
    {SPLIT_VAL, 2, {2, 0, 0, 0}},        {SPLIT_TEST, 3, {0, 0, 0, 2}},
    {SPLIT_TEST, 3, {0, 0, 2, 0}},       {SPLIT_TEST, 0, {1, 0, 1, 0}},
    {SPLIT_TEST, 2, {0, 0, 0, 2}},       {SPLIT_TRAIN, 1, {2, 0, 0, 0}},
    {SPLIT_NONE, NOWHERE, {0, 2, 0, 0}}, {SPLIT_TRAIN, 1, {0, 2, 0, 0}},
};
enum { GRAPH_NODES = sizeof singles / sizeof *singles };

// Whether a class is said is whether its logit is above 0, by however little.
static const struct {
    int split, has[3];
    float logit[3];
} several[GRAPH_NODES] = {
    {SPLIT_VAL, {1, 0, 1}, {0.5F, -1, 0.5F}}, {SPLIT_VAL, {0, 1, 0}, {0.25F, 0.75F, -1}},
    {SPLIT_VAL, {1, 1, 0}, {-1, 0, -2}},      {SPLIT_VAL, {0, 0, 0}, {-1, -0.125F, -1}},
    {SPLIT_TEST, {0, 0, 1}, {1, -1, -1}},     {SPLIT_TRAIN, {0, 1, 1}, {-1, 2, -1}},
};

static int split_of_single(int64_t node) { return singles[node].split; }
static int label_of_single(int64_t node, int64_t column) {
    (void)column;
    return singles[node].label;
}
static float logit_of_single(int64_t node, int64_t column) { return singles[node].logit[column]; }
static float logit_of_several(int64_t node, int64_t column) { return several[node].logit[column]; }
static int split_of_several(int64_t node) { return several[node].split; }
static int label_of_several(int64_t node, int64_t column) { return several[node].has[column]; }

typedef struct Made {
    TestGraph graph;
    ModelShape shape;
    ModelPatterns patterns;
    Model *model;
    Rows logits;    // [own, classes]
    Metrics got[4]; // all scores
} Made;

static void measure(Made *made) { model_metrics(made->model, made->logits, made->got); }

static void make_with(Made *made, TestGraphKind kind, float (*logit)(int64_t, int64_t)) {
    made->graph = test_graph(kind, 3, &test_comm);
    const Shard *shard = &made->graph.shard;
    Config config = CONFIGURED();
    assert_ok(
        model_shape(&made->shape, &config, kind.features, kind.classes, shard_labels(shard), &err));
    model_patterns_init(&made->patterns, &made->shape, shard, &test_comm);
    ModelParts parts = {.shard = shard,
                        .patterns = &made->patterns,
                        .comm = &test_comm,
                        .backend = device(),
                        .options = {.codec = assert_ok(codec_find("fp32", &err)), .chunk = 65280},
                        .schedule = assert_ok(schedule_find("blocking", &err))};
    made->model = assert_ok(model_new(&made->shape, &parts, &config, &err));
    made->logits = test_rows(shard->set[NODES].own, kind.classes);
    for (int64_t r = 0; r < shard->set[NODES].own; r++)
        for (int64_t c = 0; c < kind.classes; c++)
            floats(made->logits)[r * made->logits.stride + c] = logit(shard->set[NODES].gid[r], c);
    model_measure_all(made->model);
    measure(made);
}

static void make(Made *made, TestGraphKind kind) {
    make_with(made, kind, kind.multilabel ? logit_of_several : logit_of_single);
}

static void unmake(Made *made) {
    model_free(made->model);
    model_patterns_clear(&made->patterns);
    test_graph_clear(&made->graph);
}

#define KIND(...)                                                                                  \
    { .nodes = GRAPH_NODES, .degree = 3, .features = 4, __VA_ARGS__ }
static const TestGraphKind one_label =
    KIND(.classes = COLUMNS, .split = split_of_single, .label = label_of_single);
static const TestGraphKind several_labels =
    KIND(.classes = 3, .multilabel = true, .split = split_of_several, .label = label_of_several);

// All nodes of one split, and the labels 0, 1, ... in turn.
static int same_split, labels_in_turn;
static int split_of_all(int64_t node) { return node >= 0 ? same_split : SPLIT_NONE; }
static int label_in_turn(int64_t node, int64_t column) {
    (void)column;
    return (int)(node % labels_in_turn);
}
static TestGraphKind kind_of_one_split(int split, int labels) {
    same_split = split;
    labels_in_turn = labels;
    return (TestGraphKind)KIND(.classes = COLUMNS, .split = split_of_all, .label = label_in_turn);
}

static void assert_scores(const Made *made, int split, int64_t rows, double loss, double accuracy,
                          double micro_f1, double macro_f1) {
    const Metrics *got = &made->got[split];
    assert_int_equal(got->rows, rows);
    assert_near(score_in(got, "accuracy"), accuracy, 1e-15);
    assert_near(score_in(got, "micro_f1"), micro_f1, 1e-15);
    assert_near(score_in(got, "macro_f1"), macro_f1, 1e-15);
    if (!isnan(loss))
        assert_near(score_in(got, "loss"), loss, 1e-6); // floats inside
}

// -log of the share of the label, whose logit lies `below` under the largest of 2, with three zeros
static double entropy(double below) { return log(exp(2.0) + 3) - 2 + below; }

// By hand, of true positives, false positives and false negatives:
//   validation  class 0: 1 1 1 = 1/2   1: 2 1 0 = 4/5   2: 0 0 1 = 0     3: none of them
//   test        class 0: 1 0 0 = 1                      2: 0 1 1 = 0     3: 1 1 1 = 1/2
//   training    class 0: 0 1 0 = 0     1: 1 0 1 = 2/3
TEST(of_one_label) {
    CLEARED(unmake) Made made = {0};
    make(&made, one_label);
    double right = entropy(0), wrong = entropy(2), even = log(2 * exp(1.0) + 2) - 1;
    assert_scores(&made, SPLIT_VAL, 5, (3 * right + 2 * wrong) / 5, 3 / 5.0, 3 / 5.0,
                  (1 / 2.0 + 4 / 5.0 + 0) / 3);
    assert_scores(&made, SPLIT_TEST, 4, (right + 2 * wrong + even) / 4, 2 / 4.0, 2 / 4.0,
                  (1 + 0 + 1 / 2.0) / 3);
    assert_scores(&made, SPLIT_TRAIN, 2, (right + wrong) / 2, 1 / 2.0, 1 / 2.0, (0 + 2 / 3.0) / 2);
    measure(&made); // counts begin anew
    assert_int_equal(made.got[SPLIT_VAL].rows, 5);
}

static double bce(double logit, int has) {
    return fmax(logit, 0) - logit * has + log1p(exp(-fabs(logit)));
}

static double mean_bce(int split) {
    double sum = 0, rows = 0;
    for (int i = 0; i < GRAPH_NODES; i++)
        if (several[i].split == split) {
            rows++;
            for (int c = 0; c < 3; c++)
                sum += bce((double)several[i].logit[c], several[i].has[c]);
        }
    return sum / rows;
}

// By hand:
//   validation  class 0: 1 1 1 = 1/2   1: 1 0 1 = 2/3   2: 1 0 0 = 1;   all classes 3 1 2 = 6/9
//   test        class 0: 0 1 0 = 0                      2: 0 0 1 = 0
//   training                           1: 1 0 0 = 1     2: 0 0 1 = 0
TEST(of_several_labels) {
    CLEARED(unmake) Made made = {0};
    make(&made, several_labels);
    assert_scores(&made, SPLIT_VAL, 4, mean_bce(SPLIT_VAL), 2 / 4.0, 6 / 9.0,
                  (1 / 2.0 + 2 / 3.0 + 1) / 3);
    assert_scores(&made, SPLIT_TEST, 1, mean_bce(SPLIT_TEST), 0, 0, 0);
    assert_scores(&made, SPLIT_TRAIN, 1, mean_bce(SPLIT_TRAIN), 0, 2 / 3.0, 1 / 2.0);
}

// A row whose logits are no numbers says nothing: it is wrong, also where its label is class 0.
// Here it is node 0; class 0 of validation: 0 1 2 = 0.
TEST(what_is_not_a_number_is_wrong) {
    for (int column = 0; column < COLUMNS; column++) {
        CLEARED(unmake) Made made = {0};
        make(&made, one_label);
        for (int64_t r = 0; r < made.graph.shard.set[NODES].own; r++)
            if (made.graph.shard.set[NODES].gid[r] == 0)
                floats(made.logits)[r * made.logits.stride + column] = NAN;
        measure(&made);
        assert_scores(&made, SPLIT_VAL, 5, NAN, 2 / 5.0, 4 / 9.0, (0 + 4 / 5.0 + 0) / 3);
        assert_near(score_in(&made.got[SPLIT_TEST], "accuracy"), 1 / 2.0, 0);
    }
}

TEST(an_empty_split_has_no_rows) {
    CLEARED(unmake) Made made = {0};
    make(&made, kind_of_one_split(SPLIT_TRAIN, COLUMNS));
    assert_scores(&made, SPLIT_VAL, 0, 0, 0, 0, 0);
    assert_scores(&made, SPLIT_TEST, 0, 0, 0, 0, 0);
    assert_int_equal(made.got[SPLIT_TRAIN].rows, GRAPH_NODES);
}

// ---- areas under curves

// By hand, of validation: class 0 has .5 and -1 against .25 and -1 (a tie): 2.5 of 4 pairs, and
// 1/2 (1/1) + 1/2 (2/4); classes 1 and 2 are in order. The other splits have one row.
TEST(areas_by_hand) {
    CLEARED(unmake) Made made = {0};
    make(&made, several_labels);
    assert_near(score_in(&made.got[SPLIT_VAL], "roc_auc"), (2.5 / 4 + 1 + 1) / 3, 1e-15);
    assert_near(score_in(&made.got[SPLIT_VAL], "average_precision"), (3 / 4.0 + 1 + 1) / 3, 1e-15);
    assert_true(isnan(score_in(&made.got[SPLIT_TEST], "roc_auc")));
    assert_true(isnan(score_in(&made.got[SPLIT_TRAIN], "average_precision")));
}

enum { MANY = 90 };
static int many_splits(int64_t node) { return node % 4 == 0 ? SPLIT_TEST : SPLIT_VAL; }
static int one_of_many(int64_t node, int64_t column) {
    (void)column;
    return (int)(node * 7 % 13 % COLUMNS); // class 3 is rare
}
static int several_of_many(int64_t node, int64_t column) { return (node * (column + 3)) % 5 < 2; }
static float tied_logit(int64_t node, int64_t column) {
    return (float)((node * 11 + column * 5) % 7) / 4 - 0.5F;
}

// What ranks the rows of class c: see src/model/ranking.c.
static double ranked_by(bool softmax, int64_t node, int64_t c) {
    double sum = 0;
    for (int64_t k = 0; k < COLUMNS; k++)
        sum += exp((double)tied_logit(node, k));
    return softmax ? exp((double)tied_logit(node, c)) / sum : (double)tied_logit(node, c);
}

// Equal up to the rounding of two ways to compute a softmax.
static bool ties(double a, double b) { return fabs(a - b) < 1e-13; }

// Each pair of rows, and each row as a threshold: slow, and by the definition.
static void areas_by_pairs(const int (*has)[COLUMNS], bool softmax, int split, double area[2]) {
    double counted = 0;
    area[0] = area[1] = 0;
    for (int c = 0; c < COLUMNS; c++) {
        double pairs = 0, right = 0, positives = 0, precision = 0;
        for (int i = 0; i < MANY; i++) {
            double above = 0, found = 0, mine = ranked_by(softmax, i, c);
            if (many_splits(i) != split || !has[i][c])
                continue;
            positives++;
            for (int j = 0; j < MANY; j++) {
                double other = ranked_by(softmax, j, c);
                if (many_splits(j) != split)
                    continue;
                above += other > mine || ties(other, mine);
                found += has[j][c] && (other > mine || ties(other, mine));
                pairs += !has[j][c];
                right += has[j][c] ? 0 : ties(other, mine) ? 0.5 : other < mine;
            }
            precision +=
                found / above; // of the threshold at this row, whose step adds 1 / positives
        }
        if (positives == 0 || pairs == 0)
            continue; // nothing to rank
        counted++;
        area[0] += right / pairs;
        area[1] += precision / positives;
    }
    area[0] /= counted;
    area[1] /= counted;
}

TEST(areas_with_ties_are_those_of_all_pairs) {
    static int has[MANY][COLUMNS];
    for (int multilabel = 0; multilabel < 2; multilabel++) {
        CLEARED(unmake) Made made = {0};
        TestGraphKind kind =
            KIND(.classes = COLUMNS, .multilabel = multilabel, .split = many_splits,
                 .label = multilabel ? several_of_many : one_of_many);
        kind.nodes = MANY;
        for (int i = 0; i < MANY * COLUMNS; i++)
            has[i / COLUMNS][i % COLUMNS] = multilabel ? several_of_many(i / COLUMNS, i % COLUMNS)
                                                       : one_of_many(i / COLUMNS, 0) == i % COLUMNS;
        make_with(&made, kind, tied_logit);
        for (int split = SPLIT_VAL; split <= SPLIT_TEST; split++) {
            double want[2];
            areas_by_pairs(has, !multilabel, split, want);
            assert_near(score_in(&made.got[split], "roc_auc"), want[0], 1e-12);
            assert_near(score_in(&made.got[split], "average_precision"), want[1], 1e-12);
        }
    }
}

TEST(one_class_cannot_be_ranked) {
    int64_t left_out = -1;
    OWNED(TestGraph) of = test_graph(kind_of_one_split(SPLIT_VAL, 1), 3, &test_comm);
    assert_ok(score_is_defined(score_find("accuracy"), &of.shard, &test_comm, &left_out, &err));
    assert_refused(score_is_defined(score_find("roc_auc"), &of.shard, &test_comm, &left_out, &err),
                   EXIT_CONFIG, "use another metric, or splits with both");
    test_graph_clear(&of);
    of = test_graph(kind_of_one_split(SPLIT_VAL, 2), 3, &test_comm);
    assert_ok(score_is_defined(score_find("roc_auc"), &of.shard, &test_comm, &left_out, &err));
    assert_int_equal(left_out, COLUMNS - 2);
}

// Numbers of two columns, of which the second does not vary among the test nodes.
static double number_of(int64_t node, int64_t column) {
    return column == 0                         ? (double)(node * node) / 4
           : singles[node].split == SPLIT_TEST ? 2
                                               : (double)node;
}
static float said_of(int64_t node, int64_t column) {
    return (float)number_of(node, column) + (column == 0 ? 0.5f * (float)(node % 3) - 0.25f : 0.0f);
}

// By their definitions: root of the mean square, mean of the absolute, and 1 - square / spread as a
// mean over the columns; a column that does not vary and is met counts 1 (scikit-learn's r2_score).
static void errors_by_hand(int split, double want[3]) {
    double square = 0, absolute = 0, r2 = 0, rows = 0;
    for (int c = 0; c < 2; c++) {
        double mean = 0, spread = 0, missed = 0;
        rows = 0;
        for (int i = 0; i < GRAPH_NODES; i++)
            if (singles[i].split == split)
                mean += (double)(float)number_of(i, c), rows++;
        for (int i = 0; i < GRAPH_NODES; i++) {
            double y = (double)(float)number_of(i, c), miss = (double)said_of(i, c) - y;
            if (singles[i].split != split)
                continue;
            spread += (y - mean / rows) * (y - mean / rows);
            missed += miss * miss;
            absolute += fabs(miss);
        }
        square += missed;
        r2 += (spread > 0 ? 1 - missed / spread : 1) / 2;
    }
    want[0] = sqrt(square / rows / 2), want[1] = absolute / rows / 2, want[2] = r2;
}

TEST(numbers_have_errors) {
    static const char *const names[] = {"rmse", "mae", "r2"};
    CLEARED(unmake) Made made = {0};
    make_with(&made,
              (TestGraphKind)KIND(.classes = 2, .split = split_of_single, .number = number_of),
              said_of);
    for (int split = SPLIT_TRAIN; split <= SPLIT_TEST; split++) {
        double want[3];
        errors_by_hand(split, want);
        assert_int_equal(made.got[split].count, 4); // and the loss
        for (int i = 0; i < 3; i++)
            assert_near(metrics_value(&made.got[split], score_find(names[i])), want[i], 1e-12);
        assert_near(metrics_value(&made.got[split], score_find("loss")), want[0] * want[0], 1e-6);
    }
}

// Areas cost more: nothing measures them unasked.
TEST(areas_are_asked_for) {
    Metrics metrics;
    const Loss *loss = loss_of_labels(LABEL_CLASS);
    metrics_init(&metrics, loss, score_find("accuracy"));
    int64_t plain = metrics.count;
    metrics_init(&metrics, loss, score_find("roc_auc"));
    assert_int_equal(metrics.count, plain + 1);
    assert_int_equal(metrics.score[plain].of, score_row_of(score_find("roc_auc")));
}

// The word of train.metric finds scores of its own loss alone; lower and higher, percent and
// number.
TEST(scores_are_told_apart) {
    char text[QUANTITY];
    Error err = {0};
    const Loss *loss = loss_of_labels(LABEL_CLASS), other = {.name = "soft", .labels = 1};
    const Score *accuracy = score_find("accuracy"), *low = score_find("loss");
    assert_ptr_equal(loss_score(loss, "auto", LABEL_CLASS, &err), accuracy);
    assert_ptr_equal(loss_score(loss_of_labels(LABEL_CLASSES), "auto", LABEL_CLASSES, &err),
                     score_find("micro_f1"));
    assert_ptr_equal(loss_score(loss, "macro-f1", LABEL_CLASS, &err), score_find("macro-F1"));
    assert_null(loss_score(loss, "loss", LABEL_CLASS, &err));
    assert_ptr_equal(score_shown("roc-auc", LABEL_CLASS), score_find("roc_auc"));
    assert_ptr_equal(score_shown("auto", LABEL_CLASSES), score_find("micro_f1"));
    assert_ptr_equal(score_shown("", LABEL_CLASS), accuracy); // of a run whose file does not say
    err = (Error){0};
    assert_null(loss_score(&other, "accuracy", LABEL_CLASS, &err));
    assert_non_null(strstr(err.text, "'accuracy' is no score of train.loss=soft"));
    assert_true(score_better(accuracy, 0.5, 0.25) && !score_better(accuracy, 0.25, 0.5));
    assert_true(score_better(low, 0.25, 0.5) && !score_better(low, 0.5, 0.25));
    assert_true(score_better(low, 7, NAN) && !score_better(low, NAN, 7));
    assert_true(!score_better(low, NAN, NAN) && !score_better(accuracy, 1, 1));
    assert_string_equal(score_text(text, accuracy, 0.5), "50.00 %");
    assert_string_equal(score_text(text, low, 0.5), "0.5");
    assert_string_equal(score_text(text, low, NAN), "none");
}
