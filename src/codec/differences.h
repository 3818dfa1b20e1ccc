// differences: ascending numbers <-> their differences, in as few bytes as each takes (SketchML's
// delta-binary keys: Jiang et al., SIGMOD 2018, section 3.4).
//
//   | sizes: 2 bits each, low ones first | differences |
//
// The difference of a number from the one before it (the first: from -1), less 1, has 1 to 4 bytes,
// little-endian, as few as hold it; its size is their number less 1.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The most bytes of so many numbers below n, in so many lists together.
size_t differences_most(int64_t n, int64_t numbers, int64_t lists);

// A list on its way into bytes. Its first and its last number are below 2^31.
typedef struct DifferenceWriter {
    unsigned char *size, *at; // at: where the next difference is written; at last the end
    int64_t before, count;
} DifferenceWriter;
DifferenceWriter differences_write(unsigned char *out, int64_t count);
void differences_put(DifferenceWriter *writer, int64_t number); // count times

// A list on its way out of bytes, which may be those of others behind it.
typedef struct DifferenceReader {
    const unsigned char *size, *at, *end; // at: of the next difference; at last the end of the list
    int64_t before, read, count;
} DifferenceReader;
// False if there are fewer bytes than sizes take, or sizes behind the last.
bool differences_read(DifferenceReader *reader, const unsigned char *in, const unsigned char *end,
                      int64_t count);
// The next number, count times. False: there is none such below n.
bool differences_get(DifferenceReader *reader, int64_t n, int64_t *number);

// Little-endian numbers of 1 to 4 bytes.
void number_put(unsigned char *out, uint32_t number, int bytes);
uint32_t number_get(const unsigned char *in, int bytes);
