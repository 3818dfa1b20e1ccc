// exchange: halo rows between ranks, one Channel per layer and direction, as a ring all-to-all: in
// round r rank i sends to i+r and receives from i-r, so that no link is hit by everyone at once.
//
// The life of a channel: idle -pack-> packed -post-> flying -receive-> received -finish-> idle.
// From post to finish it is in flight; that may outlast an epoch (Schedule.keeps_in_flight), for
// as long as its buffers are its own. MPI moves messages only while somebody calls it, so whoever
// waits or computes for long moves all channels in flight (exchange_progress); waits of base do it
// by themselves. The messages that leave, those that arrive and the rows that are decoded have a
// buffer each. One message per ordered pair holds all halo rows for that peer: a header (drawn in
// message.h of the room) and a payload cut into chunks told apart by tag; the receives of a round
// are posted before the sends, with a bounded window of requests. The receiver checks the header; a
// wrong one ends the job with EXIT_INTEGRITY and names rank, layer, epoch.
#ifndef FRINGE_EXCHANGE_H
#define FRINGE_EXCHANGE_H

#include "fringe/backend.h"
#include "fringe/base.h"
#include "fringe/codec.h"
#include "fringe/halo.h"

typedef struct Channel Channel;

// The memory of the exchange that runs. Channels whose exchanges take turns share one, which is as
// large as the largest of them needs; channels whose messages fly at once have one each.
typedef struct ExchangeBuffers ExchangeBuffers;
typedef struct BufferSizes {     // bytes
    size_t message[2], received; // those that arrive and those that leave; decoded rows
} BufferSizes;
ExchangeBuffers *
exchange_buffers_new(const Backend *backend); // which encodes, decodes and reads the rows; borrowed
void exchange_buffers_free(ExchangeBuffers *buffers); // after its channels
void exchange_buffers_plan(MemoryPlan *plan, const Backend *backend, const BufferSizes *size);

// What a channel's codec is told. Exact exchanges (evaluation) are written in fp32 all the same.
typedef struct CodecOptions {
    const Codec *codec;
    CodecValues values;      // the codec's own (codec_configure)
    int width;               // bits of every row until widths are assigned (codecs with widths)
    int64_t chunk;           // bytes per MPI message
    const RowMemory *memory; // what both ends remember of rows; NULL: none
} CodecOptions;

// A channel for rows of `columns` floats over the plan's send and receive lists. Both the plan
// and the buffers are borrowed. The buffers are made large enough: no exchange may run on them, and
// rows received in them are gone. Collective in order: all ranks make their channels in the same
// order (tags).
Channel *channel_new(ExchangeBuffers *buffers, const HaloPlan *plan, const CodecOptions *options,
                     int64_t columns, ExchangeId id);
void channel_free(Channel *channel); // drains it, so collective where it is in flight
// What the channel itself takes; `most`, of all channels that share buffers, is made large enough.
void channel_plan(MemoryPlan *plan, BufferSizes *most, const Backend *backend, const HaloPlan *halo,
                  const CodecOptions *options, int64_t columns);

// When an exchange happens: seed and epoch choose the random numbers that round its rows.
typedef struct ExchangeContext {
    uint64_t seed;
    uint32_t epoch;
    bool exact; // fp32: nothing is rounded, and no range is added up
} ExchangeContext;

// What is sent: own rows times right, and the partial sums that the plan asks for.
typedef struct RowSource {
    Rows x;                   // [S, columns]
    const DeviceFloat *right; // [S] or NULL: 1
    Rows sums;                // [partials, columns]
} RowSource;

// The named steps. All ranks take the same steps. A row that is not finite ends the job
// (EXIT_DIVERGED) and is named, unless the message is fp32.
void channel_pack(Channel *channel, const RowSource *rows, ExchangeContext context);
void channel_post(Channel *channel);
void channel_progress(void *channel); // a Poll function: exchange_progress for its ranks
// Waits for group g of the ring (law 4), checks, decodes.
void channel_receive(Channel *channel, int group);
// [H, columns] received rows. Valid until the channel's next receive, and no longer than until
// another channel packs into these buffers or is made for them.
Rows channel_rows(const Channel *channel);
void channel_finish(Channel *channel); // waits until the own messages have left; back to idle

// ---- channels in flight

bool channel_in_flight(const Channel *channel); // between post and finish
// Idle only: are the rows of its last exchange, or those of channel_restore, still there?
bool channel_has_rows(const Channel *channel);
// Receives and finishes what is in flight; channel_rows are then the rows that came, and work that
// reads the rows before them is waited for. All ranks must drain the same channels in the same
// order.
void channel_drain(Channel *channel);
// A Poll function: moves the messages of all channels in flight along and answers for this rank;
// never blocks. context: the Comm of the ranks, or NULL: nothing is answered.
void exchange_progress(void *comm);
void exchange_drain(void);    // all of them, in the order in which they were posted
int exchange_in_flight(void); // how many there are

// What a resumed run needs of a channel: what its RowMemory holds, and, where `rows`, its received
// rows. Puts tensors into a section, or takes them from it; their names begin with that of the
// channel's exchange. Not in flight. Collective.
void channel_save(Channel *channel, bool rows, StateWriter *writer);
bool channel_restore(Channel *channel, bool rows, const StateReader *reader, Error *err);

// ---- widths

// Widths of rows, for codecs that have them: one byte per row of the send and of the receive list,
// all groups one after the other. Both ends of a message must be given the same bytes. Setting them
// drains the channel, whose messages in flight have the old ones.
const HaloPlan *channel_halo_plan(const Channel *channel);
int64_t channel_columns(const Channel *channel);
const uint8_t *channel_widths(const Channel *channel, bool sent);
void channel_set_widths(Channel *channel, const uint8_t *sent, const uint8_t *received);
// Ranges that travelled: per row of the send list the sum of their squares over the training
// exchanges since channel_ranges_reset. square: [rows sent], may be written by who restores a
// state.
typedef struct RangeStatistics {
    int64_t exchanges;
    float *square;
} RangeStatistics;
RangeStatistics *channel_ranges(Channel *channel); // NULL: its codec has no widths
void channel_ranges_reset(Channel *channel);

// Bytes of one row of `bits` bits with its parameters.
int64_t channel_row_bytes(const Channel *channel, int bits);
// Bytes of the message of ring round `round` if all its rows had `bits` bits, headers apart.
int64_t channel_round_bytes(const Channel *channel, int round, bool sent, int bits);
// Seconds that round `round` takes alone, with all ranks in it: `sent` bytes leave this rank and
// `received` reach it (at most what its messages may take). What is in them is not looked at. Only
// while no other channel's exchange runs on its buffers. Drains all channels first, so that nothing
// else moves. Collective: sent here is received there.
double channel_time_round(Channel *channel, int round, int64_t sent, int64_t received);

// What it moved since the start; bytes with headers; messages sent.
typedef struct ChannelCount {
    int64_t bytes_sent, bytes_received, messages;
} ChannelCount;
ChannelCount channel_count(const Channel *channel);
// Where time goes; borrowed; NULL: nowhere.
void channel_set_timer(Channel *channel, StreamTimer *timer);

// Seconds of this rank's exchanges since the start, added up by the steps and the schedule: what
// the bench of the schedules compares (own is what could hide wait).
typedef struct ChannelSeconds {
    double pack, wait, unpack, own, halo;
    double covered;  // of own: while messages of the channel's own codec flew
    double transfer; // from post until the last message had arrived, as far as polls could tell
} ChannelSeconds;
ChannelSeconds channel_seconds(const Channel *channel);

// One exchange with the work around it. `own` needs no message (own part of the aggregate, dense
// work on central rows, weight gradients); `halo` adds the received rows of groups [begin, end),
// called in order, `last` with the final ones (also called, with begin == end, where there are no
// groups).
typedef enum OwnPart { OWN_ALL, OWN_CENTRAL, OWN_MARGINAL } OwnPart; // of which rows
typedef struct ExchangeWork {
    void (*own)(void *context, OwnPart part, const Poll *poll);
    void (*halo)(void *context, Rows received, int begin, int end, bool last, const Poll *poll);
    void *context;
} ExchangeWork;

// The two pieces of work as steps of a schedule: they are timed, and their Poll moves all channels
// in flight. channel_do_halo hands groups [begin, end) of channel_rows on.
void channel_do_own(Channel *channel, const ExchangeWork *work, OwnPart part);
void channel_do_halo(Channel *channel, const ExchangeWork *work, int begin, int end);

// A schedule is the order of the steps: a table. blocking: pack, post, receive, own, halo. overlap:
// pack, post, own (while the messages fly), then receive and add sender by sender. central: what
// AdaQP overlaps, for comparison: pack, post, sums of the central rows, receive, the rest.
typedef struct Schedule {
    const char *name;
    bool hides; // messages behind computation; then the model hides the weight gradients', too
    // `run` may return while its channel is in flight, or leave rows for a later epoch. Then every
    // channel of training has buffers of its own, evaluation has channels of its own, and a resumed
    // run needs the rows (channel_save).
    bool keeps_in_flight;
    // Results are not those of blocking: a resumed training must have the same schedule.
    bool changes_result;
    void (*run)(Channel *channel, const RowSource *rows, ExchangeContext context,
                const ExchangeWork *work);
} Schedule;
extern const Family schedule_family;
const Schedule *schedule_find(const char *name, Error *err); // NULL with EXIT_CONFIG

#endif
