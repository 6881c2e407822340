/* SPDX-License-Identifier: MIT */
/* What was run on what, and how to run it again. */
#include "app/cli/base-names.h"
#include "app/cli/jobs.h"
#include "app/cli/report-private.h"

#include <math.h>
#include <string.h>

#define LONGEST 300 /* characters of a path */

static char *
cell_string (const MharDataset *set, const char *name)
{
  return mhar_report_string (set, name);
}

static char *
cell_code (const MharDataset *set, const char *name)
{
  g_autofree char *text = mhar_report_string (set, name);
  gboolean cut = g_utf8_strlen (text, -1) > LONGEST; /* a row must fit on a page */
  g_autofree char *start = g_utf8_substring (text, 0, cut ? LONGEST : -1);
  return g_strconcat (MHAR_CODE, start, cut ? "…" : "", MHAR_PLAIN, NULL);
}

static char *
cell_integer (const MharDataset *set, const char *name)
{
  gint64 value = mhar_dataset_integer (set, name, -1);
  return value >= 0 ? g_strdup_printf ("%" G_GINT64_FORMAT, value) : g_strdup ("–");
}

static char *
cell_sources (const MharDataset *set, const char *name)
{
  const MharField *n = mhar_dataset_get (set, name);
  gint32 low = G_MAXINT32, high = 0;

  for (gsize i = 0; n != NULL && i < mhar_field_length (n); i++) {
    low = MIN (low, n->data.i32[i]);
    high = MAX (high, n->data.i32[i]);
  }
  return high > 0 ? g_strdup_printf ("%d to %d", low, high) : g_strdup ("–");
}

static char *
cell_extent (const MharDataset *set, const char *name G_GNUC_UNUSED)
{
  return g_strdup_printf ("%" G_GINT64_FORMAT " in %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT,
                          mhar_dataset_integer (set, "tokens", 0), mhar_dataset_integer (set, "windows", 0),
                          mhar_dataset_integer (set, "context", 0));
}

static char *
cell_child_extent (const MharDataset *set, const char *name)
{
  const MharDataset *child = mhar_dataset_find_child (set, name);

  if (child == NULL || mhar_dataset_integer (child, "tokens", 0) == 0)
    return g_strdup ("–");
  return g_strdup_printf ("%" G_GINT64_FORMAT " in %" G_GINT64_FORMAT, mhar_dataset_integer (child, "tokens", 0),
                          mhar_dataset_integer (child, "windows", 0));
}

static char *
cell_null (const MharDataset *set, const char *name G_GNUC_UNUSED)
{
  gint64 draws = mhar_dataset_integer (set, "draws", 0), tokens = mhar_dataset_integer (set, "null_tokens", 0);

  if (draws == 0)
    return g_strdup ("none");
  if (tokens > 0 && tokens < mhar_dataset_integer (set, "tokens", 0))
    return g_strdup_printf ("%" G_GINT64_FORMAT ", over %" G_GINT64_FORMAT " tokens", draws, tokens);
  return g_strdup_printf ("%" G_GINT64_FORMAT, draws);
}

static char *
cell_bootstrap (const MharDataset *set, const char *name G_GNUC_UNUSED)
{
  gint64 n = mhar_dataset_integer (set, "bootstrap_resamples", 0);

  return n > 0 ? g_strdup_printf ("%" G_GINT64_FORMAT " resamples, blocks of %" G_GINT64_FORMAT, n,
                                  mhar_dataset_integer (set, "bootstrap_block", 0))
               : g_strdup ("none");
}

static const struct {
  const char *label, *name;
  char *(*cell) (const MharDataset *set, const char *name);
} rows[] = {
  { "path", "path", cell_code },
  { "mode", "mode", cell_string },
  { "dialect", "dialect", cell_string },
  { "body", "model_type", cell_string },
  { "layers", "layers", cell_integer },
  { "width", "width", cell_integer },
  { "routing heads", "heads", cell_integer },
  { "reads (sites)", "sites", cell_integer },
  { "sources of a read", "n_sources", cell_sources },
  { "attention heads", "attention_heads", cell_integer },
  { "feed-forward width", "ffn", cell_integer },
  { "vocabulary", "vocab", cell_integer },
  { "stored as", "dtype", cell_string },
  { "tokens in windows", "", cell_extent },
  { "positions skipped in each", "skip_first", cell_integer },
  { "null draws", "", cell_null },
  { "intervals", "", cell_bootstrap },
  { "tokens of interventions", "interventions", cell_child_extent },
  { "tokens of the ablation map", "ablation_map", cell_child_extent },
};

/* Checkpoints from `first` on, as many as go side by side. */
static void
checkpoint_table (MharReport *r, guint first)
{
  guint n = MIN (r->sets->len - first, MHAR_REPORT_ABREAST);
  const char *columns[MHAR_REPORT_ABREAST + 2] = { "" };
  char align[MHAR_REPORT_ABREAST + 2] = "l";

  for (guint c = 0; c < n; c++) {
    columns[c + 1] = r->names[first + c];
    align[c + 1] = 'l';
  }
  mhar_document_table (r->document, columns, align, "The checkpoints and what was run.");
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    char *cells[MHAR_REPORT_ABREAST + 2] = { (char *)rows[i].label };
    gboolean any = FALSE;
    for (guint c = 0; c < n; c++) {
      cells[c + 1] = rows[i].cell (mhar_report_set (r, first + c), rows[i].name);
      any = any || strcmp (cells[c + 1], "–") != 0;
    }
    if (any)
      mhar_document_row (r->document, (const char *const *)cells);
    for (guint c = 0; c < n; c++)
      g_free (cells[c + 1]);
  }
}

static void
add_digests (MharReport *r)
{
  for (guint c = 0; c < r->sets->len; c++) {
    const MharDataset *set = mhar_report_set (r, c);
    gboolean files = mhar_dataset_string (set, "sha256_files") != NULL;
    g_autofree char *digest = mhar_report_string (set, files ? "sha256_files" : "sha256_routing");

    mhar_document_term (r->document, r->names[c], "SHA-256 of config.json%s: " MHAR_CODE "%s" MHAR_PLAIN,
                        files ? " and of every byte of the tensor files"
                              : ", the tensor files’ headers and the routing tensors",
                        digest);
  }
}

static void
add_warnings (MharReport *r)
{
  for (guint c = 0; c < r->sets->len; c++) {
    const char *const *warnings = mhar_dataset_strings (mhar_report_set (r, c), "warnings");
    for (guint w = 0; warnings != NULL && warnings[w] != NULL; w++) {
      g_autofree char *text = mhar_printable (warnings[w]);
      mhar_document_paragraph (r->document, MHAR_STRONG "Warning, %s:" MHAR_PLAIN " %s.", r->names[c], text);
    }
  }
}

void
mhar_report_setup (MharReport *r)
{
  const MharDataset *p = r->provenance;
  g_autofree char *text = mhar_report_string (p, "text"), *digest = mhar_report_string (p, "text_sha256");
  g_autofree char *device = mhar_report_string (p, "device"), *name = mhar_report_string (p, "device_name");
  g_autofree char *precision = mhar_report_string (p, "precision"), *seed = mhar_report_string (p, "seed");
  g_autofree char *version = mhar_report_string (p, "version"), *hdf5 = mhar_report_string (p, "hdf5_version");
  g_autofree char *command = mhar_report_string (p, "command");

  mhar_document_heading (r->document, 1, "Setup");
  for (guint c = 0; c < r->sets->len; c += MHAR_REPORT_ABREAST)
    checkpoint_table (r, c);
  add_warnings (r);
  add_digests (r);
  gboolean encoded
      = mhar_dataset_string (mhar_report_set (r, 0), "sha256_tokenizer") != NULL; /* and not given as ids */
  mhar_document_term (
      r->document, "Text", "%s, %" G_GINT64_FORMAT " tokens in all%s, SHA-256 " MHAR_CODE "%s" MHAR_PLAIN, text,
      mhar_dataset_integer (p, "text_tokens", 0), encoded ? " by the first checkpoint’s tokenizer" : "", digest);
  mhar_document_term (r->document, "Device", "%s (%s), precision %s; routing logits and weights in fp32 or better",
                      device, name, precision);
  mhar_document_term (r->document, "Seed", "%s, of null queries and resamples alike", seed);
  mhar_document_term (r->document, "Program", "%s, HDF5 %s", version, hdf5);
  mhar_document_paragraph (r->document, "The command, as it was given:");
  mhar_document_code (r->document, command);
}

static char *
python_string (const char *text)
{
  char high[129] = { 0 };

  for (guint i = 0; i < 128; i++)
    high[i] = (char)(128 + i);
  g_autofree char *escaped = g_strescape (text, high);
  return g_strconcat ("\"", escaped, "\"", NULL);
}

/* What can be made of the file, in the shell and in Python. */
static void
say_file (MharReport *r, const char *written)
{
  g_autofree char *own = g_path_get_basename (r->file), *name = g_utf8_make_valid (written != NULL ? written : own, -1);
  g_autofree char *shown = mhar_printable (name), *word = mhar_command_word (name);
  g_autofree char *shell = g_strdup_printf ("mhar-probe --from %s --report again\n"
                                            "mhar-probe --from %s --json\n"
                                            "mhar-probe --from %s --table latex\n"
                                            "mhar-probe --from %s --figure figure.pdf --figure-kind kl",
                                            word, word, word, word);
  g_autofree char *quoted = python_string (name);
  g_autofree char *python
      = g_strdup_printf ("import xarray\nrun = xarray.open_dataset(%s, group=\"checkpoint_0\")", quoted);

  mhar_document_paragraph (
      r->document,
      "The file " MHAR_CODE "%s" MHAR_PLAIN "%s holds every number here and the sums of each window "
      "behind every mean. Without the checkpoints it gives this report again, and its tables and figures one by one:",
      shown, written != NULL ? " that the command writes" : "");
  mhar_document_code (r->document, shell);
  mhar_document_paragraph (r->document, "In Python each checkpoint is a dataset with labelled dimensions:");
  mhar_document_code (r->document, python);
}

void
mhar_report_reproduce (MharReport *r)
{
  g_autofree char *command = mhar_report_string (r->provenance, "command");
  g_autofree char *version = mhar_report_string (r->provenance, "version"), *written = mhar_cli_output_of (command);
  gboolean merged = mhar_dataset_strings (r->provenance, "merged") != NULL;

  mhar_document_heading (r->document, 1, "How to reproduce this");
  mhar_document_paragraph (r->document, "With %s and the %s of Section 2, whose digests are given there:", version,
                           merged ? "saved runs of the checkpoints over the texts" : "checkpoints and text");
  mhar_document_code (r->document, command);
  mhar_document_paragraph (r->document, "The same command on the same device gives the same numbers to the last bit. "
                                        "On another device of the same precision, with another number "
                                        "of threads or another batch, they move by rounding only. Null queries and "
                                        "resamples come from the seed and not from the device.");
  say_file (r, written);
}
