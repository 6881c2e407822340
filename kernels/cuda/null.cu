/* SPDX-License-Identifier: MIT */
/* Queries against a finished history: how they are grouped, launched, and their sums brought home. The entries of one
 * kind (heads or slices, and how many) are cut into tiles of 16 queries and groups of four tiles, which may belong to
 * several sites; groups run in batches whose float32 sums fit a bounded scratch and are then added in double, window by
 * window and in order. No array over queries, sources and tokens exists. */
#include "kernels/cuda/null-pack.cuh"

#include <stdlib.h>
#include <string.h>

#define NULL_PARTIAL ((size_t) 256 << 20) /* bytes of float32 sums in a batch */
#define NULL_PIECE ((size_t) 16 << 20)    /* bytes brought to the host at a time */

/* Where an entry's sums go in the result: [W, Q, S], or [W, Q] and [W, Q, heads, n]. In doubles. */
struct NullEntry {
  int32_t n_queries, parts, n, sliced, kind;
  int64_t kl, js, weight;
};

struct NullKind {
  int32_t parts, sliced, whole, interleaved, double_width;
  int32_t weights; /* some entry's are wanted in this run */
  int32_t first_group, n_groups, first_part; /* into groups, parts */
  int32_t chunks, chunk_steps, units_a_tile;
  int64_t floats; /* of sums, all tiles */
};

struct MharNull {
  MharList<NullEntry> entries;
  MharList<NullKind> kinds;
  MharList<MharNullTile> tiles;
  MharList<MharNullGroup> groups;
  MharList<MharNullStep> steps;
  MharList<MharNullPart> parts;
  int64_t units; /* of packed queries */
  struct {
    NullEntry *entries;
    MharNullTile *tiles;
    MharNullGroup *groups;
    MharNullStep *steps;
    MharNullPart *parts;
    uint4 *pack;
  } on_device;
};

/* ---- grouping ---- */

static int
null_site_check (MharContext *c, const MharRoute *r, const MharNullSite *in)
{
  if (in->site < 0 || in->site >= r->n_sites || in->n_queries < 0 || in->slices < 0 || in->n_take < 0)
    return mhar_cuda_unsupported (c, "%d queries, %d slices and %d sources at site %d of %d", (int) in->n_queries,
                                  (int) in->slices, (int) in->n_take, (int) in->site, (int) r->n_sites);
  const MharSitePlan *s = &r->plan.sites.items[in->site];
  if (in->slices && (s->heads > 1 || r->width % in->slices))
    return mhar_cuda_unsupported (c, "%d slices at site %d, of %d heads over a width of %zu", (int) in->slices,
                                  (int) in->site, (int) s->heads, r->width);
  for (int32_t i = 0; i < in->n_take; i++)
    if (in->take[i] < (i ? in->take[i - 1] + 1 : 0) || in->take[i] >= s->n_sources)
      return mhar_cuda_unsupported (c, "the sources taken at site %d are not ascending positions below %d",
                                    (int) in->site, (int) s->n_sources);
  return MHAR_OK;
}

/* The kind of an entry; a new one if there is none yet. */
static int32_t
kind_of (MharNull *null, const MharRoute *r, const MharNullSite *in, bool bf16)
{
  const MharSitePlan *s = &r->plan.sites.items[in->site];
  NullKind k = {};
  k.sliced = in->slices > 0;
  k.parts = k.sliced ? in->slices : s->heads;
  k.whole = !k.sliced && s->whole;
  k.interleaved = k.sliced && in->interleaved && in->slices > 1;
  k.double_width = bf16 && in->n_queries <= 4; /* so few that they may be trained ones: 16 bits of significand */
  for (int32_t i = 0; i < null->kinds.n; i++) {
    const NullKind *old = &null->kinds.items[i];
    if (old->parts == k.parts && old->sliced == k.sliced && old->whole == k.whole && old->interleaved == k.interleaved
        && old->double_width == k.double_width)
      return i;
  }
  k.first_part = null->parts.n;
  int32_t steps = 0, most = 1;
  for (int32_t p = 0; p < k.parts; p++) {
    MharNullPart part = {};
    mhar_head_steps (r->width, k.whole ? 1 : k.parts, k.whole ? 0 : p, &part.first_step, &part.n_steps);
    part.base = steps;
    steps += part.n_steps;
    most = part.n_steps > most ? part.n_steps : most;
    mhar_list_add (&null->parts, part);
  }
  k.chunks = (most + NULL_CHUNK - 1) / NULL_CHUNK;
  k.chunk_steps = (most + k.chunks - 1) / k.chunks;
  k.units_a_tile = steps * (bf16 ? mhar_null_step_units<__nv_bfloat16> (k.double_width) : mhar_null_step_units<float> (0));
  mhar_list_add (&null->kinds, k);
  return null->kinds.n - 1;
}

static int32_t
taken_position (const MharNullSite *in, int32_t i)
{
  return in->n_take > 0 ? in->take[i] : i;
}

/* Joins tile `column` of the group being built to its list of rows. */
static void
join_steps (MharNull *null, const MharRoute *r, const MharNullSite *in, int32_t n, MharNullGroup *group, int column)
{
  const MharSource *sources = r->plan.sources.items + r->plan.sites.items[in->site].first_source;
  for (int32_t i = 0; i < n; i++) {
    const int32_t row = sources[taken_position (in, i)].row;
    MharNullStep *found = NULL;
    for (int32_t j = 0; j < group->n_steps && !found; j++) {
      MharNullStep *step = &null->steps.items[group->first_step + j];
      found = step->row == row && step->position[column] < 0 ? step : NULL;
    }
    if (!found) {
      MharNullStep fresh = { row, { -1, -1, -1, -1 } };
      mhar_list_add (&null->steps, fresh);
      if (null->steps.bad)
        return;
      group->n_steps++;
      found = &null->steps.items[null->steps.n - 1];
    }
    found->position[column] = i;
  }
}

/* The tiles of an entry, joined to the kind's last group while it has room. */
static void
add_tiles (MharNull *null, const MharRoute *r, const MharNullSite *in, int32_t index, bool first_of_kind)
{
  const NullEntry *entry = &null->entries.items[index];
  NullKind *kind = &null->kinds.items[entry->kind];
  const MharSitePlan *s = &r->plan.sites.items[in->site];
  for (int32_t q = 0; q < entry->n_queries; q += NULL_QUERIES) {
    MharNullTile tile = {};
    tile.entry = index;
    tile.first_query = q;
    tile.n_queries = entry->n_queries - q < NULL_QUERIES ? entry->n_queries - q : NULL_QUERIES;
    tile.n = entry->n;
    tile.last = taken_position (in, entry->n - 1) == s->n_sources - 1 ? entry->n - 1 : -2;
    tile.bias = s->bias * 1.44269504f;
    tile.pack = null->units;
    tile.partial = kind->floats;
    null->units += kind->units_a_tile;
    kind->floats += NULL_QUERIES * (kind->sliced ? (int64_t) kind->parts : (int64_t) kind->parts * entry->n + 1);
    MharNullGroup *group = null->groups.n ? &null->groups.items[null->groups.n - 1] : NULL;
    if (first_of_kind || !group || group->n_tiles == NULL_TILES) {
      MharNullGroup fresh = { null->tiles.n, 0, null->steps.n, 0 };
      mhar_list_add (&null->groups, fresh);
      if (null->groups.bad)
        return;
      group = &null->groups.items[null->groups.n - 1];
      kind->n_groups++;
      first_of_kind = false;
    }
    join_steps (null, r, in, entry->n, group, group->n_tiles++);
    mhar_list_add (&null->tiles, tile);
  }
}

static bool
null_failed (const MharNull *null)
{
  return null->entries.bad || null->kinds.bad || null->tiles.bad || null->groups.bad || null->steps.bad
         || null->parts.bad;
}

static int
null_plan (MharContext *c, const MharRoute *r, MharNull *null, const MharNullSite *sites, size_t n_sites)
{
  const bool bf16 = c->precision == MHAR_PRECISION_BF16;
  for (size_t i = 0; i < n_sites; i++) {
    const int status = null_site_check (c, r, &sites[i]);
    if (status)
      return status;
    NullEntry entry = {};
    entry.kind = kind_of (null, r, &sites[i], bf16);
    entry.n_queries = sites[i].n_queries;
    entry.sliced = sites[i].slices > 0;
    entry.parts = entry.sliced ? sites[i].slices : r->plan.sites.items[sites[i].site].heads;
    entry.n = sites[i].n_take > 0 ? sites[i].n_take : r->plan.sites.items[sites[i].site].n_sources;
    mhar_list_add (&null->entries, entry);
  }
  for (int32_t k = 0; k < null->kinds.n && !null_failed (null); k++) {
    bool first = true;
    null->kinds.items[k].first_group = null->groups.n;
    for (size_t i = 0; i < n_sites && !null_failed (null); i++)
      if (null->entries.items[i].kind == k) {
        add_tiles (null, r, &sites[i], (int32_t) i, first);
        first = first && null->kinds.items[k].n_groups == 0;
      }
  }
  return null_failed (null) ? mhar_cuda_failed (c, "null", cudaErrorMemoryAllocation) : MHAR_OK;
}

/* ---- packing ---- */

template <typename T>
static int
null_copy (MharContext *c, const MharList<T> &list, T **out)
{
  const size_t bytes = (size_t) (list.n ? list.n : 1) * sizeof (T);
  MHAR_CUDA_TRY (c, cudaMalloc ((void **) out, bytes));
  if (list.n)
    MHAR_CUDA_TRY (c, cudaMemcpyAsync (*out, list.items, bytes, cudaMemcpyHostToDevice, c->stream));
  return MHAR_OK;
}

static int
null_pack_entry (MharContext *c, const MharRoute *r, MharNull *null, const MharNullSite *in, int32_t index,
                 int32_t first_tile)
{
  const NullEntry *entry = &null->entries.items[index];
  const NullKind *kind = &null->kinds.items[entry->kind];
  const bool bf16 = c->precision == MHAR_PRECISION_BF16;
  const size_t bytes = (size_t) entry->n_queries * (kind->whole ? kind->parts : 1) * r->width * sizeof (double);
  void *queries;
  const int status = mhar_cuda_scratch (c, bytes, &queries);
  if (status)
    return status;
  MHAR_CUDA_TRY (c, cudaMemcpyAsync (queries, in->queries, bytes, cudaMemcpyHostToDevice, c->stream));
  MharNullPack p = {};
  p.queries = (const double *) queries;
  p.part = null->on_device.parts + kind->first_part;
  p.pack = null->on_device.pack + null->tiles.items[first_tile].pack;
  p.n_queries = entry->n_queries;
  p.n_tiles = (entry->n_queries + NULL_QUERIES - 1) / NULL_QUERIES;
  p.width = (int) r->width;
  p.parts = kind->parts;
  p.whole = kind->whole;
  p.interleaved = kind->interleaved;
  p.bf16 = bf16;
  p.step_units = bf16 ? mhar_null_step_units<__nv_bfloat16> (kind->double_width) : mhar_null_step_units<float> (0);
  p.units_a_tile = kind->units_a_tile;
  return mhar_null_pack (c, p);
}

static int
null_upload (MharContext *c, const MharRoute *r, MharNull *null, const MharNullSite *sites)
{
  int status = null_copy (c, null->tiles, &null->on_device.tiles);
  status = status ? status : null_copy (c, null->groups, &null->on_device.groups);
  status = status ? status : null_copy (c, null->steps, &null->on_device.steps);
  status = status ? status : null_copy (c, null->parts, &null->on_device.parts);
  status = status ? status : null_copy (c, null->entries, &null->on_device.entries); /* again for every run */
  if (status)
    return status;
  MHAR_CUDA_TRY (c, cudaMalloc ((void **) &null->on_device.pack, (size_t) (null->units ? null->units : 1) * sizeof (uint4)));
  for (int32_t t = 0; t < null->tiles.n && !status; t++)
    if (null->tiles.items[t].first_query == 0)
      status = null_pack_entry (c, r, null, &sites[null->tiles.items[t].entry], null->tiles.items[t].entry, t);
  if (status)
    return status;
  MHAR_CUDA_TRY (c, cudaStreamSynchronize (c->stream));
  return MHAR_OK;
}

int
mhar_cuda_null_new (MharContext *c, MharRoute *r, const MharNullSite *sites, size_t n_sites, MharNull **out)
{
  MharNull *null = (MharNull *) calloc (1, sizeof *null);
  if (!null)
    return mhar_cuda_failed (c, "null", cudaErrorMemoryAllocation);
  int status = null_plan (c, r, null, sites, n_sites);
  status = status ? status : null_upload (c, r, null, sites);
  if (status)
    mhar_cuda_null_free (c, null);
  else
    *out = null;
  return status;
}

void
mhar_cuda_null_free (MharContext *c, MharNull *null)
{
  (void) c;
  if (!null)
    return;
  cudaFree (null->on_device.entries);
  cudaFree (null->on_device.tiles);
  cudaFree (null->on_device.groups);
  cudaFree (null->on_device.steps);
  cudaFree (null->on_device.parts);
  cudaFree (null->on_device.pack);
  free (null->entries.items);
  free (null->kinds.items);
  free (null->tiles.items);
  free (null->groups.items);
  free (null->steps.items);
  free (null->parts.items);
  free (null);
}

/* ---- running ---- */

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
  return mhar_cuda_launch (c, "null add", null_add_kernel, dim3 ((unsigned) ((b.floats + 127) / 128), b.windows), 128, 0,
                           false, a);
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
      const size_t more = kind->sliced ? 0
                                       : mhar_null_heads_spare<Real> (c, null_args<Real> (r, null, kind, span, *room), blocks);
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
  MHAR_CUDA_TRY (c, cudaMemcpyAsync (null->on_device.entries, null->entries.items, null->entries.n * sizeof (NullEntry),
                                     cudaMemcpyHostToDevice, c->stream));
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
