// fringe inspect of several runs: the folder of a comparison, of --runs, of a sweep, or one in
// which runs lie; and compare.json, runs.json and sweep.json.

#include "inspect.h"

// ---- the runs inside

static bool show_table(const Inspection *at) {
    CLEARED(records_clear) RunRecords records = {0};
    if (!records_add(&records, at->folder, &terminal_sink, at->err))
        return false;
    if (at->json != NULL)
        runs_table_put(at->json, &records, at->folder);
    else
        runs_table_print(&records, at->folder);
    return true;
}

// The table of a comparison or a sweep, and the runs if the path is their folder.
static bool show_with_runs(const Inspection *at, const char *name, const char *key,
                           void (*print)(const Inspection *at, const Json *document)) {
    if (!inspect_document(at, name, key, print))
        return false;
    if (at->is_folder && at->json == NULL)
        printf("\n");
    return !at->is_folder || show_table(at);
}

// ---- the kind "comparison"

static void print_comparison(const Inspection *at, const Json *document) {
    Comparison comparison;
    if (comparison_of(&comparison, document))
        comparison_print(&comparison);
    else
        error_data(at->err, "%s holds no comparison of runs", at->path);
}

static bool show_comparison(const Inspection *at) {
    return show_with_runs(at, "compare.json", "comparison", print_comparison);
}

const Inspected inspected_comparison = {"comparison", "compare.json", NULL, show_comparison};

// ---- the kind "sweep"

// That the document names.
static const Score *score_in(const Json *document) {
    const Score *score = score_find(json_get_text(document, "metric"));
    return score != NULL ? score : score_of_labels(LABEL_CLASS);
}

static const char *score_of(const Json *point, const char *key, double scale, char out[32]) {
    const Json *of = json_get_of(point, key, JSON_OBJECT);
    if (isnan(json_get_number(of, "mean")))
        snprintf(out, 32, "none");
    else
        snprintf(out, 32, "%.2f +- %.2f", scale * json_get_number(of, "mean"),
                 scale * json_get_number(of, "deviation"));
    return out;
}

static void print_point(const Json *point, double scale, const char *winner) {
    char validation[32], test[32];
    const char *name = json_get_text(point, "name");
    printf("%s %s\n", strcmp(name, winner) == 0 ? "*" : " ", SHOWN(name));
    printf("      validation %-15s  test %-15s  %10s  %10s\n",
           score_of(point, "validation", scale, validation), score_of(point, "test", scale, test),
           SHOWN_SECONDS(json_get_number(point, "seconds_per_epoch")),
           SHOWN_BYTES(json_get_number(point, "bytes_per_epoch")));
}

static void print_sweep(UNUSED const Inspection *at, const Json *document) {
    const Json *points = json_get_of(document, "points", JSON_ARRAY);
    const Score *score = score_in(document);
    printf("sweep      %ld settings, %.0f run%s each; %s%s, time and bytes per epoch\n",
           points != NULL ? json_size(points) : 0, json_get_number(document, "runs"),
           json_get_number(document, "runs") == 1 ? "" : "s", score->title,
           score->percent ? " in %" : "");
    for (const Json *p = json_first(points); p != NULL; p = json_next(p))
        print_point(p, score_scale(score), json_get_text(document, "winner"));
    printf("* best validation\n");
}

static bool show_sweep(const Inspection *at) {
    return show_with_runs(at, "sweep.json", "sweep", print_sweep);
}

const Inspected inspected_sweep = {"sweep", "sweep.json", NULL, show_sweep};

// ---- the kind "runs"

static bool is_run(const char *path) {
    return inspect_holds(path, "run.json") || inspect_holds(path, "compare.json") ||
           inspect_holds(path, "runs.json") || inspect_holds(path, "sweep.json");
}

static bool holds_runs(const char *path) { return inspect_any(path, is_run); }

static void print_mean(const Json *document, const char *key, const char *what) {
    char text[32];
    const Score *score = score_in(document);
    if (!isnan(json_get_number(json_get_of(document, key, JSON_OBJECT), "mean")))
        printf("%-10s test %s %s%s\n", what, score->title,
               score_of(document, key, score_scale(score), text), score_unit(score));
}

static void print_means(UNUSED const Inspection *at, const Json *document) {
    print_mean(document, "last", "last");
    print_mean(document, "best", "best");
}

static bool show_runs(const Inspection *at) {
    return (!inspect_holds(at->folder, "runs.json") ||
            inspect_document(at, "runs.json", "summary", print_means)) &&
           ((at->json != NULL && !at->is_folder) || show_table(at));
}

const Inspected inspected_runs = {"runs", "runs.json", holds_runs, show_runs};

// ---- the kind "table": the same tables for other programs

static bool is_table(const char *path) {
    return !file_is_folder(path) &&
           text_lists("compare.csv compare.tex sweep.csv sweep.tex", path_name(path));
}

static bool show_text(const Inspection *at) {
    size_t bytes;
    FREED char *text = file_read(at->path, 1 << 24, &bytes, at->err);
    if (at->json != NULL)
        json_put_string(at->json, "text", text);
    for (char *line, *rest = at->json == NULL ? text : NULL;
         rest != NULL && (line = strsep(&rest, "\n")) != NULL;)
        if (rest != NULL || line[0] != 0)
            printf("%s\n", SHOWN(line));
    return at->err->code == 0;
}

const Inspected inspected_table = {"table", NULL, is_table, show_text};
