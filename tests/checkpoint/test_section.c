// ranks: 1 2 3
// If this failed, state that an object of its own registers with a trainer would be lost, mixed up
// between ranks, or believed though its file is damaged; or it would need a change of the program.
//
// The object here is a memory of each rank, of another length on each and of none on rank 1, which
// follows the weights; and a sum that all ranks hold. Both depend on all epochs before.
#include "checkpoints.h"

enum { MEMORY_MOST = 16, LAST = 6 };

typedef struct Memory {
    int64_t count;
    float row[MEMORY_MOST];
    double sum;
} Memory;

static int64_t count_of(int rank) { return rank == 1 ? 0 : 3 + 2 * rank; }

static Memory memory_new(void) { return (Memory){.count = count_of(test_comm.rank)}; }

static void memory_follow(Memory *m, const Trainer *t) {
    const float *weights = trainer_parameters(t, false);
    for (int64_t i = 0; i < m->count; i++)
        m->row[i] = 0.875f * m->row[i] + weights[i] * (float)(1 + test_comm.rank);
    m->sum = 0.75 * m->sum + (double)weights[0];
}

static bool memory_walk(void *owner, StateWalk *walk, Error *err) {
    Memory *m = owner;
    return state_replicated(walk, "sum", TENSOR_F64, 1, &m->sum, err) &&
           state_distributed(walk, "rows", TENSOR_F32, m->count, m->row, err);
}

static StateSection section_of(Memory *m) {
    return (StateSection){.name = "memory", .walk = memory_walk, .owner = m};
}

// A trainer that has the memory among its state.
static Trainer *trainer_with(Memory *m) {
    Trainer *t = new_trainer();
    *m = memory_new();
    state_register(trainer_sections(t), section_of(m));
    return t;
}

// Until epoch `last`; saves after even epochs where `saves`.
static void train_on(Trainer *t, Memory *m, int64_t last, bool saves) {
    EpochRecord record;
    while (trainer_epochs_done(t) < last) {
        assert_ok(trainer_epoch(t, &record, &err));
        memory_follow(m, t);
        if (saves && record.epoch % 2 == 0)
            assert_ok(save_training(t, run_dir, 2, &err));
    }
}

// The run of the fixture, again and with the memory, which is in its checkpoints 2 and 4.
static int make_memories(void **state) {
    Memory m;
    make_run(state);
    comm_barrier(&test_comm);
    if (test_comm.rank == 0)
        assert_ok(file_remove(run_dir, &err));
    comm_barrier(&test_comm);
    OWNED(Trainer) *t = trainer_with(&m);
    train_on(t, &m, 4, true);
    return 0;
}

#define MEMORIES_TEST(name) TEST_WITH(name, make_memories, NULL)

static void same_memory(const Memory *got, const Memory *want) {
    assert_memory_equal(got->row, want->row, sizeof want->row);
    assert_memory_equal(&got->sum, &want->sum, sizeof want->sum);
}

// Resumes after epoch `from`, and ends where the run that was never stopped does.
static void assert_goes_on(int64_t from, const char *remark) {
    Memory m, straight;
    bool found;
    Warnings warnings = {0};
    OWNED(Trainer) *t = trainer_with(&m), *never_stopped = trainer_with(&straight);
    assert_ok(resume_training(t, run_dir, &found, &warnings, &err) && found);
    assert_int_equal(trainer_epochs_done(t), from);
    if (test_comm.rank == 0)
        assert_non_null(strstr(warnings.text, remark));
    train_on(never_stopped, &straight, from, false);
    same_memory(&m, &straight);
    train_on(t, &m, LAST, false);
    train_on(never_stopped, &straight, LAST, false);
    same_memory(&m, &straight);
    assert_memory_equal(trainer_parameters(t, false), trainer_parameters(never_stopped, false),
                        (size_t)t->shape.parameter_count * sizeof(float));
}

MEMORIES_TEST(it_goes_on_bit_for_bit) { assert_goes_on(4, ""); }

static void damage(const char *name) {
    comm_barrier(&test_comm);
    if (test_comm.rank == 0) {
        FILE *file = fopen(in_run(name), "r+b");
        assert_non_null(file);
        assert_int_equal(fseek(file, -1, SEEK_END), 0);
        int last = fgetc(file);
        assert_int_equal(fseek(file, -1, SEEK_END), 0);
        fputc(last ^ 1, file);
        assert_int_equal(fclose(file), 0);
    }
    comm_barrier(&test_comm);
}

MEMORIES_TEST(a_damaged_one_gives_way_to_the_one_before) {
    damage("epoch-4/memory.safetensors");
    assert_goes_on(2, "epoch-4/memory.safetensors: its hash");
}

// In the order of ranks, whatever each of them has.
MEMORIES_TEST(its_file_holds_the_rows_of_all_ranks) {
    Memory m;
    CLEARED(tensors_close) Tensors file = {0};
    Trainer *t = trainer_with(&m);
    train_on(t, &m, 4, false);
    float all[3 * MEMORY_MOST];
    comm_all_gather(&test_comm, m.row, all, sizeof m.row);
    trainer_free(t);
    if (test_comm.rank != 0)
        return;
    assert_ok(tensors_open(&file, in_run("epoch-4/memory.safetensors"), &err));
    const Tensor *rows = tensors_find(&file, "rows");
    const float *row = rows->data;
    for (int r = 0; r < test_comm.size; row += count_of(r++))
        assert_memory_equal(row, all + r * MEMORY_MOST, (size_t)count_of(r) * sizeof *row);
    assert_int_equal(row - (const float *)rows->data, rows->shape[0]);
}

static void refused_to(Trainer *t, const char *dir, ExitCode code, const char *part) {
    assert_refused(resume(t, dir, &err), code, part);
    trainer_free(t);
}

MEMORIES_TEST(who_has_no_such_section_is_refused) {
    refused_to(new_trainer(), run_dir, EXIT_CONFIG,
               "holds memory.safetensors, which a newer version of fringe wrote");
}

MEMORIES_TEST(who_has_one_more_is_refused) {
    Memory m;
    const char *dir = test_path("without");
    Trainer *t = new_trainer();
    assert_ok(save_training(t, dir, 2, &err));
    trainer_free(t);
    refused_to(trainer_with(&m), dir, EXIT_DATA, "'files' does not list memory.safetensors");
}

MEMORIES_TEST(one_of_another_size_is_refused) {
    Memory m;
    Trainer *t = trainer_with(&m);
    m.count += test_comm.rank == test_comm.size - 1;
    refused_to(t, run_dir, EXIT_DATA, "cannot resume: ");
}

MEMORIES_TEST(its_weights_are_there_for_everybody) {
    char path[1024];
    assert_ok(checkpoint_weights_path(run_dir, true, path, sizeof path, &err));
    assert_string_equal(path, in_run("epoch-4/best.safetensors"));
}
