// Copies. They read and write when they run, and a host that looks before finds nothing of use.
#include "emulated.h"

using namespace emulated;

struct Copy { // of `height` rows
    char *to;
    size_t to_pitch;
    const char *from;
    size_t from_pitch, width, height;
};

static size_t span(size_t pitch, const Copy &c) { return pitch * (c.height - 1) + c.width; }

static void check_host(const void *at, const char *what) {
    if (at == nullptr || is_of_device(at))
        stop("%s: %p is no address of the host", what, at);
}

// As float and double it is not a number, as an integer it is beyond every count.
static void spoil(const Copy &c) {
    const uint32_t nothing = 0x7fffffff;
    for (size_t r = 0; r < c.height; r++)
        for (size_t i = 0; i < c.width; i += sizeof nothing)
            memcpy(c.to + r * c.to_pitch + i, &nothing,
                   c.width - i < sizeof nothing ? c.width - i : sizeof nothing);
}

static void check_copy(const Copy &c, cudaMemcpyKind kind) {
    const size_t to_bytes = span(c.to_pitch, c), from_bytes = span(c.from_pitch, c);
    if (kind == cudaMemcpyDeviceToHost)
        check_host(c.to, "the destination of a copy to the host");
    else
        check_block(c.to, to_bytes, "the destination of a copy to the device");
    if (kind == cudaMemcpyHostToDevice)
        check_host(c.from, "the source of a copy from the host");
    else
        check_block(c.from, from_bytes, "the source of a copy from the device");
    if (c.to < c.from + from_bytes && c.from < c.to + to_bytes)
        stop("a copy's source and destination overlap");
}

static void put_copy(const Copy &c, cudaMemcpyKind kind, cudaStream_t stream) {
    check_copy(c, kind);
    if (kind == cudaMemcpyDeviceToHost)
        spoil(c);
    auto run = [c] {
        for (size_t r = 0; r < c.height; r++)
            memcpy(c.to + r * c.to_pitch, c.from + r * c.from_pitch, c.width);
    };
    auto *work = new Task<decltype(run)>(run);
    work->is_copy = true;
    put_work(stream, work);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    if (!is_stream(stream))
        return failed(cudaErrorInvalidResourceHandle);
    if (bytes > 0)
        put_copy({(char *)to, bytes, (const char *)from, bytes, bytes, 1}, kind, stream);
    return cudaSuccess;
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
    if (!is_stream(stream))
        return failed(cudaErrorInvalidResourceHandle);
    if (width > to_pitch || width > from_pitch)
        return failed(cudaErrorInvalidPitchValue);
    if (width > 0 && height > 0)
        put_copy({(char *)to, to_pitch, (const char *)from, from_pitch, width, height}, kind,
                 stream);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream) {
    if (!is_stream(stream))
        return failed(cudaErrorInvalidResourceHandle);
    if (bytes == 0)
        return cudaSuccess;
    check_block(to, bytes, "cudaMemsetAsync");
    put(stream, [to, value, bytes] { memset(to, value, bytes); });
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    const cudaError_t status = cudaMemcpyAsync(to, from, bytes, kind, 0);
    return status == cudaSuccess ? cudaStreamSynchronize(0) : status;
}
