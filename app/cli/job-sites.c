/* SPDX-License-Identifier: MIT */
/* --sites: the derived source table, so that nobody has to guess how a dialect was understood. */
#include "app/cli/jobs.h"

#include "core/checkpoint.h"
#include "core/plan.h"

static char *
sources_of (const MharPlan *plan, const MharSite *site)
{
  GString *list = g_string_new (NULL);

  for (int n = 0; n < site->n_sources; n++)
    g_string_append_printf (list, "%s%s", n > 0 ? " " : "", mhar_plan_row (plan, site->sources[n]));
  return g_string_free (list, FALSE);
}

static void
describe (GString *out, const MharCheckpoint *checkpoint G_GNUC_UNUSED, const MharPlan *plan)
{
  g_string_append_printf (out, "%s, mode %s", plan->dialect, plan->mode);
  if (plan->sites->len > 0)
    g_string_append_printf (out, ", %d routing head%s", plan->heads, plan->heads == 1 ? "" : "s");
  g_string_append_c (out, '\n');
  if (plan->sites->len == 0)
    g_string_append (out, "no reads: every sublayer takes the residual stream\n");
  else
    g_string_append_printf (out, "%4s  %-9s %-8s %3s %4s  %s\n", "site", "label", "read", "H", "N",
                            "sources, oldest first");
  for (guint s = 0; s < plan->sites->len; s++) {
    const MharSite *site = mhar_plan_site (plan, s);
    g_autofree char *sources = sources_of (plan, site);
    g_string_append_printf (out, "%4d  %-9s %-8s %3d %4d  %s\n", site->number, site->label, "replace", site->heads,
                            site->n_sources, sources);
  }
  for (guint w = 0; w < plan->warnings->len; w++)
    g_string_append_printf (out, "warning: %s\n", (const char *) g_ptr_array_index (plan->warnings, w));
}

static json_t *
as_json (const MharCheckpoint *checkpoint, const MharPlan *plan)
{
  g_autofree char *path = g_filename_display_name (mhar_checkpoint_path (checkpoint));
  json_t *sites = json_array ();

  for (guint s = 0; s < plan->sites->len; s++) {
    const MharSite *site = mhar_plan_site (plan, s);
    json_t *sources = json_array ();
    for (int n = 0; n < site->n_sources; n++)
      json_array_append_new (sources, json_string (mhar_plan_row (plan, site->sources[n])));
    json_array_append_new (sites, json_pack ("{s:i, s:s, s:s, s:i, s:i, s:o}", "site", site->number, "label",
                                             site->label, "read", "replace", "heads", site->heads, "groups",
                                             site->whole ? site->heads : 0, "sources", sources));
  }
  return json_pack ("{s:s, s:s, s:s, s:i, s:o}", "path", path, "dialect", plan->dialect, "mode",
                    plan->mode, "heads", plan->heads, "sites", sites);
}

int
mhar_job_sites (const MharCliOptions *options, GError **error)
{
  return mhar_describe_checkpoints (options, describe, as_json, error);
}
