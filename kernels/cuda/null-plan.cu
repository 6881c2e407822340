/* SPDX-License-Identifier: MIT */
/* Queries to be scored against a history: those of all entries of one kind (heads or slices, and how many) stand in
 * slots, one after the other; sixteen slots make a tile, and some tiles a group with a common list of rows. Few queries
 * a site thus share their rows with those of the sites around. */
#include "kernels/cuda/null-pack.cuh"

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

/* ---- kinds ---- */

/* Steps an item, of the numbers the kernels are made for: as many as fill up the fewest. In float32, and where rows
 * cannot be read sixteen bytes at a time, there is one number only. */
static int32_t
item_steps (const MharRoute *r, bool sliced, bool bf16, int32_t most)
{
  static const int32_t sizes[] = { NULL_FEWEST_STEPS, NULL_SLICES_STEPS, 8, NULL_HEADS_STEPS };
  int32_t best = NULL_FEWEST_STEPS;
  const int n = !bf16 || r->width % MharWide<__nv_bfloat16>::n ? 1 : sliced ? 2 : 4;
  for (int i = 1; i < n; i++)
    if ((most + sizes[i] - 1) / sizes[i] * sizes[i] <= (most + best - 1) / best * best)
      best = sizes[i];
  return best;
}

/* The channels of a kind's parts. */
static void
kind_parts (MharNull *null, const MharRoute *r, NullKind *k, bool bf16)
{
  int32_t most = 1;
  k->first_part = null->parts.n;
  for (int32_t p = 0; p < k->parts; p++) {
    MharNullPart part = {};
    mhar_head_steps (r->width, k->whole ? 1 : k->parts, k->whole ? 0 : p, &part.first_step, &part.n_steps);
    most = part.n_steps > most ? part.n_steps : most;
    mhar_list_add (&null->parts, part);
  }
  k->chunk_steps = item_steps (r, k->sliced, bf16, most);
  k->chunks = (most + k->chunk_steps - 1) / k->chunk_steps;
  const int32_t each = k->chunks * k->chunk_steps;
  for (int32_t p = 0; p < k->parts && !null->parts.bad; p++)
    null->parts.items[k->first_part + p].base = p * each;
  k->units_a_tile = k->parts * each
                    * (bf16 ? mhar_null_step_units<__nv_bfloat16> (k->double_width) : mhar_null_step_units<float> (0));
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
  kind_parts (null, r, &k, bf16);
  mhar_list_add (&null->kinds, k);
  return null->kinds.n - 1;
}

/* ---- groups ---- */

/* What a step of the group being built is found by. */
struct NullSources {
  const MharSource *sources; /* of the site */
  const int32_t *take;       /* NULL: all */
};

static NullSources
null_sources (const MharRoute *r, const MharNullSite *in)
{
  return { r->plan.sources.items + r->plan.sites.items[in->site].first_source, in->n_take > 0 ? in->take : NULL };
}

static int32_t
source_row (const NullSources &s, int32_t i)
{
  return s.sources[s.take ? s.take[i] : i].row;
}

/* The step of an entry's source i: of the steps with its row, the one that as many come before as sources with that row
 * before i. Added if there is none. */
static int32_t
step_of (MharNull *null, MharNullGroup *group, const NullSources &sources, int32_t i)
{
  const int32_t row = source_row (sources, i);
  int32_t before = 0;
  for (int32_t j = 0; j < i; j++)
    before += source_row (sources, j) == row;
  for (int32_t j = 0; j < group->n_steps; j++)
    if (null->steps.items[group->first_step + j].row == row && before-- == 0)
      return j;
  MharNullStep fresh = {};
  fresh.row = row;
  mhar_list_add (&null->steps, fresh);
  return null->steps.bad ? 0 : group->n_steps++;
}

/* Marks the sources of a run at the group's steps. */
static void
run_mark (MharNull *null, const MharRoute *r, const MharNullSite *in, MharNullGroup *group, const MharNullRun *run)
{
  const MharSitePlan *s = &r->plan.sites.items[in->site];
  const NullSources sources = null_sources (r, in);
  const int32_t first = null->tiles.items[group->first_tile].first_slot;
  for (int32_t i = 0; i < null->entries.items[run->entry].n; i++) {
    const int32_t step = step_of (null, group, sources, i);
    const bool last = (sources.take ? sources.take[i] : i) == s->n_sources - 1;
    null->positions.items[run->position + step] = i;
    for (int32_t slot = run->first_slot - first; slot < run->first_slot - first + run->n_queries; slot++)
      null->steps.items[group->first_step + step].mask[slot / NULL_QUERIES]
        |= (last ? 0x10001u : 1u) << slot % NULL_QUERIES;
  }
}

/* The queries of an entry that fall on slots [first, end), if any. */
static bool
run_of (const NullEntry *entry, int32_t index, int32_t first, int32_t end, MharNullRun *run)
{
  const int32_t from = entry->first_slot > first ? entry->first_slot : first;
  const int32_t to = entry->first_slot + entry->n_queries < end ? entry->first_slot + entry->n_queries : end;
  *run = { index, from - entry->first_slot, from, to - from, 0 };
  return from < to;
}

static void
add_tile (MharNull *null, NullKind *kind, int32_t first_slot)
{
  MharNullTile tile = {};
  tile.first_slot = first_slot;
  for (int q = 0; q < NULL_QUERIES; q++)
    tile.run[q] = -1;
  tile.pack = null->units;
  null->units += kind->units_a_tile;
  mhar_list_add (&null->tiles, tile);
}

static void
run_slots (MharNull *null, const MharRoute *r, const MharNullSite *in, const MharNullGroup *group,
           const MharNullRun *run)
{
  const int32_t first = null->tiles.items[group->first_tile].first_slot;
  for (int32_t slot = run->first_slot - first; slot < run->first_slot - first + run->n_queries; slot++) {
    MharNullTile *tile = &null->tiles.items[group->first_tile + slot / NULL_QUERIES];
    tile->run[slot % NULL_QUERIES] = null->runs.n;
    tile->bias[slot % NULL_QUERIES] = r->plan.sites.items[in->site].bias * 1.44269504f;
  }
}

static bool
null_failed (const MharNull *null)
{
  return null->entries.bad || null->kinds.bad || null->tiles.bad || null->groups.bad || null->steps.bad
         || null->parts.bad || null->runs.bad || null->positions.bad;
}

/* A group of the kind's slots [first, end): its tiles, then its runs and steps, then which query takes which step. */
static void
add_group (MharNull *null, const MharRoute *r, const MharNullSite *sites, int32_t k, int32_t first, int32_t end)
{
  NullKind *kind = &null->kinds.items[k];
  MharNullGroup group = { null->tiles.n, 0, null->steps.n, 0 };
  const int32_t first_run = null->runs.n;
  for (int32_t slot = first; slot < end; slot += NULL_QUERIES, group.n_tiles++)
    add_tile (null, kind, slot);
  for (int32_t e = 0; e < null->entries.n && !null_failed (null); e++) {
    MharNullRun run;
    if (null->entries.items[e].kind != k || !run_of (&null->entries.items[e], e, first, end, &run))
      continue;
    run_slots (null, r, &sites[e], &group, &run);
    mhar_list_add (&null->runs, run);
    for (int32_t i = 0; i < null->entries.items[e].n; i++)
      step_of (null, &group, null_sources (r, &sites[e]), i);
  }
  for (int32_t i = first_run; i < null->runs.n && !null_failed (null); i++) {
    MharNullRun *run = &null->runs.items[i];
    run->position = null->positions.n;
    for (int32_t j = 0; j < group.n_steps; j++)
      mhar_list_add (&null->positions, (int32_t) -1);
    if (!null->positions.bad)
      run_mark (null, r, &sites[run->entry], &group, run);
  }
  for (int32_t t = 0; t < group.n_tiles && !null_failed (null); t++) {
    null->tiles.items[group.first_tile + t].n_steps = group.n_steps;
    null->tiles.items[group.first_tile + t].partial = kind->floats;
    kind->floats += NULL_QUERIES
                    * (kind->sliced ? (int64_t) kind->parts : (int64_t) kind->parts * group.n_steps + 1);
  }
  mhar_list_add (&null->groups, group);
  kind->n_groups++;
}

int
mhar_null_plan (MharContext *c, const MharRoute *r, MharNull *null, const MharNullSite *sites, size_t n_sites)
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
    if (null_failed (null) || entry.n_queries > INT32_MAX / 2 - null->kinds.items[entry.kind].n_slots)
      return mhar_cuda_failed (c, "null", cudaErrorMemoryAllocation);
    entry.first_slot = null->kinds.items[entry.kind].n_slots;
    null->kinds.items[entry.kind].n_slots += entry.n_queries;
    mhar_list_add (&null->entries, entry);
  }
  for (int32_t k = 0; k < null->kinds.n && !null_failed (null); k++) {
    NullKind *kind = &null->kinds.items[k];
    const int32_t heads_tiles = kind->double_width ? NULL_HEADS_TILES / 2 : NULL_HEADS_TILES;
    const int32_t tiles = kind->sliced ? NULL_SLICES_TILES : heads_tiles;
    const int32_t slots = tiles * NULL_QUERIES;
    kind->first_group = null->groups.n;
    kind->first_tile = null->tiles.n;
    for (int32_t first = 0; first < kind->n_slots && !null_failed (null); first += slots)
      add_group (null, r, sites, k, first, first + slots < kind->n_slots ? first + slots : kind->n_slots);
  }
  return null_failed (null) ? mhar_cuda_failed (c, "null", cudaErrorMemoryAllocation) : MHAR_OK;
}
