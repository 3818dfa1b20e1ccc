// stale: an epoch reads the halo rows of the epoch before it, while its own are on their way
// (PipeGCN: Wan et al., ICLR 2022; ALGORITHMS B.1). Nothing waits for a message of this epoch.
//
//   epoch t   receive the rows of t - 1; pack, post those of t; own part; halo part, rows of t - 1
//
// The first epoch has no rows before it: it waits for its own, which the second one reads again
// (comm.first=exchange), or reads zeros, as PipeGCN does.
//
// Smoothing (PipeGCN-F, -G, -GF) reads the mean m of all rows that were received, in which a row
// counts less by decay for each one after it. After row t
//
//   m = a m + (1 - a) row,  a = decay (1 - decay^(t-1)) / (1 - decay^t)
//
// so that the mean begins with the first row itself. PipeGCN's begins with zero: a = decay. It
// happens once for each message, whoever drains it.

#include "channel.h"

// ---- its options

typedef struct Words {
    char first[CONFIG_WORD], smooth[CONFIG_WORD];
    double decay;
} Words;

static const Key keys[] = {
    {"comm.first", KEY_WORD, offsetof(Words, first), "\"exchange\"", NULL, "exchange zero", NULL,
     "Rows of other ranks that the first epoch reads: its own ones, for which it waits "
     "(exchange), or zeros (zero)."},
    {"comm.smooth", KEY_WORD, offsetof(Words, smooth), "\"none\"", NULL,
     "none features gradients both", NULL,
     "Rows of other ranks that are read as their mean over the epochs so far, at the cost of a "
     "copy of them: those of features (on the way forward), of gradients (back), both or none."},
    {"comm.smooth_decay", KEY_DOUBLE, offsetof(Words, decay), "0.95", "[0, 1)", NULL, NULL,
     "Weight of a row in that mean, relative to that of the row an epoch later."},
};

typedef struct Options {
    bool zero, smooths[2]; // by direction
    double decay;
} Options;

static Options options_of(const MemberValues *values) { return MEMBER_OPTIONS(Options, values); }

static bool is(const char *word, const char *one) { return strcmp(word, one) == 0; }

// What an exchange waits for, and what its computation hides, is nothing that an epoch would show.
static bool goes_with(const Config *config, Error *err) {
    bool codes = !is(config->quantization.codec, "fp32");
    if (codes && is(config->quantization.exchanges, "measured"))
        return error_config(
            err,
            "comm.schedule=stale: nothing waits for a message, so quantization.exchanges=measured "
            "finds no difference; set quantization.exchanges=all, or another comm.schedule");
    if (is(config->quantization.codec, "integer") && is(config->quantization.time, "hidden"))
        return error_config(err, "comm.schedule=stale hides messages behind a whole epoch, so no "
                                 "exchange has computation of its own that hides it; set "
                                 "quantization.time=sum, or another comm.schedule");
    return true;
}

static bool configure(const Config *config, MemberValues *values, Error *err) {
    Words words;
    static_assert(sizeof(Options) <= sizeof values->values, "the options fit");
    config_values(config, &schedule_stale.keys, &words);
    bool both = is(words.smooth, "both");
    Options options = {.zero = is(words.first, "zero"),
                       .smooths = {[FORWARD] = both || is(words.smooth, "features"),
                                   [BACKWARD] = both || is(words.smooth, "gradients")},
                       .decay = words.decay};
    memcpy(values->values, &options, sizeof options);
    return goes_with(config, err);
}

// ---- smoothing

// By squares, for pow() is not the same everywhere.
static double power(double base, int64_t exponent) {
    double value = 1;
    for (; exponent > 0; exponent /= 2, base *= base)
        value *= exponent % 2 == 1 ? base : 1;
    return value;
}

// The weight of the mean so far, when row `count` arrives.
static float weight_before(const Options *options, int64_t count) {
    double decay = options->decay;
    return (float)(options->zero
                       ? decay
                       : decay * (1 - power(decay, count - 1)) / (1 - power(decay, count)));
}

static size_t mean_bytes(int64_t rows, int64_t columns, ResidualEnd end) {
    return end == RESIDUAL_READER ? rows_bytes(rows, columns) : 0;
}

static void smooth(const Backend *b, DeviceByte *memory, Rows rows, ResidualStep step,
                   const Poll *poll) {
    Options options = options_of(step.values);
    Rows x = rows_with_padding(rows), mean = x;
    float before = weight_before(&options, step.exchange);
    mean.at = (DeviceFloat *)(void *)memory;
    b->message_add_scaled(mean, (RowFactor){.plain = before}, mean,
                          (RowFactor){.plain = 1 - before}, x, poll);
    b->message_add_scaled(x, (RowFactor){0}, x, (RowFactor){.plain = 1}, mean, poll);
}

static const Residual smoothing = {.name = "mean", .bytes = mean_bytes, .after_decode = smooth};

static const Residual *remembers(const MemberValues *values, int direction) {
    return options_of(values).smooths[direction] ? &smoothing : NULL;
}

// ---- its steps

static void stale(Channel *channel, const RowSource *rows, ExchangeContext context,
                  const ExchangeWork *work) {
    channel_drain(channel);
    if (!channel_has_rows(channel) && options_of(channel_schedule_values(channel)).zero)
        channel_rows_zero(channel);
    bool waits = !channel_has_rows(channel);
    channel_pack(channel, rows, context);
    channel_post(channel);
    if (waits)
        channel_drain(channel);
    channel_do_own(channel, work, OWN_ALL);
    channel_do_halo(channel, work, 0, channel_halo_plan(channel)->size - 1);
}

const Schedule schedule_stale = {.name = "stale",
                                 .hides = true,
                                 .keeps_in_flight = true,
                                 .changes_result = true,
                                 .keys = {keys, sizeof keys / sizeof *keys, sizeof(Words)},
                                 .configure = configure,
                                 .remembers = remembers,
                                 .run = stale};
