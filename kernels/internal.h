// The members of the family of backends. A new one is a folder beside cpu/ and two lines here.
#ifndef FRINGE_KERNELS_INTERNAL_H
#define FRINGE_KERNELS_INTERNAL_H

#include "fringe/backend.h"

extern const Backend backend_cpu;
extern Backend backend_cuda; // its table is filled when it is started (plugin.h)
#define BACKENDS &backend_cpu, &backend_cuda

// backend_open with a table of its own, which has `cpu`.
const Backend *backend_open_in(const Family *family, const char *name, const BackendStart *how,
                               Error *err);

#endif
