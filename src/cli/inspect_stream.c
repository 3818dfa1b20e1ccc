// fringe inspect of a stream: its folder, its stream.json, a snapshot, a checkpoint.

#include "inspect.h"

#include <math.h>
#include <string.h>

// What inspect_each looks for.
typedef struct Search {
    char found[PATH_BYTES]; // ""; "checkpoints/events-N": the last one
    int count;
} Search;

// ---- which of the kinds

// The member "format" of folder/name, or of the file if it has that name; "": there is none.
static void read_format(char out[64], const char *path, const char *name) {
    char folder[PATH_BYTES];
    out[0] = 0;
    if (!inspect_is_named(path, name) && !inspect_holds(path, name))
        return;
    Json *document = inspect_read(inspect_folder(folder, path), name, &(Error){0});
    snprintf(out, 64, "%s", json_get_text(document, "format"));
    json_free(document);
}

static bool has_format(const char *path, const char *name, const char *format) {
    char found[64];
    read_format(found, path, name);
    return strcmp(found, format) == 0;
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
    if (file_is_folder(folder))
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

static long long whole(const Json *document, const char *key) {
    double value = json_get_number(document, key);
    return isnan(value) ? 0 : (long long)value;
}

static void print_figures(const Json *d) {
    printf("hypergraph %lld nodes, %lld hyperedges, %lld pins\n", whole(d, "nodes"),
           whole(d, "hyperedges"), whole(d, "pins"));
    printf("replicas   %lld (replication factor %.3f), %lld rows per layer\n", whole(d, "replicas"),
           json_get_number(d, "replication_factor"), whole(d, "rows_per_layer"));
    printf("cut        %lld hyperedges (%.1f %%), connectivity - 1: %lld\n",
           whole(d, "cut_hyperedges"), 100 * json_get_number(d, "cut_share"),
           whole(d, "connectivity_minus_1"));
    printf("balance    most pins of a part %.3f x the mean; workload deviation %.3f\n",
           json_get_number(d, "load_balance"), json_get_number(d, "workload_cov"));
    printf("remarks    %lld repeated, %lld skipped, %lld placed while all parts were full\n",
           whole(d, "repeated"), whole(d, "skipped"), whole(d, "placed_overfull"));
}

// ---- the kind "snapshot"

static bool print_snapshot(const char *path, Error *err) {
    char folder[PATH_BYTES];
    Json *d = inspect_read(inspect_folder(folder, path), "stream.json", err);
    if (d == NULL)
        return false;
    const char *name = json_get_text(d, "name");
    printf("snapshot   %s: after event %lld, %lld parts by %s\n", SHOWN(name), whole(d, "events"),
           whole(d, "parts"), SHOWN(json_get_text(d, "score")));
    print_figures(d);
    printf("train      with --set data.path=%s --set partition.method=file:%s/%s\n", SHOWN(folder),
           SHOWN(folder), SHOWN(name));
    json_free(d);
    return !file_is_folder(path) || dataset_inspect(&terminal_tables, path, err);
}

static bool put_snapshot(JsonWriter *w, const char *path, Error *err) {
    char folder[PATH_BYTES];
    Json *document = inspect_read(inspect_folder(folder, path), "stream.json", err);
    if (document == NULL)
        return false;
    json_put_value(w, "snapshot", document);
    json_free(document);
    return !file_is_folder(path) || dataset_put_inspected(w, path, err);
}

const Inspected inspected_snapshot = {"snapshot", is_snapshot, print_snapshot, put_snapshot};

// ---- the kind "stream-checkpoint"

// Its manifest, once the hashes of its files are found right. json_free it.
static Json *read_checkpoint(char folder[PATH_BYTES], const char *path, Error *err) {
    Search search;
    bool inside = !is_one_checkpoint(path) && find_newest(&search, path);
    inspect_folder(folder, inside ? search.found : path);
    Json *document = inspect_read(folder, "checkpoint.json", err);
    const Json *files = json_get_of(document, "files", JSON_OBJECT);
    for (const Json *f = json_first(files); f != NULL && err->code == 0; f = json_next(f)) {
        char hash[33];
        const char *file = PATH_IN(folder, json_key(f));
        if (hash_file(file, hash, err) && strcmp(hash, json_get_text(files, json_key(f))) != 0)
            error_set(err, EXIT_DATA, "%s is damaged: its bytes have changed since it was written",
                      file);
    }
    if (err->code == 0)
        return document;
    json_free(document);
    return NULL;
}

static void print_options(const Json *options) {
    JsonWriter value;
    const char *between = "options   ";
    for (const Json *o = json_first(options); o != NULL; o = json_next(o)) {
        json_writer_init(&value, false);
        json_put_value(&value, NULL, o);
        printf("%s %s=%s", between, SHOWN(json_key(o)), SHOWN(value.text));
        json_writer_clear(&value);
        between = ",";
    }
    printf("\n");
}

static bool print_checkpoint(const char *path, Error *err) {
    char folder[PATH_BYTES];
    Json *d = read_checkpoint(folder, path, err);
    if (d == NULL)
        return false;
    printf("checkpoint of a stream, after event %lld; its files are as they were written\n",
           whole(d, "events"));
    printf("source     goes on at byte %lld, line %lld of a text\n", whole(d, "offset"),
           whole(d, "line"));
    print_options(json_get_of(d, "options", JSON_OBJECT));
    json_free(d);
    return true;
}

static bool put_checkpoint(JsonWriter *w, const char *path, Error *err) {
    char folder[PATH_BYTES];
    Json *document = read_checkpoint(folder, path, err);
    if (document == NULL)
        return false;
    json_put_string(w, "folder", folder);
    json_put_value(w, "checkpoint", document);
    json_free(document);
    return true;
}

const Inspected inspected_stream_checkpoint = {"stream-checkpoint", is_checkpoint, print_checkpoint,
                                               put_checkpoint};

// ---- the kind "stream"

static bool print_name(const char *path, void *context) {
    Search *search = context;
    Json *d = is_snapshot(path) ? inspect_read(path, "stream.json", &(Error){0}) : NULL;
    if (d != NULL)
        printf("%s %s (after event %lld)", search->count++ == 0 ? "snapshots " : ",",
               SHOWN(path_name(path)), whole(d, "events"));
    json_free(d);
    return true;
}

static bool put_name(const char *path, void *context) {
    if (is_snapshot(path))
        json_put_string(context, NULL, path_name(path));
    return true;
}

static void print_end(const Json *d) {
    char seconds[QUANTITY];
    printf("stream     finished: %lld events of %s, %lld parts by %s\n", whole(d, "events"),
           SHOWN(json_get_text(d, "source")), whole(d, "parts"), SHOWN(json_get_text(d, "score")));
    print_figures(d);
    printf("time       %s for events of the last command; the longest %s\n",
           quantity_seconds(seconds, json_get_number(d, "seconds")),
           quantity_seconds((char[QUANTITY]){0}, json_get_number(d, "event_longest_us") / 1e6));
}

static void print_inside(const char *folder) {
    char inside[PATH_BYTES];
    Search search = {.count = 0};
    path_join(inside, sizeof inside, folder, "snapshots");
    inspect_each(inside, print_name, &search);
    if (search.count > 0)
        printf("\n");
    path_join(inside, sizeof inside, folder, "checkpoints");
    if (find_newest(&search, inside))
        printf("checkpoint %s\n", SHOWN(search.found));
    runfolder_print(&terminal_tables, folder);
}

static bool print_stream(const char *path, Error *err) {
    char folder[PATH_BYTES];
    inspect_folder(folder, path);
    Json *document =
        inspect_holds(folder, "stream.json") ? inspect_read(folder, "stream.json", err) : NULL;
    if (document != NULL)
        print_end(document);
    else if (err->code == 0)
        printf("stream     unfinished: --resume auto goes on from its newest checkpoint\n");
    json_free(document);
    if (err->code == 0 && file_is_folder(path))
        print_inside(folder);
    return err->code == 0;
}

static void put_inside(JsonWriter *w, const char *folder) {
    char inside[PATH_BYTES];
    Search search;
    path_join(inside, sizeof inside, folder, "snapshots");
    json_begin_array(w, "snapshots");
    inspect_each(inside, put_name, w);
    json_end_array(w);
    path_join(inside, sizeof inside, folder, "checkpoints");
    json_put_string(w, "checkpoint", find_newest(&search, inside) ? search.found : NULL);
}

static bool put_stream(JsonWriter *w, const char *path, Error *err) {
    char folder[PATH_BYTES];
    inspect_folder(folder, path);
    Json *document =
        inspect_holds(folder, "stream.json") ? inspect_read(folder, "stream.json", err) : NULL;
    if (document != NULL)
        json_put_value(w, "stream", document);
    json_free(document);
    if (err->code == 0 && file_is_folder(path))
        put_inside(w, folder);
    return err->code == 0;
}

const Inspected inspected_stream = {"stream", is_stream, print_stream, put_stream};
