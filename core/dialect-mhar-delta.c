/* SPDX-License-Identifier: MIT */
/* Modes delta, delta_block and delta_mh: an ordinary residual stream p, to which each sublayer's input adds a read.
 *
 * `delta` reads every raw output, the embedding first, from the first MLP on. The others read blocks: the embedding,
 * and at the attention of every layers_per_block-th layer, before its output is added, p less the block before. As
 * released that is less the block's *row*, itself a difference from the third on; --block-delta true takes the stream
 * as it was at the block before. A null source, a vector at every token, stands in front where there is one. */
#include "core/dialect-mhar-private.h"

#include <string.h>

typedef struct {
  MharBuilder *b;
  gboolean blocks, null_source; /* a null is asked for */
  GArray *history;
  int last; /* the row that the next block lacks */
} Delta;

/* The site's null, in front of its sources; one that is there is read whatever the config says. */
static gboolean
add_null (Delta *d, MharSiteKind kind, int layer, GArray *sources, GError **error)
{
  g_autofree char *name = mhar_builder_key (kind, layer, "null_source");

  if (!d->null_source && mhar_checkpoint_find (d->b->checkpoint, name) == NULL)
    return TRUE;
  int row = mhar_builder_add_constant (d->b, name, "null", error);
  g_array_append_val (sources, row);
  return row >= 0;
}

/* A block begins at this layer: the embedding first, then differences. */
static void
add_block (Delta *d, int layer, int embed)
{
  MharPlan *plan = d->b->plan;
  gboolean another = layer + d->b->layers_per_block < d->b->body->layers;

  if (d->history->len == 0) {
    g_array_append_val (d->history, embed);
    d->last = embed;
    return;
  }
  int row = mhar_plan_add_row (plan, "block %u", d->history->len);
  mhar_plan_add_store (plan, row, MHAR_VALUE_STREAM_LESS, d->last);
  g_array_append_val (d->history, row);
  d->last = row;
  if (d->b->options->block_delta == MHAR_BLOCK_DELTA_TRUE && another) {
    d->last = mhar_plan_add_row (plan, "stream at layer %d", layer);
    mhar_plan_add_step (plan, MHAR_STEP_STORE, d->last, MHAR_VALUE_STREAM);
  }
}

static gboolean
add_sublayer (Delta *d, MharSiteKind kind, int layer, int embed, GError **error)
{
  g_autoptr (GArray) sources = g_array_new (FALSE, FALSE, sizeof (int));
  int site = -1;

  if (!add_null (d, kind, layer, sources, error))
    return FALSE;
  g_array_append_vals (sources, d->history->data, d->history->len);
  if (sources->len > 0) {
    site = mhar_builder_add_site (d->b, kind, layer, sources, 0, error);
    if (site < 0)
      return FALSE;
  }
  int row = mhar_builder_run (d->b, site, kind, layer);
  if (!d->blocks) {
    if (d->history->len == 0)
      g_array_append_val (d->history, embed);
    g_array_append_val (d->history, row);
  } else if (kind == MHAR_SITE_ATTN && layer % d->b->layers_per_block == 0)
    add_block (d, layer, embed);
  mhar_plan_add_step (d->b->plan, MHAR_STEP_STREAM_ADD, 0, MHAR_VALUE_OUT);
  return TRUE;
}

/* Only from the third block on do the two differences differ. */
static void
warn_of_difference (const Delta *d)
{
  gboolean recursive = d->b->options->block_delta == MHAR_BLOCK_DELTA_RECURSIVE;

  if (d->blocks)
    d->b->plan->block_delta = recursive ? "recursive" : "true";
  if (d->blocks && d->history->len > 2)
    mhar_plan_warn (d->b->plan,
                    recursive ? "block differences are recursive, as released: the stream less the row of the block "
                                "before; --block-delta=true takes off the stream as it was there"
                              : "block differences are true: the stream less the stream at the block before; the "
                                "released code has them recursive");
}

gboolean
mhar_build_delta (MharBuilder *b, GError **error)
{
  const char *mode = b->plan->mode;
  g_autoptr (GArray) history = g_array_new (FALSE, FALSE, sizeof (int));
  Delta d = { .b = b, .blocks = strcmp (mode, "delta") != 0, .history = history };

  if (!mhar_config_boolean (b->config, "attnres_use_null_source", FALSE, &d.null_source, error))
    return FALSE;
  d.null_source = d.null_source || strcmp (mode, "delta_mh") == 0;
  b->mode = MHAR_READ_ADD;
  int embed = mhar_plan_store_embedding (b->plan);
  for (int l = 0; l < b->body->layers; l++)
    if (!add_sublayer (&d, MHAR_SITE_ATTN, l, embed, error) || !add_sublayer (&d, MHAR_SITE_MLP, l, embed, error))
      return FALSE;
  mhar_plan_add_step (b->plan, MHAR_STEP_READ, -1, MHAR_VALUE_STREAM);
  warn_of_difference (&d);
  return TRUE;
}
