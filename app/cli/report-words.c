/* SPDX-License-Identifier: MIT */
#include "app/cli/jobs.h"
#include "app/cli/report-private.h"
#include "app/cli/table-numbers.h"

#include <math.h>
#include <string.h>

#define NOTHING "–"
#define PLUS_MINUS " ± "

const MharDataset *
mhar_report_set (const MharReport *report, guint c)
{
  return g_ptr_array_index (report->sets, c);
}

char *
mhar_report_typeset (char *text)
{
  GString *out = g_string_new (NULL);
  gboolean inside = FALSE;

  for (const char *at = text; *at != '\0'; at++) {
    inside = *at == '[' || (inside && *at != ']');
    if (*at == '-' && g_ascii_isdigit (at[1]))
      g_string_append (out, "−");
    else if (g_str_has_prefix (at, PLUS_MINUS)) {
      g_string_append (out, "\u00A0±\u00A0");
      at += strlen (PLUS_MINUS) - 1;
    } else if (inside && g_str_has_prefix (at, ", ")) {
      g_string_append (out, MHAR_REPORT_COMMA);
      at++;
    } else
      g_string_append_c (out, *at);
  }
  g_free (text);
  return g_string_free (out, FALSE);
}

char *
mhar_report_number (double value)
{
  return isnan (value) ? g_strdup (NOTHING) : mhar_report_typeset (mhar_table_number (value));
}

char *
mhar_report_interval (double value, double low, double high)
{
  return isnan (value) ? g_strdup (NOTHING) : mhar_report_typeset (mhar_table_interval (value, low, high));
}

double
mhar_report_real (const MharDataset *set, const char *prefix, const char *end)
{
  g_autofree char *name = g_strconcat (prefix, end, NULL);
  return mhar_dataset_real (set, name, NAN);
}

char *
mhar_report_scalar (const MharDataset *set, const char *name)
{
  if (mhar_dataset_has_real (set, name) && !isfinite (mhar_dataset_real (set, name, NAN)))
    return g_strdup ("n/a");
  return mhar_report_interval (mhar_dataset_real (set, name, NAN), mhar_report_real (set, name, "_low"),
                               mhar_report_real (set, name, "_high"));
}

char *
mhar_report_spread (double value, double sd)
{
  return isnan (value) ? g_strdup (NOTHING) : mhar_report_typeset (mhar_table_spread (value, sd, NAN, NAN));
}

char *
mhar_report_null (const MharDataset *set, const char *prefix)
{
  double null = mhar_report_real (set, prefix, "_null"), sd = mhar_report_real (set, prefix, "_null_sd");

  return mhar_report_spread (null, sd);
}

double
mhar_report_value (const MharDataset *set, const char *name, gsize i)
{
  const MharField *field = mhar_dataset_get (set, name);
  return field != NULL && i < mhar_field_length (field) ? mhar_field_value (field, i) : NAN;
}

char *
mhar_report_string (const MharDataset *set, const char *name)
{
  const char *text = mhar_dataset_string (set, name);
  return text != NULL && *text != '\0' ? mhar_printable (text) : g_strdup (NOTHING);
}

char *
mhar_report_label (const MharDataset *set, const char *name, gsize i)
{
  const MharField *field = mhar_dataset_get (set, name);
  gboolean there = field != NULL && field->type == MHAR_FIELD_STRING && i < mhar_field_length (field);

  return there && field->data.str[i] != NULL ? mhar_printable (field->data.str[i]) : g_strdup (NOTHING);
}

char *
mhar_report_count (gint64 n)
{
  static const char *const words[]
      = { "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve" };
  return n >= 0 && n < (gint64)G_N_ELEMENTS (words) ? g_strdup (words[n]) : g_strdup_printf ("%" G_GINT64_FORMAT, n);
}

char *
mhar_report_extent (const MharDataset *child, const MharDataset *set)
{
  gint64 tokens = mhar_dataset_integer (child, "tokens", mhar_dataset_integer (set, "tokens", 0));
  gint64 windows = mhar_dataset_integer (child, "windows", mhar_dataset_integer (set, "windows", 0));

  return g_strdup_printf ("%" G_GINT64_FORMAT " token%s in %" G_GINT64_FORMAT " window%s", tokens,
                          tokens == 1 ? "" : "s", windows, windows == 1 ? "" : "s");
}

gboolean
mhar_report_has_intervals (const MharDataset *set)
{
  return mhar_dataset_integer (set, "bootstrap_resamples", 0) > 0;
}

char *
mhar_report_brackets (const MharReport *report, guint first, guint n)
{
  gboolean intervals = FALSE, spread = FALSE;

  for (guint c = first; c < first + n; c++) {
    intervals = intervals || mhar_report_has_intervals (mhar_report_set (report, c));
    spread = spread || mhar_dataset_integer (mhar_report_set (report, c), "draws", 0) > 1;
  }
  return g_strconcat (intervals ? "Brackets hold 95 % intervals over resampled windows"
                                : "There are no intervals with fewer than three windows",
                      spread && intervals ? ", ± the standard deviation over draws of the null."
                      : spread            ? "; ± is the standard deviation over draws of the null."
                                          : ".",
                      NULL);
}

const char *
mhar_report_null_words (const MharDataset *set)
{
  const char *kind = mhar_dataset_string (set, "null_kind");
  gboolean slices = g_strcmp0 (mhar_dataset_string (set, "null_norm"), "slice") == 0;

  if (g_strcmp0 (kind, "shuffled") == 0)
    return slices ? "the trained queries with their coordinates shuffled, brought to the norms of their slices"
                  : "the trained queries with their coordinates shuffled";
  if (g_strcmp0 (kind, "swapped") == 0)
    return "the trained queries of other reads, brought to the same norm";
  return slices ? "random queries whose slices have the same norms" : "random queries of the same norm";
}

char *
mhar_report_verdict (const MharDataset *set, const char *p_name)
{
  static const char *const words[]
      = { [MHAR_VERDICT_ABOVE] = "is " MHAR_STRONG "distinguishable from its null" MHAR_PLAIN,
          [MHAR_VERDICT_ALIKE] = "is " MHAR_STRONG "not distinguishable from its null" MHAR_PLAIN " at this size",
          [MHAR_VERDICT_BELOW] = "lies " MHAR_STRONG "below its null" MHAR_PLAIN,
          [MHAR_VERDICT_TOO_FEW] = MHAR_STRONG "cannot be told from its null" MHAR_PLAIN " with so few draws" };
  MharVerdict verdict = mhar_verdict_of (set, p_name);
  gint64 draws = mhar_dataset_integer (set, "draws", 0);
  g_autofree char *number = mhar_report_number (mhar_dataset_real (set, p_name, NAN));

  if (verdict == MHAR_VERDICT_NONE)
    return NULL;
  return g_strdup_printf ("%s (p = %s, %" G_GINT64_FORMAT " draw%s)", words[verdict], number, draws,
                          draws == 1 ? "" : "s");
}

const char *
mhar_report_verdict_cell (MharVerdict verdict)
{
  static const char *const words[] = { [MHAR_VERDICT_NONE] = NOTHING,
                                       [MHAR_VERDICT_ABOVE] = "above its null",
                                       [MHAR_VERDICT_ALIKE] = (MHAR_STRONG "not distinguishable" MHAR_PLAIN),
                                       [MHAR_VERDICT_BELOW] = "below its null",
                                       [MHAR_VERDICT_TOO_FEW] = "too few draws" };
  return words[verdict];
}

MharVerdict
mhar_report_control_verdict (const MharDataset *set, gsize i)
{
  const MharDataset *controls = mhar_dataset_find_child (set, "controls");

  return mhar_verdict (mhar_report_value (controls, "p_value", i), mhar_dataset_integer (set, "draws", 0),
                       mhar_report_value (controls, "excess", i));
}

guint
mhar_report_count_controls (const MharDataset *set, guint counts[MHAR_VERDICT_TOO_FEW + 1])
{
  const MharDataset *controls = mhar_dataset_find_child (set, "controls");
  const MharField *p = controls != NULL ? mhar_dataset_get (controls, "p_value") : NULL;

  memset (counts, 0, (MHAR_VERDICT_TOO_FEW + 1) * sizeof *counts);
  for (gsize i = 0; p != NULL && i < p->shape[0]; i++)
    counts[mhar_report_control_verdict (set, i)]++;
  return p != NULL ? (guint)p->shape[0] - counts[MHAR_VERDICT_NONE] : 0;
}

gboolean
mhar_report_largest_cell (const MharDataset *map, gsize *at)
{
  const MharField *delta = mhar_dataset_get (map, "delta_loss");
  double most = -1;

  for (gsize i = 0; delta != NULL && i < mhar_field_length (delta); i++)
    if (fabs (mhar_field_value (delta, i)) > most) {
      most = fabs (mhar_field_value (delta, i));
      *at = i;
    }
  return most >= 0;
}

char *
mhar_report_change (const MharDataset *set, gsize i)
{
  double delta = mhar_report_value (set, "delta_loss", i), low = mhar_report_value (set, "delta_loss_interval", 2 * i);
  double high = mhar_report_value (set, "delta_loss_interval", 2 * i + 1);

  return isnan (delta) ? g_strdup (NOTHING) : mhar_report_typeset (mhar_table_change (delta, low, high));
}

gboolean
mhar_report_find_intervention (const MharDataset *set, const char *spec, gsize *at)
{
  const MharDataset *list = mhar_dataset_find_child (set, "interventions");
  const MharField *own = list != NULL ? mhar_dataset_get (list, "spec") : NULL;

  for (gsize k = 0; own != NULL && k < own->shape[0]; k++)
    if (g_strcmp0 (own->data.str[k], spec) == 0) {
      *at = k;
      return TRUE;
    }
  return FALSE;
}
