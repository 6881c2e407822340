/* SPDX-License-Identifier: MIT */
/* Reads of a plan made otherwise: what an intervention is, as data. The plan itself stays as it is; a forward pass is
 * given the edits beside it (core/forward.h).
 *
 * An edited read takes its site's place: the mode, the gate and whatever follows are the site's. With w_h [N] the
 * weights of head h, for one token, over the site's N sources:
 *
 *   drop       a source is not there, and the softmax over the others renormalises; the bias of the last one goes with it
 *   uniform    w_h = 1/N; no bias
 *   query      another query in place of the trained one
 *   consensus  every head's weights are mean_g w_g
 *   from       head h reads with the weights of head from[h], still from its own slice of the values
 *   top        the k largest weights of each head, of equal ones the older sources', divided by their sum
 *   regroup    the same query cut into another number of heads; not of sites that read whole rows
 *
 * Every function below returns a new edit, g_free'd by mhar_site_edit_free. */
#pragma once

#include "core/plan.h"
#include "kernels/ops.h"

G_BEGIN_DECLS

typedef struct {
  guint site; /* of the plan */
  int n_sources;
  gint32 *sources; /* [N] rows, oldest first */
  int heads;
  gboolean whole;
  double *query; /* scored, q ⊙ g: [whole ? heads : 1, width] */
  double bias;
  MharWeightsRule rule;
  gint32 *from; /* [heads] of MHAR_WEIGHTS_FROM */
  int keep;     /* of MHAR_WEIGHTS_TOP */
} MharSiteEdit;

/* `drop` [N]: which of its sources the site loses; at least one stays. */
MharSiteEdit *mhar_site_edit_drop (const MharPlan *plan, guint site, const gboolean *drop);
MharSiteEdit *mhar_site_edit_uniform (const MharPlan *plan, guint site);
/* `query`: as MharSite stores its own, of the same shape; the gain is multiplied on here. */
MharSiteEdit *mhar_site_edit_query (const MharPlan *plan, guint site, const double *query);
MharSiteEdit *mhar_site_edit_consensus (const MharPlan *plan, guint site);
/* `from` [heads]: each a head of the site. */
MharSiteEdit *mhar_site_edit_from (const MharPlan *plan, guint site, const gint32 *from);
MharSiteEdit *mhar_site_edit_top (const MharPlan *plan, guint site, int keep);
/* `heads` divides the width; the site's queries are not whole. */
MharSiteEdit *mhar_site_edit_regroup (const MharPlan *plan, guint site, int heads);
void mhar_site_edit_free (MharSiteEdit *edit);

/* Edits of one forward pass: MharSiteEdit *, by site ascending, a site at most once. */
typedef GPtrArray MharPlanEdit;

MharPlanEdit *mhar_plan_edit_new (void); /* g_ptr_array_unref frees the edits too */
/* The edit of a site; NULL where it reads as it does. `edit` may be NULL. */
const MharSiteEdit *mhar_plan_edit_find (const MharPlanEdit *edit, guint site);
/* The first site that reads otherwise; the plan's number of sites where none does. */
guint mhar_plan_edit_first (const MharPlanEdit *edit, const MharPlan *plan);
/* What the boundary takes; borrows from the edit. */
MharRouteEdit mhar_site_edit_boundary (const MharSiteEdit *edit);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharSiteEdit, mhar_site_edit_free)

G_END_DECLS
