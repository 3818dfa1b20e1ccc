// If this failed, a config would get another member than it names, or a wrong name would be
// answered without the right ones.
#include "../support.h"

typedef struct Animal {
    const char *name;
    int legs;
} Animal;

static const Animal cat = {"cat", 4}, hen = {"hen", 2}, from = {"from:BOOK", 0};
static const Animal animals[] = {{"cat", 4}, {"hen", 2}, {"from:BOOK", 0}};
static const Animal *const pointers[] = {&cat, &hen, &from};
static const Family families[] = {FAMILY("zoo.animal", "any", animals),
                                  FAMILY_OF_POINTERS("zoo.animal", "any", pointers)};

TEST(members_are_found_by_name) {
    for (int f = 0; f < 2; f++) {
        const char *argument = NULL;
        const Animal *found = assert_ok(family_find(&families[f], "hen", &argument, &err));
        assert_int_equal(found->legs, 2);
        assert_string_equal(argument, "");
        found = assert_ok(family_find(&families[f], "from:brehm:2", &argument, &err));
        assert_string_equal(found->name, "from:BOOK");
        assert_string_equal(argument, "brehm:2");
        found = assert_ok(family_find(&families[f], "cat", NULL, &err));
        assert_ptr_equal(found, family_member(&families[f], 0));
    }
}

TEST(small_letters_after_a_colon_are_part_of_the_name) {
    static const Animal kinds[] = {{"cat", 4}, {"cat:wild", 5}, {"cat:lives=N", 6}};
    static const Family family = FAMILY("zoo.animal", NULL, kinds);
    const char *argument = NULL;
    const Animal *found = assert_ok(family_find(&family, "cat:wild", &argument, &err));
    assert_int_equal(found->legs, 5);
    assert_string_equal(argument, "");
    found = assert_ok(family_find(&family, "cat:lives=9", &argument, &err));
    assert_int_equal(found->legs, 6);
    assert_string_equal(argument, "9");
    assert_refused(family_find(&family, "cat:tame", NULL, &err) != NULL, EXIT_CONFIG,
                   "found 'cat:tame'");
}

TEST(wrong_names_are_answered) {
    static const char *const words[] = {"cats", "ca", "from", "from:", "hen:", "hen:x", "", "any"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (int f = 0; f < 2; f++)
            assert_refused(family_find(&families[f], words[i], NULL, &err) != NULL, EXIT_CONFIG,
                           "zoo.animal: expected one of cat, hen, from:BOOK, any, found");
    assert_refused(family_find(&families[0], "cats", NULL, &err), EXIT_CONFIG,
                   "did you mean 'cat'?");
}

TEST(the_automatic_word_is_known) {
    assert_ok(family_knows(&families[0], "any", &err));
    assert_ok(family_knows(&families[0], "from:x", &err));
    assert_false(family_knows(&families[0], "from", &(Error){0}));
    assert_string_equal(family_word(&families[0], 3), "any");
    assert_null(family_word(&families[0], 4));
}

TEST(a_suggestion_is_near_or_missing) {
    static const char *const names[] = {"epochs", "rate", "momentum"};
    assert_string_equal(family_closest("epoch", names, 3), "epochs");
    assert_string_equal(family_closest("raet", names, 3), "rate"); // a swap
    assert_string_equal(family_closest("mometnm", names, 3),
                        "momentum"); // a swap and a letter less
    assert_string_equal(family_closest("arte", names, 3), "rate");
    assert_null(family_closest("etar", names, 3)); // more than a slip in four letters
    assert_null(family_closest("lr", names, 3));
    assert_null(family_closest("", names, 3));
}
