// fringe predict: writes classes, scores and embeddings of every node, in the order of the original
// nodes. Where labels are numbers the scores are the predictions, and there are no classes.

#include "fringe/npy.h"
#include "internal.h"

// A file that rank 0 writes piece by piece; nothing is there but where it is `open`.
typedef struct Piecewise {
    FileWriter writer;
    bool open;
} Piecewise;

typedef struct Output {
    const Session *session;
    const char *csv, *npz; // NULL: no table, no archive
    char folder[PATH_BYTES];
    Piecewise scores, classes, table, embedding;
    PredictedNames names;
    char embedding_name[32];
    int layer;     // 0: no embedding
    int64_t width; // of the embedding
} Output;

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

static bool begin_rows(Output *out, Piecewise *file, const char *name, const char *descr,
                       int64_t columns, Error *err) {
    file->open = npy_begin(&file->writer, PATH_IN(out->folder, name), descr, 2,
                           (int64_t[]){out->session->shard.set[NODES].total, columns}, err);
    return file->open;
}

// Also after an error.
static void end_file(Piecewise *file, Error *err) {
    if (!file->open)
        return;
    file->open = false;
    file_writer_take_place(&file->writer, err->code == 0, err);
}

static void end_rows(const Output *out, Piecewise *file, int64_t columns, const char *type,
                     Error *err) {
    char path[PATH_BYTES];
    bool open = file->open;
    snprintf(path, sizeof path, "%s", file->writer.path);
    end_file(file, err);
    if (open && err->code == 0)
        terminal_print("%s [%ld, %ld] %s\n", SHOWN(path), out->session->shard.set[NODES].total,
                       columns, type);
}

// Classes of a block of nodes, and their lines of the table.
static bool take_scores(void *context, int64_t first, int64_t rows, const void *row, Error *err) {
    Output *out = context;
    const Shard *shard = &out->session->shard;
    int64_t columns = shard->multilabel ? shard->classes : 1;
    FREED int64_t *best =
        shard->numeric ? NULL : classes_of(row, rows, shard->classes, shard->multilabel);
    Predicted p = {first, rows, shard->classes, shard->multilabel, row, best};
    return file_writer_put(&out->scores.writer, row,
                           memory_product(rows * shard->classes, sizeof(float)), err) &&
           (best == NULL || file_writer_put(&out->classes.writer, best,
                                            memory_product(rows * columns, sizeof *best), err)) &&
           (out->csv == NULL || names_put_rows(&out->table.writer, &out->names, &p, err));
}

static bool take_embedding(void *context, UNUSED int64_t first, int64_t rows, const void *row,
                           Error *err) {
    Output *out = context;
    return file_writer_put(&out->embedding.writer, row,
                           memory_product(rows * out->width, sizeof(float)), err);
}

// Its rows of the nodes that this rank owns, to rank 0 in the order of the original nodes.
// Collective.
static bool send_rows(Session *s, const Backend *backend, Rows rows, RowTaker *take,
                      void *context) {
    FREED float *own = ALLOC(float, rows.count *rows.columns, "rows to write");
    backend->download_rows(own, rows);
    backend->finish(NULL);
    return shard_gather_blocks(&s->shard, &s->comm, own, (size_t)rows.columns * sizeof(float), take,
                               context, &s->err);
}

static void begin_output(void *context, Error *err) {
    Output *out = context;
    const Session *s = out->session;
    const Shard *shard = &s->shard;
    if (out->folder[0] == 0) { // marks run.dir as a folder of fringe
        path_join(out->folder, sizeof out->folder, s->config.run.dir, "predictions");
        if (!runfolder_mark(&s->config, err))
            return;
    }
    if (!file_make_folder(out->folder, err) || !names_open(&out->names, &s->config, err) ||
        !begin_rows(out, &out->scores, "scores.npy", "<f4", shard->classes, err) ||
        (!shard->numeric && !begin_rows(out, &out->classes, "classes.npy", "<i8",
                                        shard->multilabel ? shard->classes : 1, err)) ||
        out->csv == NULL)
        return;
    out->table.open = file_writer_replace(&out->table.writer, out->csv, err);
    if (out->table.open)
        names_put_head(&out->table.writer, &out->names, shard->classes, !shard->numeric, err);
}

static void end_output(void *context, Error *err) {
    Output *out = context;
    const Shard *shard = &out->session->shard;
    end_rows(out, &out->scores, shard->classes, "float32", err);
    end_rows(out, &out->classes, shard->multilabel ? shard->classes : 1, "int64", err);
    if (err->code == 0)
        names_write(&out->names, out->folder, err);
    end_file(&out->table, err);
    if (err->code == 0 && out->csv != NULL)
        terminal_print("%s id, %s%ld %s\n", SHOWN(out->csv), shard->numeric ? "" : "class, ",
                       shard->classes, shard->numeric ? "numbers" : "scores");
}

static void begin_embedding(void *context, Error *err) {
    Output *out = context;
    begin_rows(out, &out->embedding, out->embedding_name, "<f4", out->width, err);
}

static void end_embedding(void *context, Error *err) {
    Output *out = context;
    end_rows(out, &out->embedding, out->width, "float32", err);
}

// What rank 0 still has to close keeps the error of the others. Collective.
static void close_with(Session *s, void (*end)(void *, Error *), Output *out) {
    Error before = s->err;
    if (s->comm.rank == 0)
        end(out, &s->err);
    if (before.code != 0)
        s->err = before;
    comm_agree(&s->comm, &s->err);
}

// The archive of all that has been written. Collective.
static void write_archive(void *context, Error *err) {
    const Output *out = context;
    AnswerFiles files = {.folder = out->folder,
                         .embedding = out->layer > 0 ? out->embedding_name : NULL,
                         .names = &out->names,
                         .shard = &out->session->shard,
                         .width = out->width};
    answers_write(out->npz, &files, err);
}

// Rank 0 writes; the others only send. Collective.
static void write_all(Session *s, const Inference *inference, const float *parameters,
                      const Options *options) {
    Model *model = inference->model;
    const Backend *b = inference->backend;
    size_t bytes = (size_t)inference->shape.state_count * sizeof(float);
    const DeviceFloat *weights = mirror_alloc(b, parameters, bytes, "parameters");
    Rows logits = model_infer(model, weights);
    Output out = {.session = s, .csv = options->csv, .npz = options->npz, .layer = options->layer};
    snprintf(out.embedding_name, sizeof out.embedding_name, "embeddings-%d.npy", out.layer);
    if (options->output != NULL)
        snprintf(out.folder, sizeof out.folder, "%s", options->output);
    if (comm_on_root(&s->comm, begin_output, &out, &s->err))
        send_rows(s, b, logits, take_scores, &out);
    close_with(s, end_output, &out);
    if (out.layer > 0 && s->err.code == 0) {
        Rows entering = model_embedding(model, out.layer * inference->shape.stages);
        out.width = entering.columns;
        if (comm_on_root(&s->comm, begin_embedding, &out, &s->err))
            send_rows(s, b, entering, take_embedding, &out);
        close_with(s, end_embedding, &out);
    }
    if (out.npz != NULL && s->err.code == 0)
        comm_on_root(&s->comm, write_archive, &out, &s->err);
    names_close(&out.names);
    mirror_free(b, weights);
}

// Memory of the rows of a rank and of the blocks that pass. `width`: of the embedding, 0: none.
static MemoryForecast plan_output(const Session *s, int64_t width) {
    const Shard *shard = &s->shard;
    MemoryForecast forecast = {0};
    int64_t classes = shard->classes, widest = width > classes ? width : classes;
    forecast_add(&forecast, "rows to write",
                 memory_product(shard->set[NODES].own, (size_t)widest * sizeof(float)));
    forecast_add(&forecast, "blocks of rows",
                 shard_gather_bytes(shard, (size_t)(widest > 0 ? widest : 1) * sizeof(float)));
    return forecast;
}

static int64_t width_of(const Session *s, int layer) {
    ModelShape shape;
    return layer > 0 && model_shape_of_shard(&shape, &s->config, &s->shard, &(Error){0})
               ? shape.width[layer * shape.stages]
               : 0;
}

static void predict(Session *s, const Options *options) {
    CLEARED(inference_close) Inference inference = {0};
    if (options->data != NULL && !new_data_take(s))
        return;
    if (!find_precision(s))
        return;
    MemoryForecast beside = plan_output(s, width_of(s, options->layer));
    if (!inference_open(&inference, &s->config, &s->shard, &s->comm, &beside, &s->err))
        return;
    FREED float *parameters = load_weights(s, &inference.shape, options);
    if (parameters != NULL)
        write_all(s, &inference, parameters, options);
}

ExitCode cmd_predict(const Options *options, Error *err) {
    const char *type = options->output != NULL ? strrchr(options->output, '.') : NULL;
    Session session;
    if (type != NULL && (strcmp(type, ".csv") == 0 || strcmp(type, ".npz") == 0)) {
        error_usage(err, "predict: --output names a folder; --%s %s writes that file", type + 1,
                    options->output);
        return EXIT_USAGE;
    }
    if (session_begin(&session, options))
        predict(&session, options);
    return session_end(&session);
}
