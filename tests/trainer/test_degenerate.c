// ranks: 1 2 4
// If this failed, graphs with empty parts, parts without training nodes, isolated nodes or one node
// a part would train another model than one rank does, or hang; and a graph without training nodes
// would not be refused with a sentence.
#include "../small_graph.h"
#include "../support.h"
#include "fringe/trainer.h"

static Config config;

static int first_part_alone(int64_t node, int parts) { return node < 0 ? parts : 0; }
static int last_part_empty(int64_t node, int parts) {
    return parts > 1 ? (int)(node % (parts - 1)) : 0;
}
static int halves(int64_t node, int parts) { return (int)(node * parts / 48); }
static int one_node_each(int64_t node, int parts) { return node < parts ? (int)node : 0; }
static int train_in_front(int64_t node) {
    return node < 10 ? SPLIT_TRAIN : node < 30 ? SPLIT_VAL : SPLIT_TEST;
}
static int no_training(int64_t node) { return node % 2 == 0 ? SPLIT_VAL : SPLIT_TEST; }
static int no_validation(int64_t node) { return node % 2 == 0 ? SPLIT_TRAIN : SPLIT_TEST; }

// Losses of six epochs on these parts.
static void train(double loss[6], TestGraphKind kind, const Comm *comm) {
    EpochRecord record;
    config = CONFIGURED("model.layers=3", "model.hidden=[8]", "train.epochs=6",
                        "train.eval_every=2", "run.threads=1");
    OWNED(TestGraph) graph = test_graph(kind, 4, comm);
    OWNED(Trainer) *t = assert_ok(trainer_new(&config, &graph.shard, comm, 3, NULL, &err));
    while (!trainer_finished(t)) {
        assert_ok(trainer_epoch(t, &record, &err));
        loss[record.epoch - 1] = record.loss;
    }
}

static void parts_train_as_one(int (*cut)(int64_t, int), int (*split)(int64_t), int degree) {
    Comm alone;
    comm_self(&alone);
    TestGraphKind kind = {
        .nodes = 48, .degree = degree, .features = 6, .classes = 3, .cut = cut, .split = split};
    double parts[6], one[6];
    train(parts, kind, &test_comm);
    train(one, kind, &alone);
    for (int e = 0; e < 6;
         e++) // the same weights drift apart slowly: 1e-5 for the first, 1e-4 after six
        assert_near(parts[e], one[e], (e == 0 ? 1e-5 : 1e-4) * fabs(one[e]));
}

TEST(all_on_one_rank) { parts_train_as_one(first_part_alone, NULL, 5); }
TEST(an_empty_part) { parts_train_as_one(last_part_empty, NULL, 5); }
TEST(parts_without_training_nodes) { parts_train_as_one(halves, train_in_front, 5); }
TEST(parts_of_one_node) { parts_train_as_one(one_node_each, NULL, 5); }
TEST(no_edges_at_all) { parts_train_as_one(halves, NULL, 0); }
TEST(nothing_to_validate_on) { parts_train_as_one(halves, no_validation, 5); }

TEST(no_training_nodes_is_a_sentence) {
    TestGraphKind kind = {
        .nodes = 48, .degree = 5, .features = 6, .classes = 3, .split = no_training};
    assert_ok(config_load(&config, NULL, NULL, 0, &err));
    OWNED(TestGraph) graph = test_graph(kind, 4, &test_comm);
    assert_refused(trainer_new(&config, &graph.shard, &test_comm, 3, NULL, &err), EXIT_DATA,
                   "training split");
}
