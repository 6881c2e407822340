/* SPDX-License-Identifier: MIT */
#include "app/cli/run-checkpoints.h"

#include "app/cli/figure-check.h"
#include "app/cli/jobs.h"
#include "app/cli/series-names.h"
#include "core/error.h"
#include "probes/compare.h"
#include "probes/intervention.h"
#include "probes/reads.h"
#include "probes/series.h"

#include <stdio.h>

static void
opened_free (gpointer data)
{
  MharOpened *opened = data;
  g_clear_pointer (&opened->plan, mhar_plan_free);
  g_clear_pointer (&opened->checkpoint, mhar_checkpoint_free);
  g_free (opened);
}

gboolean
mhar_run_checkpoints_find (MharRunCheckpoints *c, const MharCliOptions *options, GError **error)
{
  c->options = options;
  c->opened = g_ptr_array_new_with_free_func (opened_free);
  c->skipped = g_ptr_array_new_with_free_func (g_free);
  c->names
      = options->series ? mhar_series_names (options->checkpoints, error) : mhar_series_names_of (options->checkpoints);
  return c->names != NULL;
}

void
mhar_run_checkpoints_clear (MharRunCheckpoints *c)
{
  g_clear_pointer (&c->names, g_ptr_array_unref);
  g_clear_pointer (&c->opened, g_ptr_array_unref);
  g_clear_pointer (&c->skipped, g_ptr_array_unref);
}

gboolean
mhar_run_checkpoints_skip (MharRunCheckpoints *c, const char *path, GError **reason, GError **error)
{
  g_autofree char *base = g_path_get_basename (path);

  if (!c->options->series || !g_error_matches (*reason, MHAR_ERROR, MHAR_ERROR_INPUT)) {
    g_propagate_error (error, g_steal_pointer (reason));
    return FALSE;
  }
  g_autofree char *name = mhar_printable (base), *why = mhar_printable ((*reason)->message);
  char *text = g_strdup_printf ("%s: %s", name, why);
  g_clear_error (reason);
  g_ptr_array_add (c->skipped, text);
  if (!c->options->quiet)
    fprintf (stderr, "mhar-probe: warning: skipped %s\n", text);
  return TRUE;
}

static gboolean
open_one (MharRunCheckpoints *c, const MharSeriesName *name, GError **error)
{
  g_autoptr (MharCheckpoint) checkpoint = NULL;
  g_autoptr (MharPlan) plan = NULL;

  if (!mhar_open_checkpoint (c->options, name->path, &checkpoint, &plan, error))
    return FALSE;
  MharOpened *opened = g_new (MharOpened, 1);
  *opened = (MharOpened){ g_steal_pointer (&checkpoint), g_steal_pointer (&plan), name->step };
  g_ptr_array_add (c->opened, opened);
  return TRUE;
}

/* What was asked for can come of it, and of the first together with it. */
static gboolean
check_one (const MharRunCheckpoints *c, guint i, GError **error)
{
  const MharCliOptions *o = c->options;
  const MharOpened *first = g_ptr_array_index (c->opened, 0), *opened = g_ptr_array_index (c->opened, i);
  const char *first_path = mhar_checkpoint_path (first->checkpoint), *path = mhar_checkpoint_path (opened->checkpoint);

  if (!mhar_figure_check_plan (o, opened->plan, path, error))
    return FALSE;
  if (!mhar_interventions_check (opened->plan, &o->probe, error) || !mhar_reads_check (opened->plan, &o->probe, error)) {
    g_prefix_error (error, "%s: ", path);
    return FALSE;
  }
  if (i > 0 && o->series && !mhar_series_possible (first->plan, first_path, opened->plan, path, error))
    return FALSE;
  return i == 0 || !o->compare || mhar_comparison_possible (first->plan, first_path, opened->plan, path, error);
}

gboolean
mhar_run_checkpoints_open (MharRunCheckpoints *c, GError **error)
{
  for (guint i = 0; i < c->names->len; i++) {
    const MharSeriesName *name = g_ptr_array_index (c->names, i);
    g_autoptr (GError) reason = NULL;
    if (!open_one (c, name, &reason) && !mhar_run_checkpoints_skip (c, name->path, &reason, error))
      return FALSE;
  }
  if (c->opened->len == 0)
    return mhar_bad_input (error, "none of the %u steps can be read; the first is %s", c->names->len,
                           (char *)g_ptr_array_index (c->skipped, 0));
  for (guint i = 0; i < c->opened->len; i++)
    if (!check_one (c, i, error))
      return FALSE;
  return TRUE;
}

guint
mhar_run_checkpoints_pages (const MharRunCheckpoints *c)
{
  const MharCliOptions *o = c->options;
  const MharOpened *first = g_ptr_array_index (c->opened, 0), *last = g_ptr_array_index (c->opened, c->opened->len - 1);
  gboolean own = o->kind == MHAR_FIGURE_DEFAULT;

  if (o->series && (own || o->kind == MHAR_FIGURE_SERIES))
    return 1;
  if (o->compare && (own || o->kind == MHAR_FIGURE_COMPARE))
    return first->plan->heads > 1 && first->plan->heads == last->plan->heads ? (guint)first->plan->heads + 1 : 1;
  return c->opened->len;
}
