// Which columns of a table are features: those that hold numbers alone, or those that the config
// names. See roster.h.

#include "roster.h"

// How a column fares as numbers: all, none, or the first row that is empty among numbers.
typedef enum Numbers { NUMBERS, WORDS, HOLES } Numbers;

static Numbers numbers_in(const Sheet *sheet, int column, int64_t *hole) {
    int64_t empty = -1, numbers = 0;
    float value;
    for (int64_t r = 0; r < sheet->rows; r++) {
        const Cell *cell = cell_at(sheet, r, column);
        if (cell->length == 0)
            empty = empty < 0 ? r : empty;
        else if (!cell_feature(&sheet->table, cell, &value))
            return WORDS;
        else
            numbers++;
    }
    *hole = empty;
    return empty < 0 ? NUMBERS : numbers > 0 ? HOLES : WORDS;
}

static const char *name_of(const Sheet *sheet, int column, char out[TABLE_NAME]) {
    if (sheet->table.header)
        snprintf(out, TABLE_NAME, "%s", sheet->table.name[column]);
    else
        snprintf(out, TABLE_NAME, "%d", column + 1);
    return out;
}

static bool has_hole(const Sheet *sheet, int column, int64_t row, Error *err) {
    char name[TABLE_NAME];
    return !error_data(err,
                       "%s:%ld: column '%s' has no number here; fill it, or name the features in "
                       "data.columns={\"features\": [...]}",
                       sheet->table.path, sheet->line[row], SHOWN(name_of(sheet, column, name)));
}

float *feature_numbers(const Sheet *sheet, const int *column, int count, Error *err) {
    float *x = TRY(float, sheet->rows *count, "features", err);
    for (int64_t r = 0; x != NULL && r < sheet->rows; r++)
        for (int k = 0; k < count; k++)
            cell_feature(&sheet->table, cell_at(sheet, r, column[k]), &x[r * count + k]);
    return x;
}

int feature_columns(const Sheet *sheet, const bool *taken, int *column, Warnings *warnings,
                    Error *err) {
    char words[300] = "", name[TABLE_NAME];
    int count = 0, left = 0;
    for (int c = 0; c < sheet->table.columns; c++) {
        bool skip = (taken != NULL && taken[c]) || column_is_index(&sheet->table, c);
        int64_t hole = -1;
        Numbers are = skip ? WORDS : numbers_in(sheet, c, &hole);
        if (!skip && are == HOLES && has_hole(sheet, c, hole, err))
            return -1;
        if (!skip && are == WORDS && left++ < 4)
            text_add(words, sizeof words, ", ", "'%.40s'", name_of(sheet, c, name));
        if (are == NUMBERS)
            column[count++] = c;
    }
    if (left > 0)
        warnings_add(warnings, "%s: column%s %s%s %s words and %s not read",
                     path_name(sheet->table.path), left == 1 ? "" : "s", SHOWN(words),
                     left > 4 ? ", ..." : "", left == 1 ? "holds" : "hold",
                     left == 1 ? "is" : "are");
    return count;
}

int feature_columns_said(const Sheet *sheet, const Config *config, int *column, Error *err) {
    int count = 0;
    int64_t hole;
    char name[TABLE_NAME];
    for (const char *said; (said = config_column(config, "features", count)) != NULL; count++) {
        if (!column_said(&column[count], &sheet->table, "features", said, err))
            return -1;
        if (numbers_in(sheet, column[count], &hole) != NUMBERS) {
            error_data(err, "%s: column '%s' of data.columns does not hold numbers alone",
                       sheet->table.path, SHOWN(name_of(sheet, column[count], name)));
            return -1;
        }
    }
    return count;
}

void feature_columns_list(const Sheet *sheet, const int *column, int count, Warnings *warnings) {
    char names[300] = "", name[TABLE_NAME];
    for (int k = 0; k < count && k < 6; k++)
        text_add(names, sizeof names, ", ", "%.40s", name_of(sheet, column[k], name));
    if (count > 0)
        warnings_add(warnings, "%s: %d feature%s: %s%s", path_name(sheet->table.path), count,
                     count == 1 ? "" : "s", SHOWN(names), count > 6 ? ", ..." : "");
}
