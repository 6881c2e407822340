/* SPDX-License-Identifier: MIT */
/* exp, log and the maximum of a row, without branches or calls, so that a loop over them becomes vector code. Results
 * outside of the range are set with masks and not with ?:, which compilers turn back into branches around the
 * arithmetic. NaN stays NaN in the two exponentials. */
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* e^x within 2 ulp; 0 below −87.33 (no subnormal results: they would slow the product that follows), inf above 88.72.
 * Cephes' polynomial on |r| ≤ ln 2 / 2. Adding 1.5·2²³ rounds to a whole number and leaves it in the low bits. */
static inline float
mhar_expf (float x)
{
  const float round = 12582912.0f;
  float shifted = x * 1.44269504089f + round;
  float n = shifted - round;
  float r = x - n * 0.693359375f;
  r = r + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  float y = p * (r * r) + r + 1.0f;
  uint32_t bits;
  memcpy (&bits, &shifted, 4);
  uint32_t n_bits = bits - 0x4b400000u;
  uint32_t half = (uint32_t) ((int32_t) n_bits >> 1); /* 2^n in two factors: n = 128 alone has no exponent field */
  uint32_t one_bits = (half + 127u) << 23, two_bits = (n_bits - half + 127u) << 23;
  float one, two;
  memcpy (&one, &one_bits, 4);
  memcpy (&two, &two_bits, 4);
  y = y * one * two;
  memcpy (&bits, &y, 4);
  uint32_t over = 0u - (uint32_t) (x > 88.7228f);
  bits = (bits & ((uint32_t) (x < -87.33f) - 1u) & ~over) | (0x7f800000u & over);
  memcpy (&y, &bits, 4);
  return y;
}

/* e^x of x ≤ 0 (logits less their maximum) within 1 ulp; 0 below −708. Taylor to the 13th power on |r| ≤ ln 2 / 2,
 * whose remainder is 4e-18. */
static inline double
mhar_exp (double x)
{
  const double round = 6755399441055744.0;
  double shifted = x * 1.4426950408889634074 + round;
  double n = shifted - round;
  double r = x - n * 6.93147180369123816490e-01;
  r = r - n * 1.90821492927058770002e-10;
  double r2 = r * r, r4 = r2 * r2;
  double a = (1.0 / 6227020800.0) * r + 1.0 / 479001600.0;
  double b = (1.0 / 39916800.0) * r + 1.0 / 3628800.0;
  double d = (1.0 / 362880.0) * r + 1.0 / 40320.0;
  double e = (1.0 / 5040.0) * r + 1.0 / 720.0;
  double f = (1.0 / 120.0) * r + 1.0 / 24.0;
  double g = (1.0 / 6.0) * r + 0.5;
  double p = (a * r2 + b) * r4 + (d * r2 + e);
  p = p * r4 + (f * r2 + g);
  double y = p * r2 + r + 1.0;
  uint64_t bits;
  memcpy (&bits, &shifted, 8);
  bits = (bits + 1023u) << 52;
  double power;
  memcpy (&power, &bits, 8);
  y = y * power;
  memcpy (&bits, &y, 8);
  bits &= (uint64_t) (x < -708.0) - 1u;
  memcpy (&y, &bits, 8);
  return y;
}

/* ln x of a positive, normal, finite x within 1 ulp; log 1 is 0. fdlibm's polynomial in s = f / (2 + f) on
 * [√½, √2). */
static inline double
mhar_log (double x)
{
  uint64_t u;
  memcpy (&u, &x, 8);
  u += 0x3ff0000000000000u - 0x3fe6a09e00000000u;
  uint64_t exponent = (u >> 52) | 0x4330000000000000u; /* 2⁵² + k + 1023 as a double: no conversion needed */
  double k;
  memcpy (&k, &exponent, 8);
  k = k - (4503599627370496.0 + 1023.0);
  u = (u & 0x000fffffffffffffu) + 0x3fe6a09e00000000u;
  double m;
  memcpy (&m, &u, 8);
  double f = m - 1.0, half = 0.5 * f * f, s = f / (2.0 + f), z = s * s, w = z * z;
  double t1 = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
  double t2 = z
              * (6.666666666666735130e-01
                 + w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
  return k * 6.93147180369123816490e-01 - ((half - (s * (half + t1 + t2) + k * 1.90821492927058770002e-10)) - f);
}

/* The largest of n elements, −inf of none; NaN is passed over. Sixteen running maxima make it vector code without
 * leave to reorder. */
static inline float
mhar_top (const float *x, size_t n)
{
  float run[16];
  for (size_t j = 0; j < 16; j++)
    run[j] = -INFINITY;
  size_t i = 0;
  for (; i + 16 <= n; i += 16) {
#pragma omp simd
    for (size_t j = 0; j < 16; j++)
      run[j] = x[i + j] > run[j] ? x[i + j] : run[j];
  }
  for (; i < n; i++)
    run[0] = x[i] > run[0] ? x[i] : run[0];
  for (size_t j = 1; j < 16; j++)
    run[0] = run[j] > run[0] ? run[j] : run[0];
  return run[0];
}
