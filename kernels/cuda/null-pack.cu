/* SPDX-License-Identifier: MIT */
/* Queries of a null in the order its kernels want them, and the rows of a window with their coordinates gathered slice
 * by slice, for slices that interleave. */
#include "kernels/cuda/null-pack.cuh"

/* Query `q` of a tile at coordinate i of part p, zero where there is none. With interleaved slices coordinate i of the
 * gathered row is i / width of the slice's, from slice to slice `parts` apart in the original. */
static __device__ float
query_at (const MharNullPack &a, int tile, int p, int i, int q, float *rest)
{
  const int query = tile * NULL_QUERIES + q, width = a.whole ? a.width : a.width / a.parts;
  *rest = 0;
  if (query >= a.n_queries || i >= a.width || (!a.whole && i / width != p))
    return 0;
  const int from = a.interleaved ? i % width * a.parts + i / width : i;
  const double x = a.queries[(a.whole ? ((size_t) query * a.parts + p) : (size_t) query) * a.width + from];
  const float high = a.bf16 ? __bfloat162float (__float2bfloat16_rn ((float) x)) : (float) x;
  *rest = (float) (x - high);
  return high;
}

/* Two neighbouring coordinates as bf16; `low`: what rounding left of them. */
static __device__ uint32_t
query_pair (const MharNullPack &a, int tile, int p, int i, int q, bool low)
{
  float rest[2], high[2];
  for (int j = 0; j < 2; j++)
    high[j] = query_at (a, tile, p, i + j, q, rest + j);
  return low ? mhar_pack_pair (rest[0], rest[1]) : mhar_pack_pair (high[0], high[1]);
}

/* A thread a unit of 16 bytes. bf16: an operand [16 queries, 16 channels] (mma.cuh) a step, then what rounding left;
 * float32: [16 queries, 16 channels] as they are. */
__global__ void
null_pack_kernel (const __grid_constant__ MharNullPack a)
{
  const int64_t unit = (int64_t) blockIdx.x * blockDim.x + threadIdx.x;
  if (unit >= (int64_t) a.n_tiles * a.units_a_tile)
    return;
  const int tile = (int) (unit / a.units_a_tile), within = (int) (unit % a.units_a_tile), step = within / a.step_units;
  int p = 0;
  while (p + 1 < a.parts && a.part[p + 1].base <= step)
    p++;
  const int at = (a.part[p].first_step + step - a.part[p].base) * MHAR_STEP, lane = within % a.step_units;
  uint4 bits;
  if (a.bf16) {
    const int q = lane % 32 / 4, i = at + lane % 4 * 2;
    const bool low = lane >= 32;
    bits = make_uint4 (query_pair (a, tile, p, i, q, low), query_pair (a, tile, p, i, q + 8, low),
                       query_pair (a, tile, p, i + 8, q, low), query_pair (a, tile, p, i + 8, q + 8, low));
  } else {
    float rest, x[4];
    for (int j = 0; j < 4; j++)
      x[j] = query_at (a, tile, p, at + lane % 4 * 4 + j, lane / 4, &rest);
    bits = mhar_pack (x);
  }
  a.pack[unit] = bits;
}

int
mhar_null_pack (MharContext *c, const MharNullPack &pack)
{
  const int64_t units = (int64_t) pack.n_tiles * pack.units_a_tile;
  const dim3 grid ((unsigned) ((units + 127) / 128));
  return mhar_cuda_launch (c, "null pack", null_pack_kernel, grid, 128, 0, false, pack);
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
