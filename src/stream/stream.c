// The loop over the events of a stream.
#include "internal.h"

#include <time.h>

enum { MEMORY_LOOKS = 1 << 18 }; // events between two looks at the memory in use
#define REQUEST_TAKES 0.2 // seconds, on a crowded machine, until a signal that was sent is known

// ---- begin and end

static size_t memory_limit(const Config *config) {
    return config->run.memory_limit > 0 ? (size_t)(config->run.memory_limit * 1073741824.0)
                                        : memory_available();
}

static bool open_stream(Stream *s, Error *err) {
    s->options = srp_options(s->config, s->request->parts);
    s->latency = ALLOC(Latency, 1, "durations of events");
    s->memory_limit = memory_limit(s->config);
    s->passing = s->request->skip;
    s->srp = srp_new(&s->options, err);
    s->reader = s->srp != NULL ? event_reader_open(s->request->source, err) : NULL;
    if (s->reader == NULL)
        return false;
    srp_live(s->srp)->strict = s->config->stream.strict;
    return true;
}

static void close_stream(Stream *s) {
    event_reader_close(s->reader);
    srp_free(s->srp);
    memory_free(s->latency);
}

// A source that can be rewound goes on where the checkpoint was; of any other one the sender does.
static bool resume(Stream *s, Error *err) {
    bool found = false;
    if (!s->request->resume || !stream_restore(s, &found, err) || !found)
        return err->code == 0;
    s->resumed = true;
    s->summary->pins_at_first = srp_live(s->srp)->pins;
    s->events_at_first = s->events;
    if (event_reader_can_seek(s->reader) || s->request->skip > 0)
        sink_note(s->request->sink, "resumed    after event %ld\n", s->events);
    if (event_reader_can_seek(s->reader))
        return s->request->skip == 0 ||
               error_usage(err,
                           "--skip is for a source that cannot be rewound; %s goes on where it was",
                           s->request->source);
    if (s->request->skip == 0)
        sink_say(s->request->sink,
                 "resumed    after event %ld; %s cannot be rewound, so the sender must begin with "
                 "the next event, or send all again while --skip %ld is given\n",
                 s->events, SHOWN(s->request->source), s->events);
    return s->request->skip == 0 || s->request->skip == s->events ||
           error_usage(err,
                       "--skip %ld: the checkpoint holds %ld events; skip these, or none if the "
                       "sender begins with the next one",
                       s->request->skip, s->events);
}

// ---- progress

// "13.0 k"
static const char *short_count(char out[QUANTITY], double count) {
    static const char *const unit[] = {"", " k", " M", " G"};
    int u = 0;
    for (; count >= 999.95 && u < 3; u++)
        count /= 1000;
    snprintf(out, QUANTITY, u == 0 ? "%.0f%s" : "%.1f%s", count, unit[u]);
    return out;
}

// One line of a terminal.
static void show(Stream *s, bool waits) {
    SrpTotals totals = srp_totals(s->srp);
    const LiveHypergraph *live = srp_live(s->srp);
    double hyperedges = (double)live->side[SIDE_HYPEREDGE].count;
    double passed = clock_seconds() - s->began;
    double rate = passed > 0 ? (double)(s->events - s->events_at_first) / passed : 0;
    char events[QUANTITY], pace[QUANTITY + 2] = "waiting";
    if (!waits)
        snprintf(pace, sizeof pace, "%s/s", short_count(events, rate));
    progress_update("%s events, %s, load %.2f, %.1f %% cut", short_count(events, (double)s->events),
                    pace, summary_load(s),
                    hyperedges > 0 ? 100 * (double)totals.cut / hyperedges : 0);
}

static void begin_progress(Stream *s) {
    progress_begin("stream", "%s", "");
    show(s, false);
}

// ---- what is due between events

static bool fits(const Stream *s, Error *err) {
    return s->events % MEMORY_LOOKS != 0 || srp_bytes(s->srp) < s->memory_limit ||
           error_set(err, EXIT_MEMORY,
                     "the hypergraph takes %.3g GiB after %ld events, and no more may be used; go "
                     "on with --resume auto on a larger machine or with a larger run.memory_limit",
                     (double)srp_bytes(s->srp) / 1073741824.0, s->events);
}

static bool is_due(int64_t every, int64_t events) { return every > 0 && events % every == 0; }

static void name_snapshot(const Stream *s, char name[EVENT_NAME]) {
    snprintf(name, EVENT_NAME, "events-%ld", s->events);
}

static bool snapshot_if_due(Stream *s, Error *err) {
    char name[EVENT_NAME];
    if (!is_due(s->config->stream.snapshot_every, s->events))
        return true;
    name_snapshot(s, name);
    bool ok = snapshot_write(s, name, err);
    begin_progress(s);
    return ok;
}

// One that was due at the checkpoint and could not be written then.
static bool make_up_snapshot(Stream *s, Error *err) {
    char name[EVENT_NAME];
    name_snapshot(s, name);
    return !s->resumed || file_exists(PATH_IN(PATH_IN(s->request->folder, "snapshots"), name)) ||
           snapshot_if_due(s, err);
}

static bool checkpoint_if_due(Stream *s, Error *err) {
    if (!is_due(s->config->stream.checkpoint_every, s->events))
        return true;
    return stream_checkpoint(s, event_reader_place(s->reader), err);
}

// ---- events

static bool take_event(Stream *s, const Event *event, Error *err) {
    s->events++;
    double begin = clock_seconds();
    bool ok = event->kind == EVENT_SNAPSHOT ? snapshot_write(s, event->name, err)
                                            : srp_apply(s->srp, event, err);
    double end = clock_seconds();
    if (!ok) {
        s->events--;
        return event->kind == EVENT_SNAPSHOT ? false : event_reader_error(s->reader, err);
    }
    if (event->kind == EVENT_SNAPSHOT)
        begin_progress(s);
    else
        latency_add(s->latency, end - begin);
    if (end - s->shown >= 0.25) {
        s->shown = end;
        show(s, false);
    }
    return true;
}

// Of a resumed stream the checkpoint has counted what is passed over.
static void pass_over(Stream *s) {
    s->passing--;
    s->events += !s->resumed;
}

// False if the state is that of a checkpoint, or of no event.
static bool has_changed(const Stream *s) { return s->passing == 0 && s->events > 0; }

static bool checkpoint(Stream *s, EventPlace place, Error *err) {
    progress_drop();
    progress_begin("checkpoint", "after event %ld", s->events);
    bool ok = stream_checkpoint(s, place, err);
    progress_end("");
    return ok;
}

// So that the stream can go on once what failed is mended. Returns false; *err of that stays.
static bool save_at(Stream *s, EventPlace place) {
    Error trouble = {0};
    if (has_changed(s) && !checkpoint(s, place, &trouble))
        sink_say(s->request->sink, "fringe: no checkpoint: %s\n", trouble.text);
    return false;
}

static bool save_and_stop(Stream *s, EventPlace place, Error *err) {
    if (!has_changed(s))
        return error_set(err, EXIT_STOPPED,
                         "stopped before any new event; there was nothing to save");
    return checkpoint(s, place, err) &&
           error_set(err, EXIT_STOPPED,
                     "stopped after event %ld; --resume auto goes on with the next one", s->events);
}

// True if a request to stop has come, or comes now. Ctrl-C reaches the sender, too, whose end may
// be seen first.
static bool stop_comes(const Stream *s) {
    double since = clock_seconds(), most = event_reader_can_seek(s->reader) ? 0 : REQUEST_TAKES;
    while (!s->request->stop() && clock_seconds() - since < most)
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    return s->request->stop();
}

// Then the end is not that of the stream, and half a line or record is none of its events.
static bool is_end_of_sender(const Stream *s) {
    return event_reader_at_end(s->reader) && stop_comes(s);
}

static bool take(Stream *s, const Event *event, Error *err) {
    if (!take_event(s, event, err))
        return save_at(s, event_reader_place_before(s->reader));
    if (!fits(s, err) || !snapshot_if_due(s, err))
        return save_at(s, event_reader_place(s->reader));
    return checkpoint_if_due(s, err);
}

static bool has_passed(const Stream *s, Error *err) {
    return s->passing == 0 || error_usage(err, "--skip %ld: the stream ends after %ld events",
                                          s->request->skip, s->request->skip - s->passing);
}

static bool follow(Stream *s, Error *err) {
    Event event;
    Error wrong = {0};
    for (;;) {
        EventNext next = event_reader_next(s->reader, &event, &wrong);
        if (is_end_of_sender(s))
            return save_and_stop(s, event_reader_place_before(s->reader), err);
        if (next == EVENT_END)
            return has_passed(s, err);
        if (next == EVENT_WRONG)
            return *err = wrong, save_at(s, event_reader_place_before(s->reader));
        if (next == EVENT_WAITING)
            show(s, true);
        else if (s->passing > 0)
            pass_over(s);
        else if (!take(s, &event, err))
            return false;
        if (s->request->stop())
            return save_and_stop(s, event_reader_place(s->reader), err);
    }
}

// ---- the whole

static void say_remarks(const Stream *s) {
    const Warnings *warnings = event_reader_warnings(s->reader);
    if (warnings->text[0] != '\0')
        sink_warn(s->request->sink, "%s", warnings_join((char[WARNINGS_TEXT]){0}, warnings));
}

static bool write_summary(const Stream *s, Error *err) {
    JsonWriter out;
    json_writer_begin(&out, true);
    JSON_PUT(&out, PAIR("format", "fringe-stream"), PAIR("version", 1),
             PAIR("source", s->request->source), PAIR("parts", s->options.parts),
             PAIR("score", s->options.score));
    stream_put(&out, s->summary, true);
    return json_writer_store(&out, PATH_IN(s->request->folder, "stream.json"), err);
}

static bool finish(Stream *s, Error *err) {
    if (srp_live(s->srp)->pins == 0)
        return error_data(err, "%s: the stream has ended without any pin", s->request->source);
    return checkpoint(s, event_reader_place(s->reader), err) && snapshot_write(s, "final", err) &&
           write_summary(s, err);
}

bool stream_run(StreamSummary *summary, const StreamRequest *request, const Config *config,
                Error *err) {
    CLEARED(close_stream)
    Stream s = {.request = request, .config = config, .summary = summary};
    *summary = (StreamSummary){0};
    if (!open_stream(&s, err) || !resume(&s, err) || !make_up_snapshot(&s, err))
        return false;
    s.began = clock_seconds();
    begin_progress(&s);
    bool ok = follow(&s, err);
    progress_drop();
    if (err->code != EXIT_STOPPED) // a last line without an end was not taken
        say_remarks(&s);
    return ok && finish(&s, err);
}
