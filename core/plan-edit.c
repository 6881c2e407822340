/* SPDX-License-Identifier: MIT */
#include "core/plan-edit.h"

/* The read as the site makes it. */
static MharSiteEdit *
copy_site (const MharPlan *plan, guint index)
{
  const MharSite *site = mhar_plan_site (plan, index);
  MharSiteEdit *edit = g_new0 (MharSiteEdit, 1);

  edit->site = index;
  edit->n_sources = site->n_sources;
  edit->sources = g_new (gint32, site->n_sources);
  for (int n = 0; n < site->n_sources; n++)
    edit->sources[n] = site->sources[n];
  edit->heads = site->heads;
  edit->whole = site->whole;
  edit->query = mhar_site_scored_query (site, NULL, plan->width);
  edit->bias = site->bias;
  return edit;
}

MharSiteEdit *
mhar_site_edit_drop (const MharPlan *plan, guint site, const gboolean *drop)
{
  MharSiteEdit *edit = copy_site (plan, site);
  int N = edit->n_sources, n = 0;

  for (int i = 0; i < N; i++)
    if (!drop[i])
      edit->sources[n++] = edit->sources[i];
  if (drop[N - 1])
    edit->bias = 0; /* it belongs to the source that is gone, not to whichever is last now */
  edit->n_sources = n;
  g_assert (n > 0);
  return edit;
}

MharSiteEdit *
mhar_site_edit_uniform (const MharPlan *plan, guint site)
{
  MharSiteEdit *edit = copy_site (plan, site);
  gsize n = (gsize) mhar_site_n_queries (mhar_plan_site (plan, site)) * plan->width;

  for (gsize i = 0; i < n; i++)
    edit->query[i] = 0;
  edit->bias = 0;
  return edit;
}

MharSiteEdit *
mhar_site_edit_query (const MharPlan *plan, guint site, const double *query)
{
  MharSiteEdit *edit = copy_site (plan, site);

  g_free (edit->query);
  edit->query = mhar_site_scored_query (mhar_plan_site (plan, site), query, plan->width);
  return edit;
}

MharSiteEdit *
mhar_site_edit_consensus (const MharPlan *plan, guint site)
{
  MharSiteEdit *edit = copy_site (plan, site);

  edit->rule = MHAR_WEIGHTS_MEAN;
  return edit;
}

MharSiteEdit *
mhar_site_edit_from (const MharPlan *plan, guint site, const gint32 *from)
{
  MharSiteEdit *edit = copy_site (plan, site);

  edit->rule = MHAR_WEIGHTS_FROM;
  edit->from = g_memdup2 (from, (gsize) edit->heads * sizeof *from);
  return edit;
}

MharSiteEdit *
mhar_site_edit_top (const MharPlan *plan, guint site, int keep)
{
  MharSiteEdit *edit = copy_site (plan, site);

  edit->rule = MHAR_WEIGHTS_TOP;
  edit->keep = keep;
  return edit;
}

MharSiteEdit *
mhar_site_edit_regroup (const MharPlan *plan, guint site, int heads)
{
  MharSiteEdit *edit = copy_site (plan, site);

  g_assert (!edit->whole && plan->width % heads == 0);
  edit->heads = heads;
  return edit;
}

void
mhar_site_edit_free (MharSiteEdit *edit)
{
  if (edit == NULL)
    return;
  g_free (edit->sources);
  g_free (edit->query);
  g_free (edit->from);
  g_free (edit);
}

MharPlanEdit *
mhar_plan_edit_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) mhar_site_edit_free);
}

const MharSiteEdit *
mhar_plan_edit_find (const MharPlanEdit *edit, guint site)
{
  for (guint i = 0; edit != NULL && i < edit->len; i++) {
    const MharSiteEdit *one = g_ptr_array_index (edit, i);
    if (one->site == site)
      return one;
  }
  return NULL;
}

guint
mhar_plan_edit_first (const MharPlanEdit *edit, const MharPlan *plan)
{
  return edit->len > 0 ? ((const MharSiteEdit *) g_ptr_array_index (edit, 0))->site : plan->sites->len;
}

MharRouteEdit
mhar_site_edit_boundary (const MharSiteEdit *edit)
{
  return (MharRouteEdit){
    .site = { edit->n_sources, edit->sources, edit->heads, edit->whole, edit->query, edit->bias },
    .rule = edit->rule,
    .from = edit->from,
    .keep = edit->keep,
  };
}
