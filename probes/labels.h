/* SPDX-License-Identifier: MIT */
/* What every dataset says of its checkpoint before any probe speaks: numbers of the config, and the labels of sites, sources and
 * outputs that file, figures and window share. */
#pragma once

#include "core/checkpoint.h"
#include "core/field.h"
#include "core/plan.h"

G_BEGIN_DECLS

/* Attributes path, dialect, mode, layers, width, heads (routing), sites and the body's numbers. */
void mhar_label_checkpoint (const MharCheckpoint *checkpoint, const MharPlan *plan, MharDataset *out);

/* All that says what the checkpoint is, and no more, of the results `set` of the same one. */
void mhar_label_like (const MharDataset *set, MharDataset *out);

/* Coordinates and labels: site, site_label, n_sources, n_heads, whole_rows [site], source_label [site, source], output_label [output]. */
void mhar_label_sites (const MharPlan *plan, MharDataset *out);
/* All of them but output_label and whole_rows, of a plan that has sites. */
void mhar_label_reads (const MharPlan *plan, MharDataset *out);

G_END_DECLS
