// If this failed, a file as people hold it would be read as another graph than they mean, without a
// word, or refused without the cure. Walks people/outcomes.tsv of FRINGE_DATA, and the project's
// own table of such files below it.

#include "people.h"

// What is said of a set that is read as its owner means it, words of each; of all others nothing.
static const char *warnings_of(const Row *row) {
    static const char *const said[][2] = {
        {"names.csv", "ids run from user-000 to user-399; ascending order"},
        {"cites.tsv", "ids run from 1000 to 3793 with gaps; ascending order"},
        {"onehot.npz", "labels are classes; data.labels_are=several"},
    };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (strcmp(said[i][0], row->input) == 0)
            return said[i][1];
    return "";
}

TEST(outcomes) {
    static const char *const missed[] = {NULL};
    people_begin();
    char line[4096];
    FILE *table = fopen(people_path("outcomes.tsv"), "r");
    assert_non_null(table);
    assert_non_null(fgets(line, sizeof line, table)); // the names of the columns
    int rows = 0, wrong = 0, known = 0;
    while (fgets(line, sizeof line, table) != NULL) {
        Row row = row_of(line);
        char why[4096] = "";
        bool met = row_is_met(&row, warnings_of(&row), why),
             listed = is_one_of(row.input, missed, NULL) || is_one_of(row.data, missed, NULL);
        if (met == listed)
            print_error("%s: %s\n", row.input, met ? "is met, but listed as missed" : why);
        rows++;
        wrong += met == listed;
        known += listed;
    }
    fclose(table);
    people_end();
    print_message("%d rows, %d of them known to be missed\n", rows, known);
    assert_int_equal(rows, 47);
    assert_int_equal(wrong, 0);
}
