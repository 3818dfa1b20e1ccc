// Graphs of which each undirected edge may stand once: half of their messages would be missing.

#include "internal.h"

static bool has(const Csr *rows, int64_t i, int32_t column) {
    const int32_t *list = rows->column + rows->offset[i];
    int64_t count = rows->offset[i + 1] - rows->offset[i], place = sort_below(list, count, column);
    return place < count && list[place] == column;
}

static bool is_silenced(const Dataset *dataset, const Config *config) {
    return config_has_word(&config->data.transforms, "symmetrize") || dataset->hyperedges > 0 ||
           dataset->states_direction || config->data.undirected ||
           config_is_said(config, "data.undirected");
}

// Distinct edges that are no loops, and those of them whose reverse is there. Ends as soon as these
// are one in a hundred of all.
void warn_of_one_direction(Dataset *dataset, const Config *config) {
    Csr rows = dataset_csr(dataset);
    int64_t edges = 0, both = 0;
    if (is_silenced(dataset, config))
        return;
    for (int64_t i = 0; i < rows.rows; i++)
        for (int64_t e = rows.offset[i]; e < rows.offset[i + 1]; e++) {
            int32_t j = rows.column[e];
            if (j == i || (e > rows.offset[i] && rows.column[e - 1] == j))
                continue;
            edges++;
            both += has(&rows, j, (int32_t)i);
            if (both * 100 >= dataset->edges)
                return;
        }
    if (edges > 0 && both * 100 < edges)
        warnings_add(&dataset->warnings,
                     "%ld of %ld edges have their reverse; if each stands for both directions set "
                     "data.undirected=true, if not data.undirected=false",
                     both, edges);
}
