// The table of compressors, in a file of its own: a program that defines another compressor_family
// is linked with that one instead.

#include "internal.h"

static const Compressor compressors[] = {{.name = "fp32"}};
const Family compressor_family = FAMILY("compressor", NULL, compressors);
