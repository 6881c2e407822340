/* SPDX-License-Identifier: MIT */
/* What the sections of a report share. */
#pragma once

#include "app/cli/report.h"
#include "probes/verdict.h"

/* Checkpoints side by side in one table, at most. */
#define MHAR_REPORT_ABREAST 3

/* Between the ends of an interval, which stay in one line. */
#define MHAR_REPORT_COMMA ", "

typedef struct {
  MharDocument *document;
  const MharDataset *root, *provenance;
  const char *file; /* where they lie */
  GPtrArray *sets; /* MharDataset * */
  char **names;    /* of the checkpoints */
} MharReport;

/* Each appends its section, heading included, or nothing where there is nothing to say. */
void mhar_report_summary (MharReport *report);
void mhar_report_setup (MharReport *report);
void mhar_report_results (MharReport *report);
void mhar_report_figures (MharReport *report);
void mhar_report_controls (MharReport *report);
void mhar_report_interventions (MharReport *report);
void mhar_report_caveats (MharReport *report);
void mhar_report_definitions (MharReport *report);
void mhar_report_sites (MharReport *report);
void mhar_report_reads (MharReport *report);
void mhar_report_reproduce (MharReport *report);

const MharDataset *mhar_report_set (const MharReport *report, guint c);
/* Whether some checkpoint's reads were listed. */
gboolean mhar_report_has_reads (const MharReport *report);

/* ---- words and numbers; g_free ---- */

/* As the table has them, with a true minus; "–" of what is not there. */
char *mhar_report_number (double value);
char *mhar_report_interval (double value, double low, double high);
/* Takes a text and gives every "-" before a digit the width of a plus, and spaces that do not break to " ± " and
 * intervals. */
char *mhar_report_typeset (char *text);
/* "0.0302 ± 0.0015". */
char *mhar_report_spread (double value, double sd);
/* An attribute with its interval; a null's mean, "± sd" with it. */
char *mhar_report_scalar (const MharDataset *set, const char *name);
char *mhar_report_null (const MharDataset *set, const char *prefix);
/* Element i of a field, of an attribute's name with `end` behind it: NaN where there is none. */
double mhar_report_value (const MharDataset *set, const char *name, gsize i);
double mhar_report_real (const MharDataset *set, const char *prefix, const char *end);
/* The printable text of an attribute, "–" where there is none. */
char *mhar_report_string (const MharDataset *set, const char *name);
/* Element i of a field of text, printable. */
char *mhar_report_label (const MharDataset *set, const char *name, gsize i);

/* "random queries of the same norm". */
const char *mhar_report_null_words (const MharDataset *set);
/* "is **not distinguishable from its null** (p = 0.4800, 99 draws)"; NULL where there is no null. */
char *mhar_report_verdict (const MharDataset *set, const char *p_name);
/* The same in a cell: "not distinguishable"; "–". */
const char *mhar_report_verdict_cell (MharVerdict verdict);
/* Of row i of the controls of `set`. */
MharVerdict mhar_report_control_verdict (const MharDataset *set, gsize i);

/* How many controls say what: counts [verdict]. Returns how many there are. */
guint mhar_report_count_controls (const MharDataset *set, guint counts[MHAR_VERDICT_TOO_FEW + 1]);
/* The place of the map's cell that changes the loss most; FALSE where there is none. */
gboolean mhar_report_largest_cell (const MharDataset *map, gsize *at);
/* "+0.2166 [+0.2059, +0.2264]": element i of delta_loss. */
char *mhar_report_change (const MharDataset *set, gsize i);
/* The element of `spec` that is this intervention; FALSE where none is. */
gboolean mhar_report_find_intervention (const MharDataset *set, const char *spec, gsize *at);
/* "one", "12". */
char *mhar_report_count (gint64 n);
/* "64 tokens in 1 window": of a child, what it does not say being as in `set`. */
char *mhar_report_extent (const MharDataset *child, const MharDataset *set);
/* What brackets and ± in a table of these checkpoints (`n` from `first` on) are, as a sentence. */
char *mhar_report_brackets (const MharReport *report, guint first, guint n);
/* Whether there were windows enough for intervals. */
gboolean mhar_report_has_intervals (const MharDataset *set);
