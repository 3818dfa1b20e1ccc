// Which levels are read again: model.skip, model.jk, model.mix, and the anchor of kinds that return
// to one.
#include "internal.h"

// All layers that aggregate add the anchor to rows as wide.
static bool read_anchor(ModelShape *shape, Error *err) {
    while (!shape->aggregates[shape->anchor])
        shape->anchor++;
    for (int l = shape->anchor; l < shape->layers; l++) // model.hidden has one width
        assert(!shape->aggregates[l] || shape->width[l + 1] == shape->width[shape->anchor]);
    if (shape->posted[shape->anchor - 1] && posts(shape, POST_DROPOUT) &&
        shape->post[shape->post_count - 1] != POST_DROPOUT)
        return error_config(err,
                            "model.post: %s returns to a level as it is before dropout, so dropout "
                            "is the last step here; write model.post=[norm, activation, dropout]",
                            shape->kind->name);
    return true;
}

static bool read_skips(ModelShape *shape, const Config *config, Error *err) {
    bool any = false;
    for (int l = shape->stages - 1; l < shape->layers; l++) {
        int from = l + 1 - shape->stages;
        shape->skips[l] = shape->posted[l] && shape->width[from] == shape->width[l + 1];
        any |= shape->skips[l];
    }
    if (!any)
        return error_config(
            err, "model.skip: residual adds the input of a hidden convolution to its output where "
                 "they are equally wide, and none is here; give all hidden layers one width in "
                 "model.hidden and use at least 3 model.layers, or model.skip=none");
    if (strcmp(config->quantization.before, "conv") == 0)
        return error_config(err,
                            "quantization.before: conv sends rows from which readers make what "
                            "follows model.post, but model.skip=residual adds rows to that which "
                            "are not sent; use quantization.before=post, or model.skip=none");
    return true;
}

// The maximum needs levels of one width.
static bool check_jump(const ModelShape *shape, Error *err) {
    for (int level = shape->stages; level < shape->layers && shape->jump == JUMP_MAX;
         level += shape->stages)
        if (shape->width[level] != shape->width[shape->stages])
            return error_config(
                err,
                "model.jk: max compares hidden levels value by value, so they have one width; "
                "found %ld and %ld in model.hidden; use one width, or model.jk=cat",
                shape->width[shape->stages], shape->width[level]);
    return true;
}

static bool read_mix(ModelShape *shape, const Config *config, Error *err) {
    const ConfigDoubles *mix = &config->model.mix;
    if (mix->count != shape->layers + 1)
        return error_config(err,
                            "model.mix: expected %d numbers (the features and model.layers "
                            "aggregates), or none, found %d",
                            shape->layers + 1, mix->count);
    shape->mixes = mix->count;
    memcpy(shape->mix, mix->value, (size_t)mix->count * sizeof *mix->value);
    return true;
}

static bool check_columns(const ModelShape *shape, const Config *config, Error *err) {
    if (!shape->columns || strcmp(config->quantization.before, "conv") != 0)
        return true;
    return error_config(err,
                        "quantization.before: conv sends rows before model.post, whose readers "
                        "cannot norm them before the sums over all ranks are known "
                        "(model.norm=batch); use quantization.before=post, or model.norm=layer");
}

bool read_levels(ModelShape *shape, const Config *config, Error *err) {
    shape->alpha = (float)config->model.alpha;
    shape->theta = (float)config->model.theta;
    if (shape->kind->returns && !read_anchor(shape, err))
        return false;
    if (shape->kind->may_mix && config->model.mix.count > 0 && !read_mix(shape, config, err))
        return false;
    if (strcmp(config->model.skip, "residual") == 0 && !shape->kind->may_mix &&
        !read_skips(shape, config, err))
        return false;
    return check_jump(shape, err) && check_columns(shape, config, err);
}
