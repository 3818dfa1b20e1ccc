// The reader of zip archives of arrays: every member is looked at and read, and a dataset, if the
// archive holds one.

#include "fuzz_dataset.h"

#include "dataset/npy_input.h"
#include "dataset/npz_layout.h"

static void read_arrays(Npz *npz) {
    for (int i = 0; i < npz_count(npz); i++) {
        Npy look, npy;
        Error looking = {0}, reading = {0};
        fuzz_verdict(npz_look(npz, npz_key(npz, i), &look, &looking), &looking);
        bool ok = npz_read(npz, npz_key(npz, i), &npy, &reading);
        fuzz_verdict(ok, &reading);
        FUZZ_CHECK(!ok || (look.elements == npy.elements && look.kind == npy.kind));
        npy_clear(&npy);
    }
}

FUZZER {
    static const Config config;
    Dataset dataset = {0};
    CLEARED(npz_drop) Npz *npz = npz_parse(bytes, count, "fuzz", &err);
    fuzz_verdict(npz != NULL, &err);
    if (npz != NULL) {
        Request request = {.config = &config, .path = "fuzz", .rows = -1};
        read_arrays(npz);
        bool ok = npz_read_dataset(&dataset, npz, &request, &err);
        fuzz_dataset(&dataset, ok, &err);
    }
}
