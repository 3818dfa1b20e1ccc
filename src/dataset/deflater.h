// A stream of deflate that all threads make together, block by block.
#pragma once

#include "fringe/base.h"

#include <zlib.h>

typedef struct Press { // of one block, whose output has room for all of it
    z_stream stream;
    bool open;
    unsigned char *out; // [room] owned
    size_t room, bytes;
} Press;
// window: the windowBits of zlib, of blocks of at most `most` bytes. Close it also after an error.
bool press_open(Press *press, int level, int window, size_t most, Error *err);
void press_close(Press *press);
// Compresses a block, which goes on from the `before` bytes that lie before it, into `out`.
void press(Press *press, const void *block, size_t bytes, size_t before, bool last);

enum {
    DEFLATER_BLOCK = 1 << 18,
    DEFLATER_BLOCKS = 16, // of a batch
    DEFLATER_BATCH = DEFLATER_BLOCK * DEFLATER_BLOCKS
};

typedef struct Deflater Deflater;

Deflater *deflater_new(int level, Error *err); // NULL with an error; takes 14 MiB
void deflater_free(Deflater *deflater);
// Begins a new stream.
void deflater_begin(Deflater *deflater);
// Where the caller puts the next DEFLATER_BATCH bytes of the stream, fewer only at its end.
char *deflater_room(Deflater *deflater);
// Compresses the first `bytes` of the room.
void deflater_compress(Deflater *deflater, size_t bytes, bool last);
// Moves up to `room` bytes of what was compressed to `out`; returns how many. 0: all were taken.
size_t deflater_take(Deflater *deflater, char *out, size_t room);
uint32_t deflater_crc(const Deflater *deflater);       // of the stream's bytes so far
uint64_t deflater_out_bytes(const Deflater *deflater); // taken from this stream so far
