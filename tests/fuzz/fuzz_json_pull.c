// The reader of JSON piece by piece: the classes and roles of GraphSAINT's sets. A text of odd
// length is a class_map.json of up to 7 nodes, one of even length a role.json.

#include "fuzz_dataset.h"

#include "dataset/graphsaint.h"

static void check_labels(const Dataset *d) {
    FUZZ_CHECK((d->labels != NULL) != (d->label != NULL) && d->multilabel == (d->labels != NULL));
    for (int64_t i = 0; i < d->nodes; i++)
        FUZZ_CHECK(d->label == NULL || (d->label[i] >= 0 && d->label[i] < d->classes));
    for (int64_t i = 0; d->labels != NULL && i < d->nodes * d->classes; i++)
        FUZZ_CHECK(d->labels[i] <= 1);
}

static void pull_all(Dataset *d, JsonPull *pull, bool classes, Error *err) {
    bool ok = (classes ? graphsaint_classes : graphsaint_roles)(d, pull, err);
    fuzz_verdict(ok, err);
    if (ok && classes)
        check_labels(d);
    for (int64_t i = 0; i < d->nodes; i++)
        FUZZ_CHECK(d->split[i] <= SPLIT_TEST);
}

FUZZER {
    CLEARED(dataset_clear) Dataset dataset = {.nodes = 1 + (int64_t)count / 2 % 7};
    char path[32];
    int file = fuzz_file(path, bytes, count);
    CLEARED(json_pull_drop) JsonPull *pull = json_pull_open(path, &err);
    dataset.split = ALLOC(uint8_t, dataset.nodes, "splits");
    pull_all(&dataset, pull, count % 2 == 1, &err);
    close(file);
}
