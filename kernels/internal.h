// The members of the family of backends. A new one is a folder beside cpu/ and two lines here.
#pragma once

#include "plugin.h"

extern const Backend backend_cpu;
extern Backend backend_cuda; // its table is filled when it is started (plugin.h)
#define BACKENDS &backend_cpu, &backend_cuda

// backend_open with a table of its own, which has `cpu`.
const Backend *backend_open_in(const Family *family, const char *name, const BackendStart *how,
                               Error *err);

// Around an operation of the backend with that event_record: where a StreamTimer of this backend is
// in use, its time is taken. False, and then there is no operation_end: nothing is timed, or what
// surrounds it is timed already.
bool operation_begin(EventRecord *record, DeviceStream stream, TimerKind kind);
void operation_end(void);
