/* SPDX-License-Identifier: MIT */
/* Sixteen bytes of a row at a time, or single elements where heads or widths do not allow it. */
#pragma once

#include "kernels/cuda/pack.cuh"
#include "kernels/cuda/ptx.cuh"
#include "kernels/cuda/route-private.cuh"

template <typename Real, int VEC>
static __device__ __forceinline__ MharVector<Real, VEC>
mhar_vector_get (const Real *from)
{
  return *(const MharVector<Real, VEC> *) from;
}

/* From device memory that this kernel reads once and does not write. */
template <typename Real, int VEC>
static __device__ __forceinline__ MharVector<Real, VEC>
mhar_vector_once (const Real *from)
{
  MharVector<Real, VEC> x;
  if constexpr (VEC > 1)
    x.bits = mhar_load_once (from);
  else
    x.bits = *from;
  return x;
}

template <typename Real, int VEC>
static __device__ __forceinline__ void
mhar_vector_open (const MharVector<Real, VEC> &v, float (&x)[VEC])
{
  if constexpr (VEC > 1)
    mhar_unpack (v.bits, x);
  else
    x[0] = mhar_to_float (v.bits);
}

/* Rounds. */
template <typename Real, int VEC>
static __device__ __forceinline__ MharVector<Real, VEC>
mhar_vector_close (const float (&x)[VEC])
{
  MharVector<Real, VEC> v;
  if constexpr (VEC > 1)
    v.bits = mhar_pack (x);
  else
    v.bits = mhar_from_float<Real> (x[0]);
  return v;
}

template <typename Real, int VEC>
static __device__ __forceinline__ void
mhar_vector_put (Real *to, const MharVector<Real, VEC> &v)
{
  *(MharVector<Real, VEC> *) to = v;
}

/* N floats that stand beside a row. */
template <int N>
static __device__ __forceinline__ void
mhar_floats_get (const float *from, float (&x)[N])
{
  if constexpr (N > 1) {
#pragma unroll
    for (int i = 0; i < N; i += 4) {
      const float4 f = *(const float4 *) (from + i);
      x[i] = f.x;
      x[i + 1] = f.y;
      x[i + 2] = f.z;
      x[i + 3] = f.w;
    }
  } else {
    x[0] = *from;
  }
}

/* The same, where they are read for the last time. */
template <int N>
static __device__ __forceinline__ void
mhar_floats_once (const float *from, float (&x)[N])
{
#pragma unroll
  for (int i = 0; i < N; i += 4) {
    const float4 f = __ldcs ((const float4 *) (from + i));
    x[i] = f.x;
    x[i + 1] = f.y;
    x[i + 2] = f.z;
    x[i + 3] = f.w;
  }
}

template <int N>
static __device__ __forceinline__ void
mhar_floats_put (float *to, const float (&x)[N])
{
  if constexpr (N > 1) {
#pragma unroll
    for (int i = 0; i < N; i += 4)
      *(float4 *) (to + i) = make_float4 (x[i], x[i + 1], x[i + 2], x[i + 3]);
  } else {
    *to = x[0];
  }
}

/* sum + the product of two times four floats. */
static __device__ __forceinline__ float
mhar_dot4 (uint4 a, uint4 b, float sum)
{
  sum = fmaf (__uint_as_float (a.x), __uint_as_float (b.x), sum);
  sum = fmaf (__uint_as_float (a.y), __uint_as_float (b.y), sum);
  sum = fmaf (__uint_as_float (a.z), __uint_as_float (b.z), sum);
  return fmaf (__uint_as_float (a.w), __uint_as_float (b.w), sum);
}
