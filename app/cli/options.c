/* SPDX-License-Identifier: MIT */
#include "app/cli/options.h"

#include "app/cli/base-names.h"
#include "app/cli/option-hints.h"
#include "app/cli/option-table.h"
#include "core/error.h"
#include "probes/intervention.h"
#include "probes/reads.h"

#include <math.h>
#include <string.h>

static gboolean
store_whole (const MharOptionRow *row, const char *text, gpointer field, GError **error)
{
  guint64 value;

  if (!g_ascii_string_to_unsigned (text, 10, row->low, row->high, &value, NULL))
    return mhar_bad_usage (error,
                           "--%s takes a whole number from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT ", not “%s”",
                           row->name, row->low, row->high, text);
  if (row->kind == MHAR_OPTION_COUNT)
    *(guint *) field = (guint) value;
  else
    *(guint64 *) field = value;
  return TRUE;
}

static gboolean
store_choice (const MharOptionRow *row, const char *text, gpointer field, GError **error)
{
  g_auto (GStrv) names = g_strsplit (row->choices, "|", -1);
  g_autofree char *list = g_strjoinv (", ", names);

  for (int i = 0; names[i] != NULL; i++)
    if (strcmp (text, names[i]) == 0) {
      *(int *) field = i;
      return TRUE;
    }
  return mhar_bad_usage (error, "--%s takes one of %s, not “%s”", row->name, list, text);
}

static gboolean
store_real (const MharOptionRow *row, const char *text, double *field, GError **error)
{
  char *end = NULL;
  double value = g_ascii_strtod (text, &end);

  if (end == text || *end != '\0' || !isfinite (value) || value <= 0)
    return mhar_bad_usage (error, "--%s takes a number above 0, such as 1e-5, not “%s”", row->name, text);
  *field = value;
  return TRUE;
}

static void
store_word (const char *text, char **field)
{
  g_free (*field);
  *field = g_strdup (text);
}

/* GOption's callback: one option of the table, into the MharCliOptions. */
static gboolean
on_option (const char *name, const char *value, gpointer options, GError **error)
{
  const MharOptionRow *row = mhar_option_find (name);
  MharCliOptions *o = options;
  gpointer field = (guint8 *) options + row->offset;
  g_autofree char *text = value != NULL ? g_utf8_make_valid (value, -1) : NULL; /* for messages */

  g_ptr_array_add (o->given, (gpointer) row->name);
  g_ptr_array_add (o->values, g_strdup (text != NULL ? text : ""));
  switch (row->kind) {
  case MHAR_OPTION_FLAG:
    *(gboolean *) field = TRUE;
    return TRUE;
  case MHAR_OPTION_BITS:
    *(guint *) field |= (guint) row->low;
    return TRUE;
  case MHAR_OPTION_COUNT:
  case MHAR_OPTION_WIDE:
    return store_whole (row, text, field, error);
  case MHAR_OPTION_REAL:
    return store_real (row, text, field, error);
  case MHAR_OPTION_CHOICE:
    return store_choice (row, text, field, error);
  case MHAR_OPTION_PARSED:
    return row->parse (text, field, error);
  case MHAR_OPTION_WORD:
    if (*value == '\0' && strstr (row->argument, "FILE") != NULL)
      return mhar_bad_usage (error, "the name given to --%s is empty; give that of a file", row->name);
    if (*(char **)field != NULL && strcmp (row->name, "device") != 0)
      return mhar_bad_usage (
          error, "--%s is given twice, and one of the two would count for nothing; leave one of them out", row->name);
    store_word (value, field);
    return TRUE;
  }
  return FALSE;
}

/* Words keep their bytes (FILENAME): GOption would refuse what the locale cannot encode, as in a prompt under C. */
static GOptionEntry
entry_of (const MharOptionRow *row)
{
  gboolean bare = row->kind == MHAR_OPTION_FLAG || row->kind == MHAR_OPTION_BITS;
  int flags = bare ? G_OPTION_FLAG_NO_ARG : G_OPTION_FLAG_FILENAME;

  return (GOptionEntry){
    row->name, row->letter, flags, G_OPTION_ARG_CALLBACK, G_GNUC_EXTENSION (gpointer) on_option, row->help, row->argument
  };
}

static GOptionContext *
make_context (MharCliOptions *o)
{
  const GOptionEntry rest[] = {
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o->checkpoints, "", "CHECKPOINT…" },
    { NULL, 0, 0, 0, NULL, NULL, NULL },
  };
  GOptionContext *context = g_option_context_new ("— what attention over depth has learned");

  g_option_context_set_help_enabled (context, FALSE); /* ours shows all groups */
  g_option_context_set_summary (
      context,
      "Opens trained checkpoints whose sublayers attend over depth, runs them over text and prints what their\n"
      "routing does: depth maps, slice disagreement against random queries, collinearity.");
  g_option_context_set_description (
      context, "Exit status: 0 done, 1 the run failed, 2 bad usage, 3 bad input, 130 interrupted.\n"
               "Example: mhar-probe --all run-a run-b -o ab.h5 --figure ab.pdf");
  g_option_context_add_main_entries (context, rest, NULL);
  for (const MharOptionGroup *g = mhar_option_groups; g->title != NULL; g++) {
    GOptionGroup *group = g_option_group_new (g->title, g->title, g->title, o, NULL);
    g_autoptr (GArray) entries = g_array_new (TRUE, TRUE, sizeof (GOptionEntry));
    for (const MharOptionRow *row = g->rows; row->name != NULL; row++) {
      GOptionEntry entry = entry_of (row);
      g_array_append_val (entries, entry);
    }
    g_option_group_add_entries (group, (const GOptionEntry *) entries->data);
    g_option_context_add_group (context, group);
  }
  return context;
}

char *
mhar_cli_help (void)
{
  MharCliOptions none = { 0 };
  g_autoptr (GOptionContext) context = make_context (&none);
  return g_option_context_get_help (context, FALSE, NULL);
}

/* argv, with "=value" where an option that may stand alone does: GOption's optional arguments would take the word after
 * it, a checkpoint say. */
static char **
complete_words (char **argv)
{
  GPtrArray *words = g_ptr_array_new ();
  gboolean options = TRUE; /* until "--" */

  for (guint i = 0; argv[i] != NULL; i++) {
    options = options && strcmp (argv[i], "--") != 0;
    const MharOptionRow *row = options && g_str_has_prefix (argv[i], "--") ? mhar_option_find (argv[i]) : NULL;
    if (row == NULL || row->if_alone == NULL)
      g_ptr_array_add (words, g_strdup (argv[i]));
    else if (mhar_option_is_choice (row, argv[i + 1]))
      g_ptr_array_add (words, g_strdup_printf ("--%s=%s", row->name, argv[++i]));
    else
      g_ptr_array_add (words, g_strdup_printf ("--%s=%s", row->name, row->if_alone));
  }
  g_ptr_array_add (words, NULL);
  return (char **)g_ptr_array_free (words, FALSE);
}

static gboolean
parse (MharCliOptions *o, char **argv, GError **error)
{
  g_autoptr (GOptionContext) context = make_context (o);
  g_auto (GStrv) words = complete_words (argv);
  g_autoptr (GError) local = NULL;

  if (g_option_context_parse_strv (context, &words, &local))
    return TRUE;
  if (local->domain != G_OPTION_ERROR)
    g_propagate_error (error, g_steal_pointer (&local));
  else {
    g_autofree char *hint = mhar_hint_unknown (local->message);
    mhar_bad_usage (error, "%s", hint);
  }
  return FALSE;
}

static MharCliOptions *
options_new (void)
{
  MharCliOptions *o = g_new0 (MharCliOptions, 1);

  o->given = g_ptr_array_new ();
  o->values = g_ptr_array_new_with_free_func (g_free);
  o->tolerance = 1e-5;
  mhar_probe_options_init (&o->probe);
  mhar_figure_options_init (&o->figure_options);
  o->probe.probes = 0;
  o->interventions = mhar_interventions_new ();
  o->reads = mhar_reads_specs_new ();
  return o;
}

/* With --report the file is one of the report's. */
static void
name_output (MharCliOptions *o)
{
  if (o->report != NULL && o->from == NULL)
    o->output = g_build_filename (o->report, "report.h5", NULL);
}

char *
mhar_cli_output_of (const char *command)
{
  g_autoptr (MharCliOptions) o = options_new ();
  g_auto (GStrv) words = NULL;

  if (!g_shell_parse_argv (command, NULL, &words, NULL) || !parse (o, words, NULL))
    return NULL;
  if (o->output == NULL)
    name_output (o);
  return o->output != NULL ? g_path_get_basename (o->output) : NULL;
}

MharCliOptions *
mhar_cli_options_parse (char **argv, GError **error)
{
  g_autoptr (MharCliOptions) o = options_new ();

  if (!parse (o, argv, error))
    return NULL;
  o->command = mhar_command_line (argv, o->base_names);
  if (o->interventions->len > 0)
    o->probe.interventions = o->interventions;
  if (o->interventions->len > 0 || o->probe.ablation_map)
    o->probe.probes |= MHAR_PROBE_INTERVENTIONS;
  if (o->reads->len > 0) {
    o->probe.reads = o->reads;
    o->probe.probes |= MHAR_PROBE_READS;
  }
  if (o->probe.probes == 0)
    o->probe.probes = MHAR_PROBE_ALL;
  if (o->device == NULL)
    o->device = g_strdup ("auto");
  if (o->checkpoints == NULL)
    o->checkpoints = g_new0 (char *, 1);
  if ((!o->help && !o->version && !mhar_check_detached_values (argv, error)) || !mhar_cli_options_check (o, error))
    return NULL;
  name_output (o);
  return g_steal_pointer (&o);
}

gboolean
mhar_is_given (const MharCliOptions *o, const char *name)
{
  return g_ptr_array_find_with_equal_func (o->given, name, g_str_equal, NULL);
}

MharProbeFlags
mhar_measured (const MharCliOptions *o)
{
  gboolean some = (o->probe.probes & MHAR_PROBE_ALL) != 0;

  return o->report != NULL && !some ? o->probe.probes | MHAR_PROBE_ALL : o->probe.probes;
}

gboolean
mhar_uses_null_query (const MharCliOptions *o)
{
  gboolean found = o->report != NULL && o->interventions->len == 0; /* one of the usual ones */

  for (guint i = 0; i < o->interventions->len; i++)
    found
        = found || ((const MharIntervention *)g_ptr_array_index (o->interventions, i))->kind == MHAR_INTERVENTION_NULL;
  return found;
}

gboolean
mhar_uses_slice_norm (const MharCliOptions *o)
{
  gboolean by_slice = o->probe.null_norm_slice || (o->report != NULL && !mhar_is_given (o, "null-norm"));

  for (guint i = 0; i < o->probe.n_all_norms; i++)
    by_slice = by_slice || o->probe.all_norms[i];
  return by_slice && ((mhar_measured (o) & (MHAR_PROBE_KL | MHAR_PROBE_DEPTH_MAPS)) != 0 || mhar_uses_null_query (o));
}

void
mhar_cli_options_free (MharCliOptions *o)
{
  if (o == NULL)
    return;
  g_strfreev (o->checkpoints);
  g_clear_pointer (&o->interventions, g_ptr_array_unref);
  g_clear_pointer (&o->reads, g_ptr_array_unref);
  g_free (o->verify);
  g_free (o->save_reference);
  g_free (o->from);
  g_free (o->text);
  g_free (o->prompt);
  g_free (o->tokens);
  g_free (o->device);
  g_free (o->config);
  g_free (o->map);
  g_free (o->output);
  g_free (o->figure);
  g_free (o->report);
  g_free (o->command);
  g_ptr_array_unref (o->given);
  g_ptr_array_unref (o->values);
  g_free (o);
}
