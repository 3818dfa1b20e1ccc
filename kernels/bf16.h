// bf16: the upper half of a float, rounded to nearest, halves to even. One expression for the CPU
// and for devices.
#ifndef FRINGE_KERNELS_BF16_H
#define FRINGE_KERNELS_BF16_H

#include "both.h"

#include <stdbool.h>
#include <stdint.h>

// The bf16 of a float's bits. An exponent of ones in the result: not finite, or beyond the largest
// bf16.
ON_BOTH static inline uint32_t bf16_rounded(uint32_t bits) {
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

// Whether a float with these bits has no bf16; a NaN may round to anything.
ON_BOTH static inline bool bf16_is_bad(uint32_t bits) {
    return (bits >> 23 & 0xff) == 0xff || (bf16_rounded(bits) & 0x7f80) == 0x7f80;
}

#endif
