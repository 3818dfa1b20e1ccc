// Hypergraphs as text in any dialect (table.h), of numbers or of names (links.h). pins: lists of
// "node hyperedge [weight] [role]", a line for each pin. The weight is that of the hyperedge, so
// all its lines agree. Role: s (source), t (target), b (both). members: a line for each hyperedge,
// its nodes.

#include "links.h"

#include <ctype.h>

// --- columns

// Node and hyperedge are the first two columns that are no index, if neither has a name of its own.
static bool by_order(LinkColumns *columns, const Table *table, Warnings *warnings, Error *err) {
    int first = column_is_index(table, 0) ? 1 : 0;
    if (table->columns - first < 2 || columns->end[0] >= 0 || columns->end[1] >= 0)
        return error_data(err,
                          "%s: the names of its columns do not say which ones are node and "
                          "hyperedge; set data.columns={\"node\": ..., \"hyperedge\": ...}",
                          table->path);
    columns->end[0] = first;
    columns->end[1] = first + 1;
    warnings_add(warnings,
                 "column '%s' is taken as node and '%s' as hyperedge; data.columns can say "
                 "it otherwise",
                 SHOWN(table->name[first]), SHOWN(table->name[first + 1]));
    return true;
}

static bool by_names(LinkColumns *columns, const Table *table, const Config *config,
                     Warnings *warnings, Error *err) {
    if (!column_find(&columns->end[0], table, config, "node", WORDS_NODE, err) ||
        !column_find(&columns->end[1], table, config, "hyperedge", WORDS_HYPEREDGE, err) ||
        !column_find(&columns->weight, table, config, "weight", WORDS_WEIGHT, err))
        return false;
    for (int c = 0; c < table->columns; c++)
        if (column_is_word(table->name[c], "role"))
            columns->word = c;
    if ((columns->end[0] < 0 || columns->end[1] < 0) && !by_order(columns, table, warnings, err))
        return false;
    links_name_rest(columns, table, warnings);
    return true;
}

static bool is_role(const Table *table, int c) { return isalpha((unsigned char)table->name[c][0]); }

static bool by_width(LinkColumns *columns, const Table *table, const Config *config, Error *err) {
    if (config_column(config, "node", 0) != NULL || config_column(config, "hyperedge", 0) != NULL)
        return column_find(&columns->end[0], table, config, "node", "", err) &&
               column_find(&columns->end[1], table, config, "hyperedge", "", err) &&
               column_find(&columns->weight, table, config, "weight", "", err) &&
               ((columns->end[0] >= 0 && columns->end[1] >= 0) ||
                error_config(err, "%s: data.columns names no node or no hyperedge", table->path));
    if (table->columns < 2 || table->columns > 4)
        return error_data(
            err, "%s: its first line has %d column%s; a line is 'node hyperedge [weight] [role]'",
            table->path, table->columns, table->columns == 1 ? "" : "s");
    bool role = table->columns > 2 && is_role(table, table->columns - 1);
    columns->end[0] = 0;
    columns->end[1] = 1;
    columns->weight = table->columns - role > 2 ? 2 : -1;
    columns->word = role ? table->columns - 1 : -1;
    return table->columns - role <= 3 ||
           error_data(err, "%s: expected the role s, t or b at the end of its first line",
                      table->path);
}

static bool find_columns(LinkColumns *columns, const Table *table, const Config *config,
                         Warnings *warnings, Error *err) {
    *columns = (LinkColumns){{-1, -1}, -1, -1};
    if (table->columns == 0)
        return error_data(err, "%s: there are no pins in it", table->path);
    return table->header ? by_names(columns, table, config, warnings, err)
                         : by_width(columns, table, config, err);
}

// --- lines

static bool check_lines(const Links *l, Error *err) {
    for (int64_t p = 0; p < l->count; p++) {
        if (l->weight != NULL && l->weight[p] < 0)
            return error_data(err, "%s:%ld: the hyperedge weighs %g; weights are not negative",
                              l->table.path, l->line[p], (double)l->weight[p]);
        if (l->word != NULL && (l->word[p] == 0 || strchr("stb", l->word[p]) == NULL))
            return error_data(err, "%s:%ld: expected the role s, t or b, found '%c'", l->table.path,
                              l->line[p], isprint((unsigned char)l->word[p]) ? l->word[p] : ' ');
    }
    return l->count > 0 || error_data(err, "%s: there are no pins in it", l->table.path);
}

static bool take_roles(Pins *pins, const Links *l, Error *err) {
    pins->role = l->word != NULL ? TRY(uint8_t, l->count, "roles of pins", err) : NULL;
    for (int64_t p = 0; pins->role != NULL && p < l->count; p++)
        pins->role[p] = l->word[p] == 's' ? PIN_SOURCE : l->word[p] == 't' ? PIN_TARGET : PIN_BOTH;
    return l->word == NULL || pins->role != NULL;
}

// --- the hypergraph

// The weights of hyperedges, whose ids are numbers by now.
static bool agree_on_weights(Dataset *dataset, const Links *list, const char *path, Error *err) {
    float *weight = TRY(float, dataset->hyperedges, "weights of hyperedges", err);
    FREED int64_t *line = TRY(int64_t, dataset->hyperedges, "first lines of hyperedges", err);
    for (int64_t p = 0; err->code == 0 && p < list->count; p++) {
        int64_t h = list->id[1][p];
        if (line[h] == 0) {
            line[h] = list->line[p];
            weight[h] = list->weight[p];
        } else if (weight[h] != list->weight[p]) {
            error_data(err,
                       "%s:%ld: the hyperedge weighs %g here, but %g in line %ld; the lines of a "
                       "hyperedge have one weight",
                       path, list->line[p], (double)list->weight[p], (double)weight[h], line[h]);
        }
    }
    hypergraph_set_weights(dataset, weight);
    return err->code == 0;
}

// Does each line of members begin with an id that stands nowhere else, neither there nor in
// data.nodes?
static bool begins_with_names(const Links *l, const IdColumns *ids, int64_t nodes) {
    enum { MANY = 4 }; // in fewer lines it may happen
    FREED int32_t *count = ALLOC(int32_t, nodes, "times that a node is named");
    bool each = l->hyperedges >= MANY, repeats = false;
    memset(count, 0, (size_t)nodes * sizeof *count);
    for (int c = 0; c < ids->columns; c++)
        for (int64_t i = 0; i < ids->of[c].count; i++)
            count[ids->of[c].value[i]]++;
    for (int64_t p = 0; p < l->count; p++) {
        bool alone = count[l->id[0][p]] == 1;
        bool first = p == 0 || l->id[1][p] != l->id[1][p - 1];
        each = each && (alone || !first);
        repeats = repeats || !(alone || first);
    }
    return each && repeats;
}

static bool check_names(Dataset *dataset, const Links *l, const IdColumns *ids, int64_t nodes,
                        const char *path, Error *err) {
    static const char says[] =
        "if it names the hyperedge, leave it out: cut -d' ' -f2- OLD > NEW, where blanks separate";
    if (!l->members || !begins_with_names(l, ids, nodes))
        return true;
    if (ids->columns == 2)
        return error_data(
            err,
            "%s: every line begins with an id that is in no other place, nor in data.nodes; %s",
            path, says);
    warnings_add(&dataset->warnings, "every line begins with an id that is in no other place; %s",
                 says);
    return true;
}

// Nodes with those of data.nodes; hyperedges have no rows.
static bool number(Dataset *dataset, Links *l, const Text *text, int64_t *nodes,
                   int64_t *hyperedges, const Request *request, Error *err) {
    const char *of = l->is_text ? text->data : NULL;
    CLEARED(node_ids_clear) NodeIds unused = {0};
    bool roster = node_files_have_ids(request->node_files);
    IdColumns of_nodes = {"node", l->is_unsigned, 1, {{l->count, l->id[0], of}}};
    IdColumns of_hyperedges = {"hyperedge", l->is_unsigned, 1, {{l->count, l->id[1], of}}};
    bool ok = node_files_add_ids(request->node_files, &of_nodes, err) &&
              ids_number_nodes(&of_nodes, &dataset->ids, nodes, roster ? -1 : request->rows,
                               request->path, &dataset->warnings, err) &&
              check_names(dataset, l, &of_nodes, *nodes, request->path, err) &&
              (l->members || ids_number_nodes(&of_hyperedges, &unused, hyperedges, -1,
                                              request->path, &dataset->warnings, err));
    if (of_nodes.columns == 2)
        memory_free(of_nodes.of[1].value);
    return ok;
}

static bool make(Dataset *dataset, Links *l, const Text *text, const Request *request, Error *err) {
    int64_t nodes = 0, hyperedges = l->hyperedges; // those of pins are numbered
    Pins pins = {l->count, l->id[0], l->id[1], NULL};
    bool ok = number(dataset, l, text, &nodes, &hyperedges, request, err) &&
              take_roles(&pins, l, err) &&
              (pins_to_rows(dataset, &pins, nodes, hyperedges, err) ||
               error_prefix(err, "%s", request->path)) &&
              (l->weight == NULL || agree_on_weights(dataset, l, request->path, err));
    memory_free(pins.role);
    return ok;
}

// The table of the links is open.
static bool parse_links(Dataset *dataset, Links *l, Text *text, const Request *request,
                        Error *err) {
    bool ok =
        links_read(l, text, request->config, node_files_id_kind(request->node_files), true, err) &&
        check_lines(l, err);
    if (ok && !l->is_text)
        text_clear(text);
    return ok && make(dataset, l, text, request, err);
}

static bool parse_pins(Dataset *dataset, Text *text, const Request *request, Error *err) {
    CLEARED(links_clear) Links l = {0};
    return table_open(&l.table, text, request->config, request->path, err) &&
           find_columns(&l.columns, &l.table, request->config, &dataset->warnings, err) &&
           parse_links(dataset, &l, text, request, err);
}

static bool parse_members(Dataset *dataset, Text *text, const Request *request, Error *err) {
    CLEARED(links_clear) Links l = {.columns = {{-1, -1}, -1, -1}, .members = true};
    return table_open_ragged(&l.table, text, request->path, err) &&
           links_check_notation(&l.table, text, err) &&
           parse_links(dataset, &l, text, request, err);
}

const Format format_pins = {.name = "pins",
                            .endings = ".pins .pins.tsv .pins.csv .pins.txt",
                            .parse = parse_pins,
                            .factor.word = 48};
const Format format_members = {.name = "members",
                               .endings = ".members .members.txt .members.csv",
                               .parse = parse_members,
                               .factor.word = 48};
