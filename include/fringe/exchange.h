// exchange: halo rows between ranks, one Channel per layer and direction, as a ring all-to-all: in
// round r rank i sends to i+r and receives from i-r, so that no link is hit by everyone at once.
//
// The life of a channel: idle -pack-> packed -post-> flying -receive-> landed -use-> idle.
// Outbox, inbox and landed rows are apart. One message per ordered pair: a header (drawn in
// message.h of the room) and a payload cut into pieces told apart by tag; the receives of a round
// are posted before the sends, with a bounded window of requests. The receiver checks the header; a
// wrong one ends the job with EXIT_INTEGRITY and names rank, layer, epoch.
#ifndef FRINGE_EXCHANGE_H
#define FRINGE_EXCHANGE_H

#include "fringe/backend.h"
#include "fringe/base.h"
#include "fringe/codec.h"
#include "fringe/halo.h"

enum { FORWARD = 0, BACKWARD = 1 };

typedef struct Channel Channel;

// A channel for rows of `columns` floats over the pattern's send and receive lists. `piece` bytes
// per MPI message. Collective in order: all ranks make their channels in the same order (tags).
Channel *channel_new(const Pattern *pattern, const Codec *codec, int64_t columns, int layer,
                     int direction, int64_t piece);
void channel_free(Channel *channel);
void channel_plan(MemoryPlan *plan, const Pattern *pattern, const Codec *codec, int64_t columns);

// The named steps. x: [S, columns]; right: [S] or NULL: messages are rows times right. All ranks
// take the same steps.
void channel_pack(Channel *channel, Rows x, const float *right, uint32_t epoch);
void channel_post(Channel *channel);
void channel_progress(void *channel); // a Poll function: moves messages along; never blocks
void channel_receive(Channel *channel,
                     int group); // waits for group g of the ring (law 4), checks, decodes
Rows channel_rows(
    const Channel *channel); // [H, columns] landed rows; valid from receive to the next one
void channel_finish(Channel *channel); // waits until the own messages have left; back to idle

// What it moved since the start; bytes with headers; messages sent.
typedef struct ChannelCount {
    int64_t bytes_sent, bytes_received, messages;
} ChannelCount;
ChannelCount channel_count(const Channel *channel);
void channel_set_spans(Channel *channel, Spans *spans); // where time goes; borrowed; NULL: nowhere

// Seconds of this rank's exchanges since the start, added up by the steps and the schedule: what
// the bench of the schedules compares (own is what could hide wait).
typedef struct ChannelSeconds {
    double pack, wait, unpack, own, halo;
} ChannelSeconds;
ChannelSeconds channel_seconds(const Channel *channel);

// One exchange with the work around it. `own` needs no message (own part of the aggregate, dense
// work on central rows, weight gradients); `halo` adds the landed rows of groups [begin, end),
// called in order, `last` with the final ones (also called, with begin == end, where there are no
// groups).
typedef struct ExchangeWork {
    void (*own)(void *context, const Poll *poll);
    void (*halo)(void *context, Rows landed, int begin, int end, bool last, const Poll *poll);
    void *context;
} ExchangeWork;

// A schedule is the order of the steps: a table. blocking: pack, post, receive, own, halo. overlap:
// pack, post, own (while the messages fly), then receive and add sender by sender.
typedef struct Schedule {
    const char *name;
    void (*run)(Channel *channel, Rows x, const float *right, uint32_t epoch,
                const ExchangeWork *work);
} Schedule;
const Schedule *schedule_find(const char *name, Error *err);

#endif
