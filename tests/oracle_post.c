// model.post of the oracle: all rows step by step, and back.
#include "oracle.h"

double oracle_mask(double keep, const OracleTime *time, int layer, int64_t row, int64_t column) {
    RandomKey s =
        random_of_kind(random_key(time->seed, RANDOM_DROPOUT, time->epoch, layer, 0), time->random);
    return (double)random_uniform16(s, row, 0, column) < keep ? 1 / keep : 0;
}

typedef struct Moments { // of one row, whose values are 1 apart, or of one column
    double mean, sigma;
} Moments;

static Moments moments(const double *x, int64_t count, int64_t apart) {
    double m = 0, v = 0;
    for (int64_t i = 0; i < count; i++)
        m += x[i * apart] / (double)count;
    for (int64_t i = 0; i < count; i++)
        v += pow(x[i * apart] - m, 2) / (double)count;
    return (Moments){m, sqrt(v + 1e-5)};
}

// Columns over all rows (BatchNorm), or in evaluation by running statistics [2 D].
static void norm_columns(const OracleWindows *w, double *out, const double *x, int64_t n,
                         int64_t width, const double *running) {
    for (int64_t c = 0; c < width; c++) {
        Moments of = moments(x + c, n, width);
        if (running != NULL)
            of = (Moments){running[c], sqrt(running[width + c] + 1e-5)};
        for (int64_t i = 0; i < n; i++)
            out[i * width + c] = w->gamma[c] * (x[i * width + c] - of.mean) / of.sigma + w->beta[c];
    }
}

static void norm_columns_back(const OracleWindows *w, double *d, const double *x, int64_t n,
                              int64_t width) {
    for (int64_t c = 0; c < width; c++) {
        double sum = 0, dot = 0;
        Moments of = moments(x + c, n, width);
        for (int64_t i = 0; i < n; i++) {
            sum += d[i * width + c];
            dot += d[i * width + c] * (x[i * width + c] - of.mean) / of.sigma;
        }
        w->dgamma[c] += dot;
        w->dbeta[c] += sum;
        for (int64_t i = 0; i < n; i++)
            d[i * width + c] = w->gamma[c] / of.sigma *
                               (d[i * width + c] - sum / (double)n -
                                (x[i * width + c] - of.mean) / of.sigma * dot / (double)n);
    }
}

static void norm(const OracleWindows *w, double *out, const double *x, int64_t width) {
    Moments of = moments(x, width, 1);
    for (int64_t c = 0; c < width; c++)
        out[c] = w->gamma[c] * (x[c] - of.mean) / of.sigma + w->beta[c];
}

static void norm_back(const OracleWindows *w, double *d, const double *x, int64_t width) {
    double sum = 0, dot = 0, n = (double)width;
    Moments of = moments(x, width, 1);
    for (int64_t c = 0; c < width; c++) {
        double xhat = (x[c] - of.mean) / of.sigma, dx = w->gamma[c] * d[c];
        w->dgamma[c] += d[c] * xhat;
        w->dbeta[c] += d[c];
        sum += dx;
        dot += dx * xhat;
    }
    for (int64_t c = 0; c < width; c++) {
        double xhat = (x[c] - of.mean) / of.sigma;
        d[c] = (w->gamma[c] * d[c] - sum / n - xhat * dot / n) / of.sigma;
    }
}

static double activation(const ModelShape *shape, double x) {
    switch (shape->activation) {
    case ACTIVATION_LEAKY_RELU:
        return x > 0 ? x : (double)shape->slope * x;
    case ACTIVATION_ELU:
        return x > 0 ? x : expm1(x);
    case ACTIVATION_GELU:
        return x * (1 + erf(x / sqrt(2))) / 2;
    default:
        return x > 0 ? x : 0;
    }
}

static double activation_slope(const ModelShape *shape, double x) {
    switch (shape->activation) {
    case ACTIVATION_LEAKY_RELU:
        return x > 0 ? 1 : (double)shape->slope;
    case ACTIVATION_ELU:
        return x > 0 ? 1 : exp(x);
    case ACTIVATION_GELU:
        return (1 + erf(x / sqrt(2))) / 2 + x * exp(-x * x / 2) / sqrt(2 * acos(-1));
    default:
        return x > 0;
    }
}

// u[s] [n, D] is the input of step s, u[count] the result.
static void steps(const ModelShape *shape, const OracleWindows *w, int l, int64_t n,
                  double *const *u, const OracleTime *time) {
    int64_t width = shape->width[l + 1];
    for (int s = 0; s < shape->post_count; s++) {
        bool columns = shape->columns && shape->post[s] == POST_NORM;
        if (columns)
            norm_columns(w, u[s + 1], u[s], n, width,
                         time->training_statistics ? NULL : w->running);
        for (int64_t i = 0; i < n && !columns; i++) {
            const double *x = u[s] + i * width;
            double *y = u[s + 1] + i * width;
            if (shape->post[s] == POST_NORM)
                norm(w, y, x, width);
            for (int64_t c = 0; c < width && shape->post[s] != POST_NORM; c++)
                y[c] = shape->post[s] == POST_ACTIVATION ? activation(shape, x[c])
                       : !time->training
                           ? x[c]
                           : x[c] * oracle_mask((double)shape->keep, time, l + 1, i, c);
        }
    }
}

static void alloc_steps(double **u, const ModelShape *shape, int l, int64_t n, const double *z) {
    int64_t width = shape->width[l + 1];
    for (int s = 0; s <= shape->post_count; s++)
        u[s] = oracle_matrix(n, width);
    memcpy(u[0], z, (size_t)(n * width) * sizeof(double));
}

void oracle_post(const ModelShape *shape, const OracleWindows *w, int l, int64_t n, const double *z,
                 double *out, const OracleTime *time) {
    double *u[4];
    alloc_steps(u, shape, l, n, z);
    steps(shape, w, l, n, u, time);
    memcpy(out, u[shape->post_count], (size_t)(n * shape->width[l + 1]) * sizeof(double));
}

void oracle_post_back(const ModelShape *shape, const OracleWindows *w, int l, int64_t n,
                      const double *z, double *d, const double *late, const OracleTime *time) {
    int64_t width = shape->width[l + 1];
    double *u[4];
    alloc_steps(u, shape, l, n, z);
    steps(shape, w, l, n, u, time);
    for (int s = shape->post_count - 1; s >= -1; s--) {
        if (late != NULL && (s < 0 || shape->post[s] != POST_DROPOUT)) {
            for (int64_t i = 0; i < n * width; i++)
                d[i] += late[i];
            late = NULL;
        }
        bool columns = s >= 0 && shape->columns && shape->post[s] == POST_NORM;
        if (columns)
            norm_columns_back(w, d, u[s], n, width);
        for (int64_t i = 0; i < n && s >= 0 && !columns; i++) {
            double *dy = d + i * width, *x = u[s] + i * width;
            if (shape->post[s] == POST_NORM)
                norm_back(w, dy, x, width);
            for (int64_t c = 0; c < width && shape->post[s] != POST_NORM; c++)
                dy[c] *= shape->post[s] == POST_ACTIVATION
                             ? activation_slope(shape, x[c])
                             : oracle_mask((double)shape->keep, time, l + 1, i, c);
        }
    }
}
