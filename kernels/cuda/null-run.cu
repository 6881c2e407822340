/* SPDX-License-Identifier: MIT */
/* Queries against a finished history. Groups run in batches whose float32 sums fit a bounded scratch and are then added
 * up in double, window by window and in order. No array over queries, sources and tokens exists. */
#include "kernels/cuda/null-pack.cuh"

#include <string.h>

#define NULL_PARTIAL ((size_t) 256 << 20) /* bytes of float32 sums in a batch */
#define NULL_PIECE ((size_t) 16 << 20)    /* bytes brought to the host at a time */

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
};

/* Groups of one launch. */
struct NullBatch {
  int first_window, windows, first_group, n_groups;
  int64_t first_float, floats;
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
  NullCut cut = { kind->interleaved ? 1 : span.windows, 1, 0 };
  const int tile = 64, tiles = (span.length + tile - 1) / tile;
  while (cut.pieces * 2 <= tiles && (int64_t) cut.pieces * cut.windows * kind->n_groups < 8 * c->n_multiprocessors)
    cut.pieces *= 2;
  cut.piece_tokens = (tiles + cut.pieces - 1) / cut.pieces * tile;
  int64_t most = 1, begin;
  for (int g = 0; g < kind->n_groups; g++) {
    const int64_t floats = group_floats (null, kind, g, 1, &begin);
    most = floats > most ? floats : most;
  }
  const int64_t fit = (int64_t) (NULL_PARTIAL / sizeof (float)) / most / (cut.pieces * NULL_WARPS_TOKENS);
  const int64_t room = fit < 65535 / cut.pieces ? fit : 65535 / cut.pieces; /* of the grid */
  cut.windows = cut.windows < room ? cut.windows : room < 1 ? 1 : (int) room;
  return cut;
}

static size_t
batch_bytes (const NullBatch &b, const NullCut &cut)
{
  return (size_t) b.floats * b.windows * cut.pieces * NULL_WARPS_TOKENS * sizeof (float);
}

/* As many groups from `group` on as the scratch holds the sums of. */
static NullBatch
null_batch (const MharNull *null, const NullKind *kind, const NullCut &cut, int window, int windows, int group)
{
  NullBatch b = { window, windows < cut.windows ? windows : cut.windows, group, 1, 0, 0 };
  b.floats = group_floats (null, kind, group, 1, &b.first_float);
  for (NullBatch next = b; group + next.n_groups < kind->n_groups; b = next) {
    next.floats = group_floats (null, kind, group, ++next.n_groups, &next.first_float);
    if (batch_bytes (next, cut) > NULL_PARTIAL)
      break;
  }
  return b;
}

/* What a batch's float32 sums are and where they go. */
struct NullAdd {
  const float *partial;
  const MharNullTile *tiles;
  const NullEntry *entries;
  double *result;
  int first_tile, n_tiles, slots, first_window;
  int64_t first_float, floats;
};

/* Σ over a window's slots, in double and in order. Grid [floats / 128, windows]. */
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
  const MharNullTile tile = a.tiles[low];
  const NullEntry entry = a.entries[tile.entry];
  const int64_t at = i - (tile.partial - a.first_float), q = at % NULL_QUERIES, k = at / NULL_QUERIES;
  if (q >= tile.n_queries)
    return;
  double sum = 0;
  for (int slot = 0; slot < a.slots; slot++)
    sum += a.partial[((int64_t) blockIdx.y * a.slots + slot) * a.floats + i];
  const int64_t query = (int64_t) (a.first_window + blockIdx.y) * entry.n_queries + tile.first_query + q;
  const int64_t weights = (int64_t) entry.parts * entry.n;
  if (entry.sliced) {
    if (entry.kl >= 0)
      a.result[entry.kl + query * entry.parts + k] = sum;
  } else if (k == weights) {
    if (entry.js >= 0)
      a.result[entry.js + query] = sum;
  } else if (entry.weight >= 0) {
    a.result[entry.weight + query * weights + k] = sum;
  }
}

template <typename Real>
static MharNullArgs<Real>
null_args (const MharRoute *r, const MharNull *null, const NullKind *kind, MharSpan span, const NullRoom &room)
{
  MharNullArgs<Real> a = {};
  a.history = (const Real *) r->history.data;
  a.row_elements = r->max_tokens * r->width;
  a.stride = r->stride;
  a.tokens = (int) r->tokens;
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
          const NullRoom &room)
{
  const MharNullGroup *first = &null->groups.items[kind->first_group + b.first_group], *last = first + b.n_groups - 1;
  NullAdd a = {};
  a.partial = room.partial;
  a.tiles = null->on_device.tiles;
  a.entries = null->on_device.entries;
  a.result = room.result;
  a.first_tile = first->first_tile;
  a.n_tiles = last->first_tile + last->n_tiles - first->first_tile;
  a.slots = cut.pieces * NULL_WARPS_TOKENS;
  a.first_window = b.first_window;
  a.first_float = b.first_float;
  a.floats = b.floats;
  const dim3 grid ((unsigned) ((b.floats + 127) / 128), b.windows);
  return mhar_cuda_launch (c, "null add", null_add_kernel, grid, 128, 0, false, a);
}

template <typename Real>
static int
null_launch (MharContext *c, const MharRoute *r, const MharNull *null, const NullKind *kind, const NullBatch &b,
             const NullCut &cut, MharSpan span, const NullRoom &room)
{
  MharNullArgs<Real> a = null_args<Real> (r, null, kind, span, room);
  a.first_group = b.first_group;
  a.n_groups = b.n_groups;
  a.first_window = b.first_window;
  a.pieces = cut.pieces;
  a.piece_tokens = cut.piece_tokens;
  a.slot_floats = b.floats;
  a.first_partial = b.first_float;
  a.weights = kind->weights;
  const bool wide = r->width % MharWide<Real>::n == 0;
  if (kind->interleaved) {
    a.history = (const Real *) room.gathered;
    a.row_elements = (size_t) span.length * r->width;
    a.first_token = (size_t) b.first_window * span.length;
  }
  MHAR_CUDA_TRY (c, cudaMemsetAsync (room.partial, 0, batch_bytes (b, cut), c->stream));
  const dim3 grid (b.n_groups, b.windows * cut.pieces);
  const int status = kind->sliced ? mhar_null_launch_slices<Real> (c, a, grid, wide)
                                  : mhar_null_launch_heads<Real> (c, a, grid, wide);
  return status ? status : null_add (c, null, kind, b, cut, room);
}

template <typename Real>
static int
null_run_kind (MharContext *c, const MharRoute *r, const MharNull *null, const NullKind *kind, MharSpan span,
               const NullRoom &room)
{
  const NullCut cut = null_cut (c, null, kind, span);
  int status = MHAR_OK;
  for (int window = 0; window < span.windows && kind->n_groups && !status; window += cut.windows) {
    if (kind->interleaved)
      status = mhar_null_gather<Real> (c, r, (Real *) room.gathered, (size_t) window * span.length, span.length,
                                       kind->parts);
    for (int group = 0; group < kind->n_groups && !status;) {
      const NullBatch b = null_batch (null, kind, cut, window, span.windows - window, group);
      status = null_launch<Real> (c, r, null, kind, b, cut, span, room);
      group += b.n_groups;
    }
  }
  return status;
}

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
      const NullBatch b = null_batch (null, kind, cut, 0, span.windows, group);
      const size_t blocks = (size_t) b.n_groups * b.windows * cut.pieces;
      const MharNullArgs<Real> args = null_args<Real> (r, null, kind, span, *room);
      const size_t more = kind->sliced ? 0 : mhar_null_heads_spare<Real> (c, args, blocks);
      partial = batch_bytes (b, cut) > partial ? batch_bytes (b, cut) : partial;
      spare = more > spare ? more : spare;
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

/* Places of the wanted sums in the result, one after the other; their number. */
static int64_t
null_places (MharNull *null, MharSpan span, const MharNullSums *sums)
{
  int64_t at = 0;
  for (int k = 0; k < null->kinds.n; k++)
    null->kinds.items[k].weights = 0;
  for (int i = 0; i < null->entries.n; i++) {
    NullEntry *e = &null->entries.items[i];
    const int64_t queries = (int64_t) span.windows * e->n_queries;
    e->kl = e->sliced && sums[i].kl ? at : -1;
    at += e->kl < 0 ? 0 : queries * e->parts;
    e->js = !e->sliced && sums[i].js ? at : -1;
    at += e->js < 0 ? 0 : queries;
    e->weight = !e->sliced && sums[i].weight ? at : -1;
    null->kinds.items[e->kind].weights |= e->weight >= 0;
    at += e->weight < 0 ? 0 : queries * e->parts * e->n;
  }
  return at;
}

/* Doubles [from, from + n) of the result, at `host`, to the part of `to` (result place `at`, `count` long) they are. */
static void
hand_over (int64_t from, int64_t n, const double *host, int64_t at, int64_t count, double *to)
{
  const int64_t begin = at > from ? at : from, end = at + count < from + n ? at + count : from + n;
  if (at >= 0 && begin < end)
    memcpy (to + (begin - at), host + (begin - from), (size_t) (end - begin) * sizeof (double));
}

static int
null_bring (MharContext *c, const MharNull *null, MharSpan span, const double *result, int64_t total,
            const MharNullSums *sums)
{
  const int64_t piece = NULL_PIECE / sizeof (double);
  void *host;
  const int status = mhar_cuda_pinned (c, NULL_PIECE, &host);
  for (int64_t from = 0; from < total && !status; from += piece) {
    const int64_t n = total - from < piece ? total - from : piece;
    MHAR_CUDA_TRY (c, cudaMemcpyAsync (host, result + from, n * sizeof (double), cudaMemcpyDeviceToHost, c->stream));
    MHAR_CUDA_TRY (c, cudaStreamSynchronize (c->stream));
    for (int i = 0; i < null->entries.n; i++) {
      const NullEntry *e = &null->entries.items[i];
      const int64_t queries = (int64_t) span.windows * e->n_queries;
      hand_over (from, n, (const double *) host, e->kl, queries * e->parts, sums[i].kl);
      hand_over (from, n, (const double *) host, e->js, queries, sums[i].js);
      hand_over (from, n, (const double *) host, e->weight, queries * e->parts * e->n, sums[i].weight);
    }
  }
  return status;
}

template <typename Real>
static int
null_run (MharContext *c, const MharRoute *r, MharNull *null, MharSpan span, const MharNullSums *sums)
{
  const int64_t total = null_places (null, span, sums);
  NullRoom room = {};
  int status = null_rooms<Real> (c, r, null, span, total, &room);
  if (status || !total)
    return status;
  MHAR_CUDA_TRY (c, cudaMemcpyAsync (null->on_device.entries, null->entries.items,
                                     null->entries.n * sizeof (NullEntry), cudaMemcpyHostToDevice, c->stream));
  status = mhar_null_inverse (c, r, room.inverse);
  for (int k = 0; k < null->kinds.n && !status; k++)
    status = null_run_kind<Real> (c, r, null, &null->kinds.items[k], span, room);
  return status ? status : null_bring (c, null, span, room.result, total, sums);
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
