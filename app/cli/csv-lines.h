/* SPDX-License-Identifier: MIT */
/* Numbers as lines of CSV: whose it is, what it is, and all its digits. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Whose numbers follow, and where their lines go. */
typedef struct {
  GString *out;
  const char *who;
} MharCsv;

/* A line "who,QUANTITY,value". The quantity (printf) is the number's name in JSON or HDF5, and behind it in brackets,
 * its parts parted by colons, what it is the number of where a name has several: "loss",
 * "delta_loss_low[L3.mlp:embed]". What is not finite has no value. */
void mhar_csv_number (const MharCsv *csv, double value, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* Appends a field of a line, quoted where it has to be; a number in full, nothing of what is not finite. */
void mhar_csv_append_text (GString *out, const char *text);
void mhar_csv_append_number (GString *out, double value);

G_END_DECLS
