// The reader of a checkpoint's manifest. A text of odd length is sealed first: no mutation finds
// the hash that it must hold.

#include "fuzz.h"

#include "checkpoint/internal.h"

// What the writer of manifests calls in modules that are not linked with the fuzzer
// (cmake/fuzz.cmake).
#define NOT_LINKED __attribute__((weak))
NOT_LINKED int64_t trainer_epochs_done(const Trainer *trainer) { return trainer == NULL; }
NOT_LINKED StateSections *trainer_sections(Trainer *trainer) { return (void *)trainer; }
NOT_LINKED bool trainer_replicas_agree(Trainer *t, Error *err) { return t == NULL && err == NULL; }
NOT_LINKED TrainerCounters trainer_counters(const Trainer *trainer) {
    return (TrainerCounters){.epoch = trainer == NULL};
}
NOT_LINKED const Schedule *schedule_find(const char *name, Error *err) {
    error_set(err, EXIT_BUG, "%s", name);
    return NULL;
}

static bool is_of(const char *word, const char *letters, size_t least, size_t most) {
    size_t length = strlen(word);
    return length >= least && length <= most && strspn(word, letters) == length;
}

static void look_at(const Manifest *m) {
    FUZZ_CHECK(m->files <= CHECKPOINT_FILES);
    FUZZ_CHECK(m->counters.epoch == 4 && m->counters.best_epoch <= 4);
    for (int i = 0; i < m->files; i++) {
        FUZZ_CHECK(m->file[i][0] != '.' && strchr(m->file[i], '/') == NULL);
        FUZZ_CHECK(is_of(m->hash[i], "0123456789abcdef", 32, 32));
    }
}

FUZZER {
    static Manifest manifest;
    char *text = fuzz_text(bytes, count);
    if (count % 2 == 1)
        checkpoint_seal(text, count);
    bool ok = checkpoint_manifest_parse(&manifest, text, count, "run/epoch-4", &err);
    fuzz_verdict(ok, &err);
    if (ok) {
        look_at(&manifest);
        fuzz_verdict(checkpoint_manifest_needs(&manifest, "run/epoch-4", "model", &err), &err);
    }
    checkpoint_manifest_clear(&manifest);
    free(text);
}
