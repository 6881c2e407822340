/* SPDX-License-Identifier: MIT */
/* A probe turns what a forward pass left on the device into fields. It is one file, one line in the table of
 * probe-table.c, and one test.
 *
 * A probe works in two halves. `batch` takes a finished batch and adds *sums over tokens, one entry a window* to a slab;
 * windows are summed in their order by probes/pool.h, whatever device and batch they came from. `finish` turns the pooled
 * sums into fields and scalars. So a run streams, a file can carry the sums behind every mean, and the batch size moves
 * nothing but rounding. No probe writes a file or draws. */
#pragma once

#include "core/field.h"
#include "core/forward.h"
#include "probes/pool.h"

G_BEGIN_DECLS

typedef enum {
  MHAR_PROBE_DEPTH_MAPS = 1 << 0,
  MHAR_PROBE_KL = 1 << 1,
  MHAR_PROBE_COLLINEARITY = 1 << 2,
  MHAR_PROBE_ALL = (1 << 3) - 1,
  MHAR_PROBE_INTERVENTIONS = 1 << 3, /* not one of all: they take a forward each */
  MHAR_PROBE_READS = 1 << 4          /* nor these: every token's weights come off the device */
} MharProbeFlags;

/* What stands for a query that has learned nothing; always of the trained query's norm (see null_norm_slice). */
typedef enum {
  MHAR_NULL_RANDOM,   /* a Gaussian vector */
  MHAR_NULL_SHUFFLED, /* the trained query's coordinates in another order */
  MHAR_NULL_SWAPPED   /* the trained query of another site that takes part, with as many heads */
} MharNullKind;

#define MHAR_NULL_KINDS 3
#define MHAR_MAX_SLICES 8

typedef struct {
  MharProbeFlags probes;
  guint context;        /* ids a window */
  gint64 max_tokens;    /* ids of the text used; 0: all */
  guint skip_first;     /* positions of each window left out of every average but the loss */
  guint batch;          /* windows a batch; 0: chosen from memory */
  gint64 max_memory;    /* bytes of anonymous memory that the process may have; 0: no bound */
  guint slices;         /* S */
  gboolean interleaved; /* slice of coordinate i is i mod S, not i / (D/S) */
  guint null_draws;
  MharNullKind null_kind;
  gboolean null_norm_slice; /* null queries take the trained one's norm slice by slice */
  gint64 null_tokens;       /* tokens the nulls see; 0: all */
  guint match_sources;      /* M of `matched`; 0: none */
  guint64 seed;
  gboolean plain; /* the reference routing path */
  /* Controls: each S, slicing (interleaved or not) and kind of null with each other, in one run; the first of each list
   * is `slices`, `interleaved` and `null_kind`. A list of length 0 is that first one alone. */
  guint n_all_slices, n_all_slicings, n_all_nulls, n_all_norms;
  guint all_slices[MHAR_MAX_SLICES];
  gboolean all_slicings[2];
  MharNullKind all_nulls[MHAR_NULL_KINDS];
  gboolean all_norms[2]; /* as null_norm_slice, which is the first; the other goes with the first kind alone */
  const GPtrArray *interventions; /* MharIntervention * (probes/intervention.h), borrowed; NULL: none */
  gboolean ablation_map;          /* every source of every site left out in turn */
  const GPtrArray *reads; /* the cells whose tokens are listed (probes/reads.h), borrowed; NULL: none */
  guint top_tokens;       /* tokens in each list */
} MharProbeOptions;

typedef struct _MharReads MharReads; /* what a run keeps for its reads */

/* "random", "shuffled", "swapped". */
const char *mhar_null_kind_name (MharNullKind kind);

/* What a run is about, the same for every device and batch. */
typedef struct {
  const MharPlan *plan;
  const MharProbeOptions *options;
  gsize n_sites, max_heads, max_sources, n_outputs;
  MharReads *reads; /* NULL: none */
} MharProbeSetup;

/* A model on a device, ready to run batches, with what the probes keep there. */
typedef struct _MharRig MharRig;

/* A batch that has just been run. */
typedef struct {
  MharRig *rig;
  MharSpan span;      /* positions that count */
  MharSpan null_span; /* those the nulls see */
  GCancellable *cancellable;
} MharBatch;

const MharProbeSetup *mhar_rig_setup (const MharRig *rig);
MharDevice *mhar_rig_device (const MharRig *rig);
MharRoute *mhar_rig_route (const MharRig *rig);
MharForward *mhar_rig_forward (const MharRig *rig);

/* Sums that several probes want, computed once a batch. Arrays are the rig's, valid till the next batch. */
gboolean mhar_batch_route_sums (MharBatch *batch, MharRouteSums *sums, GError **error);

/* Scores queries over the positions that count, or `drawn`, over those the nulls see: sums [sites of `queries`]. `what`
 * is said where that fails. It is what takes longest in a batch, so it is not begun once the run is cancelled. */
gboolean mhar_batch_null_run (MharBatch *batch, MharNull *queries, gboolean drawn, const MharNullSums *sums,
                              const char *what, GError **error);

/* The random-query null of the sites with several heads: sums [mhar_rig_head_null_sites] with js and weight filled; NULL
 * where there are no draws or no such sites. */
gboolean mhar_batch_head_null (MharBatch *batch, const MharNullSums **sums, GError **error);

typedef struct {
  const char *name;    /* of the command-line option, without dashes */
  MharProbeFlags flag;
  /* What it keeps on a device (`*state`, may stay NULL). */
  gboolean (*begin) (MharRig *rig, gpointer *state, GError **error);
  /* Adds to `slab` fields whose first dimension is "window" (F64, NaN where there is nothing); what is too large to keep for
   * every window goes to its child "pooled". */
  gboolean (*batch) (gpointer state, MharBatch *batch, MharDataset *slab, GError **error);
  void (*end) (MharRig *rig, gpointer state);
  /* Fields of the whole run, p-values, and what else needs more than sums by window; sentences for the user go to
   * `warnings` (char *, owned by it). */
  void (*finish) (const MharProbeSetup *setup, const MharPool *pool, MharDataset *out, GPtrArray *warnings);
  /* Scalars: attributes, and F64 fields of one number a site or a control, here or in children of `out`. They are what
   * the sums named in `sums` (NULL-ended; "x*": all that begin with x) give, so that the same can be asked of resampled
   * windows, from any thread: every one of them gets an interval. */
  void (*scalars) (const MharProbeSetup *setup, const MharPool *pool, MharDataset *out);
  const char *const *sums;
  /* Takes out of each batch's slab, in the order of the text and in the thread that pools, what is not summed by window. */
  void (*take) (const MharProbeSetup *setup, MharDataset *slab);
} MharProbe;

extern const MharProbe mhar_probe_depth_maps;
extern const MharProbe mhar_probe_depth_coefficients;
extern const MharProbe mhar_probe_slice_kl;
extern const MharProbe mhar_probe_head_js;
extern const MharProbe mhar_probe_collinearity;
extern const MharProbe mhar_probe_controls;
extern const MharProbe mhar_probe_interventions;
extern const MharProbe mhar_probe_reads;

/* Every probe, NULL-ended. */
extern const MharProbe *const mhar_probes[];

/* Whether a site takes part in a mean: two sources or more; `multi`: and more than one head, else exactly one. */
gboolean mhar_site_counts (const MharSite *site, gboolean multi);
guint mhar_plan_count_sites (const MharPlan *plan, gboolean multi);

G_END_DECLS
