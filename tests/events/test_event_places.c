// If this failed, a stream would be resumed at another place than where it was left, or in another
// stream, or a bad event would be sought where it is not.

#include "streams.h"

TEST(a_stream_goes_on_where_it_was_left) {
    static const uint64_t places[] = {0, 1, 5, 50, 300, 20000, MANY - 1, MANY};
    for (int binary = 0; binary < 2; binary++) {
        write_many(test_path("many"), binary);
        OWNED(EventReader) *reader = open_reader(test_path("many"));
        assert_true(event_reader_can_seek(reader));
        uint64_t read = 0;
        for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
            for (uint64_t ids[16]; read < places[p]; read++)
                assert_next(reader, (Event[]){numbered(read, ids)});
            EventPlace place = event_reader_place(reader);
            OWNED(EventReader) *later = open_reader(test_path("many"));
            assert_ok(event_reader_seek(later, &place, &err));
            assert_true(same_place(event_reader_place(later), place));
            assert_int_equal(place.events, places[p]);
            assert_rest(later, places[p]);
        }
    }
}

static void assert_place(EventPlace place, int64_t events, int64_t offset, int64_t line) {
    assert_int_equal(place.events, events);
    assert_int_equal(place.offset, offset);
    assert_int_equal(place.line, line);
}

static void assert_blames(EventReader *reader, const char *wanted) {
    Error err = {0};
    error_set(&err, EXIT_DATA, "no");
    assert_false(event_reader_error(reader, &err));
    assert_string_equal(err.text, wanted);
}

TEST(the_last_event_has_a_place) {
    static const char text[] = "fringe-stream 1\n+p 17 6\n# c\n+x\n-v 9\n";
    OWNED(EventReader) *reader = event_reader_memory(text, strlen(text), "toy");
    assert_next(reader, &every_form[6]);
    assert_place(event_reader_place_before(reader), 0, 16, 2);
    assert_blames(reader, "toy:2: no");
    assert_wrong(reader, EXIT_DATA, "toy:4: '+x' begins no event");
    assert_place(event_reader_place_before(reader), 1, 28, 4);
    assert_place(event_reader_place(reader), 1, 31, 5);
    assert_blames(reader, "toy:4: no");
    assert_next(reader, &every_form[9]);
    assert_place(event_reader_place_before(reader), 1, 31, 5);
    assert_end(reader);
    assert_place(event_reader_place_before(reader), 2, 36, 6);
}

TEST(the_last_record_has_a_place) {
    size_t count;
    write_stream(test_path("records"), true, every_form, 2);
    char *bytes = test_read(test_path("records"), &count);
    OWNED(EventReader) *reader = event_reader_memory(bytes, count - 1, "toy");
    assert_next(reader, &every_form[0]);
    assert_place(event_reader_place_before(reader), 0, 12, 1);
    assert_blames(reader, "toy: byte 12: no");
    assert_wrong(reader, EXIT_DATA, "toy: byte 52: the stream ends within this record");
    assert_place(event_reader_place_before(reader), 1, 52, 1);
    assert_place(event_reader_place(reader), 1, 52, 1);
}

// Seeks in a file of these bytes.
static bool seek(const char *bytes, size_t count, const EventPlace *place, Error *err) {
    *err = (Error){0};
    test_write(test_path("seek"), bytes, count);
    OWNED(EventReader) *reader = open_reader(test_path("seek"));
    bool ok = event_reader_seek(reader, place, err);
    return ok;
}

TEST(another_stream_is_recognised) {
    static const char text[] = "fringe-stream 1\n+p 17 6\n+p 17 7\n";
    char other[sizeof text];
    test_write_text(test_path("seek"), text);
    EventReader *reader = open_reader(test_path("seek"));
    assert_next(reader, &every_form[6]);
    EventPlace place = event_reader_place(reader);
    event_reader_close(reader);
    assert_int_equal(place.offset, 24);
    assert_ok(seek(text, strlen(text), &place, &err));
    assert_ok(seek(text, 24, &place, &err));
    assert_refused(seek(text, 23, &place, &err), EXIT_DATA,
                   "is not the stream that was read before: it has 23 bytes, and 24 were read");
    memcpy(other, text, sizeof text);
    other[22] = '5';
    assert_refused(seek(other, strlen(text), &place, &err), EXIT_DATA,
                   "is not the stream that was read before: the bytes before byte 24 differ");
    assert_refused(seek("", 0, &place, &err), EXIT_DATA, "is empty");
    assert_refused(seek("2 3\n1 2\n2 3\n", 12, &place, &err), EXIT_DATA, "hypergraph");
    place.offset = 7;
    assert_refused(seek(text, strlen(text), &place, &err), EXIT_DATA, "before byte 7 differ");
    place.offset = -1;
    assert_refused(seek(text, strlen(text), &place, &err), EXIT_DATA, "before byte -1");
}
