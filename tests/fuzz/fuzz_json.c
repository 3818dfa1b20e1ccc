// The reader of JSON that everything but large maps of classes goes through: what the strict
// scanner lets pass, cJSON understands, and what is written again is read as the same.

#include "fuzz.h"

#include "fringe/base/json.h"

// The text of a value, to be freed by json_writer_clear.
static void write_value(JsonWriter *writer, const Json *value) {
    json_writer_init(writer, false);
    json_put_value(writer, NULL, value);
}

static int64_t count_values(const Json *value) {
    int64_t count = 1, integer;
    JsonType type = json_type(value);
    FUZZ_CHECK(json_type_name(type) != NULL);
    if (type == JSON_STRING)
        FUZZ_CHECK(json_string(value) != NULL);
    if (type == JSON_NUMBER && json_is_int64(value, &integer))
        FUZZ_CHECK((double)integer == json_number(value));
    if (type != JSON_OBJECT && type != JSON_ARRAY)
        return count;
    for (const Json *entry = json_first(value); entry != NULL; entry = json_next(entry)) {
        if (type == JSON_OBJECT)
            FUZZ_CHECK(json_get(value, json_key(entry)) == entry); // no key occurs twice
        count += count_values(entry);
    }
    return count;
}

static void read_again(const Json *document) {
    JsonWriter once, twice;
    Error err = {0};
    write_value(&once, document);
    Json *again = json_parse(once.text, once.bytes, "again", &err);
    FUZZ_CHECK(again != NULL && err.code == 0);
    FUZZ_CHECK(count_values(again) == count_values(document));
    write_value(&twice, again);
    FUZZ_CHECK(strcmp(once.text, twice.text) == 0);
    json_writer_clear(&twice);
    json_free(again);
    json_writer_clear(&once);
}

FUZZER {
    CLEARED(json_drop) Json *document = json_parse((const char *)bytes, count, "fuzz", &err);
    fuzz_verdict(document != NULL, &err);
    if (document != NULL)
        read_again(document);
}
