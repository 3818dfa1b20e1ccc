// fringe evaluate: loss and metrics of trained weights on every split.

#include "cli.h"

static const char *const split_names[4] = {"unsplit", "train", "validation", "test"};

static void print_table(const Metrics metrics[4]) {
    terminal_print("%-10s %8s %9s %9s %9s %9s\n", "split", "rows", "loss", "accuracy", "micro-F1",
                   "macro-F1");
    for (int split = SPLIT_TRAIN; split <= SPLIT_TEST; split++)
        terminal_print("%-10s %8lld %9.4f %9.4f %9.4f %9.4f\n", split_names[split],
                       (long long)metrics[split].rows, metrics[split].loss, metrics[split].accuracy,
                       metrics[split].micro_f1, metrics[split].macro_f1);
}

static void print_json(const Metrics metrics[4]) {
    JsonWriter writer;
    json_writer_init(&writer, false);
    json_begin_object(&writer, NULL);
    for (int split = SPLIT_TRAIN; split <= SPLIT_TEST; split++) {
        json_begin_object(&writer, split_names[split]);
        json_put_int(&writer, "rows", metrics[split].rows);
        json_put_double(&writer, "loss", metrics[split].loss);
        json_put_double(&writer, "accuracy", metrics[split].accuracy);
        json_put_double(&writer, "micro_f1", metrics[split].micro_f1);
        json_put_double(&writer, "macro_f1", metrics[split].macro_f1);
        json_end_object(&writer);
    }
    json_end_object(&writer);
    terminal_print("%s\n", writer.text);
    json_writer_clear(&writer);
}

static void evaluate(Session *s, const Options *options) {
    Trainer *trainer = trainer_new(&s->config, &s->shard, &s->comm, 0, &s->err);
    Metrics metrics[4];
    if (trainer != NULL && load_weights(s, trainer, options)) {
        trainer_evaluate(trainer, false, metrics);
        if (s->comm.rank == 0)
            (options->json ? print_json : print_table)(metrics);
    }
    trainer_free(trainer);
}

ExitCode cmd_evaluate(const Options *options, int *argc, char ***argv) {
    Session session;
    if (session_begin(&session, options, argc, argv))
        evaluate(&session, options);
    return session_end(&session);
}
