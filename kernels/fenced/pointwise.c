// Pointwise operations on the fenced backend.
#include "fenced.h"

static Post post_twin(const Post *post) {
    Post twin = *post;
    twin.gamma = fenced_twin(post->gamma);
    twin.beta = fenced_twin(post->beta);
    return twin;
}

static PostSaved saved_twin(PostSaved saved) {
    return (PostSaved){.mean = fenced_twin(saved.mean),
                       .inverse = fenced_twin(saved.inverse),
                       .kept = fenced_twin(saved.kept),
                       .positive = fenced_twin(saved.positive)};
}

typedef struct Forward {
    Rows h;
    Range range;
    Rows z;
    Post post;
    PostSaved saved;
    const DeviceInt64 *gid;
} Forward;

static void run_post_forward(const void *arguments, const Poll *poll) {
    const Forward *c = arguments;
    backend_cpu.post_forward(c->h, c->range, c->z, &c->post, c->saved, c->gid, poll);
}

void fenced_post_forward(Rows h, Range range, Rows z, const Post *post, PostSaved saved,
                         const DeviceInt64 *gid, const Poll *poll) {
    (void)poll;
    FENCED_PUT(STREAM_COMPUTE, run_post_forward, Forward, fenced_rows(h), range, fenced_rows(z),
               post_twin(post), saved_twin(saved), fenced_twin(gid));
}

typedef struct Backward {
    Rows dz, dh, z;
    Post post;
    PostSaved saved;
    DeviceFloat *dgamma, *dbeta, *scratch;
} Backward;

static void run_post_backward(const void *arguments, const Poll *poll) {
    const Backward *c = arguments;
    backend_cpu.post_backward(c->dz, c->dh, c->z, &c->post, c->saved, c->dgamma, c->dbeta,
                              c->scratch, poll);
}

void fenced_post_backward(Rows dz, Rows dh, Rows z, const Post *post, PostSaved saved,
                          DeviceFloat *dgamma, DeviceFloat *dbeta, DeviceFloat *scratch,
                          const Poll *poll) {
    (void)poll;
    FENCED_PUT(STREAM_COMPUTE, run_post_backward, Backward, fenced_rows(dz), fenced_rows(dh),
               fenced_rows(z), post_twin(post), saved_twin(saved), fenced_twin(dgamma),
               fenced_twin(dbeta), fenced_twin(scratch));
}

int64_t fenced_post_scratch(int64_t rows, int64_t columns) {
    return backend_cpu.post_scratch(rows, columns);
}

typedef struct Dropout {
    Rows out;
    Range range;
    Rows x;
    float keep;
    RandomStream stream;
    const DeviceInt64 *gid;
} Dropout;

static void run_dropout(const void *arguments, const Poll *poll) {
    const Dropout *c = arguments;
    backend_cpu.dropout(c->out, c->range, c->x, c->keep, c->stream, c->gid, poll);
}

void fenced_dropout(Rows out, Range range, Rows x, float keep, RandomStream stream,
                    const DeviceInt64 *gid, const Poll *poll) {
    (void)poll;
    FENCED_PUT(STREAM_COMPUTE, run_dropout, Dropout, fenced_rows(out), range, fenced_rows(x), keep,
               stream, fenced_twin(gid));
}

typedef struct Scaled {
    Rows out;
    Range range;
    Rows a, x;
    const DeviceFloat *number; // a bias, one number, or one for each row
} Scaled;

static void run_add_bias(const void *arguments, const Poll *poll) {
    const Scaled *c = arguments;
    backend_cpu.add_bias(c->out, c->range, c->number, poll);
}

void fenced_add_bias(Rows out, Range range, const DeviceFloat *bias, const Poll *poll) {
    (void)poll;
    FENCED_PUT(STREAM_COMPUTE, run_add_bias, Scaled, .out = fenced_rows(out), .range = range,
               .number = fenced_twin(bias));
}

static void run_add_scaled(const void *arguments, const Poll *poll) {
    const Scaled *c = arguments;
    backend_cpu.add_scaled(c->out, c->range, c->a, c->x, c->number, poll);
}

void fenced_add_scaled(Rows out, Range range, Rows a, Rows x, const DeviceFloat *scalar,
                       const Poll *poll) {
    (void)poll;
    FENCED_PUT(STREAM_COMPUTE, run_add_scaled, Scaled, fenced_rows(out), range, fenced_rows(a),
               fenced_rows(x), fenced_twin(scalar));
}

static void run_scale_rows(const void *arguments, const Poll *poll) {
    const Scaled *c = arguments;
    backend_cpu.scale_rows(c->out, c->range, c->number, poll);
}

void fenced_scale_rows(Rows x, Range range, const DeviceFloat *factor, const Poll *poll) {
    (void)poll;
    FENCED_PUT(STREAM_COMPUTE, run_scale_rows, Scaled, .out = fenced_rows(x), .range = range,
               .number = fenced_twin(factor));
}

typedef struct Dot {
    DeviceFloat *out;
    Rows x, y;
} Dot;

static void run_dot(const void *arguments, const Poll *poll) {
    const Dot *c = arguments;
    (void)poll;
    backend_cpu.dot(c->out, c->x, c->y);
}

void fenced_dot(DeviceFloat *out, Rows x, Rows y) {
    FENCED_PUT(STREAM_COMPUTE, run_dot, Dot, fenced_twin(out), fenced_rows(x), fenced_rows(y));
}
