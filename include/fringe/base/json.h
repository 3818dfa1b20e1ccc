// Standard JSON: a strict scanner (UTF-8, grammar, depth, duplicate keys, number range, with line
// and column) checks the text before cJSON, which accepts far more than JSON (TRAPS 15). Only
// src/base/json.c uses cJSON.
#pragma once

#include "fringe/base/memory.h"

enum { JSON_BYTES = 64 << 20 }; // of the longest text that is read

typedef struct Json Json; // a value inside a document; lives as long as the document
typedef enum JsonType {
    JSON_NULL,
    JSON_BOOL,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
} JsonType;

// Parses `bytes` of text; `name` is its name in messages ("cora.json"). NULL and an error with
// line:column if it is not JSON, is nested deeper than 64, is longer than JSON_BYTES or has more
// than 4 million values (a value takes some 100 bytes). Free the document with json_free.
Json *json_parse(const char *text, size_t bytes, const char *name, Error *err);
Json *json_read(const char *path, Error *err); // file_read and json_parse
void json_free(Json *document);
CLEARED_POINTER(json_drop, Json, json_free)

JsonType json_type(const Json *value);
const char *json_type_name(JsonType type);
const char *json_key(const Json *value);                   // its key in the object that holds it
const Json *json_get(const Json *object, const char *key); // NULL if there is none; case-sensitive
// A member of that type; NULL, "", NaN or false if there is none, or if `object` is NULL or none.
const Json *json_get_of(const Json *object, const char *key, JsonType type);
const char *json_get_text(const Json *object, const char *key);
double json_get_number(const Json *object, const char *key);
double json_get_amount(const Json *object, const char *key); // the number, 0 if there is none
bool json_get_bool(const Json *object, const char *key);
bool json_get_int(const Json *object, const char *key, int64_t *out); // as json_is_int64
// False if there is no text, or a longer one than `out` holds.
bool json_copy_text(const Json *object, const char *key, char *out, size_t size);
const Json *json_first(const Json *container);       // NULL if empty, or of NULL
const Json *json_next(const Json *value);            // NULL at the end
int64_t json_size(const Json *container);            // entries
bool json_bool(const Json *value);                   // of a JSON_BOOL
double json_number(const Json *value);               // of a JSON_NUMBER
bool json_is_int64(const Json *value, int64_t *out); // a number without fraction, |n| <= 2^53
const char *json_string(const Json *value);          // of a JSON_STRING

// Writing: the text grows in one buffer. The writer adds commas and quotes. Numbers are written
// with the fewest digits that read back the same; NaN and infinity become null.
typedef struct JsonWriter {
    char *text; // 0-terminated; owned
    size_t bytes, room;
    int depth;
    bool after_value[72];
    bool pretty; // line breaks, two spaces a level, and a newline at the end of the text
} JsonWriter;
void json_writer_init(JsonWriter *writer, bool pretty);
void json_writer_begin(JsonWriter *writer, bool pretty); // and begins an object
// Writes the whole text to a file, unless *err holds an error before, and clears the writer. Ends
// the object that json_writer_begin began, unless it has ended.
bool json_writer_store(JsonWriter *writer, const char *path, Error *err);
void json_writer_clear(JsonWriter *writer);
// `key` is NULL inside arrays and at the top.
void json_begin_object(JsonWriter *writer, const char *key);
void json_end_object(JsonWriter *writer);
void json_begin_array(JsonWriter *writer, const char *key);
void json_end_array(JsonWriter *writer);
void json_put_string(JsonWriter *writer, const char *key, const char *value); // NULL writes null
void json_put_int(JsonWriter *writer, const char *key, int64_t value);
void json_put_double(JsonWriter *writer, const char *key, double value);
void json_put_float(JsonWriter *writer, const char *key, float value);
void json_put_list(JsonWriter *writer, const char *key, const double *value, int64_t count);
// Several members of an object, each as its type says: JSON_PUT(w, PAIR("name", name),
// PAIR("bytes", bytes)). To C, false, true and comparisons are ints: pair_bool(key, value) makes
// them bools.
typedef enum JsonPairType { PAIR_TEXT, PAIR_INT, PAIR_DOUBLE, PAIR_BOOL } JsonPairType;
typedef struct JsonPair {
    const char *key; // NULL: the end
    JsonPairType type;
    union {
        const char *text;
        int64_t integer; // or bool
        double number;
    };
} JsonPair;
static inline JsonPair pair_text(const char *key, const char *value) {
    return (JsonPair){key, PAIR_TEXT, {.text = value}};
}
static inline JsonPair pair_int(const char *key, int64_t value) {
    return (JsonPair){key, PAIR_INT, {.integer = value}};
}
static inline JsonPair pair_double(const char *key, double value) {
    return (JsonPair){key, PAIR_DOUBLE, {.number = value}};
}
static inline JsonPair pair_bool(const char *key, bool value) {
    return (JsonPair){key, PAIR_BOOL, {.integer = value}};
}
#define PAIR(key, value)                                                                           \
    _Generic((value), char *: pair_text, const char *: pair_text, double: pair_double,             \
        bool: pair_bool, default: pair_int)(key, value)
void json_put_pairs(JsonWriter *writer, const JsonPair *pairs);
#define JSON_PUT(writer, ...) json_put_pairs(writer, (const JsonPair[]){__VA_ARGS__, {NULL}})
// The statement or block that follows puts the members of an object, or the elements of an array;
// it may not be left by return, break or goto.
#define JSON_PUT_OBJECT(writer, key) JSON_WITHIN(writer, key, object, __LINE__)
#define JSON_PUT_ARRAY(writer, key) JSON_WITHIN(writer, key, array, __LINE__)
#define JSON_WITHIN(writer, key, kind, line) JSON_WITHIN_ONCE(writer, key, kind, line)
#define JSON_WITHIN_ONCE(writer, key, kind, line)                                                  \
    for (bool once_##line = (json_begin_##kind((writer), (key)), true); once_##line;               \
         once_##line = (json_end_##kind(writer), false))
void json_put_bool(JsonWriter *writer, const char *key, bool value);
void json_put_value(JsonWriter *writer, const char *key, const Json *value); // a copy
