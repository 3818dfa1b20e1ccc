// What quantization.exchanges=measured found: in run.json and as lines. What run.precision=auto
// found: in run.json.

#include "internal.h"

static void put_exchange(JsonWriter *w, const MeasuredExchange *m) {
    JSON_PUT_OBJECT(w, NULL)
        JSON_PUT(w, PAIR("layer", m->id.layer), PAIR("direction", direction_name(m->id.direction)),
                 PAIR("rows", m->fp32 ? "fp32" : "codec"), PAIR("codec_seconds", m->codec_seconds),
                 PAIR("fp32_seconds", m->fp32_seconds),
                 PAIR("fp32_seconds_are", m->sent ? "measured" : "the least that the link takes"));
}

static void put_names(JsonWriter *w, const CodecChoice *choice) {
    char name[EXCHANGE_NAME];
    JSON_PUT_ARRAY(w, "fp32")
        for (int i = 0; i < choice->count; i++)
            if (choice->exchange[i].fp32)
                json_put_string(w, NULL, exchange_name(choice->exchange[i].id, name));
}

// Other measurements may lead to another choice, so the run can be had again only from what it
// recorded; `again` says how.
static void put_reproduce(JsonWriter *w, const char *again) {
    char how[2 * PATH_BYTES + 300];
    snprintf(how, sizeof how,
             "The choice was measured, so the same command may make another one. %s", again);
    JSON_PUT(w, pair_bool("reproducible_without_record", false), PAIR("reproduce", how));
}

void report_put_choice(JsonWriter *w, const Report *report) {
    const CodecChoice *choice = trainer_codec_choice(report->trainer);
    char again[2 * PATH_BYTES + 200];
    if (choice == NULL)
        return;
    snprintf(
        again, sizeof again,
        "quantization.exchanges=replay:%s takes it from this run's metrics.jsonl; if there are "
        "assignments/, their bit widths need quantization.assign=replay:%s, too.",
        report->folder, report->folder);
    JSON_PUT_OBJECT(w, "codec_choice") {
        json_put_int(w, "from_epoch", choice->epoch);
        put_reproduce(w, again);
        put_names(w, choice);
        JSON_PUT_ARRAY(w, "exchanges")
            for (int i = 0; i < choice->count; i++)
                put_exchange(w, &choice->exchange[i]);
    }
}

static void print_exchange(const Sink *sink, const MeasuredExchange *m) {
    sink_note(sink, "           layer %d %-8s %-15s fp32 %s%s, quantized %s\n", m->id.layer,
              direction_name(m->id.direction),
              m->fp32 ? "fp32 rows:" : "quantized rows:", m->sent ? "" : "over ",
              SHOWN_SECONDS(m->fp32_seconds), SHOWN_SECONDS(m->codec_seconds));
}

void report_print_choice(const Sink *sink, const CodecChoice *choice) {
    sink_note(sink, "exchanges  from epoch %ld on, as measured (an epoch, with its computation):\n",
              choice->epoch);
    for (int i = 0; i < choice->count; i++)
        print_exchange(sink, &choice->exchange[i]);
}

// ---- run.precision=auto

static void put_measured(JsonWriter *w, const PrecisionChoice *choice, Precision precision) {
    if (choice->seconds[precision] < 0) // the backend has none
        return;
    JSON_PUT_OBJECT(w, precision_names[precision])
        JSON_PUT(w, PAIR("seconds", choice->seconds[precision]),
                 PAIR("error", choice->error[precision]));
}

void report_put_precision(JsonWriter *w, const Report *report) {
    static const char name[] = "precision_choice";
    const PrecisionChoice *choice = &report->summary.precision;
    const Json *earlier = json_get_of(report->before, name, JSON_OBJECT);
    char again[2 * CONFIG_WORD + 64];
    KernelChoice kernels = trainer_kernel_choice(report->trainer);
    if (!choice->measured) {
        if (earlier != NULL)
            json_put_value(w, name, earlier);
        return;
    }
    snprintf(again, sizeof again, "run.precision=%s%s%s is what this run has.", choice->taken,
             kernels.sums[0] != 0 ? " run.bf16_sums=" : "", kernels.sums);
    JSON_PUT_OBJECT(w, name) {
        json_put_string(w, "taken", choice->taken);
        put_reproduce(w, again);
        json_put_double(w, "error_allowed", choice->bound);
        for (int p = 0; p < PRECISIONS; p++)
            put_measured(w, choice, p);
    }
}
