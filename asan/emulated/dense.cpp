// A CUDA source for the emulated device.
#include "/tmp/wt/me/kernels/cuda/dense.cu"
