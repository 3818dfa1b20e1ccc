// The lists of pins: of each node its hyperedges, and of each hyperedge its nodes. A pin that goes
// is searched for in both lists, and the last one takes its place.
#include "live.h"

static int32_t *list_of(LiveHypergraph *live, int side, int32_t slot) {
    return (int32_t *)live->memory->list[side].elements.at + live_item(live, side, slot)->list;
}

static void append(LiveHypergraph *live, int side, int32_t slot, int32_t other) {
    LiveItem *item = live_item(live, side, slot);
    item->list = pool_lengthen(&live->memory->list[side], item->list, item->count);
    list_of(live, side, slot)[item->count++] = other;
}

static int32_t place_in(const LiveHypergraph *live, int side, int32_t slot, int32_t other) {
    const int32_t *list = live_pins(live, side, slot);
    int32_t count = live_item(live, side, slot)->count, place = 0;
    while (place < count && list[place] != other)
        place++;
    return place < count ? place : -1;
}

static void take_out(LiveHypergraph *live, int side, int32_t slot, int32_t other) {
    LiveItem *item = live_item(live, side, slot);
    int32_t *list = list_of(live, side, slot);
    list[place_in(live, side, slot, other)] = list[item->count - 1];
    item->list = pool_shorten(&live->memory->list[side], item->list, item->count);
    item->count--;
}

void live_link(LiveHypergraph *live, int32_t node, int32_t hyperedge) {
    append(live, SIDE_NODE, node, hyperedge);
    append(live, SIDE_HYPEREDGE, hyperedge, node);
    live->pins++;
}

// Searches the shorter one of both lists.
bool live_is_pin(const LiveHypergraph *live, int32_t node, int32_t hyperedge) {
    bool of_node =
        live_item(live, SIDE_NODE, node)->count < live_item(live, SIDE_HYPEREDGE, hyperedge)->count;
    return of_node ? place_in(live, SIDE_NODE, node, hyperedge) >= 0
                   : place_in(live, SIDE_HYPEREDGE, hyperedge, node) >= 0;
}

void live_unlink(LiveHypergraph *live, int32_t node, int32_t hyperedge) {
    take_out(live, SIDE_NODE, node, hyperedge);
    take_out(live, SIDE_HYPEREDGE, hyperedge, node);
    live->pins--;
}

void live_unlink_all(LiveHypergraph *live, int side, int32_t slot) {
    LiveItem *item = live_item(live, side, slot);
    const int32_t *list = live_pins(live, side, slot);
    for (int32_t i = 0; i < item->count; i++)
        take_out(live, 1 - side, list[i], slot);
    live->pins -= item->count;
    if (item->count > 0)
        pool_give(&live->memory->list[side], item->list, item->count);
    item->count = 0;
    item->list = 0;
}
