// Memory of the device and pinned memory of the host, and the copies between them.
//
// The one idea: every copy is put on a stream like an operation, so that it is ordered with them. A
// copy to or from host memory that is not pinned is correct, too, but the host then waits for it.
#include "device.h"

enum { LEAST_BYTES = 64 }; // a block of no bytes is an address, too

size_t cuda_device_free(void) {
    size_t free_bytes = 0, all = 0;
    CUDA_CALL(cudaMemGetInfo(&free_bytes, &all));
    return free_bytes / (size_t)cuda_device_ranks();
}

static void check_memory(cudaError_t status, size_t bytes, const char *what, const char *where) {
    if (status == cudaErrorMemoryAllocation)
        cuda_host->check_failed(
            __FILE__, __LINE__, EXIT_MEMORY,
            "%s: %.3f GiB do not fit into the memory of the %s; use more ranks on more "
            "devices, or a narrower model",
            what, (double)bytes / 0x1p30, where);
    CUDA_CALL(status);
}

static void *new_block(size_t bytes, const char *what) {
    void *block = NULL;
    check_memory(cudaMalloc(&block, bytes), bytes, what, "device");
    return block;
}

static void *filled(void *block, int byte, size_t bytes) {
    CUDA_CALL(cudaMemsetAsync(block, byte, bytes, cuda_stream(STREAM_COMPUTE)));
    CUDA_CALL(cudaStreamSynchronize(cuda_stream(STREAM_COMPUTE))); // the other stream may use it
    return block;
}

static size_t at_least(size_t bytes) { return bytes < LEAST_BYTES ? (size_t)LEAST_BYTES : bytes; }

// What nobody asks to be zero is not, so that tools find a read of what was never written.
void *cuda_alloc(size_t bytes, const char *what) {
    void *block = new_block(at_least(bytes), what);
    return memory_is_poisoned() ? filled(block, 255, at_least(bytes)) : block;
}

void *cuda_alloc_zeroed(size_t bytes, const char *what) {
    return filled(new_block(at_least(bytes), what), 0, at_least(bytes));
}

void cuda_free(void *block) {
    if (block == NULL)
        return;
    cuda_finish(NULL);
    CUDA_CALL(cudaFree(block));
}

void *cuda_alloc_pinned(size_t bytes, const char *what) {
    void *block = NULL;
    bytes = at_least(bytes);
    check_memory(cudaMallocHost(&block, bytes), bytes, what, "host that may be pinned");
    return memory_poisoned(block, bytes);
}

void cuda_free_pinned(void *block) {
    if (block == NULL)
        return;
    cuda_finish(NULL);
    CUDA_CALL(cudaFreeHost(block));
}

static void put_copy(DeviceStream stream, void *to, const void *from, size_t bytes,
                     cudaMemcpyKind kind) {
    if (bytes > 0)
        CUDA_CALL(cudaMemcpyAsync(to, from, bytes, kind, cuda_stream(stream)));
}

void cuda_upload(void *device, const void *host, size_t bytes) {
    put_copy(STREAM_COMPUTE, device, host, bytes, cudaMemcpyHostToDevice);
}

void cuda_download(void *host, const void *device, size_t bytes) {
    put_copy(STREAM_COMPUTE, host, device, bytes, cudaMemcpyDeviceToHost);
}

void cuda_copy(void *to, const void *from, size_t bytes) {
    if (to != from)
        put_copy(STREAM_COMPUTE, to, from, bytes, cudaMemcpyDeviceToDevice);
}

void cuda_message_upload(void *device, const void *pinned, size_t bytes) {
    put_copy(STREAM_MESSAGE, device, pinned, bytes, cudaMemcpyHostToDevice);
}

void cuda_message_download(void *pinned, const void *device, size_t bytes) {
    put_copy(STREAM_MESSAGE, pinned, device, bytes, cudaMemcpyDeviceToHost);
}

static void put_zeros(DeviceStream stream, void *device, size_t bytes) {
    if (bytes > 0)
        CUDA_CALL(cudaMemsetAsync(device, 0, bytes, cuda_stream(stream)));
}

void cuda_zero(void *device, size_t bytes) { put_zeros(STREAM_COMPUTE, device, bytes); }

void cuda_message_zero(void *device, size_t bytes) { put_zeros(STREAM_MESSAGE, device, bytes); }

// ---- rows: tight on the host, padded on the device

// Rows of bf16 pass through a strip of floats, some at a time.
template <typename EachStrip> static void each_strip(Rows rows, EachStrip each) {
    const size_t bytes = (size_t)rows.columns * sizeof(float), most = 16 << 20;
    const int64_t step = bytes < most ? (int64_t)(most / (bytes + 1)) : 1;
    for (int64_t begin = 0; begin < rows.count && bytes > 0; begin += step) {
        Rows some = rows;
        some.at = (DeviceFloat *)(rows_of<Bf16>(rows).at + begin * rows.stride);
        some.count = least(step, rows.count - begin);
        const size_t size = (size_t)some.count * bytes;
        each(some, (DeviceFloat *)cuda_scratch(SCRATCH_STRIP, size), begin * rows.columns, size);
    }
}

static void put_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, Rows rows,
                     cudaMemcpyKind kind) {
    if (rows.count > 0 && rows.columns > 0)
        CUDA_CALL(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch,
                                    (size_t)rows.columns * sizeof(float), (size_t)rows.count, kind,
                                    cuda_stream(STREAM_COMPUTE)));
}

void cuda_upload_rows(Rows to, const float *from) {
    if (to.type == ROWS_BF16)
        return each_strip(to, [=](Rows rows, DeviceFloat *strip, int64_t first, size_t bytes) {
            cuda_upload(strip, from + first, bytes);
            cuda_pad_rows(rows, strip);
        });
    put_rows(to.at, (size_t)to.stride * sizeof(float), from, (size_t)to.columns * sizeof(float), to,
             cudaMemcpyHostToDevice);
}

void cuda_download_rows(float *to, Rows from) {
    if (from.type == ROWS_BF16)
        return each_strip(from, [=](Rows rows, DeviceFloat *strip, int64_t first, size_t bytes) {
            cuda_unpad_rows(strip, rows);
            cuda_download(to + first, strip, bytes);
        });
    put_rows(to, (size_t)from.columns * sizeof(float), from.at, (size_t)from.stride * sizeof(float),
             from, cudaMemcpyDeviceToHost);
}

// ---- scratch

void *cuda_scratch(ScratchSlot slot, size_t bytes) {
    static struct {
        void *at;
        size_t bytes;
    } kept[SCRATCH_SLOTS];
    if (kept[slot].bytes < bytes) {
        cuda_free(kept[slot].at);
        kept[slot].at = cuda_alloc(bytes, "scratch of the device");
        kept[slot].bytes = bytes;
    }
    return kept[slot].at;
}
