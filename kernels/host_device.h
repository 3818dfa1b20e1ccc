// HOST_DEVICE before a function: the host's compiler and a device's both make it. Headers with such
// functions hold what must be the same arithmetic on both.
#pragma once

#ifdef __CUDACC__
#define HOST_DEVICE __host__ __device__
#else
#define HOST_DEVICE
#endif
