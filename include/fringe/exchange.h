// exchange: halo rows between ranks, one Channel per layer and direction, as a ring all-to-all: in
// round r rank i sends to i+r and receives from i-r, so that the ranks do not all use one link at
// once.
//
// The life of a channel: idle -pack-> packed -post-> posted -receive-> received -finish-> idle.
// From post to finish it is in flight, one of the owners of messages that every wait and every poll
// moves (wire_progress); it may stay in flight beyond an epoch (Schedule.keeps_in_flight) if its
// buffers are its own. Sent messages, received messages and decoded rows have a buffer each. One
// message per ordered pair holds all halo rows for that peer: a header and a payload, sent by a
// RingTransfer (wire.h). The receiver checks the header; a wrong one ends the job with
// EXIT_INTEGRITY and names rank, layer, epoch.
#pragma once

#include "fringe/backend.h"
#include "fringe/base.h"
#include "fringe/codec.h"
#include "fringe/halo.h"
#include "fringe/wire.h"

typedef struct Channel Channel;

// The memory of one exchange at a time. Channels whose exchanges run one after the other share one,
// as large as the largest of them needs; channels that are in flight at the same time have one
// each.
typedef struct ExchangeBuffers ExchangeBuffers;
typedef struct BufferSizes {     // bytes
    size_t message[2], received; // received and sent; decoded rows
} BufferSizes;
ExchangeBuffers *exchange_buffers_new(const Backend *backend); // borrowed
void exchange_buffers_free(ExchangeBuffers *buffers);          // after its channels
CLEARED_POINTER(buffers_drop, ExchangeBuffers, exchange_buffers_free)
void exchange_buffers_forecast(MemoryForecast *forecast, const Backend *backend,
                               const BufferSizes *size);

// A channel for rows of `columns` floats over the plan's send and receive lists. Both the plan
// and the buffers are borrowed. The buffers are enlarged if necessary: no exchange may be running
// on them, and rows received in them are lost. Collective in order: all ranks make their channels
// in the same order (tags).
Channel *channel_new(ExchangeBuffers *buffers, const HaloPlan *plan, const CodecOptions *options,
                     int64_t columns, ExchangeId id);
void channel_free(Channel *channel); // drains it first, so collective if it is in flight
CLEARED_POINTER(channel_drop, Channel, channel_free)
// Plans the memory of the channel alone; enlarges `most`, the sizes of buffers that channels share.
void channel_forecast(MemoryForecast *forecast, BufferSizes *most, const Backend *backend,
                      const HaloPlan *halo, const CodecOptions *options, int64_t columns);

// When an exchange happens: seed and epoch choose the random numbers that round its rows.
typedef struct ExchangeContext {
    uint64_t seed;
    uint32_t epoch;
    bool full_precision; // fp32: no rounding and no range statistics
    RandomKind random;   // how the numbers that round are made
} ExchangeContext;

// The rows to send: own rows times right, and the partial aggregates of the plan. Rows of bf16 that
// go as they lie (BoxStep.rows_are) are not multiplied: the reader does that.
typedef struct RowSource {
    Rows x;                   // [S, columns]
    const DeviceFloat *right; // [S] or NULL: 1
    Rows partials;            // [partials, columns]
} RowSource;

// The named steps. All ranks take the same steps. A row that is not finite ends the job
// with its name (EXIT_DIVERGED), unless the message is fp32.
void channel_pack(Channel *channel, const RowSource *rows, ExchangeContext context);
// The same where options.skips: a message whose `send` is false is left out. A header alone goes,
// and its reader, who must have had one before, keeps the rows that it has. send: [rounds]; NULL:
// all.
void channel_pack_some(Channel *channel, const RowSource *rows, ExchangeContext context,
                       const bool *send);
// Of such a channel, before it packs these rows: for each round how far they have moved since they
// were sent last, and how large they were then, as sums of squares [rounds][2]. Waits for them.
const double *channel_measure(Channel *channel, const RowSource *rows, ExchangeContext context);
void channel_post(Channel *channel);
void channel_progress(void *channel); // a Poll function: wire_progress for its ranks
// Waits for round g of the ring (invariant 4), checks, decodes.
void channel_receive(Channel *channel, int round);
// [H, columns] received rows; of bf16: before their owner's right. Valid until the channel's next
// receive, and no longer than until another channel packs into these buffers or is made for them.
Rows channel_rows(const Channel *channel);
void channel_finish(Channel *channel); // waits until the own messages are sent; idle again

// ---- channels in flight

bool channel_in_flight(const Channel *channel); // between post and finish
// Idle only: true if the rows of its last exchange, of channel_rows_zero or of channel_state are
// still there.
bool channel_has_rows(const Channel *channel);
// Receives and finishes an exchange in flight, after the work that reads the previous rows;
// channel_rows are then the received rows. All ranks must drain the same channels in the same
// order.
void channel_drain(Channel *channel);
// Idle only: its rows are zero, as if such had been received.
void channel_rows_zero(Channel *channel);

// Writes the state of a channel for a checkpoint, or restores it: what its residuals remember and,
// if `rows`, its received rows, as tensors whose names begin with that of the exchange. Not in
// flight. Collective.
bool channel_state(Channel *channel, bool rows, StateWalk *walk, Error *err);

// Makes all exchanges of the channel exact from now on, or lets them use its codec again, as
// ExchangeContext.full_precision says. Drains the channel. All ranks must set the same before the
// same exchange.
void channel_set_full_precision(Channel *channel, bool on);
bool channel_is_full_precision(const Channel *channel);

// Lets rows go as they are from the next training exchange on, though what is remembered of them
// (`difference`) goes on following them, or lets differences go again. All ranks must set the same.
void channel_set_direct(Channel *channel, bool direct);

// ---- widths

// Widths of rows, for codecs that have them: one byte per row of the send and of the receive list,
// all rounds one after the other. Both ends of a message must be given the same bytes. Setting them
// drains the channel, whose messages in flight have the old ones.
const HaloPlan *channel_halo_plan(const Channel *channel);
int64_t channel_columns(const Channel *channel);
const uint8_t *channel_widths(const Channel *channel, bool sent);
void channel_set_widths(Channel *channel, const uint8_t *sent, const uint8_t *received);
// Statistics of the ranges that were sent: for each row of the send list the sum of squares over
// the training exchanges since channel_ranges_reset. square: [rows sent]; restoring a state writes
// it.
typedef struct RangeStatistics {
    int64_t exchanges;
    float *square;
} RangeStatistics;
RangeStatistics *channel_ranges(Channel *channel); // NULL: its codec has no widths
// What rounding adds to the rows that were sent in the last coded exchange of training, in the sum
// of squares, by their ranges and widths.
double channel_noise(const Channel *channel);
void channel_ranges_reset(Channel *channel);

// The share of its rows that travel in an exchange of training, in the mean (CodecOptions.sample).
double channel_sample(const Channel *channel);
// Bytes of one row of `bits` bits with its parameters.
int64_t channel_row_bytes(const Channel *channel, int bits);
// Bytes of the message of ring round `round` if all its rows had `bits` bits, headers apart.
int64_t channel_round_bytes(const Channel *channel, int round, bool sent, int bits);
// Measures the seconds of ring round `round` alone, with all ranks in it: this rank sends `sent`
// bytes and receives `received` (at most the size of its messages); their contents do not matter.
// No other channel's exchange may be running on its buffers. Drains all channels first. Collective:
// `sent` of one rank is `received` of its reader.
double channel_time_round(Channel *channel, int round, int64_t sent, int64_t received);

// Totals since the start; bytes include headers; messages and rows are those sent, with those
// messages of which a header alone went (skipped).
typedef struct ChannelCount {
    int64_t bytes_sent, bytes_received, messages, skipped, rows_sent;
} ChannelCount;
ChannelCount channel_count(const Channel *channel);

// Seconds of this rank's exchanges since the start, added up by the steps and the schedule: what
// the bench of the schedules compares (own is what could hide wait).
typedef struct ChannelSeconds {
    double pack, wait, unpack, own, halo;
    double covered;  // of own: while messages of the channel's own codec were in flight
    double transfer; // from post until polls saw that the last message had arrived
} ChannelSeconds;
ChannelSeconds channel_seconds(const Channel *channel);

// One exchange with the work around it. `own` needs no message (own part of the aggregate, dense
// work on central rows, weight gradients); `halo` adds the received rows of rounds [begin, end),
// called in order, `last` with the final ones (also called, with begin == end, where there are no
// rounds).
typedef enum OwnPart { OWN_ALL, OWN_CENTRAL, OWN_MARGINAL } OwnPart; // of which rows
typedef struct ExchangeWork {
    void (*own)(void *context, OwnPart part, const Poll *poll);
    void (*halo)(void *context, Rows received, int begin, int end, bool last, const Poll *poll);
    void *context;
} ExchangeWork;

// The two pieces of work as timed steps of a schedule; their Poll progresses all channels in
// flight. channel_do_halo passes rounds [begin, end) of channel_rows to the work.
void channel_do_own(Channel *channel, const ExchangeWork *work, OwnPart part);
void channel_do_halo(Channel *channel, const ExchangeWork *work, int begin, int end);

// A schedule is the order of the steps: a table. blocking: pack, post, receive, own, halo. overlap:
// pack, post, own (while the messages are in flight), then receive and add sender by sender.
// central: what AdaQP overlaps, for comparison: pack, post, sums of the central rows, receive, the
// rest. stale: receive what was posted an epoch ago, pack, post, own, add those rows. skip: as
// blocking, but messages of rows that hardly moved are left out.
typedef struct Schedule {
    const char *name;
    bool hides; // overlaps messages with computation; the model then overlaps weight gradients, too
    // `run` may return while its channel is in flight, or leave rows for a later epoch. Then every
    // channel of training has buffers of its own, evaluation has channels of its own, and a resumed
    // run needs the rows (channel_state).
    bool keeps_in_flight;
    // Results differ from those of blocking, so a resumed training must have the same schedule.
    bool changes_result;
    MemberKeys keys; // that it brings along; configure reads them with config_values
    // Its own options; *values is zero before. False with EXIT_CONFIG. NULL: it has none.
    bool (*configure)(const Config *config, MemberValues *values, Error *err);
    // Leaves messages out in the directions in which it remembers rows: those that it sent last.
    bool skips;
    // What the ends of its channels in that direction keep of each row for it, by its own options:
    // hooks before rows are packed (before the residual of the quantization) and after they are
    // received (after it); `values` of their step are the schedule's. It is saved with the channel.
    // NULL, also of the function: nothing.
    const Residual *(*remembers)(const MemberValues *values, int direction);
    void (*run)(Channel *channel, const RowSource *rows, ExchangeContext context,
                const ExchangeWork *work);
} Schedule;
extern const Family schedule_family;
const Schedule *schedule_find(const char *name, Error *err); // NULL with EXIT_CONFIG
extern const Family skip_family;                             // rules of the schedule skip
// Sets the schedule's own options in those of its channels. False with EXIT_CONFIG.
bool schedule_configure(const Schedule *schedule, const Config *config, CodecOptions *options,
                        Error *err);
// Sets which rows its channels send (comm.sample), after all else. False with EXIT_CONFIG if not
// all of them travel although the schedule or the options remember each row.
bool sample_configure(const Config *config, const Schedule *schedule, CodecOptions *options,
                      Error *err);
// The options of its channels in that direction: with what it remembers in them.
CodecOptions schedule_options(const Schedule *schedule, const CodecOptions *options, int direction);
// The schedule of training and the options of its channels, all that the config says of them; what
// their rows are is the model's. False with an error.
bool exchange_configure(const Config *config, const Schedule **schedule, CodecOptions *options,
                        Error *err);
const MemberValues *channel_schedule_values(const Channel *channel); // for `run`
