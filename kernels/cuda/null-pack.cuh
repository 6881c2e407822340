/* SPDX-License-Identifier: MIT */
/* A null as null.cu has planned it, and what null-pack.cu prepares on the device. */
#pragma once

#include "kernels/cuda/null-private.cuh"
#include "kernels/cuda/pack.cuh"

/* Where an entry's sums go in the result: [W, Q, S], or [W, Q] and [W, Q, heads, n]. In doubles. */
struct NullEntry {
  int32_t n_queries, parts, n, sliced, kind;
  int32_t first_slot; /* among the kind's queries */
  int64_t kl, js, weight, end; /* end: of all its sums */
};

/* Entries of one kind: heads or slices, and how many. Their queries stand in slots, one after the other. */
struct NullKind {
  int32_t parts, sliced, whole, interleaved, double_width;
  int32_t weights; /* some entry's are wanted in this run */
  int32_t n_slots, first_tile, first_group, n_groups, first_part; /* into tiles, groups, parts */
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
  MharList<MharNullRun> runs;
  MharList<int32_t> positions;
  int64_t units; /* of packed queries */
  struct {
    NullEntry *entries;
    MharNullTile *tiles;
    MharNullGroup *groups;
    MharNullStep *steps;
    MharNullPart *parts;
    MharNullRun *runs;
    int32_t *positions;
    uint4 *pack;
  } on_device;
};

/* Fills everything on the host. null-plan.cu */
int mhar_null_plan (MharContext *c, const MharRoute *r, MharNull *null, const MharNullSite *sites, size_t n_sites);

/* One entry's queries, on the device in double, to be packed into slots [first_slot, …) of tiles that are zero. */
struct MharNullPack {
  const double *queries; /* [Q, D], or [Q, parts, D] at a whole site */
  const MharNullPart *part;
  uint32_t *pack; /* of the kind's first tile */
  int n_queries, first_slot, width, parts, steps, whole, interleaved, bf16, double_width, units_a_tile;
};

int mhar_null_pack (MharContext *c, const MharNullPack &pack);

/* Tokens [first, first + count) of all rows to `to` [R, count, D], slices that interleave made contiguous. */
template <typename Real>
int mhar_null_gather (MharContext *c, const MharRoute *r, Real *to, size_t first, size_t count, int slices);

/* inverse [R, stride]: log₂e / rms. */
int mhar_null_inverse (MharContext *c, const MharRoute *r, float *inverse);
