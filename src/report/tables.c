// Tables of results: as comma-separated values, and for LaTeX (booktabs).

#include "internal.h"

#include "fringe/runfolder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELL = 64, LINE = 1024 };

int result_winner(const ResultRow *row, int rows, const Score *score) {
    int winner = -1;
    for (int i = 0; i < rows; i++)
        if (score_better(score, row[i].validation.mean,
                         winner < 0 ? NAN : row[winner].validation.mean))
            winner = i;
    return winner;
}

// --- files

typedef struct Text {
    char *text; // [room] owned
    size_t bytes, room;
} Text;

static void put(Text *text, const char *line) {
    size_t bytes = strlen(line);
    assert(text->bytes + bytes < text->room);
    memcpy(text->text + text->bytes, line, bytes + 1);
    text->bytes += bytes;
}

// A quoted field; quotes inside are doubled.
static void put_field(Text *text, const char *field) {
    put(text, "\"");
    for (; *field != 0; field++)
        put(text, *field == '"' ? "\"\"" : (char[2]){*field, 0});
    put(text, "\"");
}

// An empty field where nothing was measured.
static void put_number(Text *text, double value) {
    char number[CELL];
    snprintf(number, sizeof number, isnan(value) ? "," : ",%.9g", value);
    put(text, number);
}

static void put_csv(Text *text, const ResultTable *table) {
    put(text, table->what);
    static const char *const scores[] = {"validation_mean", "validation_deviation", "test_mean",
                                         "test_deviation"};
    put(text, ",runs");
    for (int i = 0; i < 4; i++) {
        put(text, ",");
        put(text, table->when);
        put(text, "_");
        put(text, scores[i]);
    }
    put(text, ",seconds_per_epoch,bytes_per_epoch,gradient_bytes_per_epoch,winner\n");
    for (int i = 0; i < table->rows; i++) {
        const ResultRow *row = &table->row[i];
        put_field(text, row->name);
        put_number(text, row->runs);
        put_number(text, row->validation.mean);
        put_number(text, row->validation.deviation);
        put_number(text, row->test.mean);
        put_number(text, row->test.deviation);
        put_number(text, row->seconds);
        put_number(text, row->bytes);
        put_number(text, row->gradient_bytes);
        put(text, i == table->winner ? ",1\n" : ",0\n");
    }
}

static void put_tex_name(Text *text, const char *name) {
    for (; *name != 0; name++) {
        if (strchr("#$%&_{}", *name) != NULL)
            put(text, "\\");
        put(text, *name == '\\'  ? "\\textbackslash{}"
                  : *name == '~' ? "\\textasciitilde{}"
                  : *name == '^' ? "\\textasciicircum{}"
                                 : (char[2]){*name, 0});
    }
}

static void put_tex_score(Text *text, MeanDeviation of, double scale, bool bold) {
    char cell[CELL];
    if (isnan(of.mean))
        snprintf(cell, sizeof cell, " & --");
    else if (of.count > 1)
        snprintf(cell, sizeof cell, bold ? " & $\\mathbf{%.2f \\pm %.2f}$" : " & $%.2f \\pm %.2f$",
                 scale * of.mean, scale * of.deviation);
    else
        snprintf(cell, sizeof cell, bold ? " & $\\mathbf{%.2f}$" : " & $%.2f$", scale * of.mean);
    put(text, cell);
}

static void put_tex_number(Text *text, double value) {
    char cell[CELL];
    snprintf(cell, sizeof cell, isnan(value) ? " & --" : " & %.4g", value);
    put(text, cell);
}

static void put_tex(Text *text, const ResultTable *table) {
    put(text, "\\begin{tabular}{lrrrrr}\n\\toprule\n");
    put(text, table->what);
    const char *unit = table->score->percent ? " \\%" : "";
    double scale = score_scale(table->score);
    put(text, " & validation");
    put(text, unit);
    put(text, " & test");
    put(text, unit);
    put(text, " & s/epoch & MB/epoch & MB of gradients \\\\\n\\midrule\n");
    for (int i = 0; i < table->rows; i++) {
        const ResultRow *row = &table->row[i];
        put_tex_name(text, row->name);
        put_tex_score(text, row->validation, scale, i == table->winner);
        put_tex_score(text, row->test, scale, i == table->winner);
        put_tex_number(text, row->seconds);
        put_tex_number(text, row->bytes / 1e6);
        put_tex_number(text, row->gradient_bytes / 1e6);
        put(text, " \\\\\n");
    }
    put(text, "\\bottomrule\n\\end{tabular}\n");
}

static bool write_as(const ResultTable *table, const char *folder, const char *name,
                     const char *ending, void (*put_table)(Text *, const ResultTable *),
                     Error *err) {
    char path[PATH_BYTES], file[64];
    Text text = {.room = (size_t)(table->rows + 2) * LINE * 4};
    text.text = ALLOC(char, (int64_t)text.room, "a table of results");
    put_table(&text, table);
    snprintf(file, sizeof file, "%s.%s", name, ending);
    path_join(path, sizeof path, folder, file);
    bool ok = file_replace(path, text.text, text.bytes, err);
    memory_free(text.text);
    return ok;
}

bool result_table_write(const ResultTable *table, const char *folder, const char *name,
                        Error *err) {
    return write_as(table, folder, name, "csv", put_csv, err) &&
           write_as(table, folder, name, "tex", put_tex, err);
}

// --- of a comparison

static MeanDeviation unscaled(MeanDeviation of, double scale) {
    return (MeanDeviation){of.mean / scale, of.deviation / scale, of.count};
}

bool comparison_write_tables(const Comparison *c, Error *err) {
    ResultRow row[COMPARED_MOST];
    for (int i = 0; i < c->count; i++) {
        const ComparedVariant *v = &c->variant[i];
        row[i] = (ResultRow){.validation = unscaled(v->validation, score_scale(c->score)),
                             .test = unscaled(v->test, score_scale(c->score)),
                             .seconds = v->epoch,
                             .bytes = v->mean.bytes,
                             .gradient_bytes = v->mean.reduce_bytes,
                             .runs = v->test.count};
        snprintf(row[i].name, sizeof row[i].name, "%s", v->name);
    }
    ResultTable table = {.what = "mode",
                         .score = c->score,
                         .when = "last",
                         .row = row,
                         .rows = c->count,
                         .winner = -1};
    return result_table_write(&table, c->folder, "compare", err);
}
