// If this failed, a message that its reader takes for one of another layout would go unseen, or a
// residual that one end forgets.
#include "ends.h"

static MessageHeader header_of(const MessageBox *box, int i, int64_t bytes) {
    return (MessageHeader){.columns = (uint32_t)box->columns,
                           .rows = (uint64_t)box_rows(box, i),
                           .bytes = (uint64_t)bytes};
}

static bool header_is_right(const Pair *p, int i, Error *err) {
    const MessageBox *to = &p->box[INCOMING];
    MessageHeader sent = header_of(&p->box[OUTGOING], i, p->bytes[i]),
                  expected = header_of(to, i, box_bytes(to, box_step(to->options, 1), i));
    message_seal(&sent);
    return to->options->codec->varies ? message_check_varying(&sent, &expected, false, err)
                                      : message_check(&sent, &expected, NULL, err);
}

TEST(other_columns_are_seen) {
    for (int c = 0; c < CODECS; c++) {
        CLEARED(pair_clear) Pair right = {0}, wrong = {0};
        CodecOptions options = options_of(codecs[c], NULL, NULL);
        pair_init(&right, options, options, COLUMNS);
        pair_init(&wrong, options, options, COLUMNS + 1);
        pass(&right, 1);
        fill_rows(&wrong, 1);
        encode(&wrong, 0, box_step(&options, 1));
        assert_ok(header_is_right(&right, 0, &err));
        assert_refused(header_is_right(&wrong, 0, &err), EXIT_INTEGRITY, "wrong columns");
    }
}

TEST(other_widths_are_seen) {
    CLEARED(pair_clear) Pair p = {0};
    CodecOptions reader = options_of("integer", NULL, NULL), sender = reader;
    sender.width = 2;
    pair_init(&p, sender, reader, COLUMNS);
    fill_rows(&p, 1);
    encode(&p, 0, box_step(&sender, 1));
    assert_refused(header_is_right(&p, 0, &err), EXIT_INTEGRITY, "wrong bytes");
}

// Two rows of the reader have each other's width: the length is right, what is remembered is not.
TEST(exchanged_widths_are_seen) {
    for (int wrong = 0; wrong < 2; wrong++) {
        CLEARED(pair_clear) Pair p = {0};
        uint8_t bits[FLOWS][ROWS];
        CodecOptions options = options_of("integer", NULL, &difference);
        pair_init(&p, options, options, COLUMNS);
        memset(bits, 2, sizeof bits);
        bits[OUTGOING][0] = bits[INCOMING][wrong] = 8;
        for (int flow = 0; flow < FLOWS; flow++)
            box_set_widths(&p.box[flow], bits[flow]);
        pass(&p, 1);
        assert_ok(header_is_right(&p, 0, &err));
        assert_int_equal(ends_agree(&p, 1), !wrong);
    }
}

// At the sender, or at the reader.
TEST(a_hook_left_out_is_seen) {
    for (int flow = 0; flow < FLOWS; flow++) {
        CLEARED(pair_clear) Pair p = {0};
        Residual without = difference;
        CodecOptions options[FLOWS] = {options_of("sparse", NULL, &difference),
                                       options_of("sparse", NULL, &difference)};
        options[flow].residual[CODING_MEMORY].of = &without;
        *(flow == OUTGOING ? &without.after_encode : &without.after_decode) = NULL;
        pair_init(&p, options[OUTGOING], options[INCOMING], COLUMNS);
        pass(&p, 1);
        assert_false(ends_agree(&p, 1));
    }
}
