/* SPDX-License-Identifier: MIT */
/* Which options go together: one that would be ignored is refused, so that nobody waits for what will not come. */
#include "app/cli/options.h"

#include <string.h>

/* The option that asks for another job than a run; NULL where none does. *several: more than one. */
static const char *
job_of (const MharCliOptions *o, gboolean *several)
{
  const struct {
    gboolean asked;
    const char *name;
  } jobs[] = { { o->devices, "--devices" }, { o->info, "--info" }, { o->sites, "--sites" },
               { o->weights_only, "--weights-only" },
               { o->verify != NULL, "--verify" }, { o->from != NULL, "--from" } };
  const char *found = NULL;

  *several = FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (jobs); i++) {
    *several |= jobs[i].asked && found != NULL;
    found = jobs[i].asked ? jobs[i].name : found;
  }
  return found;
}

/* What only a run has. */
static gboolean
check_job (const MharCliOptions *o, const char *job, GError **error)
{
  if (o->text != NULL || o->prompt != NULL || o->tokens != NULL)
    return mhar_bad_usage (error, "%s takes no input; leave out --text, --prompt and --tokens", job);
  if (o->output != NULL && !o->weights_only)
    return mhar_bad_usage (error, "-o saves a run, and %s makes none; leave one of them out", job);
  if (o->figure != NULL && o->from == NULL)
    return mhar_bad_usage (error, "--figure draws a run, and %s makes none; leave one of them out", job);
  if (o->json && (o->verify != NULL || o->devices))
    return mhar_bad_usage (error, "%s prints text only; leave out --json", job);
  return TRUE;
}

static gboolean
check_checkpoints (const MharCliOptions *o, GError **error)
{
  gboolean none = o->checkpoints[0] == NULL;

  if (!none && o->from != NULL)
    return mhar_bad_usage (error, "--from reads a saved run and takes no checkpoint");
  if (o->config != NULL && none)
    return mhar_bad_usage (error, "--config is about a checkpoint, and none is given; leave it out");
  if (o->map != NULL && none)
    return mhar_bad_usage (error, "--map is about a checkpoint, and none is given; leave it out");
  if (!none && o->devices)
    return mhar_bad_usage (error, "--devices takes no checkpoint");
  if (none && o->from == NULL && !o->devices)
    return mhar_bad_usage (error, "no checkpoint: give the folder that holds config.json, or see mhar-probe --help");
  if (o->verify != NULL && o->checkpoints[1] != NULL)
    return mhar_bad_usage (error, "--verify takes one checkpoint");
  return TRUE;
}

static gboolean
check_output (const MharCliOptions *o, GError **error)
{
  const char *dot = o->figure != NULL ? strrchr (o->figure, '.') : NULL;

  if (o->save_weights != MHAR_SAVE_NO_WEIGHTS && o->output == NULL)
    return mhar_bad_usage (error, "--save-weights goes into the HDF5 file: name it with -o FILE.h5");
  if (o->figure != NULL &&
      (dot == NULL || (g_ascii_strcasecmp (dot, ".pdf") != 0 && g_ascii_strcasecmp (dot, ".svg") != 0 &&
                       g_ascii_strcasecmp (dot, ".png") != 0)))
    return mhar_bad_usage (error, "--figure writes .pdf, .svg or .png, by the name's ending, not “%s”", o->figure);
  if (o->figure != NULL && g_strcmp0 (o->figure, o->output) == 0)
    return mhar_bad_usage (error, "-o and --figure name the same file; give each its own");
  return TRUE;
}

gboolean
mhar_cli_options_check (const MharCliOptions *o, GError **error)
{
  gboolean several;
  const char *job = job_of (o, &several);

  if (o->help || o->version)
    return TRUE;
  if (several)
    return mhar_bad_usage (error, "--info, --sites, --weights-only, --verify, --from and --devices are separate jobs; choose one");
  if ((o->text != NULL) + (o->prompt != NULL) + (o->tokens != NULL) > 1)
    return mhar_bad_usage (error, "--text, --prompt and --tokens are three ways to give one input; choose one");
  return check_checkpoints (o, error) && check_output (o, error) && (job == NULL || check_job (o, job, error));
}
