/* SPDX-License-Identifier: MIT */
/* What null.cu has prepared before its kernels run. */
#pragma once

#include "kernels/cuda/null-private.cuh"
#include "kernels/cuda/pack.cuh"

/* One entry's queries, on the device in double, to be packed as `n_tiles` tiles. */
struct MharNullPack {
  const double *queries; /* [Q, D], or [Q, parts, D] at a whole site */
  const MharNullPart *part;
  uint4 *pack;
  int n_queries, n_tiles, width, parts, whole, interleaved, bf16, step_units, units_a_tile;
};

int mhar_null_pack (MharContext *c, const MharNullPack &pack);

/* Tokens [first, first + count) of all rows to `to` [R, count, D], slices that interleave made contiguous. */
template <typename Real>
int mhar_null_gather (MharContext *c, const MharRoute *r, Real *to, size_t first, size_t count, int slices);

/* inverse [R, stride]: log₂e / rms. */
int mhar_null_inverse (MharContext *c, const MharRoute *r, float *inverse);
