// codec: rows of floats <-> bytes. A family as a table; fp32 is the smallest member and the one to
// copy. A message holds the rows of one send list (law 5), tight, without ids (law 6): both ends
// know everything about it but the values.
//
// A message of a codec with widths (ALGORITHMS A.1):
//
//   | Z of all rows | S of all rows | payload: 2-bit rows | 4-bit rows | 8-bit rows |
//
// Rows stand by width, narrow ones first, and inside a width in the order of the send list (this is
// Widths.place). Z and S are the row's minimum and step as they travel, fp32 or bf16; then
// value = Z + q S. A row of D values of b bits takes ceil(D b / 8) bytes: full groups of 128 / b
// values lie byte-planar in 16 bytes (byte l holds the values l, l + 16, l + 32, ... of the group,
// the first in the low bits), the tail of the row one value after the other, low bits first. Widths
// 3, 5, 6 and 7 are planes of 1, 2 and 4 bits one after the other, each laid out and filled up to
// whole bytes as a row of its width, low bits first (3 = 2 + 1, 5 = 4 + 1, 6 = 4 + 2, 7 = 4 + 2 +
// 1). 16 bits are little-endian halves.
#ifndef FRINGE_CODEC_H
#define FRINGE_CODEC_H

#include "fringe/backend.h"

enum { WIDTH_MOST = 16 };

// The rows of one message by width. Made anew when widths are assigned; sender and receiver make
// the same from the same bytes.
typedef struct Widths {
    int64_t count;              // rows
    const Backend *backend;     // borrowed
    DeviceInt32 *place;         // [count] position in the message -> in the send list; owned
    int32_t *host_place;        // the same on the host
    int64_t of[WIDTH_MOST + 1]; // of[b]: rows of b bits
} Widths;

bool width_known(int bits); // 1 .. 8 and 16
// All of them of `bits`.
void widths_init(Widths *widths, const Backend *backend, int64_t count, int bits);
void widths_clear(Widths *widths);
void widths_set(Widths *widths, const uint8_t *bits); // [count], by place in the send list
size_t widths_bytes(int64_t count);                   // memory that widths_init takes

// What a message looks like.
typedef struct MessageLayout {
    int64_t rows, columns;
    bool bf16;            // Z and S travel as bf16
    const Widths *widths; // of `rows` rows; NULL: the codec knows none
} MessageLayout;

typedef struct Codec {
    const char *name;
    bool has_widths; // reads MessageLayout.widths
    size_t (*bytes)(const MessageLayout *layout);
    // Writes the message to `out`, 64-byte aligned; `source` (backend.h) says where its rows come
    // from; the backend's message operations do the work. *bad becomes 1 + the place in the send
    // list of the first row that cannot be written because a value is not finite or its range
    // overflows; it must be 0 before.
    void (*encode)(const Backend *backend, DeviceByte *out, const MessageLayout *layout,
                   const MessageSource *source, DeviceInt64 *bad, const Poll *poll);
    // rows [begin, begin + layout->rows) of `out` = what `in` holds, in the order of the send list;
    // their padding is zero, whatever was there.
    void (*decode)(const Backend *backend, Rows out, int64_t begin, const MessageLayout *layout,
                   const DeviceByte *in, const Poll *poll);
} Codec;

extern const Family codec_family;
const Codec *codec_find(const char *name, Error *err); // NULL with EXIT_CONFIG

#endif
