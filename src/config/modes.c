// Modes: named presets of how messages travel and what is saved. A preset is a list of settings, so
// a new mode is one line here, and an explicit key in the file or --set always wins.

#include "internal.h"

#define SAVES_NOTHING                                                                              \
    "lossless.input_features=exchange", "lossless.order=aggregate-first",                          \
        "lossless.receptive_field=all", "lossless.cover=sources"

static const Mode modes[] = {
    {"vanilla",
     "as the papers define it: fp32 rows, every exchange waits for its messages, nothing is saved",
     {"comm.schedule=blocking", SAVES_NOTHING}},
    {"lossless",
     "vanilla, but what training does not need is neither sent nor computed",
     {"comm.schedule=blocking"}},
    {"overlap",
     "fp32 rows, computes what needs no message while the messages fly",
     {"comm.schedule=overlap"}},
    {"quantize",
     "rows in few bits, widths assigned, every exchange waits for its messages",
     {"quantization.codec=integer", "comm.schedule=blocking"}},
    {"adaqp",
     "rows in few bits, widths assigned, computes while the messages fly",
     {"quantization.codec=integer", "comm.schedule=overlap"}},
    {"adaqp-published",
     "the bits of adaqp and none of fringe's own savings",
     {"quantization.codec=integer", "comm.schedule=overlap", SAVES_NOTHING}},
};
const Family mode_family = FAMILY("mode", NULL, modes);
