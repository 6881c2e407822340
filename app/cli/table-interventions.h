/* SPDX-License-Identifier: MIT */
/* The table's rows about interventions: their loss changes, and what the ablation map says in three numbers. */
#pragma once

#include "core/field.h"

G_BEGIN_DECLS

/* Appends lines as mhar_table_format builds them (char **: label, then a cell a set; a heading alone) to `lines`. */
void mhar_table_interventions (const GPtrArray *sets, GPtrArray *lines);

/* Appends `name`, value pairs at full precision, one call of `line` each, of every intervention and cell of the map. */
void mhar_csv_interventions (const MharDataset *set, void (*line) (const char *name, double value, gpointer user),
                             gpointer user);

G_END_DECLS
