// A table of runs, for `fringe runs` and for `fringe inspect` of a folder of runs.

#include "internal.h"

enum { COLUMNS = 80, NUMBERS = 50, NAME_MOST = 48, DIFFERENCES = 1024 };
typedef struct Table {
    const RunRecords *records;
    const char *folder; // that names are relative to
    char (*key)[RECORD_KEY];
    char (*usual)[RECORD_VALUE]; // [keys] the value that more runs have than any other, or ""
    int keys;
    int name_width, difference_width;
    bool beside; // differences stand in the row of their run
} Table;

static const char *name_of(const Table *table, int run) {
    const char *path = table->records->run[run].folder;
    size_t length = strlen(table->folder);
    if (strncmp(path, table->folder, length) != 0)
        return path;
    path += length;
    path += strspn(path, "/");
    return path[0] != 0 ? path : ".";
}

// The preset in use says it.
static bool is_implied(const RunRecord *record, const char *key, const char *value) {
    static const char config[] = "config.";
    size_t before = strlen(config);
    char path[RECORD_KEY];
    const char *presets = strncmp(key, config, before) == 0 ? config_preset_of(key + before) : NULL;
    if (presets == NULL)
        return false;
    snprintf(path, sizeof path, "%s%s", config, presets);
    const char *word = record_text(record, path);
    return word != NULL && config_preset_implies(word, key + before, value);
}

static int by_text(const void *a, const void *b) { return strcmp(a, b); }

// The value of the key that is more frequent than any other; "" where two are.
static void find_usual(const Table *table, int key, char (*sorted)[RECORD_VALUE]) {
    int count = 0, most = 0;
    char *usual = table->usual[key];
    for (int i = 0; i < table->records->count; i++)
        count += record_value(&table->records->run[i], table->key[key], sorted[count]);
    qsort(sorted, (size_t)count, RECORD_VALUE, by_text);
    for (int begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && strcmp(sorted[begin], sorted[end]) == 0; end++)
            ;
        if (end - begin >= most)
            snprintf(usual, RECORD_VALUE, "%s", end - begin > most ? sorted[begin] : "");
        most = end - begin > most ? end - begin : most;
    }
}

static void find_all_usual(Table *table) {
    char(*sorted)[RECORD_VALUE] = (char(*)[RECORD_VALUE])ALLOC(
        char, (int64_t)table->records->count *RECORD_VALUE, "values of runs");
    table->usual = (char(*)[RECORD_VALUE])ALLOC(char, (int64_t)(table->keys + 1) * RECORD_VALUE,
                                                "values of runs");
    for (int k = 0; k < table->keys; k++)
        find_usual(table, k, sorted);
    memory_free(sorted);
}

// Adds "lr=0.01" to a list of them.
static void add_setting(const Table *table, int key, const char *value, char out[DIFFERENCES]) {
    text_add(out, DIFFERENCES, " ", "%s=%s",
             record_short_key((const char(*)[RECORD_KEY])table->key, table->keys, key), value);
}

// "lr=0.01 seed=2": what is not as in most runs
static void differences_of(const Table *table, int run, char out[DIFFERENCES]) {
    char value[RECORD_VALUE];
    out[0] = 0;
    for (int k = 0; k < table->keys; k++)
        if (record_value(&table->records->run[run], table->key[k], value) &&
            strcmp(value, table->usual[k]) != 0 &&
            !is_implied(&table->records->run[run], table->key[k], value))
            add_setting(table, k, value, out);
}

static void measure(Table *table) {
    char differences[DIFFERENCES];
    int name = 3, difference = 7;
    for (int i = 0; i < table->records->count; i++) {
        int length = (int)strlen(SHOWN(name_of(table, i)));
        differences_of(table, i, differences);
        int wide = (int)strlen(SHOWN(differences));
        name = length > name && length <= NAME_MOST ? length : name;
        difference = wide > difference ? wide : difference;
    }
    int left = COLUMNS - NUMBERS;
    table->beside = table->keys > 0 && name + 1 + difference <= left;
    table->name_width = name < left ? name : left;
    table->difference_width = table->beside ? difference : 0;
}

static void print_score(double value) {
    char text[QUANTITY];
    snprintf(text, sizeof text, isnan(value) ? "-" : "%.2f", value);
    terminal_print(" %6s", text);
}

// Words broken at 80 columns, under the name of the run.
static void print_below(const char *text) {
    char out[SCREEN_BROKEN(DIFFERENCES)], line[DIFFERENCES + 16];
    snprintf(line, sizeof line, "    %s", SHOWN(text));
    size_t bytes = screen_break(out, line, strlen(line), COLUMNS);
    terminal_print("%.*s", (int)bytes, out);
}

static void print_row(const Table *table, int run) {
    const RunRecord *record = &table->records->run[run];
    RunFigures f = record_figures(record);
    char differences[DIFFERENCES];
    const char *name = SHOWN(name_of(table, run));
    bool alone = (int)strlen(name) > table->name_width;
    differences_of(table, run, differences);
    if (alone)
        terminal_print("%s\n", name);
    terminal_print("%-*s", table->name_width, alone ? "" : name);
    if (table->beside)
        terminal_print(" %-*s", table->difference_width, SHOWN(differences));
    terminal_print(" %-10s", record_state_name(record->state));
    print_score(score_scale(record->score) * f.validation);
    print_score(score_scale(record->score) * f.test);
    terminal_print(" %8s %8s %6s\n", isnan(f.seconds) ? "-" : SHOWN_SECONDS(f.seconds),
                   isnan(f.bytes) ? "-" : SHOWN_BYTES(f.bytes), SHOWN_AGE(f.age));
    if (!table->beside && differences[0] != 0)
        print_below(differences);
}

// Each score once.
static void print_scores(const RunRecords *records) {
    for (int i = 0; i < records->count; i++) {
        const Score *score = records->run[i].score;
        bool said = false;
        for (int k = 0; k < i && !said; k++)
            said = records->run[k].score == score;
        if (!said)
            terminal_print("%s%s%s", i > 0 ? ", " : "", score->title,
                           score->percent ? " in %" : "");
    }
}

// Each name once.
static void print_look_alikes(const RunRecords *records) {
    for (int i = 0; i < records->count; i++) {
        const char *name = record_text(&records->run[i], "data.name");
        bool said = name == NULL || record_look_alike(&records->run[i])[0] == 0;
        for (int k = 0; k < i && !said; k++) {
            const char *before = record_text(&records->run[k], "data.name");
            said = before != NULL && strcmp(before, name) == 0 &&
                   record_look_alike(&records->run[k])[0] != 0;
        }
        if (!said)
            terminal_print("data: %s%s\n", SHOWN(name), record_look_alike(&records->run[i]));
    }
}

// True if the preset of a run that has the usual value says it.
static bool usual_is_implied(const Table *table, int key) {
    char value[RECORD_VALUE];
    for (int i = 0; i < table->records->count; i++)
        if (record_value(&table->records->run[i], table->key[key], value) &&
            strcmp(value, table->usual[key]) == 0)
            return is_implied(&table->records->run[i], table->key[key], value);
    return false;
}

// What stands under no run.
static void print_usual(const Table *table) {
    char all[DIFFERENCES] = "";
    for (int k = 0; k < table->keys; k++)
        if (table->usual[k][0] != 0 && !usual_is_implied(table, k))
            add_setting(table, k, table->usual[k], all);
    if (all[0] != 0)
        terminal_print("settings of most runs:\n");
    if (all[0] != 0)
        print_below(all);
}

static void print_table(const Table *table) {
    terminal_print("%-*s", table->name_width, "run");
    if (table->beside)
        terminal_print(" %-*s", table->difference_width, "differs");
    terminal_print(" %-10s %6s %6s %8s %8s %6s\n", "state", "val", "test", "epoch", "sent", "age");
    for (int i = 0; i < table->records->count; i++)
        print_row(table, i);
    terminal_print("\nval, test: ");
    print_scores(table->records);
    terminal_print(" at the best validation\nepoch: the median; sent: in the last epoch\n");
    print_usual(table);
    print_look_alikes(table->records);
}

// --- JSON

static void put_run(JsonWriter *w, const Table *table, int run) {
    const RunRecord *record = &table->records->run[run];
    RunFigures f = record_figures(record);
    JSON_PUT_OBJECT(w, NULL) {
        JSON_PUT(w, PAIR("run", name_of(table, run)), PAIR("folder", record->folder),
                 PAIR("state", record_state_name(record->state)),
                 PAIR("data", record_text(record, "data.name")));
        if (record_text(record, "data.origin") != NULL)
            json_put_string(w, "origin", record_text(record, "data.origin"));
        JSON_PUT_OBJECT(w, "differs")
            for (int k = 0; k < table->keys; k++) {
                const Json *value = record_member(record, table->key[k]);
                if (value != NULL)
                    json_put_value(
                        w, strncmp(table->key[k], "config.", 7) == 0 ? table->key[k] + 7 : "ranks",
                        value);
            }
        JSON_PUT(w, PAIR("epochs", record->epochs), PAIR("best_epoch", f.best_epoch),
                 PAIR("validation", f.validation), PAIR("test", f.test),
                 PAIR("seconds_per_epoch", f.seconds), PAIR("bytes_per_epoch", f.bytes),
                 PAIR("gradient_bytes_per_epoch", f.gradient_bytes));
        if (!isnan(f.gradient_memory))
            json_put_double(w, "gradient_memory", f.gradient_memory);
        JSON_PUT(w, PAIR("started", record_text(record, "started")),
                 PAIR("ended", record_text(record, "ended")), PAIR("age_seconds", f.age));
    }
}

void runs_table_put(JsonWriter *w, const RunRecords *records, const char *folder) {
    Table table = {.records = records, .folder = folder};
    table.key = records_differing_keys(records, &table.keys);
    JSON_PUT_ARRAY(w, "runs")
        for (int i = 0; i < records->count; i++)
            put_run(w, &table, i);
    memory_free(table.key);
}

void runs_table_print(const RunRecords *records, const char *folder) {
    Table table = {.records = records, .folder = folder};
    table.key = records_differing_keys(records, &table.keys);
    find_all_usual(&table);
    measure(&table);
    print_table(&table);
    MEMORY_FREE(table.usual, table.key);
}
