/* SPDX-License-Identifier: MIT */
/* The scalars of a disagreement (paper, Table 6): trained, its null, and what is left of it, over sites and site by
 * site. */
#pragma once

#include "probes/probe.h"

G_BEGIN_DECLS

/* Sums of one disagreement, borrowed from a pool. */
typedef struct {
  const MharPlan *plan;
  const double *trained; /* [n_sites, columns]; NaN at sites that do not take part */
  const double *null;    /* [n_sites, draws]; NULL: no null */
  gsize n_sites, columns, draws;
  double tokens, null_tokens;
  gboolean heads; /* sites with several heads take part, else those with one */
  int least;      /* and of these such with as many sources */
} MharDisagreement;

/* Reads the sums `name` [site, columns] and `name`_null [site, draw] of the sites that have two sources or more and
 * several heads, or one; FALSE where the pool has none. */
gboolean mhar_disagreement_read (const MharProbeSetup *setup, const MharPool *pool, const char *name, gboolean heads,
                                 gsize columns, MharDisagreement *d);

/* Mean over columns and tokens at a site; a draw's at a site; a draw's mean over the sites that take part. Nats. */
double mhar_disagreement_site (const MharDisagreement *d, gsize site);
double mhar_disagreement_draw (const MharDisagreement *d, gsize site, gsize draw);
/* [draws], newly allocated. */
double *mhar_disagreement_per_draw (const MharDisagreement *d);

/* Of the sites that take part, each once; what there is no null for is NaN, and null_sd of one draw; all where a site's
 * is. */
typedef struct {
  double trained, median, null, null_sd, excess;
} MharDisagreementMeans;

MharDisagreementMeans mhar_disagreement_means (const MharDisagreement *d);

/* Sets on `out`, with `prefix`: attributes _trained and _median, and with draws _null (mean over draws of the draw's
 * mean over sites), _null_sd (over draws, n − 1; absent for one draw) and _excess = trained − null; fields _site and
 * _null_site [site]. */
void mhar_disagreement_scalars (const MharDisagreement *d, const char *prefix, MharDataset *out);

/* Where there are draws: attributes _p_value and, of two draws or more, _null_draw_low and _null_draw_high (95 % of the
 * draws' means over sites); field _p_value [site]. */
void mhar_disagreement_p_values (const MharDisagreement *d, const char *prefix, MharDataset *out);

G_END_DECLS
