// ranks: 1 2 3
// If this failed, the two ends of a channel would not remember the same of a row, or what they
// remember would not outlive new widths and a resume, or evaluation would change it.
#include "../stale.h"
#include "flights.h"

// ---- a memory: what travels is the difference to what the reader has

static size_t difference_bytes(int64_t rows, int64_t columns, ResidualEnd end) {
    (void)end;
    return rows_bytes(rows, columns);
}

static void subtract_memory(const Backend *backend, DeviceByte *memory, Rows rows,
                            ResidualStep step, const Poll *poll) {
    const float *known = (const float *)memory;
    (void)backend, (void)step, (void)poll;
    for (int64_t k = 0; k < rows.count * rows.stride; k++)
        floats(rows)[k] -= known[k];
}

static void add_to_memory(const Backend *backend, DeviceByte *memory, Rows rows, ResidualStep step,
                          const Poll *poll) {
    float *known = (float *)memory;
    (void)backend, (void)step, (void)poll;
    for (int64_t k = 0; k < rows.count * rows.stride; k++)
        floats(rows)[k] = known[k] += floats(rows)[k];
}

static const Residual difference = {.name = "difference",
                                    .bytes = difference_bytes,
                                    .before_encode = subtract_memory,
                                    .after_encode = add_to_memory,
                                    .after_decode = add_to_memory};

// ---- what both ends hold

static uint64_t hash_of_group(const Channel *channel, int side, int group) {
    const MessageBox *box = &channel->box[side];
    const BoxResidual *of = &box->residual[1];
    return hash_bytes((const unsigned char *)of->memory + of->place[group],
                      rows_bytes(box_rows(box, group), box->columns));
}

// Every pair's hash as its sender has it, minus the reader's.
static void assert_both_ends_agree(const Flight *f) {
    int64_t apart[16];
    int size = test_comm.size, rank = test_comm.rank;
    for (int i = 0; i < CHANNELS; i++) {
        const Channel *channel = channel_of(f, i);
        memset(apart, 0, sizeof apart);
        for (int g = 0; g + 1 < size; g++) {
            int64_t sent = (int64_t)(hash_of_group(channel, OUTGOING, g) >> 2);
            int64_t received = (int64_t)(hash_of_group(channel, INCOMING, g) >> 2);
            apart[rank * size + ring_reader(rank, g, size)] += sent;
            apart[ring_sender(rank, g, size) * size + rank] -= received;
        }
        comm_sum_int64(&test_comm, apart, size * size);
        for (int k = 0; k < size * size; k++)
            assert_int_equal(apart[k], 0);
    }
}

// Of all memories of this rank.
static uint64_t hash_of_all(const Flight *f) {
    uint64_t hash = 0;
    for (int i = 0; i < CHANNELS; i++)
        for (int side = 0; side < SIDES; side++)
            for (int g = 0; g + 1 < test_comm.size; g++)
                hash = 31 * hash + hash_of_group(channel_of(f, i), side, g);
    return hash;
}

// ---- the tests

static void fp32_differences_give_the_same_rows(void **state) {
    (void)state;
    Ground ground;
    Flight coded, plain;
    ground_init(&ground);
    flight_init(&coded, &ground, "fp32", "overlap", &difference);
    flight_init(&plain, &ground, "fp32", "overlap", NULL);
    uint64_t before = hash_of_all(&coded);
    for (int epoch = 0; epoch < 6; epoch++) {
        fly(&coded);
        fly(&plain);
        assert_near(coded.loss, plain.loss, 1e-5 * plain.loss);
        assert_near(gradient_distance(&coded, &plain), 0, 1e-5);
        assert_both_ends_agree(&coded);
    }
    assert_true(everywhere(test_comm.size == 1 || hash_of_all(&coded) != before));
    flight_clear(&plain);
    flight_clear(&coded);
    ground_clear(&ground);
}

// The rows stay the same, so that their differences vanish and with them what rounding adds.
static void few_bits_become_exact(void **state) {
    (void)state;
    Ground ground;
    Flight coded, direct, exact;
    ground_init(&ground);
    flight_init(&coded, &ground, "integer", "overlap", &difference);
    flight_init(&direct, &ground, "integer", "overlap", NULL);
    flight_init(&exact, &ground, "fp32", "overlap", NULL);
    set_all_widths(&coded, 2);
    set_all_widths(&direct, 2);
    for (int epoch = 0; epoch < 60; epoch++) {
        fly(&coded);
        fly(&direct);
        fly(&exact);
    }
    assert_both_ends_agree(&coded);
    assert_near(gradient_distance(&coded, &exact), 0, 1e-4);
    assert_true(test_comm.size == 1 || gradient_distance(&direct, &exact) > 1e-2);
    flight_clear(&exact);
    flight_clear(&direct);
    flight_clear(&coded);
    ground_clear(&ground);
}

static void new_widths_leave_memories_alone(void **state) {
    (void)state;
    Ground ground;
    Flight coded;
    ground_init(&ground);
    flight_init(&coded, &ground, "integer", "blocking", &difference);
    for (int bits = 2; bits <= 8; bits += 2) {
        fly(&coded);
        uint64_t before = hash_of_all(&coded);
        set_all_widths(&coded, bits);
        assert_true(hash_of_all(&coded) == before);
        assert_both_ends_agree(&coded);
    }
    flight_clear(&coded);
    ground_clear(&ground);
}

static void evaluation_leaves_memories_alone(void **state) {
    (void)state;
    Ground ground;
    Flight coded, exact;
    ground_init(&ground);
    flight_init(&coded, &ground, "fp32", "overlap", &difference);
    flight_init(&exact, &ground, "fp32", "overlap", NULL);
    assert_ptr_equal(coded.model->layer[1].infer.channel, channel_of(&coded, 1));
    size_t bytes = (size_t)logit_count(&coded) * sizeof(float);
    float *want = memory_alloc(bytes, "test"), *got = memory_alloc(bytes, "test");
    for (int epoch = 0; epoch < 3; epoch++) {
        fly(&coded);
        uint64_t before = hash_of_all(&coded);
        device()->download_rows(want, model_infer(exact.model, on_device(ground.parameters[0])));
        device()->download_rows(got, model_infer(coded.model, on_device(ground.parameters[0])));
        assert_true(hash_of_all(&coded) == before);
        assert_memory_equal(got, want, bytes);
    }
    memory_free(got);
    memory_free(want);
    flight_clear(&exact);
    flight_clear(&coded);
    ground_clear(&ground);
}

// One that was stopped after three epochs, and goes on in another model.
static void memories_outlive_a_resume(void **state) {
    (void)state;
    static const char *const names[] = {"overlap", "stale"};
    Ground ground;
    ground_init(&ground);
    for (int i = 0; i < 2; i++) {
        Error err = {0};
        Flight whole, before, after;
        char path[512];
        flight_init(&whole, &ground, "integer", names[i], &difference);
        flight_init(&before, &ground, "integer", names[i], &difference);
        flight_init(&after, &ground, "integer", names[i], &difference);
        snprintf(path, sizeof path, "%s", test_path("exchanges.safetensors"));
        for (int epoch = 0; epoch < 3; epoch++) {
            fly(&whole);
            fly(&before);
        }
        StateSection saved = model_exchanges(before.model), restored = model_exchanges(after.model);
        assert_string_equal(saved.name, "exchanges");
        assert_ok(state_write(&saved, &test_comm, path, &err), &err);
        comm_barrier(&test_comm);
        assert_ok(state_read(&restored, &test_comm, path, &err), &err);
        after.epoch = 3;
        assert_true(hash_of_all(&after) == hash_of_all(&before));
        for (int epoch = 0; epoch < 3; epoch++) {
            fly(&whole);
            fly(&after);
            assert_true(same_gradient(&whole, &after) && same_logits(&whole, &after));
        }
        flight_clear(&after);
        flight_clear(&before);
        flight_clear(&whole);
    }
    ground_clear(&ground);
}

static void nothing_is_kept_where_nothing_is_remembered(void **state) {
    (void)state;
    Error err = {0};
    Ground ground;
    Flight none;
    ground_init(&ground);
    assert_ptr_equal(family_find(&residual_family, "none", NULL, &err), &residual_none);
    flight_init(&none, &ground, "fp32", "overlap", &residual_none);
    fly(&none);
    assert_null(model_exchanges(none.model).name);
    flight_clear(&none);
    ground_clear(&ground);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(fp32_differences_give_the_same_rows),
    cmocka_unit_test(few_bits_become_exact),
    cmocka_unit_test(new_widths_leave_memories_alone),
    cmocka_unit_test(evaluation_leaves_memories_alone),
    cmocka_unit_test(memories_outlive_a_resume),
    cmocka_unit_test(nothing_is_kept_where_nothing_is_remembered),
};
TEST_MAIN(tests)
