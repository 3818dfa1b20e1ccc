// skip: as blocking, but a message whose rows have hardly moved since they were sent last is left
// out: a header alone goes, and the reader keeps the rows that it has (after SANCUS: Peng et al.,
// VLDB 2022; ALGORITHMS B.2).
//
// Each pair of ranks decides for itself, in every layer. The sender remembers the rows as it sent
// them last, before its codec, and measures how far those that it would send now are from them.
// SANCUS's own measures of staleness are known from its abstract only; these are a reconstruction,
// and `code` is what its public code does in their place.

#include "channel.h"

#include <float.h>

// ---- its options

typedef struct Words {
    char rule[CONFIG_WORD];
    bool backward;
} Words;

static const Key keys[] = {
    {"comm.skip", KEY_WORD, offsetof(Words, rule), "\"hybrid:0.05,10\"", NULL, NULL, NULL,
     "Which messages travel, of each layer and pair of ranks; the first one always does. fixed:E: "
     "those of epochs E, 2E, ... | var:EPS: those whose rows have moved by more than EPS of their "
     "norm since they were sent last | hybrid:EPS,TAU: these, and those of rows that were sent TAU "
     "epochs ago | code: of the first layer none, of the others those of odd epochs and of the "
     "first 51, as SANCUS's public code has it. Its paper's measure is not public; var and hybrid "
     "are a reconstruction."},
    {"comm.skip_backward", KEY_BOOL, offsetof(Words, backward), "false", NULL, NULL, NULL,
     "Gradients of rows are left out by the same rule; SANCUS always sends them."},
};

typedef struct Rule Rule;

typedef struct Options {
    const Rule *rule;
    double eps;
    int64_t epochs; // fixed: from one message to the next; hybrid: the oldest rows
    bool backward;
} Options;

static Options options_of(const MemberValues *values) { return MEMBER_OPTIONS(Options, values); }

// ---- rules

// A message that could be left out.
typedef struct Candidate {
    int layer;
    uint32_t epoch;
    int64_t exchanges, age; // of its channel so far; epochs since its rows were sent
    double moved, size;     // norms: of how far they have moved, and of what was sent; 0 unmeasured
} Candidate;

struct Rule {
    const char *name;
    bool measures;
    bool (*read)(Options *options, const char *argument); // false: it makes no sense
    bool (*sends)(const Options *options, const Candidate *of);
};

static bool read_epochs(int64_t *epochs, const char *text) {
    long long number = 0;
    int read = 0;
    if (sscanf(text, "%lld%n", &number, &read) != 1 || text[read] != 0 || number < 1)
        return false;
    *epochs = number;
    return true;
}

// Returns what is behind the number, or NULL.
static const char *read_eps(double *eps, const char *text) {
    int read = 0;
    bool ok = sscanf(text, "%lf%n", eps, &read) == 1 && *eps >= 0 && *eps <= DBL_MAX;
    return ok ? text + read : NULL;
}

static bool read_fixed(Options *options, const char *argument) {
    return read_epochs(&options->epochs, argument);
}

static bool read_var(Options *options, const char *argument) {
    const char *rest = read_eps(&options->eps, argument);
    return rest != NULL && *rest == 0;
}

static bool read_hybrid(Options *options, const char *argument) {
    const char *rest = read_eps(&options->eps, argument);
    return rest != NULL && *rest == ',' && read_epochs(&options->epochs, rest + 1);
}

static bool read_nothing(UNUSED Options *options, const char *argument) { return *argument == 0; }

static bool at_fixed_epochs(const Options *options, const Candidate *of) {
    return of->epoch % options->epochs == 0;
}

// Rows that are not a number are sent.
static bool if_moved(const Options *options, const Candidate *of) {
    return !(of->moved <= options->eps * of->size);
}

static bool if_moved_or_old(const Options *options, const Candidate *of) {
    return of->age >= options->epochs || if_moved(options, of);
}

static bool as_the_code_does(UNUSED const Options *options, const Candidate *of) {
    const int64_t always = 50;
    return of->layer > 0 && (of->exchanges <= always || of->epoch % 2 == 1);
}

static const Rule rules[] = {
    {"fixed:E", false, read_fixed, at_fixed_epochs},
    {"var:EPS", true, read_var, if_moved},
    {"hybrid:EPS,TAU", true, read_hybrid, if_moved_or_old},
    {"code", false, read_nothing, as_the_code_does},
};
const Family skip_family = FAMILY("comm.skip", NULL, rules);

// ---- what it does not go with

static bool drops_rows(const Config *config) {
    return strcmp(config->quantization.before, "post") == 0 &&
           config_has_word(&config->model.post, "dropout") && config->model.dropout > 0 &&
           config->model.layers > 1;
}

static bool drops_features(const Config *config) {
    return config->model.input_dropout > 0 && strcmp(config->quantization.before, "post") == 0 &&
           strcmp(config->lossless.input_features, "exchange") == 0;
}

static bool needs_all_ranges(const Config *config) {
    const Codec *codec = codec_find(config->quantization.codec, &(Error){0});
    return codec != NULL && codec->has_widths &&
           strcmp(config->quantization.assign, "adaptive") == 0;
}

static bool remembers_rows(const Config *config) {
    return strcmp(config->quantization.memory, "none") != 0 &&
           strcmp(config->quantization.codec, "fp32") != 0;
}

static bool fits(const Config *config, Error *err) {
    const struct {
        bool is;
        const char *why;
    } misfit[] = {
        {drops_rows(config), "rows behind a dropout change altogether in every epoch, so that none "
                             "may be left out; set quantization.before=conv, or model.dropout=0"},
        {drops_features(config),
         "rows behind a dropout of the input change altogether in every epoch, so that none may be "
         "left out; set model.input_dropout=0, or lossless.input_features=auto"},
        {strcmp(config->lossless.cover, "sources") != 0,
         "rows may be left out, partial aggregates may not; set lossless.cover=sources"},
        {strcmp(config->quantization.exchanges, "all") != 0,
         "an exchange may not change its codec, since readers keep rows; set "
         "quantization.exchanges=all"},
        {remembers_rows(config),
         "a memory of rows follows every message, also those that are left out; set "
         "quantization.memory=none"},
        {needs_all_ranges(config),
         "quantization.assign=adaptive chooses bits by the ranges of all rows in all epochs; set "
         "quantization.assign=uniform, or a codec without bit widths"},
    };
    for (size_t i = 0; i < sizeof misfit / sizeof *misfit; i++)
        if (misfit[i].is)
            return error_config(err, "comm.schedule=skip: %s", misfit[i].why);
    return true;
}

static bool configure(const Config *config, MemberValues *values, Error *err) {
    Words words;
    const char *argument = "";
    config_values(config, &schedule_skip.keys, &words);
    Options options = {.rule = family_find(&skip_family, words.rule, &argument, err),
                       .backward = words.backward};
    if (options.rule == NULL || !fits(config, err))
        return false;
    if (!options.rule->read(&options, argument))
        return error_config(
            err, "comm.skip: expected %s, with EPS >= 0 and whole numbers E, TAU >= 1; found '%s'",
            options.rule->name, words.rule);
    static_assert(sizeof options <= sizeof values->values, "the options fit");
    memcpy(values->values, &options, sizeof options);
    return true;
}

// ---- the rows that were sent last

static void keep_last(const Backend *b, DeviceByte *memory, Rows rows, UNUSED ResidualStep step,
                      const Poll *poll) {
    Rows x = rows_with_padding(rows), last = x;
    last.at = (DeviceFloat *)(void *)memory;
    b->message_add_scaled(last, (RowFactor){0}, last, (RowFactor){.plain = 1}, x, poll);
}

static const Residual last = {
    .name = "last", .bytes = residual_of_sender, .before_encode = keep_last};

static const Residual *remembers(const MemberValues *values, int direction) {
    return direction == FORWARD || options_of(values).backward ? &last : NULL;
}

// ---- its steps

static void choose(Channel *channel, const RowSource *rows, ExchangeContext context) {
    Options options = options_of(channel_schedule_values(channel));
    const double *square = options.rule->measures ? channel_measure(channel, rows, context) : NULL;
    for (int g = 0; g < channel->ring.rounds; g++) {
        Candidate of = {.layer = channel->id.layer,
                        .epoch = context.epoch,
                        .exchanges = channel->exchanges,
                        .age = channel->age[g],
                        .moved = square != NULL ? sqrt(square[2 * g]) : 0,
                        .size = square != NULL ? sqrt(square[2 * g + 1]) : 0};
        bool empty = channel_round_rows(channel->plan, OUTGOING, g) == 0; // it has no message
        channel->sends[g] = empty || of.age == 0 || options.rule->sends(&options, &of);
    }
}

static void skip(Channel *channel, const RowSource *rows, ExchangeContext context,
                 const ExchangeWork *work) {
    if (channel->options.skips)
        choose(channel, rows, context);
    channel_pack_some(channel, rows, context, channel->sends);
    channel_do_blocking(channel, work);
}

const Schedule schedule_skip = {.name = "skip",
                                .keeps_in_flight = true,
                                .changes_result = true,
                                .keys = {keys, sizeof keys / sizeof *keys, sizeof(Words)},
                                .configure = configure,
                                .skips = true,
                                .remembers = remembers,
                                .run = skip};
