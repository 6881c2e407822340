/* SPDX-License-Identifier: MIT */
/* The table's rows about interventions: their loss changes, and what the ablation map says in three numbers. */
#pragma once

#include "app/cli/csv-lines.h"
#include "core/field.h"

G_BEGIN_DECLS

/* Appends lines as mhar_table_format builds them (char **: label, then a cell a set; a heading alone) to `lines`. */
void mhar_table_interventions (const GPtrArray *sets, GPtrArray *lines);

/* A line for every number of every intervention and cell of the map. */
void mhar_csv_interventions (const MharCsv *csv, const MharDataset *set);

G_END_DECLS
