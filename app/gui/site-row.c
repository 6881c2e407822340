/* SPDX-License-Identifier: MIT */
#include "app/gui/site-row.h"

#include "app/gui/dataset-look.h"
#include "app/gui/display.h"
#include "app/gui/verdict-words.h"

#include <glib/gi18n.h>
#include <math.h>

struct _MharSiteRow {
  GObject parent;
  guint index;
  char *label;
  double values[MHAR_SITE_N_COLUMNS], low, high, null_sd;
  char *verdict; /* NULL: none */
};

G_DEFINE_FINAL_TYPE (MharSiteRow, mhar_site_row, G_TYPE_OBJECT)

static void
finalize (GObject *object)
{
  g_free (MHAR_SITE_ROW (object)->label);
  g_free (MHAR_SITE_ROW (object)->verdict);
  G_OBJECT_CLASS (mhar_site_row_parent_class)->finalize (object);
}

static guint changed_signal;

static void
mhar_site_row_class_init (MharSiteRowClass *class)
{
  G_OBJECT_CLASS (class)->finalize = finalize;
  changed_signal
    = g_signal_new ("changed", MHAR_TYPE_SITE_ROW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
mhar_site_row_init (MharSiteRow *self)
{
  for (int c = 0; c < MHAR_SITE_N_COLUMNS; c++)
    self->values[c] = NAN;
}

static MharSiteRow *
new_row (guint index, const char *label, int sources)
{
  MharSiteRow *self = g_object_new (MHAR_TYPE_SITE_ROW, NULL);

  self->index = index;
  self->label = g_utf8_make_valid (label, -1);
  self->values[MHAR_SITE_LABEL] = index;
  self->values[MHAR_SITE_SOURCES] = sources;
  return self;
}

void
mhar_site_row_update (MharSiteRow *self, const MharDataset *set)
{
  int site = (int) self->index;
  MharDisagreement d = mhar_look_disagreement (set, site);

  self->values[MHAR_SITE_ENTROPY]
    = mhar_look_n_sources (set, site) > 1 ? mhar_look_head (set, "entropy", site, -1) : NAN;
  self->values[MHAR_SITE_TRAINED] = d.trained;
  self->values[MHAR_SITE_NULL] = d.null;
  self->values[MHAR_SITE_EXCESS] = d.trained - d.null;
  self->values[MHAR_SITE_P] = d.p;
  self->low = d.low;
  self->high = d.high;
  self->null_sd = d.null_sd;
  g_free (self->verdict);
  self->verdict = mhar_verdict_sentence (set, d.p, d.trained - d.null);
  g_signal_emit (self, changed_signal, 0);
}

MharSiteRow *
mhar_site_row_new (const MharDataset *set, guint index)
{
  MharSiteRow *self
    = new_row (index, mhar_look_site (set, (int) index), mhar_look_n_sources (set, (int) index));

  mhar_site_row_update (self, set);
  return self;
}

MharSiteRow *
mhar_site_row_new_planned (const MharPlan *plan, guint index)
{
  const MharSite *site = mhar_plan_site (plan, index);
  return new_row (index, site->label, site->n_sources);
}

guint
mhar_site_row_index (const MharSiteRow *self)
{
  return self->index;
}

double
mhar_site_row_value (const MharSiteRow *self, MharSiteColumn column)
{
  return self->values[column];
}

char *
mhar_site_row_text (const MharSiteRow *self, MharSiteColumn column)
{
  double value = self->values[column];

  if (column == MHAR_SITE_LABEL)
    return g_strdup (self->label);
  if (isnan (value))
    return g_strdup ("–");
  if (column == MHAR_SITE_SOURCES)
    return g_strdup_printf ("%.0f", value);
  if (column == MHAR_SITE_ENTROPY)
    return g_strdup_printf ("%.2f", value);
  if (column == MHAR_SITE_P)
    return mhar_p_value_shown (value);
  return mhar_display_number (value, 3, column == MHAR_SITE_EXCESS);
}

char *
mhar_site_row_details (const MharSiteRow *self)
{
  double trained = self->values[MHAR_SITE_TRAINED], null = self->values[MHAR_SITE_NULL];

  if (isnan (trained))
    return NULL;
  g_autofree char *value = mhar_interval_shown (trained, self->low, self->high, 4, FALSE);
  g_autoptr (GString) text = g_string_new (NULL);
  g_string_printf (text, _("%s: disagreement %s nat"), self->label, value);
  if (!isnan (null) && !isnan (self->null_sd))
    g_string_append_printf (text, _(", null %.4f ± %.4f"), null, self->null_sd);
  if (self->verdict != NULL)
    g_string_append_printf (text, "\n%s", self->verdict);
  return g_strdup (text->str);
}
