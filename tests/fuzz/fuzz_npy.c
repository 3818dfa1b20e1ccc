// The reader of npy arrays, and the conversions to what readers of datasets want.

#include "fuzz.h"

#include "dataset/npy_input.h"

// Each conversion leaves numbers or a sentence; the last two may take the array over.
static void convert(Npy *npy) {
    Error err[5] = {{0}};
    FREED int64_t *integers = NULL;
    FREED uint64_t *ids = NULL;
    FREED float *floats = NULL, *taken = NULL;
    FREED int32_t *nodes = NULL;
    fuzz_verdict(npy_to_int64(npy, &integers, &err[0]), &err[0]);
    fuzz_verdict(npy_to_ids(npy, &ids, &err[1]), &err[1]);
    fuzz_verdict(npy_to_float(npy, &floats, &err[2]), &err[2]);
    if (npy->kind == NPY_FLOAT)
        fuzz_verdict(npy_take_float(npy, &taken, &err[3]), &err[3]);
    else
        fuzz_verdict(npy_take_below(npy, "nodes", 5, &nodes, &err[4]), &err[4]);
    for (int64_t i = 0; nodes != NULL && err[4].code == 0 && i < npy->elements; i++)
        FUZZ_CHECK(nodes[i] >= 0 && nodes[i] < 5);
}

FUZZER {
    CLEARED(npy_clear) Npy npy = {0};
    char path[32];
    int file = fuzz_file(path, bytes, count);
    bool ok = npy_read(&npy, path, &err);
    fuzz_verdict(ok, &err);
    if (ok)
        convert(&npy);
    close(file);
}
