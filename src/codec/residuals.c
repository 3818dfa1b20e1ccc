// The table of residuals. A new one is a file of its own, a line in internal.h and a row here.

#include "internal.h"

const Residual residual_none = {.name = "none"};

static const Residual *const residuals[] = {&residual_none};
const Family residual_family = FAMILY_OF_POINTERS("residual", NULL, residuals);
