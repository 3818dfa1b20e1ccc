// What the files of the emulated device share.
#ifndef FRINGE_EMULATED_H
#define FRINGE_EMULATED_H

#include "cuda_runtime.h"

namespace emulated {

// ---- memory.cpp
void device_begins(); // blocks can be read and written: while work of a stream runs
void device_ends();
// Ends the program unless the bytes lie in one living block of the device.
void check_block(const void *at, size_t bytes, const char *what);

// ---- streams.cpp
void finish_all();

} // namespace emulated

#endif
