// rans: codes of b <= 8 bits <-> bytes, about as many as their entropy says (rANS: Duda 2013,
// arXiv:1311.2540). The codes of a gradient gather around zero, so they carry far less information
// than their bits. Integers alone: the same bytes everywhere.
//
//   | header byte | frequencies | state 0 | state 1 | state 2 | state 3 | bytes |
//
// The frequencies of the 2^b codes have the sum 4,096 and are LEB128 numbers; a zero is followed by
// the number of zeros in its run, itself included. A state is a little-endian number of 32 bits in
// [2^23, 2^31); code i belongs to state i mod 4. States and bytes are read in the order of the
// codes and were written from the last code to the first, so every state ends as 2^23.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The header byte.
typedef enum RansHeader {
    RANS_PACKED, // the planes of codec.h follow: they are not longer; the caller writes and reads
    RANS_CODED,  // as drawn above
    RANS_ZERO    // every code is that of zero; nothing follows
} RansHeader;

// Writes n codes, each below 2^bits, as RANS_ZERO or RANS_CODED. Returns their bytes, with the
// header, or 0 if these are not fewer than `room`, which `out` has; what it holds then is left
// open.
size_t rans_encode(unsigned char *out, size_t room, const uint8_t *code, int64_t n, int bits,
                   uint8_t zero);

// The n codes of a message of RANS_ZERO or RANS_CODED. False for bytes that no encoder writes for n
// codes; they may have been written then in part. A damaged message can decode to other codes.
bool rans_decode(uint8_t *code, int64_t n, int bits, uint8_t zero, const unsigned char *in,
                 size_t bytes);
