// The family of backends of the tests: the program's, and "fenced".
#include "fenced.h"

static const Backend *const backends[] = {BACKENDS, &backend_fenced};
const Family backend_family = FAMILY_OF_POINTERS("run.backend", "auto", backends);
