// The flat arrays of a trainer, parameters and what has one value for each of them: on the device
// and on the host.
#include "internal.h"

enum { FLAT = 6 };

// One flat array and its mirror.
typedef struct FlatArray {
    DeviceFloat **device;
    float **host;
    const char *what;
} FlatArray;

static void flat_arrays(Trainer *t, FlatArray out[FLAT]) {
    const FlatArray all[FLAT] = {
        {&t->device.parameters, &t->parameters, "parameters"},
        {&t->device.gradient, &t->gradient, "parameter gradients"},
        {&t->device.moment1, &t->moment1, "optimizer state"},
        {&t->device.moment2, &t->moment2, "optimizer state"},
        {&t->device.decay, &t->decay, "weight decay"},
        {&t->device.best, &t->best, "best parameters"},
    };
    memcpy(out, all, sizeof all);
}

void trainer_alloc_flat(Trainer *t, const Allocator *allocator) {
    FlatArray all[FLAT];
    flat_arrays(t, all);
    for (int i = 0; i < FLAT; i++) {
        *all[i].host = alloc_mirrored(allocator, all[i].device, trainer_flat_bytes(t), all[i].what);
        if (allocator->forecast == NULL) // the device gets it by trainer_upload
            memset(*all[i].host, 0, trainer_flat_bytes(t));
    }
    t->square =
        alloc_mirrored(allocator, &t->device.square, sizeof *t->square, "parameter gradients");
    t->state_hash = alloc_host(allocator, memory_product(t->comm->size, sizeof *t->state_hash),
                               "hashes of the ranks' state");
}

static void move_all(Trainer *t, bool up) {
    FlatArray all[FLAT];
    flat_arrays(t, all);
    for (int i = 0; i < FLAT; i++)
        if (up)
            t->backend->upload(*all[i].device, *all[i].host, trainer_flat_bytes(t));
        else
            t->backend->download(*all[i].host, *all[i].device, trainer_flat_bytes(t));
    t->backend->finish(NULL);
}

void trainer_upload(Trainer *t) { move_all(t, true); }
void trainer_download(Trainer *t) { move_all(t, false); }

const float *trainer_parameters(const Trainer *t, bool best) {
    bool kept = best && t->now.best_epoch > 0;
    float *host = kept ? t->best : t->parameters;
    t->backend->download(host, kept ? t->device.best : t->device.parameters, trainer_flat_bytes(t));
    t->backend->finish(NULL);
    return host;
}
