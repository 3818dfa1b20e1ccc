// If this failed, a partial sum in a message would not be written as a row of its own is: scaled
// twice, taken from the wrong place, or rounded with the numbers of another sender's.
#include "codec_values.h"
#include "rows.h"

enum { SOURCES = 13, PARTIALS = 7, COLUMNS = 41, READER = 2, SENDER = 9 };

static const char *const codecs[] = {"fp32", "bf16", "integer"};
static const int32_t rows_sent[] = {1, 4, 9, 12};
static const int32_t sums_sent[] = {SOURCES, SOURCES + 2, SOURCES + 6};
enum { ROWS_SENT = 4, SUMS_SENT = 3, SENT = ROWS_SENT + SUMS_SENT };

typedef struct Scene {
    Rows all, x, sums; // x and sums are views of all
    float scale[SOURCES];
    int64_t gid[SOURCES + PARTIALS];
} Scene;

static void scene_init(Scene *scene) {
    scene->all = test_rows(SOURCES + PARTIALS, COLUMNS);
    for (int64_t r = 0; r < scene->all.count; r++) {
        scene->gid[r] = r < SOURCES ? 100 + r : -1 - r;
        for (int64_t c = 0; c < COLUMNS; c++)
            floats(scene->all)[r * scene->all.stride + c] = (float)((r * 37 + c * 11) % 29) / 7 - 2;
    }
    for (int r = 0; r < SOURCES; r++)
        scene->scale[r] = 0.3F + (float)r / 5;
    scene->x = rows_first(scene->all, SOURCES);
    scene->sums = rows_range(scene->all, (Range){SOURCES, SOURCES + PARTIALS});
}

// What a reader gets of the listed rows: [count, COLUMNS].
static Rows through(const Codec *codec, MessageSource source, const int32_t *row, int64_t count) {
    CLEARED(taken_free) Taken *taken = NULL;
    Widths widths;
    widths_alloc(&widths, &(Allocator){.backend = device(), .taken = &taken}, count);
    widths_fill(&widths, 4);
    MessageLayout shape = {.rows = count, .columns = COLUMNS, .values = integer_values(true)};
    shape.widths = codec->has_widths ? &widths : NULL;
    unsigned char *message = test_memory(codec->bytes(&shape));
    Rows landed = test_rows(count, COLUMNS);
    source.row = on_device(row);
    source.random = random_key(5, RANDOM_ROUNDING, 3, 1, 0);
    int64_t bad = 0;
    codec->encode(device(), on_device(message), &shape, &source, on_device(&bad), NULL);
    assert_int_equal(bad, 0);
    codec->decode(device(), landed, 0, &shape, on_device(message), NULL);
    return landed;
}

TEST(sums_travel_as_rows_of_their_own) {
    Scene scene;
    int32_t both[SENT];
    memcpy(both, rows_sent, sizeof rows_sent);
    memcpy(both + ROWS_SENT, sums_sent, sizeof sums_sent);
    scene_init(&scene);
    MessageSource mixed = {.x = scene.x,
                           .scale = on_device(scene.scale),
                           .partials = scene.sums,
                           .gid = on_device(scene.gid),
                           .peer = READER,
                           .partial_peer = SENDER};
    MessageSource as_rows = {
        .x = scene.all, .gid = on_device(scene.gid), .peer = SENDER}; // scale 1
    for (int i = 0; i < 3; i++) {
        const Codec *codec = codec_find(codecs[i], &(Error){0});
        Rows got = through(codec, mixed, both, SENT);
        Rows rows = through(codec, mixed, rows_sent, ROWS_SENT);
        Rows sums = through(codec, as_rows, sums_sent, SUMS_SENT);
        assert_memory_equal(floats(got), floats(rows), rows_bytes(ROWS_SENT, COLUMNS));
        assert_memory_equal(floats(got) + ROWS_SENT * got.stride, floats(sums),
                            rows_bytes(SUMS_SENT, COLUMNS));
    }
}

// Two senders that make sums for one target must not round them alike.
TEST(senders_round_differently) {
    Scene scene;
    scene_init(&scene);
    const Codec *codec = codec_find("integer", &(Error){0});
    MessageSource one = {
        .x = scene.x, .partials = scene.sums, .gid = on_device(scene.gid), .peer = READER};
    MessageSource other = one;
    one.partial_peer = SENDER;
    other.partial_peer = SENDER + 1;
    Rows a = through(codec, one, sums_sent, SUMS_SENT);
    Rows b = through(codec, other, sums_sent, SUMS_SENT);
    assert_memory_not_equal(floats(a), floats(b), rows_bytes(SUMS_SENT, COLUMNS));
}
