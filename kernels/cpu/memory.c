// Memory of the CPU backend: host memory, so that copies are plain, and none where a block is both
// sides of itself.
#include "cpu.h"
#include <string.h>

void *cpu_alloc(size_t bytes, const char *what) {
    return memory_poisoned(memory_alloc(bytes, what), bytes);
}

void *cpu_alloc_zeroed(size_t bytes, const char *what) { return memory_alloc(bytes, what); }

void cpu_free(void *block) { memory_free(block); }

void *cpu_alloc_pinned(size_t bytes, const char *what) { return cpu_alloc(bytes, what); }

void cpu_free_pinned(void *block) { memory_free(block); }

void cpu_copy(void *to, const void *from, size_t bytes) {
    if (to != from)
        memcpy(to, from, bytes);
}

void cpu_upload(void *to, const void *from, size_t bytes) { cpu_copy(to, from, bytes); }

void cpu_download(void *to, const void *from, size_t bytes) { cpu_copy(to, from, bytes); }

void cpu_message_upload(void *to, const void *from, size_t bytes) { cpu_copy(to, from, bytes); }

void cpu_message_download(void *to, const void *from, size_t bytes) { cpu_copy(to, from, bytes); }

void cpu_zero(void *block, size_t bytes) { memset(block, 0, bytes); }

void cpu_message_zero(void *block, size_t bytes) { memset(block, 0, bytes); }

void cpu_upload_rows(Rows to, const float *from) {
    CpuRows rows = cpu_rows(to);
    for (int64_t r = 0; r < to.count; r++)
        memcpy(rows.at + r * rows.stride, from + r * to.columns,
               (size_t)to.columns * sizeof(float));
}

void cpu_download_rows(float *to, Rows from) {
    CpuRows rows = cpu_rows(from);
    for (int64_t r = 0; r < from.count; r++)
        memcpy(to + r * from.columns, rows.at + r * rows.stride,
               (size_t)from.columns * sizeof(float));
}
