// Modes: named presets of how messages are sent and which savings apply. A preset is a list of
// settings, so a new mode is one row here. An explicit key in the file or --set overrides it.

#include "internal.h"

#define SAVES_NOTHING                                                                              \
    "lossless.input_features=exchange", "lossless.order=aggregate-first",                          \
        "lossless.receptive_field=all", "lossless.cover=sources"

static const Mode modes[] = {
    {"vanilla",
     "as the papers define it: fp32 rows, blocking exchanges, none of fringe's own savings",
     {"comm.schedule=blocking", SAVES_NOTHING}},
    {"lossless",
     "vanilla without sending or computing what training does not need",
     {"comm.schedule=blocking"}},
    {"overlap",
     "fp32 rows; computes what needs no message while messages are in flight",
     {"comm.schedule=overlap"}},
    {"quantize",
     "quantized rows with assigned bit widths, blocking exchanges",
     {"quantization.codec=integer", "comm.schedule=blocking"}},
    {"adaqp",
     "quantized rows with assigned bit widths; computes while messages are in flight",
     {"quantization.codec=integer", "comm.schedule=overlap"}},
    {"adaqp-published",
     "as adaqp, with none of fringe's own savings",
     {"quantization.codec=integer", "comm.schedule=overlap", SAVES_NOTHING}},
};
const Family mode_family = FAMILY("mode", NULL, modes);
