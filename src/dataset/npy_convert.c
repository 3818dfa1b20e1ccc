// npy arrays to native numbers in C order: half to double, big to little endian, columns to rows.

#include "fringe/npy.h"

// The bytes of one element as an unsigned number.
static inline uint64_t load(const unsigned char *at, int item, bool big_endian) {
    uint64_t value = 0;
    for (int i = 0; i < item; i++)
        value |= (uint64_t)at[big_endian ? item - 1 - i : i] << (8 * i);
    return value;
}

// IEEE half precision: 1 sign, 5 exponent, 10 fraction bits.
static double half_value(uint64_t bits) {
    int exponent = (int)(bits >> 10 & 31);
    double fraction = (double)(bits & 1023);
    double size = exponent == 31  ? (fraction == 0 ? INFINITY : NAN)
                  : exponent == 0 ? ldexp(fraction, -24)
                                  : ldexp(fraction + 1024, exponent - 25);
    return (bits >> 15 & 1) != 0 ? -size : size;
}

static double float_value(uint64_t bits, int item) {
    if (item == 2)
        return half_value(bits);
    if (item == 8) {
        double value;
        memcpy(&value, &bits, 8);
        return value;
    }
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, 4);
    return (double)value;
}

// Two's complement of `item` bytes.
static int64_t signed_value(uint64_t bits, int item) {
    int shift = 64 - 8 * item;
    return (int64_t)(bits << shift) >> shift;
}

// Rounded once: an integer does not become a double first. False if it does not fit.
static bool to_float(const Npy *npy, const unsigned char *at, float *out) {
    uint64_t bits = load(at, npy->item, npy->big_endian);
    if (npy->kind != NPY_FLOAT) {
        *out = npy->kind == NPY_INT ? (float)signed_value(bits, npy->item) : (float)bits;
        return true;
    }
    double value = float_value(bits, npy->item);
    *out = (float)value;
    return !isinf(*out) || isinf(value);
}

// Walks an array in C order; `at` is the element's place in the file.
typedef struct Walk {
    const Npy *npy;
    int64_t index[NPY_RANK], stride[NPY_RANK]; // in elements of the file
    int64_t at;
} Walk;

static Walk walk_start(const Npy *npy) {
    Walk walk = {.npy = npy};
    int64_t stride = 1;
    for (int k = 0; k < npy->rank; k++) {
        int d = npy->fortran ? k : npy->rank - 1 - k;
        walk.stride[d] = stride;
        stride *= npy->shape[d];
    }
    return walk;
}

static void walk_next(Walk *walk) {
    for (int d = walk->npy->rank - 1; d >= 0; d--) {
        walk->at += walk->stride[d];
        if (++walk->index[d] < walk->npy->shape[d])
            return;
        walk->at -= walk->stride[d] * walk->npy->shape[d];
        walk->index[d] = 0;
    }
}

static bool in_c_order(const Npy *npy) { return !npy->fortran || npy->rank < 2; }

// True if its elements are the machine's numbers of 4 bytes, in C order.
static bool is_native(const Npy *npy, NpyKind kind) {
    return npy->kind == kind && npy->item == 4 && !npy->big_endian && in_c_order(npy);
}

static bool kind_error(const Npy *npy, const char *wanted, Error *err) {
    bool cast = npy->kind == NPY_FLOAT && strcmp(wanted, "integers") == 0;
    return error_data(err, "'%s' has type '%c%d' where %s are needed%s", npy->name, (char)npy->kind,
                      npy->item, wanted, cast ? "; save it as such: array.astype(int)" : "");
}

static void fill_integers(const Npy *npy, uint64_t *bits) {
    if (npy->item == 8 && !npy->big_endian && in_c_order(npy)) {
        memcpy(bits, npy->data, (size_t)npy->elements * sizeof *bits);
        return;
    }
    Walk walk = walk_start(npy);
    for (int64_t e = 0; e < npy->elements; e++, walk_next(&walk)) {
        bits[e] = load(npy->data + walk.at * npy->item, npy->item, npy->big_endian);
        if (npy->kind == NPY_INT)
            bits[e] = (uint64_t)signed_value(bits[e], npy->item);
    }
}

typedef bool Fits(const Npy *npy, const uint64_t *bits, Error *err);

// The elements in C order with 64 bits each, those with a sign as two's complement, that `fits`
// says true of. NULL with an error; free it with memory_free.
static uint64_t *integers(const Npy *npy, Fits *fits, Error *err) {
    if (npy->kind != NPY_INT && npy->kind != NPY_UINT && npy->kind != NPY_BOOL) {
        kind_error(npy, "integers", err);
        return NULL;
    }
    uint64_t *bits = memory_try((size_t)npy->elements * sizeof *bits, "integers of an array", err);
    if (bits == NULL)
        return NULL;
    fill_integers(npy, bits);
    if (fits(npy, bits, err))
        return bits;
    memory_free(bits);
    return NULL;
}

static bool fits_int64(const Npy *npy, const uint64_t *bits, Error *err) {
    for (int64_t e = 0; npy->kind != NPY_INT && e < npy->elements; e++) {
        if (npy->kind == NPY_UINT && bits[e] > INT64_MAX)
            return error_data(err, "'%s' holds %lu, which is too large", npy->name, bits[e]);
        if (npy->kind == NPY_BOOL && bits[e] > 1)
            return error_data(err, "'%s' holds a bool that is neither 0 nor 1", npy->name);
    }
    return true;
}

bool npy_to_int64(const Npy *npy, int64_t **out, Error *err) {
    *out = (int64_t *)integers(npy, fits_int64, err);
    return *out != NULL;
}

static bool fits_ids(const Npy *npy, const uint64_t *bits, Error *err) {
    if (npy->kind == NPY_BOOL)
        return kind_error(npy, "ids", err);
    for (int64_t e = 0; npy->kind == NPY_INT && e < npy->elements; e++)
        if (bits[e] > INT64_MAX)
            return error_data(err, "'%s' holds %ld; ids are whole numbers from 0 to 2^64 - 1",
                              npy->name, bits[e]);
    return true;
}

bool npy_to_ids(const Npy *npy, uint64_t **out, Error *err) {
    *out = integers(npy, fits_ids, err);
    return *out != NULL;
}

static bool fill_float(const Npy *npy, float *out, Error *err) {
    Walk walk = walk_start(npy);
    for (int64_t e = 0; e < npy->elements; e++, walk_next(&walk)) {
        const unsigned char *at = npy->data + walk.at * npy->item;
        if (!to_float(npy, at, &out[e]))
            return error_data(err, "'%s' holds %g, which does not fit 32-bit floats", npy->name,
                              float_value(load(at, npy->item, npy->big_endian), npy->item));
    }
    return true;
}

bool npy_to_float(const Npy *npy, float **out, Error *err) {
    *out = NULL;
    if (npy->kind == NPY_TEXT)
        return kind_error(npy, "numbers", err);
    size_t bytes = (size_t)npy->elements * sizeof **out;
    float *value = memory_try(bytes, "numbers of an array", err);
    if (value == NULL)
        return false;
    if (is_native(npy, NPY_FLOAT)) {
        memcpy(value, npy->data, bytes);
    } else if (!fill_float(npy, value, err)) {
        memory_free(value);
        return false;
    }
    *out = value;
    return true;
}

// ---- taken over

bool npy_take_float(Npy *npy, float **out, Error *err) {
    if (!is_native(npy, NPY_FLOAT))
        return npy_to_float(npy, out, err);
    *out = (float *)(void *)npy->data;
    npy->data = NULL;
    return true;
}

bool npy_is_taken(const Npy *npy) { return is_native(npy, NPY_FLOAT) || is_native(npy, NPY_INT); }

static bool out_of_range(const Npy *npy, int64_t entry, int64_t value, const char *nouns,
                         int64_t below, Error *err) {
    return error_data(err, "'%s' holds %ld at entry %ld, but %s are 0 to %ld", npy->name, value,
                      entry, nouns, below - 1);
}

static bool take_int32(Npy *npy, const char *nouns, int64_t below, int32_t **out, Error *err) {
    const int32_t *value = (const int32_t *)(const void *)npy->data;
    int64_t bad = INT64_MAX; // the first that is out of range
#pragma omp parallel for schedule(static) reduction(min : bad) if (npy->elements > 65536)
    for (int64_t e = 0; e < npy->elements; e++)
        if ((value[e] < 0 || value[e] >= below) && e < bad)
            bad = e;
    if (bad < INT64_MAX)
        return out_of_range(npy, bad, value[bad], nouns, below, err);
    *out = (int32_t *)(void *)npy->data;
    npy->data = NULL;
    return true;
}

bool npy_take_below(Npy *npy, const char *nouns, int64_t below, int32_t **out, Error *err) {
    *out = NULL;
    if (npy->kind != NPY_INT && npy->kind != NPY_UINT)
        return kind_error(npy, "integers", err);
    if (is_native(npy, NPY_INT))
        return take_int32(npy, nouns, below, out, err);
    int32_t *number =
        memory_try((size_t)npy->elements * sizeof *number, "numbers of an array", err);
    Walk walk = walk_start(npy);
    for (int64_t e = 0; number != NULL && e < npy->elements; e++, walk_next(&walk)) {
        uint64_t bits = load(npy->data + walk.at * npy->item, npy->item, npy->big_endian);
        int64_t value = npy->kind == NPY_INT ? signed_value(bits, npy->item) : (int64_t)bits;
        if (value < 0 || value >= below) {
            memory_free(number);
            return out_of_range(npy, e, value, nouns, below, err);
        }
        number[e] = (int32_t)value;
    }
    *out = number;
    return number != NULL;
}
