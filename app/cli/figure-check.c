/* SPDX-License-Identifier: MIT */
#include "app/cli/figure-check.h"

#include "app/cli/file-clash.h"
#include "core/error.h"
#include "core/output-target.h"
#include "probes/probe.h"

#include <string.h>

/* What a kind draws; in the order in which the default is looked for, and then what only a name asks for. */
static const struct Need {
  MharFigureKind kind;
  MharProbeFlags probe;
  const char *option; /* which asks for it */
  int heads;          /* distributions a site must have for it: 0 where even a plain Transformer will do */
  gboolean by_default;
} needs[] = { { MHAR_FIGURE_DEVIATION, MHAR_PROBE_DEPTH_MAPS, "--depth-maps", 2, TRUE },
              { MHAR_FIGURE_KL, MHAR_PROBE_KL, "--kl", 1, TRUE },
              { MHAR_FIGURE_COEFFICIENTS, MHAR_PROBE_DEPTH_MAPS, "--depth-maps", 0, TRUE },
              { MHAR_FIGURE_COLLINEARITY, MHAR_PROBE_COLLINEARITY, "--collinearity", 0, TRUE },
              { MHAR_FIGURE_READS, MHAR_PROBE_READS, "--reads", 1, TRUE },
              { MHAR_FIGURE_DEPTH_MAP, MHAR_PROBE_DEPTH_MAPS, "--depth-maps", 1, FALSE },
              { MHAR_FIGURE_ABLATION, MHAR_PROBE_INTERVENTIONS, "--ablation-map", 1, FALSE } };

static gboolean
is_measured (const MharCliOptions *o, const struct Need *need)
{
  return need->kind == MHAR_FIGURE_ABLATION ? o->probe.ablation_map : (mhar_measured (o) & need->probe) != 0;
}

static int
most_heads (const MharPlan *plan)
{
  int most = 0;

  for (guint s = 0; s < plan->sites->len; s++)
    most = MAX (most, mhar_plan_site (plan, s)->heads);
  return most;
}

/* Whether the checkpoint has what the kind draws. */
static gboolean
is_there (const MharPlan *plan, const struct Need *need)
{
  gboolean choice = mhar_plan_count_sites (plan, TRUE) + mhar_plan_count_sites (plan, FALSE) > 0;

  if (need->kind == MHAR_FIGURE_COEFFICIENTS)
    return plan->streams > 0;
  if (need->kind == MHAR_FIGURE_KL || need->kind == MHAR_FIGURE_ABLATION)
    return choice;
  return most_heads (plan) >= need->heads;
}

/* "choose kl, depth-map or ablation": the kinds that would do. */
static char *
advise (const MharCliOptions *o, const MharPlan *plan)
{
  g_autoptr (GPtrArray) kinds = g_ptr_array_new ();
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (needs); i++)
    if (is_measured (o, &needs[i]) && is_there (plan, &needs[i]))
      g_ptr_array_add (kinds, (gpointer)mhar_figure_kind_name (needs[i].kind));
  for (guint i = 0; i < kinds->len; i++) {
    const char *comma = i + 1 < kinds->len ? ", " : " or ";
    g_string_append_printf (text, "%s%s", i == 0 ? "choose " : comma, (const char *)g_ptr_array_index (kinds, i));
  }
  if (kinds->len == 0)
    g_string_append (text, "ask for --depth-maps, --kl or --collinearity too, or leave out --figure");
  return g_string_free (text, FALSE);
}

/* What the results are drawn as where no kind is named. */
static gboolean
check_default (const MharCliOptions *o, const MharPlan *plan, const char *path, GError **error)
{
  g_autofree char *advice = advise (o, plan);

  for (guint i = 0; i < G_N_ELEMENTS (needs); i++)
    if (needs[i].by_default && is_measured (o, &needs[i]) && is_there (plan, &needs[i]))
      return TRUE;
  return mhar_bad_usage (error, "nothing is measured of %s that is drawn without a --figure-kind; %s", path, advice);
}

static gboolean
check_kind (const MharCliOptions *o, const MharPlan *plan, const char *path, const struct Need *need, GError **error)
{
  const char *kind = mhar_figure_kind_name (need->kind);
  int most = most_heads (plan);
  const char *why = need->kind == MHAR_FIGURE_COEFFICIENTS ? "has no hyper-connections"
                    : most == 0                            ? "reads nothing over depth"
                    : most < need->heads                   ? "has one routing head"
                                                           : "has no read of two sources";

  if (!is_measured (o, need))
    return mhar_bad_usage (error, "--figure-kind %s draws what %s measures; ask for that too", kind, need->option);
  if (is_there (plan, need))
    return TRUE;
  g_autofree char *advice = advise (o, plan);
  return mhar_bad_usage (error, "%s %s, so there is nothing for --figure-kind %s; %s", path, why, kind, advice);
}

gboolean
mhar_figure_check_plan (const MharCliOptions *o, const MharPlan *plan, const char *path, GError **error)
{
  if (o->figure == NULL)
    return TRUE;
  if (o->kind == MHAR_FIGURE_DEFAULT)
    return o->compare || o->series || check_default (o, plan, path, error);
  for (guint i = 0; i < G_N_ELEMENTS (needs); i++)
    if (needs[i].kind == o->kind)
      return check_kind (o, plan, path, &needs[i], error);
  return TRUE;
}

gboolean
mhar_figure_check_files (const MharCliOptions *options, guint n, GError **error)
{
  for (guint i = 0; options->figure != NULL && i < n; i++) {
    g_autofree char *name = mhar_figure_file_name (options->figure, i, n);
    if (i > 0 && strcmp (name, options->figure) == 0)
      break; /* one file for all pages */
    if (!mhar_output_check (name, error))
      return FALSE;
  }
  return mhar_check_clashes (options, n, error);
}
