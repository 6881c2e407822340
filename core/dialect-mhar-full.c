/* SPDX-License-Identifier: MIT */
/* Modes full, full_mh and full_hw: site s reads the embedding and all s sublayer outputs before it; the mix replaces
 * the stream, or a gate mixes it with the latest output; a final route reads all 2L + 1.
 *
 * In full_hw each KV group has a query of its own that reads whole rows before attention, and its queries, keys and
 * values are projected from its own mix. Nothing gates those. */
#include "core/dialect-mhar-private.h"

#include <string.h>

gboolean
mhar_build_full (MharBuilder *b, GError **error)
{
  g_autoptr (GArray) history = g_array_new (FALSE, FALSE, sizeof (int));
  int row = mhar_plan_store_embedding (b->plan);
  gboolean groups = strcmp (b->plan->mode, "full_hw") == 0;

  b->base = MHAR_VALUE_OUT;
  g_array_append_val (history, row);
  for (int s = 0; s < 2 * b->body->layers; s++) {
    MharSiteKind kind = s % 2 == 0 ? MHAR_SITE_ATTN : MHAR_SITE_MLP;
    int site = mhar_builder_add_site (b, kind, s / 2, history, groups && s % 2 == 0 ? b->body->kv_heads : 0, error);
    if (site < 0)
      return FALSE;
    row = mhar_builder_run (b, site, kind, s / 2);
    g_array_append_val (history, row);
  }
  return mhar_builder_add_final (b, "model.final_res", history, error) >= 0;
}
