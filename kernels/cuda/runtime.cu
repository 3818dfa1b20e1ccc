// The device of this rank, its two streams, its events and how its errors end the job.
//
// The one idea: both streams exist from the start and never wait for the host. The message stream
// has the higher priority, so that the packing of a message does not queue behind a long aggregate.
#include "device.h"

#include <cstdio>
#include <nvtx3/nvToolsExt.h>
const PluginHost *cuda_host;
BackendStart cuda_how;
bool cuda_is_bf16;

static struct {
    bool is_open;      // streams and base events exist
    int number, count; // of this rank's device, and how many there are
    cudaDeviceProp properties;
    int driver, runtime;
    cudaStream_t stream[STREAMS];
} device;

void cuda_open(const PluginHost *host) { cuda_host = host; }

cudaStream_t cuda_stream(DeviceStream stream) { return device.stream[stream]; }
int cuda_processors(void) { return device.properties.multiProcessorCount; }
size_t cuda_cache_bytes(void) { return (size_t)device.properties.l2CacheSize; }

int cuda_device_ranks(void) {
    if (cuda_how.device_ranks > 0)
        return cuda_how.device_ranks;
    int ranks = cuda_how.node_size > 0 ? cuda_how.node_size : 1;
    return (int)divide_up(ranks - device.number, device.count);
}

int64_t cuda_blocks(int64_t threads, int block) {
    enum { ROUNDS = 4 };
    const int threads_of_a_processor = device.properties.maxThreadsPerMultiProcessor;
    int64_t most = (int64_t)cuda_processors() * ROUNDS * (threads_of_a_processor / block);
    return least(divide_up(threads, block), most);
}

// ---- start

static bool driver_is_there(Error *err) {
    int devices = 0;
    cudaError_t status = cudaGetDeviceCount(&devices);
    if (status == cudaErrorInsufficientDriver || status == cudaErrorStubLibrary)
        return cuda_host->error_set(
            err, EXIT_UNAVAILABLE,
            "run.backend 'cuda': %s; install the NVIDIA driver (libcuda.so.1) that fits "
            "CUDA %d.%d, or set run.backend to cpu",
            cudaGetErrorString(status), CUDART_VERSION / 1000, CUDART_VERSION / 10 % 100);
    if (status != cudaSuccess || devices == 0)
        return cuda_host->error_set(
            err, EXIT_UNAVAILABLE,
            "run.backend 'cuda': this machine shows no CUDA device (%s); look at "
            "nvidia-smi and CUDA_VISIBLE_DEVICES, or set run.backend to cpu",
            status != cudaSuccess ? cudaGetErrorString(status) : "0 devices");
    device.count = devices;
    device.number = cuda_how.node_rank % devices;
    return true;
}

__global__ static void probe(int *out) { *out = 1; }

// A device whose architecture the plug-in was not built for, and that cannot compile its PTX, says
// so at the first launch.
static bool kernels_run(Error *err) {
    cudaFuncAttributes attributes;
    cudaError_t status = cudaFuncGetAttributes(&attributes, (const void *)probe);
    if (status == cudaSuccess)
        return true;
    cudaGetLastError();
    return cuda_host->error_set(
        err, EXIT_UNAVAILABLE,
        "run.backend 'cuda': the plug-in has no code for device %d (%s, architecture "
        "%d.%d): %s; build fringe with -DCMAKE_CUDA_ARCHITECTURES=%d%d, or set "
        "run.backend to cpu",
        device.number, device.properties.name, device.properties.major, device.properties.minor,
        cudaGetErrorString(status), device.properties.major, device.properties.minor);
}

static bool open_device(Error *err) {
    cudaError_t status = cudaSetDevice(device.number);
    if (status == cudaSuccess)
        status = cudaGetDeviceProperties(&device.properties, device.number);
    int low = 0, high = 0;
    if (status == cudaSuccess)
        status = cudaDeviceGetStreamPriorityRange(&low, &high);
    if (status == cudaSuccess)
        status = cudaStreamCreateWithPriority(&device.stream[STREAM_COMPUTE], cudaStreamNonBlocking,
                                              low);
    if (status == cudaSuccess)
        status = cudaStreamCreateWithPriority(&device.stream[STREAM_MESSAGE], cudaStreamNonBlocking,
                                              high);
    if (status != cudaSuccess)
        return cuda_host->error_set(err, EXIT_UNAVAILABLE,
                                    "run.backend 'cuda': device %d cannot be used: %s",
                                    device.number, cudaGetErrorString(status));
    cudaDriverGetVersion(&device.driver);
    cudaRuntimeGetVersion(&device.runtime);
    return kernels_run(err);
}

// What is chosen stays when the caller's config is gone.
static void keep_choices(const BackendStart *how) {
    static char spmm[16];
    snprintf(spmm, sizeof spmm, "%s", how->spmm != nullptr ? how->spmm : "");
    cuda_how = *how;
    cuda_how.vectors = cuda_how.precision = cuda_how.sums = nullptr;
    cuda_is_bf16 = how->precision != nullptr && strcmp(how->precision, "bf16") == 0;
    cuda_how.spmm = how->spmm != nullptr ? spmm : nullptr;
}

static bool precision_is_known(const BackendStart *how, Error *err) {
    const char *precision = how->precision != nullptr ? how->precision : "fp32";
    const bool is_bf16 = strcmp(precision, "bf16") == 0;
    if (!is_bf16 && strcmp(precision, "fp32") != 0)
        return cuda_host->error_set(
            err, EXIT_UNAVAILABLE,
            "run.precision '%s': the backend cuda knows fp32 and bf16; take one of "
            "them",
            precision);
    if (is_bf16 && how->spmm != nullptr && strcmp(how->spmm, "cusparse") == 0)
        return cuda_host->error_set(
            err, EXIT_UNAVAILABLE,
            "run.spmm 'cusparse': rows of bf16 are added up by fringe's own "
            "kernel alone; set run.spmm to own, or run.precision to fp32");
    return true;
}

bool cuda_start(const BackendStart *how, Error *err) {
    if (!precision_is_known(how, err))
        return false;
    keep_choices(how);
    if (device.is_open)
        return true;
    device.is_open = driver_is_there(err) && open_device(err);
    if (device.is_open) {
        cuda_clock_start();
        cuda_dense_start();
    }
    return device.is_open;
}

const char *cuda_describe(void) {
    static char text[400];
    snprintf(text, sizeof text, "%s (architecture %d.%d, %.1f GiB), driver for CUDA %d.%d, %s",
             device.properties.name, device.properties.major, device.properties.minor,
             (double)device.properties.totalGlobalMem / 0x1p30, device.driver / 1000,
             device.driver / 10 % 100, cuda_dense_describe());
    return text;
}

const char *cuda_device_id(void) {
    static char text[2 * sizeof(cudaUUID_t) + 1];
    cudaDeviceProp properties;
    CUDA_CALL(cudaGetDeviceProperties(&properties, device.number));
    for (size_t i = 0; i < sizeof properties.uuid; i++)
        snprintf(text + 2 * i, 3, "%02x", (unsigned char)properties.uuid.bytes[i]);
    return text;
}

// ---- ranges that profilers show, under the names of trace.json

void cuda_range_begin(const char *name) { nvtxRangePushA(name); }
void cuda_range_end(void) { nvtxRangePop(); }
