// Inside the live hypergraph: its memory, ids and lists.
#pragma once

#include "fringe/events.h"

typedef struct LiveMemory {
    Growing item[LIVE_SIDES]; // of LiveItem
    Growing head[LIVE_SIDES]; // 1 + the first slot of each bucket; 0: none
    int64_t buckets[LIVE_SIDES];
    int32_t free[LIVE_SIDES]; // the free slot to use next; -1: none
    Pool list[LIVE_SIDES];    // slots of the other side
    Growing other;            // scratch: slots on the other side of an event's new pins
    uint32_t stamp;           // of the current event; LiveItem.mark
} LiveMemory;

// ---- live_items.c: slots and ids
int32_t live_make(LiveHypergraph *live, int side, uint64_t id); // which is not there
void live_drop(LiveHypergraph *live, int side, int32_t slot);   // without pins
// Starts to read what live_find will, for ids that are looked for next.
void live_prefetch(const LiveHypergraph *live, int side, const uint64_t *id, int64_t count);
// Makes the item of a restored slot findable by its id.
void live_index(LiveHypergraph *live, int side, int32_t slot);

// ---- live_pins.c: the lists of pins
static inline LiveItem *live_item(const LiveHypergraph *live, int side, int32_t slot) {
    return &live->side[side].item[slot];
}
void live_link(LiveHypergraph *live, int32_t node, int32_t hyperedge);
bool live_is_pin(const LiveHypergraph *live, int32_t node, int32_t hyperedge);
void live_unlink(LiveHypergraph *live, int32_t node, int32_t hyperedge);
void live_unlink_all(LiveHypergraph *live, int side, int32_t slot); // every pin of an item
