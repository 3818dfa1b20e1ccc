// ranks: 1 3
// If this failed, some kind of layer of the table would give a gradient that is not that of its own
// loss, or its loss, gradient or logits would depend on the number of ranks. What is asked here
// must hold for every member, also for one whose formula the oracle does not know.
#include "gradients.h"

static const Case *every_case(int layer) {
    static Case c[3];
    const char *name = family_word(&layer_family, layer);
    c[0] = (Case){name, SYMMETRIC, 2, "norm,activation,dropout", 0.3, 0, FIRST("")};
    c[1] = (Case){name, DIRECTED_WEIGHTED, 3, "norm,activation", 0, 0.2, AUTO("")};
    c[2] = (Case){name, MULTI, 1, "", 0, 0, AUTO("")};
    return c;
}
enum { CASES = 3 };

// What a model with these parameters says, on the ranks of a test graph.
typedef struct Said {
    int64_t parameters, nodes, classes;
    float *p, *gradient;
    double loss;
    float *logits; // [nodes, classes], of this rank's nodes; 0 elsewhere
    ModelShape shape;
} Said;

static double whole_loss(const Made *made, const Comm *comm, const float *p, float *gradient) {
    double loss = model_loss_and_gradient(made->model, on_device(p), on_device(gradient), 11, 3);
    gradsync_finish(made->sync, on_device(gradient));
    comm_sum_double(comm, &loss, 1);
    return loss;
}

// ---- the gradient is that of the loss

// A direction of length 1: that of one parameter's gradient, or past the last one random numbers.
// Returns how long the gradient is that lies in it.
static double direction(float *along, const Said *said, int which) {
    RandomKey key = random_key(3, RANDOM_FEATURES, (uint32_t)which, 0, 0);
    const Parameter *p = which < said->shape.parameter_spans ? &said->shape.parameter[which] : NULL;
    double length = 0;
    for (int64_t k = 0; k < said->parameters; k++) {
        bool inside = p != NULL && k >= p->begin && k < p->begin + p->rows * p->columns;
        along[k] = p == NULL ? (float)random_uniform32(key, k, 0, 0) - 0.5F
                   : inside  ? said->gradient[k]
                             : 0;
        length += pow((double)along[k], 2);
    }
    length = sqrt(length);
    for (int64_t k = 0; k < said->parameters && length > 0; k++)
        along[k] = (float)((double)along[k] / length);
    return length;
}

static double loss_at(const Made *made, const Said *said, const float *along, double step) {
    float *p = TEST_ARRAY(float, said->parameters), *g = TEST_ARRAY(float, said->parameters);
    for (int64_t k = 0; k < said->parameters; k++)
        p[k] = said->p[k] + (float)(step * (double)along[k]);
    double loss = whole_loss(made, &test_comm, p, g);
    return loss;
}

// 2 % of the parameter's gradient and 0.5 % of the whole one: losses of floats differ by 1e-7, and
// kinks of the activation lie between.
static void assert_slopes(const Case *c, const Made *made, const Said *said) {
    enum { H = 500, RANDOM = 3 }; // one step is 1 / H
    float *along = TEST_ARRAY(float, said->parameters);
    double length = 0;
    for (int64_t k = 0; k < said->parameters; k++)
        length += pow((double)said->gradient[k], 2);
    length = sqrt(length);
    assert_true(isfinite(length) && length > 0);
    for (int d = 0; d < said->shape.parameter_spans + RANDOM; d++) {
        double slope = 0, part = direction(along, said, d);
        for (int64_t k = 0; k < said->parameters; k++)
            slope += (double)along[k] * (double)said->gradient[k];
        double above = loss_at(made, said, along, 1.0 / H);
        double found = (above - loss_at(made, said, along, -1.0 / H)) * H / 2;
        if (!(fabs(found - slope) <= 0.02 * fmin(part, length) + 0.005 * length + 1e-4))
            fail_msg("%s, direction %d: the gradient says %g, the loss %g; its length is %g",
                     c->name, d, slope, found, length);
    }
}

// ---- all ranks together say what one rank says

static void say(Said *said, const Made *made, const TestGraph *w) {
    const RowSet *own = &w->shard.set[NODES];
    *said = (Said){.parameters = made->shape.parameter_count,
                   .nodes = w->dataset.nodes,
                   .classes = w->dataset.classes,
                   .shape = made->shape};
    said->p = TEST_ARRAY(float, said->parameters);
    said->gradient = TEST_ARRAY(float, said->parameters);
    said->logits = TEST_ARRAY(float, said->nodes * said->classes);
    some_parameters(&made->shape, said->p);
    said->loss = whole_loss(made, w->comm, said->p, said->gradient);
    Rows z = model_infer(made->model, on_device(said->p));
    for (int64_t r = 0; r < own->own; r++)
        memcpy(said->logits + own->gid[r] * said->classes, floats(z) + r * z.stride,
               (size_t)said->classes * sizeof(float));
}

// 1e-4: sums of a few hundred floats in another order, through three layers with norms.
static void assert_alike(const Case *c, const TestGraph *w, const Said *got, const Said *alone) {
    const RowSet *own = &w->shard.set[NODES];
    if (!(fabs(got->loss - alone->loss) <= 1e-5 * fabs(alone->loss)))
        fail_msg("%s: the loss of %d ranks is %.9g, of one %.9g", c->name, w->comm->size, got->loss,
                 alone->loss);
    double off = relative_error(got->gradient, alone->gradient, got->parameters);
    if (!(off <= 1e-4))
        fail_msg("%s: the gradient of %d ranks is off by %g", c->name, w->comm->size, off);
    for (int64_t r = 0; r < own->own; r++) {
        int64_t at = own->gid[r] * got->classes;
        off = relative_error(got->logits + at, alone->logits + at, got->classes);
        if (!(off <= 1e-3))
            fail_msg("%s: the logits of node %lld are off by %g", c->name, (long long)own->gid[r],
                     off);
    }
}

static void try_case(const Case *c) {
    Comm one;
    CLEARED(unmake) Made made = {0}, lone = {0};
    Said got = {0}, alone = {0};
    comm_self(&one);
    Config config = case_config(c);
    OWNED(TestGraph) here = test_graph(c->graph, 42, &test_comm);
    OWNED(TestGraph) whole = test_graph(c->graph, 42, &one);
    make(&made, c, &here, &config, "overlap");
    make(&lone, c, &whole, &config, "overlap");
    say(&got, &made, &here);
    say(&alone, &lone, &whole);
    assert_alike(c, &here, &got, &alone);
    if (test_comm.size == 1) // more ranks have the gradient of one
        assert_slopes(c, &made, &got);
}

// Those for hypergraphs: test_hyper_layers.c.
static bool is_for_graphs(int layer) {
    const LayerKind *kind = family_member(&layer_family, layer);
    if (kind->stages != 1 && kind->stages != 2) // one that forgets to say would not be tried
        fail_msg("%s has %d stages", kind->name, kind->stages);
    return kind->stages == 1;
}

TEST(every_layer_has_the_gradient_of_its_loss) {
    for (int i = 0; i < layer_family.count; i++)
        for (int k = 0; k < CASES && is_for_graphs(i); k++)
            try_case(&every_case(i)[k]);
}
