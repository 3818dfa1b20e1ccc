// codec: rows of floats <-> bytes. A family as a table; fp32 is the smallest member and the one to
// copy. A message holds the rows of one send list (invariant 5), tight, without ids (invariant 6):
// both ends know everything about it but the values.
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
//
// The length of a message is known to both ends before it is encoded (Codec.bytes), unless the
// codec `varies` (entropy codes, sketches): then its header says it (wire.h).
#pragma once

#include "fringe/backend.h"
#include "fringe/config.h"

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
// Allocates or plans them; widths_fill makes all rows `bits` bits wide.
void widths_alloc(Widths *widths, const Allocator *allocator, int64_t count);
void widths_fill(Widths *widths, int bits);
void widths_set(Widths *widths, const uint8_t *bits); // [count], by place in the send list

// What a message looks like.
typedef struct MessageLayout {
    int64_t rows, columns;
    const Widths *widths; // of `rows` rows; NULL: the codec knows none
    // [rows] floats of each row by its place, 1 .. columns; NULL: all have all columns. What lies
    // behind them does not travel and is decoded as zero. On the host. For fp32, grid, keys and
    // sketch.
    const int32_t *length;
    RowsType rows_are; // bf16: rows of bf16 go as they lie. For fp32 alone
    MemberValues values;
    size_t bytes;        // to decode, where the codec varies: of the message
    DeviceByte *scratch; // of Codec.scratch bytes: the codec's while it encodes or decodes
} MessageLayout;

typedef struct Codec {
    const char *name;
    bool has_widths; // reads MessageLayout.widths
    bool varies;     // the length depends on the values of the rows
    MemberKeys keys; // that the codec brings along; configure reads them with config_values
    // Reads the codec's own options from the config; *values is zero before. False with
    // EXIT_CONFIG. NULL: it has none.
    bool (*configure)(const Config *config, MemberValues *values, Error *err);
    // Changes the bits of all rows, where the codec's own options have them. NULL: they do not.
    void (*set_bits)(MemberValues *values, int bits);
    // Bytes of a message that has this layout: exact, or at most if the codec varies.
    size_t (*bytes)(const MessageLayout *layout);
    // The most that a message with so many rows and columns takes, whatever its widths, which are
    // not looked at. Buffers have room for it.
    size_t (*bytes_most)(const MessageLayout *layout);
    // What encoding or decoding such a message needs beside it. NULL: nothing.
    size_t (*scratch)(const MessageLayout *layout);
    // Writes the message to `out`, 64-byte aligned; `source` (backend.h) says where its rows come
    // from; the backend's message operations do the work. *bad becomes 1 + the place in the send
    // list of the first row that cannot be written because a value is not finite or its range
    // overflows; it must be 0 before. Returns the bytes of the message: `bytes` of its layout, or
    // fewer if the codec varies; such a codec has made the message when it returns.
    size_t (*encode)(const Backend *backend, DeviceByte *out, const MessageLayout *layout,
                     const MessageSource *source, DeviceInt64 *bad, const Poll *poll);
    // rows [begin, begin + layout->rows) of `out` = what `in` holds, in the order of the send list;
    // their padding is zero, whatever was there.
    void (*decode)(const Backend *backend, Rows out, int64_t begin, const MessageLayout *layout,
                   const DeviceByte *in, const Poll *poll);
} Codec;

extern const Family codec_family;
const Codec *codec_find(const char *name, Error *err); // NULL with EXIT_CONFIG
// The codec's own options; zero where it has none. False with EXIT_CONFIG.
bool codec_configure(const Codec *codec, const Config *config, MemberValues *values, Error *err);

// ---- grid: all rows have the same width, on a grid that a rule makes of each (backend.h). Of
// messages that the CPU's operations make. No name of the config, and its options are set here.
typedef struct GridOptions {
    GridRule rule;
    int bits;     // minmax: as width_known has it; max and l2: 2 .. 8; mean: 1
    bool nearest; // biased, as mean is anyway
    bool bf16;    // Z and S travel as bf16, else as fp32
} GridOptions;
extern const Codec codec_grid;
// The same with entropy codes where they are shorter than planes; at most a byte longer. It varies,
// and is for backends whose memory is the host's. bits <= 8.
extern const Codec codec_grid_entropy;
bool grid_bits_known(GridOptions options);
void grid_set(MemberValues *values, GridOptions options);
GridOptions grid_get(const MemberValues *values);
// The least w with E |Q(x) - x|² <= w |x|² for all rows of that many columns, in fp32; S as bf16
// adds up to 1.7 %. Rounding to the nearest stays below it. Infinite for mean.
double grid_omega(GridOptions options, int64_t columns);

// ---- keys: the values that are not zero, in fp32, with their places. It varies, and is for
// backends whose memory is the host's. No name of the config.
extern const Codec codec_key_values;
// At most the part `part` of the floats of a message, rounded up, are not zero.
void keys_set(MemberValues *values, double part);

// ---- sketch: a number of buckets of quantiles for each value, and the mean of each bucket; where
// few are not zero, those alone, and their numbers in fewer cells than there are (ALGORITHMS D.5).
// All rows of a message together. It varies, and is for backends whose memory is the host's. No
// name of the config. Biased, but for the sum.
enum { SKETCH_BUCKETS = 256, SKETCH_GROUPS = 128, SKETCH_TABLES = 8 }; // at most
typedef struct SketchOptions {
    int buckets;      // half of them for each sign, at most 127 and one for 16 values
    int groups;       // of each sign's buckets; numbers never err beyond theirs
    int tables;       // that a number is looked up in, the largest of which counts
    double bins;      // of a table, for each value
    bool recalibrate; // a level is the mean of what is decoded to it, not of what its bucket holds
    bool entropy;     // frequent numbers take fewer bits, where that is shorter
    double part;      // below 1: at most this part of the floats of a message is not zero
} SketchOptions;
extern const Codec codec_sketch;
void sketch_set(MemberValues *values, SketchOptions options);

// ---- the largest magnitudes of the rows of a message
// How many of so many floats stay.
static inline int64_t top_count(double part, int64_t floats) {
    return (int64_t)ceil(part * (double)floats);
}
// Makes the other floats zero; of equal ones those at the lower places stay. `length` as in
// MessageLayout. For backends whose memory is the host's.
void top_keep(const Backend *backend, Rows rows, const int32_t *length, double part);

// ---- residuals: what the ends of a message remember of each row from one training exchange to the
// next, apart from the codec: any residual goes with any codec. A table.
//
//   sender   rows --before_encode--> encoded rows --codec--> bytes --codec--> after_encode
//   reader                                                   bytes --codec--> after_decode --> rows
//
// An end that remembers has one block of memory for each message: [bytes(rows, columns, end)], zero
// at first, 64-byte aligned, on the device. All hooks work on STREAM_MESSAGE, as codecs do, and use
// operations of the backend alone. Exchanges of evaluation, and those that are not coded
// (channel_set_full_precision), call none.
typedef enum ResidualEnd { RESIDUAL_SENDER, RESIDUAL_READER } ResidualEnd;

typedef struct ResidualStep {
    int64_t exchange; // which one of training, from 1: the same number at both ends
    const MemberValues *values;
    const DeviceFloat *follows; // [rows of the message] as Residual.follows says; NULL without it
    bool direct;                // difference: the rows go as they are, and are remembered
} ResidualStep;

typedef struct Residual {
    const char *name;
    MemberKeys keys; // that it brings along; configure reads them with config_values
    // *values is zero before. False with EXIT_CONFIG. NULL: it has none.
    bool (*configure)(const Config *config, MemberValues *values, Error *err);
    // Of the rows of one message at that end; 0: that end remembers nothing. NULL: none does.
    size_t (*bytes)(int64_t rows, int64_t columns, ResidualEnd end);
    // How far what is remembered of a row of that width follows what arrived of it, (0, 1]; bits 0:
    // all rows have one width. The same at both ends, on any machine. NULL: hooks need it not.
    float (*follows)(const MemberValues *values, int bits, int64_t columns);
    // A refresh: this exchange goes as fp32, and is remembered. The same at both ends. NULL: never.
    bool (*refreshes)(const MemberValues *values, int64_t exchange);
    // Sender: replaces the rows to be sent by those that are encoded in their place. NULL: none.
    void (*before_encode)(const Backend *backend, DeviceByte *memory, Rows rows, ResidualStep step,
                          const Poll *poll);
    // Sender: is given the rows that its own message decodes to, and makes of them what the
    // reader's after_decode does, for the residual before it. NULL: they need not be decoded.
    void (*after_encode)(const Backend *backend, DeviceByte *memory, Rows decoded,
                         ResidualStep step, const Poll *poll);
    // Reader: replaces the rows that were decoded by those that they stand for. NULL: they stand
    // for themselves.
    void (*after_decode)(const Backend *backend, DeviceByte *memory, Rows decoded,
                         ResidualStep step, const Poll *poll);
} Residual;
extern const Residual residual_none;
extern const Family residual_family;

// The options of the members: none uses all.
typedef struct ResidualOptions {
    double alpha; // difference: how far what is remembered follows, (0, 1]; 0: as far as the width
                  // of the row allows (residual_part)
    int64_t refresh; // anchor: exchanges from one refresh to the next
} ResidualOptions;
void residual_set(MemberValues *values, ResidualOptions options);
ResidualOptions residual_get(const MemberValues *values);
// Residual.bytes of those that the sender alone has.
size_t residual_of_sender(int64_t rows, int64_t columns, ResidualEnd end);
// 1 / (1 + w) in steps of 1/64, w what rounding at random to the grid of a row's least and greatest
// value adds to rows of normal values: the mean of |Q(x) - x|^2 by that of |x|^2 (ALGORITHMS D.9).
float residual_part(int bits, int64_t columns);
// What quantization.memory says of halo rows. False with EXIT_CONFIG.
bool residual_configure(const Config *config, const Residual **of, MemberValues *values,
                        Error *err);
