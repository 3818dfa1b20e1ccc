// Reading JSON: first the strict scanner of json_scan.c, then cJSON, which accepts far more than
// JSON (TRAPS 15). Only this file uses cJSON. A Json is a cJSON node under another name.

#include "fringe/base/json.h"
#include "fringe/base/file.h"
#include "internal.h"

#include <cjson/cJSON.h>

Json *json_parse(const char *text, size_t bytes, const char *name, Error *err) {
    if (bytes > JSON_BYTES) {
        error_data(err, "%s: %zu bytes of JSON, more than the %d that are read", name, bytes,
                   JSON_BYTES);
        return NULL;
    }
    if (!json_scan(text, bytes, name, err))
        return NULL;
    cJSON *document = cJSON_ParseWithLength(text, bytes);
    if (document == NULL)
        error_set(err, EXIT_MEMORY, "%s: no memory to hold its JSON", name);
    return (Json *)document;
}

Json *json_read(const char *path, Error *err) {
    size_t bytes;
    FREED char *text = file_read(path, JSON_BYTES, &bytes, err);
    return text != NULL ? json_parse(text, bytes, path, err) : NULL;
}

void json_free(Json *document) { cJSON_Delete((cJSON *)document); }

// --- reading values

static const cJSON *item(const Json *value) { return (const cJSON *)value; }

JsonType json_type(const Json *value) {
    switch (item(value)->type & 0xff) {
    case cJSON_False:
    case cJSON_True:
        return JSON_BOOL;
    case cJSON_Number:
        return JSON_NUMBER;
    case cJSON_String:
        return JSON_STRING;
    case cJSON_Array:
        return JSON_ARRAY;
    case cJSON_Object:
        return JSON_OBJECT;
    default:
        return JSON_NULL;
    }
}

const char *json_type_name(JsonType type) {
    static const char *const names[] = {"null",     "true or false", "a number",
                                        "a string", "a list",        "an object"};
    return names[type];
}

const char *json_key(const Json *value) { return item(value)->string; }

const Json *json_get(const Json *object, const char *key) {
    return (const Json *)cJSON_GetObjectItemCaseSensitive(item(object), key);
}

const Json *json_get_of(const Json *object, const char *key, JsonType type) {
    bool holds = object != NULL && json_type(object) == JSON_OBJECT;
    const Json *value = holds ? json_get(object, key) : NULL;
    return value != NULL && json_type(value) == type ? value : NULL;
}

const char *json_get_text(const Json *object, const char *key) {
    const Json *value = json_get_of(object, key, JSON_STRING);
    return value != NULL ? json_string(value) : "";
}

double json_get_number(const Json *object, const char *key) {
    const Json *value = json_get_of(object, key, JSON_NUMBER);
    return value != NULL ? json_number(value) : NAN;
}

double json_get_amount(const Json *object, const char *key) {
    double number = json_get_number(object, key);
    return isnan(number) ? 0 : number;
}

bool json_get_bool(const Json *object, const char *key) {
    const Json *value = json_get_of(object, key, JSON_BOOL);
    return value != NULL && json_bool(value);
}

bool json_get_int(const Json *object, const char *key, int64_t *out) {
    const Json *value = json_get_of(object, key, JSON_NUMBER);
    return value != NULL && json_is_int64(value, out);
}

bool json_copy_text(const Json *object, const char *key, char *out, size_t size) {
    const Json *value = json_get_of(object, key, JSON_STRING);
    return value != NULL && (size_t)snprintf(out, size, "%s", json_string(value)) < size;
}

const Json *json_first(const Json *container) {
    return container != NULL ? (const Json *)item(container)->child : NULL;
}

const Json *json_next(const Json *value) { return (const Json *)item(value)->next; }

int64_t json_size(const Json *container) {
    int64_t count = 0;
    for (const Json *entry = json_first(container); entry != NULL; entry = json_next(entry))
        count++;
    return count;
}

bool json_bool(const Json *value) {
    assert(json_type(value) == JSON_BOOL);
    return (item(value)->type & 0xff) == cJSON_True;
}

double json_number(const Json *value) {
    assert(json_type(value) == JSON_NUMBER);
    return item(value)->valuedouble;
}

bool json_is_int64(const Json *value, int64_t *out) {
    if (json_type(value) != JSON_NUMBER)
        return false;
    double number = item(value)->valuedouble;
    if (fabs(number) > JSON_LARGEST_INTEGER || floor(number) != number)
        return false;
    *out = (int64_t)number;
    return true;
}

const char *json_string(const Json *value) {
    assert(json_type(value) == JSON_STRING);
    return item(value)->valuestring;
}
