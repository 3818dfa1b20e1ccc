// An MPI library that sends from the memory of CUDA devices, or says so.
int MPIX_Query_cuda_support(void);
int MPIX_Query_cuda_support(void) { return 1; }
