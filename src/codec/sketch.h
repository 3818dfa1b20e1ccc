// sketch: floats <-> buckets of quantiles (SketchML: Jiang et al., SIGMOD 2018). Signs are apart: a
// bucket has magnitudes of one sign, and one level, which stands for all its values. A float is in
// bucket 0, 1, ... of its sign, the smallest magnitudes in bucket 0; or it is zero.
//
//   | form: 1 byte | buckets of the negative, of the positive values: 1 byte each | levels: fp32 |
//
// Levels stand in the order of codes: those of the negative buckets, the largest magnitudes first,
// then those of the positive ones. Where few floats are zero (SKETCH_DENSE) there follows
//
//   | numbers: the code of every float |
//
// its place among these levels, with zero between the signs. Where few are not zero
// (SKETCH_KEYS) their places stand in lists, one for each group of a sign's buckets (as many to a
// group as make so many groups, rounded up), of the negative values first:
//
//   | seed: 4 bytes | keys in each list: 4 bytes each | keys of each list (differences.h) | numbers
//   |
//
// and what bucket of its group a key has is found in a MinMaxSketch (min_max.h) of each list, by
// this seed, of ceil(bins * keys) bins; numbers are the cells of all lists. Groups of one bucket
// need none.
//
// Numbers take bits enough for the largest there could be: | RANS_PACKED | bits, low ones first |,
// or what rans.h writes, the shorter. No byte where there are none, or no bits.
#pragma once

#include "fringe/codec.h"

typedef enum SketchForm { SKETCH_DENSE, SKETCH_KEYS } SketchForm;

// What writing or reading n floats needs beside them. Scratch is 4-byte aligned.
size_t sketch_scratch(const SketchOptions *options, int64_t n);
// The most bytes for n floats.
size_t sketch_most(const SketchOptions *options, int64_t n);
// Writes n finite floats. Returns the bytes.
size_t sketch_write(unsigned char *out, const float *x, int64_t n, const SketchOptions *options,
                    uint32_t seed, void *scratch);
// The n floats that a message stands for. False for bytes that sketch_write never writes for n
// floats; they may have been written then in part.
bool sketch_read(float *x, int64_t n, const SketchOptions *options, const unsigned char *in,
                 size_t bytes, void *scratch);
