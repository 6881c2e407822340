/* SPDX-License-Identifier: MIT */
/* --sites: the derived source table, so that nobody has to guess how a dialect was understood. */
#include "app/cli/jobs.h"

#include "core/checkpoint.h"
#include "core/plan.h"

static const char *
mode_of (const MharSite *site)
{
  return site->mode == MHAR_READ_ADD ? "add" : "replace";
}

/* What a gate mixes the read with. */
static const char *
base_of (const MharSite *site)
{
  return site->base == MHAR_VALUE_STREAM ? "stream" : "latest";
}

static char *
gate_of (const MharSite *site)
{
  if (site->gate.kind == MHAR_GATE_NONE)
    return g_strdup ("-");
  if (site->gate.kind == MHAR_GATE_VECTOR)
    return g_strdup_printf ("vector/%s", base_of (site));
  return g_strdup_printf ("%.4f/%s", site->gate.value, base_of (site));
}

static void
describe_site (GString *out, const MharPlan *plan, const MharSite *site)
{
  g_autofree char *gate = gate_of (site);
  g_autofree char *bias = site->bias != 0 ? g_strdup_printf ("%+.3f", site->bias) : g_strdup ("-");
  g_autofree char *groups = site->whole ? g_strdup_printf ("%d", site->heads) : g_strdup ("-");

  g_string_append_printf (out, "%4d  %-9s %-8s %-14s %7s %3d %3s %4d ", site->number, site->label, mode_of (site), gate,
                          bias, site->heads, groups, site->n_sources);
  for (int n = 0; n < site->n_sources; n++) {
    g_autofree char *label = mhar_plan_source_label (plan, site, n);
    g_string_append_printf (out, "%s%s", n > 0 ? ", " : " ", label);
  }
  g_string_append_c (out, '\n');
}

/* A hyper-connected model's depth map. */
static void
describe_connections (GString *out, const MharPlan *plan)
{
  g_autofree double *map = mhar_plan_depth_coefficients (plan);
  guint outputs = plan->outputs->len;

  g_string_append_printf (
      out,
      "no reads: %d streams with fixed connections; what every sublayer takes of each output before it\n"
      "%-9s %4s  coefficients, embedding first\n",
      plan->streams, "input of", "N");
  for (guint r = 0; r < plan->connections->len; r++) {
    const char *label = r + 1 < outputs ? mhar_plan_row (plan, g_array_index (plan->outputs, int, r + 1)) : "final";
    g_string_append_printf (out, "%-9s %4u ", label, r + 1);
    for (guint k = 0; k <= r; k++)
      g_string_append_printf (out, " %+.4f", map[r * outputs + k]);
    g_string_append_c (out, '\n');
  }
}

static void
describe (GString *out, const MharCheckpoint *checkpoint G_GNUC_UNUSED, const MharPlan *plan)
{
  g_string_append_printf (out, "%s, mode %s", plan->dialect, plan->mode);
  if (plan->sites->len > 0)
    g_string_append_printf (out, ", %d routing head%s", plan->heads, plan->heads == 1 ? "" : "s");
  if (plan->eps > 0)
    g_string_append_printf (out, ", sources normed with eps %g", plan->eps);
  g_string_append_c (out, '\n');
  if (plan->streams > 0)
    describe_connections (out, plan);
  else if (plan->sites->len == 0)
    g_string_append (out, "no reads: every sublayer takes the residual stream\n");
  else
    g_string_append_printf (out, "%4s  %-9s %-8s %-14s %7s %3s %3s %4s  %s\n", "site", "label", "read", "gate", "bias",
                            "H", "G", "N", "sources, oldest first");
  for (guint s = 0; s < plan->sites->len; s++)
    describe_site (out, plan, mhar_plan_site (plan, s));
  for (guint w = 0; w < plan->warnings->len; w++)
    g_string_append_printf (out, "warning: %s\n", (const char *)g_ptr_array_index (plan->warnings, w));
}

/* null, or which kind, its number where it has one, and what it mixes the read with. */
static json_t *
gate_as_json (const MharSite *site)
{
  static const char *const kinds[] = { "bias", "learnable_alpha", "sigmoid_scalar", "sigmoid_vector" };

  if (site->gate.kind == MHAR_GATE_NONE)
    return json_null ();
  return json_pack ("{s:s, s:o, s:s}", "kind", kinds[site->gate.kind], "value",
                    site->gate.kind == MHAR_GATE_VECTOR ? json_null () : json_real (site->gate.value), "with",
                    base_of (site));
}

static json_t *
site_as_json (const MharPlan *plan, const MharSite *site)
{
  json_t *sources = json_array ();

  for (int n = 0; n < site->n_sources; n++) {
    g_autofree char *label = mhar_plan_source_label (plan, site, n);
    json_array_append_new (sources, json_string (label));
  }
  return json_pack ("{s:i, s:s, s:s, s:o, s:f, s:i, s:i, s:o}", "site", site->number, "label", site->label, "read",
                    mode_of (site), "gate", gate_as_json (site), "bias", site->bias, "heads", site->heads, "groups",
                    site->whole ? site->heads : 0, "sources", sources);
}

/* [input of sublayer][output before it]; what the last norm takes stands last. */
static json_t *
connections_as_json (const MharPlan *plan)
{
  g_autofree double *map = mhar_plan_depth_coefficients (plan);
  json_t *list = json_array ();

  for (guint r = 0; r < plan->connections->len; r++) {
    json_t *row = json_array ();
    for (guint k = 0; k <= r; k++)
      json_array_append_new (row, json_real (map[r * plan->outputs->len + k]));
    json_array_append_new (list, row);
  }
  return list;
}

static json_t *
as_json (const MharCheckpoint *checkpoint G_GNUC_UNUSED, const MharPlan *plan)
{
  json_t *sites = json_array ();

  for (guint s = 0; s < plan->sites->len; s++)
    json_array_append_new (sites, site_as_json (plan, mhar_plan_site (plan, s)));
  json_t *object = json_pack ("{s:s, s:s, s:s, s:i, s:o}", "path", "", "dialect", plan->dialect, "mode", plan->mode,
                              "heads", plan->heads, "sites", sites);
  if (plan->eps > 0)
    json_object_set_new (object, "eps", json_real (plan->eps));
  if (plan->streams > 0)
    json_object_set_new (object, "coefficients", connections_as_json (plan));
  return object;
}

int
mhar_job_sites (const MharCliOptions *options, GError **error)
{
  static const MharDescription how = { describe, as_json };
  return mhar_describe_checkpoints (options, &how, error);
}
