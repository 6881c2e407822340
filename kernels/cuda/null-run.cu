/* SPDX-License-Identifier: MIT */
/* Queries against a finished history. Groups run in batches whose float32 sums fit a bounded scratch and are then added
 * up in double, window by window and in order; while one batch is computed the sums of the one before go to the host.
 * No array over queries, sources and tokens exists. */
#include "kernels/cuda/null-pack.cuh"

#include <string.h>

#define NULL_SCRATCH ((size_t) 512 << 20) /* bytes of float32 sums and log sums in a batch */
#define NULL_PIECE ((size_t) 16 << 20)    /* bytes brought to the host at a time */
#define NULL_PIECE_TOKENS 128             /* of a window, a thread block's, if that is enough thread blocks */

/* Device memory of a run, one after the other. */
struct NullRoom {
  double *result;
  float *inverse, *partial;
  char *gathered;
  float4 *spare;
};

/* How a kind's windows are cut: each into pieces, so many at a time. */
struct NullCut {
  int windows, pieces, piece_tokens;
  size_t spare; /* bytes a thread block */
};

/* Groups of one launch. */
struct NullBatch {
  int windows, first_group, n_groups;
  int64_t first_float, floats;
};

/* Results on their way to the host: doubles [done, ready) are complete once `computed` has passed. */
struct NullDown {
  cudaStream_t stream;
  cudaEvent_t computed[2], copied[2];
  double *host; /* page-locked, two pieces */
  int64_t done, ready;
  int turn;
};

/* Sums of groups [first, first + n) of the kind: where they begin, and how many. */
static int64_t
group_floats (const MharNull *null, const NullKind *kind, int first, int n, int64_t *begin)
{
  const MharNullGroup *groups = null->groups.items + kind->first_group;
  *begin = null->tiles.items[groups[first].first_tile].partial;
  return (first + n < kind->n_groups ? null->tiles.items[groups[first + n].first_tile].partial : kind->floats) - *begin;
}

/* As many pieces a window as give the device work, as many windows at a time as the scratch holds the sums of. */
static NullCut
null_cut (const MharContext *c, const MharNull *null, const NullKind *kind, MharSpan span)
{
  NullCut cut = { kind->interleaved ? 1 : span.windows, 1, 0, kind->sliced ? 0 : mhar_null_heads_spare (kind->parts) };
  const int tiles = (span.length + NULL_TOKENS - 1) / NULL_TOKENS;
  while (cut.pieces * 2 <= tiles
         && (tiles / cut.pieces > NULL_PIECE_TOKENS / NULL_TOKENS
             || (int64_t) cut.pieces * cut.windows * kind->n_groups < 8 * c->n_multiprocessors))
    cut.pieces *= 2;
  cut.piece_tokens = (tiles + cut.pieces - 1) / cut.pieces * NULL_TOKENS;
  int64_t most = 1, begin;
  for (int g = 0; g < kind->n_groups; g++) {
    const int64_t floats = group_floats (null, kind, g, 1, &begin);
    most = floats > most ? floats : most;
  }
  const size_t piece = (size_t) most * mhar_null_adders (kind->sliced) * sizeof (float) + cut.spare;
  const int64_t fit = (int64_t) (NULL_SCRATCH / piece / cut.pieces);
  const int64_t room = fit < 65535 / cut.pieces ? fit : 65535 / cut.pieces; /* of the grid */
  cut.windows = cut.windows < room ? cut.windows : room < 1 ? 1 : (int) room;
  return cut;
}

static size_t
partial_bytes (const NullKind *kind, const NullBatch &b, const NullCut &cut)
{
  return (size_t) b.floats * b.windows * cut.pieces * mhar_null_adders (kind->sliced) * sizeof (float);
}

static size_t
spare_bytes (const NullBatch &b, const NullCut &cut)
{
  return (size_t) b.n_groups * b.windows * cut.pieces * cut.spare;
}

/* As many groups from `group` on as the scratch holds the sums of. */
static NullBatch
null_batch (const MharNull *null, const NullKind *kind, const NullCut &cut, int group)
{
  NullBatch b = { cut.windows, group, 1, 0, 0 };
  b.floats = group_floats (null, kind, group, 1, &b.first_float);
  for (NullBatch next = b; group + next.n_groups < kind->n_groups; b = next) {
    next.floats = group_floats (null, kind, group, ++next.n_groups, &next.first_float);
    if (partial_bytes (kind, next, cut) + spare_bytes (next, cut) > NULL_SCRATCH)
      break;
  }
  return b;
}

/* ---- adding up ---- */

/* What a batch's float32 sums are and where they go. */
struct NullAdd {
  const float *partial;
  const MharNullTile *tiles;
  const MharNullRun *runs;
  const int32_t *positions;
  const NullEntry *entries;
  double *result;
  int first_tile, n_tiles, slots, first_window;
  int64_t first_float, floats;
};

/* Where sum k of query q of a tile goes; −1: nowhere. `pooled`: over all windows. */
static __device__ int64_t
add_place (const NullAdd &a, const MharNullTile &tile, int q, int64_t k, bool *pooled)
{
  if (tile.run[q] < 0)
    return -1;
  const MharNullRun run = a.runs[tile.run[q]];
  const NullEntry entry = a.entries[run.entry];
  const int64_t query = run.first_query + tile.first_slot + q - run.first_slot;
  const int64_t here = (int64_t) (a.first_window + blockIdx.y) * entry.n_queries + query;
  if (entry.sliced)
    return entry.kl < 0 ? -1 : entry.kl + here * entry.parts + k;
  if (k == (int64_t) entry.parts * tile.n_steps)
    return entry.js < 0 ? -1 : entry.js + here;
  const int32_t position = a.positions[run.position + k % tile.n_steps];
  *pooled = true;
  return blockIdx.y > 0 || entry.weight < 0 || position < 0
           ? -1
           : entry.weight + (query * entry.parts + k / tile.n_steps) * entry.n + position;
}

/* Σ over a window's pieces, in double and in order; sums over all windows go on from those of the windows before. Grid
 * [floats / 128, windows]. */
__global__ void
null_add_kernel (const __grid_constant__ NullAdd a)
{
  const int64_t i = (int64_t) blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= a.floats)
    return;
  int low = a.first_tile, high = a.first_tile + a.n_tiles; /* the last tile that begins at or before i */
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (a.tiles[middle].partial - a.first_float <= i)
      low = middle;
    else
      high = middle;
  }
  const MharNullTile &tile = a.tiles[low];
  const int64_t at = i - (tile.partial - a.first_float);
  bool pooled = false;
  const int64_t to = add_place (a, tile, (int) (at % NULL_QUERIES), at / NULL_QUERIES, &pooled);
  if (to < 0)
    return;
  const int64_t first = pooled ? 0 : (int64_t) blockIdx.y * a.slots, n = pooled ? (int64_t) gridDim.y * a.slots : a.slots;
  double sum = pooled && a.first_window > 0 ? a.result[to] : 0.0;
  for (int64_t slot = 0; slot < n; slot++)
    sum += a.partial[(first + slot) * a.floats + i];
  a.result[to] = sum;
}

/* ---- launching ---- */

template <typename Real>
static MharNullArgs<Real>
null_args (const MharRoute *r, const MharNull *null, const NullKind *kind, MharSpan span, const NullRoom &room)
{
  MharNullArgs<Real> a = {};
  a.history = (const Real *) r->history.data;
  a.row_elements = r->max_tokens * r->width;
  a.stride = r->stride;
  a.width = (int) r->width;
  a.inverse = room.inverse;
  a.tiles = null->on_device.tiles;
  a.groups = null->on_device.groups + kind->first_group;
  a.steps = null->on_device.steps;
  a.part = null->on_device.parts + kind->first_part;
  a.pack = null->on_device.pack;
  a.parts = kind->parts;
  a.units_a_tile = kind->units_a_tile;
  a.chunks = kind->chunks;
  a.chunk_steps = kind->chunk_steps;
  a.double_width = kind->double_width;
  a.span = span;
  a.partial = room.partial;
  a.spare = room.spare;
  return a;
}

static int
null_add (MharContext *c, const MharNull *null, const NullKind *kind, const NullBatch &b, const NullCut &cut,
          int first_window, const NullRoom &room)
{
  const MharNullGroup *first = &null->groups.items[kind->first_group + b.first_group], *last = first + b.n_groups - 1;
  NullAdd a = {};
  a.partial = room.partial;
  a.tiles = null->on_device.tiles;
  a.runs = null->on_device.runs;
  a.positions = null->on_device.positions;
  a.entries = null->on_device.entries;
  a.result = room.result;
  a.first_tile = first->first_tile;
  a.n_tiles = last->first_tile + last->n_tiles - first->first_tile;
  a.slots = cut.pieces * mhar_null_adders (kind->sliced);
  a.first_window = first_window;
  a.first_float = b.first_float;
  a.floats = b.floats;
  const dim3 grid ((unsigned) ((b.floats + 127) / 128), b.windows);
  return mhar_cuda_launch (c, "null add", null_add_kernel, grid, 128, 0, false, a);
}

template <typename Real>
static int
null_launch (MharContext *c, const MharRoute *r, const MharNull *null, const NullKind *kind, const NullBatch &b,
             const NullCut &cut, MharSpan span, int first_window, const NullRoom &room)
{
  MharNullArgs<Real> a = null_args<Real> (r, null, kind, span, room);
  a.first_group = b.first_group;
  a.n_groups = b.n_groups;
  a.first_window = first_window;
  a.pieces = cut.pieces;
  a.piece_tokens = cut.piece_tokens;
  a.partial_floats = b.floats;
  a.first_partial = b.first_float;
  a.weights = kind->weights;
  const bool wide = r->width % MharWide<Real>::n == 0;
  if (kind->interleaved) {
    a.history = (const Real *) room.gathered;
    a.row_elements = (size_t) span.length * r->width;
    a.first_token = (size_t) first_window * span.length;
  }
  MHAR_CUDA_TRY (c, cudaMemsetAsync (room.partial, 0, partial_bytes (kind, b, cut), c->stream));
  const dim3 grid (b.n_groups, b.windows * cut.pieces);
  const int status = kind->sliced ? mhar_null_launch_slices<Real> (c, a, grid, wide)
                                  : mhar_null_launch_heads<Real> (c, a, grid, wide);
  return status ? status : null_add (c, null, kind, b, cut, first_window, room);
}

/* A batch in all windows. */
template <typename Real>
static int
null_run_batch (MharContext *c, const MharRoute *r, const MharNull *null, const NullKind *kind, const NullBatch &batch,
                const NullCut &cut, MharSpan span, const NullRoom &room)
{
  int status = MHAR_OK;
  for (int window = 0; window < span.windows && !status; window += cut.windows) {
    NullBatch b = batch;
    b.windows = span.windows - window < cut.windows ? span.windows - window : cut.windows;
    if (kind->interleaved)
      status = mhar_null_gather<Real> (c, r, (Real *) room.gathered, (size_t) window * span.length, span.length,
                                       kind->parts);
    status = status ? status : null_launch<Real> (c, r, null, kind, b, cut, span, window, room);
  }
  return status;
}

/* ---- memory ---- */

/* Bytes of scratch, the largest any kind needs, after `result` doubles. */
template <typename Real>
static int
null_rooms (MharContext *c, const MharRoute *r, const MharNull *null, MharSpan span, int64_t result, NullRoom *room)
{
  size_t partial = 0, spare = 0, gathered = 0;
  for (int k = 0; k < null->kinds.n; k++) {
    const NullKind *kind = &null->kinds.items[k];
    const NullCut cut = null_cut (c, null, kind, span);
    for (int group = 0; group < kind->n_groups;) {
      const NullBatch b = null_batch (null, kind, cut, group);
      partial = partial_bytes (kind, b, cut) > partial ? partial_bytes (kind, b, cut) : partial;
      spare = spare_bytes (b, cut) > spare ? spare_bytes (b, cut) : spare;
      group += b.n_groups;
    }
    if (kind->interleaved)
      gathered = (size_t) r->n_rows * span.length * r->width * sizeof (Real);
  }
  const size_t inverse = (size_t) r->n_rows * r->stride * sizeof (float);
  const size_t sizes[] = { (size_t) result * sizeof (double), inverse, partial, spare, gathered };
  void **const to[] = { (void **) &room->result, (void **) &room->inverse, (void **) &room->partial,
                        (void **) &room->spare, (void **) &room->gathered };
  size_t total = 0;
  for (size_t size : sizes)
    total += (size + 255) / 256 * 256;
  char *at;
  const int status = mhar_cuda_scratch (c, total, (void **) &at);
  for (int i = 0; i < 5 && !status; i++) {
    *to[i] = at;
    at += (sizes[i] + 255) / 256 * 256;
  }
  return status;
}

/* Places of the wanted sums in the result, one after the other, kind by kind; their number. */
static int64_t
null_places (MharNull *null, MharSpan span, const MharNullSums *sums)
{
  int64_t at = 0;
  for (int k = 0; k < null->kinds.n; k++) {
    null->kinds.items[k].weights = 0;
    for (int i = 0; i < null->entries.n; i++) {
      NullEntry *e = &null->entries.items[i];
      const int64_t queries = (int64_t) span.windows * e->n_queries;
      if (e->kind != k)
        continue;
      e->kl = e->sliced && sums[i].kl ? at : -1;
      at += e->kl < 0 ? 0 : queries * e->parts;
      e->js = !e->sliced && sums[i].js ? at : -1;
      at += e->js < 0 ? 0 : queries;
      e->weight = !e->sliced && sums[i].weight ? at : -1;
      null->kinds.items[k].weights |= e->weight >= 0;
      at += e->weight < 0 ? 0 : (int64_t) e->n_queries * e->parts * e->n;
      e->end = at;
    }
  }
  return at;
}

/* How far the result is complete after groups up to `end` of kind k. */
static int64_t
null_complete (const MharNull *null, int k, int end, int64_t before)
{
  const NullKind *kind = &null->kinds.items[k];
  const int64_t slots = end < kind->n_groups
                          ? null->tiles.items[null->groups.items[kind->first_group + end].first_tile].first_slot
                          : kind->n_slots;
  int64_t complete = before;
  for (int i = 0; i < null->entries.n; i++) {
    const NullEntry *e = &null->entries.items[i];
    if (e->kind == k && e->first_slot + e->n_queries <= slots && e->end > complete)
      complete = e->end;
  }
  return complete;
}

/* ---- to the host ---- */

static int
null_down_begin (MharContext *c, NullDown *down)
{
  void *host;
  const int status = mhar_cuda_pinned (c, 2 * NULL_PIECE, &host);
  if (status)
    return status;
  down->host = (double *) host;
  MHAR_CUDA_TRY (c, cudaStreamCreateWithFlags (&down->stream, cudaStreamNonBlocking));
  for (int i = 0; i < 2; i++) {
    MHAR_CUDA_TRY (c, cudaEventCreateWithFlags (&down->computed[i], cudaEventDisableTiming));
    MHAR_CUDA_TRY (c, cudaEventCreateWithFlags (&down->copied[i], cudaEventDisableTiming));
  }
  return MHAR_OK;
}

static void
null_down_end (NullDown *down)
{
  if (down->stream) {
    cudaStreamSynchronize (down->stream);
    cudaStreamDestroy (down->stream);
  }
  for (int i = 0; i < 2; i++) {
    if (down->computed[i])
      cudaEventDestroy (down->computed[i]);
    if (down->copied[i])
      cudaEventDestroy (down->copied[i]);
  }
}

/* Doubles [from, from + n) of the result, at `host`, to the part of `to` (result place `at`, `count` long) they are. */
static void
hand_over (int64_t from, int64_t n, const double *host, int64_t at, int64_t count, double *to)
{
  const int64_t begin = at > from ? at : from, end = at + count < from + n ? at + count : from + n;
  if (at >= 0 && begin < end)
    memcpy (to + (begin - at), host + (begin - from), (size_t) (end - begin) * sizeof (double));
}

static void
hand_over_piece (const MharNull *null, MharSpan span, int64_t from, int64_t n, const double *host,
                 const MharNullSums *sums)
{
  for (int i = 0; i < null->entries.n; i++) {
    const NullEntry *e = &null->entries.items[i];
    const int64_t queries = (int64_t) span.windows * e->n_queries;
    hand_over (from, n, host, e->kl, queries * e->parts, sums[i].kl);
    hand_over (from, n, host, e->js, queries, sums[i].js);
    hand_over (from, n, host, e->weight, (int64_t) e->n_queries * e->parts * e->n, sums[i].weight);
  }
}

/* Brings doubles [done, ready), one piece on its way while the one before is handed over. */
static int
null_bring (MharContext *c, const MharNull *null, MharSpan span, NullDown *down, const double *result,
            const MharNullSums *sums)
{
  const int64_t piece = NULL_PIECE / sizeof (double), n = (down->ready - down->done + piece - 1) / piece;
  for (int64_t k = 0; k <= n && n > 0; k++) {
    const int64_t from = down->done + k * piece, count = down->ready - from < piece ? down->ready - from : piece;
    if (k < n) {
      MHAR_CUDA_TRY (c, cudaMemcpyAsync (down->host + k % 2 * piece, result + from, count * sizeof (double),
                                         cudaMemcpyDeviceToHost, down->stream));
      MHAR_CUDA_TRY (c, cudaEventRecord (down->copied[k % 2], down->stream));
    }
    if (k > 0) {
      const int64_t last = from - piece;
      MHAR_CUDA_TRY (c, cudaEventSynchronize (down->copied[(k - 1) % 2]));
      hand_over_piece (null, span, last, down->ready - last < piece ? down->ready - last : piece,
                       down->host + (k - 1) % 2 * piece, sums);
    }
  }
  down->done = down->ready;
  return MHAR_OK;
}

/* The batch just launched completes the result up to `ready`: brings what the one before completed, meanwhile. */
static int
null_next (MharContext *c, const MharNull *null, MharSpan span, NullDown *down, const double *result, int64_t ready,
           const MharNullSums *sums)
{
  MHAR_CUDA_TRY (c, cudaEventRecord (down->computed[down->turn], c->stream));
  const int status = null_bring (c, null, span, down, result, sums);
  if (status)
    return status;
  MHAR_CUDA_TRY (c, cudaStreamWaitEvent (down->stream, down->computed[down->turn], 0));
  down->turn = 1 - down->turn;
  down->ready = ready;
  return MHAR_OK;
}

/* ---- all of it ---- */

template <typename Real>
static int
null_run_kinds (MharContext *c, const MharRoute *r, const MharNull *null, MharSpan span, const NullRoom &room,
                NullDown *down, const MharNullSums *sums)
{
  int status = mhar_null_inverse (c, r, room.inverse);
  int64_t ready = 0;
  for (int k = 0; k < null->kinds.n; k++) {
    const NullKind *kind = &null->kinds.items[k];
    const NullCut cut = null_cut (c, null, kind, span);
    for (int group = 0; group < kind->n_groups && !status;) {
      const NullBatch b = null_batch (null, kind, cut, group);
      status = null_run_batch<Real> (c, r, null, kind, b, cut, span, room);
      group += b.n_groups;
      ready = null_complete (null, k, group, ready);
      status = status ? status : null_next (c, null, span, down, room.result, ready, sums);
    }
  }
  return status ? status : null_bring (c, null, span, down, room.result, sums);
}

template <typename Real>
static int
null_run (MharContext *c, const MharRoute *r, MharNull *null, MharSpan span, const MharNullSums *sums)
{
  const int64_t total = null_places (null, span, sums);
  NullRoom room = {};
  NullDown down = {};
  int status = null_rooms<Real> (c, r, null, span, total, &room);
  if (status || !total)
    return status;
  MHAR_CUDA_TRY (c, cudaMemcpyAsync (null->on_device.entries, null->entries.items,
                                     null->entries.n * sizeof (NullEntry), cudaMemcpyHostToDevice, c->stream));
  status = null_down_begin (c, &down);
  status = status ? status : null_run_kinds<Real> (c, r, null, span, room, &down, sums);
  null_down_end (&down);
  return status;
}

int
mhar_cuda_null_run (MharContext *c, MharRoute *r, MharNull *null, MharSpan span, const MharNullSums *sums)
{
  if (span.windows < 1 || span.length < 1 || (size_t) span.windows * span.length > r->tokens)
    return mhar_cuda_unsupported (c, "%d windows of %d tokens in a batch of %zu", (int) span.windows, (int) span.length,
                                  r->tokens);
  const int status = mhar_route_settle (c, r);
  if (status)
    return status;
  return c->precision == MHAR_PRECISION_BF16 ? null_run<__nv_bfloat16> (c, r, null, span, sums)
                                             : null_run<float> (c, r, null, span, sums);
}
