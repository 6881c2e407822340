/* SPDX-License-Identifier: MIT */
#include "app/cli/jobs.h"

#include "core/checkpoint.h"
#include "core/plan.h"

static guint64
parameters (const MharCheckpoint *checkpoint)
{
  guint64 total = 0;

  for (guint i = 0; i < mhar_checkpoint_n_tensors (checkpoint); i++) {
    const MharTensor *t = mhar_checkpoint_tensor (checkpoint, i);
    guint64 n = 1;
    for (guint d = 0; d < t->n_dims; d++)
      n *= t->shape[d];
    total += n;
  }
  return total;
}

static void
describe (GString *out, const MharCheckpoint *c, const MharPlan *plan)
{
  const MharBody *b = mhar_config_body (mhar_checkpoint_config (c));

  g_string_append_printf (out, "  dialect      %s\n", plan->dialect);
  if (plan->sites->len > 0)
    g_string_append_printf (out, "  mode         %s, %d routing head%s, %u sites\n", plan->mode, plan->heads,
                            plan->heads == 1 ? "" : "s", plan->sites->len);
  else
    g_string_append_printf (out, "  mode         %s, no reads over depth\n", plan->mode);
  g_string_append_printf (out,
                          "  body         %s: %d layers, width %d, %d attention heads (%d key/value) of %d, FFN %d\n",
                          b->model_type, b->layers, b->width, b->heads, b->kv_heads, b->head_dim, b->ffn);
  g_string_append_printf (out, "  vocabulary   %d, %s head; context %d; RoPE theta %.10g\n", b->vocab,
                          mhar_checkpoint_find (c, "lm_head.weight") != NULL ? "own" : "tied", b->context,
                          b->rope_theta);
  g_string_append_printf (out,
                          "  stored       %u tensors, %" G_GUINT64_FORMAT " parameters, %s, %.1f MB in %u file%s\n",
                          mhar_checkpoint_n_tensors (c), parameters (c), mhar_checkpoint_dtype (c),
                          (double) mhar_checkpoint_bytes (c) / 1e6, mhar_checkpoint_n_files (c),
                          mhar_checkpoint_n_files (c) == 1 ? "" : "s");
  for (guint w = 0; w < plan->warnings->len; w++)
    g_string_append_printf (out, "  warning      %s\n", (const char *) g_ptr_array_index (plan->warnings, w));
}

static json_t *
as_json (const MharCheckpoint *c, const MharPlan *plan)
{
  const MharBody *b = mhar_config_body (mhar_checkpoint_config (c));
  json_t *warnings = json_array ();

  for (guint w = 0; w < plan->warnings->len; w++)
    json_array_append_new (warnings, json_string (g_ptr_array_index (plan->warnings, w)));
  return json_pack (
      "{s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:f, s:s, s:I, s:I, s:i, s:o}", "path",
      "", "dialect", plan->dialect, "mode", plan->mode, "model_type", b->model_type, "heads", plan->heads, "sites",
      (int)plan->sites->len, "layers", b->layers, "width", b->width, "attention_heads", b->heads, "kv_heads",
      b->kv_heads, "head_dim", b->head_dim, "ffn", b->ffn, "vocab", b->vocab, "context", b->context, "rope_theta",
      b->rope_theta, "dtype", mhar_checkpoint_dtype (c), "parameters", (json_int_t)parameters (c), "bytes",
      (json_int_t)mhar_checkpoint_bytes (c), "files", (int)mhar_checkpoint_n_files (c), "warnings", warnings);
}

int
mhar_job_info (const MharCliOptions *options, GError **error)
{
  static const MharDescription how = { describe, as_json };
  return mhar_describe_checkpoints (options, &how, error);
}
