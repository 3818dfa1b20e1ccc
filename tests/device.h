// The device that tests and benches work on.
#ifndef FRINGE_TESTS_DEVICE_H
#define FRINGE_TESTS_DEVICE_H

#include "fringe/backend.h"

static inline const Backend *device(void) { return backend_find("cpu", &(Error){0}); }

#endif
