// If this failed, a metric would count other rows than those that definitions of accuracy and F1
// name.
#include "kernels.h"

enum { ROWS = 700 };
static const int64_t widths[] = {1, 4, 17};

static uint8_t split_of(int64_t r) { return (uint8_t)(r * r % 4); }

static Rows logits_of(int64_t columns) {
    Rows rows = random_rows(ROWS, columns, 3);
    for (int64_t r = 0; r < ROWS; r++) {
        float *row = floats(rows) + r * rows.stride;
        for (int64_t c = 0; c < columns; c++)
            row[c] = roundf(row[c]); // several are the largest
        if (r % 50 == 7)
            row[columns - 1] = NAN;
    }
    return rows;
}

// What a row of one label says, from the last class to the first.
static int64_t said(const float *row, int64_t columns) {
    int64_t best = columns - 1;
    for (int64_t c = columns - 1; c >= 0; c--) {
        if (row[c] != row[c])
            return -1;
        best = row[c] >= row[best] ? c : best;
    }
    return best;
}

// One class after the other, as the definitions have it.
static void expect_class(const int64_t *count, int64_t columns, int64_t c, const bool *says,
                         const bool *is, int which) {
    int64_t positive[3] = {0};
    for (int64_t r = 0; r < ROWS; r++)
        if (split_of(r) == which) {
            positive[0] += says[r] && is[r];
            positive[1] += says[r] && !is[r];
            positive[2] += !says[r] && is[r];
        }
    for (int i = 0; i < 3; i++)
        assert_int_equal(count[2 + i * columns + c], positive[i]);
}

static void expect(const int64_t *count, Rows logits, bool (*is)(int64_t r, int64_t c),
                   bool several) {
    bool says_it[ROWS], is_it[ROWS], labelled[ROWS] = {false}, right[ROWS];
    int64_t each = split_counts(logits.columns);
    memset(right, 1, sizeof right);
    for (int64_t c = 0; c < logits.columns; c++) {
        for (int64_t r = 0; r < ROWS; r++) {
            const float *row = floats(logits) + r * logits.stride;
            is_it[r] = is(r, c);
            says_it[r] = several ? row[c] > 0 : r % 9 != 4 && said(row, logits.columns) == c;
            right[r] &= is_it[r] == says_it[r];
            labelled[r] |= several || is_it[r];
        }
        for (int which = 0; which < SPLITS; which++)
            expect_class(count + which * each, logits.columns, c, says_it, is_it, which);
    }
    for (int which = 0; which < SPLITS; which++) {
        int64_t rows = 0, hits = 0;
        for (int64_t r = 0; r < ROWS; r++) {
            rows += split_of(r) == which && labelled[r];
            hits += split_of(r) == which && labelled[r] && right[r];
        }
        assert_int_equal(count[which * each], rows);
        assert_int_equal(count[which * each + 1], hits);
    }
}

static int64_t classes; // of the test that runs
static int32_t label_of(int64_t r) { return r % 9 == 4 ? -1 : (int32_t)(r * 5 % classes); }
static bool is_label(int64_t r, int64_t c) { return label_of(r) == c; }
static bool has_label(int64_t r, int64_t c) { return (r + c) % 3 == 0; }

TEST(counts_are_those_of_the_definitions) {
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        classes = widths[w];
        Rows logits = logits_of(classes);
        int32_t label[ROWS];
        uint8_t split[ROWS], *labels = TEST_ARRAY(uint8_t, ROWS * classes);
        int64_t *single = TEST_ARRAY(int64_t, SPLITS * split_counts(classes));
        int64_t *several = TEST_ARRAY(int64_t, SPLITS * split_counts(classes));
        for (int64_t r = 0; r < ROWS; r++) {
            label[r] = label_of(r), split[r] = split_of(r);
            for (int64_t c = 0; c < classes; c++)
                labels[r * classes + c] = has_label(r, c);
        }
        Labels on = {.label = on_device(label), .split = on_device(split)};
        device()->count_right(on_device(single), logits, on);
        on = (Labels){.labels = on_device(labels), .split = on_device(split)};
        device()->count_right(on_device(several), logits, on);
        expect(single, logits, is_label, false);
        expect(several, logits, has_label, true);
    }
}
