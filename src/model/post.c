// model.post behind a layer: dropout, norm and activation in any order, forward and back.
//
// The backend does all steps at once if the activation is ReLU and the norm one of rows. Others go
// step by step: from Z through buffers of their own, which keep the inputs that backward needs, to
// the rows of the next level:
//
//   Z --norm--> mid[0] --activation--> H --dropout--> H
#include "internal.h"

bool post_in_steps(const ModelShape *shape) {
    bool other = posts(shape, POST_ACTIVATION) && shape->activation != ACTIVATION_RELU;
    return shape->columns || other;
}

int post_mids(const ModelShape *shape) {
    int count = 0;
    for (int i = 1; i < shape->post_count; i++)
        count += shape->post[i] != POST_DROPOUT;
    return count;
}

RandomKey layer_dropout(const Model *m, int l) {
    return random_of_kind(random_key(m->seed, RANDOM_DROPOUT, m->epoch, l, 0), m->shape.random);
}

static Post layer_post(const LayerRun *run) {
    const Model *m = run->m;
    Post post = {.count = m->shape.post_count,
                 .keep = m->shape.keep,
                 .training = m->training,
                 .gamma = weights_of(run, ROLE_GAMMA),
                 .beta = weights_of(run, ROLE_BETA),
                 .random = layer_dropout(m, run->l + 1)};
    memcpy(post.step, m->shape.post, sizeof post.step);
    return post;
}

static Post one_step(Post post, int i) {
    post.step[0] = post.step[i];
    post.count = 1;
    return post;
}

// ---- step by step

typedef struct Steps { // of some rows
    const LayerRun *run;
    Post post;
    PostSaved saved;
    const DeviceInt64 *gid;
    Range rows;
    const Poll *poll;
} Steps;

static void step_forward(const Steps *steps, int i, Rows out, Rows in) {
    const Model *m = steps->run->m;
    const Backend *b = m->parts.backend;
    Post norm = one_step(steps->post, i);
    switch (steps->post.step[i]) {
    case POST_DROPOUT:
        b->dropout(out, steps->rows, in, steps->post.keep, steps->post.random, steps->gid,
                   steps->poll);
        break;
    case POST_NORM:
        if (m->shape.columns)
            column_norm_forward(steps->run, out, rows_first(in, steps->rows.end), steps->poll);
        else
            b->post_forward(out, steps->rows, in, &norm, steps->saved, NULL, steps->poll);
        break;
    case POST_ACTIVATION:
        b->activate(out, steps->rows, in, (uint8_t)m->shape.activation, m->shape.slope,
                    steps->poll);
        break;
    }
}

// Where step i of training reads.
static Rows input_of(const LayerRun *run, const Post *post, int i, Rows out) {
    int mid = 0;
    if (i == 0)
        return run->layer->z;
    for (int k = 1; k < i; k++)
        mid += post->step[k] != POST_DROPOUT;
    return post->step[i] != POST_DROPOUT ? run->layer->mid[mid] : out;
}

static void steps_forward(const Steps *steps, Rows out) {
    const Post *post = &steps->post;
    for (int i = 0; i < post->count; i++)
        step_forward(steps, i, i + 1 < post->count ? input_of(steps->run, post, i + 1, out) : out,
                     input_of(steps->run, post, i, out));
}

// Nothing is saved, and nothing dropped out but of halo rows.
static void steps_in_place(const Steps *steps, Rows out, Rows in) {
    for (int i = 0; i < steps->post.count; i++)
        if (steps->post.step[i] != POST_DROPOUT || steps->gid != NULL) {
            step_forward(steps, i, out, in);
            in = out;
        }
}

// ---- own rows

static void all_steps(const LayerRun *run, Rows out, Range rows, const Post *post,
                      const DeviceInt64 *gid, const Poll *poll) {
    const Model *m = run->m;
    Steps steps = {run, *post, run->layer->saved, m->training ? gid : NULL, rows, poll};
    if (!post_in_steps(&m->shape))
        m->parts.backend->post_forward(out, rows, run->layer->z, post, run->layer->saved, gid,
                                       poll);
    else if (m->training)
        steps_forward(&steps, out);
    else
        steps_in_place(&steps, out, run->layer->z);
}

// Of the layer that makes the anchor: dropout, its last step, follows by itself.
static Post without_dropout(Post post) {
    post.count -= post.count > 0 && post.step[post.count - 1] == POST_DROPOUT;
    return post;
}

void post_rows(const LayerRun *run, Rows out, Range rows, const Poll *poll) {
    const Model *m = run->m;
    const DeviceInt64 *gid = m->on.gid[level_set(&m->shape, run->l + 1)];
    Post post = layer_post(run);
    bool apart = m->training && run->l + 1 == m->shape.anchor && m->anchor.at != NULL;
    if (apart)
        post = without_dropout(post);
    all_steps(run, apart ? m->anchor : out, rows, &post, gid, poll);
    if (apart)
        m->parts.backend->dropout(out, rows, m->anchor, post.keep, post.random, gid, poll);
}

static void step_back(const LayerRun *run, const Post *post, int i, Rows d, Rows in,
                      DeviceFloat *dgamma, DeviceFloat *dbeta, const Poll *poll) {
    const Model *m = run->m;
    const Backend *b = m->parts.backend;
    Range all = {0, d.count};
    Post norm = one_step(*post, i);
    switch (post->step[i]) {
    case POST_DROPOUT:
        b->dropout(d, all, d, post->keep, post->random, m->on.gid[level_set(&m->shape, run->l + 1)],
                   poll);
        break;
    case POST_NORM:
        if (m->shape.columns)
            column_norm_back(run, d, in, poll);
        else
            b->post_backward(d, d, in, &norm, run->layer->saved, dgamma, dbeta, m->scratch, poll);
        break;
    case POST_ACTIVATION:
        b->activate_back(d, all, in, (uint8_t)m->shape.activation, m->shape.slope, poll);
        break;
    }
}

void post_back(const LayerRun *run, Rows dh, const Poll *poll) {
    Model *m = run->m;
    const Parameter *gamma = run->layer->parameter[ROLE_GAMMA];
    const Parameter *beta = run->layer->parameter[ROLE_BETA];
    DeviceFloat *dgamma = gamma != NULL ? flat_at(m->gradient, gamma->begin) : NULL;
    DeviceFloat *dbeta = beta != NULL ? flat_at(m->gradient, beta->begin) : NULL;
    Post post = layer_post(run);
    if (run->l + 1 == m->shape.anchor)
        post = without_dropout(post);
    if (!post_in_steps(&m->shape))
        m->parts.backend->post_backward(dh, dh, rows_first(run->layer->z, dh.count), &post,
                                        run->layer->saved, dgamma, dbeta, m->scratch, poll);
    for (int i = post.count - 1; i >= 0 && post_in_steps(&m->shape); i--)
        step_back(run, &post, i, dh, rows_first(input_of(run, &post, i, dh), dh.count), dgamma,
                  dbeta, poll);
}

// ---- rows of others

// The given steps at once, of rows whose masks and statistics nobody needs again.
static void some_steps(const Model *m, Rows out, Rows in, Range rows, Post post, int begin, int end,
                       const Poll *poll) {
    if (begin == end && out.at == in.at)
        return;
    post.training = false; // nothing is saved
    post.count = end - begin;
    memmove(post.step, post.step + begin, (size_t)post.count * sizeof *post.step);
    m->parts.backend->post_forward(out, rows, in, &post, (PostSaved){0}, NULL, poll);
}

// Dropout is keyed by ids and columns, and everything is done row by row, so they have the same
// bits.
void post_received(const LayerRun *run, Rows out, Rows received, Range rows,
                   const DeviceInt64 *halo_id, const Poll *poll) {
    const Model *m = run->m;
    Post post = layer_post(run);
    int drop = 0;
    if (post_in_steps(&m->shape)) {
        post.training = false;
        steps_in_place(&(Steps){run, post, {0}, halo_id, rows, poll}, out, received);
        return;
    }
    while (drop < post.count && post.step[drop] != POST_DROPOUT)
        drop++;
    some_steps(m, out, received, rows, post, 0, drop, poll);
    if (drop < post.count) {
        m->parts.backend->dropout(out, rows, out, post.keep, post.random, halo_id, poll);
        some_steps(m, out, out, rows, post, drop + 1, post.count, poll);
    }
}
