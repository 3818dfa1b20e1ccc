// Sums in double. What sums.c hands to the loops of sums_lanes.c, and what makes a sum of its
// blocks.
#pragma once

#include "cpu.h"

// The sum of the terms begin .. end - 1.
typedef double SumPart(const void *of, int64_t begin, int64_t end);
// In blocks as both.h has them, spread over the threads.
double sum_of_parts(SumPart *part, const void *of, int64_t terms, int64_t least_block);

SumPart square_sum_plain, square_sum_avx2, square_sum_avx512; // of floats

// two[0] = the sum of (a - b)^2 over [begin, end), two[1] = that of b^2.
typedef void DistancePart(double two[2], const float *a, const float *b, int64_t begin,
                          int64_t end);
DistancePart distance_plain, distance_avx2, distance_avx512;
