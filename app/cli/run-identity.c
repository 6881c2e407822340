/* SPDX-License-Identifier: MIT */
#include "app/cli/run-identity.h"

#include "app/cli/option-table.h"
#include "core/digest.h"
#include "core/error.h"
#include "core/input.h"
#include "core/provenance.h"

#include <string.h>

#define NAMED 4 /* differences that a refusal names */

/* Options that change no number of a run, and those of which something better is compared: contents, not names. */
static const char ignored[] = "|all|text|prompt|tokens|device|precision|config|map|strict|output|digest|table|json|figure|"
                              "figure-kind|first-sites|theme|style|private|quiet|progress|checkpoint-every|resume|info|"
                              "sites|weights-only|verify|save-reference|tolerance|from|merge|devices|version|help|";

static gboolean
is_ignored (const char *name)
{
  g_autofree char *word = g_strdup_printf ("|%s|", name);
  return strstr (ignored, word) != NULL;
}

/* All values of an option that may be given more than once, as they were given. */
static char *
given_values (const MharCliOptions *o, const MharOptionRow *row)
{
  GString *list = g_string_new (NULL);

  for (guint i = 0; i < o->given->len; i++)
    if (strcmp (g_ptr_array_index (o->given, i), row->name) == 0)
      g_string_append_printf (list, "%s%s", list->len > 0 ? "," : "", (const char *)g_ptr_array_index (o->values, i));
  return g_string_free (list, FALSE);
}

static char *
value_of (const MharCliOptions *o, const MharOptionRow *row)
{
  const void *field = (const guint8 *)o + row->offset;
  g_auto (GStrv) choices = row->kind == MHAR_OPTION_CHOICE ? g_strsplit (row->choices, "|", -1) : NULL;

  switch (row->kind) {
  case MHAR_OPTION_FLAG:
    return g_strdup (*(const gboolean *)field ? "yes" : "no");
  case MHAR_OPTION_BITS:
    return g_strdup ((*(const guint *)field & row->low) == row->low ? "yes" : "no");
  case MHAR_OPTION_COUNT:
    return g_strdup_printf ("%u", *(const guint *)field);
  case MHAR_OPTION_WIDE:
    return g_strdup_printf ("%" G_GUINT64_FORMAT, *(const guint64 *)field);
  case MHAR_OPTION_CHOICE:
    return g_strdup (choices[*(const int *)field]);
  case MHAR_OPTION_WORD: /* a folder: whether there is one */
    return g_strdup (*(char *const *)field != NULL ? "yes" : "no");
  default:
    return mhar_is_given (o, row->name) ? given_values (o, row)
                                        : g_strdup (row->if_absent != NULL ? row->if_absent : "none");
  }
}

/* A report chooses for itself what is not given. */
static void
add_options (MharDataset *set, const MharCliOptions *o)
{
  for (const MharOptionGroup *g = mhar_option_groups; g->title != NULL; g++)
    for (const MharOptionRow *row = g->rows; row->name != NULL; row++) {
      g_autofree char *name = g_strconcat ("--", row->name, NULL);
      gboolean chosen = o->report != NULL && !mhar_is_given (o, row->name) && row->kind != MHAR_OPTION_BITS;
      g_autofree char *value = chosen ? g_strdup ("as --report chooses") : value_of (o, row);
      if (!is_ignored (row->name))
        mhar_dataset_set_string (set, name, value);
    }
}

static gboolean
add_checkpoints (MharDataset *set, const MharRunCheckpoints *c, GCancellable *cancellable, GError **error)
{
  for (guint i = 0; i < c->opened->len; i++) {
    const MharOpened *opened = g_ptr_array_index (c->opened, i);
    g_autofree char *name = g_strdup_printf ("checkpoint %u", i + 1);
    g_autofree char *base = g_filename_display_basename (mhar_checkpoint_path (opened->checkpoint));
    g_autofree char *digest = mhar_checkpoint_digest (
        opened->checkpoint, (const char *const *)opened->plan->routing->pdata, FALSE, cancellable, error);
    if (digest == NULL)
      return FALSE;
    g_autofree char *what = g_strdup_printf ("%s, SHA-256 %s", base, digest);
    mhar_dataset_set_string (set, name, what);
  }
  return TRUE;
}

static gboolean
add_map (MharDataset *set, const MharCliOptions *o, GCancellable *cancellable, GError **error)
{
  g_autoptr (GMappedFile) file = o->map != NULL ? mhar_input_map (o->map, 0, error) : NULL;
  g_autoptr (GBytes) bytes = file != NULL ? g_mapped_file_get_bytes (file) : NULL;
  g_autofree char *digest = bytes != NULL ? mhar_digest_bytes (bytes, cancellable, error) : NULL;

  mhar_dataset_set_string (set, "--map", digest != NULL ? digest : "none");
  return o->map == NULL || digest != NULL;
}

MharDataset *
mhar_run_identity (const MharCliOptions *options, const MharTokenSource *source, const MharRunCheckpoints *checkpoints,
                   const MharDevice *device, GCancellable *cancellable, GError **error)
{
  g_autoptr (MharDataset) set = mhar_dataset_new ("identity");
  g_autofree char *text = g_strdup_printf ("%s, SHA-256 %s", source->name, source->digest);

  add_options (set, options);
  mhar_dataset_set_string (set, "text", text);
  if (!add_map (set, options, cancellable, error) || !add_checkpoints (set, checkpoints, cancellable, error))
    return NULL;
  mhar_dataset_set_string (set, "device", mhar_device_spec (device));
  mhar_dataset_set_string (set, "precision", mhar_device_precision_name (device));
  mhar_dataset_set_string (set, "version", mhar_version ());
  return g_steal_pointer (&set);
}

/* Appends "another --seed (then 0, now 1)" where they differ; counts them. */
static void
compare (GString *list, guint *n, const MharDataset *own, const MharDataset *saved, const char *name)
{
  const char *now = mhar_dataset_string (own, name), *then = mhar_dataset_string (saved, name);

  if (g_strcmp0 (now, then) == 0 || ++*n > NAMED)
    return;
  g_string_append_printf (list, "%sanother %s (then %s, now %s)", list->len > 0 ? ", " : "", name,
                          then != NULL ? then : "none", now != NULL ? now : "none");
}

gboolean
mhar_run_identity_check (const MharDataset *own, const MharDataset *saved, const char *name, GError **error)
{
  g_autoptr (GString) list = g_string_new (NULL);
  guint n = 0;

  for (guint a = 0; a < mhar_dataset_n_attributes (own); a++)
    compare (list, &n, own, saved, mhar_dataset_attribute (own, a)->name);
  for (guint a = 0; a < mhar_dataset_n_attributes (saved); a++) /* a checkpoint that is no longer there, say */
    if (mhar_dataset_string (own, mhar_dataset_attribute (saved, a)->name) == NULL)
      compare (list, &n, own, saved, mhar_dataset_attribute (saved, a)->name);
  if (n == 0)
    return TRUE;
  return mhar_bad_usage (error, "%s is of a run with %s%s; give the same, or remove the folder to start anew", name,
                         list->str, n > NAMED ? " and more" : "");
}
