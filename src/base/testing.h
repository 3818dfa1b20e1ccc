// What base lets tests see and do; no product file includes it.
#pragma once

#include "fringe/base.h"

int64_t memory_allocs(void);  // number of allocations since the start
size_t memory_foreseen(void); // largest use of memory that forecast_fits has predicted, in bytes
// memory_available says what is left of so many bytes (0: of the machine's), and memory_try refuses
// more.
void memory_test_limit(size_t bytes);

// A file of tensors from `count` bytes in memory, which are lent until tensors_close.
bool tensors_parse(Tensors *tensors, const void *bytes, size_t count, const char *path, Error *err);

// Every write, sync and rename counts as one step. A test can have the process killed right after
// the n-th step from now (0: never); FRINGE_TEST_STOP_STEP=n in the environment does the same from
// the start.
void file_test_stop_after(int64_t steps);
