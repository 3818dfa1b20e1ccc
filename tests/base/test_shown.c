// If this failed, a name in a file could write on the terminal of whoever looks at it.

#include "support.h"

TEST(what_a_terminal_would_obey_is_shown) {
    static const char *const pairs[][2] = {
        {"caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80 /a b", NULL},
        {"", NULL},
        {"\033]0;title\007", "\\u001b]0;title\\u0007"},
        {"two\nlines\r\t", "two\\u000alines\\u000d\\u0009"},
        {"\177", "\\u007f"},
        {"\xc2\x9b"
         "31m",
         "\\u009b31m"},              // CSI in one letter
        {"\xe2\x80\xae", "\\u202e"}, // right to left from here
        {"\xe2\x81\xa6", "\\u2066"},
        {"\xd8\x9c\xe2\x80\x8e", "\\u061c\\u200e"},
        {"a\xff\xc3", "a\\xff\\xc3"},                          // no UTF-8
        {"\x9b", "\\x9b"},                                     // CSI as one byte
        {"\xc0\x9b\xed\xa0\x80", "\\xc0\\x9b\\xed\\xa0\\x80"}, // overlong, half a pair
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        assert_string_equal(SHOWN(pairs[i][0]), pairs[i][pairs[i][1] != NULL]);
}

TEST(a_long_text_is_cut_between_letters) {
    char out[6];
    assert_string_equal(text_shown(out, sizeof out, "1234\xc3\xa9"), "1234");
    assert_string_equal(text_shown(out, sizeof out, "123\xc3\xa9"), "123\xc3\xa9");
    assert_string_equal(text_shown(out, sizeof out, "1\033"), "1");
}

TEST(a_list_grows_as_far_as_it_fits) {
    char list[9] = "";
    text_add(list, sizeof list, ", ", "%d", 1);
    assert_string_equal(list, "1");
    text_add(list, sizeof list, " or ", "%s", "23456");
    assert_string_equal(list, "1 or 234");
    text_add(list, sizeof list, ", ", "%d", 7);
    assert_string_equal(list, "1 or 234");
}
