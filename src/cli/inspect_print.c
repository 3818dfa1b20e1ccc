// Prints the members of a JSON object for people: "name      value" lines, broken at 80 columns.

#include "inspect.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 80, LINE = 8192, LIST_MOST = 32 };

static void print_line(const char *name, const char *value) {
    char line[LINE], out[SCREEN_BROKEN(LINE)];
    snprintf(line, sizeof line, "%-20s  %s", SHOWN(name), SHOWN(value));
    size_t bytes = screen_break(out, line, strlen(line), COLUMNS);
    terminal_print("%.*s", (int)bytes, out);
}

static void scalar(char *out, size_t size, const Json *value) {
    switch (json_type(value)) {
    case JSON_STRING:
        snprintf(out, size, "%s", json_string(value));
        break;
    case JSON_NUMBER:
        snprintf(out, size, json_number(value) == floor(json_number(value)) ? "%.0f" : "%.6g",
                 json_number(value));
        break;
    case JSON_BOOL:
        snprintf(out, size, "%s", json_bool(value) ? "yes" : "no");
        break;
    default:
        snprintf(out, size, "-");
    }
}

static bool is_scalar(const Json *value) {
    return json_type(value) != JSON_OBJECT && json_type(value) != JSON_ARRAY;
}

// "8, 8, 12" of the first entries.
static void print_list(const char *name, const Json *list) {
    char text[LINE] = "", word[1024];
    int count = 0;
    for (const Json *at = json_first(list); at != NULL && count < LIST_MOST; at = json_next(at)) {
        size_t used = strlen(text);
        if (is_scalar(at))
            scalar(word, sizeof word, at);
        else
            snprintf(word, sizeof word, "[%lld]", (long long)json_size(at));
        snprintf(text + used, sizeof text - used, "%s%s", count++ > 0 ? ", " : "", word);
    }
    size_t used = strlen(text);
    if (json_size(list) > LIST_MOST)
        snprintf(text + used, sizeof text - used, ", ... (%lld)", (long long)json_size(list));
    print_line(name, text[0] != 0 ? text : "none");
}

static bool holds_objects(const Json *list) {
    return json_first(list) != NULL && json_type(json_first(list)) == JSON_OBJECT;
}

static void print_member(const char *before, const Json *value);

// Entries are named by their member "name", or else by their number.
static void print_objects(const char *before, const Json *list) {
    int count = 0;
    for (const Json *at = json_first(list); at != NULL && count < LIST_MOST; at = json_next(at)) {
        char name[256];
        const Json *named = json_type(at) == JSON_OBJECT ? json_get(at, "name") : NULL;
        if (named != NULL && json_type(named) == JSON_STRING)
            snprintf(name, sizeof name, "%s", json_string(named));
        else
            snprintf(name, sizeof name, "%.200s.%d", before, count);
        count++;
        for (const Json *in = is_scalar(at) ? NULL : json_first(at); in != NULL; in = json_next(in))
            if (in != named)
                print_member(name, in);
    }
}

static void print_member(const char *before, const Json *value) {
    char name[256], text[2048];
    const char *key = json_key(value);
    if (key == NULL)
        return;
    snprintf(name, sizeof name, "%s%s%s", before, before[0] != 0 ? "." : "", key);
    if (json_type(value) == JSON_ARRAY && holds_objects(value)) {
        print_objects(name, value);
    } else if (json_type(value) == JSON_ARRAY) {
        print_list(name, value);
    } else if (json_type(value) == JSON_OBJECT) {
        for (const Json *at = json_first(value); at != NULL; at = json_next(at))
            print_member(name, at);
    } else {
        scalar(text, sizeof text, value);
        print_line(name, text);
    }
}

void inspect_print_members(const Json *object) {
    for (const Json *at = json_first(object); at != NULL; at = json_next(at))
        print_member("", at);
}
