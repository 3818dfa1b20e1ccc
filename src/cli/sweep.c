// fringe train --sweep: trains every combination of values (a point), into
// run.dir/KEY=VALUE,.../run-1, ... The table is made from these files, also after a resume.

#include "grid.h"

static void folder_of(char *out, size_t size, const char *base, const char *name) {
    char plain[POINT];
    snprintf(plain, sizeof plain, "%s", name);
    for (char *at = plain; *at != 0; at++)
        *at = grid_folder_letter(*at);
    path_join(out, size, base, plain);
}

// ---- training

typedef struct Sweeping {
    Session *session;
    const Options *options;
    Grid grid;
    char base[CONFIG_TEXT]; // run.dir
    const Score *score;     // NULL: no graph is loaded yet
} Sweeping;

// The config of a point. Collective.
static bool point_config(Sweeping *w, int point, const char *name) {
    char setting[CLI_SWEEPS][96 + VALUE + 2], folder[CONFIG_TEXT + POINT], dir[CONFIG_TEXT + POINT];
    Options with = *w->options;
    for (int i = 0; i < w->grid.axes; i++) {
        snprintf(setting[i], sizeof setting[i], "%s=%s", w->grid.axis[i].key,
                 grid_value(&w->grid, point, i));
        with.setting[with.settings++] = setting[i];
    }
    folder_of(folder, sizeof folder - 16, w->base, name);
    snprintf(dir, sizeof dir, "run.dir=%.*s", (int)(sizeof dir - 16), folder);
    with.setting[with.settings++] = dir;
    return session_config(w->session, &with) || error_prefix(&w->session->err, "--sweep %s", name);
}

// Keys of the graph and its parts change the shard.
static bool changes_shard(const Grid *grid) {
    for (int i = 0; i < grid->axes; i++)
        if (text_begins("data. partition. stream.", grid->axis[i].key))
            return true;
    return false;
}

static bool load_again(Session *s) {
    if (s->open)
        shard_clear(&s->shard);
    s->open = false;
    return session_load(s);
}

static Sweeping *sweeping_new(Session *s, const Options *options) {
    Sweeping *w = ALLOC(Sweeping, 1, "the values of a sweep");
    *w = (Sweeping){.session = s, .options = options};
    snprintf(w->base, sizeof w->base, "%s", s->config.run.dir);
    return w;
}

bool sweep_check(Session *s, const Options *options) {
    FREED Sweeping *w = sweeping_new(s, options);
    char name[POINT];
    bool ok = grid_read(&w->grid, options, &s->err);
    s->idle = (IdleKeys){0};
    for (int p = 0; p < w->grid.points && ok; p++)
        ok = grid_name(name, &w->grid, p, &s->err) && point_config(w, p, name);
    if (ok)
        session_warn_of_idle_keys(s);
    return ok && session_config(s, options);
}

static bool train_point(Sweeping *w, int point) {
    Session *s = w->session;
    char name[POINT];
    FREED RunResult *result = ALLOC(RunResult, w->options->runs, "results of runs");
    bool ok = grid_name(name, &w->grid, point, &s->err) && point_config(w, point, name) &&
              (!changes_shard(&w->grid) || load_again(s));
    if (ok)
        w->score = score_shown(s->config.train.metric, shard_labels(&s->shard));
    s->precision = (PrecisionChoice){0}; // another model
    s->sweep = (Sweep){name, point * w->options->runs, w->grid.points * w->options->runs};
    ok = ok && train_runs(s, w->options, result);
    s->sweep.point = NULL;
    return ok;
}

// ---- what has ended already

typedef struct Asking {
    const Config *config;
    const Shard *shard;
    bool done;
} Asking;

// All sections but run.*, whose seed is compared alone.
static bool has_config(const RunRecord *record, const Config *config) {
    FREED char *text = config_to_json(config);
    char path[RECORD_KEY];
    CLEARED(json_drop) Json *now = json_parse(text, strlen(text), "config", &(Error){0});
    bool same = now != NULL && record_number(record, "config.run.seed") == (double)config->run.seed;
    for (const Json *at = same ? json_first(now) : NULL; at != NULL && same; at = json_next(at)) {
        if (json_type(at) != JSON_OBJECT || strcmp(json_key(at), "run") == 0)
            continue;
        for (const Json *in = json_first(at); in != NULL && same; in = json_next(in)) {
            snprintf(path, sizeof path, "config.%s.%s", json_key(at), json_key(in));
            same = record_has_value(record, path, in);
        }
    }
    return same;
}

static bool has_text(const RunRecord *record, const char *key, const char *text) {
    const char *there = record_text(record, key);
    return there != NULL && strcmp(there, text) == 0;
}

// The same config on the same data in the same parts.
static void look(void *context, UNUSED Error *err) {
    Asking *asking = context;
    CLEARED(record_clear) RunRecord record = {0};
    if (!record_read(&record, asking->config->run.dir, &(Error){0}))
        return;
    asking->done = record_member(&record, "result") != NULL &&
                   has_text(&record, "data.hash", asking->shard->dataset_hash) &&
                   has_text(&record, "parts.hash", asking->shard->partition_hash) &&
                   has_config(&record, asking->config);
}

bool sweep_is_done(Session *s, const Config *config) {
    Asking asking = {.config = config, .shard = &s->shard};
    comm_on_root(&s->comm, look, &asking, &s->err);
    comm_broadcast(&s->comm, &asking.done, sizeof asking.done, 0);
    if (asking.done && s->comm.rank == 0)
        terminal_note("run        has ended already; it is not run again\n");
    return asking.done;
}

// ---- the table (rank 0)

// The finished runs of a point.
typedef struct Ended {
    int64_t seed;
    RunFigures figures;
    char folder[CONFIG_TEXT + POINT + 32];
} Ended;

static int read_ended(Ended *ended, const Sweeping *w, const char *name) {
    char point[CONFIG_TEXT + POINT], number[32];
    int count = 0;
    folder_of(point, sizeof point, w->base, name);
    for (int i = 0; i < w->options->runs; i++) {
        CLEARED(record_clear) RunRecord record = {0};
        Ended *next = &ended[count];
        snprintf(number, sizeof number, "run-%d", i + 1);
        path_join(next->folder, sizeof next->folder, point, number);
        if (!record_read(&record, next->folder, &(Error){0}))
            continue;
        next->figures = record_figures(&record);
        next->seed = (int64_t)record_number(&record, "config.run.seed");
        count += record_member(&record, "result") != NULL;
    }
    return count;
}

static ResultRow row_of(const char *name, const Ended *ended, int count) {
    ResultRow row = {.runs = count};
    FREED double *validation = ALLOC(double, count, "scores of runs");
    FREED double *test = ALLOC(double, count, "scores of runs");
    snprintf(row.name, sizeof row.name, "%s", name);
    for (int i = 0; i < count; i++) {
        validation[i] = ended[i].figures.validation;
        test[i] = ended[i].figures.test;
        row.seconds += ended[i].figures.seconds / count;
        row.bytes += ended[i].figures.bytes / count;
        row.gradient_bytes += ended[i].figures.gradient_bytes / count;
    }
    row.validation = mean_deviation(validation, count);
    row.test = mean_deviation(test, count);
    return row;
}

static void put_score(JsonWriter *out, const char *key, MeanDeviation of) {
    JSON_PUT_OBJECT(out, key)
        JSON_PUT(out, PAIR("mean", of.mean), PAIR("deviation", of.deviation));
}

static void put_settings(JsonWriter *out, const Grid *grid, int point) {
    JSON_PUT_OBJECT(out, "settings")
        for (int i = 0; i < grid->axes; i++)
            json_put_string(out, grid->axis[i].key, grid_value(grid, point, i));
}

static void put_point(JsonWriter *out, const Sweeping *w, int point, const ResultRow *row,
                      const Ended *ended) {
    JSON_PUT_OBJECT(out, NULL) {
        json_put_string(out, "name", row->name);
        put_settings(out, &w->grid, point);
        put_score(out, "validation", row->validation);
        put_score(out, "test", row->test);
        JSON_PUT(out, PAIR("seconds_per_epoch", row->seconds), PAIR("bytes_per_epoch", row->bytes),
                 PAIR("gradient_bytes_per_epoch", row->gradient_bytes));
        JSON_PUT_ARRAY(out, "runs")
            for (int i = 0; i < row->runs; i++)
                JSON_PUT_OBJECT(out, NULL)
                    JSON_PUT(out, PAIR("folder", ended[i].folder), PAIR("seed", ended[i].seed),
                             PAIR("best_epoch", ended[i].figures.best_epoch),
                             PAIR("validation", ended[i].figures.validation),
                             PAIR("test", ended[i].figures.test));
    }
}

// Adds the points that have finished runs; returns their number.
static int read_points(ResultRow *row, const Sweeping *w, JsonWriter *out) {
    FREED Ended *ended = ALLOC(Ended, w->options->runs, "finished runs");
    int rows = 0;
    JSON_PUT_ARRAY(out, "points")
        for (int p = 0; p < w->grid.points; p++) {
            char name[POINT];
            grid_name(name, &w->grid, p, &(Error){0});
            int count = read_ended(ended, w, name);
            if (count == 0)
                continue;
            row[rows] = row_of(name, ended, count);
            put_point(out, w, p, &row[rows++], ended);
        }
    return rows;
}

static void report_table(void *context, Error *err) {
    const Sweeping *w = context;
    ResultTable table = {.what = "setting", .score = w->score, .when = "best"};
    FREED ResultRow *row = ALLOC(ResultRow, w->grid.points, "points of a sweep");
    CLEARED(json_writer_clear) JsonWriter out = {0};
    json_writer_begin(&out, true);
    JSON_PUT(&out, PAIR("metric", w->score->title), PAIR("runs", w->options->runs));
    table.rows = read_points(row, w, &out);
    table.row = row;
    table.winner = result_winner(row, table.rows, w->score);
    json_put_string(&out, "winner", table.winner >= 0 ? row[table.winner].name : NULL);
    json_end_object(&out);
    if (table.rows > 0 && file_replace(PATH_IN(w->base, "sweep.json"), out.text, out.bytes, err) &&
        result_table_write(&table, w->base, "sweep", err))
        result_table_print(&table);
    if (err->code == 0)
        report_folder(w->base, err);
}

bool sweep_train(Session *s, const Options *options) {
    FREED Sweeping *w = sweeping_new(s, options);
    s->compares = true;
    bool ready = grid_read(&w->grid, options, &s->err), ok = ready;
    for (int p = 0; p < w->grid.points && ok; p++)
        ok = train_point(w, p);
    ok = comm_agree(&s->comm, &s->err);
    if (ready && w->score != NULL)
        session_report(s, report_table, w);
    return ok && s->err.code == 0;
}
