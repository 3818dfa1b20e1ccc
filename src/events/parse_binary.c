// One record of a binary stream (internal.h draws it). A record whose layout is known can be
// skipped if what it says is wrong; behind any other nothing can be read.

#include "internal.h"

static bool known_layout(const EventRecord *head, Error *err) {
    static const char damaged[] = "the stream is damaged at this byte or before";
    if (head->op < EVENT_HYPEREDGE || head->op > EVENT_SNAPSHOT)
        return error_data(err, "a record of kind %d, and the kinds are 1 to 7; %s", head->op,
                          damaged);
    if ((head->flags & ~EVENT_HAS_WEIGHT) != 0)
        return error_data(err, "a record with flags 0x%02x, and only 0x01 is known; %s",
                          head->flags, damaged);
    if (head->zero != 0)
        return error_data(err, "a record whose bytes 2 and 3 are 0x%04x, not zero; %s", head->zero,
                          damaged);
    return true;
}

size_t event_record_bytes(const EventRecord *head, Error *err) {
    if (!known_layout(head, err))
        return 0;
    size_t weight = (head->flags & EVENT_HAS_WEIGHT) != 0 ? sizeof(float) : 0;
    size_t bytes = sizeof *head + weight + (size_t)head->count * sizeof(uint64_t);
    if (bytes <= EVENT_RECORD)
        return bytes;
    error_data(err,
               "a record of %zu bytes; at most %d (64 MiB) are read. A large hyperedge can be sent "
               "in several +h events",
               bytes, EVENT_RECORD);
    return 0;
}

static bool take_name(Event *event, const EventRecord *head, const char *words, Error *err) {
    if (head->id > EVENT_NAME || head->count != (head->id + 7) / 8)
        return error_data(err,
                          "the name of a snapshot has %lu bytes in %u words; it may have 1 to 64 "
                          "bytes, 8 in each word",
                          head->id, head->count);
    memcpy(event->name, words, head->id);
    event->name[head->id] = 0;
    if (strlen(event->name) != head->id || !event_name_is_valid(event->name))
        return event_name_error(event->name, err);
    for (size_t i = head->id; i < head->count * sizeof(uint64_t); i++)
        if (words[i] != 0)
            return error_data(err, "bytes behind the name '%s' are not zero", event->name);
    return true;
}

bool event_parse_record(Event *event, uint64_t *ids, const char *record, Error *err) {
    EventRecord head;
    memcpy(&head, record, sizeof head);
    record += sizeof head;
    *event = (Event){.kind = (EventKind)head.op,
                     .weighted = (head.flags & EVENT_HAS_WEIGHT) != 0,
                     .weight = 1,
                     .other = ids};
    if (event->weighted) {
        memcpy(&event->weight, record, sizeof event->weight);
        record += sizeof event->weight;
    }
    bool snapshot = event->kind == EVENT_SNAPSHOT;
    event->id = snapshot ? 0 : head.id;
    event->count = snapshot ? 0 : head.count;
    memcpy(ids, record, (size_t)event->count * sizeof *ids);
    return (!snapshot || take_name(event, &head, record, err)) && event_is_whole(event, err);
}
