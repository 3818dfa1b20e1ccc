// fringe predict: writes classes, scores and embeddings of every node, in the order of the original
// nodes. Where labels are numbers the scores are the predictions, and there are no classes.

#include "fringe/npy.h"
#include "internal.h"

#include <string.h>

// [n, columns] in the original order on rank 0, NULL elsewhere. Collective.
static float *gather_rows(const Session *s, const Backend *backend, Rows rows) {
    float *piece = ALLOC(float, rows.count *rows.columns, "rows to gather");
    backend->download_rows(piece, rows);
    backend->finish(NULL);
    float *all = shard_gather(&s->shard, &s->comm, piece, (size_t)rows.columns * sizeof(float));
    memory_free(piece);
    return all;
}

static bool write_rows(Session *s, const char *folder, const char *name, const float *rows,
                       int64_t width) {
    char path[PATH_BYTES];
    int64_t shape[2] = {s->shard.set[NODES].total, width};
    path_join(path, sizeof path, folder, name);
    if (!npy_write(path, "<f4", rows, sizeof(float), 2, shape, &s->err))
        return false;
    terminal_print("%s [%lld, %lld] float32\n", SHOWN(path), (long long)shape[0],
                   (long long)shape[1]);
    return true;
}

// The class of the largest score (the first of equals), or of every score above 0 if nodes have
// several labels.
static int64_t *classes_of(const float *scores, int64_t nodes, int64_t classes, bool several) {
    int64_t *out = ALLOC(int64_t, nodes * (several ? classes : 1), "predicted classes");
    for (int64_t i = 0; i < nodes; i++) {
        const float *row = scores + i * classes;
        for (int64_t k = 0; several && k < classes; k++)
            out[i * classes + k] = row[k] > 0;
        for (int64_t k = 1; !several && k < classes; k++)
            if (row[k] > row[out[i]])
                out[i] = k;
    }
    return out;
}

static bool write_classes(Session *s, const char *folder, const int64_t *classes) {
    const Shard *shard = &s->shard;
    char path[PATH_BYTES];
    int64_t shape[2] = {shard->set[NODES].total, shard->multilabel ? shard->classes : 1};
    path_join(path, sizeof path, folder, "classes.npy");
    bool ok = npy_write(path, "<i8", classes, sizeof *classes, 2, shape, &s->err);
    if (ok)
        terminal_print("%s [%lld, %lld] int64\n", SHOWN(path), (long long)shape[0],
                       (long long)shape[1]);
    return ok;
}

// What rank 0 writes.
typedef struct Output {
    Session *session;
    const char *given; // by the user: the folder; NULL: the one in run.dir
    const char *csv;   // NULL: no table
    int layer;         // 0: no embedding
    int64_t classes, width;
    float *scores, *embedding;
} Output;

static void write_output(void *context, Error *err) {
    const Output *out = context;
    Session *s = out->session;
    const char *folder = out->given;
    char name[64], within[PATH_BYTES];
    if (folder == NULL) { // marks run.dir as a folder of fringe
        path_join(within, sizeof within, s->config.run.dir, "predictions");
        folder = runfolder_mark(&s->config, err) ? within : NULL;
    }
    snprintf(name, sizeof name, "embeddings-%d.npy", out->layer);
    const Shard *shard = &s->shard;
    int64_t *classes = shard->numeric ? NULL
                                      : classes_of(out->scores, shard->set[NODES].total,
                                                   shard->classes, shard->multilabel);
    Predicted predicted = {shard->set[NODES].total, out->classes, shard->multilabel, out->scores,
                           classes};
    if (folder != NULL && file_make_folder(folder, err) &&
        write_rows(s, folder, "scores.npy", out->scores, out->classes) &&
        (classes == NULL || write_classes(s, folder, classes)) &&
        names_write(&s->config, folder, &predicted, out->csv, err) && out->layer > 0)
        write_rows(s, folder, name, out->embedding, out->width);
    memory_free(classes);
}

// Rank 0 writes; the others only send. Collective.
static void write_all(Session *s, const Inference *inference, const float *parameters,
                      const Options *options) {
    Model *model = inference->model;
    const Backend *b = inference->backend;
    size_t bytes = (size_t)inference->shape.state_count * sizeof(float);
    const DeviceFloat *weights = mirror_alloc(b, parameters, bytes, "parameters");
    Rows logits = model_infer(model, weights);
    int layer = options->layer;
    Output out = {.session = s,
                  .given = options->output,
                  .csv = options->csv,
                  .layer = layer,
                  .classes = logits.columns};
    out.scores = gather_rows(s, b, logits);
    if (layer > 0) {
        Rows entering = model_embedding(model, layer * inference->shape.stages);
        out.width = entering.columns;
        out.embedding = gather_rows(s, b, entering);
    }
    mirror_free(b, weights);
    comm_on_root(&s->comm, write_output, &out, &s->err);
    memory_free(out.embedding);
    memory_free(out.scores);
}

// Memory of the gathered rows and of the output. `width`: of the embedding, 0: none.
static MemoryPlan plan_output(const Session *s, int64_t width) {
    const Shard *shard = &s->shard;
    MemoryPlan plan = {0};
    int64_t nodes = s->comm.rank == 0 ? shard->set[NODES].total : 0, classes = shard->classes;
    int64_t widest = width > classes ? width : classes, columns = shard->multilabel ? classes : 1;
    memory_plan_add(&plan, "rows to gather",
                    memory_product(shard->set[NODES].own, (size_t)widest * 4));
    memory_plan_add(&plan, "node ids", memory_product(nodes, 8));
    memory_plan_add(&plan, "gathered rows", memory_product(nodes, (size_t)widest * 4));
    memory_plan_add(&plan, "scores", memory_product(nodes, (size_t)classes * 4));
    memory_plan_add(&plan, "embeddings", memory_product(nodes, (size_t)width * 4));
    memory_plan_add(&plan, "predicted classes", memory_product(nodes, (size_t)columns * 8));
    return plan;
}

static int64_t width_of(const Session *s, int layer) {
    const Shard *shard = &s->shard;
    ModelShape shape;
    return layer > 0 && model_shape(&shape, &s->config, shard->features, shard->classes,
                                    shard_labels(shard), &(Error){0})
               ? shape.width[layer * shape.stages]
               : 0;
}

static void predict(Session *s, const Options *options) {
    Inference inference;
    if (options->data != NULL && !new_data_take(s))
        return;
    MemoryPlan beside = plan_output(s, width_of(s, options->layer));
    if (!inference_open(&inference, &s->config, &s->shard, &s->comm, &beside, &s->err))
        return;
    float *parameters = load_weights(s, &inference.shape, options);
    if (parameters != NULL)
        write_all(s, &inference, parameters, options);
    memory_free(parameters);
    inference_close(&inference);
}

ExitCode cmd_predict(const Options *options, Error *err) {
    (void)err; // of its session
    Session session;
    if (session_begin(&session, options))
        predict(&session, options);
    return session_end(&session);
}
