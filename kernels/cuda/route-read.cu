/* SPDX-License-Identifier: MIT */
/* One read of the depth history, one kernel a site: a few warps take a token and
 *   1. take the older part, whose maximum, sum and mix are known;
 *   2. take the site's newest rows, a few at a time while the next few are on their way to shared memory: score them, and
 *      bring the running maximum, sum and mix of Eq. 3 up to date;
 *   3. write the mix, its RMSNorm, or both.
 * Eq. 3 of arXiv 2607.27230: h = Σ_n softmax_n (q·RMSNorm(s_n)) s_n, head by head.
 *
 * A head belongs to `lanes` neighbouring lanes, a power of two: they alone hold its channels, so its logits take a few
 * shuffles and its weights none; only Σ s² is summed over all lanes of the token. A lane reads nothing of shared memory
 * but what it brought there itself. Rows that an earlier read has met have their Σ s² on file; where all thread blocks
 * run at once, they are taken before this kernel waits for the one before it. */
#include "kernels/cuda/vector.cuh"

#define READ_SOURCES 160 /* newest rows of a site, at most: the list is a kernel parameter */
#define READ_WARPS 8     /* that share a token, at most */
#define READ_UNITS 5     /* sixteen-byte units of a row a lane holds, at most */
#define READ_TOKENS 4    /* of a thread block where a warp has a token to itself */
#define READ_STAGES 2    /* steps of rows, at most, are on their way */

/* Rows a step takes: where they are wide a barrier of the thread block is what a step costs. */
static __host__ __device__ constexpr int
read_rows (int units, bool cross)
{
  return cross && units <= 2 ? 3 : 2;
}

/* Warps of a multiprocessor that the registers suffice for. */
static __host__ __device__ constexpr int
read_resident (int units)
{
  return units <= 2 ? 24 : 16;
}

template <typename Real> struct ReadArgs {
  const Real *history;
  const float *query;
  float *logits, *squares;
  size_t row_elements, stride;
  int tokens, width;
  int heads, lanes;     /* of a column: parts of a row with a weight each, and lanes of each */
  int plane, n_sources; /* of the site */
  int n, n_ready, n_met; /* newest rows; those of them whose Σ s² is there before the last read, and after it */
  int norm, n_norms;    /* norm plane, within a row, of the first head or, 0, of the row; norm planes of a row */
  float bias, eps, norm_eps;
  const float *partial, *top, *sum; /* older part of the site's first column, or NULL */
  size_t partial_elements;          /* from column to column */
  Real *mix, *normed;
  const float *gain;
  bool early, backwards; /* ready rows before waiting; the last tokens first */
  MharSource source[READ_SOURCES];
};

/* What a lane knows of its token: its head's running maximum and sum, and U·VEC channels of the mix. */
template <int U, int VEC> struct ReadState {
  float top, sum, mix[U][VEC];
};

/* A lane's place: its token, head, and first channel; `live`: there is such a token and head. */
struct ReadPlace {
  int token, head, channel;
  bool live;
};

template <typename Real, bool CROSS>
static __device__ __forceinline__ ReadPlace
read_place (const ReadArgs<Real> &a, int vec)
{
  const int block = a.backwards ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
  const int lane = CROSS ? threadIdx.x : threadIdx.x % 32;
  ReadPlace p;
  p.token = CROSS ? block : block * READ_TOKENS + threadIdx.x / 32;
  p.head = lane / a.lanes;
  p.live = p.token < a.tokens && p.head < a.heads;
  p.channel = p.live ? p.head * (a.width / a.heads) + lane % a.lanes * vec : 0;
  return p;
}

/* Sums of N numbers each over the `lanes` lanes of a head or, lanes = 0, of the token; every thread calls it. `turn`
 * alternates between two places in shared memory: one barrier a call then keeps a call's numbers until all have them. */
template <bool CROSS, int N>
static __device__ __forceinline__ void
read_sums (float (&x)[N], int lanes, int *turn)
{
  for (int step = (lanes == 0 || lanes > 32 ? 32 : lanes) / 2; step > 0; step /= 2)
#pragma unroll
    for (int i = 0; i < N; i++)
      x[i] += __shfl_xor_sync (0xffffffffu, x[i], step);
  if constexpr (CROSS) {
    __shared__ float part[2][N][READ_WARPS];
    if (lanes > 0 && lanes <= 32)
      return;
    const int warps = lanes ? lanes / 32 : blockDim.x / 32, first = threadIdx.x / 32 / warps * warps;
    float (&here)[N][READ_WARPS] = part[*turn];
    *turn ^= 1;
#pragma unroll
    for (int i = 0; i < N; i++)
      here[i][threadIdx.x / 32] = x[i];
    __syncthreads ();
#pragma unroll
    for (int i = 0; i < N; i++) {
      x[i] = 0;
      for (int w = 0; w < warps; w++)
        x[i] += here[i][first + w];
    }
  }
}

/* Products with the query and, if `measure`, squares of rows in registers, over a lane's channels. */
template <typename Real, int VEC, int U, bool measure, int ROWS>
static __device__ __forceinline__ void
read_products (const MharVector<Real, VEC> (&x)[ROWS][U], const float *query, int step, float (&dot)[ROWS],
               float (&square)[ROWS])
{
#pragma unroll
  for (int u = 0; u < U; u++) {
    float q[VEC];
    mhar_load_floats<VEC> (query + u * step, q);
#pragma unroll
    for (int c = 0; c < ROWS; c++) {
      float s[VEC];
      mhar_vector_open<Real, VEC> (x[c][u], s);
#pragma unroll
      for (int i = 0; i < VEC; i++) {
        dot[c] = fmaf (q[i], s[i], dot[c]);
        if (measure)
          square[c] = fmaf (s[i], s[i], square[c]);
      }
    }
  }
}

/* Rows of step i: ready and fresh rows do not share one. */
struct ReadStep {
  int from, count;
};

template <int ROWS, typename Real>
static __device__ __forceinline__ ReadStep
read_step (const ReadArgs<Real> &a, int i)
{
  const int ready = (a.n_ready + ROWS - 1) / ROWS;
  const int from = i < ready ? i * ROWS : a.n_ready + (i - ready) * ROWS;
  return ReadStep{ from, min (ROWS, (i < ready ? a.n_ready : a.n) - from) };
}

/* Starts bringing this lane's part of a step's rows to `to`: [ROWS, U, 32 lanes] of sixteen bytes. */
template <int ROWS, typename Real, int VEC, int U>
static __device__ __forceinline__ void
read_bring (const ReadArgs<Real> &a, const ReadPlace &p, ReadStep step, uint4 *to)
{
  const Real *at = a.history + (size_t) p.token * a.width + p.channel;
#pragma unroll
  for (int c = 0; c < ROWS; c++) {
    const bool there = p.live && c < step.count;
    const Real *from = there ? at + a.source[step.from + c].row * a.row_elements : a.history;
#pragma unroll
    for (int u = 0; u < U; u++)
      mhar_copy_start (mhar_shared_address (to + (c * U + u) * 32), there ? from + u * a.lanes * VEC : from, there);
  }
}

/* Products and squares of a step's rows, of a lane's part, summed: over its head, `square` over the row too. A row of
 * one head takes one barrier. Every thread calls it. */
template <bool CROSS, typename Real, int ROWS>
static __device__ __forceinline__ void
read_both (const ReadArgs<Real> &a, float (&dot)[ROWS], float (&square)[ROWS], float (&part)[ROWS], int *turn)
{
  float both[2 * ROWS];
#pragma unroll
  for (int c = 0; c < ROWS; c++) {
    both[c] = part[c] = square[c];
    both[ROWS + c] = dot[c];
  }
  if (a.heads == 1)
    read_sums<CROSS> (both, 0, turn);
  else {
    read_sums<CROSS> (square, 0, turn);
    read_sums<CROSS> (dot, a.lanes, turn);
    if (a.norm)
      read_sums<CROSS> (part, a.lanes, turn);
    return;
  }
#pragma unroll
  for (int c = 0; c < ROWS; c++) {
    square[c] = part[c] = both[c];
    dot[c] = both[ROWS + c];
  }
}

/* Σ s² of a step's rows that are met here, over a head and over the row, kept for the contributions and for later reads
 * and scores. */
template <typename Real, int ROWS>
static __device__ __forceinline__ void
read_measure (const ReadArgs<Real> &a, const ReadPlace &p, ReadStep step, const float (&square)[ROWS],
              const float (&part)[ROWS])
{
  const bool first = blockIdx.y == 0 && p.live;
#pragma unroll
  for (int c = 0; c < ROWS; c++) {
    if (c >= step.count || step.from + c < a.n_met)
      continue;
    float *to = a.squares + (size_t) a.source[step.from + c].row * a.n_norms * a.stride + p.token;
    if (first && a.norm && threadIdx.x % a.lanes == 0)
      to[(a.norm + p.head) * a.stride] = part[c];
    if (first && p.head == 0 && threadIdx.x % a.lanes == 0)
      *to = square[c];
  }
}

/* Logits of a step's rows, from the products and squares summed over their lanes; −∞ where there is no row. */
template <typename Real, int ROWS>
static __device__ __forceinline__ void
read_logits (const ReadArgs<Real> &a, const ReadPlace &p, ReadStep step, const float (&square)[ROWS],
             float (&dot)[ROWS])
{
#pragma unroll
  for (int c = 0; c < ROWS; c++) {
    const bool there = c < step.count;
    const int position = a.source[step.from + (there ? c : 0)].position;
    const float bias = position == a.n_sources - 1 ? a.bias : 0.0f;
    const size_t plane = a.plane + (blockIdx.y * a.heads + p.head) * a.n_sources + position;
    dot[c] = there ? fmaf (dot[c], 1.0f / sqrtf (square[c] / a.width + a.eps), bias) : -INFINITY;
    if (there && p.live && threadIdx.x % a.lanes == 0)
      a.logits[plane * a.stride + p.token] = dot[c];
  }
}

/* Σ s² of a step's rows, from an earlier read. */
template <typename Real, int ROWS>
static __device__ __forceinline__ void
read_known (const ReadArgs<Real> &a, const ReadPlace &p, ReadStep step, float (&square)[ROWS])
{
#pragma unroll
  for (int c = 0; c < ROWS; c++)
    if (c < step.count && p.live)
      square[c] = a.squares[(size_t) a.source[step.from + c].row * a.n_norms * a.stride + p.token];
}

/* Brings the state up to date with rows in registers. */
template <typename Real, int VEC, int U, int ROWS>
static __device__ __forceinline__ void
read_mix (const MharVector<Real, VEC> (&x)[ROWS][U], const float (&logit)[ROWS], ReadState<U, VEC> *state)
{
  float top = state->top;
#pragma unroll
  for (int c = 0; c < ROWS; c++)
    top = fmaxf (top, logit[c]);
  const float factor = expf (state->top - top);
  state->top = top;
  state->sum *= factor;
#pragma unroll
  for (int u = 0; u < U; u++)
#pragma unroll
    for (int i = 0; i < VEC; i++)
      state->mix[u][i] *= factor;
#pragma unroll
  for (int c = 0; c < ROWS; c++) {
    const float e = expf (logit[c] - top);
    state->sum += e;
#pragma unroll
    for (int u = 0; u < U; u++) {
      float s[VEC];
      mhar_vector_open<Real, VEC> (x[c][u], s);
#pragma unroll
      for (int i = 0; i < VEC; i++)
        state->mix[u][i] = fmaf (e, s[i], state->mix[u][i]);
    }
  }
}

/* Adds the older part, if there is one. */
template <typename Real, int VEC, int U>
static __device__ __forceinline__ void
read_older (const ReadArgs<Real> &a, const ReadPlace &p, ReadState<U, VEC> *state)
{
  if (!a.partial || !p.live)
    return;
  const float *from = a.partial + blockIdx.y * a.partial_elements + (size_t) p.token * a.width + p.channel;
  const size_t head = (size_t) (blockIdx.y * a.heads + p.head) * a.stride + p.token;
  float older[U][VEC];
#pragma unroll
  for (int u = 0; u < U; u++)
    mhar_floats_once<VEC> (from + u * a.lanes * VEC, older[u]);
  const float its_top = a.top[head], its_sum = a.sum[head], top = fmaxf (state->top, its_top);
  const float mine = expf (state->top - top), its = expf (its_top - top);
  state->top = top;
  state->sum = fmaf (its, its_sum, mine * state->sum);
#pragma unroll
  for (int u = 0; u < U; u++)
#pragma unroll
    for (int i = 0; i < VEC; i++)
      state->mix[u][i] = fmaf (its, older[u][i], mine * state->mix[u][i]);
}

/* Steps [step, end), and if wanted the older part before the first. `room`: this lane's, READ_STAGES times what
 * read_bring takes. */
template <typename Real, int VEC, int U, bool CROSS>
static __device__ __forceinline__ void
read_steps (const ReadArgs<Real> &a, const ReadPlace &p, int step, int end, bool older, uint4 *room,
            int *turn, ReadState<U, VEC> *state)
{
  constexpr int ROWS = read_rows (U, CROSS);
  const int size = ROWS * U * 32;
#pragma unroll
  for (int i = 0; i < READ_STAGES; i++) {
    if (step + i < end)
      read_bring<ROWS, Real, VEC, U> (a, p, read_step<ROWS> (a, step + i), room + i * size);
    mhar_copy_close ();
  }
  if (older)
    read_older<Real, VEC, U> (a, p, state);
  for (int at = 0; step < end; step++, at = (at + 1) % READ_STAGES) {
    MharVector<Real, VEC> x[ROWS][U];
    float dot[ROWS] = {}, square[ROWS] = {};
    mhar_copy_groups<READ_STAGES - 1> ();
#pragma unroll
    for (int c = 0; c < ROWS; c++)
#pragma unroll
      for (int u = 0; u < U; u++)
        x[c][u].bits = room[at * size + (c * U + u) * 32];
    if (step + READ_STAGES < end)
      read_bring<ROWS, Real, VEC, U> (a, p, read_step<ROWS> (a, step + READ_STAGES), room + at * size);
    mhar_copy_close ();
    const ReadStep now = read_step<ROWS> (a, step);
    const float *query = a.query + blockIdx.y * a.width + p.channel;
    if (now.from >= a.n_ready) {
      float part[ROWS];
      read_products<Real, VEC, U, true> (x, query, a.lanes * VEC, dot, square);
      read_both<CROSS> (a, dot, square, part, turn);
      read_measure (a, p, now, square, part);
    } else {
      read_known (a, p, now, square);
      read_products<Real, VEC, U, false> (x, query, a.lanes * VEC, dot, square);
      read_sums<CROSS> (dot, a.lanes, turn);
    }
    read_logits (a, p, now, square, dot);
    read_mix<Real, VEC, U> (x, dot, state);
  }
}

/* Step 3. */
template <typename Real, int VEC, int U, bool CROSS>
static __device__ __forceinline__ void
read_put (const ReadArgs<Real> &a, const ReadPlace &p, int *turn, ReadState<U, VEC> *state)
{
  const size_t out = ((size_t) p.token * gridDim.y + blockIdx.y) * a.width + p.channel;
  const int step = a.lanes * VEC;
  const float scale = 1.0f / state->sum;
  float square[1] = {};
#pragma unroll
  for (int u = 0; u < U; u++) {
#pragma unroll
    for (int i = 0; i < VEC; i++)
      state->mix[u][i] *= scale;
    const MharVector<Real, VEC> rounded = mhar_vector_close<Real, VEC> (state->mix[u]);
    if (a.mix && p.live)
      mhar_vector_put<Real, VEC> (a.mix + out + u * step, rounded);
    mhar_vector_open<Real, VEC> (rounded, state->mix[u]);
#pragma unroll
    for (int i = 0; i < VEC; i++)
      square[0] = fmaf (state->mix[u][i], state->mix[u][i], square[0]);
  }
  if (!a.normed)
    return;
  square[0] = p.live ? square[0] : 0.0f;
  read_sums<CROSS> (square, 0, turn);
  const float inverse = 1.0f / sqrtf (square[0] / a.width + a.norm_eps);
#pragma unroll
  for (int u = 0; u < U; u++) {
    float gain[VEC];
    mhar_load_floats<VEC> (a.gain + p.channel + u * step, gain);
#pragma unroll
    for (int i = 0; i < VEC; i++)
      state->mix[u][i] *= inverse * gain[i];
    if (p.live)
      mhar_vector_put<Real, VEC> (a.normed + out + u * step, mhar_vector_close<Real, VEC> (state->mix[u]));
  }
}

/* Grid [tokens or READ_TOKENS of them, columns]. CROSS: a token takes the whole thread block. */
template <typename Real, int U, bool CROSS>
__global__ void __launch_bounds__ (CROSS ? READ_WARPS * 32 : READ_TOKENS * 32,
                              read_resident (U) / (CROSS ? READ_WARPS : READ_TOKENS))
route_read_kernel (const __grid_constant__ ReadArgs<Real> a)
{
  MHAR_SHARED (shared);
  const int VEC = MharWide<Real>::n;
  const ReadPlace p = read_place<Real, CROSS> (a, VEC);
  constexpr int ROWS = read_rows (U, CROSS);
  const int ready = (a.n_ready + ROWS - 1) / ROWS, end = ready + (a.n - a.n_ready + ROWS - 1) / ROWS;
  uint4 *room = shared + threadIdx.x / 32 * (READ_STAGES * ROWS * U * 32) + threadIdx.x % 32;
  int turn = 0;
  ReadState<U, VEC> state = { -INFINITY, 0, {} };
  if (a.early)
    read_steps<Real, VEC, U, CROSS> (a, p, 0, ready, false, room, &turn, &state);
  mhar_wait_for_grid ();
  mhar_release_grid ();
  read_steps<Real, VEC, U, CROSS> (a, p, a.early ? ready : 0, end, true, room, &turn, &state);
  read_put<Real, VEC, U, CROSS> (a, p, &turn, &state);
}

/* ---- launching ---- */

struct ReadShape {
  int warps, lanes, units; /* of a token; of a head; of a lane. 0 warps: no such division */
};

/* The fewest warps, `least` or more, whose lanes can hold a row of `units` of sixteen bytes, head by head. */
static ReadShape
read_shape (size_t width, int heads, int wide, int least)
{
  if (width % ((size_t) heads * wide))
    return ReadShape{};
  const size_t part = width / heads / wide;
  for (int warps = 1; warps <= READ_WARPS; warps *= 2) {
    int lanes = 32 * warps;
    while (lanes > 0 && ((size_t) lanes * heads > 32u * warps || part % lanes))
      lanes /= 2;
    if (warps >= least && lanes > 0 && part / lanes <= READ_UNITS)
      return ReadShape{ warps, lanes, (int) part / lanes };
  }
  return least > 1 ? read_shape (width, heads, wide, 1) : ReadShape{};
}

bool
mhar_route_read_fits (MharPrecision precision, size_t width, int heads, bool whole)
{
  const int wide = precision == MHAR_PRECISION_BF16 ? MharWide<__nv_bfloat16>::n : MharWide<float>::n;
  return read_shape (width, whole ? 1 : heads, wide, 1).warps > 0;
}

/* The site's newest rows: those met before the last read, those met by it, and those that this one meets. */
template <typename Real>
static void
read_sources (MharRoute *r, const MharSitePlan *s, ReadArgs<Real> *a)
{
  const MharSource *newest = r->plan.newest.items + s->first_newest;
  for (int pass = 0; pass < 3; pass++) {
    for (int i = 0; i < s->n_newest; i++) {
      const int32_t met = r->again ? 0 : r->met[newest[i].row]; /* then the order, and so the bits, are the list's */
      if (pass == (!met ? 2 : met < r->reads ? 0 : 1))
        a->source[a->n++] = newest[i];
    }
    a->n_ready = pass == 0 ? a->n : a->n_ready;
    a->n_met = pass < 2 ? a->n : a->n_met;
  }
  const bool all = r->plan.n_norms == 1 + (a->norm ? a->heads : 0);
  for (int i = a->n_met; i < a->n; i++) {
    r->met[a->source[i].row] = r->reads + 1;
    r->measured[a->source[i].row] = all ? MHAR_MEASURED_ALL : MHAR_MEASURED;
  }
}

template <typename Real>
static ReadArgs<Real>
read_args (const MharRoute *r, int32_t site, const MharReadOut *out)
{
  const MharSitePlan *s = &r->plan.sites.items[site];
  const MharRouteClass *of = &r->plan.classes.items[s->in_class];
  ReadArgs<Real> a = {};
  a.history = (const Real *) r->history.data;
  a.query = r->on_device.query + s->query;
  a.logits = r->logits;
  a.squares = r->squares;
  a.norm = s->whole ? 0 : s->norm;
  a.n_norms = r->plan.n_norms;
  a.row_elements = r->max_tokens * r->width;
  a.stride = r->stride;
  a.tokens = (int) r->tokens;
  a.width = (int) r->width;
  a.heads = mhar_site_parts (s);
  a.plane = s->plane;
  a.n_sources = s->n_sources;
  a.bias = s->bias;
  a.eps = (float) r->eps;
  a.norm_eps = (float) out->eps;
  if (r->plan.blocks.items[s->block].n_older) {
    a.partial_elements = r->max_tokens * r->width;
    a.partial = of->partial + s->column * a.partial_elements;
    a.top = of->top + s->column * a.heads * r->stride;
    a.sum = of->sum + s->column * a.heads * r->stride;
  }
  a.mix = out->mix.buffer ? mhar_cuda_at<Real> (out->mix) : NULL;
  a.normed = out->normed.buffer ? mhar_cuda_at<Real> (out->normed) : NULL;
  a.gain = out->gain ? (const float *) out->gain->data : NULL;
  a.backwards = site & 1;
  return a;
}

template <typename Real, int U>
static int
read_launch (MharContext *c, const MharRoute *r, ReadArgs<Real> a, int warps, int columns)
{
  const size_t shared = READ_STAGES * read_rows (U, warps > 1) * U * 32 * sizeof (uint4);
  const unsigned blocks = (unsigned) (warps > 1 ? a.tokens : (a.tokens + READ_TOKENS - 1) / READ_TOKENS);
  const int here = warps > 1 ? warps : READ_TOKENS;
  const bool one_wave = (size_t) blocks * columns * here <= (size_t) c->n_multiprocessors * read_resident (U);
  a.early = r->overlap && one_wave;
  const auto kernel = warps > 1 ? route_read_kernel<Real, U, true> : route_read_kernel<Real, U, false>;
  return mhar_cuda_launch (c, "route read", kernel, dim3 (blocks, columns), here * 32, here * shared, a.early, a);
}

template <typename Real>
static int
read_site (MharContext *c, MharRoute *r, int32_t site, const MharReadOut *out)
{
  const MharSitePlan *s = &r->plan.sites.items[site];
  ReadArgs<Real> a = read_args<Real> (r, site, out);
  const ReadShape shape = read_shape (r->width, a.heads, MharWide<Real>::n, r->warps);
  if (!shape.warps || s->n_newest > READ_SOURCES || !mhar_cuda_aligned (a.mix) || !mhar_cuda_aligned (a.normed))
    return mhar_route_read_plain (c, r, site, out);
  const int columns = s->whole ? s->heads : 1;
  a.lanes = shape.lanes;
  read_sources (r, s, &a);
  switch (shape.units) {
  case 1:
    return read_launch<Real, 1> (c, r, a, shape.warps, columns);
  case 2:
    return read_launch<Real, 2> (c, r, a, shape.warps, columns);
  case 3:
    return read_launch<Real, 3> (c, r, a, shape.warps, columns);
  case 4:
    return read_launch<Real, 4> (c, r, a, shape.warps, columns);
  default:
    return read_launch<Real, 5> (c, r, a, shape.warps, columns);
  }
}

int
mhar_route_read_newest (MharContext *c, MharRoute *r, int32_t site, const MharReadOut *out)
{
  return c->precision == MHAR_PRECISION_BF16 ? read_site<__nv_bfloat16> (c, r, site, out)
                                             : read_site<float> (c, r, site, out);
}
