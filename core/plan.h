/* SPDX-License-Identifier: MIT */
/* One program, many dialects: what a forward pass does with its depth history, as data.
 *
 * A dialect (core/dialect.h) reads a checkpoint and writes a plan; nothing after it knows dialects. The plan lists the
 * rows of the depth history, the sites that read them, and a short program:
 *
 *   READ site        h = the site's softmax mix of its source rows        (site −1: h = the stream)
 *   ATTN l, MLP l    out = the sublayer of RMSNorm (h)
 *   STORE row        row = embed | out | stream
 *   STREAM_ADD       stream += out                                       (the stream starts as the embedding)
 *
 * The program ends with the READ whose h the last norm takes. A source is always a row: what a site reads of the running
 * stream is stored first, in a row of its own, so that every probe finds it again after the pass. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum { MHAR_SITE_ATTN, MHAR_SITE_MLP, MHAR_SITE_FINAL } MharSiteKind;

/* One routing read. Scores are q·(RMSNorm(s_n) ⊙ g): q and g stay apart so that a null may rescale to ‖q‖ first. */
typedef struct {
  char *label;  /* "L3.mlp", "final" */
  int number;   /* 2l attention, 2l+1 MLP, 2L final: what files and figures call `site` */
  int layer;    /* −1: the final read */
  MharSiteKind kind;
  int n_sources;
  int *sources; /* [N] rows, oldest first */
  int heads;    /* columns of weights */
  gboolean whole; /* every query reads whole rows; else head h its width/heads coordinates */
  double *query;  /* [whole ? heads : 1, width] as stored */
  double *gain;   /* [width] */
  double bias;    /* on the last source's logit */
} MharSite;

typedef enum { MHAR_STEP_READ, MHAR_STEP_ATTN, MHAR_STEP_MLP, MHAR_STEP_STORE, MHAR_STEP_STREAM_ADD } MharStepKind;
typedef enum { MHAR_VALUE_EMBED, MHAR_VALUE_OUT, MHAR_VALUE_STREAM } MharValue;

typedef struct {
  MharStepKind kind;
  int index; /* site of READ, layer of ATTN and MLP, row of STORE */
  MharValue value; /* of STORE */
} MharStep;

typedef struct {
  char *dialect; /* "D1: MHAR, Qwen3 body" */
  char *mode;    /* "full_mh", "baseline" … */
  int layers, width;
  int heads;     /* H of the checkpoint: 1 where each site has one distribution */
  GPtrArray *rows;    /* labels (char *): "embed", "L0.attn" … */
  GPtrArray *sites;   /* MharSite *, in the order they are read */
  GArray *steps;      /* MharStep */
  GArray *outputs;    /* int: the row of each of the 2L+1 sublayer outputs, embedding first */
  GPtrArray *routing; /* names (char *) of the routing tensors the plan was made of, NULL-ended */
  GPtrArray *warnings; /* sentences (char *), in words for the user */
} MharPlan;

MharPlan *mhar_plan_new (const char *dialect, const char *mode, int layers, int width, int heads);
void mhar_plan_free (MharPlan *plan);

/* Appends; each returns the new index. `sources` is copied; query and gain are taken (g_free). */
int mhar_plan_add_row (MharPlan *plan, const char *format, ...) G_GNUC_PRINTF (2, 3);
int mhar_plan_add_site (MharPlan *plan, MharSiteKind kind, int layer, const int *sources, int n_sources, int heads,
                        gboolean whole, double *query, double *gain);
void mhar_plan_add_step (MharPlan *plan, MharStepKind kind, int index, MharValue value);
void mhar_plan_warn (MharPlan *plan, const char *format, ...) G_GNUC_PRINTF (2, 3);

const MharSite *mhar_plan_site (const MharPlan *plan, guint i);
const char *mhar_plan_row (const MharPlan *plan, int row);

/* Queries a site has: heads where they are whole, else 1. */
static inline int
mhar_site_n_queries (const MharSite *site)
{
  return site->whole ? site->heads : 1;
}

/* q ⊙ g of the site, or of `query` [n_queries, width] in its place: newly allocated. */
double *mhar_site_scored_query (const MharSite *site, const double *query, int width);

/* Checks that the program can be run: indices in range, every source of a READ stored before it, sites read once and in
 * order, the last step a READ. MHAR_ERROR_INPUT naming the step. Dialects call it last. */
gboolean mhar_plan_check (const MharPlan *plan, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharPlan, mhar_plan_free)

G_END_DECLS
