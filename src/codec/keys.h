// keys: floats most of which are zero <-> bytes. Keys are the places of the others.
//
//   | count: 4 bytes | values: 4 bytes each | the keys, as differences.h has ascending numbers |
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The most bytes for n floats of which at most `kept` are not zero.
size_t keys_most(int64_t n, int64_t kept);
// Writes n floats. Returns the bytes. -0 is zero.
size_t keys_write(unsigned char *out, const float *x, int64_t n);
// The n floats of a message. False for bytes that keys_write never writes for n floats; they may
// have been written then in part.
bool keys_read(float *x, int64_t n, const unsigned char *in, size_t bytes);
