// ranks: 1 2 3
// If this failed, a schedule could not bring keys of its own, or what it remembers of rows would be
// forgotten at one end, in a resume, or read with other options than the config's.
#include "exchange/channel.h"
#include "synthetic_halo.h"

enum { COLUMNS = 5, EPOCHS = 6 };

// ---- a schedule whose reader smooths rows: memory = keep memory + (1 - keep) rows

typedef struct Options {
    double keep;
} Options;
static const Key smooth_keys[] = {
    {"comm.keep", KEY_DOUBLE, offsetof(Options, keep), "0.5", "[0, 1)", NULL, NULL, "How much."},
};
static const Schedule schedule_smooth;

static bool configure(const Config *config, MemberValues *values, Error *err) {
    Options options;
    (void)err;
    config_values(config, &schedule_smooth.keys, &options);
    memcpy(values->values, &options, sizeof options);
    return true;
}

static size_t bytes(int64_t rows, int64_t columns, ResidualEnd end) {
    return end == RESIDUAL_READER ? rows_bytes(rows, columns) : 0;
}

static void smooth(const Backend *backend, DeviceByte *memory, Rows rows, ResidualStep step,
                   const Poll *poll) {
    Options options;
    float *known = (float *)memory;
    (void)backend, (void)poll;
    memcpy(&options, step.values->values, sizeof options);
    float keep = step.exchange == 1 ? 0 : (float)options.keep;
    for (int64_t k = 0; k < rows.count * rows.stride; k++)
        floats(rows)[k] = known[k] = keep * known[k] + (1 - keep) * floats(rows)[k];
}

static const Residual smoothing = {.name = "smoothing", .bytes = bytes, .after_decode = smooth};

// Only on the way forward.
static const Residual *remembers(const MemberValues *values, int direction) {
    (void)values;
    return direction == FORWARD ? &smoothing : NULL;
}

static double kept_by_run; // what `run` was told

static void run(Channel *channel, const RowSource *rows, ExchangeContext context,
                const ExchangeWork *work) {
    Options options;
    memcpy(&options, channel_schedule_values(channel)->values, sizeof options);
    kept_by_run = options.keep;
    schedule_blocking.run(channel, rows, context, work);
}

static const Schedule schedule_smooth = {.name = "smooth",
                                         .run = run,
                                         .keys = {smooth_keys, 1, sizeof(Options)},
                                         .configure = configure,
                                         .remembers = remembers,
                                         .changes_result = true};
static const Schedule *const schedules[] = {&schedule_blocking, &schedule_smooth};
const Family schedule_family = FAMILY_WITH_KEYS("comm.schedule", schedules, Schedule);

// ---- exchanges by it

typedef struct Smooth {
    HaloPlan plan;
    ExchangeBuffers *buffers;
    CodecOptions options;
    Channel *channel;
    float *got; // [halo_count, COLUMNS] of the last exchange
} Smooth;

static void own(void *context, OwnPart part, const Poll *poll) {
    (void)context, (void)part, (void)poll;
}

static void halo(void *context, Rows received, int begin, int end, bool last, const Poll *poll) {
    Smooth *s = context;
    (void)begin, (void)end, (void)poll;
    if (last)
        device()->download_rows(s->got, received);
}

static void smooth_init(Smooth *s, const char *setting) {
    Config config;
    config_learn_keys((const Family *const[]){&schedule_family}, 1);
    const char *name = test_text("smooth-%d.json", test_comm.rank);
    test_write_text(test_path(name), "{}");
    assert_ok(config_load(&config, test_path(name), &setting, 1, &err));
    *s = (Smooth){.plan = ring_plan(11, &test_comm),
                  .buffers = exchange_buffers_new(device()),
                  .options = {.codec = assert_ok(codec_find("fp32", &err)), .chunk = 4096}};
    const Schedule *schedule = assert_ok(schedule_find("smooth", &err));
    assert_ok(schedule_configure(schedule, &config, &s->options, &err));
    assert_null(schedule_options(schedule, &s->options, BACKWARD).residual[SCHEDULE_MEMORY].of);
    s->options = schedule_options(schedule, &s->options, FORWARD);
    s->channel = channel_new(s->buffers, &s->plan, &s->options, COLUMNS, (ExchangeId){0, 0});
    s->got = TEST_ARRAY(float, s->plan.halo_count *COLUMNS);
    config_learn_keys(NULL, 0);
}

static void smooth_clear(Smooth *s) {
    channel_free(s->channel);
    exchange_buffers_free(s->buffers);
}

static void exchange(Smooth *s, uint32_t epoch, bool full_precision) {
    Rows x = ring_fill(&s->plan, COLUMNS, epoch);
    RowSource rows = ring_sent(&s->plan, x, NULL);
    schedule_smooth.run(s->channel, &rows,
                        (ExchangeContext){.epoch = epoch, .full_precision = full_precision},
                        &(ExchangeWork){own, halo, s});
}

// [halo_count, COLUMNS] what the reader holds after so many exchanges.
static void assert_smoothed(const Smooth *s, uint32_t epochs, float keep) {
    for (int64_t h = 0; h < s->plan.halo_count; h++)
        for (int64_t c = 0; c < COLUMNS; c++) {
            float want = ring_value(s->plan.halo_id[h], c, 1);
            for (uint32_t e = 2; e <= epochs; e++)
                want = keep * want + (1 - keep) * ring_value(s->plan.halo_id[h], c, e);
            assert_memory_equal(&s->got[h * COLUMNS + c], &want, sizeof want);
        }
}

// ---- the tests

TEST(its_keys_reach_its_hooks) {
    CLEARED(smooth_clear) Smooth s = {0};
    smooth_init(&s, "comm.keep=0.25");
    for (uint32_t e = 1; e <= EPOCHS; e++)
        exchange(&s, e, false);
    assert_smoothed(&s, EPOCHS, 0.25F);
    assert_true(kept_by_run == 0.25);
}

// The rows of an exchange that is not coded are not smoothed, and the next one goes on as before.
TEST(evaluation_leaves_it_alone) {
    CLEARED(smooth_clear) Smooth s = {0};
    smooth_init(&s, "comm.keep=0.5");
    exchange(&s, 1, false);
    exchange(&s, 77, true);
    for (int64_t h = 0; h < s.plan.halo_count; h++)
        assert_true(s.got[h * COLUMNS] == ring_value(s.plan.halo_id[h], 0, 77));
    exchange(&s, 2, false);
    assert_smoothed(&s, 2, 0.5F);
}

static bool walk_state(void *owner, StateWalk *walk, Error *err) {
    return channel_state(owner, false, walk, err);
}

TEST(it_outlives_a_resume) {
    CLEARED(smooth_clear) Smooth before = {0}, after = {0};
    smooth_init(&before, "comm.keep=0.75");
    smooth_init(&after, "comm.keep=0.75");
    for (uint32_t e = 1; e <= 3; e++)
        exchange(&before, e, false);
    StateSection saved = {"smooth", walk_state, before.channel}, restored = saved;
    restored.owner = after.channel;
    const char *path = test_path("smooth.safetensors");
    assert_ok(state_write(&saved, &test_comm, path, &err));
    comm_barrier(&test_comm);
    assert_ok(state_read(&restored, &test_comm, path, &err));
    for (uint32_t e = 4; e <= EPOCHS; e++)
        exchange(&after, e, false);
    assert_smoothed(&after, EPOCHS, 0.75F);
}
