/* SPDX-License-Identifier: MIT */
/* open-attnres checkpoints with a recency bias (docs: D3), modes block and full.
 *
 * The keys are the MHAR authors' and so is the model_type; the *_res_bias [] on the last source's logit tells them
 * apart. Every site reads the kept sums and the running sum p, which is cumulative and never starts anew: it is kept
 * after each layers_per_block-th layer (block) or after every sublayer (full). The embedding is kept and is the first
 * p, so it stands twice at first, as does every sum just kept. One head, no final route. */
#include "core/dialect-mhar-private.h"

#include "core/error.h"

#include <string.h>

static gboolean
recognise (const MharCheckpoint *checkpoint)
{
  return mhar_checkpoint_has_suffix (checkpoint, "_res_bias");
}

static gboolean
add_bias (MharBuilder *b, int index, GError **error)
{
  MharSite *site = g_ptr_array_index (b->plan->sites, index);
  guint64 one = 1;
  g_autofree char *name = mhar_builder_key (site->kind, site->layer, "res_bias");
  g_autofree double *bias = mhar_builder_values (b, name, 1, &one, error);

  if (bias == NULL)
    return FALSE;
  site->bias = *bias;
  return TRUE;
}

/* The row of p after sublayer s; `kept`: it will stand among the sources from now on. */
static int
store_stream (MharBuilder *b, int s, gboolean full, gboolean kept, guint count)
{
  int row;

  if (full)
    row = mhar_plan_add_row (b->plan, "through L%d.%s", s / 2, s % 2 == 0 ? "attn" : "mlp");
  else
    row = kept ? mhar_plan_add_row (b->plan, "block %u", count) : mhar_plan_add_row (b->plan, "stream");
  mhar_plan_add_step (b->plan, MHAR_STEP_STORE, row, MHAR_VALUE_STREAM);
  return row;
}

static gboolean
build_sites (MharBuilder *b, gboolean full, GError **error)
{
  g_autoptr (GArray) sources = g_array_new (FALSE, FALSE, sizeof (int));
  int row = mhar_plan_store_embedding (b->plan), n = 2 * b->body->layers;

  g_array_append_val (sources, row);
  for (int s = 0; s < n; s++) {
    MharSiteKind kind = s % 2 == 0 ? MHAR_SITE_ATTN : MHAR_SITE_MLP;
    g_array_append_val (sources, row);
    int site = mhar_builder_add_site (b, kind, s / 2, sources, 0, error);
    if (site < 0 || !add_bias (b, site, error))
      return FALSE;
    g_array_set_size (sources, sources->len - 1);
    mhar_builder_run (b, site, kind, s / 2);
    mhar_plan_add_step (b->plan, MHAR_STEP_STREAM_ADD, 0, MHAR_VALUE_OUT);
    gboolean kept = full || (s % 2 == 1 && (s / 2 + 1) % b->layers_per_block == 0);
    if (s + 1 == n)
      break;
    row = store_stream (b, s, full, kept, sources->len);
    if (kept)
      g_array_append_val (sources, row);
  }
  mhar_plan_add_step (b->plan, MHAR_STEP_READ, -1, MHAR_VALUE_STREAM);
  return TRUE;
}

static MharPlan *
build (const MharCheckpoint *checkpoint, const MharDialectOptions *options, GError **error)
{
  MharBuilder b = { .checkpoint = checkpoint, .options = options };
  const MharConfig *config = mhar_checkpoint_config (checkpoint);
  g_autoptr (GError) local = NULL;
  const char *mode = mhar_config_string (config, "attnres_mode", "none", &local);

  if (local != NULL) {
    g_propagate_error (error, g_steal_pointer (&local));
    return NULL;
  }
  gboolean full = strcmp (mode, "full") == 0;
  if (!full && strcmp (mode, "block") != 0) {
    mhar_bad_input (error,
                    "%s: attnres_mode \"%s\" is not supported where there is a recency bias (*_res_bias); this version "
                    "runs block and full",
                    mhar_config_path (config), mode);
    return NULL;
  }
  g_autoptr (MharPlan) plan = mhar_builder_begin (&b, "D3: open-attnres", mode, FALSE, error);
  if (plan == NULL || !build_sites (&b, full, error))
    return NULL;
  return g_steal_pointer (&plan);
}

const MharDialect mhar_dialect_recency = { "recency", recognise, build };
