// Step one-hot: features that are whole numbers become zeros and ones, a column for each value that
// occurs in an old column. The new columns stand in the order of the old ones and, of one old
// column, in that of the values:
//
//   x [n, F]   2 0 5      2 of 0 | 7 of 0 | 0 of 1 | 2 of 2 | 5 of 2      begin 0 2 3 5
//              7 0 2         1        0        1        0        1
//                            0        1        1        1        0

#include "internal.h"

#include <ctype.h>

enum { WHOLE_MOST = 1 << 24 }; // above it, different whole numbers are the same float

typedef struct Columns { // the new ones
    Dataset *d;
    bool *dropped;  // [F] old columns
    int64_t *begin; // [F + 1] the first new column of each old one
    float *value;   // [begin[F]] what each new column stands for
} Columns;

// --- the argument: 3,10

// Moves *at behind the next number and its comma.
static bool next_number(const char **at, int64_t *number) {
    char *end;
    if (!isdigit((unsigned char)**at))
        return false;
    *number = strtoll(*at, &end, 10);
    *at = end + (*end == ',');
    return *end == '\0' || (*end == ',' && **at != '\0');
}

bool one_hot_known(const char *argument, Error *err) {
    int64_t number;
    for (const char *at = argument; *at != '\0';)
        if (!next_number(&at, &number))
            return error_config(
                err, "'one-hot:drop=%s' needs numbers of columns, as in one-hot:drop=3,10",
                argument);
    return true;
}

static bool drop_columns(Columns *c, const char *argument, Error *err) {
    int64_t number, columns = c->d->features;
    while (next_number(&argument, &number)) {
        if (number >= columns)
            return error_config(err,
                                "there is no column %ld to drop; the features have %ld, from 0",
                                number, columns);
        c->dropped[number] = true;
    }
    return true;
}

// --- the values of a column

static bool sort_column(float *sorted, const Dataset *d, int64_t f, Error *err) {
    for (int64_t i = 0; i < d->nodes; i++) {
        float x = sorted[i] = d->x[i * d->features + f];
        if (x != truncf(x) || fabsf(x) > WHOLE_MOST)
            return error_config(err,
                                "feature %ld of node %ld is %g, but it needs whole numbers up to "
                                "%d; one-hot:drop=%ld leaves the column out",
                                f, i, (double)x, WHOLE_MOST, f);
    }
    sort_float(sorted, d->nodes);
    return true;
}

static bool add_values(Columns *c, int64_t f, const float *sorted, Error *err) {
    int64_t count = c->begin[f];
    for (int64_t i = 0; i < c->d->nodes; i++) {
        if (i > 0 && sorted[i] == sorted[i - 1])
            continue;
        if (count == DATASET_MAX_FEATURES)
            return error_config(err,
                                "it would make more than %d columns; leave those of many values "
                                "out, as in one-hot:drop=%ld",
                                DATASET_MAX_FEATURES, f);
        c->value[count++] = sorted[i];
    }
    c->begin[f + 1] = count;
    return true;
}

static bool find_values(Columns *c, Error *err) {
    FREED float *sorted = TRY(float, c->d->nodes, "a sorted column", err);
    bool ok = sorted != NULL;
    for (int64_t f = 0; ok && f < c->d->features; f++) {
        c->begin[f + 1] = c->begin[f];
        if (!c->dropped[f])
            ok = sort_column(sorted, c->d, f, err) && add_values(c, f, sorted, err);
    }
    return ok;
}

// --- the new features

// The place of x among the values of old column f.
static int64_t column_of(const Columns *c, int64_t f, float x) {
    int64_t low = c->begin[f], high = c->begin[f + 1];
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        *(c->value[middle] <= x ? &low : &high) = middle;
    }
    return low;
}

// A value that the training did not have gets no one; such cells are counted.
static int64_t set_ones(const Columns *c, float *ones) {
    int64_t columns = c->d->features, made = c->begin[columns], strange = 0;
#pragma omp parallel for schedule(static) reduction(+ : strange)
    for (int64_t i = 0; i < c->d->nodes; i++)
        for (int64_t f = 0; f < columns; f++) {
            float x = c->d->x[i * columns + f];
            if (c->dropped[f] || c->begin[f] == c->begin[f + 1])
                continue;
            int64_t at = column_of(c, f, x);
            bool known = c->value[at] == x;
            ones[i * made + at] = known;
            strange += !known;
        }
    return strange;
}

static float *make_ones(const Columns *c, double memory_limit, Error *err) {
    int64_t made = c->begin[c->d->features];
    size_t bytes = memory_product(c->d->nodes * made, sizeof(float));
    char advice[128];
    snprintf(advice, sizeof advice,
             "%ld nodes would have %ld columns; leave those of many values out (one-hot:drop=I,J)",
             c->d->nodes, made);
    if (made == 0)
        error_config(err, "no column is left");
    else if (forecast_fits_one("features of zeros and ones", bytes, memory_limit, advice, err))
        return TRY(float, c->d->nodes *made, "features of zeros and ones", err);
    return NULL;
}

static bool columns_init(Columns *c, Dataset *d, Error *err) {
    int64_t cells = d->nodes * d->features;
    *c = (Columns){.d = d,
                   .dropped = ALLOC(bool, d->features, "columns to drop"),
                   .begin = ALLOC(int64_t, d->features + 1, "columns of zeros and ones"),
                   .value = TRY(float, cells < DATASET_MAX_FEATURES ? cells : DATASET_MAX_FEATURES,
                                "values of columns", err)};
    return c->value != NULL;
}

static void columns_clear(Columns *c) { MEMORY_FREE(c->value, c->begin, c->dropped); }

static bool know_values(Columns *c, const FittedStep *fit, Error *err) {
    if (!fitted_takes(fit, c->d, err))
        return false;
    if (fit->begin[fit->columns] > DATASET_MAX_FEATURES)
        return error_data(err, "data.fitted has more than %d columns", DATASET_MAX_FEATURES);
    size_t values = (size_t)fit->begin[fit->columns];
    memory_free(c->value);
    c->value =
        memcpy(ALLOC(float, values, "values of columns"), fit->value, values * sizeof *fit->value);
    memcpy(c->begin, fit->begin, ((size_t)fit->columns + 1) * sizeof *fit->begin);
    return true;
}

// Hands the values over to the dataset, and with them what the columns stand for.
static void keep_values(Columns *c, FittedStep *fit) {
    fit->columns = c->d->features;
    fit->begin = c->begin;
    fit->value = c->value;
    c->begin = NULL;
    c->value = NULL;
}

static void take_ones(Columns *c, float *ones, const StepInput *input) {
    Dataset *d = c->d;
    int64_t strange = set_ones(c, ones), made = c->begin[d->features];
    if (strange > 0)
        warnings_add(&d->warnings,
                     "one-hot: %ld features have a value that none of the training had; they are 0 "
                     "in all columns",
                     strange);
    dataset_drop(d, &d->x);
    d->x = ones;
    if (!input->known)
        keep_values(c, input->fitted);
    d->features = made;
}

bool one_hot(Dataset *d, const StepInput *input, Error *err) {
    CLEARED(columns_clear) Columns columns = {0};
    float *ones = NULL;
    if (!has_features(d, err))
        return false;
    if (columns_init(&columns, d, err) && drop_columns(&columns, input->argument, err) &&
        (input->known ? know_values(&columns, input->fitted, err) : find_values(&columns, err)))
        ones = make_ones(&columns, input->memory_limit, err);
    if (ones != NULL)
        take_ones(&columns, ones, input);
    return ones != NULL;
}
