// Splits that are drawn (data.splits=random:..., per-class:..., shchur:...): the text after the
// first byte; odd first bytes draw from nodes of several labels.

#include "fuzz_dataset.h"

enum { NODES_OF_DRAW = 40, CLASSES = 3 };

static void label_nodes(Dataset *dataset, bool several) {
    dataset->split = ALLOC(uint8_t, NODES_OF_DRAW, "splits");
    dataset->classes = CLASSES;
    dataset->multilabel = several;
    if (several)
        dataset->labels = ALLOC(uint8_t, NODES_OF_DRAW * CLASSES, "labels");
    else
        dataset->label = ALLOC(int32_t, NODES_OF_DRAW, "labels");
    for (int i = 0; i < NODES_OF_DRAW && !several; i++)
        dataset->label[i] = i % 5 - 1 < CLASSES ? i % 5 - 1 : -1;
}

// Every node with a label is in at most one split, the others in none.
static void check_splits(const Dataset *dataset) {
    int training = 0;
    for (int i = 0; i < NODES_OF_DRAW; i++) {
        FUZZ_CHECK(dataset->split[i] <= SPLIT_TEST);
        FUZZ_CHECK(dataset->label == NULL || dataset->label[i] >= 0 ||
                   dataset->split[i] == SPLIT_NONE);
        training += dataset->split[i] == SPLIT_TRAIN;
    }
    FUZZ_CHECK(training > 0);
}

FUZZER {
    static Config config;
    static const char *const ways[] = {"random:", "per-class:", "shchur:"};
    if (count < 1 || count > 60)
        return;
    CLEARED(dataset_clear) Dataset dataset = {.nodes = NODES_OF_DRAW};
    char *text = fuzz_text(bytes + 1, count - 1);
    snprintf(config.data.splits, sizeof config.data.splits, "%s%s", ways[bytes[0] / 2 % 3], text);
    label_nodes(&dataset, bytes[0] % 2 == 1);
    bool ok = splits_draw(&dataset, &config, &err);
    fuzz_verdict(ok, &err);
    if (ok)
        check_splits(&dataset);
    free(text);
}
