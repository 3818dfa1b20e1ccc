// What fringe plan prints: tables, JSON, and the lines of its picture.

#include "plan.h"

static size_t memory_of(const PlanEstimate *e) {
    return forecast_total(&e->memory) + forecast_device_total(&e->memory);
}

static void print_machine(const Plan *p) {
    const PlanMachine *m = &p->machine;
    printf("hosts      %g cores, %d rank%s each; link %.3g Gbit/s, %s (%s)\n", m->cores,
           m->ranks_per_host, m->ranks_per_host == 1 ? "" : "s", m->bandwidth * 8 / 1e9,
           SHOWN_SECONDS(m->latency), p->link_given ? "--link" : "assumed");
    printf("a core     %.3g GFLOP/s dense, %.3g GB/s aggregates, %.3g GB/s pointwise, %.3g GB/s "
           "packing (%s)\n",
           m->speed.flops / 1e9, m->speed.gather / 1e9, m->speed.point / 1e9, m->speed.pack / 1e9,
           p->measured ? "measured here" : "--compute");
}

// Bytes that a rank may take where so many share a host.
static double limit_of(const Plan *p, int ranks) {
    double given = p->config->run.memory_limit * (1 << 30);
    int sharing = ranks < p->machine.ranks_per_host ? ranks : p->machine.ranks_per_host;
    return given > 0 ? given : (double)memory_available() / sharing;
}

// The mode that takes most on the i-th number of ranks.
static int most_at(const Plan *p, int i) {
    int most = 0;
    for (int m = 1; m < p->modes; m++)
        if (memory_of(&p->estimate[m][i]) > memory_of(&p->estimate[most][i]))
            most = m;
    return most;
}

static double share_at(const Plan *p, int i) {
    return (double)memory_of(&p->estimate[most_at(p, i)][i]) / limit_of(p, p->ranks[i]);
}

static int largest_item(const MemoryForecast *forecast) {
    int largest = 0;
    for (int k = 1; k < forecast->count; k++)
        largest = forecast->item[k].bytes > forecast->item[largest].bytes ? k : largest;
    return largest;
}

// Whether every mode fits on every number of ranks, what is the largest, and what to change.
static void print_verdict(const Plan *p) {
    int worst = 0, enough = -1;
    for (int i = 0; i < p->points; i++) {
        worst = share_at(p, i) > share_at(p, worst) ? i : worst;
        enough = enough < 0 && share_at(p, i) <= 1 ? i : enough;
    }
    int m = most_at(p, worst), ranks = p->ranks[worst];
    const PlanEstimate *e = &p->estimate[m][worst];
    int largest = largest_item(&e->memory);
    bool fits = share_at(p, worst) <= 1;
    printf("%s: %s on %d rank%s takes most, %s of the %s that a rank may use; its largest item is "
           "%s, %s",
           fits ? "fits" : "does not fit", p->mode[m], ranks, ranks == 1 ? "" : "s",
           SHOWN_MEMORY((double)memory_of(e)), SHOWN_MEMORY(limit_of(p, ranks)),
           e->memory.item[largest].what, SHOWN_MEMORY((double)e->memory.item[largest].bytes));
    if (!fits && enough >= 0)
        printf("; every mode fits on %d ranks", p->ranks[enough]);
    else if (!fits)
        printf("; take more ranks on more hosts (--ranks), or fewer columns (model.hidden)");
    printf("\n\n");
}

static void print_table(const Plan *p) {
    printf("%-18s %5s %-12s %9s %9s %9s %9s\n", "mode", "ranks", "cut", "memory", "sent", "epoch",
           "messages");
    for (int m = 0; m < p->modes; m++)
        for (int i = 0; i < p->points; i++) {
            const PlanEstimate *e = &p->estimate[m][i];
            printf("%-18s %5d %-12s %9s %9s %9s %9s\n", i == 0 ? p->mode[m] : "", p->ranks[i],
                   p->checked[i] ? "checked" : "extrapolated", SHOWN_MEMORY((double)memory_of(e)),
                   SHOWN_BYTES(e->bytes), SHOWN_SECONDS(plan_time_total(&e->time)),
                   SHOWN_SECONDS(e->time.messages + e->time.reduce));
        }
    printf("\nmemory: of the largest rank; sent, epoch: by all ranks in an epoch, and its time;\n"
           "messages: what no computation hides of it. --verbose: all parts and items.\n");
}

static void print_mode(const Plan *p, int m) {
    printf("\n%s\n%6s %-12s %9s %9s %9s %9s %9s %9s %9s %9s %9s %9s\n", p->mode[m], "ranks", "cut",
           "memory", "sent", "epoch", "dense", "sparse", "point", "pack", "messages", "reduce",
           "(hidden)");
    for (int i = 0; i < p->points; i++) {
        const PlanEstimate *e = &p->estimate[m][i];
        const PlanTime *t = &e->time;
        const double seconds[] = {plan_time_total(t), t->dense, t->aggregate,
                                  t->pointwise,       t->pack,  t->messages,
                                  t->reduce,          t->hidden};
        printf("%6d %-12s %9s %9s", p->ranks[i], p->checked[i] ? "checked" : "extrapolated",
               SHOWN_MEMORY((double)memory_of(e)), SHOWN_BYTES(e->bytes));
        for (size_t k = 0; k < sizeof seconds / sizeof *seconds; k++)
            printf(" %9s", SHOWN_SECONDS(seconds[k]));
        printf("\n");
    }
}

static size_t item_bytes(const MemoryForecast *forecast, const char *what, bool on_device) {
    for (int i = 0; i < forecast->count; i++)
        if (forecast->item[i].on_device == on_device && strcmp(forecast->item[i].what, what) == 0)
            return forecast->item[i].bytes;
    return 0;
}

// One line for each item of any number of ranks.
static void print_items(const Plan *p, int m) {
    const PlanEstimate *e = p->estimate[m];
    MemoryForecast all = {0};
    for (int i = 0; i < p->points; i++)
        for (int k = 0; k < e[i].memory.count; k++)
            (e[i].memory.item[k].on_device ? forecast_add_device : forecast_add)(
                &all, e[i].memory.item[k].what, e[i].memory.item[k].bytes);
    printf("\nmemory of the largest rank, %s\n%-32s", p->mode[m], "ranks");
    for (int i = 0; i < p->points; i++)
        printf(" %9d", p->ranks[i]);
    printf("\n");
    for (int k = 0; k < all.count; k++) {
        printf("%-32s", all.item[k].what);
        for (int i = 0; i < p->points; i++) {
            size_t bytes = item_bytes(&e[i].memory, all.item[k].what, all.item[k].on_device);
            printf(" %9s", SHOWN_MEMORY((double)bytes));
        }
        printf("\n");
    }
}

void plan_print_text(const Plan *p) {
    print_verdict(p);
    print_machine(p);
    printf("predict    writes %s: scores and classes of all nodes\n\n", SHOWN_BYTES(p->answers));
    print_table(p);
    for (int m = 0; m < p->modes && p->options->verbose; m++)
        print_mode(p, m);
    for (int m = 0; m < p->modes && p->options->verbose; m++)
        print_items(p, m);
}

static void put_point(JsonWriter *w, const Plan *p, int m, int i) {
    const PlanEstimate *e = &p->estimate[m][i];
    const PlanTime *t = &e->time;
    JSON_PUT_OBJECT(w, NULL) {
        JSON_PUT(w, PAIR("ranks", p->ranks[i]), PAIR("checked", p->checked[i]),
                 PAIR("memory", (int64_t)memory_of(e)), PAIR("memory_least", (int64_t)e->least));
        JSON_PUT_OBJECT(w, "items")
            for (int k = 0; k < e->memory.count; k++)
                json_put_int(w, e->memory.item[k].what, (int64_t)e->memory.item[k].bytes);
        JSON_PUT(w, PAIR("bytes", e->bytes), PAIR("rows", e->rows), PAIR("halo", e->halo),
                 PAIR("reduce_bytes", e->reduce_bytes), PAIR("seconds", plan_time_total(t)),
                 PAIR("dense", t->dense), PAIR("aggregate", t->aggregate),
                 PAIR("pointwise", t->pointwise), PAIR("pack", t->pack),
                 PAIR("messages", t->messages), PAIR("reduce", t->reduce),
                 PAIR("hidden", t->hidden));
    }
}

void plan_print_json(const Plan *p) {
    JsonWriter w;
    const PlanMachine *m = &p->machine;
    json_writer_begin(&w, false);
    JSON_PUT(&w, PAIR("cores", m->cores), PAIR("ranks_per_host", m->ranks_per_host),
             PAIR("link_bytes_per_second", m->bandwidth), PAIR("link_latency", m->latency),
             PAIR("link", p->link_given ? "given" : "assumed"),
             PAIR("compute", p->measured ? "measured" : "given"));
    JSON_PUT_OBJECT(&w, "modes")
        for (int k = 0; k < p->modes; k++)
            JSON_PUT_ARRAY(&w, p->mode[k])
                for (int i = 0; i < p->points; i++)
                    put_point(&w, p, k, i);
    print_object(&w, &terminal_tables);
}

bool plan_draw(Plan *p) {
    FREED PlanLine *line = ALLOC(PlanLine, p->modes, "picture of a plan");
    char name[DATASET_NAME] = "", title[DATASET_NAME + CONFIG_WORD + 16];
    dataset_name(p->config, name, &(Error){0});
    snprintf(title, sizeof title, "%s, %s: plan", name, p->config->model.layer);
    for (int m = 0; m < p->modes; m++) {
        line[m] = (PlanLine){.name = p->mode[m], .count = p->points};
        for (int i = 0; i < p->points; i++)
            line[m].point[i] = (PlanPoint){.ranks = p->ranks[i],
                                           .checked = p->checked[i],
                                           .seconds = plan_time_total(&p->estimate[m][i].time),
                                           .memory = (double)memory_of(&p->estimate[m][i])};
    }
    return plan_svg(p->options->svg, title, line, p->modes, &p->err);
}
