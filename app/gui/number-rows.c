/* SPDX-License-Identifier: MIT */
#include "app/gui/number-rows.h"

struct _MharNumberRow {
  GObject parent;
  guint index;
};

G_DEFINE_FINAL_TYPE (MharNumberRow, mhar_number_row, G_TYPE_OBJECT)

static void
mhar_number_row_class_init (MharNumberRowClass *class G_GNUC_UNUSED)
{
}

static void
mhar_number_row_init (MharNumberRow *self G_GNUC_UNUSED)
{
}

guint
mhar_number_row_index (const MharNumberRow *self)
{
  return self->index;
}

struct _MharNumberRows {
  GObject parent;
  MharNumbers *numbers;
};

static GType
get_item_type (GListModel *model G_GNUC_UNUSED)
{
  return MHAR_TYPE_NUMBER_ROW;
}

static guint
get_n_items (GListModel *model)
{
  return mhar_numbers_n_rows (MHAR_NUMBER_ROWS (model)->numbers);
}

static gpointer
get_item (GListModel *model, guint position)
{
  if (position >= get_n_items (model))
    return NULL;
  MharNumberRow *row = g_object_new (MHAR_TYPE_NUMBER_ROW, NULL);
  row->index = position;
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
  mhar_numbers_unref (MHAR_NUMBER_ROWS (object)->numbers);
  G_OBJECT_CLASS (mhar_number_rows_parent_class)->finalize (object);
}

static void
mhar_number_rows_class_init (MharNumberRowsClass *class)
{
  G_OBJECT_CLASS (class)->finalize = finalize;
}

static void
mhar_number_rows_init (MharNumberRows *self G_GNUC_UNUSED)
{
}

GListModel *
mhar_number_rows_new (MharNumbers *numbers)
{
  MharNumberRows *self = g_object_new (MHAR_TYPE_NUMBER_ROWS, NULL);
  self->numbers = mhar_numbers_ref (numbers);
  return G_LIST_MODEL (self);
}
