// ranks: 1 2 4; also on fenced
// If this failed, a training that goes on from a checkpoint would not be the one that was stopped,
// or one that starts from weights would not start from them on every rank; or a state that the
// ranks do not share would be saved as if it were theirs.
#include "../trainer/runs.h"
#include "training.h"

static void resume_with(const char *const *settings, int count, int every) {
    Run want = whole_run(settings, count), got = want;
    for (int stop = 1; stop < 12; stop += every) {
        const char *dir = test_path("resume");
        if (test_comm.rank == 0)
            file_remove(dir, &(Error){0});
        comm_barrier(&test_comm);
        Trainer *t = new_trainer();
        for (int e = 0; e < stop; e++)
            assert_ok(trainer_epoch(t, &(EpochRecord){0}, &err));
        assert_ok(save_training(t, dir, 2, &err));
        TrainerCounters before = trainer_counters(t);
        trainer_free(t);
        t = new_trainer();
        assert_ok(resume(t, dir, &err));
        assert_int_equal(trainer_epochs_done(t), stop);
        TrainerCounters after = trainer_counters(t);
        assert_memory_equal(&after, &before, sizeof before);
        train(&got, t);
        trainer_free(t);
        assert_memory_equal(got.parameters, want.parameters, (size_t)want.count * sizeof(float));
        assert_memory_equal(got.average, want.average, sizeof want.average);
        assert_memory_equal(got.loss + stop, want.loss + stop,
                            (size_t)(12 - stop) * sizeof(double));
    }
}

WORLD_TEST(resumed_equals_never_stopped) {
    resume_with(NULL, 0, 3);
    resume_with(SETTINGS("mode=bns", "comm.sample=0.4"), 7);
    resume_with(SETTINGS("model.norm=batch", "model.activation=gelu", "train.average=3",
                         "train.eval_every=2", "train.label_input=masked:0.5"),
                7);
    if (test_comm.size == 2)
        resume_with(SETTINGS("model.layer=gcn2", "model.layers=32", "model.hidden=[8]",
                             "model.post=[\"activation\",\"dropout\"]", "mode=adaqp",
                             "quantization.solver=exact", "quantization.period=4",
                             "quantization.link=[1e-9,1e-5]", "train.lr=0.001"),
                    7);      // 34 layers
    if (test_comm.size == 2) // large first weights: their norms differ, so that importance draws
        resume_with(SETTINGS("train.sample=importance:20", "train.sample_period=4", "model.gain=20",
                             "train.optimizer=adamw", "train.weight_decay=0.1",
                             "train.lr_schedule=plateau", "train.lr_patience=0",
                             "train.eval_every=1"),
                    5);
}

// The same command may learn something else: widths follow links as they are measured.
WORLD_TEST(the_last_run_in_a_folder_is_resumed) {
    Trainer *t[3];
    settle(NULL, 0);
    for (int i = 0; i < 3; i++) { // with one seed, from other weights
        OWNED(Trainer) *other = assert_ok(
            trainer_new(&config, &graph.shard, &test_comm, (uint64_t)(3 + i), NULL, &err));
        t[i] = new_trainer();
        trainer_download(t[i]);
        memcpy(t[i]->parameters, trainer_parameters(other, false),
               (size_t)other->shape.parameter_count * sizeof(float));
        trainer_upload(t[i]);
    }
    for (int i = 0; i < 2; i++) { // the second one stops earlier
        for (int e = 0; e < 4 - 2 * i; e++) {
            assert_ok(trainer_epoch(t[i], &(EpochRecord){0}, &err));
            if (e % 2 == 1)
                assert_ok(save_training(t[i], test_path("again"), 2, &err));
        }
    }
    assert_ok(resume(t[2], test_path("again"), &err));
    assert_int_equal(trainer_epochs_done(t[2]), 2);
    assert_memory_equal(trainer_parameters(t[2], false), trainer_parameters(t[1], false),
                        (size_t)t[1]->shape.parameter_count * sizeof(float));
    for (int i = 0; i < 3; i++)
        trainer_free(t[i]);
}

// The other ranks' machines lack the file, or hold another one.
WORLD_TEST(first_weights_are_those_of_rank_0) {
    settle(NULL, 0);
    OWNED(Trainer) *other =
        assert_ok(trainer_new(&config, &graph.shard, &test_comm, 4, NULL, &err));
    const char *path = test_path("first.safetensors");
    if (test_comm.rank == 0)
        assert_ok(write_weights(other, path, &err));
    snprintf(config.model.weights, sizeof config.model.weights, "%s%s", path,
             test_comm.rank == 0 ? "" : "-elsewhere");
    OWNED(Trainer) *t = new_trainer();
    Training training = training_of(t);
    assert_ok(checkpoint_start(&training, &err));
    assert_memory_equal(trainer_parameters(t, false), trainer_parameters(other, false),
                        (size_t)t->shape.parameter_count * sizeof(float));
}

WORLD_TEST(what_ranks_do_not_share_is_not_saved) {
    if (test_comm.size == 1)
        return;
    const char *named =
        test_text("of rank %d of %d are not those of rank 0", test_comm.size - 1, test_comm.size);
    settle(NULL, 0);
    for (int flat = 0; flat < 4; flat++) { // parameters, moments, best
        OWNED(Trainer) *t = new_trainer();
        assert_ok(trainer_epoch(t, &(EpochRecord){0}, &err));
        assert_ok(save_training(t, test_path("agreed"), 2, &err));
        disturb(t, flat);
        assert_refused(save_training(t, test_path("never"), 2, &err), EXIT_MISMATCH, named);
        assert_false(file_exists(test_path("never")));
    }
}
