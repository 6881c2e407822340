/* SPDX-License-Identifier: MIT */
/* The scalars of a disagreement (paper, Table 6): trained, its null, and what is left of it. */
#pragma once

#include "core/field.h"

G_BEGIN_DECLS

/* From each counted site's mean, nats: `trained` [n], and `null` [n, draws] (NULL: no null). Sets on `out`, with `prefix`:
 * _trained and _median over sites, and with draws _null (mean over draws of the draw's mean over sites), _null_sd (over draws,
 * n − 1; absent for one draw) and _excess = trained − null. Every site counts once. */
void mhar_disagreement_summarise (MharDataset *out, const char *prefix, const double *trained, const double *null, gsize n,
                                  gsize draws);

G_END_DECLS
