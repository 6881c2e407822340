/* SPDX-License-Identifier: MIT */
/* Queries to be scored against a history: the entries of one kind (heads or slices, and how many) are cut into tiles of
 * 16 queries and groups of four tiles, which may belong to several sites, and packed on the device. */
#include "kernels/cuda/null-pack.cuh"

#include <stdlib.h>
#include <string.h>

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
  k.units_a_tile
    = steps * (bf16 ? mhar_null_step_units<__nv_bfloat16> (k.double_width) : mhar_null_step_units<float> (0));
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
  const size_t bytes = (size_t) (null->units ? null->units : 1) * sizeof (uint4);
  MHAR_CUDA_TRY (c, cudaMalloc ((void **) &null->on_device.pack, bytes));
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
