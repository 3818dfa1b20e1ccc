// The reader of edge lists. The length says what the config says of ids and columns, too.

#include "fuzz_dataset.h"

FUZZER {
    static const char *const ids[] = {"auto", "text", "number"};
    static const char *const columns[][3] = {
        {"source=1", "target=2"}, {"source=from", "target=to", "weight=amount"}, {"weight=3"}};
    static Config config; // of 90 KB; ids and columns alone change
    config.data.columns.count = 0;
    snprintf(config.data.ids, sizeof config.data.ids, "%s", ids[count / 8 % 3]);
    size_t way = count / 24 % 4;
    for (int i = 0; i < 3 && way > 0 && columns[way - 1][i] != NULL; i++)
        snprintf(config.data.columns.word[config.data.columns.count++], CONFIG_WORD, "%s",
                 columns[way - 1][i]);
    fuzz_text_with(&format_edges, &config, bytes, count);
}
