/* SPDX-License-Identifier: MIT */
/* The logits of one window under interventions, for tests/numeric/test_interventions.py:
 *
 *   edited-logits CHECKPOINT DEVICE PRECISION shared|apart OUT IDS SPEC…
 *
 * IDS is a file of int32; a SPEC is what --json calls one. OUT gets float32 [SPECs + 1, T, V]: each SPEC in order, then
 * the model as it is, run last. */
#include "core/dialect.h"
#include "core/forward.h"
#include "probes/intervention.h"
#include "probes/run.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  float *logits;
  guint tokens;
  gsize each;
} Out;

static gboolean
take (MharForward *forward, guint index, gpointer user, GError **error)
{
  Out *out = user;
  return mhar_forward_logits (forward, 0, out->tokens, out->logits + index * out->each, error);
}

static gboolean
parse (GPtrArray *list, const char *spec, GError **error)
{
  const char *equals = strchr (spec, '=');

  for (MharInterventionKind k = MHAR_INTERVENTION_CONSENSUS; equals != NULL && k <= MHAR_INTERVENTION_REGROUP; k++)
    if (strncmp (spec, mhar_intervention_name (k), (gsize) (equals - spec)) == 0)
      return mhar_interventions_parse (list, k, equals + 1, error);
  return mhar_interventions_parse (list, MHAR_INTERVENTION_ABLATE, spec, error);
}

/* The edits of every SPEC; NULL with an error. */
static GPtrArray *
resolve (char **specs, const MharPlan *plan, GError **error)
{
  g_autoptr (GPtrArray) list = mhar_interventions_new ();
  g_autoptr (GPtrArray) edits = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
  MharProbeOptions options;

  mhar_probe_options_init (&options);
  for (; *specs != NULL; specs++)
    if (!parse (list, *specs, error))
      return NULL;
  for (guint k = 0; k < list->len; k++) {
    MharPlanEdit *one = mhar_intervention_resolve (g_ptr_array_index (list, k), plan, &options, error);
    if (one == NULL)
      return NULL;
    g_ptr_array_add (edits, one);
  }
  return g_steal_pointer (&edits);
}

static gboolean
run (char **argv, GError **error)
{
  const MharDialectOptions dialect = { 0 };
  gboolean bf16 = strcmp (argv[3], "bf16") == 0;
  g_autoptr (MharDevice) device
      = mhar_device_open (argv[2], bf16 ? MHAR_PRECISION_WANT_BF16 : MHAR_PRECISION_WANT_F32, bf16, error);
  g_autoptr (MharCheckpoint) checkpoint = device != NULL ? mhar_checkpoint_open (argv[1], error) : NULL;
  g_autoptr (MharPlan) plan = checkpoint != NULL ? mhar_plan_from_checkpoint (checkpoint, &dialect, error) : NULL;
  g_autoptr (GPtrArray) edits = plan != NULL ? resolve (argv + 7, plan, error) : NULL;
  g_autofree char *ids = NULL;
  gsize bytes;

  if (edits == NULL || !g_file_get_contents (argv[6], &ids, &bytes, error))
    return FALSE;
  Out out = { .tokens = (guint) (bytes / sizeof (gint32)) };
  MharForwardSize size = { .windows = 1, .length = out.tokens, .again = TRUE };
  g_autoptr (MharModel) model = mhar_model_new (device, checkpoint, plan, error);
  g_autoptr (MharForward) forward = model != NULL ? mhar_forward_new (model, &size, error) : NULL;
  if (forward == NULL)
    return FALSE;
  out.each = (gsize) out.tokens * mhar_model_body (model)->vocab;
  g_autofree float *logits = out.logits = g_new (float, (edits->len + 1) * out.each);
  MharForwardEdits how = { .list = edits, .done = take, .user = &out, .apart = strcmp (argv[4], "apart") == 0 };
  return mhar_forward_run (forward, (const gint32 *) (gpointer) ids, 1, out.tokens, NULL, error)
         && mhar_forward_run_edits (forward, &how, NULL, error) && take (forward, edits->len, &out, error)
         && g_file_set_contents (argv[5], (const char *) logits, (gssize) ((edits->len + 1) * out.each * sizeof (float)),
                                 error);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;

  if (argc < 7) {
    fprintf (stderr, "edited-logits CHECKPOINT DEVICE PRECISION shared|apart OUT IDS SPEC…\n");
    return 2;
  }
  if (run (argv, &error))
    return 0;
  fprintf (stderr, "edited-logits: %s\n", error->message);
  return 1;
}
