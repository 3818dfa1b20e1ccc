// wire: messages between ranks, whatever they hold. Below the exchange of halo rows and the sum of
// the weight gradients, which both send in a ring: in round g rank i sends to i+1+g and receives
// from i-1-g, so that the ranks do not all use one link at once.
//
//   Transport      a table: how pieces of bytes get from rank to rank (mpi; in tests also delayed)
//   Endpoint       the slots of one owner's pieces in flight, with tags of its own
//   RingTransfer   a message to each other rank and one from each, cut into pieces
//   InFlight       what has messages under way, so that every wait moves it
//   MessageBox     rows <-> messages: codec, residual and layout (further down)
//
// Only this module and base know MPI. MPI moves messages only while it is called, so code that
// waits or computes for long calls wire_progress; the waits of base do so by themselves.
#pragma once

#include "fringe/backend.h"
#include "fringe/base.h"
#include "fringe/codec.h"

// ---- transports

typedef struct Endpoint Endpoint;

// A way for bytes to get from rank to rank. Pieces between two ranks with one tag do not overtake
// each other; pieces with different tags may. A piece is received whole: its receiver has posted as
// many bytes as were sent, or more.
enum { PIECE_CUT = -1 };
typedef struct Transport {
    const char *name;
    size_t slot_bytes;                 // of what it stores for each slot
    bool (*reaches_device)(void);      // pieces may lie in the memory of devices
    void (*open)(Endpoint *endpoint);  // the slots are zero; collective
    void (*close)(Endpoint *endpoint); // collective; no slot is busy
    // Post a piece of `bytes` < 2^31 in a free slot; they never block. `at` is the transport's
    // until the slot is done.
    void (*receive)(Endpoint *endpoint, int slot, void *at, int bytes, int from, int tag);
    void (*send)(Endpoint *endpoint, int slot, const void *at, int bytes, int to, int tag);
    // Moves the pieces in the slots [first, first + count) and writes into endpoint->done which of
    // them, counted from `first`, have arrived or left since, and into endpoint->bytes how long
    // those are that arrived; returns how many. Never blocks. A piece may stand still unless both
    // of its ends call this until its slot is done. Of one that is longer than its receiver had
    // said, which is PIECE_CUT long, the end is lost.
    int (*test)(Endpoint *endpoint, int first, int count);
} Transport;
extern const Family transport_family; // the first is the one in use; no key of the config names it
const Transport *transport_used(void);

struct Endpoint {
    const Transport *transport;
    Comm comm; // owned: tags of its own
    int slots;
    bool *busy;  // [slots] owned: a piece is in flight there
    int *done;   // [slots] owned: scratch of test
    int *bytes;  // [slots] owned: likewise
    void *state; // [slots] of transport->slot_bytes, owned
};
// Allocates or plans an endpoint of so many slots; endpoint_open makes it ready.
void endpoint_alloc(Endpoint *endpoint, const Allocator *allocator, int slots);
void endpoint_open(Endpoint *endpoint, const Comm *comm); // collective
void endpoint_clear(Endpoint *endpoint); // before its blocks are freed. Collective.

// ---- headers

// The header of a message: 64 bytes in front of the payload, a small piece of its own. The receiver
// knows every field from what it is about to receive, so it only compares the header. Where lengths
// vary it uses one field, `bytes`, after the others were found right.
//
//    0        4        8        12       16       20       24               32
//    | magic  |vers|la|di| epoch  | source | target | columns| sequence       |
//    | rows            | bytes           | payload checksum | header checksum |
//    32                40                48                 56               64
//
// All fields are little-endian (ranks run on machines of one kind). `la` is the layer, `di` the
// direction; sequence counts the exchanges of their owner; the header's checksum is XXH3 over bytes
// 0 .. 55; the payload's is message_payload_checksum, or that of the device where the message stays
// on it (kernels/checksum.h).
enum { MESSAGE_HEADER_BYTES = 64, MESSAGE_MAGIC = 0x474e5246, MESSAGE_VERSION = 1 }; // "FRNG"

typedef struct MessageHeader {
    uint32_t magic;
    uint16_t version;
    uint8_t layer, direction;
    uint32_t epoch;
    uint32_t source, target;
    uint32_t columns;
    uint64_t sequence;
    uint64_t rows;
    uint64_t bytes;    // of the payload
    uint64_t payload;  // checksum
    uint64_t checksum; // of the bytes before
} MessageHeader;

_Static_assert(sizeof(MessageHeader) == MESSAGE_HEADER_BYTES, "the header is 64 bytes");
_Static_assert(offsetof(MessageHeader, layer) == 6, "layer at byte 6");
_Static_assert(offsetof(MessageHeader, epoch) == 8, "epoch at byte 8");
_Static_assert(offsetof(MessageHeader, columns) == 20, "columns at byte 20");
_Static_assert(offsetof(MessageHeader, sequence) == 24, "sequence at byte 24");
_Static_assert(offsetof(MessageHeader, bytes) == 40, "bytes at byte 40");
_Static_assert(offsetof(MessageHeader, checksum) == 56, "checksum at byte 56");

// Checksum of a payload: XXH3 of its blocks of 256 KiB, computed by all threads and summed with
// odd factors that depend on the block's place. Calls poll (may be NULL) now and then.
uint64_t message_payload_checksum(const void *payload, size_t bytes, const Poll *poll);

// Fills in magic, version and the header's own checksum; the rest must be set.
void message_seal(MessageHeader *header);

// False with EXIT_INTEGRITY and a sentence if `found`, received with a payload that has this
// checksum, is not what `expected` says (its two checksums are not read). checksum NULL: only the
// header has arrived.
bool message_check(const MessageHeader *found, const MessageHeader *expected,
                   const uint64_t *checksum, Error *err);
// The same where the length varies: `bytes` of the header may be anything up to expected->bytes,
// or, of a message that comes whole or not at all, expected->bytes or 0.
bool message_check_varying(const MessageHeader *found, const MessageHeader *expected, bool whole,
                           Error *err);

// ---- ring transfers

enum { INCOMING, OUTGOING, FLOWS };

// One message of a RingTransfer.
typedef struct Transfer {
    MessageHeader header;   // to send, or received
    MessageHeader expected; // of an incoming message: what the header must say; bytes: at most, if
                            // its length varies
    unsigned char *payload; // the owner's; may be memory that the host cannot touch
    int64_t bytes;          // of the payload; incoming and varying: 0 until the header was checked
    bool varies;            // the receiver learns the length from the header; a header always goes
    bool whole;             // and that is all of its bytes, or none
    int64_t pieces, posted, done;
    bool header_done; // the header has arrived or left
    int peer;
} Transfer;

// What a RingTransfer needs to know beforehand.
typedef struct RingForm {
    int64_t piece;        // most bytes of a payload in one piece
    int rounds_in_flight; // most rounds in flight
    int in_flight;        // most pieces of a message in flight
    bool headers;  // a message is a header and its payload; false: the payload alone, in one piece,
                   // whose length is the only thing that tells the messages of two steps apart
    int tag, tags; // pieces have the tags from `tag` on in turn, `tags` of them
} RingForm;

// A message to every other rank and one from each, in a ring of rounds: so many rounds in
// flight, each message cut into pieces.
//
//   round g        0         1         2       ...      (ring.h)
//   sends to     rank+1    rank+2    rank+3
//   receives from rank-1    rank-2    rank-3
//
// The header of a message is piece 0, its payload the pieces after it. The next piece is posted
// when one has arrived. Pieces are posted in order and do not overtake each other, so that repeated
// tags are no danger. No deadlock is possible: all ranks work on rounds in the same order, and each
// has posted its first round in flight. A message of 0 bytes is none, not even a header, unless its
// length varies.
typedef struct RingTransfer {
    RingForm form;
    Endpoint *endpoint;          // borrowed
    int slot;                    // the first of its ring_slots
    int rounds;                  // size - 1
    Transfer (*transfer)[FLOWS]; // [rounds] owned
    int posted;                  // rounds
    int64_t messages, bytes_sent, bytes_received;
} RingTransfer;

int ring_slots(const RingForm *form, int size); // that a transfer between `size` ranks takes
// Allocates or plans the table of a transfer between `size` ranks.
void ring_transfer_alloc(RingTransfer *ring, const Allocator *allocator, int size, RingForm form);
// Makes one that is allocated ready, in the slots of the endpoint from `slot` on. The owner fills
// in payload, bytes and headers of its transfers before ring_transfer_post.
void ring_transfer_open(RingTransfer *ring, Endpoint *endpoint, int slot);

void ring_transfer_post(RingTransfer *ring); // the first rounds; the last messages must be over
// Records what was received or sent, and posts the next pieces. A message whose varying length or
// whose header is wrong, or without a header its length, ends the job with EXIT_INTEGRITY. Never
// blocks.
void ring_transfer_progress(RingTransfer *ring);
bool ring_transfer_over(const RingTransfer *ring); // all messages of both flows have arrived

// ---- what is in flight

// An owner of messages in flight; a node of one list, in the order in which they were added.
typedef struct InFlight {
    void (*move)(void *owner);  // progresses its messages; never blocks
    void (*drain)(void *owner); // receives them all and removes the node
    void *owner;
    struct InFlight *next;
} InFlight;
void in_flight_add(InFlight *node); // from now on all waits of base call `move`
void in_flight_remove(InFlight *node);
// A Poll function: progresses all that is in flight and answers heartbeats; never blocks. context:
// the Comm of the ranks, or NULL: answers no heartbeats.
void wire_progress(void *comm);
void wire_drain(void); // all of it, in the order in which it was added. Collective

// ---- message boxes

// Whether messages lie in the memory of devices (Transport.reaches_device), for what is made or
// planned from now on. It must be the same on all ranks. Without it, and on backends whose memory
// is the host's, messages lie in pinned memory of the host.
void wire_use_device_memory(bool use);
bool wire_uses_device_memory(const Backend *backend);

// The memory of messages, which its Allocator frees; owners of boxes that are not in flight at the
// same time share one.
typedef struct MessageBlock {
    size_t bytes;
    unsigned char *host; // what the transport reads and writes; may be `device`
    DeviceByte *device;  // what is encoded and decoded, at the same places
} MessageBlock;
void message_block_alloc(MessageBlock *block, const Allocator *allocator, size_t bytes);

// How rows become messages, the same at both ends.
enum { SCHEDULE_MEMORY, CODING_MEMORY, RESIDUALS };
typedef struct CodecOptions {
    const Codec *codec;
    MemberValues values; // the codec's own (codec_configure)
    RowsType rows;       // of the sources: bf16 is exact in fewer bytes (BoxStep.rows_are)
    int width;           // bits of every row until widths are assigned (codecs with widths)
    int64_t chunk;       // bytes per piece of a message
    bool skips;          // a message may be left out: a header alone goes, and the reader keeps
                         // the rows that it has
    // Above 0, below 1: the part of a message's floats, the largest ones, that are encoded in
    // training exchanges but refreshes; the others as zero (top_keep). Needs a residual that
    // remembers.
    double top;
    // Rows of a training exchange travel with this probability, and count 1 / probability; 0: all
    // travel. It is the owner of a box who draws them. Not together with what remembers rows.
    struct {
        double probability;
        int relation; // enters the random numbers (RANDOM_SAMPLE)
    } sample;
    // That of the schedule, and what quantization.memory or gradients.memory names. The first one's
    // hook comes first before encoding, and last after decoding. of NULL: none.
    struct {
        const Residual *of;
        MemberValues values;
    } residual[RESIDUALS];
} CodecOptions;

// fp32: the codec of refreshes and of exchanges that are not coded.
const Codec *full_precision(void);
// The most bytes that a message of so many rows may take, rounded up to the alignment of the next.
size_t message_room(const CodecOptions *options, int64_t rows, int64_t columns);

// What one exchange does: its codec, and its number among those of training. 0: it is not coded,
// and residuals are left alone.
typedef struct BoxStep {
    const Codec *codec;
    int64_t exchange;
    bool direct; // as ResidualStep has it
    // bf16: rows of bf16 go as they lie, without the factors of their source, and the reader keeps
    // them so: it multiplies by the factors, which it knows, where it adds rows up. So are messages
    // in fp32, but those of exchanges that remember or draw rows, which compute with floats.
    RowsType rows_are;
} BoxStep;
// The options' codec, or fp32 if a residual refreshes or the exchange is not coded.
BoxStep box_step(const CodecOptions *options, int64_t exchange);
// What BoxStep.rows_are is in all exchanges; fp32 if it differs.
RowsType box_rows_are(const CodecOptions *options);

// What an end of a message remembers, for all messages of a box.
typedef struct BoxResidual {
    size_t *place;      // [count + 1] owned: where the memory of a message begins, in bytes
    DeviceByte *memory; // [place[count]] owned; NULL: it remembers nothing
    float *follows;     // [rows] owned: Residual.follows of each; NULL without it
    DeviceFloat *device_follows; // the same on the device
} BoxResidual;

// The messages that one end sends, or those that it receives: the codec, residuals and layout that
// turn rows into bytes and back, on host or device. Message i holds the rows [offset[i],
// offset[i+1]) of a list. Filled in by the owner up to `block`; the rest is box_alloc's.
typedef struct MessageBox {
    const Backend *backend;      // borrowed
    const CodecOptions *options; // borrowed
    ResidualEnd end;             // RESIDUAL_SENDER: it encodes; RESIDUAL_READER: it decodes
    int64_t columns;
    int count;                 // messages
    const int64_t *offset;     // [count + 1] borrowed; box_hold replaces it
    const int32_t **length;    // [count] borrowed: MessageLayout.length of each; NULL: all columns
    const MessageBlock *block; // borrowed; at least box_room bytes
    size_t *place;             // [count + 1] owned: where each message begins in the block
    uint8_t *bits;             // [rows] owned: widths of the rows; NULL without widths
    Widths *widths;            // [count] owned; NULL without widths
    DeviceFloat *device_range; // [rows] owned: of the rows that were encoded; NULL without widths
    float *range;              // the same on the host, after box_download_ranges
    DeviceInt64 *device_bad;   // [count] owned: 1 + place of a row that cannot be sent, or 0
    int64_t *bad;              // the same on the host, message by message
    DeviceInt64 *device_checksum;  // [count] owned; NULL where messages are downloaded
    int64_t *checksum;             // the same on the host
    DeviceDouble *device_distance; // [count][2] owned: of box_measure; NULL: messages go always
    double *distance;              // the same on the host, after box_download_distances
    DeviceEvent *made[2];          // owned: a message is encoded and downloaded; two in turn
    DeviceByte *scratch;           // owned: the codec's, for one message at a time
    BoxResidual residual[RESIDUALS];
    Rows rows;    // [rows of the longest message, columns] owned: before and after coding
    int32_t *row; // owned: 0, 1, 2, ... as the list of `rows`
    int64_t *gid; // [rows] owned: their ids, by place in the list
    DeviceInt32 *device_row; // owned: both on the device
    DeviceInt64 *device_gid;
} MessageBox;

// Allocates or plans what a box owns, which its Allocator frees. The block may not be there yet.
void box_alloc(MessageBox *box, const Allocator *allocator);
// Makes one that is allocated ready; `id` gives the id of each row of a list that is encoded (as
// MessageSource.gid has it; called for residuals only).
void box_open(MessageBox *box, int64_t (*id)(const void *context, int64_t place),
              const void *context);
void box_clear(MessageBox *box);            // before its blocks are freed
size_t box_room(const MessageBox *box);     // bytes of all its messages
int64_t box_longest(const MessageBox *box); // rows of the longest message
int64_t box_rows(const MessageBox *box, int i);
void box_set_widths(MessageBox *box, const uint8_t *bits); // [rows]
// From now on message i holds the rows [offset[i], offset[i+1]) of another list, no more than those
// it was made with, of these widths (not read without widths); both are borrowed. box->bits remain
// those of the list it was made with. For a box that remembers nothing.
void box_hold(MessageBox *box, const int64_t *offset, const uint8_t *bits);
MessageLayout box_layout(const MessageBox *box, int i);
int64_t box_bytes(const MessageBox *box, BoxStep step, int i); // at most, if it varies

// ---- the steps of a box; all of their work is on STREAM_MESSAGE

// To send: begin; encode, download message by message; then for each wait, bad, checksum.
void box_encode_begin(MessageBox *box);
// Encodes message i: `source` as of its first row; `own` of its rows, which come first, are of
// source.x, the others sums. Returns its bytes.
int64_t box_encode(MessageBox *box, int i, BoxStep step, MessageSource source, int64_t own,
                   const Poll *poll);
void box_download(MessageBox *box, int i, int64_t bytes, const Poll *poll);
void box_wait_made(MessageBox *box, int i, const Poll *poll); // until its download is complete
void box_download_ranges(MessageBox *box, const Poll *poll);  // of all messages; blocks
// How far the rows of message i, of such a source, are from what the first residual remembers of
// them, which are rows: the sum of squares of their difference, and that of the remembered rows.
// Where messages may be left out; uses the message's place as scratch.
void box_measure(MessageBox *box, int i, MessageSource source, const Poll *poll);
void box_download_distances(MessageBox *box, const Poll *poll); // of all messages; blocks
// Of the payload of a message that is made or received; on the device where it stays there.
uint64_t box_checksum(MessageBox *box, int i, int64_t bytes, const Poll *poll);
// Rows [begin, begin + rows of message i) of `out` = what the received bytes say.
void box_decode(MessageBox *box, int i, BoxStep step, Rows out, int64_t begin, int64_t bytes,
                const Poll *poll);
DeviceByte *box_device_message(const MessageBox *box, int i);
unsigned char *box_host_message(const MessageBox *box, int i);

// What its residuals remember, as tensors NAME.PLACE.RESIDUAL.sent or .received, by rank; PLACE is
// that among the options, 0 or 1. Collective.
bool box_state(MessageBox *box, const char *name, StateWalk *walk, Error *err);
// The residual at place r of the options, if it keeps bytes of rows, at either end; else NULL.
const Residual *box_residual(const CodecOptions *options, int r);
bool box_remembers(const CodecOptions *options); // whether any residual does
