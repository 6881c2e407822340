/* SPDX-License-Identifier: MIT */
/* One program, many dialects: what a forward pass does with its depth history, as data.
 *
 * A dialect (core/dialect.h) reads a checkpoint and writes a plan; nothing after it knows dialects. The plan lists the
 * rows of the depth history, the sites that read them, and a short program:
 *
 *   READ site        h = what the site makes of its source rows (site −1: h = the stream)
 *   ATTN l, MLP l    out = the sublayer of RMSNorm (h)
 *   STORE row        row = embed | out | stream | stream − row | a tensor of the checkpoint, the same for every token
 *   STREAM_ADD       stream += out (the stream starts as the embedding)
 *   STREAM_SET       stream = out
 *   MIX k            h = Σ_r read_r stream_r (hyper-connections: n streams, each starts as the embedding)
 *   SPREAD k         stream'_j = Σ_i carry_ji stream_i + write_j out
 *
 * READ and MIX stand right before the sublayer they feed; the last one ends the program, and the last norm takes its h.
 * A source is always a row: what a site reads of the running stream is stored first, in a row of its own, so that every
 * probe finds it again after the pass.
 *
 * A read mixes its rows, m = Σ_n w_n s_n. With p the stream or the latest output (`base`), r = m where the mode is
 * REPLACE and p + m where it is ADD; a gate a then gives h = (1 − a) p + a r, no gate h = r. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum { MHAR_SITE_ATTN, MHAR_SITE_MLP, MHAR_SITE_FINAL } MharSiteKind;

typedef enum { MHAR_READ_REPLACE, MHAR_READ_ADD } MharReadMode;
typedef enum {
  MHAR_VALUE_EMBED,
  MHAR_VALUE_OUT,
  MHAR_VALUE_STREAM,
  MHAR_VALUE_STREAM_LESS,
  MHAR_VALUE_TENSOR
} MharValue;
typedef enum { MHAR_GATE_NONE, MHAR_GATE_ALPHA, MHAR_GATE_SIGMOID, MHAR_GATE_VECTOR } MharGateKind;

typedef struct {
  MharGateKind kind;
  double value;   /* a, where it is one number: ALPHA, and SIGMOID once computed */
  int proj, bias; /* of VECTOR, a = sigmoid (proj p + bias): tensors of the plan, [width, width] and [width] */
} MharGate;

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
  MharReadMode mode;
  MharGate gate;
  MharValue base; /* p: MHAR_VALUE_STREAM, or MHAR_VALUE_OUT for the latest output, at first the embedding */
} MharSite;

/* How one sublayer of a hyper-connected model reads and writes the n streams; what ends the program only reads. */
typedef struct {
  double *read;  /* [n] */
  double *carry; /* [n, n]; NULL at the end */
  double *write; /* [n]; NULL at the end */
} MharConnection;

typedef enum {
  MHAR_STEP_READ,
  MHAR_STEP_ATTN,
  MHAR_STEP_MLP,
  MHAR_STEP_STORE,
  MHAR_STEP_STREAM_ADD,
  MHAR_STEP_STREAM_SET,
  MHAR_STEP_MIX,
  MHAR_STEP_SPREAD
} MharStepKind;

typedef struct {
  MharStepKind kind;
  int index; /* site of READ, layer of ATTN and MLP, row of STORE, connection of MIX and SPREAD */
  MharValue value; /* of STORE */
  int other; /* of STORE: the row that STREAM_LESS takes off, the tensor of TENSOR */
} MharStep;

typedef struct {
  char *dialect; /* "D1: MHAR, Qwen3 body" */
  char *mode;    /* "full_mh", "baseline" … */
  int layers, width;
  int heads;     /* H of the checkpoint: 1 where each site has one distribution */
  const char *block_delta; /* static: "recursive", "true": how differences of blocks are taken; NULL: there are none */
  double eps;    /* of the sources' RMSNorm in every read; 0: the body's, which all the other norms have anyway */
  GPtrArray *rows;    /* labels (char *): "embed", "L0.attn" … */
  GPtrArray *sites;   /* MharSite *, in the order they are read */
  GArray *steps;      /* MharStep */
  GArray *outputs;    /* int: the row of each of the 2L+1 sublayer outputs, embedding first */
  GPtrArray *tensors; /* names (char *) of the checkpoint's tensors that steps and gates take, checked by the dialect */
  int streams;        /* n of a hyper-connected model, else 0 */
  GPtrArray *connections; /* MharConnection *, in the order they are met */
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
/* STORE of stream − row `other`, or of tensor `other`. */
void mhar_plan_add_store (MharPlan *plan, int row, MharValue value, int other);
int mhar_plan_add_tensor (MharPlan *plan, const char *name);
/* Takes the arrays (g_free). */
int mhar_plan_add_connection (MharPlan *plan, double *read, double *carry, double *write);
void mhar_plan_warn (MharPlan *plan, const char *format, ...) G_GNUC_PRINTF (2, 3);

const MharSite *mhar_plan_site (const MharPlan *plan, guint i);
const char *mhar_plan_row (const MharPlan *plan, int row);
/* What a site's n-th source is called: its row's label, or "stream (= LABEL)" where the same row stands earlier in the
 * list, so that its weight is shared between the two places. g_free. */
char *mhar_plan_source_label (const MharPlan *plan, const MharSite *site, int n);
/* Sites at which some row stands twice. */
guint mhar_plan_count_twice (const MharPlan *plan);

/* Of a hyper-connected model: the exact coefficient of output k in the h of the r-th MIX, [2L+1, outputs], 0 where k
 * comes later; g_free. Connections do not depend on the input, so this is the model's depth map, and it is signed. */
double *mhar_plan_depth_coefficients (const MharPlan *plan);

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
