// The family of backends. A program that defines backend_family is linked with its own, as those of
// the tests are (tests/fenced/family.c).
#include "internal.h"

static const Backend *const backends[] = {BACKENDS};
const Family backend_family = FAMILY_OF_POINTERS("run.backend", "auto", backends);
