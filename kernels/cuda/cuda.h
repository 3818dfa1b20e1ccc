// The CUDA backend's own header: its operations (their promises stand in fringe/operations.def),
// and what its files share. Only kernels/cuda opens it.
//
// The .cu files are C++ (nvcc; and g++ against the emulated device of the tests); table.c, which
// holds the Backend, is C. No fused multiply-add, no approximate division or root: the whole
// plug-in is compiled with --fmad=false, so that every operation but the dense products and the
// logarithm of the softmax loss gives the bits of the CPU's.
#pragma once

#ifdef __cplusplus
#define _Noreturn [[noreturn]]
extern "C" {
#endif

#include "../plugin.h"

// ---- runtime.cu: the device, its two streams, events
void cuda_open(const PluginHost *host); // keeps the host's functions
bool cuda_start(const BackendStart *how, Error *err);
const char *cuda_describe(void);
const char *cuda_device_id(void);
void cuda_range_begin(const char *name);
void cuda_range_end(void);
size_t cuda_device_free(void); // memory.cu

// ---- spmm.cu
const char *cuda_spmm(void);
void cuda_spmm_set(const char *name);

// ---- every function and operation of the list, as cuda_<name>
#define FUNCTION(type, name, parameters) type cuda_##name parameters;
#define OPERATION(name, stream, time, ...) void cuda_##name(OPERATION_PARAMETERS(__VA_ARGS__));
#include "fringe/operations.def"

#ifdef __cplusplus
}
#endif
