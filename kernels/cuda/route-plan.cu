/* SPDX-License-Identifier: MIT */
/* What can be known of the reads before any token is: which sites share their older rows, and which queries a row is
 * to be scored against, packed in the order the tensor cores want them. Host code. */
#include "kernels/cuda/route-private.cuh"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct Planner {
  MharRoutePlan *plan;
  const MharRouteTable *table;
  bool bf16;
  int32_t *first; /* [n_sites, R]: first position of the row among the site's sources, or −1 */
};

static int32_t
position_of (const Planner *p, int32_t site, int32_t row)
{
  return p->first[(size_t) site * p->table->n_rows + row];
}

static int32_t
class_of (MharRoutePlan *plan, const MharRouteSite *site)
{
  const int32_t whole = site->whole && site->heads > 1;
  for (int32_t i = 0; i < plan->classes.n; i++)
    if (plan->classes.items[i].heads == site->heads && plan->classes.items[i].whole == whole)
      return i;
  MharRouteClass fresh = {};
  fresh.heads = site->heads;
  fresh.whole = whole;
  if (!whole && site->heads > 1) { /* plane 0 of a row's norms is the whole row's */
    fresh.norm = plan->n_norms;
    plan->n_norms += site->heads;
  }
  mhar_list_add (&plan->classes, fresh);
  return plan->classes.n - 1;
}

/* Sites a block: near √N the rows read and the partial mixes written are fewest. One, and so no older rows, where that
 * is asked for, where rows may be stored again (the partial mixes would be of the first ones), or where a site has a
 * shape that the kernels of older rows do not cover. */
static int32_t
sites_a_block (const Planner *p)
{
  const MharRouteTable *table = p->table;
  int32_t longest = 1;
  for (int32_t s = 0; s < table->n_sites; s++) {
    const MharRouteSite *site = &table->sites[s];
    const MharPrecision precision = p->bf16 ? MHAR_PRECISION_BF16 : MHAR_PRECISION_F32;
    longest = site->n_sources > longest ? site->n_sources : longest;
    if (table->plain || table->again || !mhar_route_read_fits (precision, table->width, site->heads, site->whole))
      return 1;
  }
  const int32_t k = table->block > 0 ? table->block : (int32_t) lround (sqrt ((double) longest));
  return k < 1 ? 1 : k > MHAR_TILE ? MHAR_TILE : k;
}

static void
add_site (Planner *p, int32_t index)
{
  const MharRouteSite *from = &p->table->sites[index];
  MharRoutePlan *plan = p->plan;
  MharSitePlan s = {};
  s.n_sources = from->n_sources;
  s.heads = from->heads;
  s.in_class = class_of (plan, from);
  if (plan->classes.bad)
    return;
  s.whole = plan->classes.items[s.in_class].whole;
  s.norm = plan->classes.items[s.in_class].norm;
  s.plane = plan->n_planes;
  s.first_source = plan->sources.n;
  s.query = (size_t) plan->query.n;
  s.bias = (float) from->bias;
  plan->n_planes += s.heads * s.n_sources;
  plan->n_head_planes += s.heads;
  for (int32_t n = 0; n < from->n_sources; n++) {
    int32_t *first = &p->first[(size_t) index * p->table->n_rows + from->sources[n]];
    if (*first < 0)
      *first = n;
    mhar_list_add (&plan->sources, MharSource{ from->sources[n], n });
    MharRowPlan *row = &plan->rows.items[from->sources[n]];
    row->first_use = index < row->first_use ? index : row->first_use;
    row->last_use = index;
  }
  const size_t floats = p->table->width * (s.whole ? s.heads : 1);
  for (size_t i = 0; i < floats; i++)
    mhar_list_add (&plan->query, (float) from->query[i]);
  mhar_list_add (&plan->sites, s);
}

/* Consecutive sites of a class, K at a time; a whole site counts as many columns as it has heads. */
static void
add_blocks (Planner *p)
{
  MharRoutePlan *plan = p->plan;
  const int32_t k = sites_a_block (p);
  for (int32_t c = 0; c < plan->classes.n; c++) {
    const MharRouteClass *of = &plan->classes.items[c];
    const int32_t each = of->whole ? of->heads : 1;
    const int32_t most = each > k ? 1 : k / each;
    MharBlockPlan *block = NULL;
    for (int32_t s = 0; s < plan->sites.n; s++) {
      MharSitePlan *site = &plan->sites.items[s];
      if (site->in_class != c)
        continue;
      if (!block || block->n_sites == most) {
        MharBlockPlan fresh = {};
        fresh.first_site = s;
        fresh.in_class = c;
        mhar_list_add (&plan->blocks, fresh);
        if (plan->blocks.bad)
          return;
        block = &plan->blocks.items[plan->blocks.n - 1];
      }
      site->block = (int32_t) (block - plan->blocks.items);
      site->column = block->columns;
      block->n_sites++;
      block->columns += each;
    }
  }
}

/* The i-th site of a block. */
static int32_t
block_site (const MharRoutePlan *plan, const MharBlockPlan *block, int32_t i)
{
  for (int32_t s = block->first_site; s < plan->sites.n; s++)
    if (plan->sites.items[s].in_class == block->in_class && i-- == 0)
      return s;
  return -1;
}

/* A row every site of the block reads, and not last, and that an earlier site read too (so its logits are there). */
static bool
is_older (const Planner *p, const MharBlockPlan *block, int32_t row)
{
  if (p->plan->rows.items[row].first_use >= block->first_site)
    return false;
  for (int32_t i = 0; i < block->n_sites; i++) {
    const int32_t s = block_site (p->plan, block, i);
    const int32_t at = position_of (p, s, row);
    if (at < 0 || at == p->table->sites[s].n_sources - 1)
      return false;
  }
  return true;
}

/* Mixing the older rows together pays when the rows not read again outweigh the float32 partial mixes, which are
 * written once and read once. */
static bool
older_pays (const Planner *p, const MharBlockPlan *block, int32_t n)
{
  const int64_t passes = (block->columns + MHAR_TILE - 1) / MHAR_TILE;
  const int64_t partial = p->bf16 ? 4 : 2; /* in rows */
  return (int64_t) n * passes + partial * block->columns < (int64_t) n * block->columns;
}

static void
find_older (Planner *p, MharBlockPlan *block)
{
  MharRoutePlan *plan = p->plan;
  const MharSitePlan *leader = &plan->sites.items[block->first_site];
  block->first_older = plan->older.n;
  block->first_plane = plan->older_plane.n;
  for (int32_t n = 0; n < leader->n_sources; n++) {
    const int32_t row = p->table->sites[block->first_site].sources[n];
    if (position_of (p, block->first_site, row) == n && is_older (p, block, row))
      mhar_list_add (&plan->older, row);
  }
  const int32_t found = plan->older.n - block->first_older;
  if (!older_pays (p, block, found)) {
    plan->older.n = block->first_older;
    return;
  }
  block->n_older = found;
  for (int32_t i = 0; i < found && !plan->older.bad; i++)
    for (int32_t j = 0; j < block->n_sites; j++) {
      const int32_t s = block_site (plan, block, j);
      const MharSitePlan *site = &plan->sites.items[s];
      const int32_t at = position_of (p, s, plan->older.items[block->first_older + i]);
      for (int32_t h = 0; h < (site->whole ? site->heads : 1); h++)
        mhar_list_add (&plan->older_plane, site->plane + h * site->n_sources + at);
    }
  MharRouteClass *of = &plan->classes.items[block->in_class];
  of->columns = block->columns > of->columns ? block->columns : of->columns;
}

static void
find_newest (Planner *p, int32_t index)
{
  MharRoutePlan *plan = p->plan;
  MharSitePlan *s = &plan->sites.items[index];
  const MharBlockPlan *block = &plan->blocks.items[s->block];
  s->first_newest = plan->newest.n;
  for (int32_t n = 0; n < s->n_sources; n++) {
    const int32_t row = p->table->sites[index].sources[n];
    bool older = false;
    for (int32_t i = 0; i < block->n_older && !older; i++)
      older = plan->older.items[block->first_older + i] == row && position_of (p, index, row) == n;
    if (!older)
      mhar_list_add (&plan->newest, MharSource{ row, n });
  }
  s->n_newest = plan->newest.n - s->first_newest;
}

/* ---- tiles ---- */

/* A block's query of column `column` at channel i, zero outside head h (all of the row at whole sites). */
static double
query_at (const Planner *p, const MharBlockPlan *block, int32_t h, int32_t column, size_t i)
{
  const MharRouteClass *of = &p->plan->classes.items[block->in_class];
  const size_t width = p->table->width, part = width / (of->whole ? 1 : of->heads);
  if (column >= block->columns || i >= width || i / part != (size_t) h)
    return 0;
  const int32_t each = of->whole ? of->heads : 1;
  const MharRouteSite *site = &p->table->sites[block_site (p->plan, block, column / each)];
  return site->query[(size_t) (column % each) * width + i];
}

static uint32_t
bf16_pair (double low, double high)
{
  const __nv_bfloat16 a = __float2bfloat16_rn ((float) low), b = __float2bfloat16_rn ((float) high);
  return (uint32_t) *(const uint16_t *) &a | (uint32_t) *(const uint16_t *) &b << 16;
}

static double
bf16_rest (double x)
{
  return x - (double) __bfloat162float (__float2bfloat16_rn ((float) x));
}

/* One step of a tile for the tensor cores: lane (g, t) holds of query g the pairs at k = 2t and 2t + 8, first the query
 * rounded to bf16, then what the rounding left: together they carry 16 bits of significand. */
static void
pack_step_bf16 (const Planner *p, const MharBlockPlan *block, int32_t h, int32_t octet, size_t at)
{
  for (int lane = 0; lane < 32; lane++) {
    double q[4];
    for (int i = 0; i < 4; i++)
      q[i] = query_at (p, block, h, octet * MHAR_TILE + lane / 4, at + 2 * (lane % 4) + (i & 1) + (i & 2) * 4);
    mhar_list_add (&p->plan->pack, uint4{ bf16_pair (q[0], q[1]), bf16_pair (q[2], q[3]),
                                          bf16_pair (bf16_rest (q[0]), bf16_rest (q[1])),
                                          bf16_pair (bf16_rest (q[2]), bf16_rest (q[3])) });
  }
}

/* The same step in float32: of each query 16 channels in a row. */
static void
pack_step_float (const Planner *p, const MharBlockPlan *block, int32_t h, int32_t octet, size_t at)
{
  for (int unit = 0; unit < MHAR_STEP_UNITS; unit++) {
    float q[4];
    for (int i = 0; i < 4; i++)
      q[i] = (float) query_at (p, block, h, octet * MHAR_TILE + unit / 4, at + 4 * (unit % 4) + i);
    uint4 bits;
    memcpy (&bits, q, sizeof bits);
    mhar_list_add (&p->plan->pack, bits);
  }
}

static int32_t
octets_of (const MharBlockPlan *block)
{
  return (block->columns + MHAR_TILE - 1) / MHAR_TILE;
}

static void
pack_block (Planner *p, MharBlockPlan *block)
{
  const MharRouteClass *of = &p->plan->classes.items[block->in_class];
  const int32_t heads = of->whole ? 1 : of->heads;
  block->pack = p->plan->pack.n;
  if (!block->n_older)
    return;
  for (int32_t h = 0; h < heads; h++)
    for (int32_t octet = 0; octet < octets_of (block); octet++) {
      int32_t first, n;
      mhar_head_steps (p->table->width, heads, h, &first, &n);
      for (int32_t step = first; step < first + n; step++) {
        if (p->bf16)
          pack_step_bf16 (p, block, h, octet, (size_t) step * MHAR_STEP);
        else
          pack_step_float (p, block, h, octet, (size_t) step * MHAR_STEP);
      }
    }
}

/* Where tile (h, octet) of a block begins in the packed queries. */
static int32_t
tile_pack (const Planner *p, const MharBlockPlan *block, int32_t h, int32_t octet)
{
  const MharRouteClass *of = &p->plan->classes.items[block->in_class];
  int32_t at = block->pack, first, n;
  for (int32_t i = 0; i <= h; i++) {
    mhar_head_steps (p->table->width, of->whole ? 1 : of->heads, i, &first, &n);
    at += (i < h ? octets_of (block) : octet) * n * MHAR_STEP_UNITS;
  }
  return at;
}

/* Whether the row is an older row of the block. */
static bool
holds (const Planner *p, const MharBlockPlan *block, int32_t row)
{
  for (int32_t i = 0; i < block->n_older; i++)
    if (p->plan->older.items[block->first_older + i] == row)
      return true;
  return false;
}

/* The tile as row `row`, which all sites of the block read, needs it. */
static MharTile
tile_for_row (const Planner *p, const MharBlockPlan *block, int32_t h, int32_t octet, int32_t row)
{
  const MharRouteClass *of = &p->plan->classes.items[block->in_class];
  const int32_t each = of->whole ? of->heads : 1;
  MharTile tile;
  tile.pack = tile_pack (p, block, h, octet);
  for (int32_t i = 0; i < MHAR_TILE; i++) {
    const int32_t column = octet * MHAR_TILE + i;
    tile.plane[i] = -1;
    if (column >= block->columns)
      continue;
    const int32_t s = block_site (p->plan, block, column / each);
    const MharSitePlan *site = &p->plan->sites.items[s];
    tile.plane[i] = site->plane + (of->whole ? column % each : h) * site->n_sources + position_of (p, s, row);
  }
  return tile;
}

/* Groups of up to MHAR_GROUP tiles over head h of class c. */
static void
add_groups (Planner *p, int32_t c, int32_t h, int32_t row)
{
  MharRoutePlan *plan = p->plan;
  const MharRouteClass *of = &plan->classes.items[c];
  MharTileGroup *group = NULL;
  for (int32_t b = 0; b < plan->blocks.n; b++) {
    const MharBlockPlan *block = &plan->blocks.items[b];
    if (block->in_class != c || !holds (p, block, row))
      continue;
    for (int32_t octet = 0; octet < octets_of (block); octet++) {
      if (!group || group->n_tiles == MHAR_GROUP) {
        MharTileGroup fresh = {};
        mhar_head_steps (p->table->width, of->whole ? 1 : of->heads, h, &fresh.first_step, &fresh.n_steps);
        fresh.first_tile = plan->tiles.n;
        mhar_list_add (&plan->groups, fresh);
        if (plan->groups.bad)
          return;
        group = &plan->groups.items[plan->groups.n - 1];
      }
      mhar_list_add (&plan->tiles, tile_for_row (p, block, h, octet, row));
      group->n_tiles++;
    }
  }
}

static void
plan_row (Planner *p, int32_t row)
{
  MharRoutePlan *plan = p->plan;
  MharRowPlan *of = &plan->rows.items[row];
  of->first_group = plan->groups.n;
  for (int32_t c = 0; c < plan->classes.n; c++)
    for (int32_t h = 0; h < (plan->classes.items[c].whole ? 1 : plan->classes.items[c].heads); h++)
      add_groups (p, c, h, row);
  of->n_groups = plan->groups.n - of->first_group;
}

static bool
plan_failed (const MharRoutePlan *plan)
{
  return plan->sites.bad || plan->blocks.bad || plan->classes.bad || plan->rows.bad || plan->tiles.bad
         || plan->groups.bad || plan->sources.bad || plan->newest.bad || plan->older.bad
         || plan->older_plane.bad || plan->pack.bad || plan->query.bad;
}

static void
plan_all (Planner *p)
{
  MharRoutePlan *plan = p->plan;
  for (int32_t s = 0; s < p->table->n_sites && !plan_failed (plan); s++)
    add_site (p, s);
  if (plan_failed (plan))
    return;
  add_blocks (p);
  for (int32_t b = 0; b < plan->blocks.n && !plan_failed (plan); b++) {
    find_older (p, &plan->blocks.items[b]);
    pack_block (p, &plan->blocks.items[b]);
  }
  for (int32_t s = 0; s < plan->sites.n && !plan_failed (plan); s++)
    find_newest (p, s);
  for (int32_t row = 0; row < p->table->n_rows && !plan_failed (plan); row++)
    plan_row (p, row);
}

bool
mhar_route_plan_make (MharRoutePlan *plan, const MharRouteTable *table, bool bf16)
{
  const size_t entries = (size_t) table->n_sites * table->n_rows;
  Planner p = { plan, table, bf16, (int32_t *) malloc ((entries ? entries : 1) * sizeof (int32_t)) };
  if (!p.first)
    return false;
  memset (p.first, 0xff, entries * sizeof (int32_t));
  plan->n_norms = 1;
  for (int32_t row = 0; row < table->n_rows; row++) {
    MharRowPlan unread = {};
    unread.first_use = table->n_sites;
    unread.last_use = -1;
    mhar_list_add (&plan->rows, unread);
  }
  plan_all (&p);
  free (p.first);
  return !plan_failed (plan);
}

void
mhar_route_plan_free (MharRoutePlan *plan)
{
  free (plan->sites.items);
  free (plan->blocks.items);
  free (plan->classes.items);
  free (plan->rows.items);
  free (plan->tiles.items);
  free (plan->groups.items);
  free (plan->sources.items);
  free (plan->newest.items);
  free (plan->older.items);
  free (plan->older_plane.items);
  free (plan->pack.items);
  free (plan->query.items);
  *plan = MharRoutePlan{};
}
