// Floats to a message of sketch.h.

#include "differences.h"
#include "quantiles.h"
#include "rans.h"
#include "sketch_shape.h"

// ---- numbers

static void pack(unsigned char *out, const uint8_t *number, int64_t n, int bits) {
    uint32_t waiting = 0;
    int have = 0;
    for (int64_t i = 0; i < n; i++) {
        waiting |= (uint32_t)number[i] << have;
        for (have += bits; have >= 8; have -= 8, waiting >>= 8)
            *out++ = (unsigned char)waiting;
    }
    if (have > 0)
        *out = (unsigned char)waiting;
}

static unsigned char *write_numbers(unsigned char *out, const Shape *shape, const uint8_t *number,
                                    int64_t n, int zero) {
    int64_t packed = numbers_most(n, shape->bits);
    if (n == 0 || packed == 0)
        return out;
    size_t bytes = shape->options->entropy
                       ? rans_encode(out, (size_t)packed, number, n, shape->bits, (uint8_t)zero)
                       : 0;
    if (bytes > 0)
        return out + bytes;
    out[0] = RANS_PACKED;
    pack(out + 1, number, n, shape->bits);
    return out + packed;
}

// ---- levels

// The mean of all floats of a code.
static unsigned char *write_levels(unsigned char *out, const Shape *shape, const float *x,
                                   const uint8_t *code) {
    double sum[CODES] = {0};
    int64_t count[CODES] = {0};
    for (int64_t i = 0; i < shape->n; i++) {
        sum[code[i]] += (double)x[i];
        count[code[i]]++;
    }
    for (int c = 0; c < codes_of(shape); c++)
        if (c != zero_of(shape)) {
            float level = count[c] > 0 ? (float)(sum[c] / (double)count[c]) : 0;
            memcpy(out, &level, sizeof level);
            out += sizeof level;
        }
    return out;
}

// ---- codes

// Codes of all floats. Returns how many are not zero; *buckets those of each sign.
static int64_t classify(Work *work, int buckets[SIGNS], const float *x, int64_t n,
                        const SketchOptions *options) {
    int64_t count[SIGNS] = {0};
    memset(work->bin[0], 0, SIGNS * QUANTILE_BINS * sizeof(uint32_t));
    for (int64_t i = 0; i < n; i++)
        if (x[i] != 0) {
            work->bin[x[i] > 0][quantile_bin(x[i])]++;
            count[x[i] > 0]++;
        }
    for (int s = 0; s < SIGNS; s++) {
        int64_t most = count[s] / VALUES_MOST > 1 ? count[s] / VALUES_MOST : 1;
        most = most < sketch_sign_most(options) ? most : sketch_sign_most(options);
        buckets[s] = count[s] > 0 ? quantiles_make(work->bin[s], count[s], (int)most) : 0;
    }
    for (int64_t i = 0; i < n; i++) {
        int bucket = x[i] == 0 ? -1 : (int)work->bin[x[i] > 0][quantile_bin(x[i])];
        work->code[i] = (uint8_t)(x[i] > 0 ? buckets[0] + 1 + bucket : buckets[0] - 1 - bucket);
    }
    return count[0] + count[1];
}

// ---- lists

// The keys of all lists, list by list.
static void sort_keys(Work *work, Lists *lists, const Shape *shape) {
    int64_t next[LISTS];
    memset(lists, 0, sizeof *lists);
    for (int64_t i = 0; i < shape->n; i++)
        if (work->code[i] != zero_of(shape))
            lists->begin[list_of(shape, work->code[i]) + 1]++;
    place_lists(lists, shape);
    memcpy(next, lists->begin, sizeof next);
    for (int64_t i = 0; i < shape->n; i++)
        if (work->code[i] != zero_of(shape))
            work->key[next[list_of(shape, work->code[i])]++] = (uint32_t)i;
}

// Puts the buckets of a list's keys into its sketch, and what comes of them back, if asked to.
static void put_list(Work *work, const Shape *shape, const Lists *lists, int i, uint32_t seed) {
    List list = list_at(shape, i);
    MinMax sketch = sketch_at(shape, lists, i, seed, work->cell);
    const uint32_t *key = work->key;
    if (list.width == 1)
        return;
    min_max_clear(&sketch, (uint8_t)(list.width - 1));
    for (int64_t k = lists->begin[i]; k < lists->begin[i + 1]; k++)
        min_max_put(&sketch, key[k], (uint8_t)(bucket_at(shape, work->code[key[k]]) - list.first));
    for (int64_t k = lists->begin[i]; shape->options->recalibrate && k < lists->begin[i + 1]; k++)
        work->code[key[k]] = (uint8_t)code_of_key(shape, list, &sketch, key[k]);
}

static unsigned char *write_keys(unsigned char *out, const Work *work, const Shape *shape,
                                 const Lists *lists) {
    for (int i = 0; i < lists_of(shape); i++) {
        DifferenceWriter keys = differences_write(out, keys_in(lists, i));
        for (int64_t k = lists->begin[i]; k < lists->begin[i + 1]; k++)
            differences_put(&keys, work->key[k]);
        out = keys.at;
    }
    return out;
}

static unsigned char *write_lists(unsigned char *out, const float *x, Work *work,
                                  const Shape *shape, uint32_t seed) {
    Lists lists;
    sort_keys(work, &lists, shape);
    for (int i = 0; i < lists_of(shape); i++)
        put_list(work, shape, &lists, i, seed);
    out = write_levels(out, shape, x, work->code);
    number_put(out, seed, SEED_BYTES);
    out += SEED_BYTES;
    for (int i = 0; i < lists_of(shape); i++, out += COUNT_BYTES)
        number_put(out, (uint32_t)keys_in(&lists, i), COUNT_BYTES);
    out = write_keys(out, work, shape, &lists);
    return write_numbers(out, shape, work->cell, lists.cell[lists_of(shape)], 0);
}

// ---- all of it

size_t sketch_write(unsigned char *out, const float *x, int64_t n, const SketchOptions *options,
                    uint32_t seed, void *scratch) {
    Work work = work_at(scratch, options, n);
    int buckets[SIGNS];
    unsigned char *at = out + HEAD_BYTES;
    if (n == 0)
        return 0;
    int64_t values = classify(&work, buckets, x, n, options);
    SketchForm form = options->part < 1 || 2 * values < n ? SKETCH_KEYS : SKETCH_DENSE;
    Shape shape = shape_of(options, n, form, buckets);
    assert(n <= INT32_MAX && (form == SKETCH_DENSE || values <= sketch_keys_most(options, n)));
    out[0] = (unsigned char)form;
    out[1] = (unsigned char)buckets[0], out[2] = (unsigned char)buckets[1];
    if (form == SKETCH_KEYS)
        return (size_t)(write_lists(at, x, &work, &shape, seed) - out);
    at = write_levels(at, &shape, x, work.code);
    return (size_t)(write_numbers(at, &shape, work.code, n, zero_of(&shape)) - out);
}
