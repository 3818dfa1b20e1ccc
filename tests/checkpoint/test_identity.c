// ranks: 1 2
// If this failed, a run could be resumed with another model, other data or another seed than it was
// trained with, or the refusal would not say what is different; or a resume would need the file of
// first weights, which may be gone.
#include "checkpoints.h"

static void assert_refuses(const char *part) {
    assert_refused(resumed(&(Warnings){0}, &err) != -2, EXIT_CONFIG, part,
                   "epoch-4 belongs to another training: ", "start again without --resume");
}

static void assert_resumes(void) { assert_ok(resumed(&(Warnings){0}, &err) == 4); }

static void set(const char *const *settings, int count) {
    const char *all[16] = {"model.layers=2", "model.hidden=[8]", "run.threads=1",
                           "train.eval_every=2"};
    for (int i = 0; i < count; i++)
        all[4 + i] = settings[i];
    assert_ok(config_load(&config, NULL, all, 4 + count, &err));
}

RUN_TEST(a_refusal_names_every_key_that_differs) {
    set(SETTINGS("train.lr=0.02", "model.dropout=0.25", "train.optimizer=sgd",
                 "train.weight_decay=[0.5, 0]", "comm.sample=0.5"));
    assert_refuses("model.dropout was 0.5, is 0.25; train.optimizer was \"adam\", is \"sgd\"; "
                   "train.lr was 0.01, is 0.02; train.weight_decay was [0], is [0.5, 0]; "
                   "comm.sample was 1, is 0.5; "
                   "to continue");
}

RUN_TEST(many_differences_are_counted) {
    set(SETTINGS("train.lr=0.02", "train.eps=1e-7", "train.clip_norm=1", "train.momentum=0.5",
                 "train.warmup=9", "train.patience=9", "train.lr_step_size=9",
                 "train.metric=macro-f1", "quantization.group_size=9", "quantization.delay=9",
                 "quantization.before=conv"));
    assert_refuses("train.patience was 0, is 9; ");
    assert_refuses("; and 3 more; ");
}

// Where it runs, where its files lie, and how long it goes on.
RUN_TEST(what_changes_no_number_may_change) {
    set(SETTINGS("mode=vanilla", "lossless.input_features=auto", "lossless.order=auto",
                 "lossless.receptive_field=auto", "lossless.cover=min", "comm.timeout=99",
                 "data.path=elsewhere", "run.log_every=3", "run.dir=elsewhere", "train.epochs=300",
                 "comm.schedule=blocking"));
    assert_resumes();
}

RUN_TEST(the_end_counts_where_the_rate_looks_at_it) {
    const char *first[] = {"train.lr_schedule=cosine"},
               *longer[] = {"train.lr_schedule=cosine", "train.epochs=300"};
    set(longer, 2);
    assert_refuses(": train.lr_schedule was \"constant\", is \"cosine\"; to continue");
    set(first, 1);
    Trainer *t = new_trainer();
    snprintf(run_dir, sizeof run_dir, "%s", test_path("cosine"));
    assert_ok(save_training(t, run_dir, 2, &err));
    trainer_free(t);
    assert_int_equal(resumed(&(Warnings){0}, &(Error){0}), 0);
    set(longer, 2);
    assert_refused(resumed(&(Warnings){0}, &err) != -2, EXIT_CONFIG,
                   ": train.epochs was 200, is 300; to continue");
}

RUN_TEST(another_seed_is_named) {
    bool found;
    OWNED(Trainer) *t = assert_ok(trainer_new(&config, &graph.shard, &test_comm, 7, NULL, &err));
    Training training = training_of(t);
    training.seed = 7;
    assert_refused(checkpoint_restore(&training, run_dir, &found, &(Warnings){0}, &err),
                   EXIT_CONFIG, ": its seed was 3 and is now 7; to continue");
}

// The trainer is there already: it looks at its shard again when it resumes.
static void assert_shard_refused(Trainer *t, const char *part) {
    assert_refused(resume(t, run_dir, &err), EXIT_CONFIG, part);
}

RUN_TEST(other_data_and_another_cut_are_named) {
    Shard kept = graph.shard;
    Trainer *t = new_trainer();
    memset(graph.shard.partition_hash, '1', 32);
    assert_shard_refused(t, ": the data are the same, but their partition differs; to continue");
    graph.shard.parts += 2; // another number of parts is another cut
    assert_shard_refused(t, test_comm.size == 1
                                ? ": it ran on 1 rank, this run has 3; to continue"
                                : ": it ran on 2 ranks, this run has 4; to continue");
    graph.shard.parts = kept.parts;
    memset(graph.shard.dataset_hash, '1', 32);
    assert_shard_refused(t, ": the data differ; to continue");
    graph.shard = kept;
    trainer_free(t);
    assert_resumes();
}

// --- first weights

static void use_weights(const char *name) {
    settle();
    snprintf(config.model.weights, sizeof config.model.weights, "%s",
             name[0] != 0 ? test_path(name) : "");
    comm_barrier(&test_comm);
}

static void write_new_weights(const char *name, uint64_t seed) {
    Trainer *t = assert_ok(trainer_new(&config, &graph.shard, &test_comm, seed, NULL, &err));
    if (test_comm.rank == 0)
        assert_ok(write_weights(t, test_path(name), &err));
    trainer_free(t);
    comm_barrier(&test_comm);
}

// A run that has begun and stopped there.
static void write_run(const char *name) {
    OWNED(Trainer) *t = new_trainer();
    Training training = training_of(t);
    assert_ok(checkpoint_start(&training, &err));
    snprintf(run_dir, sizeof run_dir, "%s", test_path(name));
    assert_ok(checkpoint_write(&training, run_dir, 2, &err));
}

// The file is gone once the run has begun.
static void start_from_weights(void) {
    write_new_weights("first.safetensors", 11);
    write_new_weights("same.safetensors", 11);
    write_new_weights("other.safetensors", 12);
    use_weights("first.safetensors");
    write_run("started");
    if (test_comm.rank == 0)
        assert_int_equal(unlink(test_path("first.safetensors")), 0);
    comm_barrier(&test_comm);
}

RUN_TEST(a_resume_does_not_need_the_first_weights) {
    bool found;
    start_from_weights();
    Trainer *t = new_trainer();
    Training training = training_of(t);
    for (int again = 0; again < 2; again++) { // what goes on remembers, too
        assert_ok(checkpoint_restore(&training, run_dir, &found, &(Warnings){0}, &err) && found);
        assert_ok(checkpoint_write(&training, run_dir, 2, &err));
    }
    trainer_free(t);
    use_weights("same.safetensors"); // by contents
    assert_int_equal(resumed(&(Warnings){0}, &(Error){0}), 0);
}

RUN_TEST(other_first_weights_are_named) {
    static const char *const names[] = {"other.safetensors", ""};
    start_from_weights();
    for (int i = 0; i < 2; i++) {
        use_weights(names[i]);
        assert_refused(resumed(&(Warnings){0}, &err) != -2, EXIT_CONFIG, ": model.weights was '");
    }
    use_weights("absent.safetensors");
    assert_refused(resumed(&(Warnings){0}, &err) != -2, EXIT_NO_INPUT, "model.weights: ");
}

// As short as a path can be.
RUN_TEST(a_path_of_one_letter_is_remembered) {
    char before[1024];
    assert_non_null(getcwd(before, sizeof before));
    write_new_weights("w", 11);
    assert_int_equal(chdir(test_path("")), 0);
    snprintf(config.model.weights, sizeof config.model.weights, "w");
    write_run("short");
    assert_int_equal(chdir(before), 0);
    use_weights("");
    assert_refused(resumed(&(Warnings){0}, &err) != -2, EXIT_CONFIG, ": model.weights was 'w'");
}
