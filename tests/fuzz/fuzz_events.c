// The reader of streams, text or binary.

#include "fuzz.h"

#include "events/internal.h"

// All ids are there, and the event is one of the seven.
static uint64_t look_at(const Event *event) {
    Error err = {0};
    uint64_t sum = 0;
    FUZZ_CHECK(event->kind >= EVENT_HYPEREDGE && event->kind <= EVENT_SNAPSHOT);
    FUZZ_CHECK(event_is_whole(event, &err) && err.code == 0);
    FUZZ_CHECK((event->kind == EVENT_SNAPSHOT) == event_name_is_valid(event->name));
    for (int64_t i = 0; i < event->count; i++)
        sum += event->other[i];
    return sum;
}

// A place never goes back, and an error says where it is.
static void read_all(EventReader *reader, int64_t count) {
    Event event;
    EventPlace before = event_reader_place(reader);
    for (int64_t wrong = 0; wrong <= count;) {
        Error err = {0};
        EventNext next = event_reader_next(reader, &event, &err);
        EventPlace place = event_reader_place(reader);
        FUZZ_CHECK(next != EVENT_WAITING && (err.code != 0) == (next == EVENT_WRONG));
        FUZZ_CHECK(place.offset >= before.offset && place.offset <= count);
        FUZZ_CHECK(place.events == before.events + (next == EVENT_READ));
        EventPlace between = event_reader_place_before(reader);
        FUZZ_CHECK(between.events == before.events && between.offset >= before.offset &&
                   between.offset <= place.offset);
        if (next == EVENT_READ)
            look_at(&event);
        if (next == EVENT_END || (next == EVENT_WRONG && place.offset == before.offset))
            return;
        FUZZ_CHECK(next != EVENT_WRONG || strncmp(err.text, "fuzz", 4) == 0);
        wrong += next == EVENT_WRONG;
        before = place;
    }
    abort(); // more bad records than bytes
}

FUZZER {
    CLEARED(reader_drop) EventReader *reader = event_reader_memory(bytes, count, "fuzz");
    read_all(reader, (int64_t)count);
}
