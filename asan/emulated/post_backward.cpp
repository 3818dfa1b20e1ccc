// A CUDA source for the emulated device.
#include "/tmp/wt/me/kernels/cuda/post_backward.cu"
