/* SPDX-License-Identifier: MIT */
/* A saved reference: a safetensors file with what another program made of some ids, as --verify reads it.
 *
 *   ids         I64 [T], or [W, T]: one window, or W of the same length, each run by itself
 *   logits      [T, V], or [K, V] where `positions`, I64 [K], says of which tokens of the window they are
 *   weights.X   of read X, its number (2l attention, 2l+1 MLP, 2L final) or its label (L3.mlp, final): [N, T, H] or
 *               [T, H, N]; where a shape could be either, MHAR_REFERENCE_ORDER in __metadata__ says which
 *
 * with W in front where ids have it; F64, F32, F16 or BF16. Of logits and weights there may be as many or as few as
 * were saved, but one. */
#pragma once

#include "core/plan.h"
#include "core/safetensors.h"

G_BEGIN_DECLS

/* A key of __metadata__, and what it may say: the order of the dimensions of all weights, windows aside. */
#define MHAR_REFERENCE_ORDER "weights_order"
#define MHAR_REFERENCE_SOURCES_FIRST "sources,tokens,heads"
#define MHAR_REFERENCE_SOURCES_LAST "tokens,heads,sources"

typedef struct {
  const MharTensor *tensor; /* NULL: not saved */
  gboolean sources_last;    /* [T, H, N] */
} MharReferenceWeights;

typedef struct {
  char *path;
  MharSafetensors *file;
  guint windows, length;         /* W, T */
  gint32 *ids;                   /* [W, T] */
  guint *positions, n_positions; /* of the rows of logits in a window */
  const MharTensor *logits;      /* NULL: not saved */
  MharReferenceWeights *weights; /* one a site of the plan */
} MharReference;

/* Opens and checks it against a checkpoint: MHAR_ERROR_INPUT naming file, tensor and what is wrong. Tensors of other
 * names are not looked at. */
MharReference *mhar_reference_open (const char *path, const MharPlan *plan, int vocab, GError **error);
void mhar_reference_free (MharReference *reference);

/* Elements first … first + n − 1 of one of its tensors; g_free. */
double *mhar_reference_values (const MharTensor *tensor, gsize first, gsize n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharReference, mhar_reference_free)

G_END_DECLS
