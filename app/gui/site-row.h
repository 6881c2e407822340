/* SPDX-License-Identifier: MIT */
/* One site as a row of the table of sites. */
#pragma once

#include "core/plan.h"
#include "core/field.h"

#include <glib-object.h>

G_BEGIN_DECLS

typedef enum {
  MHAR_SITE_LABEL,
  MHAR_SITE_SOURCES,
  MHAR_SITE_ENTROPY,
  MHAR_SITE_TRAINED,
  MHAR_SITE_NULL,
  MHAR_SITE_EXCESS,
  MHAR_SITE_P,
  MHAR_SITE_N_COLUMNS
} MharSiteColumn;

#define MHAR_TYPE_SITE_ROW (mhar_site_row_get_type ())
G_DECLARE_FINAL_TYPE (MharSiteRow, mhar_site_row, MHAR, SITE_ROW, GObject)

/* Site `index` of a run. */
MharSiteRow *mhar_site_row_new (const MharDataset *set, guint index);
/* Of a plan that has not been run: label and sources only. */
MharSiteRow *mhar_site_row_new_planned (const MharPlan *plan, guint index);

/* Takes the site's numbers from another run; signal "changed". */
void mhar_site_row_update (MharSiteRow *row, const MharDataset *set);

guint mhar_site_row_index (const MharSiteRow *row);
/* The column's number (the index for the label, so that sorting by it keeps the depth's order); NaN where there is
 * none. */
double mhar_site_row_value (const MharSiteRow *row, MharSiteColumn column);
/* As shown, in the locale's form; g_free. */
char *mhar_site_row_text (const MharSiteRow *row, MharSiteColumn column);
/* The site's disagreement with its interval, its null, and the verdict; NULL where there is none. g_free. */
char *mhar_site_row_details (const MharSiteRow *row);

G_END_DECLS
