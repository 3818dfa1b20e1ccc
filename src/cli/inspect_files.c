// fringe inspect of what lies inside a run: checkpoints, assignments, the trace, predictions.

#include "inspect.h"

#include <math.h>
#include <string.h>

// Of the files in a folder.
typedef struct Visit {
    JsonWriter *writer; // NULL: print lines
    Error *err;
} Visit;

// ---- the kind "checkpoint"

static bool is_checkpoint(const char *path) {
    return inspect_is_named(path, "checkpoint.json") || inspect_holds(path, "checkpoint.json") ||
           inspect_holds(path, "LATEST");
}

// The folder of the checkpoint: for checkpoints/ that of the newest undamaged one.
static bool find_checkpoint(char folder[PATH_BYTES], const char *path, Error *err) {
    char weights[PATH_BYTES];
    inspect_folder(folder, path);
    if (!inspect_holds(path, "LATEST"))
        return true;
    if (!checkpoint_weights_path(PATH_IN(path, ".."), false, weights, sizeof weights, err))
        return false;
    path_folder(folder, PATH_BYTES, weights);
    return true;
}

static bool print_checkpoint(const char *path, Error *err) {
    char folder[PATH_BYTES];
    return find_checkpoint(folder, path, err) && checkpoint_inspect(&terminal_tables, folder, err);
}

static bool put_file(JsonWriter *w, const char *folder, const char *name, Error *err) {
    Tensors map;
    if (!tensors_open(&map, PATH_IN(folder, name), err))
        return false;
    json_begin_object(w, NULL);
    json_put_string(w, "name", name);
    inspect_put_tensors(w, &map);
    json_end_object(w);
    tensors_close(&map);
    return true;
}

static bool put_files(JsonWriter *w, const char *folder, const Json *files, Error *err) {
    bool ok = true;
    json_begin_array(w, "files");
    for (const Json *f = json_first(files); f != NULL && ok; f = json_next(f))
        ok = put_file(w, folder, json_get_text(f, "name"), err);
    json_end_array(w);
    return ok;
}

// checkpoint_weights_path checks the hashes of all files.
static bool put_checkpoint(JsonWriter *w, const char *path, Error *err) {
    char folder[PATH_BYTES], weights[PATH_BYTES];
    if (!find_checkpoint(folder, path, err) ||
        !checkpoint_weights_path(folder, false, weights, sizeof weights, err))
        return false;
    Json *document = inspect_read(folder, "checkpoint.json", err);
    if (document == NULL)
        return false;
    json_put_value(w, "checkpoint", document);
    bool ok = put_files(w, folder, json_get_of(document, "files", JSON_ARRAY), err);
    json_free(document);
    return ok;
}

const Inspected inspected_checkpoint = {"checkpoint", is_checkpoint, print_checkpoint,
                                        put_checkpoint};

// ---- the kind "assignment"

static bool is_assignment(const char *path) {
    return inspect_ends(path, ".json") && runfolder_epoch_of(path_name(path), ".json") >= 0;
}

static bool find_assignment(const char *path, void *context) {
    bool *found = context;
    *found = is_assignment(path);
    return !*found;
}

static bool is_assignments(const char *path) {
    bool found = is_assignment(path);
    if (file_is_folder(path))
        inspect_each(path, find_assignment, &found);
    return found;
}

static bool print_one(const char *path, void *context) {
    return !is_assignment(path) || inspect_assignment(path, context);
}

static bool print_assignments(const char *path, Error *err) {
    return file_is_folder(path) ? inspect_each(path, print_one, err) : print_one(path, err);
}

static bool put_one(const char *path, void *context) {
    const Visit *visit = context;
    if (!is_assignment(path))
        return true;
    Json *document = inspect_read(FOLDER_OF(path), path_name(path), visit->err);
    if (document != NULL)
        json_put_value(visit->writer, NULL, document);
    json_free(document);
    return visit->err->code == 0;
}

static bool put_assignments(JsonWriter *w, const char *path, Error *err) {
    Visit visit = {w, err};
    json_begin_array(w, "assignments");
    bool ok = file_is_folder(path) ? inspect_each(path, put_one, &visit) : put_one(path, &visit);
    json_end_array(w);
    return ok;
}

const Inspected inspected_assignment = {"assignment", is_assignments, print_assignments,
                                        put_assignments};

// ---- the kind "trace"

typedef struct TraceFacts {
    int64_t events;
    double ranks, first, last; // first, last: epochs
} TraceFacts;

static bool is_trace(const char *path) { return inspect_is_named(path, "trace.json"); }

static bool read_trace(TraceFacts *facts, const char *path, Error *err) {
    const char *folder = FOLDER_OF(path);
    *facts = (TraceFacts){.first = NAN, .last = NAN};
    Json *document = inspect_read(folder, "trace.json", err);
    const Json *events = json_get_of(document, "traceEvents", JSON_ARRAY);
    if (document != NULL && events == NULL)
        error_set(err, EXIT_DATA, "%s: there is no list 'traceEvents' in it", path);
    for (const Json *e = json_first(events); e != NULL; e = json_next(e)) {
        double epoch = json_get_number(json_get_of(e, "args", JSON_OBJECT), "epoch");
        facts->events++;
        facts->ranks = fmax(facts->ranks, json_get_number(e, "pid") + 1);
        facts->first = fmin(facts->first, epoch);
        facts->last = fmax(facts->last, epoch);
    }
    json_free(document);
    return err->code == 0;
}

static bool print_trace(const char *path, Error *err) {
    TraceFacts facts;
    if (!read_trace(&facts, path, err))
        return false;
    printf("trace      %lld events of %.0f ranks, epochs %.0f to %.0f\n", (long long)facts.events,
           facts.ranks, facts.first, facts.last);
    printf("           open it in https://ui.perfetto.dev\n");
    return true;
}

static bool put_trace(JsonWriter *w, const char *path, Error *err) {
    TraceFacts facts;
    if (!read_trace(&facts, path, err))
        return false;
    json_put_int(w, "events", facts.events);
    json_put_double(w, "ranks", facts.ranks);
    json_put_double(w, "first_epoch", facts.first);
    json_put_double(w, "last_epoch", facts.last);
    return true;
}

const Inspected inspected_trace = {"trace", is_trace, print_trace, put_trace};

// ---- the kind "predictions"

static bool is_predictions(const char *path) {
    return inspect_holds(path, "classes.npy") || inspect_holds(path, "scores.npy");
}

static bool show_array(const char *path, void *context) {
    Visit *visit = context;
    if (!inspected_array.is(path))
        return true;
    if (visit->writer == NULL) {
        printf("%s\n", SHOWN(path_name(path)));
        return inspected_array.print(path, visit->err);
    }
    json_begin_object(visit->writer, NULL);
    json_put_string(visit->writer, "name", path_name(path));
    bool ok = inspected_array.put(visit->writer, path, visit->err);
    json_end_object(visit->writer);
    return ok;
}

static bool print_predictions(const char *path, Error *err) {
    return inspect_each(path, show_array, &(Visit){NULL, err});
}

static bool put_predictions(JsonWriter *w, const char *path, Error *err) {
    json_begin_array(w, "arrays");
    bool ok = inspect_each(path, show_array, &(Visit){w, err});
    json_end_array(w);
    return ok;
}

const Inspected inspected_predictions = {"predictions", is_predictions, print_predictions,
                                         put_predictions};

// ---- the kind "report"

static bool is_page(const char *path) {
    char head[1024];
    return inspect_ends(path, ".html") && file_head(path, head, sizeof head) > 0 &&
           strstr(head, "<title>fringe report</title>") != NULL;
}

static bool print_page(const char *path, Error *err) {
    char size[QUANTITY];
    (void)err;
    printf("report     a page of curves, times and messages, %s\n",
           quantity_bytes(size, (double)file_size(path)));
    printf("           open it in a browser; its runs are listed by: fringe runs FOLDER\n");
    return true;
}

static bool put_page(JsonWriter *w, const char *path, Error *err) {
    (void)err;
    json_put_double(w, "bytes", (double)file_size(path));
    return true;
}

const Inspected inspected_page = {"report", is_page, print_page, put_page};
