// ranks: 1 3 8
// If this failed, an assigner would not go on from its file as it was, or take a damaged one.
#include "cells.h"

static bool write_state(Assigner *a, const char *path, Error *err) {
    StateSection section = assigner_section(a);
    state_write(&section, &test_comm, path, err);
    return comm_agree(&test_comm, err);
}

static bool read_state(Assigner *a, const char *path, Error *err) {
    StateSection section = assigner_section(a);
    return state_read(&section, &test_comm, path, err);
}

static void same_bytes(const void *a, const void *b, int64_t count, size_t size) {
    if (count > 0)
        assert_memory_equal(a, b, (size_t)count * size);
}

static void same_state(const Assigner *a, const Assigner *b) {
    assert_int_equal(a->pending, b->pending);
    assert_int_equal(a->requested, b->requested);
    assert_int_equal(a->applied, b->applied);
    for (int i = 0; i < CHANNELS; i++) {
        const ChannelAssignment *x = &a->assigned[i], *y = &b->assigned[i];
        RangeStatistics *s = channel_ranges(x->of.channel), *t = channel_ranges(y->of.channel);
        same_bytes(channel_widths(x->of.channel, true), channel_widths(y->of.channel, true),
                   x->rows, 1);
        same_bytes(channel_widths(x->of.channel, false), channel_widths(y->of.channel, false),
                   x->plan->halo_count, 1);
        same_bytes(x->next, y->next, x->rows, 1);
        same_bytes(s->square, t->square, x->rows, sizeof *s->square);
        assert_int_equal(s->exchanges, t->exchanges);
    }
}

// What was found of widths that are to be taken. Rank 0 knows it.
static void same_report(const Assigner *a, const Assigner *b) {
    const Assignment *x = &a->assignment, *y = &b->assignment;
    if (test_comm.rank != 0)
        return;
    assert_string_equal(x->warning, y->warning);
    for (int k = 0; k < 3; k++) {
        assert_true(x->byte_seconds[k] == y->byte_seconds[k]);
        assert_true(x->message_seconds[k] == y->message_seconds[k]);
    }
    for (int i = 0; i < CHANNELS; i++) {
        const AssignmentPart *p = &x->part[i], *q = &y->part[i];
        assert_string_equal(p->by, q->by);
        assert_true(a->requested == 0 ||
                    (p->id.layer == q->id.layer && p->id.direction == q->id.direction));
        assert_true(p->objective == q->objective && p->bound == q->bound &&
                    p->lp_bound == q->lp_bound);
        assert_true(p->predicted == q->predicted && p->hidden == q->hidden);
        assert_true(a->assigned[i].hidden == b->assigned[i].hidden);
    }
    assert_true(a->pending != WIDTHS_DECIDED || x->part[0].by[0] != 0);
    assert_true(a->pending != WIDTHS_DECIDED || test_comm.size == 1 || x->part[0].lp_bound > 0);
}

TEST(state_comes_back) {
    static const uint32_t stops[] = {2, PERIOD + 1, PERIOD + 1 + DELAY, 2 * PERIOD};
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        CLEARED(fixture_clear) AssignerFixture fixture = {0}, other = {0};
        Config config = config_of();
        const Scene *scene = &scenes[i % SCENES];
        const char *path = test_path("messages.safetensors");
        fixture_init(&fixture, scene, 8);
        fixture_init(&other, scene, 8);
        Assigner *a = assigner_of(&fixture, &config), *b = assigner_of(&other, &config);
        epochs_of(&fixture, a, 1, stops[i]);
        assert_ok(write_state(a, path, &err));
        assert_ok(read_state(b, path, &err));
        same_state(a, b);
        same_report(a, b);
        assert_true(a->pending == (stops[i] == PERIOD + 1 ? WIDTHS_DECIDED : NOTHING_PENDING));
        for (uint32_t epoch = stops[i] + 1; epoch <= 2 * PERIOD + 1 + DELAY; epoch++) {
            bool first = epoch_of(&fixture, a, epoch) != NULL;
            assert_int_equal(first, epoch_of(&other, b, epoch) != NULL);
            for (int c = 0; c < CHANNELS; c++)
                assert_true(a->pending == SOLUTION_PENDING || a->assigned[c].rows == 0 ||
                            memcmp(a->assigned[c].next, b->assigned[c].next,
                                   (size_t)a->assigned[c].rows) == 0);
        }
        same_state(a, b);
        assigner_free(b);
        assigner_free(a);
    }
}

// The part of a file up to `bytes`, with the byte at `at` set, if `at` is in it.
static void spoil(const char *path, const char *from, int64_t bytes, int64_t at, int value) {
    if (test_comm.rank != 0)
        return;
    static unsigned char content[1 << 20];
    FILE *file = fopen(from, "rb");
    assert_non_null(file);
    int64_t size = (int64_t)fread(content, 1, sizeof content, file);
    fclose(file);
    if (at >= 0 && at < size)
        content[at] = (unsigned char)value;
    test_write(path, content, (size_t)(bytes < 0 || bytes > size ? size : bytes));
}

static int64_t file_bytes(const char *path) {
    int64_t bytes = 0;
    if (test_comm.rank == 0) {
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        fseek(file, 0, SEEK_END);
        bytes = ftell(file);
        fclose(file);
    }
    comm_broadcast(&test_comm, &bytes, sizeof bytes, 0);
    return bytes;
}

// Where a tensor's data begins in a file; -1: it has none.
static int64_t place_of(const char *path, const char *name) {
    int64_t at = -1;
    Tensors file;
    if (test_comm.rank == 0) {
        assert_ok(tensors_open(&file, path, &err));
        const Tensor *tensor = tensors_find(&file, name);
        if (tensor != NULL && tensor_bytes(tensor) > 0)
            at = (const char *)tensor->data - (const char *)file.mapping;
        tensors_close(&file);
    }
    comm_broadcast(&test_comm, &at, sizeof at, 0);
    return at;
}

static void refused(Assigner *a, const char *path, ExitCode code, const char *part) {
    Error err = {0};
    assert_false(read_state(a, path, &err));
    assert_error(&err, code, part);
    assert_null(strchr(err.text, '\n')); // one sentence
}

TEST(damaged_and_foreign_files_are_refused) {
    CLEARED(fixture_clear) AssignerFixture fixture = {0}, other = {0};
    Config config = config_of();
    const char *path = test_path("whole.safetensors"), *bad = test_path("bad.safetensors");
    fixture_init(&fixture, &scenes[0], 8);
    fixture_init(&other, &scenes[3], 8); // another graph
    Assigner *a = assigner_of(&fixture, &config), *b = assigner_of(&other, &config);
    epochs_of(&fixture, a, 1, PERIOD + 1);
    assert_ok(write_state(a, path, &err));
    int64_t bytes = file_bytes(path);
    for (int64_t cut = 0; cut < bytes; cut += 1 + bytes / 13) {
        spoil(bad, path, cut, -1, 0);
        refused(a, bad, EXIT_DATA, "bad.safetensors");
    }
    if (test_comm.size > 1)
        refused(b, path, EXIT_DATA, "layer0.forward");
    refused(a, test_path("nothing"), EXIT_NO_INPUT, "nothing");
    static const char *const names[] = {"layer0.forward.widths", "layer1.backward.next"};
    static const int widths[] = {0, 9, 15, 17, 255};
    for (int i = 0; i < 10; i++) {
        int64_t at = place_of(path, names[i % 2]);
        if (at < 0)
            continue; // one rank sends nothing
        spoil(bad, path, -1, at, widths[i / 2]);
        refused(a, bad, EXIT_DATA, names[i % 2]);
    }
    spoil(bad, path, -1, place_of(path, "counters") + 8, 77); // no state that is known
    refused(a, bad, EXIT_DATA, "counters");
    assert_ok(read_state(a, path, &err)); // which sets all that the refused left
    epochs_of(&fixture, a, PERIOD + 2, PERIOD + 1 + DELAY);
    normalizers_agree(&fixture, &config.quantization.bits);
    assigner_free(b);
    assigner_free(a);
}
