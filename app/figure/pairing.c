/* SPDX-License-Identifier: MIT */
/* Pairing by label. */
#include "app/figure/pairing.h"

#include "app/figure/figure-data.h"
#include "core/error.h"

#include <string.h>

#define MAX_SIDE 8192
#define MAX_CELLS (1u << 22)

/* Labels of one dataset in order, each once. */
typedef struct {
  GPtrArray *labels; /* owned strings */
  GHashTable *place; /* label -> index + 1; borrows the strings */
} Labels;

static void
labels_init (Labels *labels)
{
  labels->labels = g_ptr_array_new_with_free_func (g_free);
  labels->place = g_hash_table_new (g_str_hash, g_str_equal);
}

static void
labels_clear (Labels *labels)
{
  g_hash_table_unref (labels->place);
  g_ptr_array_unref (labels->labels);
}

static gboolean
labels_has (const Labels *labels, const char *label)
{
  return g_hash_table_contains (labels->place, label);
}

/* Takes the label. */
static void
labels_add (Labels *labels, char *label)
{
  if (labels_has (labels, label)) {
    g_free (label);
    return;
  }
  g_ptr_array_add (labels->labels, label);
  g_hash_table_insert (labels->place, label, GUINT_TO_POINTER (labels->labels->len));
}

/* Index of the label; G_MAXUINT where it is not there. */
static guint
labels_find (const Labels *labels, const char *label)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (labels->place, label)) - 1;
}

/* A site or source without a label goes by its place. */
static char *
label_of (const MharDataset *set, const char *name, guint i, guint j, guint place)
{
  char *label = mhar_figure_label (set, name, i, j);

  return label ? label : g_strdup_printf ("%u", place);
}

static void
collect_sites (Labels *labels, const MharDataset *set, guint sites)
{
  for (guint i = 0; i < sites; i++)
    labels_add (labels, label_of (set, "site_label", i, 0, i));
}

static void
collect_sources (Labels *labels, const MharDataset *set, const MharField *field)
{
  for (guint i = 0; i < field->shape[0] && labels->labels->len <= MAX_SIDE; i++) {
    guint n = (guint)mhar_figure_n_sources (set, field, i);

    for (guint j = 0; j < n; j++)
      labels_add (labels, label_of (set, "source_label", i, j, j));
  }
}

/* Both lists in one: what is in one of them only comes before what follows it there. */
static void
merge (const Labels *a, const Labels *b, Labels *both)
{
  guint i = 0, j = 0, n = a->labels->len, m = b->labels->len;

  while (i < n || j < m) {
    const char *x = i < n ? g_ptr_array_index (a->labels, i) : NULL,
               *y = j < m ? g_ptr_array_index (b->labels, j) : NULL;

    if (x && labels_has (both, x))
      i++;
    else if (y && labels_has (both, y))
      j++;
    else if (!x || (y && labels_has (b, x) && !labels_has (a, y)))
      labels_add (both, g_strdup (y));
    else
      labels_add (both, g_strdup (x));
  }
}

static void
pair_sites (MharPairing *p, guint which, const Labels *rows, const MharDataset *set, const MharField *field)
{
  guint sites = (guint)field->shape[0];

  p->sites[which] = g_new (guint, MAX (p->n_rows, 1));
  memset (p->sites[which], 0xff, p->n_rows * sizeof (guint));
  for (guint i = sites; i-- > 0;) { /* the first of a label that comes twice stays */
    g_autofree char *label = label_of (set, "site_label", i, 0, i);
    guint row = labels_find (rows, label);

    if (row < p->n_rows)
      p->sites[which][row] = i;
  }
}

static void
pair_sources (MharPairing *p, guint which, const Labels *columns, const MharDataset *set, const MharField *field)
{
  gsize cells = (gsize)p->n_rows * p->n_columns;

  p->sources[which] = g_new (guint, MAX (cells, 1));
  memset (p->sources[which], 0xff, cells * sizeof (guint));
  for (guint row = 0; row < p->n_rows; row++) {
    guint site = p->sites[which][row], n = site < G_MAXUINT ? (guint)mhar_figure_n_sources (set, field, site) : 0;

    for (guint j = n; j-- > 0;) {
      g_autofree char *label = label_of (set, "source_label", site, j, j);
      guint column = labels_find (columns, label);

      if (column < p->n_columns)
        p->sources[which][(gsize)row * p->n_columns + column] = j;
    }
  }
}

static char **
copy_labels (const Labels *labels)
{
  char **strings = g_new (char *, MAX (labels->labels->len, 1));

  for (guint i = 0; i < labels->labels->len; i++)
    strings[i] = g_strdup (g_ptr_array_index (labels->labels, i));
  return strings;
}

static MharPairing *
pair (const MharDataset *const *sets, const MharField *const *fields, const Labels *rows, const Labels *columns)
{
  MharPairing *p = g_new0 (MharPairing, 1);

  p->n_rows = rows->labels->len;
  p->n_columns = columns->labels->len;
  for (guint which = 0; which < 2; which++) {
    pair_sites (p, which, rows, sets[which], fields[which]);
    pair_sources (p, which, columns, sets[which], fields[which]);
  }
  p->rows = copy_labels (rows);
  p->columns = copy_labels (columns);
  return p;
}

/* The labels of either dataset, and as the third the merged ones. FALSE where they are too many. */
static gboolean
collect (const MharDataset *const *sets, const MharField *const *fields, Labels *sites, Labels *sources)
{
  for (guint i = 0; i < 2; i++) {
    if (fields[i]->shape[0] > MAX_SIDE || fields[i]->shape[2] > MAX_SIDE)
      return FALSE;
    collect_sites (&sites[i], sets[i], (guint)fields[i]->shape[0]);
    collect_sources (&sources[i], sets[i], fields[i]);
  }
  merge (&sites[0], &sites[1], &sites[2]);
  merge (&sources[0], &sources[1], &sources[2]);
  return (guint64)sites[2].labels->len * sources[2].labels->len <= MAX_CELLS;
}

MharPairing *
mhar_pairing_new (const MharDataset *a, const MharDataset *b, const char *name, GError **error)
{
  const MharDataset *sets[2] = { a, b };
  const MharField *fields[2] = { mhar_figure_field (a, name, 3), mhar_figure_field (b, name, 3) };
  Labels sites[3], sources[3];
  MharPairing *result = NULL;

  g_return_val_if_fail (fields[0] && fields[1], NULL);
  for (guint i = 0; i < 3; i++) {
    labels_init (&sites[i]);
    labels_init (&sources[i]);
  }
  if (collect (sets, fields, sites, sources))
    result = pair (sets, fields, &sites[2], &sources[2]);
  else
    mhar_bad_input (error, "the two checkpoints have too many sites and sources to show side by side");
  for (guint i = 0; i < 3; i++) {
    labels_clear (&sites[i]);
    labels_clear (&sources[i]);
  }
  return result;
}

void
mhar_pairing_free (MharPairing *p)
{
  if (!p)
    return;
  for (guint i = 0; i < p->n_rows; i++)
    g_free (p->rows[i]);
  for (guint i = 0; i < p->n_columns; i++)
    g_free (p->columns[i]);
  g_free (p->rows);
  g_free (p->columns);
  for (guint i = 0; i < 2; i++) {
    g_free (p->sites[i]);
    g_free (p->sources[i]);
  }
  g_free (p);
}

gboolean
mhar_pairing_find (const MharPairing *p, guint which, guint site, guint source, guint *row, guint *column)
{
  for (guint i = 0; i < p->n_rows; i++)
    if (p->sites[which][i] == site)
      for (guint j = 0; j < p->n_columns; j++)
        if (p->sources[which][(gsize)i * p->n_columns + j] == source) {
          *row = i;
          *column = j;
          return TRUE;
        }
  return FALSE;
}

/* n_heads, else as many as the weights have. */
static guint
heads_of (const MharDataset *set, guint site)
{
  if (site == G_MAXUINT)
    return 0;
  const MharField *counts = mhar_figure_field (set, "n_heads", 1);
  if (site < mhar_figure_length (counts, 0))
    return (guint)MAX (mhar_figure_value (counts, site, 0, 0), 0);
  return (guint)mhar_figure_length (mhar_figure_field (set, "weight", 3), 1);
}

int
mhar_pairing_head (const MharDataset *a, guint site_a, const MharDataset *b, guint site_b, int head)
{
  guint heads[2] = { heads_of (a, site_a), heads_of (b, site_b) };
  gboolean alike = site_a == G_MAXUINT || site_b == G_MAXUINT || heads[0] == heads[1];

  return head >= 0 && alike && (guint)head < MAX (heads[0], heads[1]) ? head : -1;
}
