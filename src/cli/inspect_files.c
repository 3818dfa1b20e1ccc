// fringe inspect of what lies inside a run: checkpoints, assignments, the trace, predictions.

#include "inspect.h"

// ---- the kind "checkpoint"

static bool holds_checkpoints(const char *path) { return inspect_holds(path, "LATEST"); }

// The folder of the checkpoint: for checkpoints/ that of the newest undamaged one.
static bool find_checkpoint(char folder[PATH_BYTES], const Inspection *at) {
    char weights[PATH_BYTES];
    snprintf(folder, PATH_BYTES, "%s", at->folder);
    if (!holds_checkpoints(at->path))
        return true;
    if (!checkpoint_weights_path(PATH_IN(at->path, ".."), false, weights, sizeof weights, at->err))
        return false;
    path_folder(folder, PATH_BYTES, weights);
    return true;
}

static bool put_file(JsonWriter *w, const char *folder, const char *name, Error *err) {
    CLEARED(tensors_close) Tensors map = {0};
    if (!tensors_open(&map, PATH_IN(folder, name), err))
        return false;
    JSON_PUT_OBJECT(w, NULL) {
        json_put_string(w, "name", name);
        inspect_put_tensors(w, &map);
    }
    return true;
}

static bool put_files(JsonWriter *w, const char *folder, const Json *files, Error *err) {
    bool ok = true;
    JSON_PUT_ARRAY(w, "files")
        for (const Json *f = json_first(files); f != NULL && ok; f = json_next(f))
            ok = put_file(w, folder, json_get_text(f, "name"), err);
    return ok;
}

// checkpoint_weights_path checks the hashes of all files.
static bool put_checkpoint(JsonWriter *w, const char *folder, Error *err) {
    char weights[PATH_BYTES];
    if (!checkpoint_weights_path(folder, false, weights, sizeof weights, err))
        return false;
    CLEARED(json_drop) Json *document = inspect_read(folder, "checkpoint.json", err);
    if (document == NULL)
        return false;
    json_put_value(w, "checkpoint", document);
    return put_files(w, folder, json_get_of(document, "files", JSON_ARRAY), err);
}

static bool show_checkpoint(const Inspection *at) {
    char folder[PATH_BYTES];
    return find_checkpoint(folder, at) &&
           (at->json != NULL ? put_checkpoint(at->json, folder, at->err)
                             : checkpoint_inspect(&terminal_tables, folder, at->err));
}

const Inspected inspected_checkpoint = {"checkpoint", "checkpoint.json", holds_checkpoints,
                                        show_checkpoint};

// ---- the kind "assignment"

static bool is_assignment(const char *path) {
    return inspect_ends(path, ".json") && runfolder_epoch_of(path_name(path), ".json") >= 0;
}

static bool is_assignments(const char *path) {
    return is_assignment(path) || inspect_any(path, is_assignment);
}

static bool show_one(const char *path, void *context) {
    const Inspection *list = context;
    Inspection at = inspect_at(path, list->json, list->err);
    return !is_assignment(path) || inspect_document(&at, path_name(path), NULL, inspect_assignment);
}

// Shows the path, or all that lies in it; as a list of that name where it is JSON.
static bool show_list(const Inspection *at, const char *key,
                      bool (*show)(const char *path, void *context)) {
    Inspection each = *at;
    if (at->json != NULL)
        json_begin_array(at->json, key);
    bool ok = at->is_folder ? inspect_each(at->path, show, &each) : show(at->path, &each);
    if (at->json != NULL)
        json_end_array(at->json);
    return ok;
}

static bool show_assignments(const Inspection *at) {
    return show_list(at, "assignments", show_one);
}

const Inspected inspected_assignment = {"assignment", NULL, is_assignments, show_assignments};

// ---- the kind "trace"

typedef struct TraceFacts {
    int64_t events;
    double ranks, first, last; // first, last: epochs
} TraceFacts;

static bool is_trace(const char *path) { return inspect_is_named(path, "trace.json"); }

static bool read_trace(TraceFacts *facts, const char *path, Error *err) {
    const char *folder = FOLDER_OF(path);
    *facts = (TraceFacts){.first = NAN, .last = NAN};
    CLEARED(json_drop) Json *document = inspect_read(folder, "trace.json", err);
    const Json *events = json_get_of(document, "traceEvents", JSON_ARRAY);
    if (document != NULL && events == NULL)
        error_data(err, "%s: there is no list 'traceEvents' in it", path);
    for (const Json *e = json_first(events); e != NULL; e = json_next(e)) {
        double epoch = json_get_number(json_get_of(e, "args", JSON_OBJECT), "epoch");
        facts->events++;
        facts->ranks = fmax(facts->ranks, json_get_number(e, "pid") + 1);
        facts->first = fmin(facts->first, epoch);
        facts->last = fmax(facts->last, epoch);
    }
    return err->code == 0;
}

static bool show_trace(const Inspection *at) {
    TraceFacts facts;
    if (!read_trace(&facts, at->path, at->err))
        return false;
    if (at->json == NULL) {
        printf("trace      %ld events of %.0f ranks, epochs %.0f to %.0f\n", facts.events,
               facts.ranks, facts.first, facts.last);
        printf("           open it in https://ui.perfetto.dev\n");
        return true;
    }
    JSON_PUT(at->json, PAIR("events", facts.events), PAIR("ranks", facts.ranks),
             PAIR("first_epoch", facts.first), PAIR("last_epoch", facts.last));
    return true;
}

const Inspected inspected_trace = {"trace", NULL, is_trace, show_trace};

// ---- the kind "predictions"

static bool is_predictions(const char *path) {
    return inspect_holds(path, "classes.npy") || inspect_holds(path, "scores.npy");
}

static bool show_array(const char *path, void *context) {
    const Inspection *folder = context;
    Inspection at = inspect_at(path, folder->json, folder->err);
    if (!inspected_array.is(path))
        return true;
    if (at.json == NULL) {
        printf("%s\n", SHOWN(path_name(path)));
        return inspected_array.show(&at);
    }
    bool ok = true;
    JSON_PUT_OBJECT(at.json, NULL) {
        json_put_string(at.json, "name", path_name(path));
        ok = inspected_array.show(&at);
    }
    return ok;
}

static bool show_predictions(const Inspection *at) { return show_list(at, "arrays", show_array); }

const Inspected inspected_predictions = {"predictions", NULL, is_predictions, show_predictions};

// ---- the kind "report"

static bool is_page(const char *path) {
    char head[1024];
    return inspect_ends(path, ".html") && file_head(path, head, sizeof head) > 0 &&
           strstr(head, "<title>fringe report</title>") != NULL;
}

static bool show_page(const Inspection *at) {
    double bytes = (double)file_size(at->path);
    if (at->json != NULL)
        json_put_double(at->json, "bytes", bytes);
    else
        printf("report     a page of curves, times and messages, %s\n"
               "           open it in a browser; its runs are listed by: fringe runs FOLDER\n",
               SHOWN_BYTES(bytes));
    return true;
}

const Inspected inspected_page = {"report", NULL, is_page, show_page};
