// If this failed, an event would be read as another one, a damaged stream would be read on, or a
// message would not name the place.

#include "streams.h"

#define FIRST "fringe-stream 1\n"
#define MAGIC "FRNGSTRM\1\0\0" // and the zero that ends it
#define HEAD(op, flags, count) op flags "\0\0" count "\0\0"
#define ID(id) id "\0\0\0\0\0\0\0"
#define BYTES(literal) (literal), sizeof(literal) - 1

static EventReader *read_text(const char *text) {
    return event_reader_memory(text, strlen(text), "toy");
}

TEST(every_form_is_read) {
    OWNED(EventReader) *reader = read_text(FIRST EVERY_FORM);
    for (int i = 0; i < FORMS; i++) {
        assert_next(reader, &every_form[i]);
        assert_int_equal(event_reader_place(reader).line, i + 3);
    }
    assert_end(reader);
    assert_int_equal(event_reader_place(reader).events, FORMS);
    assert_string_equal(event_reader_warnings(reader)->text, "");
}

// All the same pin and the same snapshot.
TEST(a_text_may_be_written_loosely) {
    static const char *const texts[] = {
        FIRST "+p 7 8\n= x\n",
        "fringe-stream 1 \t \r\n+p 7 8\r\n= x\r\n",
        FIRST "\n \t\r\n# +p 1 2\n  # c\n+p 7 8\n\n= x\n#\n",
        FIRST " \t+p\t7   8\t \n\t= x \n",
        FIRST "+p 7 8# of 8 and more \x01 \xff\n= x#y\n",
        FIRST "+p 007 0000000000000000000000000000008\n= x\n",
        FIRST "+p 7 8\n= x",
        FIRST "+p 7 8\n= x\r",
    };
    const uint64_t node = 8;
    const Event pin = {EVENT_PIN, 7, 1, &node, false, 1, ""};
    const Event snapshot = {EVENT_SNAPSHOT, 0, 0, NULL, false, 1, "x"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        OWNED(EventReader) *reader = read_text(texts[i]);
        assert_next(reader, &pin);
        assert_next(reader, &snapshot);
        assert_end(reader);
    }
}

TEST(an_open_end_is_a_warning) {
    static const struct {
        const char *text;
        int line; // at the end
        const char *place;
    } cases[] = {
        {FIRST "+v 1\n+v 2", 3,
         "toy:3: the last line has no end; if the stream was cut off there, "
         "its last event may be incomplete"},
        {"fringe-stream 1", 1, "toy:1: the last line has no end"},
        {FIRST "+v 1\n+v", 3, "toy:3: the last line has no end"},
        {FIRST "+v 1\n# +v 2", 3, NULL},
        {FIRST "+v 1\n  ", 3, NULL},
        {FIRST "+v 1\n", 3, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Event event;
        Error err;
        OWNED(EventReader) *reader = read_text(cases[i].text);
        while (next_ready(reader, &event, &err) != EVENT_END)
            ;
        const char *text = event_reader_warnings(reader)->text;
        assert_int_equal(event_reader_place(reader).line, cases[i].line);
        if (cases[i].place == NULL)
            assert_string_equal(text, "");
        else if (strstr(text, cases[i].place) == NULL)
            fail_msg("'%s': the warning is '%s'", cases[i].text, text);
    }
}

// Each stands in line 3, between two sound lines that are read.
TEST(a_bad_line_is_named_and_skipped) {
    static const struct {
        const char *line, *phrase;
    } cases[] = {
        {"+x 1 2", "'+x' begins no event; an event is '+h H [w=F] V V ...', '+v V [H ...]', "
                   "'+p H V', '-p H V', '-h H', '-v V' or '= NAME'"},
        {"1 2 3", "'1' begins no event"},
        {"+h1 2", "'+h1' begins no event"},
        {"+H 1 2", "'+H' begins no event"},
        {"=x", "'=x' begins no event"},
        {"fringe-stream 1", "'fringe-stream' begins no event"},
        {"+h", "'+h' without an id; its form is '+h H [w=F] V V ...'"},
        {"+h # 1 2", "'+h' without an id"},
        {"+h 1", "'+h' with neither pins nor a weight; its form is '+h H [w=F] V V ...'"},
        {"+v", "'+v' without an id; its form is '+v V [H ...]'"},
        {"+p", "'+p' without an id"},
        {"+p 1", "'+p' with 1 id; its form is '+p H V'"},
        {"+p 1 2 3", "'+p' with 3 ids; its form is '+p H V'"},
        {"-p 1", "'-p' with 1 id; its form is '-p H V'"},
        {"-h 1 2", "'-h' with 2 ids; its form is '-h H'"},
        {"-v 1 2 3", "'-v' with 3 ids; its form is '-v V'"},
        {"+p 1 x", "'x' is not an id (digits only); the form is '+p H V'"},
        {"+p 1 -2", "'-2' is not an id"},
        {"+p +1 2", "'+1' is not an id"},
        {"+p 1.0 2", "'1.0' is not an id"},
        {"+p 1 2\r2", "'2\r2' is not an id"},
        {"+v 1,2", "'1,2' is not an id"},
        {"+v 18446744073709551616", "'18446744073709551616' is above 18446744073709551615"},
        {"+v 99999999999999999999999999",
         "'99999999999999999999999999' is above 18446744073709551615, the largest id"},
        {"+v 1 w=2", "'w=2' is not an id"},
        {"+h 1 2 w=3", "'w=3' is not an id (digits only); the form is '+h H [w=F] V V ...'"},
        {"+h w=3 1 2", "'w=3' is not an id"},
        {"+h 1 w=1 w=1 2", "'w=1' is not an id"},
        {"+h 1 w= 2", "'w=' is not a weight (w= and a number from 0 to 3.4e38)"},
        {"+h 1 w 2", "'w' is not a weight"},
        {"+h 1 w=-1 2", "'w=-1' is not a weight"},
        {"+h 1 w=nan 2", "'w=nan' is not a weight"},
        {"+h 1 w=inf 2", "'w=inf' is not a weight"},
        {"+h 1 w=1e39 2", "'w=1e39' is not a weight"},
        {"+h 1 w=0x1p3 2", "'w=0x1p3' is not a weight"},
        {"+h 1 w=1.5.5 2", "'w=1.5.5' is not a weight"},
        {"+h 1 w=1,5 2", "'w=1,5' is not a weight"},
        {"=", "'=' with no name; its form is '= NAME'"},
        {"= a b", "'=' with more than a name; its form is '= NAME'"},
        {"= .a", "'.a' cannot name a snapshot; a name has 1 to 64 of A-Z a-z 0-9 . _ -"},
        {"= a/b", "'a/b' cannot name a snapshot"},
        {"= 01234567890123456789012345678901234567890123456789012345678901234",
         "'01234567890123456789012345678901234567890123456789012345678901234' cannot name"},
    };
    const Event first = {EVENT_NO_NODE, 1, 0, NULL, false, 1, ""};
    const Event last = {EVENT_NO_NODE, 2, 0, NULL, false, 1, ""};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = test_text(FIRST "-v 1\n%s\n-v 2\n", cases[i].line);
        const char *phrase = test_text("toy:3: %s", cases[i].phrase);
        OWNED(EventReader) *reader = read_text(text);
        assert_next(reader, &first);
        assert_wrong(reader, EXIT_DATA, phrase);
        assert_next(reader, &last);
        assert_end(reader);
    }
}

TEST(a_zero_byte_is_refused) {
    static const char text[] = FIRST "+v 1 \0 2\n# c\0\n+v 9\n";
    OWNED(EventReader) *reader = event_reader_memory(text, sizeof text - 1, "toy");
    assert_wrong(reader, EXIT_DATA, "toy:2: byte 6 of the line is zero");
    assert_wrong(reader, EXIT_DATA, "toy:3: byte 4 of the line is zero");
    assert_next(reader, &every_form[4]);
    assert_end(reader);
}

// What is no stream stays none, however often it is asked.
TEST(other_files_are_told_apart) {
    static const struct {
        const char *bytes;
        size_t count;
        const char *phrase;
    } cases[] = {
        {BYTES(""), "toy: is empty; a stream begins with the line 'fringe-stream 1'"},
        {BYTES("\x1f\x8b\x08\0\0\0"), "toy: is a gzip file"},
        {BYTES("PK\x03\x04\x14"), "toy: is a zip or .npz archive"},
        {BYTES("\xef\xbb\xbf" FIRST), "toy: begins with a byte order mark"},
        {BYTES("% c\n2 3\n1 2\n2 3\n"), "looks like a graph or a hypergraph (.graph, .hgr)"},
        {BYTES("2 3\n1 2\n2 3\n"), "looks like a graph or a hypergraph (.graph, .hgr)"},
        {BYTES("+h 1 2\n"), "toy: is not a stream of events: it begins with '+h 1 2', not with "
                            "the line 'fringe-stream 1'"},
        {BYTES("\n" FIRST), "it begins with '', not"},
        {BYTES("fringe-stream 2\n"), "toy: is a stream of version 2; this program reads version 1"},
        {BYTES("fringe-stream 10"), "toy: is a stream of version 10"},
        {BYTES("fringe-stream one\n"), "it begins with 'fringe-stream one', not"},
        {BYTES("fringe-stream\n"), "it begins with 'fringe-stream', not"},
        {BYTES("fringe-stream 1 # c\n"), "it begins with 'fringe-stream 1 # c', not"},
        {BYTES("fringe-stream 1\0\n"),
         "toy: is not a stream of events: its first line holds a zero byte"},
        {BYTES("FRNGSTRM\2\0\0\0"), "toy: is a stream of version 2"},
        {BYTES("FRNGSTRM\1\0\0\1"), "toy: is a stream of version 16777217"},
        {BYTES("FRNGSTRM\1\0\0"), "toy: ends within the 12 bytes that a binary stream begins with"},
        {BYTES("FRNGSTR"), "it begins with 'FRNGSTR', not"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(EventReader) *reader = event_reader_memory(cases[i].bytes, cases[i].count, "toy");
        assert_wrong(reader, EXIT_DATA, cases[i].phrase);
        assert_wrong(reader, EXIT_DATA, cases[i].phrase);
    }
    char blanks[200] = "fringe-stream 1";
    memset(blanks + 15, ' ', sizeof blanks - 15);
    OWNED(EventReader) *reader = event_reader_memory(blanks, sizeof blanks, "toy");
    assert_wrong(reader, EXIT_DATA, "it begins with 'fringe-stream 1");
}

// Each stands behind the 12 bytes of the beginning and a record of 16, and before one of 16.
TEST(a_bad_record_is_named) {
    static const struct {
        const char *bytes;
        size_t count;
        bool skipped; // its end is known
        const char *phrase;
    } cases[] = {
        {BYTES(HEAD("\0", "\0", "\0\0") ID("\7")), false,
         "a record of kind 0, and the kinds are 1 to 7; the stream is damaged at this byte or"},
        {BYTES(HEAD("\10", "\0", "\0\0") ID("\7")), false, "a record of kind 8"},
        {BYTES(HEAD("\4", "\6", "\0\0") ID("\7")), false,
         "a record with flags 0x06, and only 0x01 is known"},
        {BYTES("\4\0\1\0\0\0\0\0" ID("\7")), false,
         "a record whose bytes 2 and 3 are 0x0001, not zero"},
        {BYTES("\1\0\0\0\377\377\177\0" ID("\7")), false,
         "a record of 67108872 bytes; at most 67108864 (64 MiB) are read. A large hyperedge can "
         "be sent in several +h events"},
        {BYTES(HEAD("\1", "\0", "\0\0") ID("\7")), true, "'+h' with neither pins nor a weight"},
        {BYTES(HEAD("\3", "\0", "\0\0") ID("\7")), true, "'+p' with 1 id; its form is '+p H V'"},
        {BYTES(HEAD("\4", "\0", "\2\0") ID("\7") ID("\1") ID("\2")), true, "'-p' with 3 ids"},
        {BYTES(HEAD("\5", "\0", "\1\0") ID("\7") ID("\1")), true, "'-h' with 2 ids"},
        {BYTES(HEAD("\6", "\0", "\1\0") ID("\7") ID("\1")), true, "'-v' with 2 ids"},
        {BYTES(HEAD("\3", "\1", "\1\0") ID("\7") "\0\0\200?" ID("\1")), true,
         "'+p' with a weight; only '+h' has one"},
        {BYTES(HEAD("\7", "\1", "\1\0") ID("\1") "\0\0\200?" ID("x")), true,
         "'=' with a weight; only '+h' has one"},
        {BYTES(HEAD("\1", "\1", "\0\0") ID("\7") "\0\0\200\277"), true,
         "the weight -1 is not a number from 0 to 3.4e38"},
        {BYTES(HEAD("\1", "\1", "\0\0") ID("\7") "\0\0\200\177"), true, "the weight inf is not"},
        {BYTES(HEAD("\1", "\1", "\0\0") ID("\7") "\0\0\300\177"), true, "the weight nan is not"},
        {BYTES(HEAD("\7", "\0", "\0\0") ID("\0")), true, "'' cannot name a snapshot"},
        {BYTES(HEAD("\7", "\0", "\0\0") ID("\1")), true,
         "the name of a snapshot has 1 bytes in 0 words; it may have 1 to 64 bytes, 8 in each"},
        {BYTES(HEAD("\7", "\0", "\2\0") ID("\1") ID("x") ID("\0")), true,
         "the name of a snapshot has 1 bytes in 2 words"},
        {BYTES(HEAD("\7", "\0", "\1\0") ID("\377") ID("x")), true,
         "the name of a snapshot has 255 bytes in 1 words"},
        {BYTES("\7\0\0\0\0\0\0\0\377\377\377\377\377\377\377\377"), true,
         "the name of a snapshot has 18446744073709551615 bytes in 0 words"},
        {BYTES(HEAD("\7", "\0", "\1\0") ID("\3") "a/b\0\0\0\0\0"), true, "'a/b' cannot name a"},
        {BYTES(HEAD("\7", "\0", "\1\0") ID("\3") "a\0b\0\0\0\0\0"), true, "'a' cannot name a"},
        {BYTES(HEAD("\7", "\0", "\1\0") ID("\1") "x\0\0y\0\0\0\0"), true,
         "bytes behind the name 'x' are not zero"},
    };
    static const char gone[] = HEAD("\6", "\0", "\0\0") ID("\11");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char bytes[256];
        size_t used = 0;
        memcpy(bytes, MAGIC, 12);
        memcpy(bytes + 12, gone, 16);
        memcpy(bytes + 28, cases[i].bytes, cases[i].count);
        used = 28 + cases[i].count;
        memcpy(bytes + used, gone, 16);
        const char *phrase = test_text("toy: byte 28: %s", cases[i].phrase);
        OWNED(EventReader) *reader = event_reader_memory(bytes, used + 16, "toy");
        assert_next(reader, &every_form[9]);
        assert_wrong(reader, EXIT_DATA, phrase);
        if (cases[i].skipped) {
            assert_next(reader, &every_form[9]);
            assert_end(reader);
        } else {
            assert_wrong(reader, EXIT_DATA, phrase);
        }
    }
}

TEST(names_are_checked) {
    static const char *const bad[] = {"", ".", ".x", "a b", "a/b", "\xc3\xa4", "a\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(event_name_is_valid(bad[i]));
    assert_true(event_name_is_valid("a."));
    assert_true(event_name_is_valid("-"));
    assert_true(event_name_is_valid(every_form[FORMS - 1].name));
}
