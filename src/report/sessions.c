// The part of run.json that says when, where and by which command a run was trained. A run that was
// resumed has several sessions: one for each process that worked on it.

#include "internal.h"

// The words of this process's command line.
static void put_command(JsonWriter *writer) {
    CLEARED(stream_drop) FILE *file = fopen("/proc/self/cmdline", "re");
    CLEARED(malloc_drop) char *word = NULL;
    size_t room = 0;
    JSON_PUT_ARRAY(writer, "command")
        while (file != NULL && getdelim(&word, &room, 0, file) > 0)
            json_put_string(writer, NULL, word);
}

static void put_hosts(JsonWriter *writer, const Report *report) {
    JSON_PUT_ARRAY(writer, "hosts")
        for (int rank = 0; rank < report->comm->size; rank++)
            json_put_string(writer, NULL, report->summary.host[rank]);
}

static const char *ended(const Report *report) {
    return report->ended[0] != 0 ? report->ended : NULL;
}

static void put_this_session(JsonWriter *writer, const Report *report) {
    JSON_PUT_OBJECT(writer, NULL) {
        JSON_PUT(writer, PAIR("started", report->started), PAIR("ended", ended(report)),
                 PAIR("resumed_at_epoch", report->resumed_at));
        put_command(writer);
        put_hosts(writer, report);
    }
}

void report_put_sessions(JsonWriter *writer, const Report *report) {
    const Json *first = json_get_of(report->before, "started", JSON_STRING);
    const Json *earlier = json_get_of(report->before, "sessions", JSON_ARRAY);
    JSON_PUT(writer, PAIR("started", first != NULL ? json_string(first) : report->started),
             PAIR("ended", ended(report)));
    JSON_PUT_ARRAY(writer, "sessions") {
        for (const Json *at = json_first(earlier); at != NULL; at = json_next(at))
            json_put_value(writer, NULL, at);
        put_this_session(writer, report);
    }
}

// Means over the epochs of this process, in seconds. A finished run that is resumed trains none,
// and keeps its times.
void report_put_rank_times(JsonWriter *writer, const Report *report) {
    const Json *earlier = json_get_of(report->before, "rank_times", JSON_OBJECT);
    if (report->ranks[0].epochs == 0 && earlier != NULL) {
        json_put_value(writer, "rank_times", earlier);
        return;
    }
    JSON_PUT_OBJECT(writer, "rank_times") {
        json_put_int(writer, "epochs", report->ranks[0].epochs);
        JSON_PUT_ARRAY(writer, "ranks")
            for (int rank = 0; rank < report->comm->size; rank++) {
                const RankTimes *times = &report->ranks[rank];
                JSON_PUT_OBJECT(writer, NULL)
                    JSON_PUT(writer, PAIR("compute", times->compute), PAIR("pack", times->pack),
                             PAIR("wait", times->wait), PAIR("reduce", times->reduce));
            }
    }
}
