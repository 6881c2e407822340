/* SPDX-License-Identifier: MIT */
/* The older rows of a block of sites, read once and mixed for all of its sites. For each column k (a site, or a head of
 * a whole site) and head h, over the older rows n:
 *   top = max_n l, sum = Σ_n e^(l − top), partial = Σ_n e^(l − top) s_n,
 * exact whatever comes later: route-read.cu rescales them. A warp takes a token and some channels of one head, alone:
 * 16 rows at a time come to its part of shared memory while the 16 before are mixed on tensor cores, channels × rows
 * × 8 columns. The rows are exact and a weight is the sum of two bf16 numbers, 16 bits of significand. Who holds what is
 * told in mma.cuh; the weights are formed by the lanes that need them, from logits that the thread block brought to
 * shared memory for its 8 tokens. */
#include "kernels/cuda/vector.cuh"

#define OLDER_TOKENS 8 /* of a thread block, a warp each: one 32-byte sector of every logit plane */
#define OLDER_ROWS 16  /* the depth of one product */
#define OLDER_STAGES 2
#define OLDER_LOGITS 80 /* rows whose logits are in shared memory at a time: five products */
#define OLDER_TILES 10 /* 16-channel tiles of a warp, at most */

struct OlderArgs {
  const __nv_bfloat16 *history;
  size_t row_elements, stride, partial_elements;
  int tokens, width, heads;    /* heads within a column */
  int spans, channels;         /* a head's parts, and the channels of each but perhaps the last */
  int n, columns;              /* older rows; columns of the block of sites */
  const int32_t *rows, *plane; /* [n], [n, columns] */
  int head_step[MHAR_TILE];    /* planes from head to head of a column, if there are several heads */
  const float *logits;
  float *partial, *top, *sum;
};

/* What a warp works on. `pitch`: elements from row to row in shared memory, an odd number of 16 bytes. */
struct OlderPlace {
  int token, head, channel, channels, first_column, column, pitch;
};

static __device__ __forceinline__ OlderPlace
older_place (const OlderArgs &a)
{
  const int part = a.width / a.heads, span = blockIdx.x % a.spans;
  OlderPlace p;
  p.token = blockIdx.y * OLDER_TOKENS + threadIdx.x / 32;
  p.head = blockIdx.x / a.spans;
  p.channel = p.head * part + span * a.channels;
  p.channels = min (a.channels, part - span * a.channels);
  p.first_column = blockIdx.z * MHAR_TILE;
  p.column = p.first_column + threadIdx.x % 32 / 4;
  p.pitch = (a.channels + 15) / 16 * 16 + 8;
  return p;
}

/* Starts bringing rows [from, from + 16), zeros past the last. */
static __device__ __forceinline__ void
older_bring (const OlderArgs &a, const OlderPlace &p, int from, __nv_bfloat16 *to)
{
  const int units = p.channels / 8, inverse = 65536 / units + 1;
  const __nv_bfloat16 *at = a.history + (size_t) p.token * a.width + p.channel;
  for (int i = threadIdx.x % 32; i < OLDER_ROWS * units; i += 32) {
    const int row = i * inverse >> 16, unit = i - row * units;
    const bool there = from + row < a.n;
    const size_t offset = there ? a.rows[from + row] * a.row_elements : 0;
    mhar_copy_start (mhar_shared_address (to + row * p.pitch + unit * 8), at + offset + unit * 8, there);
  }
}

/* Logits of rows [from, from + OLDER_LOGITS) for the block's tokens: [row, column, token]. Planes are padded to whole
 * sectors, so tokens past the last may be read. */
static __device__ __forceinline__ void
older_fetch (const OlderArgs &a, const OlderPlace &p, int from, float *logits)
{
  const int count = min (OLDER_LOGITS, a.n - from);
  for (int i = threadIdx.x; i < count * MHAR_TILE * 2; i += OLDER_TOKENS * 32) {
    const int half = i % 2 * 4, k = i / 2 % MHAR_TILE, n = i / (2 * MHAR_TILE);
    if (p.first_column + k >= a.columns)
      continue;
    const int plane = a.plane[(from + n) * a.columns + p.first_column + k] + p.head * a.head_step[k];
    mhar_copy_start (mhar_shared_address (logits + (n * MHAR_TILE + k) * OLDER_TOKENS + half),
                     a.logits + (size_t) plane * a.stride + blockIdx.y * OLDER_TOKENS + half, true);
  }
}

/* The logits of this lane's column and its four rows of a product: 2t, 2t + 1, 2t + 8, 2t + 9. left: rows there are. */
static __device__ __forceinline__ void
older_logits (const OlderArgs &a, const OlderPlace &p, int left, const float *logits, float (&l)[4])
{
  const float *at = logits + threadIdx.x % 32 / 4 * OLDER_TOKENS + threadIdx.x / 32;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const int n = threadIdx.x % 4 * 2 + i % 2 + i / 2 * 8;
    l[i] = n < left && p.column < a.columns ? at[n * MHAR_TILE * OLDER_TOKENS] : -INFINITY;
  }
}

/* Turns the logits into e^(l − top) and brings top and this lane's part of the sum up to date; what the mix so far is
 * to be multiplied by. */
static __device__ __forceinline__ float
older_weights (float (&l)[4], float *top, float *sum)
{
  float m = fmaxf (fmaxf (l[0], l[1]), fmaxf (l[2], l[3]));
  m = fmaxf (m, __shfl_xor_sync (0xffffffffu, m, 1));
  m = fmaxf (*top, fmaxf (m, __shfl_xor_sync (0xffffffffu, m, 2)));
  const float factor = m == *top ? 1.0f : expf (*top - m);
  *top = m;
#pragma unroll
  for (int i = 0; i < 4; i++)
    l[i] = m == -INFINITY ? 0.0f : expf (l[i] - m);
  *sum = *sum * factor + ((l[0] + l[1]) + (l[2] + l[3]));
  return factor;
}

/* Two weights as pairs of bf16: rounded, and what the rounding left. */
static __device__ __forceinline__ void
older_split (float a, float b, uint32_t *high, uint32_t *low)
{
  *high = mhar_pack_pair (a, b);
  *low = mhar_pack_pair (a - __uint_as_float (*high << 16), b - __uint_as_float (*high & 0xffff0000u));
}

/* mix = mix·factor + channels × rows × columns. */
static __device__ __forceinline__ void
older_mix (const OlderPlace &p, const __nv_bfloat16 *rows, const float (&w)[4], float factor,
           float (&mix)[OLDER_TILES][4])
{
  const int lane = threadIdx.x % 32;
  const float even = __shfl_sync (0xffffffffu, factor, lane % 4 * 8);
  const float odd = __shfl_sync (0xffffffffu, factor, lane % 4 * 8 + 4);
  const uint32_t at = mhar_shared_address (rows + (lane % 8 + lane / 16 * 8) * p.pitch + lane / 8 % 2 * 8);
  uint32_t high[2], low[2];
  older_split (w[0], w[1], &high[0], &low[0]);
  older_split (w[2], w[3], &high[1], &low[1]);
#pragma unroll
  for (int m = 0; m < OLDER_TILES; m++)
    if (m * 16 < p.channels) {
      uint32_t s[4];
      mhar_matrix_load_transposed (s, at + m * 16 * sizeof (__nv_bfloat16));
#pragma unroll
      for (int i = 0; i < 4; i++)
        mix[m][i] *= i % 2 ? odd : even;
      mhar_mma (mix[m], s, high[0], high[1]);
      mhar_mma (mix[m], s, low[0], low[1]);
    }
}

static __device__ __forceinline__ void
older_put (const OlderArgs &a, const OlderPlace &p, float top, float sum, const float (&mix)[OLDER_TILES][4])
{
  const int lane = threadIdx.x % 32;
  if (lane % 4 == 0 && p.column < a.columns && p.channel == p.head * (a.width / a.heads)) {
    const size_t to = ((size_t) p.column * a.heads + p.head) * a.stride + p.token;
    a.top[to] = top;
    a.sum[to] = sum;
  }
  float *to = a.partial + (size_t) p.token * a.width + p.channel;
#pragma unroll
  for (int m = 0; m < OLDER_TILES; m++)
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const int channel = m * 16 + lane / 4 + i / 2 * 8, column = p.first_column + lane % 4 * 2 + i % 2;
      if (channel < p.channels && column < a.columns)
        to[column * a.partial_elements + channel] = mix[m][i];
    }
}

/* One product of 16 rows from `from` on; the next but one is brought into the place of its rows. */
static __device__ __forceinline__ void
older_step (const OlderArgs &a, const OlderPlace &p, int from, const float *logits, __nv_bfloat16 *rows, float *top,
            float *sum, float (&mix)[OLDER_TILES][4])
{
  float w[4];
  older_logits (a, p, a.n - from, logits, w);
  const float factor = older_weights (w, top, sum);
  mhar_copy_groups<OLDER_STAGES - 1> ();
  __syncwarp ();
  older_mix (p, rows, w, factor, mix);
  __syncwarp ();
  if (from + OLDER_STAGES * OLDER_ROWS < a.n)
    older_bring (a, p, from + OLDER_STAGES * OLDER_ROWS, rows);
  mhar_copy_close ();
}

/* Grid [spans of all heads, tokens / OLDER_TOKENS, columns / 8]. Shared memory: the logits, then each warp's rows. */
__global__ void __launch_bounds__ (OLDER_TOKENS * 32, 2)
route_older_kernel (const __grid_constant__ OlderArgs a)
{
  MHAR_SHARED (shared);
  const OlderPlace p = older_place (a);
  const int stage = OLDER_ROWS * p.pitch;
  float *logits = (float *) shared;
  __nv_bfloat16 *rows = (__nv_bfloat16 *) (logits + OLDER_LOGITS * MHAR_TILE * OLDER_TOKENS)
                        + threadIdx.x / 32 * OLDER_STAGES * stage;
  float mix[OLDER_TILES][4] = {}, top = -INFINITY, sum = 0;
  const bool live = p.token < a.tokens;
  mhar_wait_for_grid ();
  mhar_release_grid ();
  for (int from = 0; from < a.n; from += OLDER_LOGITS) {
    __syncthreads ();
    older_fetch (a, p, from, logits);
    mhar_copy_close ();
    for (int i = 0; i < OLDER_STAGES && live && from == 0; i++) {
      older_bring (a, p, i * OLDER_ROWS, rows + i * stage);
      mhar_copy_close ();
    }
    if (from == 0 && live)
      mhar_copy_groups<OLDER_STAGES> ();
    else
      mhar_copy_groups<0> ();
    __syncthreads ();
    for (int at = from; at < min (from + OLDER_LOGITS, a.n) && live; at += OLDER_ROWS)
      older_step (a, p, at, logits + (at - from) * MHAR_TILE * OLDER_TOKENS,
                  rows + at / OLDER_ROWS % OLDER_STAGES * stage, &top, &sum, mix);
  }
  sum += __shfl_xor_sync (0xffffffffu, sum, 1);
  sum += __shfl_xor_sync (0xffffffffu, sum, 2);
  if (live)
    older_put (a, p, top, sum, mix);
}

/* ---- launching ---- */

static OlderArgs
older_args (const MharRoute *r, const MharBlockPlan *block)
{
  const MharRouteClass *of = &r->plan.classes.items[block->in_class];
  OlderArgs a = {};
  a.history = (const __nv_bfloat16 *) r->history.data;
  a.row_elements = a.partial_elements = r->max_tokens * r->width;
  a.stride = r->stride;
  a.tokens = (int) r->tokens;
  a.width = (int) r->width;
  a.heads = of->whole ? 1 : of->heads;
  const int part = a.width / a.heads, tiles = (part + 15) / 16;
  a.spans = (tiles + OLDER_TILES - 1) / OLDER_TILES;
  a.channels = a.spans == 1 ? part : (tiles + a.spans - 1) / a.spans * 16;
  a.spans = (part + a.channels - 1) / a.channels;
  a.n = block->n_older;
  a.columns = block->columns;
  a.rows = r->on_device.older + block->first_older;
  a.plane = r->on_device.older_plane + block->first_plane;
  a.logits = r->logits;
  a.partial = of->partial;
  a.top = of->top;
  a.sum = of->sum;
  for (int32_t s = block->first_site, k = 0; !of->whole && k < block->n_sites; s++)
    if (r->plan.sites.items[s].in_class == block->in_class)
      a.head_step[k++] = r->plan.sites.items[s].n_sources;
  return a;
}

int
mhar_route_mix_older (MharContext *c, MharRoute *r, int32_t block)
{
  if (c->precision == MHAR_PRECISION_F32)
    return mhar_route_mix_older_f32 (c, r, block);
  const OlderArgs a = older_args (r, &r->plan.blocks.items[block]);
  const dim3 grid (a.spans * a.heads, (a.tokens + OLDER_TOKENS - 1) / OLDER_TOKENS,
                   (a.columns + MHAR_TILE - 1) / MHAR_TILE);
  const size_t row = ((a.channels + 15) / 16 * 16 + 8) * sizeof (__nv_bfloat16);
  const size_t shared = OLDER_LOGITS * MHAR_TILE * OLDER_TOKENS * sizeof (float)
                        + OLDER_TOKENS * OLDER_STAGES * OLDER_ROWS * row;
  return mhar_cuda_launch (c, "route older", route_older_kernel, grid, OLDER_TOKENS * 32, shared, r->overlap, a);
}
