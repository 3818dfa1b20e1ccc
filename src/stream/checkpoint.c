// Checkpoints: checkpoints/events-N, a folder with the state of the partitioner and
// checkpoint.json, which is written last and holds the hashes of the other files. The one before is
// removed when the new one is in its place.
#include "internal.h"

static const char *const files[] = {"hypergraph.safetensors", "homes.safetensors"};
enum { FILES = sizeof files / sizeof *files };

// ---- the options that the state depends on

static void put_options(JsonWriter *out, const char *name, const SrpOptions *o) {
    JSON_PUT_OBJECT(out, name)
        JSON_PUT(out, PAIR("parts", o->parts), PAIR("stream.score", o->score),
                 PAIR("stream.refine", o->during ? "during or both" : "after or none"),
                 PAIR("stream.window", o->window), PAIR("stream.iterations", o->iterations),
                 PAIR("stream.epsilon", o->epsilon), PAIR("stream.capacity", o->capacity),
                 PAIR("stream.votes", o->window_votes ? "window" : "all"),
                 PAIR("stream.balance", o->window_balance ? "window" : "global"),
                 PAIR("partition.seed", (int64_t)o->seed));
}

// ---- writing

static void put_hashes(JsonWriter *out, const char *folder, Error *err) {
    JSON_PUT_OBJECT(out, "files")
        for (int i = 0; err->code == 0 && i < FILES; i++) {
            char hash[33];
            if (hash_file(PATH_IN(folder, files[i]), hash, err))
                json_put_string(out, files[i], hash);
        }
}

static bool write_manifest(const Stream *stream, EventPlace place, const char *folder, Error *err) {
    JsonWriter out;
    char before[32];
    snprintf(before, sizeof before, "%016lx", place.before);
    json_writer_begin(&out, true);
    JSON_PUT(&out, PAIR("format", "fringe-stream-checkpoint"), PAIR("version", 1),
             PAIR("events", stream->events), PAIR("offset", place.offset), PAIR("line", place.line),
             PAIR("before", before));
    put_options(&out, "options", &stream->options);
    put_hashes(&out, folder, err);
    return json_writer_store(&out, PATH_IN(folder, "checkpoint.json"), err);
}

static void checkpoint_path(char *out, size_t size, const Stream *stream, int64_t events) {
    char name[64];
    snprintf(name, sizeof name, "events-%ld", events);
    path_join(out, size, PATH_IN(stream->request->folder, "checkpoints"), name);
}

// The N of "events-N"; -1 for another name.
static int64_t events_of(const char *name) {
    static const char prefix[] = "events-";
    char *end = NULL;
    if (strncmp(name, prefix, strlen(prefix)) != 0)
        return -1;
    long long events = strtoll(name + strlen(prefix), &end, 10);
    return end != name + strlen(prefix) && *end == '\0' && events >= 0 ? events : -1;
}

// Removes all but the one after `events` events.
static bool remove_others(const Stream *stream, int64_t events, Error *err) {
    const char *above = PATH_IN(stream->request->folder, "checkpoints");
    bool ok = true;
    for (FileNames in = file_names(above); file_next(&in, ok);) {
        int64_t other = events_of(in.name);
        if (other >= 0 && other != events)
            ok = file_remove(PATH_IN(above, in.name), err);
    }
    return ok;
}

static bool write_folder(Stream *stream, EventPlace place, const char *folder, Error *err) {
    return file_make_folder(folder, err) && srp_write(stream->srp, folder, err) &&
           write_manifest(stream, place, folder, err) && file_sync(folder, err);
}

bool stream_checkpoint(Stream *stream, EventPlace place, Error *err) {
    char folder[PATH_BYTES], writing[PATH_BYTES];
    const char *above = PATH_IN(stream->request->folder, "checkpoints");
    checkpoint_path(folder, sizeof folder, stream, stream->events);
    if (!file_make_folder(above, err) || !file_temporary(writing, sizeof writing, folder, err))
        return false;
    file_sweep(above);
    // One after as many events is of the same state, or of a source that has been mended since.
    bool ok = write_folder(stream, place, writing, err) && file_take_place(writing, folder, err) &&
              remove_others(stream, stream->events, err);
    if (!ok)
        file_remove(writing, &(Error){0});
    return ok;
}

// ---- reading

static int64_t newest(const Stream *stream) {
    int64_t best = -1;
    FileNames in = file_names(PATH_IN(stream->request->folder, "checkpoints"));
    while (file_next(&in, true)) {
        int64_t events = events_of(in.name);
        best = events > best ? events : best;
    }
    return best;
}

static bool hashes_match(const Json *manifest, const char *folder, Error *err) {
    const Json *hashes = json_get(manifest, "files");
    for (int i = 0; i < FILES; i++) {
        char hash[33];
        const char *path = PATH_IN(folder, files[i]);
        if (!hash_file(path, hash, err))
            return false;
        if (strcmp(json_get_text(hashes, files[i]), hash) != 0)
            return error_data(err,
                              "%s is damaged: its bytes have changed since it was written; start "
                              "the stream again without --resume",
                              path);
    }
    return true;
}

// One value as JSON text; "nothing" for NULL.
static void write_value(JsonWriter *out, const Json *value) {
    json_writer_init(out, false);
    if (value != NULL)
        json_put_value(out, NULL, value);
}

// Adds "KEY was A, is B" to a list for a sentence.
static void add_difference(char *list, size_t size, const char *key, const Json *then,
                           const Json *now) {
    CLEARED(json_writer_clear) JsonWriter old, new;
    write_value(&old, then);
    write_value(&new, now);
    if (strcmp(old.text, new.text) != 0)
        text_add(list, size, "; ", "%s was %s, is %s", key, then != NULL ? old.text : "not known",
                 new.text);
}

static Json *options_now(const Stream *stream) {
    CLEARED(json_writer_clear) JsonWriter out;
    json_writer_init(&out, false);
    put_options(&out, NULL, &stream->options);
    return json_parse(out.text, strlen(out.text), "options", &(Error){0});
}

static bool options_match(const Stream *stream, const Json *manifest, const char *folder,
                          Error *err) {
    char differ[1024] = "";
    CLEARED(json_drop) Json *now = options_now(stream);
    const Json *then = json_get_of(manifest, "options", JSON_OBJECT);
    for (const Json *option = json_first(now); option != NULL; option = json_next(option))
        add_difference(differ, sizeof differ, json_key(option),
                       then != NULL ? json_get(then, json_key(option)) : NULL, option);
    return differ[0] == '\0' ||
           error_config(err,
                        "%s was written with other options: %s; go on with the same ones, or start "
                        "the stream again without --resume",
                        folder, differ);
}

static bool read_place(const Json *manifest, EventPlace *place) {
    char *end = NULL;
    const char *before = json_get_text(manifest, "before");
    place->before = strtoull(before, &end, 16);
    return *before != '\0' && *end == '\0' && json_get_int(manifest, "events", &place->events) &&
           json_get_int(manifest, "offset", &place->offset) &&
           json_get_int(manifest, "line", &place->line);
}

static bool restore_from(Stream *stream, const Json *manifest, const char *folder, Error *err) {
    EventPlace place;
    if (strcmp(json_get_text(manifest, "format"), "fringe-stream-checkpoint") != 0 ||
        !read_place(manifest, &place))
        return error_data(err, "%s/checkpoint.json is not that of a stream", folder);
    if (!options_match(stream, manifest, folder, err) || !hashes_match(manifest, folder, err) ||
        !srp_read(stream->srp, folder, err))
        return false;
    stream->events = place.events;
    return !event_reader_can_seek(stream->reader) || event_reader_seek(stream->reader, &place, err);
}

bool stream_restore(Stream *stream, bool *found, Error *err) {
    char folder[PATH_BYTES];
    int64_t events = newest(stream);
    *found = events >= 0;
    if (!*found)
        return true;
    progress_begin("resume", "after event %ld", events);
    checkpoint_path(folder, sizeof folder, stream, events);
    CLEARED(json_drop) Json *manifest = json_read(PATH_IN(folder, "checkpoint.json"), err);
    bool ok = manifest != NULL && restore_from(stream, manifest, folder, err);
    progress_end("");
    return ok;
}
