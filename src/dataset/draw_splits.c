// Splits that are drawn: the labelled nodes in an order that depends on the seed and the node
// alone, of which the first are for training, the next for validation and the rest for test.
//
//   random:a,b        shares a and b of m labelled nodes: floor(a m + 1/2), floor((a+b) m + 1/2)
//   per-class:T,V,S   T of each class, then V and S of the rest; S missing: all of the rest
//   shchur:T,V        T and V of each class, the rest for test

#include "internal.h"

typedef struct Draw {
    Dataset *dataset;
    RandomDraw *order; // [count]
    int64_t count;
} Draw;

static bool is_labelled(const Dataset *d, int64_t i) {
    return (d->label != NULL || d->labels != NULL || d->numbers != NULL) &&
           dataset_is_labelled(d, i);
}

static bool order_nodes(Draw *draw, int64_t seed, Error *err) {
    const Dataset *d = draw->dataset;
    RandomKey key = random_key((uint64_t)seed, RANDOM_SPLIT, 0, 0, 0);
    draw->order = TRY(RandomDraw, d->nodes, "nodes in the order of a draw", err);
    if (draw->order == NULL)
        return false;
    for (int64_t i = 0; i < d->nodes; i++)
        if (is_labelled(d, i))
            draw->order[draw->count++] = random_draw(key, (int32_t)i);
    random_sort(draw->order, draw->count);
    return draw->count > 0 ||
           error_config(err, "data.splits draws from the labelled nodes, but no node has a label; "
                             "name labels in data.labels or data.nodes");
}

// ---- shares, in exact decimals

enum { DIGITS = 9 };
// "0.6" of a text that ends at a comma or its end, in units of 10^-DIGITS. False: it is no share.
static bool read_share(int64_t *share, const char **at) {
    int64_t value = 0, unit = 1000000000;
    const char *c = *at;
    for (; *c >= '0' && *c <= '9' && value <= unit; c++)
        value = value * 10 + (*c - '0') * unit;
    if (*c == '.')
        for (c++; *c >= '0' && *c <= '9'; c++) {
            unit /= 10;
            value += (*c - '0') * unit;
            if (unit == 0 && *c != '0')
                return false;
        }
    bool any = c > *at && !(c == *at + 1 && c[-1] == '.');
    *share = value;
    *at = c;
    return any && value <= 1000000000;
}

// floor(share * count + 1/2)
static int64_t part_of(int64_t times, int64_t count) {
    __int128 unit = 1000000000;
    return (int64_t)(((__int128)times * count * 2 + unit) / (2 * unit));
}

static void put(Draw *draw, int64_t begin, int64_t end, uint8_t split) {
    for (int64_t k = begin; k < end; k++)
        draw->dataset->split[draw->order[k].of] = split;
}

static bool draw_shares(Draw *draw, const char *text, const char *whole, Error *err) {
    int64_t train, val = 0;
    const char *at = text;
    bool ok = read_share(&train, &at);
    if (ok && *at == ',') {
        at++;
        ok = read_share(&val, &at);
    }
    if (!ok || *at != '\0' || train <= 0 || train + val > 1000000000)
        return error_config(err,
                            "data.splits: '%s' needs the shares of training and validation, above "
                            "0 and together at most 1, with at most 9 decimals: random:0.6,0.2",
                            SHOWN(whole));
    int64_t first = part_of(train, draw->count);
    int64_t second = part_of(train + val, draw->count);
    put(draw, 0, first, SPLIT_TRAIN);
    put(draw, first, second, SPLIT_VAL);
    put(draw, second, draw->count, SPLIT_TEST);
    return true;
}

// ---- so many

// T,V or T,V,S. Returns how many there are; 0: it has another form.
static int read_counts(int64_t count[3], const char *text) {
    int read = 0;
    char *end;
    for (; read < 3; text = end + 1) {
        if (*text < '0' || *text > '9')
            return 0;
        int64_t said = strtoll(text, &end, 10);
        count[read++] = said < INT32_MAX ? said : INT32_MAX; // more than there are nodes
        if (*end == '\0')
            return read;
        if (*end != ',')
            return 0;
    }
    return 0;
}

// The first `most` of each class that are in no split yet.
static void take_of_classes(Draw *draw, int64_t most, uint8_t split) {
    const Dataset *d = draw->dataset;
    FREED int64_t *taken = ALLOC(int64_t, d->classes, "drawn nodes of classes");
    for (int64_t k = 0; k < draw->count; k++) {
        int32_t node = draw->order[k].of, label = d->label[node];
        if (d->split[node] != SPLIT_NONE || taken[label] == most)
            continue;
        d->split[node] = split;
        taken[label]++;
    }
}

// Classes that have nodes, but fewer than each class should give.
static int64_t short_classes(const Draw *draw, int64_t wanted) {
    const Dataset *d = draw->dataset;
    int64_t *there = ALLOC(int64_t, d->classes, "nodes of classes"), count = 0;
    for (int64_t k = 0; k < draw->count; k++)
        there[d->label[draw->order[k].of]]++;
    for (int64_t c = 0; c < d->classes; c++)
        count += there[c] > 0 && there[c] < wanted;
    memory_free(there);
    return count;
}

static void take_rest(Draw *draw, int64_t most, uint8_t split) {
    for (int64_t k = 0; k < draw->count && most > 0; k++)
        if (draw->dataset->split[draw->order[k].of] == SPLIT_NONE) {
            draw->dataset->split[draw->order[k].of] = split;
            most--;
        }
}

static bool draw_classes(Draw *draw, const char *text, bool shchur, const char *whole, Error *err) {
    int64_t count[3] = {0, 0, INT64_MAX};
    int read = read_counts(count, text);
    if (read < 2 || (shchur && read > 2) || count[0] < 1)
        return error_config(err,
                            "data.splits: '%s' needs whole numbers, training nodes a class first: "
                            "per-class:20,500,1000 (validation and test of all nodes), or "
                            "shchur:20,30 (both a class, the rest for test)",
                            SHOWN(whole));
    if (draw->dataset->label == NULL)
        return error_config(
            err, "data.splits: '%s' draws from classes, but %s; random:0.6,0.2 draws from all",
            SHOWN(whole),
            draw->dataset->numeric ? "labels are numbers" : "nodes have several labels");
    take_of_classes(draw, count[0], SPLIT_TRAIN);
    if (shchur)
        take_of_classes(draw, count[1], SPLIT_VAL);
    else
        take_rest(draw, count[1], SPLIT_VAL);
    take_rest(draw, read > 2 ? count[2] : INT64_MAX, SPLIT_TEST);
    int64_t few = short_classes(draw, count[0] + (shchur ? count[1] : 0));
    if (few > 0)
        warnings_add(&draw->dataset->warnings,
                     "%ld of the classes have fewer nodes than data.splits asks of each, and give "
                     "all they have, for training first",
                     few);
    return true;
}

bool splits_draw(Dataset *dataset, const Config *config, Error *err) {
    const char *way = config->data.splits, *text = strchr(way, ':') + 1;
    Draw draw = {.dataset = dataset};
    splits_begin(dataset);
    bool ok = order_nodes(&draw, config->data.split_seed, err) &&
              (way[0] == 'r' ? draw_shares(&draw, text, way, err)
                             : draw_classes(&draw, text, way[0] == 's', way, err));
    memory_free(draw.order);
    if (ok && !has_split(dataset, SPLIT_TRAIN))
        ok = error_config(err, "data.splits: '%s' draws no training node", SHOWN(way));
    return ok;
}
