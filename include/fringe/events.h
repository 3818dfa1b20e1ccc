// events: a stream of changes to a hypergraph, and the hypergraph that they have made so far.
//
// A stream comes from a file, a FIFO or standard input, as text or in a binary twin of it
// (docs/stream.md draws both). The reader takes one event after the other and holds only the
// current one. A LiveHypergraph applies them: it has the pins in both directions, and a place for
// every node and hyperedge. Nobody else knows what an event means; the partitioner of the module
// srp and the reader of finished streams in the module dataset follow the changes it reports.
//
// Ids are those of the user: any 64-bit numbers, of nodes and of hyperedges apart. Inside, both are
// slots: small numbers that are free again when their node or hyperedge is gone. No function is
// collective.
#pragma once

#include "fringe/base.h"
#include "fringe/growing.h"

// ---- one event

typedef enum EventKind {    // the numbers of the binary form
    EVENT_HYPEREDGE = 1,    // +h H [w=F] V V ...   hyperedge with pins
    EVENT_NODE = 2,         // +v V [H H ...]       node with its hyperedges
    EVENT_PIN = 3,          // +p H V               one pin
    EVENT_NO_PIN = 4,       // -p H V               one pin less
    EVENT_NO_HYPEREDGE = 5, // -h H                hyperedge gone, its pins too
    EVENT_NO_NODE = 6,      // -v V                 node gone from all its hyperedges
    EVENT_SNAPSHOT = 7,     // = NAME               write what there is now
} EventKind;

enum { EVENT_NAME = 64 };        // most characters of a snapshot's name
enum { EVENT_RECORD = 1 << 26 }; // most bytes of one event in a file: 64 MiB

typedef struct Event {
    EventKind kind;
    uint64_t id;               // H; of EVENT_NODE and EVENT_NO_NODE: V
    int64_t count;             // 1 for a pin; 0 where nothing follows
    const uint64_t *other;     // [count] V; of EVENT_NODE: H. Valid until the next event is read
    bool weighted;             // of EVENT_HYPEREDGE: w=F is given
    float weight;              // finite, at least 0; 1 unless weighted
    char name[EVENT_NAME + 1]; // of EVENT_SNAPSHOT
} Event;

// True for [A-Za-z0-9._-]{1,64} without a leading dot.
bool event_name_is_valid(const char *name);

// ---- reading

typedef struct EventReader EventReader;

// True if there is something at the path that can be a stream and, if it is a file, begins as one.
// A FIFO is not opened, for its writer would notice; "-" fits. EXIT_NO_INPUT or EXIT_DATA.
bool event_stream_fits(const char *path, Error *err);

// Where a reader is: between two events.
typedef struct EventPlace {
    int64_t events;  // read so far
    int64_t offset;  // of the next byte in the stream
    int64_t line;    // of that byte in a text, from 1
    uint64_t before; // hash of up to 4096 bytes before `offset`, to recognise the stream again
} EventPlace;

typedef enum EventNext {
    EVENT_READ,    // *event is the next one
    EVENT_WAITING, // nothing has come for a fifth of a second: ask again
    EVENT_END,     // the stream has ended
    EVENT_WRONG    // *err says where and why. A bad record is skipped as a whole
} EventNext;

// Opens a file, a FIFO (without waiting for its writer) or, for "-", standard input. NULL with
// EXIT_NO_INPUT or EXIT_DATA.
EventReader *event_reader_open(const char *path, Error *err);
// Reads from memory, which is borrowed; `name` stands in messages.
EventReader *event_reader_memory(const void *bytes, size_t count, const char *name);
void event_reader_close(EventReader *reader); // NULL is allowed
CLEARED_POINTER(reader_drop, EventReader, event_reader_close)

// The first call also reads the first line or the magic number. Errors name file and line, or file
// and byte, and leave the reader behind the bad record if its end is known.
EventNext event_reader_next(EventReader *reader, Event *event, Error *err);
EventPlace event_reader_place(const EventReader *reader);
// The place before the last event, or before the record that was wrong.
EventPlace event_reader_place_before(const EventReader *reader);
// Puts the place of the last event before a sentence about it: "PATH:17: ...". Returns false.
bool event_reader_error(const EventReader *reader, Error *err);
// Goes to a place of an earlier reader of the same stream, before anything is read. EXIT_DATA if
// the bytes there are others, or if a last line without an end has been continued since. Only of
// what event_reader_can_seek.
bool event_reader_seek(EventReader *reader, const EventPlace *place, Error *err);
bool event_reader_can_seek(const EventReader *reader);
// True behind the last byte: what came last is the end, a last line without its end, or a record
// that is cut off.
bool event_reader_at_end(const EventReader *reader);
// What should be known although nothing failed: "the last line has no end".
const Warnings *event_reader_warnings(const EventReader *reader);

// ---- the hypergraph so far

enum { SIDE_NODE = 0, SIDE_HYPEREDGE = 1, LIVE_SIDES = 2 };

typedef struct LiveItem { // a node or a hyperedge
    uint64_t id;
    int32_t count; // its pins; -1: the slot is free
    uint32_t list; // where the list of its pins begins
    int32_t next;  // the next slot in its bucket, or the next free slot; -1: none
    uint32_t mark; // number of the event that marked it last
    float weight;  // of a hyperedge
} LiveItem;

typedef struct LiveSide {
    int64_t slots;       // used so far; some may be free
    int64_t count;       // nodes or hyperedges there are
    LiveItem *item;      // [slots]
    const int32_t *pool; // the lists of pins
} LiveSide;

typedef struct LiveHypergraph {
    LiveSide side[LIVE_SIDES]; // read-only for others
    int64_t pins;
    int64_t largest;  // most pins that a hyperedge has ever had
    int64_t repeated; // pins, nodes and hyperedges that were added although they were there
    int64_t skipped;  // deletions of what was not there, if `strict` is false
    bool strict;      // such a deletion is an error; true at first
    struct LiveMemory *memory; // owned
} LiveHypergraph;

// What an event did: the subject got or lost pins with others of the other side.
typedef struct LiveChange {
    int side; // of the subject
    int32_t subject;
    int64_t count;
    const int32_t *other; // [count] slots of the other side; until the next event
    bool removed;         // the pins are gone; the slots of what went with them (count -1) are free
    bool gone;            // the subject, too
} LiveChange;

bool live_init(LiveHypergraph *live, Error *err);
void live_clear(LiveHypergraph *live);
// Applies an event, whole or not at all; a snapshot changes nothing. EXIT_DATA with a sentence
// without its place in the stream: a deletion of what is not there, more than 2^31 - 1 pins, or
// nodes and hyperedges. EXIT_MEMORY.
bool live_apply(LiveHypergraph *live, const Event *event, LiveChange *change, Error *err);
int32_t live_find(const LiveHypergraph *live, int side, uint64_t id); // its slot, or -1
static inline const int32_t *live_pins(const LiveHypergraph *live, int side, int32_t slot) {
    return live->side[side].pool + live->side[side].item[slot].list;
}
// Slots in ascending order of the user's ids: [side.count]. Owned by the caller.
int32_t *live_order(const LiveHypergraph *live, int side);
// The user's ids of all slots in such an order: id[side.count].
void live_ids(const LiveHypergraph *live, int side, const int32_t *order, uint64_t *id);
size_t live_bytes(const LiveHypergraph *live); // of memory in use

// A file of everything that later events depend on, so that a restored hypergraph goes on as the
// saved one would. The file is not durable by itself.
bool live_write(const LiveHypergraph *live, const char *path, Error *err);
bool live_read(LiveHypergraph *live, const char *path, Error *err); // into one after live_init
