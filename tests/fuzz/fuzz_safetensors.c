// The reader of safetensors: every byte of every tensor can be read, and the tensors can be found.

#include "fuzz.h"

#include "fringe/base/tensors.h"

static void look_at(const Tensors *tensors) {
    volatile unsigned char sum = 0; // so that the bytes are really read
    for (int i = 0; i < tensors->count; i++) {
        const Tensor *tensor = &tensors->tensor[i];
        const unsigned char *bytes = tensor->data;
        size_t count = tensor_bytes(tensor);
        FUZZ_CHECK((uintptr_t)bytes % tensor_type_bytes[tensor->type] == 0);
        for (size_t k = 0; k < count; k++)
            sum = (unsigned char)(sum + bytes[k]);
        const Tensor *found = tensors_find(tensors, tensor->name);
        FUZZ_CHECK(found != NULL && strcmp(found->name, tensor->name) == 0);
        Error err = {0};
        int64_t shape[TENSOR_RANK] = {-1, 2, -1};
        found = tensors_need(tensors, tensor->name, tensor->type, 2, shape, &err);
        fuzz_verdict(found != NULL, &err);
    }
}

FUZZER {
    CLEARED(tensors_close) Tensors tensors = {0};
    Error missing = {0};
    char format[16];
    bool ok = tensors_parse(&tensors, bytes, count, "fuzz", &err);
    fuzz_verdict(ok, &err);
    if (ok) {
        look_at(&tensors);
        tensors_metadata(&tensors, "format", format, sizeof format);
        FUZZ_CHECK(tensors_need(&tensors, "\x01", TENSOR_F32, 0, NULL, &missing) == NULL ||
                   tensors.count > 0);
    }
}
