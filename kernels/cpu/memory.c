// Memory of the CPU backend: host memory, so that copies are plain, and none where a block is its
// own mirror.
#include "cells.h"

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

CELLS_INLINE void upload_rows(CpuRows to, const float *from, RowsType type) {
    for (int64_t r = 0; r < to.count; r++)
        for (int64_t c = 0; c < to.columns; c++)
            cell_set(row_cells(to, r, type), c, from[r * to.columns + c]);
}

void cpu_upload_rows(Rows to, const float *from) {
    EACH_TYPE(to.type, upload_rows, cpu_rows_of_any(to), from);
}

CELLS_INLINE void download_rows(float *to, CpuRows from, RowsType type) {
    for (int64_t r = 0; r < from.count; r++)
        for (int64_t c = 0; c < from.columns; c++)
            to[r * from.columns + c] = cell(row_cells(from, r, type), c);
}

void cpu_download_rows(float *to, Rows from) {
    EACH_TYPE(from.type, download_rows, to, cpu_rows_of_any(from));
}
