// If this failed, a warning would be lost, printed twice, or run into the next one.
#include "support.h"

TEST(each_has_a_line_and_stands_once) {
    Warnings all = {0}, more = {0};
    char line[WARNINGS_TEXT];
    assert_string_equal(warnings_join(line, &all), "");
    warnings_add(&all, "part %d is empty", 12);
    warnings_add(&all, "part %d is empty", 1); // a part of another one's line
    warnings_add(&all, "part %d is empty", 12);
    assert_string_equal(all.text, "part 12 is empty\npart 1 is empty");
    warnings_add(&more, "part 1 is empty");
    warnings_add(&more, "100%% of it");
    warnings_add(&more, "part 1 is");
    warnings_add_all(&all, &more);
    assert_string_equal(all.text, "part 12 is empty\npart 1 is empty\n100% of it\npart 1 is");
    assert_string_equal(warnings_join(line, &all),
                        "part 12 is empty; part 1 is empty; 100% of it; part 1 is");
}

TEST(too_many_are_cut) {
    Warnings all = {0};
    char line[WARNINGS_TEXT];
    for (int i = 0; i < 400; i++)
        warnings_add(&all, "%d", 100 + i);
    assert_int_equal(strlen(all.text), WARNINGS_TEXT - 1);
    assert_int_equal(strncmp(all.text, "100\n101\n", 8), 0);
    assert_int_equal(strlen(warnings_join(line, &all)), WARNINGS_TEXT - 1);
}
