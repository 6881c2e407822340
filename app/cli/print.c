/* SPDX-License-Identifier: MIT */
#include "app/cli/jobs.h"

#include "app/cli/base-names.h"
#include "app/cli/figure-write.h"
#include "app/cli/json.h"
#include "app/cli/option-effect.h"
#include "app/cli/table-compare.h"
#include "app/cli/table-reads.h"
#include "app/cli/table-series.h"
#include "app/cli/table-weights.h"
#include "app/cli/table.h"
#include "core/dialect.h"
#include "core/error.h"
#include "probes/results.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

gboolean
mhar_print (const char *text, GError **error)
{
  if (fputs (text, stdout) != EOF && fflush (stdout) == 0)
    return TRUE;
  g_set_error (error, MHAR_ERROR, MHAR_ERROR_RUN, "standard output cannot be written: %s", g_strerror (errno));
  return FALSE;
}

char *
mhar_printable (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  GString *line = g_string_new (NULL);

  for (const char *at = valid; *at != '\0'; at = g_utf8_next_char (at)) {
    gunichar c = g_utf8_get_char (at);
    g_string_append_unichar (line, g_unichar_isprint (c) ? c : '?');
  }
  return g_string_free (line, FALSE);
}

static void
print_warnings (const MharDataset *set)
{
  const char *const *warnings = mhar_dataset_strings (set, "warnings");
  g_autofree char *base = g_path_get_basename (mhar_dataset_string (set, "path"));
  g_autofree char *name = mhar_printable (base);

  for (guint w = 0; warnings != NULL && warnings[w] != NULL; w++) {
    g_autofree char *text = mhar_printable (warnings[w]);
    fprintf (stderr, "mhar-probe: %s: warning: %s\n", name, text);
  }
}

gboolean
mhar_print_results (const MharCliOptions *options, const MharDataset *root, GError **error)
{
  g_autoptr (GPtrArray) sets = mhar_results_checkpoints (root);
  const MharDataset *compare = mhar_dataset_find_child (root, "compare"),
                    *series = mhar_dataset_find_child (root, "series");
  gboolean tables = !options->json && options->table != MHAR_TABLE_CSV; /* which has it all in one */
  g_autofree char *text = options->json    ? mhar_json_format (root)
                          : series != NULL ? mhar_table_series (series, options->table)
                                           : mhar_table_format (sets, options->table);
  g_autofree char *apart = compare != NULL && !options->json ? mhar_table_compare (compare, options->table) : NULL;
  g_autofree char *more = tables ? mhar_table_weights (sets, options->table) : NULL;
  g_autofree char *cells = tables ? mhar_table_reads_cells (sets, options->table) : NULL;

  for (guint c = 0; c < sets->len && !options->quiet; c++)
    print_warnings (g_ptr_array_index (sets, c));
  return mhar_print (text, error) && (more == NULL || mhar_print (more, error)) && (cells == NULL || mhar_print (cells, error))
         && (apart == NULL || mhar_print (apart, error));
}

gboolean
mhar_show_results (const MharCliOptions *options, const MharDataset *root, GError **error)
{
  gboolean drawn = mhar_figure_write (options, root, error);

  return mhar_print_results (options, root, drawn ? error : NULL) && drawn;
}

gboolean
mhar_open_checkpoint (const MharCliOptions *options, const char *path, MharCheckpoint **checkpoint, MharPlan **plan,
                      GError **error)
{
  MharDialectOptions dialect = { .heads = (int) options->heads, .strict = options->strict,
                                 .block_delta = options->block_delta };
  MharCheckpointOptions how = { .config = options->config, .map = options->map };
  g_autoptr (MharCheckpoint) opened = mhar_checkpoint_open_with (path, &how, error);

  if (opened == NULL)
    return FALSE;
  *plan = mhar_plan_from_checkpoint (opened, &dialect, error);
  if (*plan == NULL)
    return FALSE;
  *checkpoint = g_steal_pointer (&opened);
  return TRUE;
}

/* What a plan has to warn of may name files. */
static void
take_warnings (const MharCliOptions *options, const MharPlan *plan)
{
  for (guint w = 0; w < plan->warnings->len; w++) {
    char *shown = mhar_base_names_in (options, g_ptr_array_index (plan->warnings, w));
    g_free (g_ptr_array_index (plan->warnings, w));
    g_ptr_array_index (plan->warnings, w) = shown;
  }
}

static gboolean
describe_one (const MharCliOptions *options, guint i, const char *name, const MharDescription *how, GString *out,
              json_t *list, MharEffects *effects, GError **error)
{
  g_autoptr (MharCheckpoint) checkpoint = NULL;
  g_autoptr (MharPlan) plan = NULL;

  if (!mhar_open_checkpoint (options, options->checkpoints[i], &checkpoint, &plan, error))
    return FALSE;
  mhar_effects_add (effects, plan);
  take_warnings (options, plan);
  if (options->json) {
    json_t *object = how->as_json (checkpoint, plan);
    g_autofree char *path = g_filename_display_name (name);
    json_object_set_new (object, "path", json_string (path));
    json_array_append_new (list, object);
    return TRUE;
  }
  g_autofree char *shown = mhar_printable (name);
  g_string_append_printf (out, "%s%s\n", i > 0 ? "\n" : "", shown);
  how->describe (out, checkpoint, plan);
  return TRUE;
}

int
mhar_describe_checkpoints (const MharCliOptions *options, const MharDescription *how, GError **error)
{
  g_autoptr (GString) out = g_string_new (NULL);
  g_auto (GStrv) names = mhar_base_names_shown (options);
  json_t *list = json_array ();
  MharEffects effects = { 0 };
  gboolean good = TRUE;

  for (guint i = 0; good && names[i] != NULL; i++)
    good = describe_one (options, i, names[i], how, out, list, &effects, error);
  good = good && mhar_effects_check (&effects, options, error);
  if (good && options->json) {
    char *text = json_dumps (list, JSON_INDENT (1));
    g_string_append_printf (out, "%s\n", text);
    free (text);
  }
  json_decref (list);
  return good && mhar_print (out->str, error) ? 0 : -1;
}
