/* SPDX-License-Identifier: MIT */
/* What figures read from a dataset, with every type, dimension and index checked: a dataset may come from a file. */
#pragma once

#include "core/field.h"

/* The field where it is numeric with `n_dims` dimensions, none of length 0; else NULL. */
const MharField *mhar_figure_field (const MharDataset *set, const char *name, guint n_dims);
/* Element [i, j, k] of a field with one to three dimensions; NaN out of range or where `field` is NULL. */
double mhar_figure_value (const MharField *field, gsize i, gsize j, gsize k);
/* Length of axis `axis`; 0 where the field is NULL or has fewer. */
gsize mhar_figure_length (const MharField *field, guint axis);
gboolean mhar_figure_any_finite (const MharField *field);
/* Element [i] or [i, j] of a text field, fit to draw; NULL where absent. g_free. */
char *mhar_figure_label (const MharDataset *set, const char *name, gsize i, gsize j);
/* The same as the dataset holds it: borrowed, any bytes. */
const char *mhar_figure_raw_label (const MharDataset *set, const char *name, gsize i, gsize j);
/* How many sources site `i` has: n_sources, else what is finite in `weight` [site, head, source]. */
gsize mhar_figure_n_sources (const MharDataset *set, const MharField *weight, gsize i);
/* The checkpoint's path as drawn in captions and errors: the last part of it, else the dataset's name. g_free. */
char *mhar_figure_checkpoint (const MharDataset *set);
/* Mean and standard deviation (n − 1) of the finite values of a row (of a field with one or two dimensions); NaN where
 * there are none, deviation 0 where there is one. */
void mhar_figure_row_statistics (const MharField *field, gsize row, double *mean, double *sd);
