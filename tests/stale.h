// A schedule that keeps its messages in flight (PipeGCN's, without smoothing): an epoch reads the
// halo rows of the epoch before it and posts its own; the first epoch waits for its own rows. A
// program that includes this has it in its table of schedules. One source of a program only.
#ifndef FRINGE_TESTS_STALE_H
#define FRINGE_TESTS_STALE_H

#include "exchange/schedules.h"

static void stale(Channel *channel, const RowSource *rows, ExchangeContext context,
                  const ExchangeWork *work) {
    int groups = channel_halo_plan(channel)->size - 1;
    channel_drain(channel);
    if (!channel_has_rows(channel)) {
        channel_pack(channel, rows, context);
        channel_post(channel);
        channel_drain(channel);
    }
    channel_pack(channel, rows, context);
    channel_post(channel);
    channel_do_own(channel, work, OWN_ALL);
    channel_do_halo(channel, work, 0, groups);
}

static const Schedule schedule_stale = {
    .name = "stale", .hides = true, .keeps_in_flight = true, .changes_result = true, .run = stale};

static const Schedule *const schedules[] = {&schedule_blocking, &schedule_overlap, &schedule_stale};
const Family schedule_family = FAMILY_OF_POINTERS("comm.schedule", NULL, schedules);

#endif
