/* SPDX-License-Identifier: MIT */
/* From a checkpoint to a plan. Each dialect is one file, core/dialect-NAME.c, and one line in the table of dialect.c. */
#pragma once

#include "core/checkpoint.h"
#include "core/plan.h"

G_BEGIN_DECLS

/* What a block of the delta modes lacks: the row of the block before (as released), or the stream as it was there. */
typedef enum { MHAR_BLOCK_DELTA_RECURSIVE, MHAR_BLOCK_DELTA_TRUE } MharBlockDelta;

typedef struct {
  int heads;       /* --heads: overrides the checkpoint's routing heads; 0: obey it */
  gboolean strict; /* refuse routing tensors that the mode does not use */
  MharBlockDelta block_delta;
} MharDialectOptions;

typedef struct {
  const char *name; /* "mhar": MHAR authors, Qwen3 or Llama body (docs: D1, D2) */
  /* Whether the keys and config are of this dialect; never by model_type alone. */
  gboolean (*recognise) (const MharCheckpoint *checkpoint);
  /* The plan, or NULL and MHAR_ERROR_INPUT naming what is missing or not supported. */
  MharPlan *(*build) (const MharCheckpoint *checkpoint, const MharDialectOptions *options, GError **error);
} MharDialect;

extern const MharDialect mhar_dialect_recency;
extern const MharDialect mhar_dialect_fla;
extern const MharDialect mhar_dialect_map;
extern const MharDialect mhar_dialect_mhar;
extern const MharDialect mhar_dialect_plain;

/* The plan of a checkpoint by the first dialect that recognises it, checked. MHAR_ERROR_INPUT where none does. */
MharPlan *mhar_plan_from_checkpoint (const MharCheckpoint *checkpoint, const MharDialectOptions *options,
                                     GError **error);

/* The name of the first tensor that only a model with reads over depth has, a query of any dialect's; NULL: none. */
const char *mhar_checkpoint_first_routing (const MharCheckpoint *checkpoint);

/* Whether any tensor's name ends so: what dialects recognise themselves by. */
gboolean mhar_checkpoint_has_suffix (const MharCheckpoint *checkpoint, const char *suffix);

/* Rows and steps that every dialect shares: the embedding as row `embed` and output 0; a sublayer's output as row "L3.attn",
 * stored and listed as an output. Each returns the row. */
int mhar_plan_store_embedding (MharPlan *plan);
int mhar_plan_run_sublayer (MharPlan *plan, MharSiteKind kind, int layer);

G_END_DECLS
