// fringe evaluate: loss and metrics of trained weights on every split.

#include "internal.h"

static const char *const split_names[4] = {"unsplit", "train", "validation", "test"};

static void print_table(const Metrics metrics[4]) {
    terminal_print("%-10s %8s", "split", "rows");
    for (int i = 0; i < metrics[SPLIT_TRAIN].count; i++)
        terminal_print(" %9s", score_row(metrics[SPLIT_TRAIN].score[i].of)->title);
    terminal_print("\n");
    for (int split = SPLIT_TRAIN; split <= SPLIT_TEST; split++) {
        const Metrics *of = &metrics[split];
        terminal_print("%-10s %8ld", split_names[split], of->rows);
        for (int i = 0; i < of->count; i++)
            if (of->rows > 0)
                terminal_print(" %9.4f", of->score[i].value);
            else
                terminal_print(" %9s", "none");
        terminal_print("\n");
    }
}

static void print_json(const Metrics metrics[4]) {
    JsonWriter writer;
    json_writer_begin(&writer, false);
    for (int split = SPLIT_TRAIN; split <= SPLIT_TEST; split++)
        report_put_metrics(&writer, split_names[split], &metrics[split]);
    print_object(&writer, &terminal_sink);
}

static void measure(const Inference *inference, const float *parameters, Metrics metrics[4]) {
    const Backend *b = inference->backend;
    size_t bytes = (size_t)inference->shape.state_count * sizeof(float);
    const DeviceFloat *weights = mirror_alloc(b, parameters, bytes, "parameters");
    model_metrics(inference->model, model_infer(inference->model, weights), metrics);
    mirror_free(b, weights);
}

static void evaluate(Session *s, const Options *options) {
    CLEARED(inference_close) Inference inference = {0};
    Metrics metrics[4];
    if (!find_precision(s) ||
        !inference_open(&inference, &s->config, &s->shard, &s->comm, &(MemoryForecast){0}, &s->err))
        return;
    FREED float *parameters = load_weights(s, &inference.shape, options);
    if (options->all_metrics)
        model_measure_all(inference.model);
    if (parameters != NULL) {
        measure(&inference, parameters, metrics);
        if (s->comm.rank == 0)
            (options->json ? print_json : print_table)(metrics);
    }
}

ExitCode cmd_evaluate(const Options *options, UNUSED Error *err) {
    Session session;
    if (session_begin(&session, options))
        evaluate(&session, options);
    return session_end(&session);
}
