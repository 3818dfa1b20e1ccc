// Which columns of a table are features: those that hold numbers, or lists of as many, alone, or
// those that the config names. See roster.h.

#include "roster.h"

// How a column fares as features: all cells have as many, none does, or one of the rows is empty
// among numbers, or has another number of them than the first.
typedef enum Numbers { NUMBERS, WORDS, HOLES, UNEVEN } Numbers;

static Numbers numbers_in(const Sheet *sheet, int column, int64_t *wide, int64_t *row) {
    int64_t empty = -1, uneven = -1;
    *wide = 0;
    for (int64_t r = 0; r < sheet->rows; r++) {
        const Cell *cell = cell_at(sheet, r, column);
        int64_t features = cell_features(&sheet->table, cell, NULL, 0);
        if (cell->length > 0 && features == 0)
            return WORDS;
        if (cell->length == 0 && empty < 0)
            empty = r;
        if (features > 0 && *wide == 0)
            *wide = features;
        if (features > 0 && features != *wide && uneven < 0)
            uneven = r;
    }
    *row = uneven >= 0 ? uneven : empty;
    return *wide == 0 ? WORDS : uneven >= 0 ? UNEVEN : empty >= 0 ? HOLES : NUMBERS;
}

static bool has_hole(const Sheet *sheet, int column, int64_t row, Error *err) {
    return !error_data(err,
                       "%s:%ld: column '%s' has no number here; fill it, or name the features in "
                       "data.columns={\"features\": [...]}",
                       sheet->table.path, sheet->line[row], COLUMN_SHOWN(&sheet->table, column));
}

float *feature_numbers(const Sheet *sheet, const FeatureColumns *columns, Error *err) {
    float *x = TRY(float, sheet->rows * columns->features, "features", err), *to = x;
    for (int64_t r = 0; x != NULL && r < sheet->rows; r++)
        for (int k = 0; k < columns->count; to += columns->wide[k++])
            cell_features(&sheet->table, cell_at(sheet, r, columns->at[k]), to, columns->wide[k]);
    return x;
}

static bool add_column(FeatureColumns *out, const Sheet *sheet, int column, int64_t wide,
                       Error *err) {
    out->at[out->count] = column;
    out->wide[out->count++] = wide;
    out->features += wide;
    return out->features <= DATASET_MAX_FEATURES ||
           error_data(err, "%s: more than %d features", sheet->table.path, DATASET_MAX_FEATURES);
}

bool feature_columns(const Sheet *sheet, const bool *taken, FeatureColumns *out, Warnings *warnings,
                     Error *err) {
    char words[300] = "";
    int left = 0;
    *out = (FeatureColumns){0};
    for (int c = 0; c < sheet->table.columns; c++) {
        int64_t row, wide;
        if ((taken != NULL && taken[c]) || column_is_index(&sheet->table, c))
            continue;
        Numbers are = numbers_in(sheet, c, &wide, &row);
        if (are == HOLES && has_hole(sheet, c, row, err))
            return false;
        if (are == UNEVEN)
            warnings_add(warnings,
                         "%s:%ld: column '%s' has lists of other lengths above this line and is "
                         "not read",
                         path_name(sheet->table.path), sheet->line[row],
                         COLUMN_SHOWN(&sheet->table, c));
        if (are == WORDS && left++ < 4)
            text_add(words, sizeof words, ", ", "'%.40s'",
                     column_shown(&sheet->table, c, (char[TABLE_NAME]){0}));
        if (are == NUMBERS && !add_column(out, sheet, c, wide, err))
            return false;
    }
    if (left > 0)
        warnings_add(warnings, "%s: column%s %s%s %s words and %s not read",
                     path_name(sheet->table.path), left == 1 ? "" : "s", SHOWN(words),
                     left > 4 ? ", ..." : "", left == 1 ? "holds" : "hold",
                     left == 1 ? "is" : "are");
    return true;
}

bool feature_columns_said(const Sheet *sheet, const Config *config, FeatureColumns *out,
                          Error *err) {
    int64_t row, wide;
    int column;
    *out = (FeatureColumns){0};
    for (const char *said; (said = config_column(config, "features", out->count)) != NULL;) {
        if (!column_said(&column, &sheet->table, "features", said, err))
            return false;
        if (numbers_in(sheet, column, &wide, &row) != NUMBERS)
            return error_data(err,
                              "%s: column '%s' of data.columns does not hold numbers alone, or "
                              "lists of as many",
                              sheet->table.path, COLUMN_SHOWN(&sheet->table, column));
        if (!add_column(out, sheet, column, wide, err))
            return false;
    }
    return true;
}

void feature_columns_list(const Sheet *sheet, const FeatureColumns *columns, Warnings *warnings) {
    char names[300] = "", name[TABLE_NAME];
    int64_t features = columns->features;
    for (int k = 0; k < columns->count && k < 6; k++) {
        text_add(names, sizeof names, ", ", "%.40s",
                 column_shown(&sheet->table, columns->at[k], name));
        if (columns->wide[k] > 1)
            text_add(names, sizeof names, "", " (%ld)", columns->wide[k]);
    }
    if (features > 0)
        warnings_add(warnings, "%s: %ld feature%s: %s%s", path_name(sheet->table.path), features,
                     features == 1 ? "" : "s", SHOWN(names), columns->count > 6 ? ", ..." : "");
}
