// Writing JSON. The idea: the writer knows at each depth whether a comma is needed, so callers only
// name values. Numbers are written with the fewest digits that read back the same.

#include "fringe/base/file.h"
#include "fringe/base/json.h"
#include "fringe/base/text.h"
#include "internal.h"

static void put_bytes(JsonWriter *writer, const char *bytes, size_t count) {
    writer->text = json_grown(writer->text, writer->bytes, count + 1, &writer->room);
    memcpy(writer->text + writer->bytes, bytes, count);
    writer->bytes += count;
    writer->text[writer->bytes] = 0;
}

static void put(JsonWriter *writer, const char *text) { put_bytes(writer, text, strlen(text)); }

void json_writer_init(JsonWriter *writer, bool pretty) {
    *writer = (JsonWriter){.pretty = pretty};
    put(writer, "");
}

void json_writer_begin(JsonWriter *writer, bool pretty) {
    json_writer_init(writer, pretty);
    json_begin_object(writer, NULL);
}

bool json_writer_store(JsonWriter *writer, const char *path, Error *err) {
    if (writer->depth > 0)
        json_end_object(writer);
    if (err->code == 0)
        file_replace(path, writer->text, writer->bytes, err);
    json_writer_clear(writer);
    return err->code == 0;
}

void json_writer_clear(JsonWriter *writer) {
    free(writer->text);
    *writer = (JsonWriter){0};
}

static void new_line(JsonWriter *writer) {
    if (!writer->pretty)
        return;
    put(writer, "\n");
    for (int i = 0; i < writer->depth; i++)
        put(writer, "  ");
}

// Bytes that are not UTF-8 (file names may hold them) become U+FFFD, so that the text stays JSON.
// Characters that control a terminal are escaped too, since users print JSON files with cat.
static void put_quoted(JsonWriter *writer, const char *value) {
    put(writer, "\"");
    for (const unsigned char *at = (const unsigned char *)value; *at != 0;) {
        char escape[8];
        size_t length = utf8_length(at, strnlen((const char *)at, 4));
        if (*at == '"' || *at == '\\') {
            snprintf(escape, sizeof escape, "\\%c", *at);
            put(writer, escape);
        } else if (*at == '\n') {
            put(writer, "\\n");
        } else if (length == 0) {
            put(writer, "\xEF\xBF\xBD");
        } else if (utf8_is_command(at, length)) {
            snprintf(escape, sizeof escape, "\\u%04x", utf8_point(at, length));
            put(writer, escape);
        } else {
            put_bytes(writer, (const char *)at, length);
        }
        at += length > 0 ? length : 1;
    }
    put(writer, "\"");
}

// Writes what precedes a value: the comma, the line break, the key.
static void put_key(JsonWriter *writer, const char *key) {
    if (writer->after_value[writer->depth])
        put(writer, writer->pretty ? "," : ", ");
    writer->after_value[writer->depth] = true;
    if (writer->depth > 0)
        new_line(writer);
    if (key != NULL) {
        put_quoted(writer, key);
        put(writer, ": ");
    }
}

static void begin(JsonWriter *writer, const char *key, const char *bracket) {
    put_key(writer, key);
    put(writer, bracket);
    writer->depth++;
    assert(writer->depth < (int)(sizeof writer->after_value / sizeof writer->after_value[0]));
    writer->after_value[writer->depth] = false;
}

static void end(JsonWriter *writer, const char *bracket) {
    bool empty = !writer->after_value[writer->depth];
    assert(writer->depth > 0);
    writer->depth--;
    if (!empty)
        new_line(writer);
    put(writer, bracket);
    if (writer->pretty && writer->depth == 0)
        put(writer, "\n");
}

void json_begin_object(JsonWriter *writer, const char *key) { begin(writer, key, "{"); }
void json_end_object(JsonWriter *writer) { end(writer, "}"); }
void json_begin_array(JsonWriter *writer, const char *key) { begin(writer, key, "["); }
void json_end_array(JsonWriter *writer) { end(writer, "]"); }

void json_put_string(JsonWriter *writer, const char *key, const char *value) {
    put_key(writer, key);
    if (value == NULL)
        put(writer, "null");
    else
        put_quoted(writer, value);
}

void json_put_int(JsonWriter *writer, const char *key, int64_t value) {
    char text[32];
    put_key(writer, key);
    snprintf(text, sizeof text, "%ld", value);
    put(writer, text);
}

// Writes the fewest significant digits that read back the same; whole numbers have no exponent.
static void put_number(JsonWriter *writer, double value, int most_digits, bool single) {
    char text[40] = "null";
    bool whole = fabs(value) < 1e15 && floor(value) == value;
    if (whole)
        snprintf(text, sizeof text, "%.0f", value);
    for (int digits = 1; !whole && isfinite(value) && digits <= most_digits; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value)
            break;
    }
    put(writer, text);
    // an integer beyond 2^53 would be refused
    if (fabs(value) > JSON_LARGEST_INTEGER && isfinite(value) && strpbrk(text, ".e") == NULL)
        put(writer, ".0");
}

void json_put_double(JsonWriter *writer, const char *key, double value) {
    put_key(writer, key);
    put_number(writer, value, 17, false);
}

void json_put_list(JsonWriter *writer, const char *key, const double *value, int64_t count) {
    json_begin_array(writer, key);
    for (int64_t i = 0; i < count; i++)
        json_put_double(writer, NULL, value[i]);
    json_end_array(writer);
}

void json_put_float(JsonWriter *writer, const char *key, float value) {
    put_key(writer, key);
    put_number(writer, (double)value, 9, true);
}

void json_put_bool(JsonWriter *writer, const char *key, bool value) {
    put_key(writer, key);
    put(writer, value ? "true" : "false");
}

void json_put_pairs(JsonWriter *writer, const JsonPair *pairs) {
    for (const JsonPair *at = pairs; at->key != NULL; at++)
        if (at->type == PAIR_TEXT)
            json_put_string(writer, at->key, at->text);
        else if (at->type == PAIR_INT)
            json_put_int(writer, at->key, at->integer);
        else if (at->type == PAIR_DOUBLE)
            json_put_double(writer, at->key, at->number);
        else
            json_put_bool(writer, at->key, at->integer);
}

void json_put_value(JsonWriter *writer, const char *key, const Json *value) {
    bool object = json_type(value) == JSON_OBJECT;
    switch (json_type(value)) {
    case JSON_OBJECT:
    case JSON_ARRAY:
        (object ? json_begin_object : json_begin_array)(writer, key);
        for (const Json *at = json_first(value); at != NULL; at = json_next(at))
            json_put_value(writer, object ? json_key(at) : NULL, at);
        (object ? json_end_object : json_end_array)(writer);
        break;
    case JSON_STRING:
        json_put_string(writer, key, json_string(value));
        break;
    case JSON_BOOL:
        json_put_bool(writer, key, json_bool(value));
        break;
    case JSON_NUMBER:
        json_put_double(writer, key, json_number(value));
        break;
    case JSON_NULL:
        json_put_string(writer, key, NULL);
        break;
    }
}
