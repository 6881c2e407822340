/* SPDX-License-Identifier: MIT */
/* Squares of rows that no read has measured, and where route-ahead.cu has no room, logits for the blocks to come.
 * Grid [tokens / TT, rows]; shared memory: a tile [TT, D] of the row and the scratch of route-score.cuh. */
#include "kernels/cuda/route-score.cuh"

template <typename Real, int VEC, typename Shape>
__global__ void __launch_bounds__ (Shape::THREADS, Shape::THREADS == 256 ? 2 : 1)
route_score_kernel (const __grid_constant__ MharScoreArgs<Real> a, const __grid_constant__ MharRowList rows)
{
  MHAR_SHARED (shared);
  mhar_wait_for_grid ();
  mhar_release_grid ();
  Real *tile = (Real *) shared;
  float *scratch = (float *) (tile + Shape::TT * mhar_tile_pitch<Real> (a.width));
  mhar_row_take<Real, VEC, Shape> (a, tile, rows.row[blockIdx.y], blockIdx.x * Shape::TT, scratch);
}

template <typename Real, typename Shape>
static size_t
score_bytes (const MharRoute *r)
{
  return Shape::TT * mhar_tile_pitch<Real> ((int) r->width) * sizeof (Real)
         + mhar_score_scratch<Shape> (r->plan.n_norms) * sizeof (float);
}

template <typename Real, int VEC, typename Shape>
static int
score_launch (MharContext *c, const MharRoute *r, const MharRowList &rows, int n, bool logits)
{
  MharScoreArgs<Real> a = mhar_score_args<Real> (r);
  a.logits_too = logits;
  const dim3 grid ((unsigned) ((r->tokens + Shape::TT - 1) / Shape::TT), n);
  return mhar_cuda_launch (c, "route score", route_score_kernel<Real, VEC, Shape>, grid, Shape::THREADS,
                           score_bytes<Real, Shape> (r), r->overlap, a, rows);
}

template <typename Real>
static int
score_rows (MharContext *c, const MharRoute *r, const MharRowList &rows, int n, bool logits)
{
  const int wide = MharWide<Real>::n;
  const size_t room = c->shared_per_block;
  if (mhar_route_is_wide (r, wide)) {
    if (r->tokens * n >= 32 * (size_t) c->n_multiprocessors && score_bytes<Real, MharTileShape<32, 256>> (r) <= room)
      return score_launch<Real, MharWide<Real>::n, MharTileShape<32, 256>> (c, r, rows, n, logits);
    if (score_bytes<Real, MharTileShape<16, 512>> (r) <= room)
      return score_launch<Real, MharWide<Real>::n, MharTileShape<16, 512>> (c, r, rows, n, logits);
  }
  if (score_bytes<Real, MharTileShape<8, 512>> (r) <= room)
    return score_launch<Real, 1, MharTileShape<8, 512>> (c, r, rows, n, logits);
  return mhar_cuda_unsupported (c, "a width of %zu is more than a thread block can hold", r->width);
}

int
mhar_route_score (MharContext *c, MharRoute *r, const int32_t *rows, int n, bool logits)
{
  for (int done = 0; done < n; done += MHAR_SCORE_ROWS) {
    MharRowList list = {};
    const int count = n - done < MHAR_SCORE_ROWS ? n - done : MHAR_SCORE_ROWS;
    for (int i = 0; i < count; i++) {
      list.row[i] = rows[done + i];
      r->measured[rows[done + i]] = MHAR_MEASURED_ALL;
      r->met[rows[done + i]] = r->reads + 1;
    }
    const int status = c->precision == MHAR_PRECISION_BF16 ? score_rows<__nv_bfloat16> (c, r, list, count, logits)
                                                           : score_rows<float> (c, r, list, count, logits);
    if (status)
      return status;
  }
  return MHAR_OK;
}

bool
mhar_route_may_overlap (void)
{
  return mhar_cuda_may_overlap (route_score_kernel<__nv_bfloat16, 8, MharTileShape<32, 256>>);
}
