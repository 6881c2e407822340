/* SPDX-License-Identifier: MIT */
/* Interventions: whether routing matters is asked by running the model with some of its reads made otherwise
 * (core/plan-edit.h says what each does to a read) and looking at the loss. Here they are words, as the command line and
 * a file have them; mhar_intervention_resolve makes edits of a checkpoint's plan of them.
 *
 *   ablate SITES:SOURCE        the source is not there
 *   consensus SITES            all heads read with their mean
 *   swap-heads [SITES:]A-B     two heads read with each other's weights
 *   permute-heads SITES        head h reads with the weights of head h + 1, the last with those of head 0
 *   null-query SITES           the query is draw 0 of the nulls
 *   uniform SITES              every source weighs the same
 *   top-k [SITES:]K            only the K largest weights of each token and head
 *   regroup [SITES:]H          the query is read in H heads
 *
 * SITES is a label (L3.mlp, final), a number (2l attention, 2l+1 MLP, 2L final), either of them with + for that site and
 * all after it, or * for all. SOURCE is a label, a place in the site's list counted from 0, or a family: embedding (its
 * first place), newest (the last source), oldest (the first that is neither embedding nor constant), middle (all that
 * are none of these, nor constant). A constant source, a null, is in no family but may be named.
 *
 * An intervention leaves a site alone where it would change nothing (one source, one head, as many weights as are kept,
 * as many heads already, whole rows to regroup) or leave nothing to read; where that goes for all its sites, or for the
 * one that it names, it is refused. */
#pragma once

#include "core/plan-edit.h"
#include "probes/probe.h"

G_BEGIN_DECLS

typedef enum {
  MHAR_INTERVENTION_ABLATE,
  MHAR_INTERVENTION_CONSENSUS,
  MHAR_INTERVENTION_SWAP,
  MHAR_INTERVENTION_PERMUTE,
  MHAR_INTERVENTION_NULL,
  MHAR_INTERVENTION_UNIFORM,
  MHAR_INTERVENTION_TOP,
  MHAR_INTERVENTION_REGROUP
} MharInterventionKind;

typedef struct {
  MharInterventionKind kind;
  char *site;     /* label or number; NULL: every site */
  gboolean after; /* that site and all after it */
  char *source;   /* of ABLATE */
  guint a, b;     /* heads of SWAP; a alone: K of TOP, H of REGROUP */
  gint32 n_edited; /* sites that read otherwise, of one that a file tells of in its `spec` alone; else 0 */
  char *spec;     /* "L3.mlp:embed", "top-k=*:2": the whole of it in words */
} MharIntervention;

/* "ablate", "consensus" …: what its option is called. */
const char *mhar_intervention_name (MharInterventionKind kind);

/* Appends what `text` lists, separated by commas, to `list` (MharIntervention *, made by mhar_interventions_new).
 * MHAR_ERROR_USAGE saying what the option takes where an item is something else; nothing is appended then. */
GPtrArray *mhar_interventions_new (void);
gboolean mhar_interventions_parse (GPtrArray *list, MharInterventionKind kind, const char *text, GError **error);

/* The edits of the plan that an intervention is, for the seed and the null norm of `options`: g_ptr_array_unref.
 * MHAR_ERROR_USAGE, naming the nearest labels, where it names what the plan has not, or changes nothing. */
MharPlanEdit *mhar_intervention_resolve (const MharIntervention *intervention, const MharPlan *plan,
                                         const MharProbeOptions *options, GError **error);

/* Marks the places in a site's list that SOURCE names: drop [n_sources]. */
void mhar_intervention_mark (const MharPlan *plan, const MharSite *site, const char *source, gboolean *drop);

/* Whether everything that `options` ask for can be done to the plan; MHAR_ERROR_USAGE. */
gboolean mhar_interventions_check (const MharPlan *plan, const MharProbeOptions *options, GError **error);

/* Whether what a saved checkpoint says of interventions, if anything, has the schema's types and shapes: a file is not
 * trusted. MHAR_ERROR_INPUT naming file, checkpoint and field. */
gboolean mhar_interventions_results_check (const MharDataset *set, const char *path, GError **error);

G_END_DECLS
