/* SPDX-License-Identifier: MIT */
/* The depth history: its memory, and the order in which the kernels of a read are started.
 *
 * A read is one kernel over the site's newest rows. Where a block of sites begins, two kernels go before it: the rows
 * stored during the last block are scored for all later blocks, and the rows older than this one mixed for its sites. */
#include "kernels/cuda/route-private.cuh"

#include <stdlib.h>
#include <string.h>

static int
table_check (MharContext *c, const MharRouteTable *t)
{
  int64_t planes = 0;
  if (t->width < 1 || t->width > 1 << 20 || t->max_tokens < 1 || t->max_tokens > 1 << 30 || t->n_rows < 1)
    return mhar_cuda_unsupported (c, "a depth history of %d rows [%zu, %zu]", (int) t->n_rows, t->max_tokens, t->width);
  for (int32_t s = 0; s < t->n_sites; s++) {
    const MharRouteSite *site = &t->sites[s];
    if (site->n_sources < 1 || site->heads < 1 || site->heads > 1 << 16 || (!site->whole && t->width % site->heads))
      return mhar_cuda_unsupported (c, "site %d: %d sources, %d heads over a width of %zu", (int) s,
                                    (int) site->n_sources, (int) site->heads, t->width);
    for (int32_t n = 0; n < site->n_sources; n++)
      if (site->sources[n] < 0 || site->sources[n] >= t->n_rows)
        return mhar_cuda_unsupported (c, "site %d reads row %d of %d", (int) s, (int) site->sources[n],
                                      (int) t->n_rows);
    planes += (int64_t) site->heads * site->n_sources;
  }
  if (planes > 1 << 30)
    return mhar_cuda_unsupported (c, "%lld weights a token", (long long) planes);
  return MHAR_OK;
}

template <typename T>
static int
copy_list (MharContext *c, const MharList<T> &list, T **out)
{
  const size_t bytes = (size_t) (list.n ? list.n : 1) * sizeof (T);
  MHAR_CUDA_TRY (c, cudaMalloc ((void **) out, bytes));
  if (list.n)
    MHAR_CUDA_TRY (c, cudaMemcpyAsync (*out, list.items, bytes, cudaMemcpyHostToDevice, c->stream));
  return MHAR_OK;
}

static int
copy_plan (MharContext *c, MharRoute *r)
{
  const MharRoutePlan *p = &r->plan;
  MharRouteTables *to = &r->on_device;
  int status = copy_list (c, p->sites, &to->sites);
  status = status ? status : copy_list (c, p->rows, &to->rows);
  status = status ? status : copy_list (c, p->tiles, &to->tiles);
  status = status ? status : copy_list (c, p->groups, &to->groups);
  status = status ? status : copy_list (c, p->sources, &to->sources);
  status = status ? status : copy_list (c, p->older, &to->older);
  status = status ? status : copy_list (c, p->older_plane, &to->older_plane);
  status = status ? status : copy_list (c, p->pack, &to->pack);
  status = status ? status : copy_list (c, p->query, &to->query);
  if (status)
    return status;
  MHAR_CUDA_TRY (c, cudaStreamSynchronize (c->stream));
  return MHAR_OK;
}

/* Device memory of the history, the logits, and the partial mixes of each class. */
static int
allocate (MharContext *c, MharRoute *r)
{
  const size_t real = c->precision == MHAR_PRECISION_BF16 ? 2 : 4, plane = r->stride * sizeof (float);
  r->history.bytes = r->n_rows * r->max_tokens * r->width * real;
  MHAR_CUDA_TRY (c, cudaMalloc (&r->history.data, r->history.bytes));
  MHAR_CUDA_TRY (c, cudaMalloc ((void **) &r->logits, (r->plan.n_planes + 1) * plane));
  MHAR_CUDA_TRY (c, cudaMalloc ((void **) &r->squares, (size_t) r->n_rows * r->plan.n_norms * plane));
  for (int i = 0; i < r->plan.classes.n; i++) {
    MharRouteClass *of = &r->plan.classes.items[i];
    const size_t heads = of->whole ? 1 : of->heads;
    if (!of->columns)
      continue;
    MHAR_CUDA_TRY (c, cudaMalloc ((void **) &of->partial, of->columns * r->max_tokens * r->width * sizeof (float)));
    MHAR_CUDA_TRY (c, cudaMalloc ((void **) &of->top, of->columns * heads * plane));
    MHAR_CUDA_TRY (c, cudaMalloc ((void **) &of->sum, of->columns * heads * plane));
  }
  return MHAR_OK;
}

static bool
host_memory (MharRoute *r, const MharRouteTable *table, bool bf16)
{
  r->waiting = (int32_t *) calloc (r->n_rows, sizeof (int32_t));
  r->met = (int32_t *) calloc (r->n_rows, sizeof (int32_t));
  r->measured = (uint8_t *) calloc (r->n_rows, 1);
  return r->waiting && r->met && r->measured && mhar_route_plan_make (&r->plan, table, bf16);
}

int
mhar_cuda_route_new (MharContext *c, const MharRouteTable *table, MharRoute **out)
{
  int status = table_check (c, table);
  if (status)
    return status;
  MharRoute *r = (MharRoute *) calloc (1, sizeof *r);
  if (!r)
    return mhar_cuda_failed (c, "route", cudaErrorMemoryAllocation);
  r->max_tokens = table->max_tokens;
  r->stride = (table->max_tokens + 31) / 32 * 32;
  r->width = table->width;
  r->eps = table->eps;
  r->n_rows = table->n_rows;
  r->n_sites = table->n_sites;
  if (!host_memory (r, table, c->precision == MHAR_PRECISION_BF16))
    status = mhar_cuda_failed (c, "route", cudaErrorMemoryAllocation);
  else if (r->plan.classes.n > 7)
    status = mhar_cuda_unsupported (c, "sites with %d different numbers of heads", (int) r->plan.classes.n);
  status = status ? status : allocate (c, r);
  status = status ? status : copy_plan (c, r);
  if (status) {
    mhar_cuda_route_free (c, r);
    return status;
  }
  r->warps = 1;
  r->again = table->again != 0;
  r->overlap = mhar_route_may_overlap ();
  *out = r;
  return MHAR_OK;
}

void
mhar_cuda_route_free (MharContext *c, MharRoute *r)
{
  (void) c;
  if (!r)
    return;
  void *const arrays[] = { r->history.data,      r->logits,           r->squares,           r->on_device.sites,
                           r->on_device.rows,    r->on_device.tiles,  r->on_device.groups,  r->on_device.sources,
                           r->on_device.older,   r->on_device.older_plane, r->on_device.pack, r->on_device.query };
  for (void *array : arrays)
    cudaFree (array);
  for (int i = 0; i < r->plan.classes.n; i++) {
    cudaFree (r->plan.classes.items[i].partial);
    cudaFree (r->plan.classes.items[i].top);
    cudaFree (r->plan.classes.items[i].sum);
  }
  mhar_route_plan_free (&r->plan);
  free (r->waiting);
  free (r->met);
  free (r->measured);
  free (r);
}

int
mhar_cuda_route_begin (MharContext *c, MharRoute *r, size_t W, size_t t)
{
  if (W < 1 || t < 1 || W > r->max_tokens || t > r->max_tokens / W)
    return mhar_cuda_unsupported (c, "a batch of %zu windows of %zu tokens in a history of %zu", W, t, r->max_tokens);
  r->windows = W;
  r->length = t;
  r->tokens = W * t;
  r->n_waiting = r->reads = 0;
  memset (r->measured, 0, r->n_rows);
  memset (r->met, 0, r->n_rows * sizeof (int32_t));
  return MHAR_OK;
}

MharRows
mhar_cuda_route_row (MharRoute *r, int32_t row)
{
  return MharRows{ &r->history, (size_t) row * r->max_tokens * r->width };
}

int
mhar_cuda_route_stored (MharContext *c, MharRoute *r, int32_t row)
{
  if (row < 0 || row >= r->n_rows)
    return mhar_cuda_unsupported (c, "row %d of %d", (int) row, (int) r->n_rows);
  r->measured[row] = MHAR_MEASURED_NOT; /* where it is stored again */
  r->met[row] = 0;
  for (int i = 0; i < r->n_waiting; i++)
    if (r->waiting[i] == row)
      return MHAR_OK;
  if (r->plan.rows.items[row].n_groups)
    r->waiting[r->n_waiting++] = row;
  return MHAR_OK;
}

/* Logits of the rows at the blocks to come. */
static int
score_rows (MharContext *c, MharRoute *r, const int32_t *rows, int n)
{
  if (!mhar_route_ahead_fits (c, r))
    return mhar_route_score (c, r, rows, n, true);
  for (int i = 0; i < n; i++)
    if (!r->measured[rows[i]]) {
      const int status = mhar_route_score (c, r, rows + i, 1, false);
      if (status)
        return status;
    }
  return mhar_route_score_ahead (c, r, rows, n);
}

/* Where a block of sites with older rows begins: the logits of the rows that were read before, and the mixes. */
static int
begin_block (MharContext *c, MharRoute *r, int32_t block)
{
  int32_t *ready = r->waiting, n = 0;
  const int32_t site = r->plan.blocks.items[block].first_site;
  for (int i = 0; i < r->n_waiting; i++)
    if (r->plan.rows.items[ready[i]].first_use < site) { /* to the front, in order */
      const int32_t row = ready[i];
      memmove (ready + n + 1, ready + n, (i - n) * sizeof (int32_t));
      ready[n++] = row;
    }
  const int status = n ? score_rows (c, r, ready, n) : MHAR_OK;
  if (status)
    return status;
  r->n_waiting -= n;
  memmove (ready, ready + n, r->n_waiting * sizeof (int32_t));
  return mhar_route_mix_older (c, r, block);
}

int
mhar_cuda_route_read (MharContext *c, MharRoute *r, int32_t site, const MharReadOut *out)
{
  if (site < 0 || site >= r->n_sites)
    return mhar_cuda_unsupported (c, "site %d of %d", (int) site, (int) r->n_sites);
  const MharSitePlan *s = &r->plan.sites.items[site];
  const MharBlockPlan *block = &r->plan.blocks.items[s->block];
  int status = block->n_older && block->first_site == site ? begin_block (c, r, s->block) : MHAR_OK;
  if (!status)
    status = mhar_route_read_newest (c, r, site, out);
  r->reads++;
  return status;
}

int
mhar_route_settle (MharContext *c, MharRoute *r)
{
  r->n_waiting = 0;
  for (int32_t row = 0; row < r->n_rows; row++)
    if (r->measured[row] != MHAR_MEASURED_ALL)
      r->waiting[r->n_waiting++] = row;
  const int status = r->n_waiting ? mhar_route_score (c, r, r->waiting, r->n_waiting, false) : MHAR_OK;
  r->n_waiting = 0;
  return status;
}
