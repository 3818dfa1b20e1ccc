// The lines that people read while a run trains: one per logged epoch, the live progress, and where
// the time went.

#include "internal.h"

enum { COLUMNS = 80 };

// --- an epoch

static double compute_of(const double s[TIMER_KINDS]) {
    return s[TIMER_AGGREGATE_OWN] + s[TIMER_AGGREGATE_HALO] + s[TIMER_DENSE] + s[TIMER_POINTWISE];
}

static double pack_of(const double s[TIMER_KINDS]) { return s[TIMER_PACK] + s[TIMER_UNPACK]; }

// What the timers do not name, such as the sum of weight gradients and the optimizer.
static double rest_of(const double s[TIMER_KINDS], double seconds) {
    double rest = seconds - compute_of(s) - pack_of(s) - s[TIMER_WAIT];
    return rest > 0 ? rest : 0;
}

static const char *value_text(char out[QUANTITY], const Metrics *metrics, const Score *score) {
    double value = metrics_value(metrics, score);
    snprintf(out, QUANTITY, isnan(value) ? "none" : "%.2f", score_scale(score) * value);
    return out;
}

static void print_scores(char out[64], const EpochRecord *record, const Score *score) {
    char validation[QUANTITY], test[QUANTITY];
    out[0] = 0;
    if (record->evaluated)
        snprintf(out, 64, "  val %5.6s  test %5.6s %s",
                 value_text(validation, &record->metrics[SPLIT_VAL], score),
                 value_text(test, &record->metrics[SPLIT_TEST], score), record->best ? "*" : " ");
}

// One space between two words.
static void narrow(char *line) {
    char *to = line;
    for (const char *from = line; *from != 0; from++)
        if (from[0] != ' ' || from[1] != ' ')
            *to++ = *from;
    *to = 0;
}

static const char *loss_text(char out[QUANTITY], double loss) {
    snprintf(out, QUANTITY, fabs(loss) < 0.0005 && loss != 0 ? "%.0e" : "%.3f", loss);
    return out;
}

void report_line(const EpochRecord *record, const Score *score, int64_t epochs, double left,
                 char out[REPORT_LINE]) {
    char begin[160], scores[64], text[QUANTITY], seconds[QUANTITY + 2],
        bytes[QUANTITY + 2] = "", skipped[32] = "", remains[QUANTITY + 8] = "";
    print_scores(scores, record, score);
    int digits = snprintf(NULL, 0, "%ld", epochs);
    snprintf(begin, sizeof begin, "epoch %*ld/%ld  loss %s%s", digits, record->epoch, epochs,
             loss_text(text, record->loss), scores);
    snprintf(seconds, sizeof seconds, "  %s", SHOWN_SECONDS(record->seconds));
    if (record->bytes > 0)
        snprintf(bytes, sizeof bytes, "  %s", SHOWN_BYTES((double)record->bytes));
    if (record->headers > 0)
        snprintf(skipped, sizeof skipped, "  %.0f %% skipped",
                 100 * (double)record->skipped / (double)record->headers);
    if (!isnan(left))
        snprintf(remains, sizeof remains, "  %s left", SHOWN_CLOCK(left));
    // What does not fit is left out, the least important first; metrics.jsonl has it.
    char *piece[] = {skipped, bytes, seconds, remains};
    for (int left_out = 0; left_out <= 4; left_out++) {
        snprintf(out, REPORT_LINE, "%s%s%s%s%s", begin, seconds, bytes, skipped, remains);
        if (strlen(out) > COLUMNS)
            narrow(out);
        if (strlen(out) <= COLUMNS || left_out == 4)
            return;
        piece[left_out][0] = 0;
    }
}

void report_parts_line(const EpochRecord *record, char out[REPORT_LINE]) {
    const double *s = record->timers.seconds;
    snprintf(out, REPORT_LINE, "           compute %s, pack %s, wait %s, rest %s",
             SHOWN_SECONDS(compute_of(s)), SHOWN_SECONDS(pack_of(s)), SHOWN_SECONDS(s[TIMER_WAIT]),
             SHOWN_SECONDS(rest_of(s, record->seconds)));
}

// --- progress

enum { PROGRESS_PAUSE = 10 }; // reports a second, at most

void report_begin_progress(const Report *report) {
    progress_begin("train", "%ld epochs", report->config->train.epochs);
}

void report_progress(Report *report, const EpochRecord *record, double left) {
    char loss[QUANTITY];
    double now = clock_seconds();
    int64_t epochs = report->config->train.epochs;
    if (record->evaluated)
        value_text(report->scored, &record->metrics[SPLIT_VAL], report_score(report));
    if (now - report->progressed < 1.0 / PROGRESS_PAUSE)
        return;
    report->progressed = now;
    double percent = 100.0 * (double)record->epoch / (double)epochs;
    progress_update("%.0f %%, loss %s%s%s%s%s%s", percent, loss_text(loss, record->loss),
                    report->scored[0] != 0 ? ", val " : "", report->scored, isnan(left) ? "" : ", ",
                    isnan(left) ? "" : SHOWN_CLOCK(left), isnan(left) ? "" : " left");
}

// --- where the time went

void report_add_times(RunTimes *times, const EpochRecord *record) {
    times->epochs++;
    times->seconds += record->seconds;
    times->evaluation += record->evaluated ? record->eval_seconds : 0;
    times->assignment += record->assign_seconds;
    for (int kind = 0; kind < TIMER_KINDS; kind++)
        times->timers.seconds[kind] += record->timers.seconds[kind];
}

void report_print_times(const Report *report) {
    const RunTimes *times = &report->times;
    const Sink *sink = report->sink;
    const double *s = times->timers.seconds;
    double share = times->seconds > 0 ? 100 / times->seconds : 0;
    progress_drop();
    if (times->epochs == 0)
        return;
    sink_note(
        sink,
        "time       %ld epochs %s: compute %.0f %%, pack %.0f %%, wait %.0f %%, rest %.0f %%\n",
        times->epochs, SHOWN_SECONDS(times->seconds), share * compute_of(s), share * pack_of(s),
        share * s[TIMER_WAIT], share * rest_of(s, times->seconds));
    sink_note(sink, "           evaluation %s, assignment of bit widths %s\n",
              SHOWN_SECONDS(times->evaluation), SHOWN_SECONDS(times->assignment));
}
