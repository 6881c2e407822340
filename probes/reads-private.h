/* SPDX-License-Identifier: MIT */
/* What the files of the reads share. */
#pragma once

#include "probes/reads.h"
#include "probes/token-kinds.h"
#include "probes/top-tokens.h"

G_BEGIN_DECLS

/* What mean weights are taken by. */
typedef enum { MHAR_BY_POSITION, MHAR_BY_DOCUMENT, MHAR_BY_CLASS, MHAR_BY_PIECE, MHAR_N_BINNINGS } MharBinning;

#define MHAR_READS_TOP (-1) /* source of an asked cell: the one with the largest mean */

typedef struct {
  guint site;
  int head, source;
} MharReadsCell;

/* Through the last read; NULL where the model has none, or mixes something else in. */
typedef struct {
  guint site;         /* the last, which is read by the last norm */
  MharTensor head;    /* [V, D] */
  double *gain;       /* [D] */
  double *mean_row;   /* [D] of the output matrix */
  double eps;
  gsize heads, n_sources, width;
} MharReadsLogit;

struct _MharReads {
  const MharProbeSetup *setup;
  const gint32 *ids;
  gsize n_ids;
  MharTokenKinds *kinds;
  gsize *base;        /* [sites + 1] cells of the sites before */
  guint bins[MHAR_N_BINNINGS], first_bin[MHAR_N_BINNINGS], n_bins;
  guint longest[2];   /* position in a window, in a document */
  GArray *asked;      /* MharReadsCell, in the order asked for, `source` may be MHAR_READS_TOP */
  GArray *candidates; /* MharReadsCell, ascending: those whose tokens are listed */
  gint32 *place;      /* [cells] in `candidates`; −1 */
  MharReadsLogit *logit;

  /* Of the batches taken so far. A site's sums are [n_bins, heads · sources], and begin at n_bins · base. */
  double *sums;
  double *counts;     /* [n_bins] */
  MharTopTokens **most, **least; /* [candidates] */
  double *logit_sums; /* [2, heads, sources]: to the target's logit, and less the vocabulary's mean */
  double pairs;
};

/* Bin of a position in powers of two: 0, 1, 2–3, 4–7 … */
static inline guint
mhar_reads_bin (guint position)
{
  return position > 0 ? g_bit_storage (position) : 0;
}

static inline gsize
mhar_reads_cell (const MharReads *reads, const MharReadsCell *cell)
{
  const MharSite *site = mhar_plan_site (reads->setup->plan, cell->site);
  return reads->base[cell->site] + (gsize) cell->head * (gsize) site->n_sources + (gsize) cell->source;
}

/* reads-cells.c: the cells that the specs name, in their order, each once; g_array_unref. */
GArray *mhar_reads_resolve (const MharPlan *plan, const GPtrArray *specs, GError **error);

/* reads-logit.c */
MharReadsLogit *mhar_reads_logit_new (const MharPlan *plan, const MharCheckpoint *checkpoint);
void mhar_reads_logit_free (MharReadsLogit *logit);
/* Adds the contributions of the window's predicted tokens to sums [2, heads, sources]; `ids` [t] are the window's. */
gboolean mhar_reads_logit_window (const MharReadsLogit *logit, MharRig *rig, gsize window, gsize t, const gint32 *ids,
                                  double *sums, GError **error);

/* reads-check.c: the order of gint32. */
int mhar_reads_compare_tokens (gconstpointer a, gconstpointer b);

/* reads-results.c: the child "reads" of a checkpoint's results. */
MharDataset *mhar_reads_results (const MharReads *reads);

G_END_DECLS
