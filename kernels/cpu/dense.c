// Dense products by a library: oneDNN's dnnl_sgemm, or any CBLAS.
//
// The one idea: libraries change bits with the number of threads and the height of the matrix, and
// do not poll. So a product is cut into fixed panels of 512 rows, each a call on one thread, and
// the panels run in our own parallel loop; inside it oneDNN sees that it is called from a parallel
// region and stays on one thread. The long thin product aT g is a fixed number of partial sums over
// fixed ranges of rows, added in order.
//
// Where the backend was started with bf16 or bf16x3, products are those of products.h instead.
#include "products.h"

#if defined(HAVE_DNNL)
#include <dnnl.h>
#else
#include <cblas.h>
#endif

enum {
    PANEL_ROWS = 512,
    PARTS = 16,        // partial sums of aT g, at most
    PART_ROWS = 256,   // rows of a part, at least
    PART_PANEL = 4096, // rows of one call inside a part: a millisecond or two
};

// c [rows, columns] = op(a) op(b) + beta c, row-major; op transposes where the letter is 'T'.
static void product(char a_op, char b_op, int64_t rows, int64_t columns, int64_t depth,
                    const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c,
                    int64_t ldc) {
#if defined(HAVE_DNNL)
    dnnl_status_t status =
        dnnl_sgemm(a_op, b_op, rows, columns, depth, 1.0f, a, lda, b, ldb, beta, c, ldc);
    CHECK(status == dnnl_success, EXIT_BUG, "dnnl_sgemm failed with status %d", (int)status);
#else
    cblas_sgemm(CblasRowMajor, a_op == 'T' ? CblasTrans : CblasNoTrans,
                b_op == 'T' ? CblasTrans : CblasNoTrans, (int)rows, (int)columns, (int)depth, 1.0f,
                a, (int)lda, b, (int)ldb, beta, c, (int)ldc);
#endif
}

#if defined(HAVE_DNNL)
const char *cpu_dense_describe(void) {
    static char text[64];
    const dnnl_version_t *version = dnnl_version();
    snprintf(text, sizeof text, "oneDNN %d.%d.%d", version->major, version->minor, version->patch);
    return text;
}
static void library_single(void) {} // inside a parallel region oneDNN takes one thread
#else
// Not every CBLAS has threads to be told about: weak symbols.
extern void openblas_set_num_threads(int) __attribute__((weak));
extern char *openblas_get_config(void) __attribute__((weak));

const char *cpu_dense_describe(void) {
    return openblas_get_config != NULL ? openblas_get_config() : "CBLAS";
}
static void library_single(void) {
    if (openblas_set_num_threads != NULL)
        openblas_set_num_threads(1);
}
#endif

static void dense_finish(CpuRows out, Range range, const float *bias) {
    int64_t columns = out.columns, padding = rows_stride(columns) - columns;
    if (bias == NULL && padding == 0)
        return;
    for (int64_t r = range.begin; r < range.end; r++) {
        float *row = out.at + r * out.stride;
        if (bias != NULL)
            for (int64_t c = 0; c < columns; c++)
                row[c] += bias[c];
        for (int64_t c = columns; c < columns + padding; c++)
            row[c] = 0;
    }
}

// out[r] = a[r] op(w), over the panels of a range.
static void panels(CpuRows out, Range range, CpuRows a, char w_op, const float *w,
                   const float *bias, bool add, const Poll *poll) {
    int64_t ldw = w_op == 'T' ? a.columns : out.columns;
    library_single();
#pragma omp parallel
    {
        Pace pace = pace_start(poll);
#pragma omp for schedule(dynamic)
        for (int64_t r = range.begin; r < range.end; r += PANEL_ROWS) {
            int64_t end = least(r + PANEL_ROWS, range.end);
            product('N', w_op, end - r, out.columns, a.columns, a.at + r * a.stride, a.stride, w,
                    ldw, add ? 1.0f : 0.0f, out.at + r * out.stride, out.stride);
            dense_finish(out, (Range){r, end}, bias);
            pace_call(&pace);
        }
    }
}

static bool by_bf16(void) { return cpu_products().inputs != PRODUCTS_FP32; }

// out = the sum of `count` products (+ out if add) (+ bias).
static void dense(Rows out, Range range, const ProductTerm *term, int count, bool transposed,
                  const DeviceFloat *bias, bool add, const Poll *poll) {
    if (by_bf16())
        return products_dense(cpu_rows_of_any(out), range, term, count, transposed, floats_of(bias),
                              add, poll);
    for (int i = 0; i < count; i++)
        panels(cpu_rows(out), range, term[i].a, transposed ? 'T' : 'N', term[i].w,
               i == 0 ? floats_of(bias) : NULL, add || i > 0, poll);
}

static ProductTerm term_of(Rows a, const DeviceFloat *w) {
    assert(by_bf16() || a.type == ROWS_FP32);
    return (ProductTerm){cpu_rows_of_any(a), floats_of(w)};
}

void cpu_dense(Rows out, Range range, Rows a, const DeviceFloat *w, const DeviceFloat *bias,
               bool add, const Poll *poll) {
    ProductTerm term = term_of(a, w);
    dense(out, range, &term, 1, false, bias, add, poll);
}

void cpu_dense_sum(Rows out, Range range, Rows a, const DeviceFloat *w, Rows b,
                   const DeviceFloat *w_b, const DeviceFloat *bias, const Poll *poll) {
    ProductTerm term[] = {term_of(a, w), term_of(b, w_b)};
    dense(out, range, term, 2, false, bias, false, poll);
}

void cpu_dense_transposed(Rows out, Range range, Rows g, const DeviceFloat *w, bool add,
                          const Poll *poll) {
    ProductTerm term = term_of(g, w);
    dense(out, range, &term, 1, true, NULL, add, poll);
}

// --- the weight gradient

static int64_t part_count(int64_t rows) {
    int64_t parts = (rows + PART_ROWS - 1) / PART_ROWS;
    return parts < 1 ? 1 : least(parts, PARTS);
}

int64_t cpu_dense_gradient_scratch(int64_t rows, int64_t a_columns, int64_t g_columns) {
    return part_count(rows) * a_columns * g_columns;
}

// dw = part 0 + part 1 + ..., each element in that order.
static void add_parts(float *dw, const float *part, int64_t parts, int64_t count) {
#pragma omp parallel for schedule(static)
    for (int64_t begin = 0; begin < count; begin += 1024) {
        int64_t end = least(begin + 1024, count);
        memcpy(dw + begin, part + begin, (size_t)(end - begin) * sizeof *dw);
        for (int64_t p = 1; p < parts; p++)
            for (int64_t i = begin; i < end; i++)
                dw[i] += part[p * count + i];
    }
}

// Part p of the sum: its rows of aT g, in order.
static void make_part(float *part, CpuRows a, CpuRows g, Range rows, Pace *pace) {
    for (int64_t r = rows.begin; r < rows.end; r += PART_PANEL) {
        product('T', 'N', a.columns, g.columns, least(r + PART_PANEL, rows.end) - r,
                a.at + r * a.stride, a.stride, g.at + r * g.stride, g.stride,
                r == rows.begin ? 0.0f : 1.0f, part, g.columns);
        pace_call(pace);
    }
}

void cpu_dense_gradient(DeviceFloat *dw, Rows a, Rows g, DeviceFloat *scratch, const Poll *poll) {
    assert(a.count == g.count);
    assert(by_bf16() || (a.type == ROWS_FP32 && g.type == ROWS_FP32));
    int64_t parts = part_count(a.count), count = a.columns * g.columns;
    void (*make)(float *, CpuRows, CpuRows, Range, Pace *) = by_bf16() ? products_part : make_part;
    library_single();
    if (by_bf16())
        products_ready();
#pragma omp parallel
    {
        Pace pace = pace_start(poll);
#pragma omp for schedule(dynamic)
        for (int64_t p = 0; p < parts; p++) {
            Range rows = {a.count * p / parts, a.count * (p + 1) / parts};
            float *part = floats_of(scratch) + p * count;
            if (rows.begin == rows.end)
                memset(part, 0, (size_t)count * sizeof *part);
            make(part, cpu_rows_of_any(a), cpu_rows_of_any(g), rows, &pace);
        }
    }
    add_parts(floats_of(dw), floats_of(scratch), parts, count);
}
