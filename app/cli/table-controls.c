/* SPDX-License-Identifier: MIT */
/* Rows that depend on what was asked for: a line a control, a column a checkpoint. */
#include "app/cli/table-rows.h"

#include "app/cli/jobs.h"
#include "app/cli/table-numbers.h"
#include "probes/verdict.h"

#include <math.h>
#include <string.h>

static const MharDataset *
controls_of (const GPtrArray *sets, guint c)
{
  return mhar_dataset_find_child (g_ptr_array_index ((GPtrArray *)sets, c), "controls");
}

static gsize
n_controls (const MharDataset *controls)
{
  return controls != NULL ? mhar_dataset_get (controls, "trained")->shape[0] : 0;
}

/* Text of control i, printable whatever the file holds. */
static char *
text_of (const MharDataset *controls, const char *name, gsize i)
{
  const char *text = mhar_dataset_get (controls, name)->data.str[i];
  return mhar_printable (text != NULL ? text : "");
}

static gint32
integer_of (const MharDataset *controls, const char *name, gsize i)
{
  return mhar_dataset_get (controls, name)->data.i32[i];
}

/* Whether the null keeps the norm of each slice. */
static gboolean
is_by_slice (const MharDataset *controls, gsize i)
{
  const MharField *norm = mhar_dataset_get (controls, "null_norm"); /* files of before have none */
  return norm != NULL && g_strcmp0 (norm->data.str[i], "slice") == 0;
}

char *
mhar_table_control_name (const MharDataset *controls, gsize i)
{
  g_autofree char *measure = text_of (controls, "measure", i), *slicing = text_of (controls, "slicing", i);
  g_autofree char *of_kind = text_of (controls, "null_kind", i);
  g_autofree char *kind = g_strconcat (of_kind, is_by_slice (controls, i) ? "-slice" : "", NULL);
  g_autofree char *slices = g_strdup_printf ("%d", integer_of (controls, "slices", i));

  return integer_of (controls, "slices", i) == 0 ? g_strjoin (":", measure, kind, NULL)
                                                 : g_strjoin (":", measure, slices, slicing, kind, NULL);
}

/* "4 contiguous, random null"; by slices of a width: "16 wide, contiguous, random null"; "heads, random null, norm by
 * slice". */
static char *
label_of (const MharDataset *controls, gsize i, gboolean by_width)
{
  g_autofree char *slicing = text_of (controls, "slicing", i), *of_kind = text_of (controls, "null_kind", i);
  g_autofree char *null = g_strconcat (of_kind, " null", is_by_slice (controls, i) ? ", norm by slice" : "", NULL);
  gint32 slices = integer_of (controls, "slices", i);

  if (slices == 0)
    return g_strdup_printf ("heads, %s", null);
  return by_width ? g_strdup_printf ("%d wide %s, %s", integer_of (controls, "slice_width", i), slicing, null)
                  : g_strdup_printf ("%d %s, %s", slices, slicing, null);
}

static double
value_of (const MharDataset *controls, const char *name, gsize i)
{
  const MharField *field = mhar_dataset_get (controls, name);
  return field != NULL ? mhar_field_value (field, i) : NAN;
}

/* "0.1763 - 0.0301 = 0.1462 [0.1401, 0.1523], p 0.0303"; what does not beat its null says so. */
static char *
cell_of (const MharDataset *set, const MharDataset *controls, gsize i)
{
  double p = value_of (controls, "p_value", i);
  g_autofree char *trained = mhar_table_number (value_of (controls, "trained", i));

  if (isnan (value_of (controls, "null", i)))
    return mhar_table_interval (value_of (controls, "trained", i), value_of (controls, "trained_low", i),
                                value_of (controls, "trained_high", i));
  g_autofree char *null = mhar_table_number (value_of (controls, "null", i)), *p_text = mhar_table_number (p);
  g_autofree char *excess = mhar_table_interval (value_of (controls, "excess", i), value_of (controls, "excess_low", i),
                                                 value_of (controls, "excess_high", i));
  MharVerdict verdict = mhar_verdict (p, mhar_dataset_integer (set, "draws", 0), value_of (controls, "excess", i));
  g_autofree char *words = verdict == MHAR_VERDICT_ABOVE ? NULL : mhar_table_verdict (verdict);
  char *from = words != NULL ? strstr (words, " from its null") : NULL; /* the row says which null */
  if (from != NULL)
    *from = '\0';
  return g_strdup_printf ("%s - %s = %s, p %s%s%s", trained, null, excess, p_text, words != NULL ? " " : "",
                          words != NULL ? words : "");
}

/* The control of a set that has this label; n_controls where none has. */
static gsize
find (const MharDataset *controls, const char *label, gboolean by_width)
{
  for (gsize i = 0; i < n_controls (controls); i++) {
    g_autofree char *own = label_of (controls, i, by_width);
    if (strcmp (own, label) == 0)
      return i;
  }
  return n_controls (controls);
}

/* Whether sets of different model widths have it: else there is nothing to hold against each other. */
static gboolean
compares_widths (const GPtrArray *sets, const char *label)
{
  gint64 first = -1;

  for (guint c = 0; c < sets->len; c++) {
    const MharDataset *controls = controls_of (sets, c);
    gint64 width = mhar_dataset_integer (g_ptr_array_index ((GPtrArray *)sets, c), "width", 0);
    if (find (controls, label, TRUE) == n_controls (controls))
      continue;
    if (first >= 0 && width != first)
      return TRUE;
    first = width;
  }
  return FALSE;
}

static char **
line_of (const GPtrArray *sets, const char *label, gboolean by_width)
{
  char **line = g_new0 (char *, sets->len + 2);

  line[0] = g_strdup (label);
  for (guint c = 0; c < sets->len; c++) {
    const MharDataset *controls = controls_of (sets, c);
    gsize i = find (controls, label, by_width);
    line[c + 1]
        = i < n_controls (controls) ? cell_of (g_ptr_array_index ((GPtrArray *)sets, c), controls, i) : g_strdup ("—");
  }
  return line;
}

static void
add_lines (const GPtrArray *sets, GPtrArray *lines, const char *heading, gboolean by_width)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint c = 0; c < sets->len; c++) {
    const MharDataset *controls = controls_of (sets, c);
    for (gsize i = 0; i < n_controls (controls); i++) {
      char *label = label_of (controls, i, by_width);
      gboolean wanted = !by_width || (integer_of (controls, "slices", i) > 0 && compares_widths (sets, label));
      if (wanted && !g_hash_table_contains (seen, label)) {
        if (g_hash_table_size (seen) == 0) {
          char **head = g_new0 (char *, 2);
          head[0] = g_strdup (heading);
          g_ptr_array_add (lines, head);
        }
        g_ptr_array_add (lines, line_of (sets, label, by_width));
      }
      g_hash_table_add (seen, label);
      if (!wanted)
        g_hash_table_remove (seen, label);
    }
  }
}

void
mhar_table_add_controls (const GPtrArray *sets, GPtrArray *lines)
{
  add_lines (sets, lines, "Controls: trained - null = excess (nat)", FALSE);
  add_lines (sets, lines, "Width control: slices of one width (nat)", TRUE);
}
