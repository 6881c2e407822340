/* SPDX-License-Identifier: MIT */
/* Logits of rows against the queries of all blocks of sites to come, on tensor cores: see route-score.cuh. A warp takes
 * 32 tokens of a row and the channels of one head, alone; the warps of a thread block take the same head, so that its
 * packed queries come from L1. Σ s² is on file. */
#include "kernels/cuda/route-score.cuh"

#define AHEAD_WARPS 8
using AheadShape = MharTileShape<32, 32>;

/* Starts bringing a warp's tile: zeros past the last token and past the width. */
static __device__ __forceinline__ void
ahead_bring (const MharScoreArgs<__nv_bfloat16> &a, int row, const MharTileGroup &group, int first_token, int pitch,
             __nv_bfloat16 *tile)
{
  const int units = group.n_steps * 2;
  const __nv_bfloat16 *from = a.history + row * a.row_elements;
  for (int i = threadIdx.x % 32; i < AheadShape::TT * units; i += 32) {
    const int t = i / units, at = i % units * 8, channel = group.first_step * MHAR_STEP + at;
    const bool there = first_token + t < a.tokens && channel < a.width;
    const size_t offset = there ? (size_t) (first_token + t) * a.width + channel : 0;
    mhar_copy_start (mhar_shared_address (tile + t * pitch + at), from + offset, there);
  }
}

static __device__ __forceinline__ bool
ahead_same (const MharTileGroup &x, const MharTileGroup &y)
{
  return x.first_step == y.first_step && x.n_steps == y.n_steps;
}

/* Grid [groups, tokens / 256, rows]: the block of a head's first group does them all. Shared memory: a tile a warp,
 * then 1/rms of its tokens. */
__global__ void __launch_bounds__ (AHEAD_WARPS * 32, 2)
route_ahead_kernel (const __grid_constant__ MharScoreArgs<__nv_bfloat16> a, const __grid_constant__ MharRowList rows,
                    int pitch)
{
  MHAR_SHARED (shared);
  mhar_wait_for_grid ();
  mhar_release_grid ();
  const int row = rows.row[blockIdx.z], warp = threadIdx.x / 32, lane = threadIdx.x % 32, last = a.rows[row].n_groups;
  const MharTileGroup *groups = a.groups + a.rows[row].first_group;
  const int first_token = (blockIdx.y * AHEAD_WARPS + warp) * AheadShape::TT;
  int g = blockIdx.x;
  if (g >= last || first_token >= a.tokens || (g > 0 && ahead_same (groups[g], groups[g - 1])))
    return;
  __nv_bfloat16 *tile = (__nv_bfloat16 *) shared + warp * AheadShape::TT * pitch;
  float *inverse = (float *) ((__nv_bfloat16 *) shared + AHEAD_WARPS * AheadShape::TT * pitch) + warp * AheadShape::TT;
  MharTileGroup group = groups[g];
  ahead_bring (a, row, group, first_token, pitch, tile);
  const float square = a.squares[(size_t) row * a.n_norms * a.stride + first_token + lane];
  inverse[lane] = 1.0f / sqrtf (square / a.width + a.eps);
  mhar_copy_wait ();
  __syncwarp ();
  do {
    const uint4 *pack[AheadShape::G];
#pragma unroll
    for (int j = 0; j < AheadShape::G; j++)
      pack[j] = a.pack + a.tiles[group.first_tile + (j < group.n_tiles ? j : 0)].pack;
    float acc[AheadShape::G][AheadShape::M][4] = {};
    const MharTileGroup here = { 0, group.n_steps, group.first_tile, group.n_tiles };
    mhar_score_product<AheadShape> (tile, pitch, here, 0, here.n_steps, pack, here.n_tiles, acc);
#pragma unroll
    for (int j = 0; j < AheadShape::G; j++)
      if (j < group.n_tiles)
        mhar_tile_emit<__nv_bfloat16, AheadShape> (a, group.first_tile + j, acc[j], first_token, inverse, NULL);
    group = ++g < last ? groups[g] : MharTileGroup{};
  } while (g < last && ahead_same (group, groups[blockIdx.x]));
}

/* ---- launching ---- */

/* Elements from token to token: the steps of the widest head, and 16 bytes against bank conflicts. */
static int
ahead_pitch (const MharRoute *r)
{
  int32_t most = 0;
  for (int i = 0; i < r->plan.classes.n; i++) {
    const MharRouteClass *of = &r->plan.classes.items[i];
    for (int h = 0; h < (of->whole ? 1 : of->heads); h++) {
      int32_t first, n;
      mhar_head_steps (r->width, of->whole ? 1 : of->heads, h, &first, &n);
      most = n > most ? n : most;
    }
  }
  return most * MHAR_STEP + 8;
}

static size_t
ahead_bytes (const MharRoute *r)
{
  return AHEAD_WARPS * AheadShape::TT * (ahead_pitch (r) * sizeof (__nv_bfloat16) + sizeof (float));
}

bool
mhar_route_ahead_fits (const MharContext *c, const MharRoute *r)
{
  return c->precision == MHAR_PRECISION_BF16 && mhar_route_is_wide (r, MharWide<__nv_bfloat16>::n)
         && ahead_bytes (r) <= c->shared_per_block;
}

int
mhar_route_score_ahead (MharContext *c, const MharRoute *r, const int32_t *rows, int n)
{
  for (int done = 0; done < n; done += MHAR_SCORE_ROWS) {
    MharRowList list = {};
    int32_t groups = 1;
    const int count = n - done < MHAR_SCORE_ROWS ? n - done : MHAR_SCORE_ROWS;
    for (int i = 0; i < count; i++) {
      const int32_t here = r->plan.rows.items[rows[done + i]].n_groups;
      list.row[i] = rows[done + i];
      groups = here > groups ? here : groups;
    }
    const int tokens = AHEAD_WARPS * AheadShape::TT;
    const dim3 grid (groups, (unsigned) (r->tokens + tokens - 1) / tokens, count);
    const int status = mhar_cuda_launch (c, "route ahead", route_ahead_kernel, grid, AHEAD_WARPS * 32, ahead_bytes (r),
                                         r->overlap, mhar_score_args<__nv_bfloat16> (r), list, ahead_pitch (r));
    if (status)
      return status;
  }
  return MHAR_OK;
}
