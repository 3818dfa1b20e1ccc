// Tables of results: as comma-separated values, and for LaTeX (booktabs).

#include "internal.h"

#include "fringe/runfolder.h"

int result_winner(const ResultRow *row, int rows, const Score *score) {
    int winner = -1;
    for (int i = 0; i < rows; i++)
        if (score_better(score, row[i].validation.mean,
                         winner < 0 ? NAN : row[winner].validation.mean))
            winner = i;
    return winner;
}

// --- files

// A quoted field; quotes inside are doubled.
static void put_field(FILE *out, const char *field) {
    fputc('"', out);
    for (; *field != 0; field++)
        fputs(*field == '"' ? "\"\"" : (char[2]){*field, 0}, out);
    fputc('"', out);
}

static void put_csv(FILE *out, const ResultTable *table) {
    static const char *const scores[] = {"validation_mean", "validation_deviation", "test_mean",
                                         "test_deviation"};
    fprintf(out, "%s,runs", table->what);
    for (int i = 0; i < 4; i++)
        fprintf(out, ",%s_%s", table->when, scores[i]);
    fputs(",seconds_per_epoch,bytes_per_epoch,gradient_bytes_per_epoch,winner\n", out);
    for (int i = 0; i < table->rows; i++) {
        const ResultRow *row = &table->row[i];
        const double number[] = {row->runs,      row->validation.mean, row->validation.deviation,
                                 row->test.mean, row->test.deviation,  row->seconds,
                                 row->bytes,     row->gradient_bytes};
        put_field(out, row->name);
        for (size_t k = 0; k < sizeof number / sizeof *number; k++) // not measured: an empty field
            fprintf(out, isnan(number[k]) ? "," : ",%.9g", number[k]);
        fputs(i == table->winner ? ",1\n" : ",0\n", out);
    }
}

static void put_tex_name(FILE *out, const char *name) {
    for (; *name != 0; name++) {
        if (strchr("#$%&_{}", *name) != NULL)
            fputc('\\', out);
        fputs(*name == '\\'  ? "\\textbackslash{}"
              : *name == '~' ? "\\textasciitilde{}"
              : *name == '^' ? "\\textasciicircum{}"
                             : (char[2]){*name, 0},
              out);
    }
}

static void put_tex_score(FILE *out, MeanDeviation of, double scale, bool bold) {
    if (isnan(of.mean))
        fputs(" & --", out);
    else if (of.count > 1)
        fprintf(out, bold ? " & $\\mathbf{%.2f \\pm %.2f}$" : " & $%.2f \\pm %.2f$",
                scale * of.mean, scale * of.deviation);
    else
        fprintf(out, bold ? " & $\\mathbf{%.2f}$" : " & $%.2f$", scale * of.mean);
}

static void put_tex_number(FILE *out, double value) {
    fprintf(out, isnan(value) ? " & --" : " & %.4g", value);
}

static void put_tex(FILE *out, const ResultTable *table) {
    const char *unit = table->score->percent ? " \\%" : "";
    double scale = score_scale(table->score);
    fprintf(out,
            "\\begin{tabular}{lrrrrr}\n\\toprule\n%s & validation%s & test%s & s/epoch & MB/epoch"
            " & MB of gradients \\\\\n\\midrule\n",
            table->what, unit, unit);
    for (int i = 0; i < table->rows; i++) {
        const ResultRow *row = &table->row[i];
        put_tex_name(out, row->name);
        put_tex_score(out, row->validation, scale, i == table->winner);
        put_tex_score(out, row->test, scale, i == table->winner);
        put_tex_number(out, row->seconds);
        put_tex_number(out, row->bytes / 1e6);
        put_tex_number(out, row->gradient_bytes / 1e6);
        fputs(" \\\\\n", out);
    }
    fputs("\\bottomrule\n\\end{tabular}\n", out);
}

static bool write_as(const ResultTable *table, const char *folder, const char *name,
                     const char *ending, void (*put_table)(FILE *, const ResultTable *),
                     Error *err) {
    char file[64];
    CLEARED(malloc_drop) char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    CHECK(out != NULL, EXIT_MEMORY, "no memory for a table of results");
    put_table(out, table);
    fclose(out);
    snprintf(file, sizeof file, "%s.%s", name, ending);
    return file_replace(PATH_IN(folder, file), text, bytes, err);
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
