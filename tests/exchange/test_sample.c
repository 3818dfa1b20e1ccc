// ranks: 1 3 8; also on fenced
// If this failed, the two ends of a message would not draw the same rows, or rows of another
// reader, epoch or exchange; rows would not count 1/P, or what does not travel would not be zero;
// or what is added up of them would not have the right mean.

#include "codec_values.h"
#include "exchange/channel.h"
#include "synthetic_halo.h"

enum { PLANS = 12, COLUMNS = 41 };
static const double probabilities[] = {0.1, 0.5, 0.97};
static const char *const codecs[] = {"fp32", "bf16", "integer"};

static CodecOptions options_of(const char *codec, double probability, int relation) {
    return (CodecOptions){.codec = codec_find(codec, &(Error){0}),
                          .values = integer_values(true), // of integer alone
                          .width = 8,
                          .chunk = 1000,
                          .sample = {probability, relation}};
}

// By the formula of ALGORITHMS 0.
static bool travels(double probability, int relation, uint32_t epoch, int64_t id, int from,
                    int to) {
    RandomKey key = random_key(5, RANDOM_SAMPLE, epoch, relation, 0);
    int64_t row = id < 0 ? -1 - id : id;
    return random_uniform32(key, row, id < 0 ? from : to, 0) < probability;
}

typedef struct Expected { // of an exchange
    double probability;   // 1: exact
    int relation;
    uint32_t epoch;
    double tolerance; // of values in [-2, 2)
    int64_t sent, messages;
} Expected;

static void check_rows(const HaloPlan *p, Rows received, const Expected *want) {
    float *rows = host_rows(received);
    for (int g = 0; g + 1 < p->size; g++)
        for (int64_t h = p->receive_offset[g]; h < p->receive_offset[g + 1]; h++) {
            int from = ring_sender(p->rank, g, p->size);
            bool here = travels(want->probability, want->relation, want->epoch, p->halo_id[h], from,
                                p->rank);
            float factor = here ? (float)(1 / want->probability) : 0;
            for (int64_t c = 0; c < COLUMNS; c++)
                assert_near(rows[h * COLUMNS + c],
                            factor * ring_value(p->halo_id[h], c, want->epoch),
                            (double)factor * want->tolerance);
        }
}

static void count_sent(const HaloPlan *p, Expected *want) {
    for (int g = 0; g + 1 < p->size; g++) {
        int64_t before = want->sent;
        for (int64_t k = p->send_offset[g]; k < p->send_offset[g + 1]; k++)
            want->sent +=
                travels(want->probability, want->relation, want->epoch,
                        p->source_id[p->send_row[k]], p->rank, ring_reader(p->rank, g, p->size));
        want->messages += want->sent > before;
    }
}

static Rows filled(const HaloPlan *p, uint32_t epoch) {
    Rows x = test_rows(p->sources + p->partials, COLUMNS);
    float *host = TEST_ARRAY(float, x.count *COLUMNS);
    for (int64_t i = 0; i < x.count * COLUMNS; i++)
        host[i] = ring_value(p->source_id[i / COLUMNS], i % COLUMNS, epoch);
    device()->upload_rows(x, host);
    device()->finish(NULL);
    return x;
}

static void exchange(Channel *channel, const HaloPlan *p, Expected *want) {
    Rows x = filled(p, want->epoch);
    RowSource rows = ring_sent(p, x, NULL);
    int64_t takes = memory_allocs();
    channel_pack(channel, &rows,
                 (ExchangeContext){
                     .seed = 5, .epoch = want->epoch, .full_precision = want->probability >= 1});
    channel_post(channel);
    for (int g = 0; g + 1 < p->size; g++)
        channel_receive(channel, g);
    channel_finish(channel);
    assert_int_equal(memory_allocs(), takes);
    device()->finish(NULL);
    check_rows(p, channel_rows(channel), want);
    count_sent(p, want);
}

// Some rows of 2 bits, some of 8.
static void mix_widths(Channel *channel, const HaloPlan *p) {
    uint8_t *bits[FLOWS];
    for (int flow = 0; flow < FLOWS; flow++) {
        bits[flow] = test_memory((size_t)channel_flow_rows(p, flow));
        for (int64_t k = 0; k < channel_flow_rows(p, flow); k++) {
            int64_t id = flow == INCOMING ? p->halo_id[k] : p->source_id[p->send_row[k]];
            bits[flow][k] = id % 3 == 0 ? 2 : 8;
        }
    }
    channel_set_widths(channel, bits[OUTGOING], bits[INCOMING]);
}

// Sampled and exact exchanges in turn, as training and evaluation make them.
static void try_channel(uint64_t seed, const char *codec, double probability) {
    bool exact = strcmp(codec, "fp32") == 0, few = strcmp(codec, "integer") == 0;
    HaloPlan plan = ring_plan(seed, &test_comm);
    int relation = (int)(seed % 2);
    CodecOptions options = options_of(codec, probability, relation);
    Expected want = {.relation = relation};
    CLEARED(buffers_drop) ExchangeBuffers *buffers = exchange_buffers_new(device());
    OWNED(Channel) *channel =
        channel_new(buffers, &plan, &options, COLUMNS, (ExchangeId){3, (int)(seed % 2)});
    for (want.epoch = 1; want.epoch <= 6; want.epoch++) {
        bool all = want.epoch == 3;
        if (few && want.epoch == 5)
            mix_widths(channel, &plan);
        want.probability = all ? 1 : probability;
        want.tolerance = exact || all ? 0 : !few ? 0x1p-7 : want.epoch >= 5 ? 1.4 : 0.04;
        exchange(channel, &plan, &want);
    }
    ChannelCount count = channel_count(channel);
    assert_int_equal(count.rows_sent, want.sent);
    assert_int_equal(count.messages, want.messages);
    if (exact)
        assert_int_equal(count.bytes_sent, want.messages * 64 + want.sent * COLUMNS * 4);
}

TEST(both_ends_draw_the_same_rows) {
    for (uint64_t seed = 1; seed <= PLANS; seed++)
        try_channel(seed, codecs[seed % 3], probabilities[seed / 3 % 3]);
}

// The sum of some rows over 4,000 epochs: within 4 standard errors of the exact one, in all
// columns.
TEST(sums_have_the_right_mean) {
    enum { ROWS = 60, EPOCHS = 4000, VALUES = 4 };
    for (int i = 0; i < 3 && test_comm.size == 1; i++) {
        double probability = probabilities[i], exact[VALUES] = {0}, sum[VALUES] = {0},
               square[VALUES] = {0};
        CodecOptions options = options_of("fp32", probability, 0);
        for (uint32_t epoch = 0; epoch < EPOCHS; epoch++)
            for (int64_t row = 0; row < ROWS; row++) {
                ExchangeContext when = {.seed = 7, .epoch = epoch};
                if (sample_draws(&options, when, row % 3 == 0 ? -1 - row : row, 1, 2))
                    for (int c = 0; c < VALUES; c++)
                        sum[c] += (double)ring_value(row, c, 1) / probability;
            }
        for (int c = 0; c < VALUES; c++) {
            for (int64_t row = 0; row < ROWS; row++) {
                exact[c] += (double)ring_value(row, c, 1);
                square[c] += pow((double)ring_value(row, c, 1), 2);
            }
            double error = sqrt(square[c] * (1 / probability - 1) / EPOCHS);
            assert_near(sum[c] / EPOCHS, exact[c], 4 * error);
        }
    }
}
