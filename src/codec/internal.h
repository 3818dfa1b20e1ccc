// The members of the codec family. A new one is a file like fp32.c, a line here and one in the
// table.
#ifndef FRINGE_CODEC_INTERNAL_H
#define FRINGE_CODEC_INTERNAL_H

#include "fringe/codec.h"

extern const Codec codec_fp32;
extern const Codec codec_bf16;
extern const Codec codec_integer;

// Rows of a message that follow each other and have the same length (MessageLayout.length).
typedef struct Run {
    int64_t begin, count; // places
    int64_t columns;
} Run;
bool run_next(Run *run, const MessageLayout *layout); // from {0} on; false behind the last
// The same source, of the run's columns alone.
MessageSource run_source(const MessageSource *source, Run run);
// The columns of all rows of `out` that a run has; those of its own rows, which lie from `begin` +
// its first place on, are zero where it has not all of them.
Rows run_rows(const Backend *backend, Rows out, int64_t begin, Run run);

#endif
