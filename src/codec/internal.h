// The members of the codec family. A new one is a file like fp32.c, a line here and one in the
// table.
#ifndef FRINGE_CODEC_INTERNAL_H
#define FRINGE_CODEC_INTERNAL_H

#include "fringe/codec.h"

extern const Codec codec_fp32;
extern const Codec codec_bf16;
extern const Codec codec_integer;

#endif
