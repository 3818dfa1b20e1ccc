// fringe inspect of a stream: its folder, its stream.json, a snapshot, a checkpoint.

#include "inspect.h"

// What inspect_each looks for.
typedef struct Search {
    char found[PATH_BYTES]; // ""; "checkpoints/events-N": the last one
    int count;
} Search;

// ---- which of the kinds

// Whether folder/name, or the file if it has that name, has the member "format" with that text.
static bool has_format(const char *path, const char *name, const char *format) {
    if (!inspect_is_named(path, name) && !inspect_holds(path, name))
        return false;
    CLEARED(json_drop)
    Json *document = inspect_read(inspect_at(path, NULL, NULL).folder, name, &(Error){0});
    return strcmp(json_get_text(document, "format"), format) == 0;
}

static bool is_one_checkpoint(const char *path) {
    return has_format(path, "checkpoint.json", "fringe-stream-checkpoint");
}

// The one with the largest number comes last.
static bool look_at_checkpoint(const char *path, void *context) {
    Search *search = context;
    if (strncmp(path_name(path), "events-", 7) == 0 && is_one_checkpoint(path))
        snprintf(search->found, sizeof search->found, "%s", path);
    return true;
}

// The newest checkpoint in a folder of checkpoints; false if there is none.
static bool find_newest(Search *search, const char *folder) {
    *search = (Search){.count = 0};
    inspect_each(folder, look_at_checkpoint, search);
    return search->found[0] != 0;
}

static bool is_checkpoint(const char *path) {
    Search search;
    return is_one_checkpoint(path) || find_newest(&search, path);
}

static bool is_snapshot(const char *path) {
    return has_format(path, "stream.json", "fringe-stream-snapshot");
}

// Also one that was stopped, or killed before its first checkpoint.
static bool is_stream(const char *path) {
    Search search;
    if (has_format(path, "stream.json", "fringe-stream"))
        return true;
    return file_is_folder(path) && inspect_holds(path, ".fringe") &&
           (find_newest(&search, PATH_IN(path, "checkpoints")) ||
            (inspect_holds(path, "snapshots") && !inspect_holds(path, "run.json")));
}

// ---- what stream.json says

static int64_t whole(const Json *d, const char *key) { return (int64_t)json_get_amount(d, key); }

static void print_figures(const Json *d) {
    printf("hypergraph %ld nodes, %ld hyperedges, %ld pins\n", whole(d, "nodes"),
           whole(d, "hyperedges"), whole(d, "pins"));
    printf("replicas   %ld (replication factor %.3f), %ld rows per layer\n", whole(d, "replicas"),
           json_get_number(d, "replication_factor"), whole(d, "rows_per_layer"));
    printf("cut        %ld hyperedges (%.1f %%), connectivity - 1: %ld\n",
           whole(d, "cut_hyperedges"), 100 * json_get_number(d, "cut_share"),
           whole(d, "connectivity_minus_1"));
    printf("balance    most pins of a part %.3f x the mean; workload deviation %.3f\n",
           json_get_number(d, "load_balance"), json_get_number(d, "workload_cov"));
    printf("remarks    %ld repeated, %ld skipped, %ld placed while all parts were full\n",
           whole(d, "repeated"), whole(d, "skipped"), whole(d, "placed_overfull"));
}

// ---- the kind "snapshot"

static void print_snapshot(const Inspection *at, const Json *d) {
    const char *name = json_get_text(d, "name");
    printf("snapshot   %s: after event %ld, %ld parts by %s\n", SHOWN(name), whole(d, "events"),
           whole(d, "parts"), SHOWN(json_get_text(d, "score")));
    print_figures(d);
    printf("train      with --set data.path=%s --set partition.method=file:%s/%s\n",
           SHOWN(at->folder), SHOWN(at->folder), SHOWN(name));
}

static bool show_snapshot(const Inspection *at) {
    return inspect_document(at, "stream.json", "snapshot", print_snapshot) &&
           (!at->is_folder || inspected_dataset.show(at));
}

const Inspected inspected_snapshot = {"snapshot", NULL, is_snapshot, show_snapshot};

// ---- the kind "stream-checkpoint"

static bool is_whole(const char *folder, Error *err) {
    CLEARED(json_drop) Json *document = inspect_read(folder, "checkpoint.json", err);
    const Json *files = json_get_of(document, "files", JSON_OBJECT);
    for (const Json *f = json_first(files); f != NULL && err->code == 0; f = json_next(f)) {
        char hash[33];
        const char *file = PATH_IN(folder, json_key(f));
        if (hash_file(file, hash, err) && strcmp(hash, json_get_text(files, json_key(f))) != 0)
            error_data(err, "%s is damaged: its bytes have changed since it was written", file);
    }
    return err->code == 0;
}

static void print_options(const Json *options) {
    const char *between = "options   ";
    for (const Json *o = json_first(options); o != NULL; o = json_next(o)) {
        CLEARED(json_writer_clear) JsonWriter value = {0};
        json_writer_init(&value, false);
        json_put_value(&value, NULL, o);
        printf("%s %s=%s", between, SHOWN(json_key(o)), SHOWN(value.text));
        between = ",";
    }
    printf("\n");
}

static void print_checkpoint(UNUSED const Inspection *at, const Json *d) {
    printf("checkpoint of a stream, after event %ld; its files are as they were written\n",
           whole(d, "events"));
    printf("source     goes on at byte %ld, line %ld of a text\n", whole(d, "offset"),
           whole(d, "line"));
    print_options(json_get_of(d, "options", JSON_OBJECT));
}

static bool show_checkpoint(const Inspection *at) {
    Search search;
    bool inside = !is_one_checkpoint(at->path) && find_newest(&search, at->path);
    Inspection one = inspect_at(inside ? search.found : at->path, at->json, at->err);
    if (!is_whole(one.folder, at->err))
        return false;
    if (at->json != NULL)
        json_put_string(at->json, "folder", one.folder);
    return inspect_document(&one, "checkpoint.json", "checkpoint", print_checkpoint);
}

const Inspected inspected_stream_checkpoint = {"stream-checkpoint", NULL, is_checkpoint,
                                               show_checkpoint};

// ---- the kind "stream"

static bool print_name(const char *path, void *context) {
    Search *search = context;
    Json *d = is_snapshot(path) ? inspect_read(path, "stream.json", &(Error){0}) : NULL;
    if (d != NULL)
        printf("%s %s (after event %ld)", search->count++ == 0 ? "snapshots " : ",",
               SHOWN(path_name(path)), whole(d, "events"));
    json_free(d);
    return true;
}

static bool put_name(const char *path, void *context) {
    if (is_snapshot(path))
        json_put_string(context, NULL, path_name(path));
    return true;
}

static void print_end(UNUSED const Inspection *at, const Json *d) {
    printf("stream     finished: %ld events of %s, %ld parts by %s\n", whole(d, "events"),
           SHOWN(json_get_text(d, "source")), whole(d, "parts"), SHOWN(json_get_text(d, "score")));
    print_figures(d);
    printf("time       %s for events of the last command; the longest %s\n",
           SHOWN_SECONDS(json_get_number(d, "seconds")),
           SHOWN_SECONDS(json_get_number(d, "event_longest_us") / 1e6));
}

static void print_inside(const char *folder) {
    Search search = {.count = 0};
    inspect_each(PATH_IN(folder, "snapshots"), print_name, &search);
    if (search.count > 0)
        printf("\n");
    if (find_newest(&search, PATH_IN(folder, "checkpoints")))
        printf("checkpoint %s\n", SHOWN(search.found));
    runfolder_print(&terminal_tables, folder);
}

static void put_inside(JsonWriter *w, const char *folder) {
    Search search;
    JSON_PUT_ARRAY(w, "snapshots")
        inspect_each(PATH_IN(folder, "snapshots"), put_name, w);
    bool found = find_newest(&search, PATH_IN(folder, "checkpoints"));
    json_put_string(w, "checkpoint", found ? search.found : NULL);
}

static bool show_stream(const Inspection *at) {
    bool ended = inspect_holds(at->folder, "stream.json");
    if (ended && !inspect_document(at, "stream.json", "stream", print_end))
        return false;
    if (!ended && at->json == NULL)
        printf("stream     unfinished: --resume auto goes on from its newest checkpoint\n");
    if (at->is_folder && at->json != NULL)
        put_inside(at->json, at->folder);
    else if (at->is_folder)
        print_inside(at->folder);
    return true;
}

const Inspected inspected_stream = {"stream", NULL, is_stream, show_stream};
