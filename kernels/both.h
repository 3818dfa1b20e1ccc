// ON_BOTH before a function: the host's compiler and a device's both make it. Headers with such
// functions hold what must be the same arithmetic on both.
#ifndef FRINGE_KERNELS_BOTH_H
#define FRINGE_KERNELS_BOTH_H

#ifdef __CUDACC__
#define ON_BOTH __host__ __device__
#else
#define ON_BOTH
#endif

#endif
