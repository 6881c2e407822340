/* SPDX-License-Identifier: MIT */
/* What the dialects with *_res_proj keys build their plans of: reads by key, gates, and the block rule. One mode family
 * is one file; this header is theirs alone. */
#pragma once

#include "core/dialect.h"

G_BEGIN_DECLS

typedef struct {
  const MharCheckpoint *checkpoint;
  const MharConfig *config;
  const MharBody *body;
  const MharDialectOptions *options;
  MharPlan *plan;
  MharGateKind gate;    /* attnres_gate_type */
  MharReadMode mode;    /* of every read that add_site makes, the final one excepted */
  MharValue base;       /* likewise: what a gate, or an addition, takes for p */
  int layers_per_block; /* ceil (L / attnres_num_blocks), at least 1 */
} MharBuilder;

/* An empty plan of a checkpoint for a dialect, "D1: MHAR" say, which the body's name completes; `mode` as printed. H is
 * 1 where not `many`, else attnres_num_heads (8 and a warning where absent); --heads overrides. Reads gate and blocks
 * from the config. NULL and MHAR_ERROR_INPUT where a number is out of range, H does not divide the width, or the gate
 * is unknown. builder->plan is the plan too. */
MharPlan *mhar_builder_begin (MharBuilder *builder, const char *dialect, const char *mode, gboolean many,
                              GError **error);

/* "model.layers.3.attn_SUFFIX" (g_free). */
char *mhar_builder_key (MharSiteKind kind, int layer, const char *suffix);

/* The site whose tensors are PREFIX_proj.weight [1, D] and PREFIX_norm.weight [D], with the gate of the builder unless
 * it is the final one; `groups` > 0: a whole read of that many queries, ungated. Returns its index, −1 on error. */
int mhar_builder_add_site (MharBuilder *builder, MharSiteKind kind, int layer, const GArray *sources, int groups,
                           GError **error);
/* The same for the final read, whose tensors are PREFIX_proj and PREFIX_norm. */
int mhar_builder_add_final (MharBuilder *builder, const char *prefix, const GArray *sources, GError **error);

/* READ of a site (−1: of the stream), the sublayer that it feeds, and its output in a row of its own, which is
 * returned. */
int mhar_builder_run (MharBuilder *builder, int site, MharSiteKind kind, int layer);

/* A row that is a vector [D] of the checkpoint at every token; −1 on error. Noted as a routing tensor. */
int mhar_builder_add_constant (MharBuilder *builder, const char *name, const char *label, GError **error);
/* The values of a routing tensor, noted as one: newly allocated. NULL on error. */
double *mhar_builder_values (MharBuilder *builder, const char *name, guint n_dims, const guint64 *shape,
                             GError **error);

/* Blocks of `period` sublayers. Each site reads the finished blocks and the running sum p, which starts as the
 * embedding; a site that begins a block still reads the old p, which is then a finished block, and p starts anew with
 * the sublayer's output. `bypass`: the first site, whose only source is the embedding, is no read. `final`: the prefix
 * of the final read's tensors; NULL: the last norm takes p. */
gboolean mhar_builder_blocks (MharBuilder *builder, int period, gboolean bypass, const char *final, GError **error);

/* The modes, by family. */
gboolean mhar_build_full (MharBuilder *builder, GError **error);
gboolean mhar_build_block (MharBuilder *builder, GError **error);
gboolean mhar_build_delta (MharBuilder *builder, GError **error);
gboolean mhar_build_hyper (MharBuilder *builder, GError **error);

G_END_DECLS
