// The tables that a comparison and a sweep print, in lines of at most 80 columns.

#include "internal.h"

#include <limits.h>

enum { CELL = 64 };

static const char *cell_text(char out[CELL], MeanDeviation of, double scale) {
    if (isnan(of.mean))
        snprintf(out, CELL, "none");
    else if (of.count > 1)
        snprintf(out, CELL, "%.2f +- %.2f", scale * of.mean, scale * of.deviation);
    else
        snprintf(out, CELL, "%.2f", scale * of.mean);
    return out;
}

// --- of a comparison

// A ratio; "-" where there is none: without epochs all times are 0.
static const char *ratio_text(char out[CELL], double of, double by, int decimals,
                              const char *unit) {
    if (by > 0)
        snprintf(out, CELL, "%.*f%s", decimals, of / by, unit);
    else
        snprintf(out, CELL, "-");
    return out;
}

static void print_speed(const ComparedVariant *variant, const ComparedVariant *first) {
    char test[CELL], speed[CELL], up[CELL];
    terminal_print("%-16s %-15s %9s %9s %11.3f ", variant->name, cell_text(test, variant->test, 1),
                   ratio_text(speed, 1, variant->epoch, 3, ""),
                   ratio_text(up, first->epoch, variant->epoch, 2, "x"), variant->mean.bytes / 1e6);
    if (isnan(variant->to_target))
        terminal_print("%12s\n", "never");
    else
        terminal_print("%12.2f\n", variant->to_target);
}

static void print_share(double seconds, double epoch) {
    terminal_print(" %9.1f", epoch > 0 ? 100 * seconds / epoch : 0);
}

// Where computation overlaps with messages, only the wait for them can be measured.
static void print_shares(const ComparedVariant *variant) {
    const RecordedEpoch *t = &variant->mean;
    terminal_print("%-16s", variant->name);
    print_share(t->compute, t->seconds);
    if (variant->blocking)
        print_share(t->pack + t->wait, t->seconds);
    else
        terminal_print(" %9s", "-");
    print_share(t->wait, t->seconds);
    print_share(t->pack, t->seconds);
    double all = t->seconds + t->assignment;
    terminal_print(" %9.2f\n", all > 0 ? 100 * t->assignment / all : 0);
}

void comparison_print(const Comparison *c) {
    terminal_print("\n%-16s test%-11s %9s %9s %11s %12s\n", "mode", score_unit(c->score),
                   "epochs/s", "speed-up", "MB/epoch", "target in s");
    for (int i = 0; i < c->count; i++)
        print_speed(&c->variant[i], &c->variant[0]);
    terminal_print("\n%-16s %9s %9s %9s %9s %9s\n", "% of an epoch", "compute", "comm", "wait",
                   "pack", "assign");
    for (int i = 0; i < c->count; i++)
        print_shares(&c->variant[i]);
    terminal_print("\n%d rank%s; the speed-up is over %s, the speed that of the median epoch\n"
                   "test:   %s, mean +- deviation of several runs\n"
                   "target: %s%s\n"
                   "comm:   pack + wait, of blocking modes only\n"
                   "wait:   for messages that no computation covers\n"
                   "assign: of bit widths, as a share of the whole training\n",
                   c->ranks, c->ranks == 1 ? "" : "s", c->variant[0].name, c->score->title,
                   isnan(c->target) ? "none, for no epoch of the first run has a validation score"
                                    : "seconds of training until the validation score of the first "
                                      "run\n        reached ",
                   isnan(c->target) ? "" : SHOWN_SCORE(c->score, c->target));
    if (dataset_look_alike(c->origin)[0] != 0)
        terminal_print("data:   %s%s\n", SHOWN(c->data), dataset_look_alike(c->origin));
}

// --- of settings

enum { NAME_WIDTH = 19 };

// Letters of "KEY=" where all names are that and a value: the key is said once, above them.
static size_t key_letters(const ResultTable *table) {
    const char *equals = table->rows > 0 ? strchr(table->row[0].name, '=') : NULL;
    size_t letters = equals != NULL ? (size_t)(equals - table->row[0].name) + 1 : 0;
    for (int i = 0; i < table->rows; i++)
        if (strncmp(table->row[i].name, table->row[0].name, letters) != 0 ||
            strchr(table->row[i].name + letters, '=') != NULL)
            return 0;
    return letters <= NAME_WIDTH + 1 ? letters : 0;
}

static void print_row(const ResultTable *table, int i, size_t key) {
    const ResultRow *row = &table->row[i];
    char validation[CELL], test[CELL];
    const char *name = SHOWN(row->name + key);
    bool alone = strlen(name) > NAME_WIDTH;
    double scale = score_scale(table->score);
    if (alone)
        terminal_print("%s %s\n", i == table->winner ? "*" : " ", name);
    terminal_print("%s %-*s %14s %14s %8s %9s %9s\n", i == table->winner && !alone ? "*" : " ",
                   NAME_WIDTH, alone ? "" : name, cell_text(validation, row->validation, scale),
                   cell_text(test, row->test, scale), SHOWN_SECONDS(row->seconds),
                   isnan(row->bytes) ? "-" : SHOWN_BYTES(row->bytes),
                   isnan(row->gradient_bytes) ? "-" : SHOWN_BYTES(row->gradient_bytes));
}

void result_table_print(const ResultTable *table) {
    size_t key = key_letters(table);
    char heading[NAME_WIDTH + 1], validation[CELL], test[CELL];
    snprintf(validation, CELL, "validation%s", score_unit(table->score));
    snprintf(test, CELL, "test%s", score_unit(table->score));
    snprintf(heading, sizeof heading, "%.*s", key > 0 ? (int)key - 1 : NAME_WIDTH,
             key > 0 ? table->row[0].name : table->what);
    terminal_settle();
    terminal_print("\n  %-*s %14s %14s %8s %9s %9s\n", NAME_WIDTH, heading, validation, test,
                   "epoch", "rows", "gradients");
    for (int i = 0; i < table->rows; i++)
        print_row(table, i, key);
    int most = 0, least = INT_MAX;
    for (int i = 0; i < table->rows; i++) {
        most = table->row[i].runs > most ? table->row[i].runs : most;
        least = table->row[i].runs < least ? table->row[i].runs : least;
    }
    bool validated = table->winner >= 0; // else there are no validation nodes
    if (table->rows > 0)
        terminal_print("\n%s%s %s, mean +- deviation of %s%d run%s\n",
                       validated ? "* best validation; " : "", table->score->title,
                       validated ? "at the best validation" : "after the last epoch",
                       least < most ? "up to " : "", most, most == 1 ? "" : "s");
}
