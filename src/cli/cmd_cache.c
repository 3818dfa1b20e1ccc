// fringe cache: lists what is in data.cache, and removes what is no longer needed.

#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {"dataset", "cut", "generated", "leftover"};
static const double default_idle = 30 * 86400.0;

// ---- listing

static void print_entry(const CacheEntry *entry) {
    enum { NAME = 27 };
    char bytes[QUANTITY], age[QUANTITY], idle[QUANTITY], parts[16] = "-";
    const char *name = SHOWN(entry->name[0] != 0 ? entry->name : path_name(entry->path));
    bool alone = strlen(name) > NAME;
    if (entry->parts > 0)
        snprintf(parts, sizeof parts, "%d", entry->parts);
    if (alone)
        terminal_print("%s\n", name);
    terminal_print("%-*s %-9s %5s %9s %8s %8s%s\n", NAME, alone ? "" : name, kinds[entry->kind],
                   parts, quantity_bytes(bytes, (double)entry->bytes),
                   quantity_age(age, entry->age), quantity_age(idle, entry->idle),
                   entry->used ? " in use" : "");
}

static void put_entry(JsonWriter *w, const CacheEntry *entry) {
    json_begin_object(w, NULL);
    json_put_string(w, "path", entry->path);
    json_put_string(w, "kind", kinds[entry->kind]);
    json_put_string(w, "name", entry->name);
    json_put_string(w, "method", entry->method[0] != 0 ? entry->method : NULL);
    json_put_int(w, "parts", entry->parts);
    json_put_int(w, "bytes", entry->bytes);
    json_put_double(w, "age_seconds", entry->age);
    json_put_double(w, "unused_seconds", entry->idle);
    json_put_bool(w, "in_use", entry->used);
    json_end_object(w);
}

void cache_put(JsonWriter *w, const CacheEntries *entries) {
    int64_t bytes = 0;
    json_begin_array(w, "entries");
    for (int i = 0; i < entries->count; i++) {
        put_entry(w, &entries->entry[i]);
        bytes += entries->entry[i].bytes;
    }
    json_end_array(w);
    json_put_int(w, "bytes", bytes);
}

void cache_print(const CacheEntries *entries, const char *cache) {
    char text[QUANTITY];
    int64_t bytes = 0;
    if (entries->count > 0)
        terminal_print("%-27s %-9s %5s %9s %8s %8s\n", "name", "kind", "parts", "size", "age",
                       "last use");
    for (int i = 0; i < entries->count; i++) {
        print_entry(&entries->entry[i]);
        bytes += entries->entry[i].bytes;
    }
    terminal_print("%s%d entr%s, %s in\n%s\n", entries->count > 0 ? "\n" : "", entries->count,
                   entries->count == 1 ? "y" : "ies", quantity_bytes(text, (double)bytes),
                   SHOWN(cache));
}

// ---- pruning

// "30d", "12h", "90min", "45s": seconds. False for anything else.
static bool read_age(const char *text, double *seconds) {
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"d", 86400}, {"h", 3600}, {"min", 60}, {"s", 1}};
    char *end;
    double number = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (end != text && number >= 0 && strcmp(end, units[i].unit) == 0) {
            *seconds = number * units[i].seconds;
            return true;
        }
    return false;
}

static bool is_unwanted(const CacheEntry *entry, double idle) {
    return entry->kind == CACHE_LEFTOVER ||
           (entry->kind != CACHE_GENERATED && !(entry->idle < idle));
}

typedef struct Pruned {
    int count, used;
    int64_t bytes;
} Pruned;

static bool prune(Pruned *pruned, const CacheEntries *entries, double idle, Error *err) {
    for (int i = 0; i < entries->count && err->code == 0; i++) {
        const CacheEntry *entry = &entries->entry[i];
        bool removed = false;
        if (!is_unwanted(entry, idle) || !cache_remove(entry, &removed, err))
            continue;
        pruned->count += removed;
        pruned->used += !removed;
        pruned->bytes += removed ? entry->bytes : 0;
    }
    return err->code == 0;
}

static void tell(const Pruned *pruned, bool json) {
    char bytes[QUANTITY];
    if (json)
        terminal_print("{\"removed\": %d, \"bytes\": %lld, \"in_use\": %d}\n", pruned->count,
                       (long long)pruned->bytes, pruned->used);
    else
        terminal_print("removed    %d entr%s, %s; %d in use stay%s\n", pruned->count,
                       pruned->count == 1 ? "y" : "ies",
                       quantity_bytes(bytes, (double)pruned->bytes), pruned->used,
                       pruned->used == 1 ? "s" : "");
}

static bool prune_cache(const Options *options, const CacheEntries *entries, const char *cache,
                        Error *err) {
    double idle = options->all ? -INFINITY : default_idle;
    Pruned pruned = {0};
    if (options->all && options->older != NULL)
        return error_set(err, EXIT_USAGE, "cache prune: give --all or --older, not both");
    if (options->older != NULL && !read_age(options->older, &idle))
        return error_set(err, EXIT_USAGE,
                         "--older: expected a time such as 30d, 12h, 90min or 45s, found '%s'",
                         options->older);
    bool ok = prune(&pruned, entries, idle, err);
    cache_remove_sources(cache, idle);
    if (ok || pruned.count > 0)
        tell(&pruned, options->json);
    return ok;
}

static void list(const Options *options, const CacheEntries *entries, const char *cache) {
    if (!options->json) {
        cache_print(entries, cache);
        return;
    }
    JsonWriter writer;
    json_writer_init(&writer, false);
    json_begin_object(&writer, NULL);
    json_put_string(&writer, "cache", cache);
    cache_put(&writer, entries);
    json_end_object(&writer);
    terminal_print("%s\n", writer.text);
    json_writer_clear(&writer);
}

ExitCode cmd_cache(const Options *options, int *argc, char ***argv) {
    (void)argc, (void)argv;
    Config config;
    Error err = {0};
    CacheEntries entries = {0};
    bool prunes = options->arguments > 0 && strcmp(options->argument[0], "prune") == 0;
    if (options->arguments > 0 && !prunes)
        error_set(&err, EXIT_USAGE, "cache: expected prune or nothing, found '%s'",
                  options->argument[0]);
    else if (!prunes && (options->all || options->older != NULL))
        error_set(&err, EXIT_USAGE, "cache: --all and --older belong to fringe cache prune");
    else if (config_load(&config, NULL, options->setting, options->settings, &err) &&
             cache_list(&entries, config.data.cache, &err)) {
        if (prunes)
            prune_cache(options, &entries, config.data.cache, &err);
        else
            list(options, &entries, config.data.cache);
    }
    cache_clear(&entries);
    if (err.code != 0)
        print_error(&err);
    return (ExitCode)err.code;
}
