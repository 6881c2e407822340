/* SPDX-License-Identifier: MIT */
/* Queries of a null in the order its kernels want them, and the rows of a window with their coordinates gathered slice
 * by slice, for slices that interleave. */
#include "kernels/cuda/null-pack.cuh"

/* Coordinate i of part p of a query, zero where there is none. With interleaved slices coordinate i of the gathered row
 * is i / width of the slice's, from slice to slice `parts` apart in the original. */
static __device__ double
query_at (const MharNullPack &a, int query, int p, int i)
{
  const int width = a.whole ? a.width : a.width / a.parts;
  if (i >= a.width || (!a.whole && i / width != p))
    return 0;
  const int from = a.interleaved ? i % width * a.parts + i / width : i;
  return a.queries[(a.whole ? ((size_t) query * a.parts + p) : (size_t) query) * a.width + from];
}

/* A pair of neighbouring channels `pair` of a step as bf16, and what rounding left of them, where an operand
 * [16 queries, 16 channels] (mma.cuh) has them. */
static __device__ void
pack_pair (const MharNullPack &a, uint32_t *step, int slot, int pair, const double (&x)[2])
{
  float high[2], rest[2];
  for (int j = 0; j < 2; j++) {
    high[j] = __bfloat162float (__float2bfloat16_rn ((float) x[j]));
    rest[j] = (float) (x[j] - high[j]);
  }
  const int lane = slot % 8 * 4 + pair % 4, word = slot % NULL_QUERIES / 8 + pair / 4 * 2;
  step[lane * 4 + word] = mhar_pack_pair (high[0], high[1]);
  if (a.double_width)
    step[128 + lane * 4 + word] = mhar_pack_pair (rest[0], rest[1]);
}

/* A thread a pair of channels. Grid [pairs / 128, queries]. */
__global__ void
null_pack_kernel (const __grid_constant__ MharNullPack a)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x, step = i / (MHAR_STEP / 2), pair = i % (MHAR_STEP / 2);
  if (step >= a.steps)
    return;
  int p = 0;
  while (p + 1 < a.parts && a.part[p + 1].base <= step)
    p++;
  const int at = (a.part[p].first_step + step - a.part[p].base) * MHAR_STEP + pair * 2;
  const double x[2] = { query_at (a, blockIdx.y, p, at), query_at (a, blockIdx.y, p, at + 1) };
  const int slot = a.first_slot + blockIdx.y, units = a.bf16 ? 32 + 32 * a.double_width : 64;
  uint32_t *to = a.pack + ((size_t) (slot / NULL_QUERIES) * a.units_a_tile + (size_t) step * units) * 4;
  if (a.bf16) {
    pack_pair (a, to, slot, pair, x);
  } else {
    to[slot % NULL_QUERIES * MHAR_STEP + pair * 2] = __float_as_uint ((float) x[0]);
    to[slot % NULL_QUERIES * MHAR_STEP + pair * 2 + 1] = __float_as_uint ((float) x[1]);
  }
}

int
mhar_null_pack (MharContext *c, const MharNullPack &pack)
{
  for (int first = 0, status = MHAR_OK; first < pack.n_queries; first += 65535) {
    MharNullPack some = pack;
    some.queries += (size_t) first * (pack.whole ? pack.parts : 1) * pack.width;
    some.first_slot += first;
    some.n_queries = pack.n_queries - first < 65535 ? pack.n_queries - first : 65535;
    const dim3 grid ((unsigned) (pack.steps * (MHAR_STEP / 2) + 127) / 128, some.n_queries);
    status = mhar_cuda_launch (c, "null pack", null_pack_kernel, grid, 128, 0, false, some);
    if (status)
      return status;
  }
  return MHAR_OK;
}

/* to[row, t, s·width + j] = from[row, first + t, j·slices + s]. Grid [tokens, rows]. */
template <typename Real>
__global__ void
null_gather_kernel (const Real *from, size_t from_elements, Real *to, size_t to_elements, size_t first, int width,
                    int slices)
{
  const Real *x = from + blockIdx.y * from_elements + (first + blockIdx.x) * width;
  Real *y = to + blockIdx.y * to_elements + (size_t) blockIdx.x * width;
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    y[i] = x[i % (width / slices) * slices + i / (width / slices)];
}

template <typename Real>
int
mhar_null_gather (MharContext *c, const MharRoute *r, Real *to, size_t first, size_t count, int slices)
{
  const dim3 grid ((unsigned) count, r->n_rows);
  return mhar_cuda_launch (c, "null gather", null_gather_kernel<Real>, grid, 128, 0, false,
                           (const Real *) r->history.data, r->max_tokens * r->width, to, count * r->width, first,
                           (int) r->width, slices);
}

template int mhar_null_gather (MharContext *, const MharRoute *, float *, size_t, size_t, int);
template int mhar_null_gather (MharContext *, const MharRoute *, __nv_bfloat16 *, size_t, size_t, int);

/* inverse = log₂e / sqrt (mean s² + eps) of every row and token. */
__global__ void
null_inverse_kernel (const float *squares, size_t from_row, size_t stride, int tokens, int width, float eps,
                     float *inverse)
{
  const int token = blockIdx.x * blockDim.x + threadIdx.x;
  if (token < tokens)
    inverse[blockIdx.y * stride + token] = 1.44269504f / sqrtf (squares[blockIdx.y * from_row + token] / width + eps);
}

int
mhar_null_inverse (MharContext *c, const MharRoute *r, float *inverse)
{
  return mhar_cuda_launch (c, "null inverse", null_inverse_kernel, dim3 ((unsigned) (r->tokens + 127) / 128, r->n_rows),
                           128, 0, false, (const float *) r->squares, r->plan.n_norms * r->stride, r->stride,
                           (int) r->tokens, (int) r->width, (float) r->eps, inverse);
}
