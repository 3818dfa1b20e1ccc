// If this failed, lines would wrap on a terminal, or a path could not be copied from one line.

#include "support.h"

#include "fringe/base/terminal.h"

static const char *broken(const char *line, int width) {
    static char out[SCREEN_BROKEN(400)];
    out[screen_break(out, line, strlen(line), width)] = 0;
    return out;
}

TEST(text_breaks_at_words_behind_its_label) {
    assert_string_equal(broken("warning    one two three four", 20),
                        "warning    one two\n           three\n           four\n");
    assert_string_equal(broken("fringe: one two three four five", 20),
                        "fringe: one two\n        three four\n        five\n");
    assert_string_equal(broken("a line that fits", 16), "a line that fits\n");
    assert_string_equal(broken("", 20), "\n");
}

TEST(lists_of_two_columns_stay_so) {
    assert_string_equal(broken("  --runs N  one two three four", 22),
                        "  --runs N  one two\n            three four\n");
}

TEST(a_path_that_is_too_long_stands_alone) {
    assert_string_equal(broken("folder     /a/very/long/path/of/a/run is full", 20),
                        "folder\n/a/very/long/path/of/a/run\n           is full\n");
}

// A letter of several bytes takes one column.
TEST(columns_are_counted_not_bytes) {
    assert_string_equal(broken("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4 \xc3\xa4\xc3\xa4", 7),
                        "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4 \xc3\xa4\xc3\xa4\n");
}
