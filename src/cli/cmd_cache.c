// fringe cache: lists the entries of data.cache, and removes those that no command needs any more.
// A removed entry is made again by the next command that misses it.

#include "internal.h"

static const char *const kind_names[] = {"source", "fitted", "dataset", "parts", "temporary"};
enum { NAME_COLUMNS = 26, DAY = 24 * 3600, PRUNED_DAYS = 30 };

// ---- list

static const char *short_name(const char *text, char out[2 * NAME_COLUMNS]) {
    snprintf(out, 2 * NAME_COLUMNS, "%.*s%s", NAME_COLUMNS - 3, text,
             strlen(text) > NAME_COLUMNS - 3 ? "..." : "");
    return out;
}

static const char *remark_on(const CacheEntry *entry) {
    if (entry->kind == CACHE_TEMPORARY)
        return entry->is_used ? "being written" : "left over";
    return entry->is_used ? "in use" : "";
}

void cache_print_entry(const CacheEntry *entry) {
    char name[2 * NAME_COLUMNS], parts[16] = "";
    if (entry->parts > 0)
        snprintf(parts, sizeof parts, "%d", entry->parts);
    terminal_print("%-9s  %-*s %6s  %9s  %9s%s%s\n", kind_names[entry->kind], NAME_COLUMNS,
                   SHOWN(short_name(entry->dataset, name)), parts, SHOWN_BYTES(entry->bytes),
                   SHOWN_AGE(entry->age), remark_on(entry)[0] != 0 ? "  " : "", remark_on(entry));
}

void cache_put_entry(JsonWriter *w, const CacheEntry *entry) {
    JSON_PUT_OBJECT(w, NULL) {
        JSON_PUT(w, PAIR("path", entry->path), PAIR("kind", kind_names[entry->kind]),
                 PAIR("dataset", entry->dataset));
        if (entry->kind == CACHE_PARTS)
            json_put_int(w, "parts", entry->parts);
        JSON_PUT(w, PAIR("bytes", entry->bytes), PAIR("age_seconds", entry->age),
                 PAIR("in_use", entry->is_used));
    }
}

static double bytes_of(const CacheList *list) {
    double bytes = 0;
    for (int i = 0; i < list->count; i++)
        bytes += list->entry[i].bytes;
    return bytes;
}

void cache_print_list(const CacheList *list, const char *cache) {
    if (list->count > 0)
        terminal_print("%-9s  %-*s %6s  %9s  %9s\n", "kind", NAME_COLUMNS, "dataset", "parts",
                       "size", "last used");
    for (int i = 0; i < list->count; i++)
        cache_print_entry(&list->entry[i]);
    terminal_print("%stotal      %d entr%s, %s, in\n%s\n", list->count > 0 ? "\n" : "", list->count,
                   list->count == 1 ? "y" : "ies", SHOWN_BYTES(bytes_of(list)), SHOWN(cache));
}

void cache_put_list(JsonWriter *w, const CacheList *list, const char *cache) {
    JSON_PUT(w, PAIR("cache", cache), PAIR("bytes", bytes_of(list)));
    JSON_PUT_ARRAY(w, "entries")
        for (int i = 0; i < list->count; i++)
            cache_put_entry(w, &list->entry[i]);
}

// ---- prune

// "30d", "12h", "2w": seconds.
static bool read_age(const char *text, double *seconds, Error *err) {
    static const struct {
        char letter;
        double seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', DAY}, {'w', 7 * DAY}};
    char *end;
    long number = strtol(text, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (end != text && number >= 0 && end[0] == units[i].letter && end[1] == 0) {
            *seconds = (double)number * units[i].seconds;
            return true;
        }
    return error_usage(
        err, "--older: expected a number and one of s, m (minutes), h, d, w, as in 30d; found '%s'",
        SHOWN(text));
}

typedef struct Pruning {
    double older; // seconds
    int removed, used, young;
    double bytes;
    JsonWriter *writer; // of a JSON list of those that were removed
} Pruning;

static bool prune_entry(Pruning *p, const CacheEntry *entry, Error *err) {
    bool old = entry->kind == CACHE_TEMPORARY || entry->age >= p->older;
    p->young += !old;
    if (!old)
        return true;
    if (!entry->is_used && cache_remove(entry, err)) {
        p->removed++;
        p->bytes += entry->bytes;
        cache_put_entry(p->writer, entry);
    } else {
        p->used += err->code == 0;
    }
    return err->code == 0;
}

static void print_pruned(const Pruning *p, const char *cache) {
    terminal_print("removed    %d entr%s, %s, from\n%s\n", p->removed,
                   p->removed == 1 ? "y" : "ies", SHOWN_BYTES(p->bytes), SHOWN(cache));
    if (p->used > 0)
        terminal_print("kept       %d that a running command uses\n", p->used);
    if (p->young > 0)
        terminal_print("kept       %d used more recently; --all removes them too\n", p->young);
}

static void prune(const CacheList *list, const char *cache, const Options *options, Error *err) {
    CLEARED(json_writer_clear) JsonWriter w = {0};
    Pruning p = {.older = PRUNED_DAYS * DAY, .writer = &w};
    if (options->older != NULL && !read_age(options->older, &p.older, err))
        return;
    if (options->all)
        p.older = 0;
    json_writer_begin(&w, true);
    json_put_string(&w, "cache", cache);
    JSON_PUT_ARRAY(&w, "removed")
        for (int i = 0; i < list->count; i++) { // an entry that stays does not keep the others
            Error stays = {0};
            prune_entry(&p, &list->entry[i], &stays);
            if (err->code == 0)
                *err = stays;
        }
    JSON_PUT(&w, PAIR("bytes", p.bytes), PAIR("kept_in_use", p.used), PAIR("kept_young", p.young));
    json_end_object(&w);
    if (options->json)
        terminal_print("%s\n", w.text);
    else
        print_pruned(&p, cache);
}

// ---- the command

static void print_list(const CacheList *list, const char *cache, bool json) {
    JsonWriter w;
    if (!json) {
        cache_print_list(list, cache);
        return;
    }
    json_writer_begin(&w, true);
    cache_put_list(&w, list, cache);
    print_object(&w, &terminal_sink);
}

static bool check(const Options *options, const char *action, Error *err) {
    bool pruning = strcmp(action, "prune") == 0;
    if (!pruning && strcmp(action, "list") != 0)
        return error_usage(err, "cache: expected list or prune, found '%s'", SHOWN(action));
    if (!pruning && (options->all || options->older != NULL))
        return error_usage(err, "cache: --all and --older go with fringe cache prune");
    if (options->all && options->older != NULL)
        return error_usage(err, "cache prune: give --all or --older, not both");
    return true;
}

ExitCode cmd_cache(const Options *options, Error *err) {
    const char *action = options->arguments > 0 ? options->argument[0] : "list";
    Config config;
    CLEARED(cache_list_clear) CacheList list = {0};
    if (check(options, action, err) &&
        config_load(&config, NULL, options->setting, options->settings, err) &&
        cache_list(&list, config.data.cache, err)) {
        if (strcmp(action, "prune") == 0)
            prune(&list, config.data.cache, options, err);
        else
            print_list(&list, config.data.cache, options->json);
    }
    return (ExitCode)err->code;
}
