// The combinations of the values of --sweep.

#include "grid.h"

// The length of the next value: up to a comma outside of brackets and quotes.
static size_t value_length(const char *text) {
    int depth = 0;
    bool quoted = false;
    size_t i = 0;
    for (; text[i] != 0 && (text[i] != ',' || depth > 0 || quoted); i++) {
        quoted ^= text[i] == '"';
        depth += !quoted && text[i] == '[';
        depth -= !quoted && text[i] == ']';
    }
    return i;
}

static bool refuse(const char *text, const char *why, Error *err) {
    return error_usage(err, "--sweep %s: %s; write --sweep KEY=A,B", text, why);
}

char grid_folder_letter(char letter) { return letter == '/' ? '_' : letter; }

static bool is_there(const Axis *axis, const char *value) {
    size_t same = 0;
    for (int i = 0; i + 1 < axis->count; i++, same = 0) {
        while (value[same] != 0 &&
               grid_folder_letter(axis->value[i][same]) == grid_folder_letter(value[same]))
            same++;
        if (value[same] == 0 && axis->value[i][same] == 0)
            return true;
    }
    return false;
}

static bool read_values(Axis *axis, const char *text, const char *values, Error *err) {
    for (const char *at = values;; at++) {
        size_t length = value_length(at);
        if (length == 0 || length >= VALUE)
            return refuse(text, length == 0 ? "a value is empty" : "a value is too long", err);
        if (axis->count == VALUES_MOST)
            return refuse(text, "more than 64 values", err);
        snprintf(axis->value[axis->count], VALUE, "%.*s", (int)length, at);
        if (is_there(axis, axis->value[axis->count++]))
            return refuse(text, "two values have the same folder", err);
        at += length;
        if (*at == 0)
            return true;
    }
}

static bool read_axis(Axis *axis, const char *text, Error *err) {
    const char *equals = strchr(text, '=');
    *axis = (Axis){0};
    if (equals == NULL || equals == text || (size_t)(equals - text) >= sizeof axis->key)
        return refuse(text, "expected a key and its values", err);
    snprintf(axis->key, sizeof axis->key, "%.*s", (int)(equals - text), text);
    if (strcmp(axis->key, "run.dir") == 0 || strcmp(axis->key, "run.seed") == 0)
        return refuse(text, "run.dir and run.seed follow from the sweep and --runs", err);
    return read_values(axis, text, equals + 1, err);
}

bool grid_read(Grid *grid, const Options *options, Error *err) {
    *grid = (Grid){.points = 1};
    for (int i = 0; i < options->sweeps; i++) {
        Axis *axis = &grid->axis[grid->axes++];
        if (!read_axis(axis, options->sweep[i], err))
            return false;
        for (int j = 0; j < i; j++)
            if (strcmp(grid->axis[j].key, axis->key) == 0)
                return refuse(options->sweep[i], "the key is given twice", err);
        grid->points *= axis->count;
        if (grid->points > POINTS_MOST)
            return refuse(options->sweep[i], "more than 10000 combinations", err);
    }
    return options->settings + grid->axes + 1 <= CLI_SETTINGS ||
           error_usage(err, "--set: at most %d settings with these --sweep",
                       CLI_SETTINGS - grid->axes - 1);
}

const char *grid_value(const Grid *grid, int point, int axis) {
    for (int i = grid->axes - 1; i > axis; i--)
        point /= grid->axis[i].count;
    return grid->axis[axis].value[point % grid->axis[axis].count];
}

bool grid_name(char out[POINT], const Grid *grid, int point, Error *err) {
    size_t used = 0;
    for (int i = 0; i < grid->axes; i++) {
        int bytes = snprintf(out + used, POINT - used, "%s%s=%s", i > 0 ? "," : "",
                             grid->axis[i].key, grid_value(grid, point, i));
        used += (size_t)bytes;
        if (used >= POINT)
            return error_usage(err,
                               "--sweep: the name of a combination is longer than %d letters, "
                               "which no folder may have; sweep fewer keys",
                               POINT - 1);
    }
    return true;
}
