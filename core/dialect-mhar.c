/* SPDX-License-Identifier: MIT */
/* The checkpoints of the MHAR authors, on a Qwen3 or a Llama body (arXiv 2607.27230; docs call them D1 and D2).
 *
 * Modes `full` and `full_mh`: every site s reads the embedding and all sublayer outputs before it, s + 1 sources; the mix
 * replaces the stream; a final route reads all 2L + 1. H cannot be seen in a tensor (it is a reshape), and the training
 * script writes attnres_num_heads in every mode: `full` means one head whatever that number says. */
#include "core/dialect.h"

#include "core/error.h"

#include <string.h>

#define DEFAULT_HEADS 8

typedef struct {
  const MharCheckpoint *checkpoint;
  const MharConfig *config;
  const MharBody *body;
  MharPlan *plan;
  int heads;
} Builder;

static gboolean
recognise (const MharCheckpoint *checkpoint)
{
  const MharConfig *config = mhar_checkpoint_config (checkpoint);
  const char *mode = mhar_config_string (config, "attnres_mode", NULL, NULL);
  if (mode != NULL && strcmp (mode, "baseline") == 0)
    return FALSE;
  return mhar_config_has (config, "attnres_mode") || mhar_checkpoint_has_suffix (checkpoint, ".attn_res_proj.weight");
}

/* The mode, where this version runs it. */
static const char *
supported_mode (const MharConfig *config, GError **error)
{
  const char *path = mhar_config_path (config);
  const char *mode = mhar_config_string (config, "attnres_mode", NULL, error);

  if (mode == NULL) {
    if (error != NULL && *error == NULL)
      mhar_bad_input (error, "%s: routing tensors are there but attnres_mode is not; add the mode it was trained in", path);
    return NULL;
  }
  if (strcmp (mode, "full") != 0 && strcmp (mode, "full_mh") != 0) {
    mhar_bad_input (error, "%s: attnres_mode \"%s\" is not supported; this version runs full, full_mh and baseline", path,
                    mode);
    return NULL;
  }
  return mode;
}

static gboolean
check_gate (const MharConfig *config, GError **error)
{
  const char *path = mhar_config_path (config);
  g_autoptr (GError) local = NULL;
  const char *gate = mhar_config_string (config, "attnres_gate_type", "bias", &local);
  gboolean null_source = FALSE;

  if (gate == NULL) {
    g_propagate_error (error, g_steal_pointer (&local));
    return FALSE;
  }
  if (strcmp (gate, "bias") != 0)
    return mhar_bad_input (error, "%s: attnres_gate_type \"%s\" is not supported; this version runs \"bias\" (no gate)",
                           path, gate);
  if (!mhar_config_boolean (config, "attnres_use_null_source", FALSE, &null_source, error))
    return FALSE;
  if (null_source)
    return mhar_bad_input (error, "%s: attnres_use_null_source is not supported in the full modes", path);
  return TRUE;
}

/* Routing heads: 1 in `full`; in `full_mh` what the config says, else 8 and a warning; --heads overrides. */
static gboolean
find_heads (Builder *b, const char *mode, int override, GError **error)
{
  const char *path = mhar_config_path (b->config);
  gboolean many = strcmp (mode, "full_mh") == 0;

  if (!mhar_config_integer (b->config, "attnres_num_heads", 1, 65536, DEFAULT_HEADS, &b->heads, error))
    return FALSE;
  if (!many)
    b->heads = 1;
  if (override > 0)
    b->heads = override;
  if (b->body->width % b->heads != 0)
    return mhar_bad_input (error, "%s: %d routing heads do not divide a width of %d; give the right number with --heads",
                           path, b->heads, b->body->width);
  b->plan->heads = b->heads;
  if (many && override <= 0 && !mhar_config_has (b->config, "attnres_num_heads"))
    mhar_plan_warn (b->plan, "attnres_num_heads is not in the config: %d routing heads are assumed; --heads overrides",
                    b->heads);
  return TRUE;
}

/* The site whose tensors are `prefix`_proj.weight [1, d] and `prefix`_norm.weight [d]. */
static int
add_site (Builder *b, MharSiteKind kind, int layer, const char *prefix, const int *sources, int n_sources, GError **error)
{
  guint64 width = (guint64) b->body->width;
  guint64 shape[2] = { 1, width };
  g_autofree char *proj = g_strconcat (prefix, "_proj.weight", NULL);
  g_autofree char *norm = g_strconcat (prefix, "_norm.weight", NULL);
  const MharTensor *query = mhar_checkpoint_need (b->checkpoint, proj, 2, shape, error);
  const MharTensor *gain = query != NULL ? mhar_checkpoint_need (b->checkpoint, norm, 1, &width, error) : NULL;

  if (gain == NULL)
    return -1;
  g_ptr_array_add (b->plan->routing, g_steal_pointer (&proj));
  g_ptr_array_add (b->plan->routing, g_steal_pointer (&norm));
  return mhar_plan_add_site (b->plan, kind, layer, sources, n_sources, b->heads, FALSE, mhar_tensor_values (query),
                             mhar_tensor_values (gain));
}

/* A read of every row so far, then the sublayer it feeds. */
static gboolean
add_sublayer (Builder *b, int layer, MharSiteKind kind, GArray *history, GError **error)
{
  g_autofree char *prefix =
    g_strdup_printf ("model.layers.%d.%s_res", layer, kind == MHAR_SITE_MLP ? "mlp" : "attn");
  int site = add_site (b, kind, layer, prefix, (const int *) history->data, (int) history->len, error);

  if (site < 0)
    return FALSE;
  mhar_plan_add_step (b->plan, MHAR_STEP_READ, site, MHAR_VALUE_OUT);
  int row = mhar_plan_run_sublayer (b->plan, kind, layer);
  g_array_append_val (history, row);
  return TRUE;
}

static gboolean
all_queries_zero (const MharPlan *plan)
{
  for (guint i = 0; i < plan->sites->len; i++) {
    const MharSite *site = mhar_plan_site (plan, i);
    for (int k = 0; k < mhar_site_n_queries (site) * plan->width; k++)
      if (site->query[k] != 0)
        return FALSE;
  }
  return TRUE;
}

static gboolean
build_full (Builder *b, GError **error)
{
  g_autoptr (GArray) history = g_array_new (FALSE, FALSE, sizeof (int));
  int row = mhar_plan_store_embedding (b->plan);
  g_array_append_val (history, row);

  for (int l = 0; l < b->body->layers; l++)
    if (!add_sublayer (b, l, MHAR_SITE_ATTN, history, error) || !add_sublayer (b, l, MHAR_SITE_MLP, history, error))
      return FALSE;
  int site = add_site (b, MHAR_SITE_FINAL, -1, "model.final_res", (const int *) history->data, (int) history->len, error);
  if (site < 0)
    return FALSE;
  mhar_plan_add_step (b->plan, MHAR_STEP_READ, site, MHAR_VALUE_OUT);
  if (all_queries_zero (b->plan))
    mhar_plan_warn (b->plan, "every routing query is exactly zero: all reads are uniform, the routing was not trained");
  return TRUE;
}

static MharPlan *
build (const MharCheckpoint *checkpoint, const MharDialectOptions *options, GError **error)
{
  Builder b = { .checkpoint = checkpoint, .config = mhar_checkpoint_config (checkpoint) };
  g_autoptr (GError) local = NULL;
  const char *mode = supported_mode (b.config, &local);

  if (mode == NULL) {
    g_propagate_error (error, g_steal_pointer (&local));
    return NULL;
  }
  b.body = mhar_config_body (b.config);
  gboolean llama = g_str_has_prefix (b.body->model_type, "llama");
  g_autoptr (MharPlan) plan =
    mhar_plan_new (llama ? "D2: MHAR, Llama body" : "D1: MHAR, Qwen3 body", mode, b.body->layers, b.body->width, 1);
  b.plan = plan;
  if (!check_gate (b.config, error) || !find_heads (&b, mode, options->heads, error) || !build_full (&b, error))
    return NULL;
  return g_steal_pointer (&plan);
}

const MharDialect mhar_dialect_mhar = { "mhar", recognise, build };
