// fringe program: learning on the graph without a network. Rank 0 writes arrays in the order of the
// original nodes, and program.json.

#include "fringe/npy.h"
#include "fringe/program.h"
#include "internal.h"

// ---- what is written

typedef struct Output { // of rank 0, which writes in a helper thread, because disks may be slow
    Session *session;
    const char *name, *given; // the program; the folder, NULL: the one in run.dir
    const ProgramResult *result;
    void *rows[PROGRAM_ARRAYS]; // in node order
    JsonWriter json;
} Output;

static void put_figures(JsonWriter *writer, const ProgramResult *result) {
    for (int i = 0; i < result->figures; i++) {
        const ProgramFigure *figure = &result->figure[i];
        char key[sizeof figure->name];
        snprintf(key, sizeof key, "%s", figure->name);
        for (char *at = key; (at = strchr(at, ' ')) != NULL;)
            *at = '_';
        if (figure->whole)
            json_put_int(writer, key, (int64_t)figure->value);
        else
            json_put_double(writer, key, figure->value);
    }
}

static void put_program(Output *out) {
    const Session *s = out->session;
    JsonWriter *writer = &out->json;
    json_writer_begin(writer, true);
    JSON_PUT(writer, PAIR("program", out->name), PAIR("dataset", s->shard.dataset_name),
             PAIR("nodes", s->shard.set[NODES].total));
    if (shard_is_hypergraph(&s->shard))
        json_put_int(writer, "hyperedges", s->shard.set[HYPEREDGES].total);
    JSON_PUT(writer, PAIR("edges", s->shard.edges), PAIR("ranks", s->comm.size),
             PAIR("partition", s->config.partition.method));
    put_figures(writer, out->result);
    if (out->result->warning[0] != 0)
        json_put_string(writer, "warning", out->result->warning);
    json_end_object(writer);
}

static void print_figures(const ProgramResult *result) {
    for (int i = 0; i < result->figures; i++) {
        const ProgramFigure *figure = &result->figure[i];
        if (isnan(figure->value))
            continue;
        if (figure->whole)
            terminal_print("%-28s %ld\n", figure->name, (int64_t)figure->value);
        else
            terminal_print("%-28s %.6g\n", figure->name, figure->value);
    }
}

static bool write_array(const Output *out, int i, const char *folder, Error *err) {
    const Session *s = out->session;
    const ProgramArray *array = &out->result->array[i];
    int64_t shape[2] = {array->rows > 0 ? array->rows : s->shard.set[NODES].total, array->columns};
    const char *path = PATH_IN(folder, array->file);
    return npy_write(path, array->type, out->rows[i], array->item, array->columns > 0 ? 2 : 1,
                     shape, err);
}

static void write_folder(void *context, Error *err) {
    const Output *out = context;
    const Session *s = out->session;
    const char *folder = out->given != NULL ? out->given : PATH_IN(s->config.run.dir, out->name);
    bool ok =
        (out->given != NULL || runfolder_mark(&s->config, err)) && file_make_folder(folder, err);
    for (int i = 0; ok && i < out->result->arrays; i++)
        ok = write_array(out, i, folder, err);
    if (!ok)
        return;
    if (file_replace(PATH_IN(folder, "program.json"), out->json.text, out->json.bytes, err))
        terminal_note("folder     %s\n", SHOWN(folder));
}

static void write_all(Session *s, const Options *options, const ProgramResult *result) {
    Output out = {
        .session = s, .name = options->argument[0], .given = options->output, .result = result};
    for (int i = 0; i < result->arrays; i++) {
        const ProgramArray *array = &result->array[i];
        size_t bytes = array->item * (size_t)(array->columns > 0 ? array->columns : 1);
        out.rows[i] =
            array->rows > 0 ? array->data : shard_gather(&s->shard, &s->comm, array->data, bytes);
    }
    put_program(&out);
    if (comm_on_root(&s->comm, write_folder, &out, &s->err) && s->comm.rank == 0) {
        if (options->json)
            terminal_print("%s\n", out.json.text);
        else
            print_figures(result);
    }
    json_writer_clear(&out.json);
    for (int i = 0; i < result->arrays; i++)
        if (result->array[i].rows == 0)
            memory_free(out.rows[i]);
}

// ---- the run

static void progress(int64_t iteration, const char *what, double value) {
    progress_update("iteration %ld, %s %.3g", iteration, what, value);
}

// Keys of a training serve no program; one line says so.
static void say_what_is_ignored(const Session *s) {
    char said[128] = "", section[CONFIG_WORD];
    for (int i = 0; config_key_at(i) != NULL; i++) {
        const char *path = config_key_at(i)->path;
        snprintf(section, sizeof section, "%.*s", (int)strcspn(path, "."), path);
        if (text_lists("model train quantization gradients", section) &&
            config_is_said(&s->config, path) && strstr(said, section) == NULL)
            text_add(said, sizeof said, ", ", "%s", section);
    }
    if (said[0] != 0 && s->comm.rank == 0)
        terminal_note("ignored    keys of %s, which programs do not read\n", said);
}

static void run_program(Session *s, const Options *options) {
    const char *name = options->argument[0];
    ProgramParts parts = {.config = &s->config,
                          .shard = &s->shard,
                          .comm = &s->comm,
                          .stopped = stop_asked,
                          .progress = progress};
    CLEARED(program_result_clear) ProgramResult result = {0};
    MemoryForecast forecast = {0};
    snprintf(s->config.run.precision, sizeof s->config.run.precision, "fp32");
    parts.backend = backend_of(&s->config, &s->comm, &s->err);
    if (!comm_agree(&s->comm, &s->err))
        return;
    if (!program_forecast(&forecast, name, &parts, &s->err) ||
        !memory_fits(&forecast, parts.backend, &s->config, &s->comm, &s->err))
        return;
    stop_waits_for("this iteration is finished; nothing is");
    if (s->comm.rank == 0)
        progress_begin("program", "%s", SHOWN(name));
    bool ok = program_run(name, &parts, &result, &s->err);
    if (s->comm.rank == 0)
        progress_end("");
    if (s->comm.rank == 0 && result.warning[0] != 0)
        say_lines("warning    ", result.warning);
    if (ok)
        write_all(s, options, &result);
}

ExitCode cmd_program(const Options *options, UNUSED Error *err) {
    Session session;
    stop_listen();
    if (session_start(&session, options)) {
        program_fits(options->argument[0], &session.config, &session.err);
        if (comm_agree(&session.comm, &session.err)) {
            say_what_is_ignored(&session);
            if (session_load(&session))
                run_program(&session, options);
        }
    }
    return session_end(&session);
}
