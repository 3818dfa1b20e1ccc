// See sketch_shape.h, and the most that a message and its scratch take.

#include "sketch_shape.h"
#include "differences.h"
#include "quantiles.h"

// ---- the shape

static int bits_of(int most) {
    int bits = 0;
    while (most >> bits > 0)
        bits++;
    return bits;
}

static int larger(int a, int b) { return a > b ? a : b; }

Shape shape_of(const SketchOptions *options, int64_t n, SketchForm form, const int buckets[SIGNS]) {
    Shape shape = {.options = options, .n = n, .buckets = {buckets[0], buckets[1]}};
    for (int s = 0; s < SIGNS; s++) {
        shape.width[s] = larger(1, (buckets[s] + options->groups - 1) / options->groups);
        shape.lists[s] = (buckets[s] + shape.width[s] - 1) / shape.width[s];
    }
    shape.bits = bits_of(form == SKETCH_DENSE ? buckets[0] + buckets[1]
                                              : larger(shape.width[0], shape.width[1]) - 1);
    return shape;
}

// ---- lists

List list_at(const Shape *shape, int i) {
    int sign = i >= shape->lists[0], group = i - (sign ? shape->lists[0] : 0);
    return (List){sign, group * shape->width[sign], shape->width[sign]};
}

int list_of(const Shape *shape, int code) {
    int sign = code > zero_of(shape);
    return (sign ? shape->lists[0] : 0) + bucket_at(shape, code) / shape->width[sign];
}

static int64_t bins_of(const Shape *shape, List list, int64_t keys) {
    return list.width > 1 ? (int64_t)ceil(shape->options->bins * (double)keys) : 0;
}

void place_lists(Lists *lists, const Shape *shape) {
    lists->begin[0] = lists->cell[0] = 0;
    for (int i = 0; i < lists_of(shape); i++) {
        int64_t bins = bins_of(shape, list_at(shape, i), lists->begin[i + 1]);
        lists->begin[i + 1] += lists->begin[i];
        lists->cell[i + 1] = lists->cell[i] + shape->options->tables * bins;
    }
}

MinMax sketch_at(const Shape *shape, const Lists *lists, int i, uint32_t seed, uint8_t *cell) {
    int64_t bins = bins_of(shape, list_at(shape, i), keys_in(lists, i));
    return min_max_open(seed, shape->options->tables, bins, cell + lists->cell[i]);
}

int code_of_key(const Shape *shape, List list, const MinMax *sketch, uint32_t key) {
    int bucket = list.first + (list.width > 1 ? min_max_get(sketch, key) : 0);
    return bucket < shape->buckets[list.sign] ? code_at(shape, list.sign, bucket) : zero_of(shape);
}

// ---- the most that there may be

int sketch_sign_most(const SketchOptions *options) {
    return options->buckets / 2 < SIGN_MOST ? options->buckets / 2 : SIGN_MOST;
}

int64_t sketch_keys_most(const SketchOptions *options, int64_t n) {
    return options->part < 1 ? top_count(options->part, n) : n / 2;
}

static int64_t lists_most(const SketchOptions *options) {
    int sign = sketch_sign_most(options);
    return SIGNS * (int64_t)(options->groups < sign ? options->groups : sign);
}

static Shape largest_shape(const SketchOptions *options, int64_t n, SketchForm form) {
    int most = sketch_sign_most(options);
    return shape_of(options, n, form, (const int[SIGNS]){most, most});
}

static int64_t cells_most(const SketchOptions *options, int64_t n) {
    double bins = options->bins * (double)sketch_keys_most(options, n);
    return options->tables * ((int64_t)bins + 1 + lists_most(options));
}

static int64_t levels_most(const Shape *shape, int64_t values) {
    int64_t levels = SIGNS + values / VALUES_MOST, all = codes_of(shape) - 1;
    return LEVEL_BYTES * (levels < all ? levels : all);
}

static size_t dense_most(const SketchOptions *options, int64_t n) {
    Shape shape = largest_shape(options, n, SKETCH_DENSE);
    return (size_t)(HEAD_BYTES + levels_most(&shape, n) + numbers_most(n, shape.bits));
}

static size_t keyed_most(const SketchOptions *options, int64_t n) {
    Shape shape = largest_shape(options, n, SKETCH_KEYS);
    int64_t keys = sketch_keys_most(options, n), lists = lists_most(options);
    return (size_t)(HEAD_BYTES + SEED_BYTES + COUNT_BYTES * lists + levels_most(&shape, keys) +
                    numbers_most(cells_most(options, n), shape.bits)) +
           differences_most(n, keys, lists);
}

size_t sketch_most(const SketchOptions *options, int64_t n) {
    size_t dense = dense_most(options, n), keyed = keyed_most(options, n);
    if (n == 0)
        return 0;
    return options->part < 1 || keyed > dense ? keyed : dense;
}

// ---- scratch

size_t sketch_scratch(const SketchOptions *options, int64_t n) {
    return (size_t)(SIGNS * QUANTILE_BINS + sketch_keys_most(options, n)) * sizeof(uint32_t) +
           (size_t)(n + cells_most(options, n));
}

Work work_at(void *scratch, const SketchOptions *options, int64_t n) {
    Work work = {.bin = {scratch, (uint32_t *)scratch + QUANTILE_BINS}};
    work.key = work.bin[1] + QUANTILE_BINS;
    work.code = (uint8_t *)(work.key + sketch_keys_most(options, n));
    work.cell = work.code + n;
    return work;
}
