// The exponential and the logarithm of the losses, as expressions: written once for vectors
// (cpu/loss_lanes.c) and for the floats of a device (cuda/results.cu), so that both give the same
// bits wherever multiply and add are not fused. exp after Cephes (Moshier), log(1 + t) =
// 2 atanh(t / (2 + t)).
//
//   exp(x), x <= 0   shifted = EXP_SHIFTED(x); n = shifted - EXP_SHIFT, a whole number
//                    EXP_OF_REST(r) 2^n, r = EXP_REST(x, n); 0 below EXP_LEAST
//   log(1 + t)       s = t / (t + 2); LOG1P_OF(s, w), w = s s
#ifndef FRINGE_KERNELS_EXPRESSIONS_H
#define FRINGE_KERNELS_EXPRESSIONS_H

#define EXP_LEAST (-87.0f)
#define EXP_SHIFT 0x1.8p23f // added to a float, it rounds it: the low bits are n
#define EXP_SHIFTED(x) ((x) * 1.44269504f + EXP_SHIFT)
// x - n log 2, in two steps
#define EXP_REST(x, n) ((x) - (n) * 0.693359375f + (n) * 2.12194440e-4f)
#define EXP_POLYNOMIAL(r)                                                                          \
    ((((((r) * 1.9875691500e-4f + 1.3981999507e-3f) * (r) + 8.3334519073e-3f) * (r) +              \
       4.1665795894e-2f) *                                                                         \
          (r) +                                                                                    \
      1.6666665459e-1f) *                                                                          \
         (r) +                                                                                     \
     5.0000001201e-1f)
#define EXP_OF_REST(r) (EXP_POLYNOMIAL(r) * ((r) * (r)) + (r) + 1.0f)

#define LOG1P_POLYNOMIAL(w)                                                                        \
    (((((((w) * (1.0f / 15) + 1.0f / 13) * (w) + 1.0f / 11) * (w) + 1.0f / 9) * (w) + 1.0f / 7) *  \
          (w) +                                                                                    \
      1.0f / 5) *                                                                                  \
         (w) +                                                                                     \
     1.0f / 3)
#define LOG1P_OF(s, w) (2.0f * (s) * (LOG1P_POLYNOMIAL(w) * (w) + 1.0f))

#endif
