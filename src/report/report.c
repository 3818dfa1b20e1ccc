// Reports a run while it trains. metrics.jsonl grows by one object per epoch, written with one
// call, so that a crash leaves complete lines. The same command gives the same text, except for
// `time` (docs/architecture.md). A resume cuts the file back to the checkpoint's epoch; the epochs
// left in it count in the result.

#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { WRITER_ROOM = 1 << 20 }; // bytes: lines of about a thousand epochs

// --- opening

// False if the line is incomplete, or not written by fringe.
static bool read_line(const char *line, size_t bytes, RecordedEpoch *times) {
    CLEARED(json_drop)
    Json *record = line[bytes - 1] == '\n' && bytes > 1
                       ? json_parse(line, bytes - 1, "metrics.jsonl", &(Error){0})
                       : NULL;
    bool ok = record != NULL && json_type(record) == JSON_OBJECT;
    if (ok)
        *times = record_epoch(record, NULL);
    return ok;
}

// Keeps what the result reports: the seconds of the first epochs, for their median, and the bytes
// of the last one.
static void count_epoch(Report *report, double seconds, int64_t bytes) {
    report->bytes = bytes;
    if (report->samples < REPORT_SAMPLES)
        report->sample[report->samples++] = seconds;
}

// Counts epochs up to and including `last`. *keep: the end of the line of the last of them. A
// damaged line between them is not counted but stays in the file, because the lines after it are
// valid.
static int64_t count_lines(Report *report, FILE *file, int64_t last, int64_t *keep) {
    CLEARED(malloc_drop) char *line = NULL;
    size_t room = 0;
    int64_t count = 0, at = 0, before = 0;
    RecordedEpoch times;
    for (ssize_t bytes; (bytes = getline(&line, &room, file)) > 0;) {
        at += bytes;
        if (!read_line(line, (size_t)bytes, &times) || times.epoch <= before)
            continue;
        if (times.epoch > last)
            break;
        count_epoch(report, times.seconds, (int64_t)times.bytes);
        before = times.epoch;
        *keep = at;
        count++;
    }
    return count;
}

// A file that cannot be read is an error and is not cut back, because it may be complete.
static bool count_up_to(Report *report, int64_t last, int64_t *keep, Error *err) {
    int64_t size;
    Error missing = {0};
    CLEARED(stream_drop) FILE *file = file_stream(report->path, &size, &missing);
    if (file == NULL && missing.code != EXIT_NO_INPUT)
        return error_set(err, (ExitCode)missing.code, "%s", missing.text);
    int64_t count = file != NULL ? count_lines(report, file, last, keep) : 0;
    bool ok = file == NULL || !ferror(file) || error_cannot(err, EXIT_IO, "read", report->path);
    if (ok && count < last)
        sink_warn(report->sink, "%s is missing %ld of the %ld epochs before the resume",
                  SHOWN(report->path), last - count, last);
    return ok;
}

static bool cut_back(Report *report, int64_t last, Error *err) {
    int64_t keep = 0;
    if (last > 0 && !count_up_to(report, last, &keep, err))
        return false;
    return !file_exists(report->path) || truncate(report->path, keep) == 0 ||
           error_cannot(err, EXIT_CANNOT_WRITE, "cut it back", report->path);
}

// The part of report_open in a helper thread, because disks may be slow and there is no writer yet.
typedef struct Opening {
    Report *report;
    Error *err;
} Opening;

static void open_on_helper(void *context) {
    const Opening *opening = context;
    Report *report = opening->report;
    Error *err = opening->err;
    int made_here = report->resumed ? 0 : O_EXCL;
    const char *before = PATH_IN(report->folder, "run.json");
    // A damaged one costs only times of earlier processes.
    if (report->resumed && file_exists(before))
        report->before = json_read(before, &(Error){0});
    if (report->resumed &&
        (!cut_back(report, report->resumed_at, err) ||
         !report_cut_assignments(PATH_IN(report->folder, "assignments"), report->resumed_at, err)))
        return;
    report->metrics =
        open(report->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | made_here, 0666);
    if (report->metrics < 0)
        error_cannot(err, EXIT_CANNOT_WRITE, "write", report->path);
}

static void say_run(const Report *report) {
    CLEARED(json_writer_clear) JsonWriter event;
    json_writer_begin(&event, false);
    JSON_PUT(&event, PAIR("event", "run"), PAIR("run", report->folder),
             PAIR("epochs", report->config->train.epochs), PAIR("resumed_at", report->resumed_at));
    json_end_object(&event);
    sink_event(report->sink, "%s\n", event.text);
}

Report *report_open(const Config *config, const Shard *shard, const Trainer *trainer,
                    const Comm *comm, const RunSummary *summary, int64_t resume_epoch,
                    const Sink *sink, Error *err) {
    Report *report = ALLOC(Report, 1, "report");
    *report = (Report){.config = config,
                       .shard = shard,
                       .trainer = trainer,
                       .comm = comm,
                       .sink = sink,
                       .summary = *summary,
                       .resumed = resume_epoch >= 0,
                       .resumed_at = resume_epoch > 0 ? resume_epoch : 0,
                       .metrics = -1,
                       .opened = clock_seconds()};
    snprintf(report->folder, sizeof report->folder, "%s", config->run.dir);
    path_join(report->path, sizeof report->path, report->folder, "metrics.jsonl");
    clock_utc(report->started);
    report->sample = ALLOC(double, REPORT_SAMPLES, "seconds of epochs");
    json_writer_init(&report->line, false);
    json_writer_begin(&report->event, false);
    JSON_PUT(&report->event, PAIR("event", "epoch"), PAIR("run", report->folder));
    comm_on_helper(comm, open_on_helper, &(Opening){report, err});
    if (report->metrics >= 0) {
        report->writer = writer_new(comm, WRITER_ROOM);
        report_write_run(report, NULL, err);
        say_run(report);
        report_begin_progress(report);
        return report;
    }
    report_close(report);
    return NULL;
}

void report_close(Report *report) {
    if (report == NULL)
        return;
    progress_drop();
    writer_free(report->writer);
    if (report->metrics >= 0)
        close(report->metrics);
    json_writer_clear(&report->line);
    json_writer_clear(&report->event);
    json_free(report->before);
    MEMORY_FREE(report->ranks, report->sample, report);
}

// --- one epoch

static void put_time(JsonWriter *writer, const EpochRecord *record) {
    JSON_PUT_OBJECT(writer, "time") {
        JSON_PUT(writer, PAIR("clock", clock_wall()), PAIR("epoch", record->seconds));
        if (record->evaluated)
            json_put_double(writer, "evaluation", record->eval_seconds);
        if (record->assign_seconds > 0)
            json_put_double(writer, "assignment", record->assign_seconds);
        for (int kind = 0; kind < TIMER_KINDS; kind++)
            json_put_double(writer, timer_names[kind], record->timers.seconds[kind]);
    }
}

// The names of the exchanges that were in full precision, if any.
static void put_fp32(JsonWriter *writer, ExchangeSet set) {
    char name[EXCHANGE_NAME];
    if (set == 0)
        return;
    JSON_PUT_ARRAY(writer, "fp32")
        for (int k = 0; k < EXCHANGES_MOST; k++)
            if (set & exchange_set_of((ExchangeId){k / 2, k % 2}))
                json_put_string(writer, NULL, exchange_name((ExchangeId){k / 2, k % 2}, name));
}

static void put_record(JsonWriter *writer, const EpochRecord *record) {
    JSON_PUT_OBJECT(writer, NULL) {
        JSON_PUT(writer, PAIR("epoch", record->epoch), PAIR("loss", record->loss),
                 PAIR("rate", record->rate), PAIR("gradient_norm", record->gradient_norm),
                 PAIR("bytes", record->bytes));
        if (record->headers > 0)
            JSON_PUT(writer, PAIR("headers", record->headers), PAIR("skipped", record->skipped));
        if (record->halo_rows >= 0)
            json_put_int(writer, "halo_rows", record->halo_rows);
        if (record->sampled >= 0)
            json_put_int(writer, "sampled", record->sampled);
        if (record->sample_gain > 0)
            json_put_double(writer, "sample_gain", record->sample_gain);
        json_put_int(writer, "reduce_bytes", record->reduce_bytes);
        if (record->gradient_bits > 0)
            json_put_int(writer, "gradient_bits", record->gradient_bits);
        if (!isnan(record->gradient_memory))
            json_put_double(writer, "gradient_memory", record->gradient_memory);
        put_fp32(writer, record->fp32);
        if (record->evaluated) {
            json_put_bool(writer, "best", record->best);
            report_put_splits(writer, record->metrics);
            if (record->average != NULL)
                JSON_PUT_OBJECT(writer, "average")
                    report_put_splits(writer, record->average);
            json_put_int(writer, "eval_bytes", record->eval_bytes);
        }
        put_time(writer, record);
    }
}

// Writes no further line after an incomplete one.
static void append(void *context, const void *line, size_t bytes, Error *err) {
    const Report *report = context;
    if (err->code != 0)
        return;
    ssize_t written = write(report->metrics, line, bytes);
    if (written != (ssize_t)bytes)
        error_set(err, EXIT_CANNOT_WRITE,
                  "%s: cannot write: %s; free disk space and continue with --resume auto",
                  report->path, written < 0 ? strerror(errno) : "the disk is full");
}

static bool put_line(Report *report, Error *err) {
    JsonWriter *line = &report->line;
    line->text[line->bytes] = '\n'; // replaces the terminating 0
    return writer_put(report->writer, append, report, line->text, line->bytes + 1, err);
}

static bool line_due(const Report *report, const EpochRecord *record) {
    int64_t every = report->config->run.log_every;
    return every > 0 &&
           (report->epochs == 1 || record->epoch % every == 0 || trainer_finished(report->trainer));
}

static void print_epoch(Report *report, const EpochRecord *record) {
    char line[REPORT_LINE];
    int64_t epochs = report->config->train.epochs;
    pace_add(&report->pace, record);
    double left = pace_left(&report->pace, epochs - record->epoch);
    report_progress(report, record, left);
    if (!line_due(report, record))
        return;
    report_line(record, report_score(report), epochs, left, line);
    sink_note(report->sink, "%s\n", line);
    report_parts_line(record, line);
    sink_detail(report->sink, "%s\n", line);
}

bool report_memory_costs(int *epochs, double memory) {
    enum { EPOCHS = 20 };
    if (*epochs == EPOCHS) // it was said
        return false;
    *epochs = memory > 1 ? *epochs + 1 : 0;
    return *epochs == EPOCHS;
}

// What feedback adds may be longer than the gradients, and do good.
static void warn_of_memory(Report *report, const EpochRecord *record) {
    const char *memory = report->config->gradients.memory;
    if (strcmp(memory, "feedback") != 0 &&
        report_memory_costs(&report->costly, record->gradient_memory))
        sink_warn(report->sink,
                  "epoch %ld: gradients.memory=%s costs more than it brings: the gradients are "
                  "further from it than from zero (%.3g times, as before in many epochs); set "
                  "gradients.memory=none, gradients.rounding=nearest or more gradients.bits",
                  record->epoch, memory, record->gradient_memory);
}

// First weights make all gradients alike, so the first measurement says nothing.
static void say_uniform(Report *report, const EpochRecord *record) {
    if (!record->sample_uniform || record->epoch <= report->config->train.sample_period + 1)
        return;
    if (!report->said_uniform)
        sink_say(report->sink,
                 "note       epoch %ld: train.sample=%s draws uniformly where the gradients of "
                 "nodes are as alike as here (%.3f; above 1.05 it follows them); sample_gain in "
                 "metrics.jsonl\n",
                 record->epoch, report->config->train.sample, record->sample_gain);
    report->said_uniform = true;
}

bool report_epoch(Report *report, const EpochRecord *record, Error *err) {
    report->line.bytes = 0;
    report->line.after_value[0] = false;
    put_record(&report->line, record);
    if (!put_line(report, err))
        return false;
    sink_event(report->sink, "%s, %.*s\n", report->event.text, (int)report->line.bytes - 1,
               report->line.text + 1);
    report->epochs++;
    count_epoch(report, record->seconds, record->bytes);
    report_add_times(&report->times, record);
    print_epoch(report, record);
    warn_of_memory(report, record);
    say_uniform(report, record);
    if (record->choice != NULL)
        report_print_choice(report->sink, record->choice);
    return true;
}

static void sync_metrics(void *context, UNUSED const void *payload, UNUSED size_t bytes,
                         Error *err) {
    const Report *report = context;
    if (err->code == 0 && fsync(report->metrics) != 0)
        error_cannot(err, EXIT_IO, "flush", report->path);
}

bool report_sync(Report *report, Error *err) {
    writer_put(report->writer, sync_metrics, report, "", 0, err);
    return writer_wait(report->writer, err);
}
