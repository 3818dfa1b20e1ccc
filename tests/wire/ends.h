// The two ends of messages, as boxes of this process.
#pragma once

#include "../codec_values.h"
#include "../difference.h"
#include "../rows.h"
#include "../sparse.h"

#include "fringe/wire.h"

// The second message has no rows; the last rows of the third are partial aggregates.
static const int64_t offsets[] = {0, 5, 5, 18};
enum { MESSAGES = 3, ROWS = 18, PARTIALS = 4, COLUMNS = 24, EXCHANGES = 7 };

static const char *const codecs[] = {"fp32", "bf16", "integer", "sparse"};
enum { CODECS = sizeof codecs / sizeof *codecs };

static inline const Codec *codec_named(const char *name) {
    return strcmp(name, "sparse") == 0 ? &sparse : assert_ok(codec_find(name, &err));
}

// Small integers, whose sums and differences are exact in any codec but integer.
static inline float value(int64_t row, int64_t column, int64_t exchange) {
    return (float)((row * 7 + column * 3 + exchange * exchange * 5) % 11 - 5);
}

// ---- two ends

typedef struct Pair {
    CodecOptions options[FLOWS];
    MessageBlock block[FLOWS];
    MessageBox box[FLOWS];
    Taken *taken;            // the blocks of both
    int64_t bytes[MESSAGES]; // of the last messages
    Rows sent, received;
    int32_t row[ROWS];
    int64_t id[2 * ROWS];
} Pair;

static inline int64_t id_of_row(int64_t place) {
    return place < ROWS - PARTIALS ? 100 + place : -1 - place;
}

static inline int64_t id_at(const void *context, int64_t place) {
    (void)context;
    return id_of_row(place);
}

static inline CodecOptions options_of(const char *codec, const Residual *first,
                                      const Residual *second) {
    return (CodecOptions){.codec = codec_named(codec),
                          .values = integer_values(false),
                          .width = 4,
                          .residual = {{.of = first}, {.of = second}}};
}

static inline void end_init(Pair *p, int flow, int64_t columns) {
    Allocator allocator = {.backend = device(), .taken = &p->taken};
    p->box[flow] = (MessageBox){.backend = device(),
                                .options = &p->options[flow],
                                .end = flow == OUTGOING ? RESIDUAL_SENDER : RESIDUAL_READER,
                                .columns = columns,
                                .count = MESSAGES,
                                .offset = offsets,
                                .block = &p->block[flow]};
    box_alloc(&p->box[flow], &allocator);
    message_block_alloc(&p->block[flow], &allocator, box_room(&p->box[flow]));
    box_open(&p->box[flow], id_at, NULL);
}

static inline void pair_init(Pair *p, CodecOptions sender, CodecOptions reader, int64_t columns) {
    *p = (Pair){.options = {[OUTGOING] = sender, [INCOMING] = reader},
                .sent = zeroed_rows(2 * ROWS, COLUMNS), // own rows, then room for sums
                .received = zeroed_rows(ROWS, columns)};
    for (int64_t k = 0; k < ROWS; k++) {
        p->row[k] = (int32_t)(k < ROWS - PARTIALS ? k : ROWS + k);
        p->id[p->row[k]] = id_of_row(k);
    }
    end_init(p, OUTGOING, COLUMNS);
    end_init(p, INCOMING, columns);
    box_encode_begin(&p->box[OUTGOING]);
}

static inline void pair_clear(Pair *p) {
    for (int flow = 0; flow < FLOWS; flow++)
        box_clear(&p->box[flow]);
    taken_free(&p->taken);
}

static inline void fill_rows(Pair *p, int64_t exchange) {
    for (int64_t k = 0; k < ROWS; k++)
        for (int64_t c = 0; c < COLUMNS; c++)
            floats(p->sent)[p->row[k] * p->sent.stride + c] = value(k, c, exchange);
}

static inline MessageSource source_of(const Pair *p, int i) {
    return (MessageSource){.x = rows_first(p->sent, ROWS),
                           .partials = rows_range(p->sent, (Range){ROWS, 2 * ROWS}),
                           .row = on_device(p->row + offsets[i]),
                           .gid = on_device(p->id),
                           .random = random_key(3, RANDOM_ROUNDING, 1, 0, 0),
                           .peer = 6,
                           .partial_peer = 7};
}

// A row of the third message is own, or a partial aggregate.
static inline int64_t own_rows(const Pair *p, int i) {
    int64_t own = 0;
    for (int64_t k = offsets[i]; k < offsets[i + 1]; k++)
        own += p->row[k] < ROWS;
    return own;
}

static inline void encode(Pair *p, int i, BoxStep step) {
    MessageBox *from = &p->box[OUTGOING];
    p->bytes[i] = box_encode(from, i, step, source_of(p, i), own_rows(p, i), NULL);
    box_download(from, i, p->bytes[i], NULL);
    box_wait_made(from, i, NULL);
    assert_int_equal(from->bad[i], 0);
}

static inline void decode(Pair *p, int i, BoxStep step) {
    memcpy(box_host_message(&p->box[INCOMING], i), box_host_message(&p->box[OUTGOING], i),
           (size_t)p->bytes[i]);
    box_decode(&p->box[INCOMING], i, step, p->received, offsets[i], p->bytes[i], NULL);
}

// Exchange number `exchange` of training; 0: one that is not coded.
static inline void pass(Pair *p, int64_t exchange) {
    BoxStep step = box_step(&p->options[OUTGOING], exchange);
    fill_rows(p, exchange);
    for (int i = 0; i < MESSAGES; i++)
        if (box_rows(&p->box[OUTGOING], i) > 0) {
            encode(p, i, step);
            decode(p, i, step);
        }
}

static inline void assert_received(const Pair *p,
                                   float (*want)(int64_t row, int64_t column, int64_t n),
                                   int64_t exchange) {
    for (int64_t k = 0; k < ROWS; k++)
        for (int64_t c = 0; c < COLUMNS; c++)
            assert_true(floats(p->received)[k * p->received.stride + c] == want(k, c, exchange));
}

static inline bool ends_agree(const Pair *p, int residual) {
    const BoxResidual *sent = &p->box[OUTGOING].residual[residual],
                      *received = &p->box[INCOMING].residual[residual];
    size_t bytes = sent->place[MESSAGES];
    assert_true(bytes > 0 && bytes == received->place[MESSAGES]);
    return memcmp(sent->memory, received->memory, bytes) == 0;
}
