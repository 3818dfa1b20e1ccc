// The rule quantization.exchanges=measured. The first epochs train with the codec and with fp32 in
// turns; each exchange then sends what took less time, medians over the turns. Its time is all that
// it did, the computation that it overlaps included: messages in flight slow computation down, and
// waiting for a message is worth nothing if there is computation left.
//
//   epoch     1      2      3     4      5     6      7     8 ...
//             -    codec  fp32  codec  fp32  codec  fp32    as chosen
//
// On a slow link an epoch with fp32 may take as long as ten with the codec, so an exchange is left
// out of a trial if it cannot win: if what the link would need at least, or the least that it took
// so far, is far above the time with the codec.

#include "choice.h"

static const double far = 1.5;  // times the seconds of the codec: fp32 is not tried again
static const double tie = 0.02; // of the seconds of an exchange: the fp32 rows are exact, so they
                                // win where times hardly differ

static bool is_over(const Chooser *chooser) { return chooser->choice.epoch > 0; }

static bool is_trial(int64_t epoch) {
    return epoch > CHOICE_WARM && epoch <= CHOICE_WARM + CHOICE_TRIALS;
}

static int kind_of(int64_t epoch) {
    return (epoch - CHOICE_WARM) % 2 == 1 ? WITH_CODEC : WITH_FP32;
}

static ExchangeSet chosen(const CodecChoice *choice) {
    ExchangeSet set = 0;
    for (int i = 0; i < choice->count; i++)
        if (choice->exchange[i].fp32)
            set |= exchange_set_of(choice->exchange[i].id);
    return set;
}

static ExchangeSet still_candidates(const Chooser *chooser) {
    ExchangeSet set = 0;
    for (int i = 0; i < chooser->count; i++)
        if (!chooser->candidate[i].out)
            set |= exchange_set_of(chooser->candidate[i].id);
    return set;
}

// Notes the clocks of the channels.
static void begin(Chooser *chooser) {
    for (int i = 0; i < chooser->count; i++) {
        Candidate *c = &chooser->candidate[i];
        c->before = channel_seconds(c->channel);
        c->bytes_before = channel_count(c->channel).bytes_sent;
    }
}

ExchangeSet trials_before(Chooser *chooser, int64_t epoch) {
    if (is_over(chooser))
        return chosen(&chooser->choice);
    begin(chooser);
    return is_trial(epoch) && kind_of(epoch) == WITH_FP32 ? still_candidates(chooser) : 0;
}

// Seconds of one epoch of an exchange: means over ranks, and the least wait of all ranks.
typedef struct Spent {
    double messages, all; // without and with the computation around the messages
    double wait, least_wait;
} Spent;

static Spent spent_in(const Candidate *c, const Comm *comm) {
    ChannelSeconds now = channel_seconds(c->channel), was = c->before;
    double wait = now.wait - was.wait;
    double messages = now.pack - was.pack + now.unpack - was.unpack + wait;
    double work = now.own - was.own + now.halo - was.halo;
    double sum[3] = {messages, messages + work, wait};
    comm_sum_double(comm, sum, 3);
    return (Spent){.messages = sum[0] / comm->size,
                   .all = sum[1] / comm->size,
                   .wait = sum[2] / comm->size,
                   .least_wait = -comm_max_double(comm, -wait)};
}

// How many times the bytes of the last exchange fp32 rows have, over all ranks.
static double growth(const Candidate *c, const Comm *comm) {
    const HaloPlan *plan = channel_halo_plan(c->channel);
    int64_t bytes[2] = {channel_count(c->channel).bytes_sent - c->bytes_before,
                        plan->send_offset[plan->size - 1] * channel_columns(c->channel) *
                            (int64_t)sizeof(float)};
    comm_sum_int64(comm, bytes, 2);
    return bytes[0] > 0 ? (double)bytes[1] / (double)bytes[0] : 1;
}

// A rank that waits has nothing left to compute, so more bytes make it wait longer in proportion.
// The least wait of all ranks counts: the others may have waited for a slow rank, not for the link.
static void foresee(Candidate *c, const Spent *spent, const Comm *comm) {
    double more = fmax(growth(c, comm) - 1, 0) * spent->least_wait;
    c->least_fp32 = spent->all - (spent->messages - spent->wait) + more;
    c->out = spent->wait + more > far * spent->messages;
}

static double least(const double *value, int64_t count) {
    double found = INFINITY;
    for (int64_t i = 0; i < count; i++)
        found = fmin(found, value[i]);
    return found;
}

static void measure(Candidate *c, int kind, const Comm *comm) {
    Spent spent = spent_in(c, comm);
    if (kind == WITH_CODEC && c->turns[WITH_CODEC] == 0)
        foresee(c, &spent, comm);
    c->seconds[kind][c->turns[kind]++] = spent.all;
    if (kind == WITH_FP32)
        c->out = least(c->seconds[WITH_FP32], c->turns[WITH_FP32]) >
                 far * least(c->seconds[WITH_CODEC], c->turns[WITH_CODEC]);
}

static double median(const double *value, int64_t count) {
    double sorted[CHOICE_TURNS];
    memcpy(sorted, value, (size_t)count * sizeof *value);
    return count > 0 ? sort_median(sorted, count) : NAN;
}

static MeasuredExchange judge(const Candidate *c) {
    MeasuredExchange m = {.id = c->id, .sent = c->turns[WITH_FP32] > 0};
    m.codec_seconds = median(c->seconds[WITH_CODEC], c->turns[WITH_CODEC]);
    m.fp32_seconds = m.sent ? median(c->seconds[WITH_FP32], c->turns[WITH_FP32]) : c->least_fp32;
    m.fp32 = !c->out && m.fp32_seconds <= (1 + tie) * m.codec_seconds;
    return m;
}

void trials_judge(Chooser *chooser) {
    chooser->choice.count = chooser->count;
    for (int i = 0; i < chooser->count; i++)
        chooser->choice.exchange[i] = judge(&chooser->candidate[i]);
}

void trials_after(Chooser *chooser, int64_t epoch) {
    if (is_over(chooser) || !is_trial(epoch))
        return;
    int kind = kind_of(epoch);
    for (int i = 0; i < chooser->count; i++)
        if (kind == WITH_CODEC || !chooser->candidate[i].out)
            measure(&chooser->candidate[i], kind, chooser->comm);
    if (still_candidates(chooser) != 0 && epoch < CHOICE_WARM + CHOICE_TRIALS)
        return;
    trials_judge(chooser);
    chooser->choice.epoch = epoch + 1;
}
