// A fuzzer of the reader of streams, for clang's -fsanitize=fuzzer: whatever the bytes are, text or
// binary, they are read or refused with a sentence, under AddressSanitizer and
// UndefinedBehaviorSanitizer.
//
//   CC=clang cmake -S . -B build-fuzz && ninja -C build-fuzz fuzz_events
//   build-fuzz/fuzz_events -max_len=4096 -max_total_time=60 FOLDER_OF_STREAMS

#include "events/internal.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void check(bool holds) {
    if (!holds)
        abort();
}

// All ids are there, and the event is one of the seven.
static uint64_t look_at(const Event *event) {
    Error err = {0};
    uint64_t sum = 0;
    check(event->kind >= EVENT_HYPEREDGE && event->kind <= EVENT_SNAPSHOT);
    check(event_is_whole(event, &err) && err.code == 0);
    check((event->kind == EVENT_SNAPSHOT) == event_name_is_valid(event->name));
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
        check(next != EVENT_WAITING && (err.code != 0) == (next == EVENT_WRONG));
        check(place.offset >= before.offset && place.offset <= count);
        check(place.events == before.events + (next == EVENT_READ));
        EventPlace between = event_reader_place_before(reader);
        check(between.events == before.events && between.offset >= before.offset &&
              between.offset <= place.offset);
        if (next == EVENT_READ)
            look_at(&event);
        if (next == EVENT_END || (next == EVENT_WRONG && place.offset == before.offset))
            return;
        check(next != EVENT_WRONG || strncmp(err.text, "fuzz", 4) == 0);
        wrong += next == EVENT_WRONG;
        before = place;
    }
    abort(); // more bad records than bytes
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    uint8_t *exact = malloc(count); // so that a read behind it is noticed
    if (count > 0)
        memcpy(exact, bytes, count);
    EventReader *reader = event_reader_memory(exact, count, "fuzz");
    read_all(reader, (int64_t)count);
    event_reader_close(reader);
    check(memory_in_use() == 0);
    free(exact);
    return 0;
}
