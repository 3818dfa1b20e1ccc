// The members of the family of backends. A new one is a folder beside cpu/, a line here and one in
// the table of backend.c.
#ifndef FRINGE_KERNELS_INTERNAL_H
#define FRINGE_KERNELS_INTERNAL_H

#include "fringe/backend.h"

extern const Backend backend_cpu;
extern const Backend backend_fenced;
extern Backend backend_cuda; // its table is filled when it is started (plugin.h)

// backend_open with a table of its own, which has `cpu`.
const Backend *backend_open_in(const Family *family, const char *name, const BackendStart *how,
                               Error *err);

#endif
