/* SPDX-License-Identifier: MIT */
#include "app/cli/figure-check.h"

#include "core/error.h"
#include "core/output-target.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <unistd.h>

gboolean
mhar_figure_check_plan (const MharCliOptions *options, const MharPlan *plan, const char *path, GError **error)
{
  static const struct {
    MharFigureKind kind;
    MharProbeFlags probe;
    const char *option;
    int heads; /* distributions a site must have for it: 0 where even a plain Transformer will do */
  } needs[] = { { MHAR_FIGURE_DEVIATION, MHAR_PROBE_DEPTH_MAPS, "--depth-maps", 2 },
                { MHAR_FIGURE_DEPTH_MAP, MHAR_PROBE_DEPTH_MAPS, "--depth-maps", 1 },
                { MHAR_FIGURE_KL, MHAR_PROBE_KL, "--kl", 1 },
                { MHAR_FIGURE_COLLINEARITY, MHAR_PROBE_COLLINEARITY, "--collinearity", 0 },
                { MHAR_FIGURE_COEFFICIENTS, MHAR_PROBE_DEPTH_MAPS, "--depth-maps", 0 },
                { MHAR_FIGURE_READS, MHAR_PROBE_READS, "--reads", 1 } };
  int most = 0;

  if (options->figure != NULL && options->kind == MHAR_FIGURE_ABLATION && !options->probe.ablation_map)
    return mhar_bad_usage (error, "--figure-kind ablation draws what --ablation-map measures; ask for that too");
  for (guint s = 0; s < plan->sites->len; s++)
    most = MAX (most, mhar_plan_site (plan, s)->heads);
  for (guint i = 0; options->figure != NULL && i < G_N_ELEMENTS (needs); i++) {
    if (needs[i].kind != options->kind)
      continue;
    const char *kind = mhar_figure_kind_name (options->kind);
    if ((options->probe.probes & needs[i].probe) == 0)
      return mhar_bad_usage (error, "--figure-kind %s draws what %s measures; ask for that too", kind, needs[i].option);
    if (most < needs[i].heads)
      return mhar_bad_usage (error, "%s %s, so there is nothing for --figure-kind %s; choose %s", path,
                             most == 0 ? "reads nothing over depth" : "has one routing head", kind,
                             plan->streams > 0 ? "coefficients or collinearity"
                             : most == 0       ? "collinearity"
                                               : "depth-map or kl");
    if (options->kind == MHAR_FIGURE_COEFFICIENTS && plan->streams == 0)
      return mhar_bad_usage (error, "%s has no hyper-connections, so there is nothing for --figure-kind %s; choose %s",
                             path, kind, most == 0 ? "collinearity" : "depth-map or kl");
  }
  return TRUE;
}

gboolean
mhar_figure_check_folder (const MharCliOptions *options, guint n, GError **error)
{
  guint mode;

  for (guint i = 0; options->figure != NULL && i < n; i++) {
    g_autofree char *name = mhar_figure_file_name (options->figure, i, n);
    g_autofree char *target = mhar_output_target (name, &mode, error);
    g_autofree char *folder = target != NULL ? g_path_get_dirname (target) : NULL;
    if (folder == NULL)
      return FALSE;
    if (g_access (folder, W_OK | X_OK) != 0) {
      g_autofree char *why = g_strdup_printf ("folder %s: %s", folder, g_strerror (errno));
      return mhar_cannot_write (name, error, why);
    }
  }
  return TRUE;
}
