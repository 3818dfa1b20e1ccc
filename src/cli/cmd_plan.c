// fringe plan: what a training would take on several numbers of ranks, in every mode.

#include "plan.h"

enum { SMALL_MEMORY = 4 }; // GiB that reading a small graph may take
static const int small_cuts[SMALL] = {2, 4, 8};

// ---- the command line

static bool read_ranks(Plan *p, const char *text) {
    const char *at = text;
    for (p->points = 0;; at++) {
        char *end;
        long value = strtol(at, &end, 10);
        int before = p->points > 0 ? p->ranks[p->points - 1] : 0;
        if (end == at || (*end != 0 && *end != ',') || value <= before || value > PLAN_RANKS)
            return error_usage(
                &p->err,
                "--ranks: expected ascending whole numbers from 1 to %d, such as 1,2,4, found '%s'",
                PLAN_RANKS, text);
        if (p->points == PLAN_POINTS)
            return error_usage(&p->err, "--ranks: at most %d numbers", PLAN_POINTS);
        p->ranks[p->points++] = (int)value;
        at = end;
        if (*end == 0)
            return true;
    }
}

// Two positive numbers with a comma between them; the second may be 0 if `zero`.
static bool read_pair(Plan *p, const char *option, const char *text, bool zero, double out[2]) {
    int end = 0;
    bool both = sscanf(text, "%lf,%lf%n", &out[0], &out[1], &end) == 2 && text[end] == 0;
    bool ok = both && isfinite(out[0]) && isfinite(out[1]) && out[0] > 0 &&
              (zero ? out[1] >= 0 : out[1] > 0);
    return ok || error_usage(&p->err, "--%s: expected two positive numbers, A,B, found '%s'",
                             option, text);
}

static bool read_cores(Plan *p, const char *text, double *cores) {
    char *end;
    *cores = strtod(text, &end);
    return (end != text && *end == 0 && *cores > 0 && *cores <= 65536) ||
           error_usage(&p->err, "--cores: expected a number above 0 and up to 65536, found '%s'",
                       text);
}

static bool read_machine(Plan *p) {
    const Options *o = p->options;
    double pair[2] = {10, 50e-6};
    PlanMachine *m = &p->machine;
    m->cores = threads_on_node();
    if (o->cores != NULL && !read_cores(p, o->cores, &m->cores))
        return false;
    int whole = m->cores > 1 ? (int)m->cores : 1;
    m->ranks_per_host = o->ranks_per_host > 0 ? o->ranks_per_host : whole;
    p->link_given = o->link != NULL;
    if (o->link != NULL && !read_pair(p, "link", o->link, true, pair))
        return false;
    m->bandwidth = pair[0] * 1e9 / 8;
    m->latency = pair[1];
    p->measured = o->compute == NULL;
    if (p->measured)
        return true;
    if (!read_pair(p, "compute", o->compute, false, pair))
        return false;
    double bytes = pair[1] * 1e9;
    m->speed = (PlanSpeed){pair[0] * 1e9, bytes, bytes, bytes, bytes, bytes};
    return true;
}

// The config in that mode, the next one of the plan. One that does not go with keys that the config
// sets itself is left out; what is wrong in the first one is wrong in all.
static bool load_mode(Plan *p, const Options *with, const char *word) {
    Error err = {0};
    Config *config = &p->config[p->modes];
    assert(p->modes < MODES);
    bool fits = load_config(config, with, with->argument[0], 0, &err);
    if (!fits && p->modes == 0)
        p->err = err;
    else if (!fits)
        warnings_add(&p->warnings, "mode %s is left out: %s", word, err.text);
    else
        p->mode[p->modes++] = word;
    return p->modes > 0;
}

// The config in every mode. A key that it sets itself is the same in all of them.
static bool load_modes(Plan *p) {
    Options with = *p->options;
    IdleKeys idle = {0};
    int most = 0;
    if (with.settings + 1 > CLI_SETTINGS)
        return error_usage(&p->err, "--set: at most %d settings", CLI_SETTINGS - 1);
    for (int i = 0; i < p->points; i++)
        most = p->ranks[i] > most ? p->ranks[i] : most;
    for (int i = 0; i < mode_family.count; i++) {
        char setting[CONFIG_WORD + 8];
        snprintf(setting, sizeof setting, "mode=%s", family_word(&mode_family, i));
        with.setting[p->options->settings] = setting;
        with.settings = p->options->settings + 1;
        if (!load_mode(p, &with, family_word(&mode_family, i)))
            return false;
    }
    for (int i = 0; i < p->modes; i++)
        add_idle_keys(&idle, &p->config[i]);
    warn_of_idle_keys(&idle, &p->config[0]);
    return true;
}

// ---- cuts

static bool in_cache(Plan *p, int parts, bool *there) {
    char folder[PATH_BYTES];
    *there = parts == 1;
    if (parts == 1)
        return true;
    if (!partition_folder(p->config, parts, folder, sizeof folder, &p->err))
        return false;
    *there = file_is_folder(folder);
    return true;
}

static bool open_cut(Plan *p, PlanCut *cut, int parts) {
    char folder[PATH_BYTES];
    Warnings warnings;
    bool ok = partition_build(p->config, parts, folder, sizeof folder, &warnings, &p->err);
    warnings_add_all(&p->warnings, &warnings);
    return ok && plan_cut_open(cut, folder, parts, &p->err);
}

static bool graph_is_small(const Plan *p) {
    MemoryForecast reading = {0};
    dataset_forecast(&reading, p->config);
    return forecast_total(&reading) <= (size_t)SMALL_MEMORY << 30;
}

// A small graph may have fewer nodes than there would be ranks.
static bool fit_ranks(Plan *p) {
    if (!graph_is_small(p))
        return true;
    if (!open_cut(p, &p->cut, 1))
        return false;
    p->nodes = p->cut.shard->set[NODES].total;
    plan_cut_clear(&p->cut);
    while (p->options->plan_ranks == NULL && p->ranks[p->points - 1] > p->nodes)
        p->points--;
    int most = p->ranks[p->points - 1];
    return most <= p->nodes ||
           error_config(&p->err, "--ranks: %d ranks, but there are %ld nodes", most, p->nodes);
}

// The cuts from which others are extrapolated: made where the graph is small.
static bool open_small_cuts(Plan *p) {
    bool may_cut = p->nodes > 0;
    for (int i = 0; i < SMALL; i++) {
        bool there;
        if (!in_cache(p, small_cuts[i], &there))
            return false;
        if (!there && (!may_cut || small_cuts[i] > p->nodes))
            continue;
        if (!open_cut(p, &p->small[p->smalls], small_cuts[i]))
            return false;
        p->smalls++;
    }
    return p->smalls > 0 ||
           error_set(&p->err, EXIT_NO_INPUT,
                     "the cache has no cut into 2, 4 or 8 parts to extrapolate from, and the graph "
                     "is too large to make them unasked; make one: fringe partition %s --parts 8",
                     p->options->argument[0]);
}

// The growth is only needed where a cut is missing.
static bool prepare_growth(Plan *p) {
    int most = 0;
    for (int i = 0; i < p->points; i++) {
        bool there;
        if (!in_cache(p, p->ranks[i], &there))
            return false;
        most = there ? most : p->ranks[i];
    }
    return most == 0 || (open_small_cuts(p) && plan_growth_fit(&p->growth, p->small, p->smalls,
                                                               most, p->config, &p->err));
}

// The largest small cut into fewer parts.
static PlanCut *base_of(Plan *p, int parts) {
    PlanCut *base = NULL;
    for (int i = 0; i < p->smalls; i++)
        if (p->small[i].parts < parts)
            base = &p->small[i];
    return base;
}

static bool make_cut(Plan *p, int parts) {
    bool there;
    if (!in_cache(p, parts, &there))
        return false;
    if (there)
        return open_cut(p, &p->cut, parts);
    PlanCut *base = base_of(p, parts);
    if (base == NULL)
        return error_set(&p->err, EXIT_NO_INPUT,
                         "no cut into fewer than %d parts is in the cache; make the cut itself: "
                         "fringe partition %s --parts %d",
                         parts, p->options->argument[0], parts);
    return plan_cut_estimate(&p->cut, base, &p->growth, parts, &p->err);
}

// ---- estimates

// Every mode has a codec of its own, so its packing is measured for it.
static bool measure_once(Plan *p, PlanSpeed speed[MODES]) {
    for (int m = 0; m < p->modes && p->measured; m++) {
        int same = 0;
        while (same < m &&
               strcmp(p->config[same].quantization.codec, p->config[m].quantization.codec) != 0)
            same++;
        if (same < m)
            speed[m] = speed[same];
        else if (!plan_measure(&speed[m], &p->config[m], p->cut.shard, &p->err))
            return false;
    }
    for (int m = 0; m < p->modes && !p->measured; m++)
        speed[m] = p->machine.speed;
    return true;
}

// One measurement of the graph's own model, for all modes.
static bool settle_precisions(Plan *p, const Shard *graph) {
    PrecisionChoice choice;
    Comm alone;
    comm_self(&alone);
    if (strcmp(p->config->run.precision, "auto") != 0)
        return true;
    if (!precision_measure(&choice, p->config, graph, &alone, &p->err) ||
        !precision_take(&choice, p->config->run.precision_error, &p->err))
        return false;
    for (int m = 0; m < p->modes; m++)
        snprintf(p->config[m].run.precision, CONFIG_WORD, "%s", choice.taken);
    return true;
}

static bool estimate_all(Plan *p) {
    PlanSpeed speed[MODES];
    bool ok = open_cut(p, &p->cut, 1); // the whole graph, to measure on
    const Shard *graph = ok ? p->cut.shard : NULL;
    if (ok) {
        double columns = (double)graph->classes;
        double classes = graph->numeric ? 0 : graph->multilabel ? columns : 1;
        p->answers =
            (double)graph->set[NODES].total * (columns * sizeof(float) + classes * sizeof(int64_t));
        ok = settle_precisions(p, graph) && measure_once(p, speed);
    }
    p->machine.speed = ok ? speed[0] : p->machine.speed;
    plan_cut_clear(&p->cut);
    for (int i = 0; i < p->points && ok; i++) {
        ok = make_cut(p, p->ranks[i]);
        p->checked[i] = p->cut.checked;
        for (int m = 0; m < p->modes && ok; m++) {
            PlanMachine machine = p->machine;
            machine.speed = speed[m];
            ok = plan_estimate(&p->estimate[m][i], &p->config[m], &p->cut, &machine, &p->err);
        }
        plan_cut_clear(&p->cut);
    }
    return ok;
}

static bool make_plan(Plan *p) {
    const char *ranks = p->options->plan_ranks;
    if (!read_ranks(p, ranks != NULL ? ranks : "1,2,4,8") || !read_machine(p) || !load_modes(p) ||
        !fit_ranks(p))
        return false;
    threads_set(0, 1);
    bool ok = prepare_growth(p) && estimate_all(p);
    for (int i = 0; i < p->smalls; i++)
        plan_cut_clear(&p->small[i]);
    return ok;
}

ExitCode cmd_plan(const Options *options, Error *err) {
    FREED Plan *p = ALLOC(Plan, 1, "plan"); // too large for the stack
    *p = (Plan){.options = options};
    p->config = ALLOC(Config, MODES, "plan");
    FREED void *estimates = ALLOC(PlanEstimate, MODES * PLAN_POINTS, "plan");
    p->estimate = estimates;
    bool ok = make_plan(p);
    progress_end("");
    say_lines("warning    ", p->warnings.text);
    if (ok && (options->svg == NULL || plan_draw(p)))
        options->json ? plan_print_json(p) : plan_print_text(p);
    *err = p->err;
    memory_free(p->config);
    return (ExitCode)err->code;
}
