// Replicated state: parameters, moments, best weights and the counters of early stopping are made
// by every rank for itself, of the same sums, so that they agree bit for bit. Whether they do is
// asked at every evaluation and every checkpoint, for 8 bytes a rank.
#include "internal.h"

static uint64_t state_hash(Trainer *t) {
    trainer_download(t);
    const float *flat[4] = {t->parameters, t->moment1, t->moment2, t->best};
    uint64_t all[8] = {(uint64_t)t->now.epoch, (uint64_t)t->now.best_epoch,
                       (uint64_t)t->now.stale_evaluations};
    memcpy(&all[3], &t->now.best_score, sizeof t->now.best_score);
    for (int i = 0; i < 4; i++)
        all[4 + i] = hash_bytes(flat[i], trainer_flat_bytes(t));
    return hash_bytes(all, sizeof all);
}

// "1, 3, 4": the ranks whose state is not that of rank 0; "" if there are none.
static void list_others(const Trainer *t, char *out, size_t size) {
    int count = 0;
    out[0] = 0;
    for (int r = 1; r < t->comm->size; r++)
        if (t->state_hash[r] != t->state_hash[0] && count++ < 8)
            text_add(out, size, ", ", "%d", r);
    if (count > 8)
        text_add(out, size, " and ", "%d more", count - 8);
}

bool trainer_replicas_agree(Trainer *t, Error *err) {
    char others[128];
    if (t->comm->size == 1)
        return true;
    uint64_t mine = state_hash(t);
    comm_all_gather(t->comm, &mine, t->state_hash, sizeof mine);
    list_others(t, others, sizeof others);
    return others[0] == 0 ||
           error_set(err, EXIT_MISMATCH,
                     "after epoch %ld the weights or moments of rank %s of %d are not those of "
                     "rank 0, though all computed the same: their machines have different math "
                     "libraries, or one of them makes errors; take it out, or machines of one "
                     "kind, and go on with --resume auto",
                     t->now.epoch, others, t->comm->size);
}
