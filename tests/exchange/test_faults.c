// ranks: 2 3
// If this failed, a rank that computes for longer than the timeout would be taken for a hung one.
//
// With a word (and a codec) as its arguments the program gets into that trouble instead:
// test_faults.sh runs it and looks at what the job says and how it ends.

#include "exchange/channel.h"
#include "synthetic_halo.h"

#include <signal.h>
#include <time.h>

enum { COLUMNS = 48, LAYER = 2, EPOCH = 7, GUILTY = 1 };
enum { SEED = 3 }; // of a ring in which rank 1 sends to all others on 2, 3 and 4 ranks

typedef struct Scene {
    HaloPlan plan;
    ExchangeBuffers *buffers;
    Channel *channel;
    Rows x;
    RowSource rows;
} Scene;

static void scene_init(Scene *scene, const char *codec, bool skips) {
    scene->plan = ring_plan(SEED, &test_comm);
    CodecOptions options = {
        .codec = codec_find(codec, &(Error){0}), .width = 2, .chunk = 4096, .skips = skips};
    scene->buffers = exchange_buffers_new(device());
    scene->channel =
        channel_new(scene->buffers, &scene->plan, &options, COLUMNS, (ExchangeId){LAYER, BACKWARD});
    scene->x = ring_fill(&scene->plan, COLUMNS, EPOCH);
    scene->rows = ring_sent(&scene->plan, scene->x, NULL);
}

static void scene_clear(Scene *scene) {
    channel_free(scene->channel);
    exchange_buffers_free(scene->buffers);
}

static void exchange(Scene *scene) {
    channel_post(scene->channel);
    for (int g = 0; g + 1 < test_comm.size; g++)
        channel_receive(scene->channel, g);
    channel_finish(scene->channel);
}

// --- kinds of trouble that one rank can make

static Transfer *first_message(Scene *scene) {
    Transfer *transfer = &scene->channel->ring.transfer[0][OUTGOING];
    CHECK(transfer->bytes > 0, EXIT_BUG, "the guilty rank has no message");
    return transfer;
}

static void flip_a_byte(Scene *scene) {
    Transfer *transfer = first_message(scene);
    transfer->payload[transfer->bytes / 2] ^= 16;
}

static void be_an_epoch_behind(Scene *scene) {
    Transfer *transfer = first_message(scene);
    transfer->header.epoch--;
    message_seal(&transfer->header);
}

static void repeat_the_last(Scene *scene) {
    Transfer *transfer = first_message(scene);
    transfer->header.sequence--;
    message_seal(&transfer->header);
}

static void leave_half_away(Scene *scene) {
    Transfer *transfer = first_message(scene);
    transfer->bytes /= 2;
    transfer->header.bytes = (uint64_t)transfer->bytes;
    transfer->header.payload =
        message_payload_checksum(transfer->payload, (size_t)transfer->bytes, NULL);
    message_seal(&transfer->header);
}

static void be_longer(Scene *scene) {
    Transfer *transfer = first_message(scene);
    transfer->header.bytes += 64;
    message_seal(&transfer->header);
}

static void leave_all_away(Scene *scene) {
    Transfer *transfer = first_message(scene);
    transfer->varies = true;
    transfer->header.bytes = 0;
    transfer->bytes = 0;
    message_seal(&transfer->header);
}

static void leave_all_away_an_epoch_behind(Scene *scene) {
    be_an_epoch_behind(scene);
    leave_all_away(scene);
}

// As if what is packed now had been packed in the first place.
static void pack_again(Scene *scene) {
    scene->channel->state = CHANNEL_IDLE;
    scene->channel->sequence--;
    channel_pack(scene->channel, &scene->rows, (ExchangeContext){.epoch = EPOCH});
}

// Its widths are not those that the reader was told.
static void take_other_widths(Scene *scene) {
    Channel *channel = scene->channel;
    int64_t rows = scene->plan.send_offset[test_comm.size - 1];
    uint8_t *bits = TEST_ARRAY(uint8_t, rows);
    memset(bits, 4, (size_t)rows);
    channel->state = CHANNEL_IDLE;
    channel_set_widths(channel, bits, channel_widths(channel, false));
    pack_again(scene);
}

// Puts a value into the first row, or partial aggregate, that is sent, and says whose it is.
static void poison(Scene *scene, bool sum, float value) {
    const HaloPlan *p = &scene->plan;
    int64_t k = 0, sent = p->send_offset[test_comm.size - 1];
    while (k < sent && (p->source_id[p->send_row[k]] < 0) != sum)
        k++;
    CHECK(k < sent, EXIT_BUG, "the guilty rank has no such row");
    int64_t row = p->send_row[k], id = p->source_id[row];
    floats(scene->x)[row * scene->x.stride + COLUMNS / 2] = value;
    fprintf(stderr, "poisoned %lld\n", (long long)(sum ? -1 - id : id));
    pack_again(scene);
}

static void have_a_nan(Scene *scene) { poison(scene, false, NAN); }

static void have_an_infinite_sum(Scene *scene) { poison(scene, true, -INFINITY); }

static void stop(Scene *scene) {
    (void)scene;
    raise(SIGSTOP);
}

// Says when, so that the script knows how long the others lived on.
static void die(Scene *scene) {
    (void)scene;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    fprintf(stderr, "died at %lld.%09ld\n", (long long)now.tv_sec, now.tv_nsec);
    raise(SIGKILL);
}

static int get_into(const char *what, const char *codec, bool skips) {
    static const struct {
        const char *name;
        void (*make)(Scene *scene);
    } troubles[] = {{"flip", flip_a_byte},
                    {"behind", be_an_epoch_behind},
                    {"repeat", repeat_the_last},
                    {"half", leave_half_away},
                    {"longer", be_longer},
                    {"empty", leave_all_away},
                    {"empty-behind", leave_all_away_an_epoch_behind},
                    {"widths", take_other_widths},
                    {"nan", have_a_nan},
                    {"sum", have_an_infinite_sum},
                    {"stop", stop},
                    {"die", die}};
    comm_set_timeout(&test_comm, 2.0);
    Scene scene;
    scene_init(&scene, codec, skips);
    channel_pack(scene.channel, &scene.rows, (ExchangeContext){.epoch = EPOCH});
    for (size_t i = 0; i < sizeof troubles / sizeof troubles[0]; i++)
        if (strcmp(troubles[i].name, what) == 0 && test_comm.rank == GUILTY)
            troubles[i].make(&scene);
    exchange(&scene);
    scene_clear(&scene);
    comm_stop(&test_comm);
    return 0;
}

// --- no trouble

TEST(a_busy_rank_is_not_a_hung_one) {
    CLEARED(scene_clear) Scene scene = {0};
    scene_init(&scene, "fp32", false);
    comm_set_timeout(&test_comm, 0.5);
    channel_pack(scene.channel, &scene.rows, (ExchangeContext){.epoch = EPOCH});
    if (test_comm.rank == GUILTY)
        for (double end = clock_seconds() + 2.0; clock_seconds() < end; usleep(1000))
            channel_progress(scene.channel);
    exchange(&scene);
    comm_set_timeout(&test_comm, 30.0);
}

int main(int argc, char **argv) {
    if (argc < 2)
        return test_main(&argc, &argv);
    comm_start(&test_comm, &argc, &argv);
    return get_into(argv[1], argc > 2 ? argv[2] : "fp32", argc > 3);
}
