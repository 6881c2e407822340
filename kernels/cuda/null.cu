/* SPDX-License-Identifier: MIT */
/* Makes and frees a null: plans it (null-plan.cu) and packs its queries on the device. */
#include "kernels/cuda/null-pack.cuh"

#include <stdlib.h>

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
null_pack_entry (MharContext *c, const MharRoute *r, MharNull *null, const MharNullSite *in, const NullEntry *entry)
{
  const NullKind *kind = &null->kinds.items[entry->kind];
  const size_t bytes = (size_t) entry->n_queries * (kind->whole ? kind->parts : 1) * r->width * sizeof (double);
  void *queries;
  const int status = mhar_cuda_scratch (c, bytes, &queries);
  if (status)
    return status;
  MHAR_CUDA_TRY (c, cudaMemcpyAsync (queries, in->queries, bytes, cudaMemcpyHostToDevice, c->stream));
  MharNullPack p = {};
  p.queries = (const double *) queries;
  p.part = null->on_device.parts + kind->first_part;
  p.pack = (uint32_t *) (null->on_device.pack + null->tiles.items[kind->first_tile].pack);
  p.n_queries = entry->n_queries;
  p.first_slot = entry->first_slot;
  p.width = (int) r->width;
  p.parts = kind->parts;
  p.steps = kind->parts * kind->chunks * kind->chunk_steps;
  p.whole = kind->whole;
  p.interleaved = kind->interleaved;
  p.bf16 = c->precision == MHAR_PRECISION_BF16;
  p.double_width = kind->double_width;
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
  status = status ? status : null_copy (c, null->runs, &null->on_device.runs);
  status = status ? status : null_copy (c, null->positions, &null->on_device.positions);
  status = status ? status : null_copy (c, null->entries, &null->on_device.entries); /* again for every run */
  if (status)
    return status;
  const size_t bytes = (size_t) (null->units ? null->units : 1) * sizeof (uint4);
  MHAR_CUDA_TRY (c, cudaMalloc ((void **) &null->on_device.pack, bytes));
  MHAR_CUDA_TRY (c, cudaMemsetAsync (null->on_device.pack, 0, bytes, c->stream)); /* slots without a query */
  for (int32_t e = 0; e < null->entries.n && !status; e++)
    if (null->entries.items[e].n_queries > 0)
      status = null_pack_entry (c, r, null, &sites[e], &null->entries.items[e]);
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
  int status = mhar_null_plan (c, r, null, sites, n_sites);
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
  cudaFree (null->on_device.runs);
  cudaFree (null->on_device.positions);
  cudaFree (null->on_device.pack);
  free (null->entries.items);
  free (null->kinds.items);
  free (null->tiles.items);
  free (null->groups.items);
  free (null->steps.items);
  free (null->parts.items);
  free (null->runs.items);
  free (null->positions.items);
  free (null);
}
