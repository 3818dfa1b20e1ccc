// The readers of tables about nodes: data.nodes with ids, features and labels in text. The length
// says which of them reads it, and what the config says of ids, labels and columns. What
// data.nodes says is then joined with a graph of the nodes 0 to 7, or of text ids.

#include "fuzz_dataset.h"

#include "dataset/roster.h"

enum { NODES_OF_GRAPH = 8 };

static void set(Config *config, size_t count) {
    static const char *const ids[] = {"auto", "text", "number"}, *const are[] = {"", "several"};
    static const char *const columns[] = {"id=1", "label=2", "features=x"};
    snprintf(config->data.ids, sizeof config->data.ids, "%s", ids[count / 4 % 3]);
    snprintf(config->data.labels_are, sizeof config->data.labels_are, "%s", are[count / 12 % 2]);
    config->data.columns.count = (int)(count / 24 % 4);
    for (int i = 0; i < config->data.columns.count; i++)
        snprintf(config->data.columns.word[i], sizeof config->data.columns.word[i], "%s",
                 columns[i]);
}

static void read_nodes(Text *text, const Config *config, bool named, Error *err) {
    char letters[] = "abcdefgh";
    int64_t offset[NODES_OF_GRAPH + 1] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    NodeIds ids = {.count = named ? NODES_OF_GRAPH : 0, .bytes = letters, .offset = offset};
    Roster roster;
    Dataset dataset = {.nodes = NODES_OF_GRAPH};
    bool ok = roster_parse_csv(&roster, text, "fuzz", config, err);
    FUZZ_CHECK(!ok || (roster.rows > 0 && roster.known.count == roster.rows));
    FUZZ_CHECK(!ok || (roster.known.bytes != NULL) != (roster.known.number != NULL));
    if (ok && named == (roster.known.bytes != NULL))
        roster_join(&dataset, &ids, &roster, "the graph", true, err);
    for (int64_t i = 0; err->code == 0 && dataset.label != NULL && i < dataset.nodes; i++)
        FUZZ_CHECK(dataset.label[i] >= -1 && dataset.label[i] < dataset.classes);
    dataset_clear(&dataset);
    roster_close(&roster);
}

static void read_rows(Text *text, const Config *config, bool labels, Error *err) {
    Npy npy = {0};
    CLEARED(node_ids_clear) NodeIds names = {0};
    TableIds ids = {0};
    bool ok = labels ? labels_from_csv(&npy, &names, &ids, text, "fuzz", config, err)
                     : features_from_csv(&npy, &ids, text, "fuzz", config, err);
    FUZZ_CHECK(ok == (err->code == 0));
    FUZZ_CHECK(!ok || npy.shape[0] > 0 || ids.rows.rows > 0);
    npy_clear(&npy);
    table_ids_clear(&ids);
}

FUZZER {
    static Config config;
    set(&config, count);
    Text text = {ALLOC(char, count + 1, "text of a fuzzer"), count};
    if (count > 0)
        memcpy(text.data, bytes, count);
    if (count % 4 < 2)
        read_nodes(&text, &config, count % 4 == 1, &err);
    else
        read_rows(&text, &config, count % 4 == 2, &err);
    text_clear(&text);
    fuzz_verdict(err.code == 0, &err);
}
