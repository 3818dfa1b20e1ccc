// The schedules of one epoch: the same named steps in different orders (docs/exchange.md). They
// give the same bits: rows add their halo columns in the same order (invariant 4), whatever message
// arrives first.

#include "channel.h"

static int rounds_of(const Channel *channel) { return channel->plan->size - 1; }

// Messages progress during the own part, because its kernels call the Poll.
void channel_do_own(Channel *channel, const ExchangeWork *work, OwnPart part) {
    double since = clock_seconds();
    work->own(work->context, part, &channel->poll);
    double seconds = clock_seconds() - since;
    channel->seconds.own += seconds;
    if (channel->state == CHANNEL_POSTED && channel->step.codec == channel->options.codec)
        channel->seconds.covered += seconds;
}

void channel_do_halo(Channel *channel, const ExchangeWork *work, int begin, int end) {
    double since = clock_seconds();
    work->halo(work->context, channel_rows(channel), begin, end, end == rounds_of(channel),
               &channel->poll);
    channel_note_read(channel);
    channel->seconds.halo += clock_seconds() - since;
}

void channel_do_blocking(Channel *channel, const ExchangeWork *work) {
    channel_post(channel);
    channel_receive_all(channel);
    channel_do_own(channel, work, OWN_ALL);
    channel_do_halo(channel, work, 0, rounds_of(channel));
}

static void blocking(Channel *channel, const RowSource *rows, ExchangeContext context,
                     const ExchangeWork *work) {
    channel_pack(channel, rows, context);
    channel_do_blocking(channel, work);
}

static void overlap(Channel *channel, const RowSource *rows, ExchangeContext context,
                    const ExchangeWork *work) {
    channel_pack(channel, rows, context);
    channel_post(channel);
    channel_do_own(channel, work, OWN_ALL);
    for (int round = 0; round < rounds_of(channel); round++) {
        channel_receive(channel, round);
        channel_do_halo(channel, work, round, round + 1);
    }
    if (rounds_of(channel) == 0)
        channel_do_halo(channel, work, 0, 0);
    channel_finish(channel);
}

static void central(Channel *channel, const RowSource *rows, ExchangeContext context,
                    const ExchangeWork *work) {
    channel_pack(channel, rows, context);
    channel_post(channel);
    channel_do_own(channel, work, OWN_CENTRAL);
    channel_receive_all(channel);
    channel_do_own(channel, work, OWN_MARGINAL);
    channel_do_halo(channel, work, 0, rounds_of(channel));
}

const Schedule schedule_blocking = {.name = "blocking", .run = blocking};
const Schedule schedule_overlap = {.name = "overlap", .hides = true, .run = overlap};
const Schedule schedule_central = {.name = "central", .hides = true, .run = central};

const Schedule *schedule_find(const char *name, Error *err) {
    return family_find(&schedule_family, name, NULL, err);
}

bool schedule_configure(const Schedule *schedule, const Config *config, CodecOptions *options,
                        Error *err) {
    return schedule->configure == NULL ||
           schedule->configure(config, &options->residual[SCHEDULE_MEMORY].values, err);
}

CodecOptions schedule_options(const Schedule *schedule, const CodecOptions *options,
                              int direction) {
    CodecOptions of_direction = *options;
    if (schedule->remembers != NULL)
        of_direction.residual[SCHEDULE_MEMORY].of =
            schedule->remembers(&options->residual[SCHEDULE_MEMORY].values, direction);
    of_direction.skips = schedule->skips && of_direction.residual[SCHEDULE_MEMORY].of != NULL;
    return of_direction;
}

// The setting with which nothing remembers rows that now does. NULL: nothing does.
static const char *to_remember_none(const Schedule *schedule, const CodecOptions *options) {
    for (int d = 0; d < 2; d++) {
        CodecOptions all = schedule_options(schedule, options, d);
        if (schedule->skips)
            return "comm.schedule=overlap";
        if (box_residual(&all, SCHEDULE_MEMORY) != NULL)
            return "comm.smooth=none";
        if (box_residual(&all, CODING_MEMORY) != NULL)
            return "quantization.memory=none";
    }
    return NULL;
}

bool sample_configure(const Config *config, const Schedule *schedule, CodecOptions *options,
                      Error *err) {
    options->sample.probability = config->comm.sample < 1 ? config->comm.sample : 0;
    if (options->sample.probability > 0 && strcmp(config->quantization.before, "conv") == 0)
        return error_config(err, "comm.sample: below 1 rows count 1/P where they are added up, "
                                 "which model.post of a reader (quantization.before=conv) would "
                                 "not keep; use comm.sample=1 or quantization.before=post");
    const char *cure = to_remember_none(schedule, options);
    return options->sample.probability == 0 || cure == NULL ||
           error_config(err,
                        "comm.sample: below 1 a row does not travel in every epoch, but %.*s "
                        "remembers each row from epoch to epoch; use comm.sample=1, or %s",
                        (int)strcspn(cure, "="), cure, cure);
}

const MemberValues *channel_schedule_values(const Channel *channel) {
    return &channel->options.residual[SCHEDULE_MEMORY].values;
}

bool exchange_configure(const Config *config, const Schedule **schedule, CodecOptions *options,
                        Error *err) {
    *schedule = schedule_find(config->comm.schedule, err);
    *options = (CodecOptions){.codec = codec_find(config->quantization.codec, err),
                              .width = (int)config->quantization.initial_bits,
                              .chunk = config->comm.chunk};
    return err->code == 0 && codec_configure(options->codec, config, &options->values, err) &&
           residual_configure(config, &options->residual[CODING_MEMORY].of,
                              &options->residual[CODING_MEMORY].values, err) &&
           schedule_configure(*schedule, config, options, err) &&
           sample_configure(config, *schedule, options, err);
}
