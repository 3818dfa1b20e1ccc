// If this failed, a file that is not JSON would be taken for one with another meaning, or what we
// write could not be read back.

#include "support.h"

#include <float.h>
#include <sys/resource.h>

static Json *parse(const char *text, Error *err) {
    *err = (Error){0};
    return json_parse(text, strlen(text), "t.json", err);
}

// RFC 8259, and the gaps of cJSON listed in TRAPS 15. The place is where a reader would look.
TEST(bad_texts_are_refused_at_their_place) {
    static const struct {
        const char *text, *place;
    } bad[] = {
        {"", "t.json:1:1: the text ends"},
        {" \n ", "t.json:2:2: the text ends"},
        {"{\"a\": 1, \"a\": 2}", "t.json:1:10: the key \"a\" is there twice"},
        {"{\"a\": 1,\n \"\\u0061\": 2}", "t.json:2:2: the key"}, // the same key, escaped
        {"{\"x\": [{\"b\": 1, \"c\": 1, \"b\": 3}]}", "t.json:1:25: the key \"b\""},
        {"1e400", "t.json:1:1: this number is too large"},
        {"[-1e999]", "t.json:1:2: this number is too large"},
        {"01", "t.json:1:1: a number may not begin with 0"},
        {"[-012]", "t.json:1:2: a number may not begin with 0"},
        {"+1", "t.json:1:1: expected a value, found '+'"},
        {".5", "t.json:1:1: expected a value"},
        {"5.", "t.json:1:3: the text ends where a digit"},
        {"[1.e3]", "t.json:1:4: expected a digit, found 'e'"},
        {"1e", "t.json:1:3: the text ends"},
        {"-", "t.json:1:2: the text ends"},
        {"[-]", "t.json:1:3: expected a digit"},
        {"0x10", "t.json:1:2: something follows"},
        {"NaN", "t.json:1:1: expected a value, found 'NaN'; JSON has true, false, null"},
        {"Infinity", "t.json:1:1: expected a value"},
        {"nul", "t.json:1:1: expected a value"},
        {"True", "t.json:1:1: expected a value"},
        {"truex", "t.json:1:5: something follows"},
        {"9007199254740993", "t.json:1:1: this integer is beyond 2^53"},
        {"-9007199254740993", "t.json:1:1: this integer is beyond 2^53"},
        {"[1234567890123456789012]", "t.json:1:2: this integer is beyond 2^53"},
        {"0.1234567890123456789012345678901234567890123456789012345678901", "more than 60"},
        {"{\"a\": 1} x", "t.json:1:10: something follows"},
        {"{}{}", "t.json:1:3: something follows"},
        {"[1, 2,]", "t.json:1:7: expected a value, found ']'; remove the comma before it"},
        {"[,1]", "t.json:1:2: expected a value"},
        {"[1 2]", "t.json:1:4: expected ',' or ']', found '2'"},
        {"[1", "t.json:1:3: the text ends where ',' or ']'"},
        {"{\"a\":1, }", "t.json:1:9: expected a key in double quotes, found '}'; remove the comma"},
        {"{a: 1}", "t.json:1:2: expected a key in double quotes, found 'a'"},
        {"{'a': 1}",
         "t.json:1:2: expected a key in double quotes, found '''; JSON quotes texts by \""},
        {"{\"a\" 1}", "t.json:1:6: expected ':' after the key"},
        {"{\"a\":}", "t.json:1:6: expected a value"},
        {"{\"a\": 1 \"b\": 2}", "t.json:1:9: expected ',' or '}'"},
        {"{", "t.json:1:2: the text ends where a key"},
        {"]", "t.json:1:1: expected a value"},
        {"// comment\n1", "t.json:1:1: expected a value, found '/'; JSON has no comments"},
        {"[1] /* end */", "t.json:1:5: something follows"},
        {"\"abc", "t.json:1:1: this string has no closing quote"},
        {"\"abc\\", "t.json:1:5: the text ends inside a string"},
        {"\"a\nb\"", "t.json:1:3: line break inside a string"},
        {"\"a\tb\"", "t.json:1:3: control character"},
        {"\"\\x41\"", "t.json:1:2: unknown escape"},
        {"\"\\u12g4\"", "t.json:1:2: \\u needs four"},
        {"\"\\u12\"", "t.json:1:2: \\u needs four"},
        {"\"a\\u0000b\"", "t.json:1:3: \\u0000 is not allowed"},
        {"\"\\ud800\"", "t.json:1:2: first half of a surrogate"},
        {"\"\\ud800\\u0041\"", "t.json:1:2: first half of a surrogate"},
        {"\"\\udc00\"", "t.json:1:2: second half of a surrogate"},
        {"\"\xff\"", "t.json:1:2: not UTF-8"},
        {"\"\xc0\xaf\"", "t.json:1:2: not UTF-8"},           // overlong
        {"\"\xe0\x80\xaf\"", "t.json:1:2: not UTF-8"},       // overlong
        {"\"\xed\xa0\x80\"", "t.json:1:2: not UTF-8"},       // surrogate
        {"\"\xf4\x90\x80\x80\"", "t.json:1:2: not UTF-8"},   // above U+10FFFF
        {"\"\xe2\x82\"", "t.json:1:2: not UTF-8"},           // cut short
        {"\"\xc3\xa4\xc3\xa4\" x", "t.json:1:6: something"}, // columns are characters
        {"\xef\xbb\xbf{}", "t.json:1:1: begins with a byte-order"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_refused(parse(bad[i].text, &err), EXIT_DATA, bad[i].place);
}

TEST(a_zero_byte_is_no_json) {
    static const char inside[] = "{\"a\0\": 1}", after[] = "{}\0";
    assert_refused(json_parse(inside, sizeof inside - 1, "z", &err), EXIT_DATA,
                   "control character");
    assert_refused(json_parse(after, sizeof after, "z", &err), EXIT_DATA, "follows");
}

// Text that ends exactly at the end of its memory: a byte more read is seen by AddressSanitizer.
TEST(every_prefix_of_a_document_is_refused) {
    static const char whole[] =
        "{\"a\": [1, -2.5e3, true, null, \"x\\u00e4\\ud83d\\ude00\xc3\xa4\"],"
        " \"b\": {\"c\": false}}";
    size_t bytes = sizeof whole - 1;
    for (size_t length = 0; length <= bytes; length++) {
        char *text = malloc(length > 0 ? length : 1);
        memcpy(text, whole, length);
        Error err = {0};
        Json *json = json_parse(text, length, "prefix", &err);
        assert_true((json != NULL) == (length == bytes));
        assert_true((json != NULL) == (err.code == 0));
        json_free(json);
        free(text);
    }
}

static Json *nested(int depth, Error *err) {
    char text[256];
    memset(text, '[', (size_t)depth);
    memset(text + depth, ']', (size_t)depth);
    *err = (Error){0};
    return json_parse(text, 2 * (size_t)depth, "deep", err);
}

TEST(depth_ends_at_64) {
    Json *json = assert_ok(nested(64, &err));
    assert_non_null(json);
    json_free(json);
    assert_refused(nested(65, &err), EXIT_DATA, "deep:1:65: nested deeper");
}

// A value takes a hundred bytes once it is parsed, two in the text: the text's size bounds nothing.
TEST(more_values_than_memory_should_hold_are_refused) {
    enum { BYTES = 64 << 20 };
    static const char *const units[] = {"0,", "[],", "{},", "\"\","};
    char *text = TEST_ARRAY(char, BYTES);
    for (size_t u = 0; u < sizeof units / sizeof units[0]; u++) {
        size_t length = strlen(units[u]), used = 1;
        text[0] = '[';
        for (; used + length + 2 < BYTES; used += length)
            memcpy(text + used, units[u], length);
        memcpy(text + used, "0]", 2);
        struct rusage usage;
        assert_refused(json_parse(text, used + 2, "zeros", &err), EXIT_DATA,
                       "more than 4 million values");
        getrusage(RUSAGE_SELF, &usage);
        assert_true(usage.ru_maxrss < 512 << 10); // KiB; the text alone has 64 MiB
    }
}

// A hundred thousand keys, one of them twice, in a blink: the search is not quadratic.
TEST(a_duplicate_among_many_keys_is_found) {
    enum { KEYS = 100000 };
    CLEARED(json_writer_clear) JsonWriter writer = {0};
    json_writer_init(&writer, false);
    json_begin_object(&writer, NULL);
    for (int i = 0; i < KEYS; i++) {
        const char *key = test_text("key %d", i == KEYS - 1 ? 17 : i);
        json_put_int(&writer, key, i);
    }
    json_end_object(&writer);
    double begin = clock_seconds();
    assert_refused(json_parse(writer.text, writer.bytes, "many", &err), EXIT_DATA,
                   "the key \"key 17\" is there twice");
    assert_true(clock_seconds() - begin < 5);
}

TEST(values_are_what_the_text_says) {
    OWNED(Json) *json =
        assert_ok(parse(" {\"n\": -1.25e2, \"i\": 9007199254740992, \"t\": true, \"f\": false, "
                        "\"z\": null,\r\n\t\"s\": \"\\ud83d\\ude00\\n\\/\", \"a\": [1, [], {}], "
                        "\"N\": 3, \"e\": 1e2} ",
                        &err));
    assert_true(json_number(json_get(json, "n")) == -125.0);
    int64_t integer;
    assert_true(json_is_int64(json_get(json, "i"), &integer) && integer == (int64_t)1 << 53);
    assert_true(json_is_int64(json_get(json, "e"), &integer) && integer == 100);
    assert_true(json_is_int64(json_get(json, "N"), &integer) && integer == 3); // exact case
    assert_false(json_is_int64(json_get(json, "s"), &integer));
    assert_true(json_bool(json_get(json, "t")) && !json_bool(json_get(json, "f")));
    assert_int_equal(json_type(json_get(json, "z")), JSON_NULL);
    assert_string_equal(json_string(json_get(json, "s")), "\xf0\x9f\x98\x80\n/");
    assert_null(json_get(json, "T"));
    const Json *array = json_get(json, "a");
    assert_int_equal(json_size(array), 3);
    const Json *second = json_next(json_first(array));
    assert_int_equal(json_type(second), JSON_ARRAY);
    assert_null(json_first(second));
    assert_int_equal(json_type(json_next(second)), JSON_OBJECT);
    assert_null(json_next(json_next(second)));
    assert_string_equal(json_key(json_first(json)), "n");
}

TEST(a_member_of_another_type_is_none) {
    Error err;
    OWNED(Json) *json =
        parse("{\"n\": 2.5, \"i\": 7, \"s\": \"t\", \"a\": [1], \"z\": null}", &err);
    const Json *array = json_get_of(json, "a", JSON_ARRAY);
    int64_t integer = 3;
    assert_true(json_number(json_first(array)) == 1);
    assert_null(json_get_of(json, "a", JSON_OBJECT));
    assert_non_null(json_get_of(json, "z", JSON_NULL));
    assert_null(json_get_of(array, "a", JSON_ARRAY)); // an array has no members
    assert_null(json_first(json_get_of(NULL, "a", JSON_ARRAY)));
    assert_string_equal(json_get_text(json, "s"), "t");
    assert_string_equal(json_get_text(json, "n"), "");
    assert_true(json_get_number(json, "n") == 2.5);
    assert_true(isnan(json_get_number(json, "s")));
    assert_false(json_get_int(json, "n", &integer) || json_get_int(json, "s", &integer));
    assert_int_equal(integer, 3);
    assert_true(json_get_int(json, "i", &integer) && integer == 7);
}

TEST(what_is_written_reads_back) {
    static const double numbers[] = {0, 0.1, 1.0 / 3, -1e-300, DBL_MAX, DBL_MIN, 5e-324, 123456789};
    enum { NUMBERS = sizeof numbers / sizeof numbers[0] };
    static const char text[] = "quote \" slash \\ line \n tab \t bell \a umlaut \xc3\xa4";
    for (int pretty = 0; pretty < 2; pretty++) {
        CLEARED(json_writer_clear) JsonWriter writer = {0};
        json_writer_init(&writer, pretty);
        JSON_PUT_OBJECT(&writer, NULL) {
            JSON_PUT_ARRAY(&writer, "numbers") {
                for (int i = 0; i < NUMBERS; i++)
                    json_put_double(&writer, NULL, numbers[i]);
                json_put_float(&writer, NULL, 0.1f);
                json_put_double(&writer, NULL, NAN);
                json_put_float(&writer, NULL, INFINITY);
            }
            json_begin_object(&writer, "empty");
            json_end_object(&writer);
            json_put_string(&writer, text, text);
            json_put_string(&writer, "broken",
                            "a\xff"
                            "b");
            json_put_string(&writer, "none", NULL);
            json_put_bool(&writer, "yes", true);
            json_put_int(&writer, "int", -((int64_t)1 << 53));
        }

        OWNED(Json) *json = assert_ok(parse(writer.text, &err));
        const Json *number = json_first(json_get(json, "numbers"));
        for (int i = 0; i < NUMBERS; i++, number = json_next(number))
            assert_true(json_number(number) == numbers[i]);
        assert_true((float)json_number(number) == 0.1f);
        assert_int_equal(json_type(json_next(number)), JSON_NULL);
        assert_int_equal(json_type(json_next(json_next(number))), JSON_NULL);
        assert_string_equal(json_string(json_get(json, text)), text);
        assert_string_equal(json_string(json_get(json, "broken")), "a\xef\xbf\xbd"
                                                                   "b");
        assert_int_equal(json_size(json_get(json, "empty")), 0);
    }
}

TEST(numbers_are_written_with_the_fewest_digits) {
    CLEARED(json_writer_clear) JsonWriter writer = {0};
    json_writer_init(&writer, false);
    json_begin_array(&writer, NULL);
    json_put_double(&writer, NULL, 0.1);
    json_put_float(&writer, NULL, 0.1f);
    json_put_double(&writer, NULL, 100);
    json_put_double(&writer, NULL, 0.30000000000000004); // 0.1 + 0.2
    json_put_double(&writer, NULL, 1e30);
    json_end_array(&writer);
    assert_string_equal(writer.text, "[0.1, 0.1, 100, 0.30000000000000004, 1e+30]");
}

// metrics and manifests are looked at with cat, configs with `config show`.
TEST(what_a_terminal_would_obey_is_escaped) {
    static const char obeyed[] = "\033]0;t\007 \177 \xc2\x9b \xe2\x80\xae \xc3\xa9";
    CLEARED(json_writer_clear) JsonWriter writer = {0};
    json_writer_init(&writer, false);
    json_begin_array(&writer, NULL);
    json_put_string(&writer, NULL, obeyed);
    json_end_array(&writer);
    assert_string_equal(writer.text, "[\"\\u001b]0;t\\u0007 \\u007f \\u009b \\u202e \xc3\xa9\"]");
    OWNED(Json) *json = assert_ok(parse(writer.text, &err));
    assert_string_equal(json_string(json_first(json)), obeyed);
}
