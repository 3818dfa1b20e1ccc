// What the page shows, as JSON: variants, their facts, their messages and their runs.

#include "internal.h"

enum { CURVE_POINTS = 250 };

// --- messages: for every sender and reader, the values of an epoch

typedef struct Messages {
    int ranks;
    double *values, *of_sources; // [sender, reader]; owned
} Messages;

// One cell of "pairs": the rows that travel, and the rows if sources alone travelled.
static void add_cell(Messages *m, const Json *cell, int64_t at, double columns) {
    const Json *rows = json_type(cell) == JSON_ARRAY ? json_first(cell) : NULL;
    const Json *sources = rows != NULL ? json_next(rows) : NULL;
    if (sources == NULL || json_type(rows) != JSON_NUMBER || json_type(sources) != JSON_NUMBER)
        return;
    m->values[at] += json_number(rows) * columns;
    m->of_sources[at] += json_number(sources) * columns;
}

static bool add_exchange(Messages *m, const Json *exchange) {
    const Json *pairs = json_get_of(exchange, "pairs", JSON_ARRAY);
    const Json *columns = json_get_of(exchange, "columns", JSON_NUMBER);
    if (pairs == NULL || columns == NULL || json_size(pairs) != m->ranks)
        return false;
    int64_t sender = 0;
    for (const Json *row = json_first(pairs); row != NULL; row = json_next(row), sender++) {
        int64_t reader = 0;
        if (json_type(row) != JSON_ARRAY || json_size(row) != m->ranks)
            return false;
        for (const Json *cell = json_first(row); cell != NULL; cell = json_next(cell))
            add_cell(m, cell, sender * m->ranks + reader++, json_number(columns));
    }
    return true;
}

static void put_matrix(JsonWriter *w, const char *key, const double *value, int ranks) {
    JSON_PUT_ARRAY(w, key)
        for (int a = 0; a < ranks; a++)
            json_put_list(w, NULL, value + (int64_t)a * ranks, ranks);
}

static void put_sums(JsonWriter *w, const Messages *m) {
    FREED double *sent = ALLOC(double, m->ranks, "sums of messages");
    FREED double *received = ALLOC(double, m->ranks, "sums of messages");
    for (int a = 0; a < m->ranks; a++)
        for (int b = 0; b < m->ranks; b++) {
            sent[a] += m->values[a * m->ranks + b];
            received[b] += m->values[a * m->ranks + b];
        }
    json_put_list(w, "sent", sent, m->ranks);
    json_put_list(w, "received", received, m->ranks);
}

static void put_messages(JsonWriter *w, const Json *exchanges) {
    const Json *pairs = json_get_of(json_first(exchanges), "pairs", JSON_ARRAY);
    if (pairs == NULL || json_size(pairs) < 2 || json_size(pairs) > 65536)
        return;
    Messages m = {.ranks = (int)json_size(pairs)};
    int64_t cells = (int64_t)m.ranks * m.ranks;
    m.values = ALLOC(double, cells, "messages between ranks");
    m.of_sources = ALLOC(double, cells, "messages between ranks");
    bool whole = true;
    for (const Json *at = json_first(exchanges); at != NULL && whole; at = json_next(at))
        whole = add_exchange(&m, at);
    if (whole && m.ranks <= RANKS_DRAWN) {
        put_matrix(w, "values", m.values, m.ranks);
        put_matrix(w, "values_of_sources", m.of_sources, m.ranks);
    }
    if (whole)
        put_sums(w, &m);
    MEMORY_FREE(m.of_sources, m.values);
}

// --- exchanges

static void put_exchanges(JsonWriter *w, const RunRecord *run) {
    static const char *const numbers[] = {"columns", "rows", "rows_of_sources_alone"};
    const Json *exchanges = record_member(run, "exchanges");
    if (exchanges == NULL || json_type(exchanges) != JSON_ARRAY)
        return;
    JSON_PUT_ARRAY(w, "exchanges")
        for (const Json *at = json_first(exchanges); at != NULL; at = json_next(at)) {
            const Json *direction = json_get_of(at, "direction", JSON_STRING);
            JSON_PUT_OBJECT(w, NULL) {
                JSON_PUT(w, PAIR("layer", json_get_number(at, "layer")),
                         PAIR("direction", direction != NULL ? json_string(direction) : NULL));
                for (int i = 0; i < FAMILY_COUNT(numbers); i++)
                    json_put_double(w, numbers[i], json_get_number(at, numbers[i]));
            }
        }
    JSON_PUT_OBJECT(w, "messages")
        put_messages(w, exchanges);
}

// --- variants

static void put_facts(JsonWriter *w, const RunRecord *run) {
    static const char *const texts[][2] = {{"mode", "config.mode"},
                                           {"layer", "config.model.layer"},
                                           {"codec", "config.quantization.codec"},
                                           {"host", "machine.host"},
                                           {"cpu", "machine.cpu"},
                                           {"parted", "config.partition.method"}};
    static const char *const numbers[][2] = {{"nodes", "data.nodes"},
                                             {"edges", "data.edges"},
                                             {"features", "data.features"},
                                             {"classes", "data.classes"},
                                             {"layers", "config.model.layers"},
                                             {"ranks", "machine.ranks"},
                                             {"threads", "machine.threads"},
                                             {"nodes_of_train", "data.train_nodes"},
                                             {"validation_nodes", "data.validation_nodes"}};
    char data[2 * DATASET_NAME];
    const char *name = record_text(run, "data.name");
    snprintf(data, sizeof data, "%s%s", name != NULL ? name : "?", record_look_alike(run));
    JSON_PUT(w, PAIR("data", data), PAIR("size", record_text(run, "data.size")));
    for (int i = 0; i < FAMILY_COUNT(texts); i++)
        json_put_string(w, texts[i][0], record_text(run, texts[i][1]));
    for (int i = 0; i < FAMILY_COUNT(numbers); i++)
        json_put_double(w, numbers[i][0], record_number(run, numbers[i][1]));
    json_put_string(w, "metric", run->score->title);
    if (!run->score->percent) // else the page shows percent
        json_put_bool(w, "plain", true);
    if (run->score->lower) // else the highest is the best
        json_put_bool(w, "lower", true);
}

static void put_settings(JsonWriter *w, const Variants *variants, const RunRecord *run) {
    JSON_PUT_OBJECT(w, "settings")
        for (int i = 0; i < variants->keys; i++) {
            char value[RECORD_VALUE];
            if (record_value(run, variants->key[i], value))
                json_put_string(w, variants->key[i], value);
        }
}

static int64_t stride_of(const RunRecords *records) {
    int64_t most = 1;
    for (int i = 0; i < records->count; i++)
        most = records->run[i].epochs > most ? records->run[i].epochs : most;
    return (most + CURVE_POINTS - 1) / CURVE_POINTS;
}

static void put_variant(JsonWriter *w, const Variants *variants, int a, const RunRecords *records) {
    const Variant *variant = &variants->variant[a];
    JSON_PUT_OBJECT(w, NULL) {
        json_put_string(w, "label", variant->label);
        put_facts(w, variant->first);
        put_settings(w, variants, variant->first);
        put_exchanges(w, variant->first);
        JSON_PUT_ARRAY(w, "runs")
            for (int i = 0; i < records->count; i++)
                if (variants->variant_of[i] == a)
                    page_put_run(w, &records->run[i], stride_of(records));
    }
}

void page_put_data(JsonWriter *w, const RunRecords *records) {
    CLEARED(variants_clear) Variants variants;
    variants_gather(&variants, records);
    JSON_PUT_OBJECT(w, NULL) {
        JSON_PUT(w, PAIR("fringe", FRINGE_VERSION), PAIR("epochs_per_point", stride_of(records)));
        const Json *config = records->count > 0 ? record_member(&records->run[0], "config") : NULL;
        if (config != NULL)
            json_put_value(w, "config", config);
        JSON_PUT_ARRAY(w, "variants")
            for (int a = 0; a < variants.count; a++)
                put_variant(w, &variants, a, records);
    }
}
