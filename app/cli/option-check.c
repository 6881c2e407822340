/* SPDX-License-Identifier: MIT */
/* Which options go together: one that would be ignored is refused, so that nobody waits for what will not come. */
#include "app/cli/options.h"

#include "core/error.h"
#include "probes/intervention.h"

#include <string.h>

/* Another job than a run, and the options that it heeds beside --quiet and --progress. */
typedef struct {
  const char *name, *heeds; /* "|a|b|" */
} Job;

static const Job jobs[] = {
  { "devices", "|" },
  { "info", "|config|map|heads|block-delta|strict|json|private|" },
  { "sites", "|config|map|heads|block-delta|strict|json|private|" },
  { "weights-only", "|config|map|heads|slices|slicing|digest|output|json|table|private|" },
  { "verify", "|tolerance|device|precision|routing|config|map|heads|block-delta|strict|json|private|" },
  { "save-reference",
    "|device|precision|routing|config|map|heads|block-delta|strict|text|prompt|tokens|context|max-tokens|" },
  { "merge", "|figure|figure-kind|first-sites|theme|style|json|table|output|private|" },
  { "from", "|figure|figure-kind|first-sites|theme|style|json|table|report|private|" },
};

/* The job that the line asks for; NULL: a run. *several: more than one. */
static const Job *
job_of (const MharCliOptions *o, gboolean *several)
{
  const Job *found = NULL;

  *several = FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (jobs); i++) {
    gboolean asked = mhar_is_given (o, jobs[i].name);
    *several |= asked && found != NULL;
    found = asked ? &jobs[i] : found;
  }
  return found;
}

static gboolean
is_heeded (const Job *job, const char *option)
{
  g_autofree char *word = g_strdup_printf ("|%s|", option);
  return strstr (job->heeds, word) != NULL || strstr ("|quiet|progress|", word) != NULL
         || strcmp (job->name, option) == 0;
}

/* Whatever else is on the line would be ignored. */
static gboolean
check_heeded (const MharCliOptions *o, const Job *job, GError **error)
{
  for (guint i = 0; i < o->given->len; i++) {
    const char *option = g_ptr_array_index (o->given, i);
    if (is_heeded (job, option))
      continue;
    if (strcmp (job->name, "from") == 0)
      return mhar_bad_usage (
          error, "--from only prints and draws a saved run again, so --%s would change nothing; leave it out", option);
    return mhar_bad_usage (error, "--%s changes nothing about --%s; leave one of them out", option, job->name);
  }
  return TRUE;
}

/* What only a run has. */
static gboolean
check_job (const MharCliOptions *o, const Job *job, GError **error)
{
  const char *name = job->name;

  if (o->save_reference == NULL && (o->text != NULL || o->prompt != NULL || o->tokens != NULL))
    return mhar_bad_usage (error, "--%s takes no input; leave out --text, --prompt and --tokens", name);
  if (o->output != NULL && !o->weights_only && !o->merge)
    return mhar_bad_usage (error, "-o saves a run, and --%s makes none; leave one of them out", name);
  if (o->probe.probes & MHAR_PROBE_INTERVENTIONS)
    return mhar_bad_usage (error, "interventions (--%s) need a run, and --%s makes none; leave one of them out",
                           o->interventions->len > 0
                             ? mhar_intervention_name (((MharIntervention *) g_ptr_array_index (o->interventions, 0))->kind)
                             : "ablation-map",
                           name);
  if (o->figure != NULL && o->from == NULL && !o->merge)
    return mhar_bad_usage (error, "--figure draws a run, and --%s makes none; leave one of them out", name);
  if (o->report != NULL && o->from == NULL)
    return mhar_bad_usage (error, "--report writes up a run, and --%s makes none; leave one of them out", name);
  if (o->json && o->devices)
    return mhar_bad_usage (error, "--%s prints text only; leave out --json", name);
  return check_heeded (o, job, error);
}

/* Controls are made by a run. */
static gboolean
check_controls (const MharCliOptions *o, GError **error)
{
  if (o->weights_only && MAX (o->probe.n_all_slices, o->probe.n_all_slicings) > 1)
    return mhar_bad_usage (error,
                           "--weights-only cuts queries in one way; give it one number for --slices and one --slicing");
  return TRUE;
}

static gboolean
check_checkpoints (const MharCliOptions *o, GError **error)
{
  gboolean none = o->checkpoints[0] == NULL;

  for (guint i = 0; o->checkpoints[i] != NULL; i++)
    if (*o->checkpoints[i] == '\0')
      return mhar_bad_usage (error, "the name of a checkpoint is empty; give the folder that holds config.json");
  if (!none && o->from != NULL)
    return mhar_bad_usage (error, "--from reads a saved run and takes no checkpoint");
  if (o->merge && (none || o->checkpoints[1] == NULL))
    return mhar_bad_usage (error, "--merge puts saved runs together: give two files or more, as -o wrote them");
  if (o->config != NULL && none)
    return mhar_bad_usage (error, "--config is about a checkpoint, and none is given; leave it out");
  if (o->map != NULL && none)
    return mhar_bad_usage (error, "--map is about a checkpoint, and none is given; leave it out");
  if (!none && o->devices)
    return mhar_bad_usage (error, "--devices takes no checkpoint");
  if (none && o->from == NULL && !o->devices)
    return mhar_bad_usage (error, "no checkpoint: give the folder that holds config.json, or see mhar-probe --help");
  if (o->compare && g_strv_length (o->checkpoints) != 2)
    return mhar_bad_usage (error, "--compare takes two checkpoints, not %u", g_strv_length (o->checkpoints));
  if ((o->verify != NULL || o->save_reference != NULL) && !none && o->checkpoints[1] != NULL)
    return mhar_bad_usage (error, "--%s takes one checkpoint", o->verify != NULL ? "verify" : "save-reference");
  return TRUE;
}

/* Only maps of reads and of coefficients have sites to leave out. */
static gboolean
check_first_sites (const MharCliOptions *o, GError **error)
{
  static const MharFigureKind maps[]
      = { MHAR_FIGURE_DEFAULT, MHAR_FIGURE_DEVIATION, MHAR_FIGURE_DEPTH_MAP, MHAR_FIGURE_COEFFICIENTS };
  gboolean map = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (maps); i++)
    map = map || o->kind == maps[i];
  if (o->kind == MHAR_FIGURE_DEFAULT && (o->compare || o->series))
    map = FALSE;
  if (map || !mhar_is_given (o, "first-sites"))
    return TRUE;
  const char *kind = o->kind != MHAR_FIGURE_DEFAULT ? mhar_figure_kind_name (o->kind)
                     : o->compare                   ? "compare"
                                                    : "series";
  return mhar_bad_usage (
      error, "--first-sites is about maps of sites, and a figure of the kind %s is none; leave it out", kind);
}

/* What is about a thing that is not asked for. */
static gboolean
check_about (const MharCliOptions *o, GError **error)
{
  static const char *const about_figures[] = { "figure-kind", "first-sites", "theme", "style" };

  for (guint i = 0; i < G_N_ELEMENTS (about_figures); i++)
    if (o->figure == NULL && mhar_is_given (o, about_figures[i]))
      return mhar_bad_usage (error, "--%s is about a figure, and none is asked for; name it with --figure FILE",
                             about_figures[i]);
  if (o->verify == NULL && mhar_is_given (o, "tolerance"))
    return mhar_bad_usage (error, "--tolerance is what --verify allows, and that is not asked for; leave it out");
  if (o->compare && o->series)
    return mhar_bad_usage (error, "--compare is of two checkpoints and --series of the steps of a run; choose one");
  if (o->report != NULL && (o->compare || o->series))
    return mhar_bad_usage (error, "--report writes up checkpoints by themselves; leave out --%s",
                           o->compare ? "compare" : "series");
  if (o->compare && (o->probe.probes & MHAR_PROBE_DEPTH_MAPS) == 0)
    return mhar_bad_usage (error, "--compare compares what --depth-maps measures; ask for that too");
  if (o->from == NULL && !o->merge && o->kind == MHAR_FIGURE_COMPARE && !o->compare)
    return mhar_bad_usage (error, "--figure-kind compare draws what --compare measures; ask for that too");
  if (o->from == NULL && !o->merge && o->kind == MHAR_FIGURE_SERIES && !o->series)
    return mhar_bad_usage (error, "--figure-kind series draws what --series measures; ask for that too");
  if (o->reads->len == 0 && mhar_is_given (o, "top-tokens"))
    return mhar_bad_usage (error, "--top-tokens is about the lists of --reads, and they are not asked for; leave it out");
  if (o->json && mhar_is_given (o, "table"))
    return mhar_bad_usage (error, "--json and --table are two ways to print the results; choose one");
  if (o->digest && o->output == NULL && o->report == NULL)
    return mhar_bad_usage (error, "--digest goes into the HDF5 file: name it with -o FILE.h5");
  return check_first_sites (o, error);
}

/* What is about parts of a run that it does not have. */
static gboolean
check_parts (const MharCliOptions *o, GError **error)
{
  static const char *const of_null[] = { "null-kind", "null-norm", "null-tokens" }, *const of_kl[]
                                                                                    = { "slices", "slicing" };
  MharProbeFlags probes = mhar_measured (o);
  gboolean null = (probes & (MHAR_PROBE_KL | MHAR_PROBE_DEPTH_MAPS)) != 0;

  for (guint i = 0; i < G_N_ELEMENTS (of_null); i++) {
    if (!mhar_is_given (o, of_null[i]) || (strcmp (of_null[i], "null-norm") == 0 && mhar_uses_null_query (o)))
      continue;
    if (null && o->probe.null_draws > 0)
      continue;
    return mhar_bad_usage (error, "--%s is about the null, %s; leave it out", of_null[i],
                           null ? "and --null-draws 0 leaves that out" : "which only --kl and --depth-maps have");
  }
  for (guint i = 0; i < G_N_ELEMENTS (of_kl); i++)
    if (mhar_is_given (o, of_kl[i]) && (probes & MHAR_PROBE_KL) == 0 && !mhar_uses_slice_norm (o))
      return mhar_bad_usage (error, "--%s is about --kl, and that is not asked for; leave it out", of_kl[i]);
  if (mhar_is_given (o, "match-sources") && (probes & MHAR_PROBE_KL) == 0)
    return mhar_bad_usage (error, "--match-sources is about --kl, and that is not asked for; leave it out");
  return TRUE;
}

static gboolean
check_long (const MharCliOptions *o, GError **error)
{
  if (o->checkpoint_every > 0 && o->output == NULL)
    return mhar_bad_usage (error, "--checkpoint-every saves beside the file of -o, and none is named; name it with -o FILE.h5");
  if (o->resume && o->checkpoint_every == 0)
    return mhar_bad_usage (error, "--resume goes on with what --checkpoint-every saved; give the same command as then, with both");
  return TRUE;
}

/* "-" is standard input for one option, and standard output for none. */
static gboolean
check_dashes (const MharCliOptions *o, GError **error)
{
  const struct {
    const char *option, *name, *remedy;
  } words[] = { { "-o", o->output, "writes an HDF5 file; name one, such as run.h5" },
                { "--save-reference", o->save_reference, "writes a file; name one, such as ours.safetensors" },
                { "--report", o->report, "writes files into a folder; name one" },
                { "--tokens", o->tokens, "reads a file; name one, or give text with --text -" },
                { "--config", o->config, "reads a file; name one" },
                { "--map", o->map, "reads a file; name one" },
                { "--verify", o->verify, "reads a file; name one" },
                { "--from", o->from, "reads a file; name one" } };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (g_strcmp0 (words[i].name, "-") == 0)
      return mhar_bad_usage (error, "%s takes no “-”: it %s", words[i].option, words[i].remedy);
  return TRUE;
}

static gboolean
check_output (const MharCliOptions *o, GError **error)
{
  const char *dot = o->figure != NULL ? strrchr (o->figure, '.') : NULL;

  if (o->report != NULL && *o->report == '\0')
    return mhar_bad_usage (error, "the name given to --report is empty; give that of a folder");
  if (o->report != NULL && o->output != NULL)
    return mhar_bad_usage (error, "--report writes report.h5 into its folder; leave out -o");
  if (o->save_weights != MHAR_SAVE_NO_WEIGHTS && o->output == NULL && o->report == NULL)
    return mhar_bad_usage (error, "--save-weights goes into the HDF5 file: name it with -o FILE.h5");
  if (o->figure != NULL &&
      (dot == NULL || (g_ascii_strcasecmp (dot, ".pdf") != 0 && g_ascii_strcasecmp (dot, ".svg") != 0 &&
                       g_ascii_strcasecmp (dot, ".png") != 0)))
    return mhar_bad_usage (error, "--figure writes .pdf, .svg or .png, by the name's ending, not “%s”", o->figure);
  return TRUE;
}

gboolean
mhar_cli_options_check (const MharCliOptions *o, GError **error)
{
  gboolean several;
  const Job *job = job_of (o, &several);

  if (o->help || o->version)
    return TRUE;
  if (several)
    return mhar_bad_usage (error, "--info, --sites, --weights-only, --verify, --save-reference, --merge, --from and --devices are separate jobs; choose one");
  if ((o->text != NULL) + (o->prompt != NULL) + (o->tokens != NULL) > 1)
    return mhar_bad_usage (error, "--text, --prompt and --tokens are three ways to give one input; choose one");
  return check_checkpoints (o, error) && check_dashes (o, error) && check_output (o, error) && check_long (o, error)
         && check_controls (o, error) && (job == NULL ? check_parts (o, error) : check_job (o, job, error))
         && check_about (o, error);
}
