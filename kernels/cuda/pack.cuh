/* SPDX-License-Identifier: MIT */
/* Sixteen bytes at a time: 4 floats or 8 bfloat16, widened to float32 registers and back. The length of the array
 * chooses the type. */
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

static __device__ __forceinline__ void
mhar_unpack (uint4 bits, float (&x)[4])
{
  x[0] = __uint_as_float (bits.x);
  x[1] = __uint_as_float (bits.y);
  x[2] = __uint_as_float (bits.z);
  x[3] = __uint_as_float (bits.w);
}

/* A bfloat16 is the upper half of the float of the same value. */
static __device__ __forceinline__ void
mhar_unpack (uint4 bits, float (&x)[8])
{
  const unsigned words[4] = { bits.x, bits.y, bits.z, bits.w };

#pragma unroll
  for (int i = 0; i < 4; i++) {
    x[2 * i] = __uint_as_float (words[i] << 16);
    x[2 * i + 1] = __uint_as_float (words[i] & 0xffff0000u);
  }
}

/* Two floats rounded to bfloat16, `low` in the lower half: the one of the lower address. */
static __device__ __forceinline__ unsigned
mhar_pack_pair (float low, float high)
{
  const __nv_bfloat162_raw pair = __floats2bfloat162_rn (low, high);

  return (unsigned) pair.x | (unsigned) pair.y << 16;
}

static __device__ __forceinline__ uint4
mhar_pack (const float (&x)[4])
{
  return make_uint4 (__float_as_uint (x[0]), __float_as_uint (x[1]), __float_as_uint (x[2]), __float_as_uint (x[3]));
}

static __device__ __forceinline__ uint4
mhar_pack (const float (&x)[8])
{
  return make_uint4 (mhar_pack_pair (x[0], x[1]), mhar_pack_pair (x[2], x[3]), mhar_pack_pair (x[4], x[5]),
                     mhar_pack_pair (x[6], x[7]));
}

/* N floats (a multiple of 4) from a 16-byte aligned table that no kernel writes. */
template <int N>
static __device__ __forceinline__ void
mhar_load_floats (const float *from, float (&x)[N])
{
#pragma unroll
  for (int i = 0; i < N; i += 4) {
    const float4 four = __ldg ((const float4 *) (from + i));

    x[i] = four.x;
    x[i + 1] = four.y;
    x[i + 2] = four.z;
    x[i + 3] = four.w;
  }
}

/* The sum over `lanes` (a power of two) neighbouring lanes, in every one of them; the whole warp must call it. */
static __device__ __forceinline__ float
mhar_lanes_sum (float x, int lanes)
{
  for (int step = lanes / 2; step > 0; step /= 2)
    x += __shfl_xor_sync (0xffffffffu, x, step);
  return x;
}
