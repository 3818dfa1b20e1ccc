// Levels that are read again, by other layers than the next one:
//
//   anchor    every layer that aggregates reads the same level beside its input (appnp, gcn2)
//   skip      H^{l+1} = post(Z^l) + H^{l+1-stages}: a convolution adds its input (model.skip)
//   jump      the last layer reads all hidden levels (model.jk; layer_jump.c)
//
// A level has as many rows as the farthest of its readers needs, for levels below have more rows.
// In backward its readers come before its layer: what they say waits in a buffer until dH of the
// level is made.
#include "internal.h"

static const RowFactor one = {.plain = 1};

bool features_ready(const Model *m, int l) {
    return l == m->shape.feature_layers - 1 &&
           (m->shape.layer0 == LAYER0_ONCE || (m->shape.layer0 == LAYER0_KEPT && !m->training));
}

Rows level_at(const Model *m, int level) {
    bool dropped = m->training && m->shape.input_keep < 1 && !m->shape.sparse;
    Rows h = level == 0                                  ? (dropped ? m->layer[0].h : m->x)
             : features_ready(m, level)                  ? m->aggregate_input
             : m->training && m->shape.posted[level - 1] ? m->layer[level].h
                                                         : m->layer[level - 1].z;
    return rows_first(h, level_rows(m, level));
}

Rows anchor_rows(const Model *m) {
    return m->training && m->anchor.at != NULL ? m->anchor : level_at(m, m->shape.anchor);
}

static void add(const Model *m, Rows dh, Rows more) {
    m->parts.backend->add_scaled(dh, (Range){0, more.count}, one, dh, one, more, NULL);
}

// A skip leads the gradient of its level past the layers between to the level that it reads.
static void skip_gradient(Model *m, int level, Rows dh) {
    int set = level_set(&m->shape, level), from = level - m->shape.stages;
    if (skips_from(&m->shape, level))
        add(m, dh, m->late[set]);
    if (!m->shape.skips[level - 1] || from < 0 || !wants_input_gradient(&m->shape, from))
        return;
    int slot = gradient_slot(m, level);
    Rows late = slot < m->widths ? m->gradient_late[slot][set] : (Rows){0};
    m->late[set] = rows_first(late, dh.count);
    rows_copy(m->parts.backend, m->late[set], dh);
}

// ---- the jumping layer

// Where the rows of W for a level begin.
int64_t jump_rows_before(const ModelShape *shape, int level) {
    int64_t rows = 0;
    for (int k = shape->stages; k < level && shape->jump == JUMP_CAT; k += shape->stages)
        rows += shape->width[k];
    return rows;
}

const DeviceFloat *jump_weights(const Model *m, int level) {
    const Parameter *p = m->layer[m->shape.layers - 1].parameter[ROLE_WEIGHT];
    return flat_at(m->parameters, p->begin + jump_rows_before(&m->shape, level) * p->columns);
}

uint8_t jump_place(const ModelShape *shape, int level) {
    return (uint8_t)(level / shape->stages - 1);
}

void jump_gradient(const Model *m, int level, Rows dh) {
    const Backend *b = m->parts.backend;
    Range rows = {0, level_rows(m, m->shape.layers)};
    Rows g = rows_first(m->jump_gradient, rows.end);
    if (m->shape.jump == JUMP_MAX)
        b->add_chosen(dh, rows, g, m->layer[m->shape.layers - 1].bits, jump_place(&m->shape, level),
                      NULL);
    else
        b->dense_transposed(dh, rows, g, jump_weights(m, level), true, NULL);
}

// ---- gradients of a level

// Its own readers see the level behind dropout, the others before it.
static void anchor_gradient(const Model *m, Rows dh) {
    if (m->anchor.at != NULL)
        m->parts.backend->dropout(dh, (Range){0, dh.count}, dh, m->shape.keep,
                                  layer_dropout(m, m->shape.anchor), m->on.gid[NODES], NULL);
    add(m, dh, rows_first(m->anchor_gradient, dh.count));
}

void level_gradient(Model *m, int level, Rows dh) {
    if (jumps_from(&m->shape, level) && level < m->shape.layers - 1)
        jump_gradient(m, level, dh);
    skip_gradient(m, level, dh);
    if (m->shape.anchor == level)
        anchor_gradient(m, dh);
}
