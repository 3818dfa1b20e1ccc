// The table of renamed keys. In files that a run wrote the old name is read as the new one.
// Elsewhere it is an error that names the new one, and `fringe config upgrade` rewrites it.

#include "internal.h"

#include <stdio.h>
#include <string.h>

typedef struct Renamed {
    const char *old, *new; // "section.key"; all keys of an old section go to the same new one
} Renamed;

static const Renamed renamed[] = {
    {"data.prepare", "data.transforms"},
    {"train.rate", "train.lr"},
    {"train.epsilon", "train.eps"},
    {"train.clip", "train.clip_norm"},
    {"train.schedule", "train.lr_schedule"},
    {"train.step_epochs", "train.lr_step_size"},
    {"train.step_factor", "train.lr_gamma"},
    {"messages.codec", "quantization.codec"},
    {"messages.assign", "quantization.assign"},
    {"messages.widths", "quantization.bits"},
    {"messages.first_width", "quantization.initial_bits"},
    {"messages.parameters", "quantization.scale_dtype"},
    {"messages.period", "quantization.period"},
    {"messages.delay", "quantization.delay"},
    {"messages.group_size", "quantization.group_size"},
    {"messages.lambda", "quantization.lambda"},
    {"messages.sensitivity", "quantization.sensitivity"},
    {"messages.time", "quantization.time"},
    {"messages.wait", "quantization.wait"},
    {"messages.link", "quantization.link"},
    {"messages.solver", "quantization.solver"},
    {"messages.solver_limit", "quantization.solver_limit"},
    {"lossless.layer0", "lossless.input_features"},
    {"lossless.train_rows", "lossless.receptive_field"},
    {"comm.piece", "comm.chunk"},
    {"run.vectors", "run.simd"},
};
enum { RENAMED = sizeof renamed / sizeof renamed[0] };

const char *config_new_name(const char *path) {
    for (int i = 0; i < RENAMED; i++)
        if (strcmp(renamed[i].old, path) == 0)
            return renamed[i].new;
    return NULL;
}

bool config_new_section(const char *section, char out[CONFIG_WORD]) {
    size_t length = strlen(section);
    if (config_is_section(section))
        return false;
    for (int i = 0; i < RENAMED; i++)
        if (strncmp(renamed[i].old, section, length) == 0 && renamed[i].old[length] == '.') {
            snprintf(out, CONFIG_WORD, "%.*s", (int)strcspn(renamed[i].new, "."), renamed[i].new);
            return true;
        }
    return false;
}

// --- rewriting a text

// A walk through valid JSON text. The key points into the text, without its quotes.
typedef struct Walk {
    const char *at;
    int depth;                 // open objects and arrays
    char section[CONFIG_WORD]; // the key at depth 1 that was read last
    const char *key;
    int length;
} Walk;

static const char *after_string(const char *at) {
    for (at++; *at != '"'; at++)
        at += *at == '\\';
    return at + 1;
}

static bool next_key(Walk *walk) {
    while (*walk->at != 0) {
        char letter = *walk->at;
        const char *begin = walk->at + 1;
        walk->at = letter == '"' ? after_string(walk->at) : begin;
        walk->depth += (letter == '{' || letter == '[') - (letter == '}' || letter == ']');
        if (letter != '"' || walk->at[strspn(walk->at, " \t\r\n")] != ':')
            continue;
        walk->key = begin;
        walk->length = (int)(walk->at - begin) - 1;
        return true;
    }
    return false;
}

// The new name of the key at which the walk stands, NULL if it has none. It may be a key of a
// section, a section, or "section.key" at the top.
static const char *name_now(Walk *walk, char name[2 * CONFIG_WORD]) {
    char path[2 * CONFIG_WORD];
    if (walk->length >= CONFIG_WORD)
        return NULL;
    if (walk->depth == 1) {
        snprintf(walk->section, sizeof walk->section, "%.*s", walk->length, walk->key);
        const char *whole = config_new_name(walk->section);
        return whole != NULL ? whole : config_new_section(walk->section, name) ? name : NULL;
    }
    snprintf(path, sizeof path, "%s.%.*s", walk->section, walk->length, walk->key);
    const char *new = walk->depth == 2 ? config_new_name(path) : NULL;
    return new != NULL ? strchr(new, '.') + 1 : NULL;
}

static void append(char *out, size_t *used, const char *text, size_t bytes) {
    memcpy(out + *used, text, bytes);
    *used += bytes;
    out[*used] = 0;
}

// Returns the text with new names (0 terminated, memory_free it). *count: the names changed.
static char *with_new_names(const char *text, int *count) {
    size_t bytes = strlen(text), used = 0;
    char *out = ALLOC(char, bytes * 4 + 64, "config with new names"); // no name grows fourfold
    char name[2 * CONFIG_WORD];
    Walk walk = {.at = text};
    const char *copied = text;
    *count = 0;
    while (next_key(&walk)) {
        const char *new = name_now(&walk, name);
        if (new == NULL ||
            ((int)strlen(new) == walk.length && strncmp(new, walk.key, (size_t)walk.length) == 0))
            continue;
        append(out, &used, copied, (size_t)(walk.key - copied));
        append(out, &used, new, strlen(new));
        copied = walk.key + walk.length;
        (*count)++;
    }
    append(out, &used, copied, (size_t)(text + bytes - copied));
    return out;
}

static bool is_json(const char *text, size_t bytes, const char *path, Error *err) {
    Error syntax = {0};
    Json *json = json_parse(text, bytes, path, &syntax);
    json_free(json);
    return json != NULL || error_set(err, EXIT_CONFIG, "%s", syntax.text);
}

bool config_upgrade(const char *path, int *count, Error *err) {
    size_t bytes;
    *count = 0;
    char *text = file_read(path, 1 << 26, &bytes, err);
    if (text == NULL)
        return false;
    if (is_json(text, bytes, path, err)) {
        char *out = with_new_names(text, count);
        if (!is_json(out, strlen(out), path, err)) // a key may be there under both names
            error_prefix(err, "with new names");
        else if (*count > 0)
            file_replace(path, out, strlen(out), err);
        memory_free(out);
    }
    memory_free(text);
    return err->code == 0;
}
