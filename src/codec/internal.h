// The members of the codec family. A new one is a file like fp32.c, a line here and one in the
// table.
#pragma once

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

// All floats of a message, one row behind the other without padding, in MessageLayout.scratch. For
// backends whose memory is the host's.
int64_t tight_count(const MessageLayout *layout);
size_t tight_bytes(const MessageLayout *layout); // what they take of the scratch, at most
float *tight_floats(const Backend *backend, const MessageLayout *layout);
// Rows to floats; notes the first row that has a value that is not finite, as Codec.encode does.
float *tight_pack(const Backend *backend, const MessageLayout *layout, const MessageSource *source,
                  DeviceInt64 *bad, const Poll *poll);
// Floats to rows, as Codec.decode does.
void tight_unpack(const Backend *backend, Rows out, int64_t begin, const MessageLayout *layout,
                  const Poll *poll);

// What both forms of grid have in common, wherever the codes lie: Z and S of all rows, at the
// beginning of the message, and the planes of all rows.
void grid_set_bits(MemberValues *values, int bits);
size_t grid_parameters_bytes(const MessageLayout *layout); // of Z and S
size_t grid_bytes(const MessageLayout *layout);            // with the planes
void grid_pack(const Backend *backend, DeviceByte *message, DeviceByte *codes,
               const MessageLayout *layout, const MessageSource *source, DeviceInt64 *bad,
               const Poll *poll);
void grid_unpack(const Backend *backend, Rows out, int64_t begin, const MessageLayout *layout,
                 const DeviceByte *message, const DeviceByte *codes, const Poll *poll);
