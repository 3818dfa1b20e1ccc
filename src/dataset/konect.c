// Lists of edges as KONECT writes them: out.NAME, whose first line is "% sym|asym|bip WEIGHTS", and
// the second, if there is one, "% EDGES NODES NODES". Ids count from 1; columns: source, target,
// weight, time.

#include "konect.h"

bool konect_begins(const char *text) {
    return strncmp(text, "% sym", 5) == 0 || strncmp(text, "% asym", 6) == 0 ||
           strncmp(text, "% bip", 5) == 0;
}

bool konect_look(Konect *konect, const Text *text, const char *path, Error *err) {
    long long edges = 0, nodes = 0;
    *konect = (Konect){.is = konect_begins(text->data)};
    if (!konect->is)
        return true;
    if (text->data[2] == 'b')
        return error_data(err,
                          "%s: KONECT calls it bipartite (bip), so its columns number two kinds of "
                          "nodes; read it as a hypergraph with data.format=pins",
                          path);
    konect->undirected = text->data[2] == 's';
    const char *second = strchr(text->data, '\n');
    if (second != NULL && sscanf(second + 1, "%% %lld %lld", &edges, &nodes) == 2)
        konect->nodes = nodes;
    return true;
}

bool konect_columns(LinkColumns *columns, const Table *table, Warnings *warnings, Error *err) {
    *columns = (LinkColumns){{0, 1}, table->columns > 2 ? 2 : -1, -1};
    if (table->columns > 3)
        warnings_add(warnings, "column 4, the time, is not read");
    return (table->columns >= 2 && table->columns <= 4) ||
           error_data(err, "%s: KONECT has 2 to 4 columns, not %d", table->path, table->columns);
}

// id i is row i - 1.
bool konect_rows(const Konect *konect, Links *links, int64_t *nodes, Error *err) {
    int64_t largest = 0;
    for (int end = 0; end < 2; end++)
        for (int64_t e = 0; e < links->count; e++) {
            int64_t *id = &links->id[end][e];
            if (links->is_text || *id < 1 || (konect->nodes > 0 && *id > konect->nodes))
                return error_data(err,
                                  "%s: the ids of KONECT are 1 to %ld, but edge %ld has another; "
                                  "if this is no file of KONECT, remove its first line",
                                  links->table.path, konect->nodes > 0 ? konect->nodes : INT32_MAX,
                                  e + 1);
            largest = *id > largest ? *id : largest;
            --*id;
        }
    *nodes = konect->nodes > 0 ? konect->nodes : largest;
    return *nodes <= DATASET_MAX_NODES || error_data(err, "%s: %ld nodes; up to %d can be used",
                                                     links->table.path, *nodes, DATASET_MAX_NODES);
}
