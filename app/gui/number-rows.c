/* SPDX-License-Identifier: MIT */
#include "app/gui/number-rows.h"

#include <math.h>

struct _MharNumberRows {
  GObject parent;
  MharNumbers *numbers; /* NULL: none */
  guint announced;      /* rows that the model says it has */
  GHashTable *in_use;   /* index → MharNumberRow, which takes itself out */
  GArray *due;          /* guint: indices of rows in use that have to change, the last one first */
};

struct _MharNumberRow {
  GObject parent;
  MharNumberRows *rows;
  guint index;
};

static guint changed_signal;

G_DEFINE_FINAL_TYPE (MharNumberRow, mhar_number_row, G_TYPE_OBJECT)

static void
row_finalize (GObject *object)
{
  MharNumberRow *self = MHAR_NUMBER_ROW (object);

  g_hash_table_remove (self->rows->in_use, GUINT_TO_POINTER (self->index));
  g_object_unref (self->rows);
  G_OBJECT_CLASS (mhar_number_row_parent_class)->finalize (object);
}

static void
mhar_number_row_class_init (MharNumberRowClass *class)
{
  G_OBJECT_CLASS (class)->finalize = row_finalize;
  changed_signal
      = g_signal_new ("changed", MHAR_TYPE_NUMBER_ROW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
mhar_number_row_init (MharNumberRow *self G_GNUC_UNUSED)
{
}

char *
mhar_number_row_text (const MharNumberRow *self, guint column)
{
  const MharNumbers *numbers = self->rows->numbers;

  if (numbers == NULL || self->index >= mhar_numbers_n_rows (numbers) || column >= mhar_numbers_n_columns (numbers))
    return g_strdup ("");
  if (mhar_numbers_is_text (numbers, column))
    return g_strdup (mhar_numbers_text (numbers, self->index, column));
  double value = mhar_numbers_value (numbers, self->index, column);
  return isnan (value)           ? g_strdup ("–")
         : value == rint (value) ? g_strdup_printf ("%.0f", value)
                                 : g_strdup_printf ("%.5f", value);
}

static GType
get_item_type (GListModel *model G_GNUC_UNUSED)
{
  return MHAR_TYPE_NUMBER_ROW;
}

static guint
get_n_items (GListModel *model)
{
  return MHAR_NUMBER_ROWS (model)->announced;
}

static gpointer
get_item (GListModel *model, guint position)
{
  MharNumberRows *self = MHAR_NUMBER_ROWS (model);
  MharNumberRow *row = g_hash_table_lookup (self->in_use, GUINT_TO_POINTER (position));

  if (position >= self->announced)
    return NULL;
  if (row != NULL)
    return g_object_ref (row);
  row = g_object_new (MHAR_TYPE_NUMBER_ROW, NULL);
  row->rows = g_object_ref (self);
  row->index = position;
  g_hash_table_insert (self->in_use, GUINT_TO_POINTER (position), row);
  return row;
}

static void
list_model_init (GListModelInterface *iface)
{
  iface->get_item_type = get_item_type;
  iface->get_n_items = get_n_items;
  iface->get_item = get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (MharNumberRows, mhar_number_rows, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_model_init))

static void
finalize (GObject *object)
{
  MharNumberRows *self = MHAR_NUMBER_ROWS (object);

  g_hash_table_unref (self->in_use);
  g_array_unref (self->due);
  mhar_numbers_unref (self->numbers);
  G_OBJECT_CLASS (mhar_number_rows_parent_class)->finalize (object);
}

static void
mhar_number_rows_class_init (MharNumberRowsClass *class)
{
  G_OBJECT_CLASS (class)->finalize = finalize;
}

static void
mhar_number_rows_init (MharNumberRows *self)
{
  self->in_use = g_hash_table_new (NULL, NULL);
  self->due = g_array_new (FALSE, FALSE, sizeof (guint));
}

MharNumberRows *
mhar_number_rows_new (void)
{
  return g_object_new (MHAR_TYPE_NUMBER_ROWS, NULL);
}

static guint
wanted (const MharNumberRows *self)
{
  return self->numbers != NULL ? mhar_numbers_n_rows (self->numbers) : 0;
}

static int
last_first (gconstpointer a, gconstpointer b)
{
  guint x = *(const guint *) a, y = *(const guint *) b;
  return (x < y) - (x > y);
}

void
mhar_number_rows_replace (MharNumberRows *self, MharNumbers *numbers)
{
  MharNumbers *old = self->numbers;
  guint before = self->announced;
  GHashTableIter iter;
  gpointer index;

  self->numbers = numbers != NULL ? mhar_numbers_ref (numbers) : NULL;
  mhar_numbers_unref (old);
  if (before > wanted (self)) {
    self->announced = wanted (self);
    g_list_model_items_changed (G_LIST_MODEL (self), self->announced, before - self->announced, 0);
  }
  g_array_set_size (self->due, 0);
  g_hash_table_iter_init (&iter, self->in_use);
  while (g_hash_table_iter_next (&iter, &index, NULL))
    g_array_append_val (self->due, (guint){ GPOINTER_TO_UINT (index) });
  g_array_sort (self->due, last_first);
}

gboolean
mhar_number_rows_advance (MharNumberRows *self, guint n)
{
  for (; n > 0 && self->due->len > 0; n--) {
    guint index = g_array_index (self->due, guint, self->due->len - 1);
    MharNumberRow *row = g_hash_table_lookup (self->in_use, GUINT_TO_POINTER (index));
    g_array_set_size (self->due, self->due->len - 1);
    if (row != NULL)
      g_signal_emit (row, changed_signal, 0);
  }
  guint left = wanted (self) - self->announced;
  guint add = self->announced < MHAR_NUMBER_ROWS_WITH_WIDGETS ? MIN (n, left) : left;
  if (n > 0 && add > 0) {
    self->announced += add;
    g_list_model_items_changed (G_LIST_MODEL (self), self->announced - add, 0, add);
  }
  return self->due->len > 0 || self->announced < wanted (self);
}
