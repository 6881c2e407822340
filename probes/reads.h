/* SPDX-License-Identifier: MIT */
/* What does a head read? For a head of a site and one of its sources, the *cell* (site, head, source): the tokens at
 * which its weight is largest and smallest, in context; for every cell the mean weight by position in the window, by
 * class and piece of the token that reads, and by position in the document; and what each source adds to the logit of
 * the next token through the last read. tests/oracle/head_reads.py has the definitions, executable.
 *
 * Cells are asked for as SITE:HEAD:SOURCE:
 *
 *   SITE    a label, a number, with + for it and all after it, or * (probes/intervention.h); last: the last read
 *   HEAD    a number, counted from 0, or *
 *   SOURCE  a label, a place counted from 0, a family (probes/intervention.h), or *; top: the one that the head gives
 *           most on average */
#pragma once

#include "probes/probe.h"

G_BEGIN_DECLS

#define MHAR_READS_DEFAULT "last:*:top"
#define MHAR_READS_ALL "*:*:*"
#define MHAR_READS_MOST_CELLS 65536
#define MHAR_READS_MOST_TOKENS 1000

/* A list for MharProbeOptions.reads; g_ptr_array_unref. */
GPtrArray *mhar_reads_specs_new (void);
/* Appends what `text` lists, separated by commas. MHAR_ERROR_USAGE saying what is wrong; nothing is appended then. */
gboolean mhar_reads_specs_parse (GPtrArray *list, const char *text, GError **error);

/* Whether the plan has the cells that `options` ask for: MHAR_ERROR_USAGE, naming the nearest labels, where not, or
 * where they are more than MHAR_READS_MOST_CELLS. */
gboolean mhar_reads_check (const MharPlan *plan, const MharProbeOptions *options, GError **error);

/* What a run keeps for its reads; `ids` [n], of which `total` are in windows, and all else must outlive it. NULL where
 * `setup` asks for none. Errors as mhar_reads_check. */
MharReads *mhar_reads_new (const MharProbeSetup *setup, const MharCheckpoint *checkpoint, const gint32 *ids, gsize n,
                           gsize total, GError **error);
void mhar_reads_free (MharReads *reads);

/* What the batches taken so far came to, exactly: a dataset "reads", for mhar_reads_restore of a run that is the same.
 * mhar_dataset_unref. */
MharDataset *mhar_reads_state (const MharReads *reads);
/* Before the first batch. MHAR_ERROR_INPUT where the state is of another run. */
gboolean mhar_reads_restore (MharReads *reads, const MharDataset *state, GError **error);

/* Whether what a saved checkpoint says of reads, if anything, has the schema's types and shapes: a file is not trusted.
 * MHAR_ERROR_INPUT naming file, checkpoint and field. */
gboolean mhar_reads_results_check (const MharDataset *set, const char *path, GError **error);

/* The place among the asked cells of the results' child "reads" of the cell (index of a site, head, source); −1 where
 * it is not there. */
int mhar_reads_find_cell (const MharDataset *reads, int site, int head, int source);
/* The place among its examples of a token of the text; −1 where it is not there. */
int mhar_reads_find_example (const MharDataset *reads, gint32 token);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharReads, mhar_reads_free)

G_END_DECLS
