// The table of row memories. A new one is a file of its own, a line in internal.h and a row here.

#include "internal.h"

const RowMemory row_memory_none = {.name = "none"};

static const RowMemory *const memories[] = {&row_memory_none};
const Family row_memory_family = FAMILY_OF_POINTERS("row memory", NULL, memories);
