/* SPDX-License-Identifier: MIT */
/* Dialects: the plans of checkpoints made here tensor by tensor, and the warnings and refusals of odd ones. */
#include "core/dialect.h"
#include "core/error.h"
#include "tests/unit/scratch.h"

#include <string.h>

/* A one-layer checkpoint, d 8, one attention head, vocabulary 4, all ones; `more` are extra tensors: "name:shape", all
 * ones, or "name:shape:0", all zeros (NULL-ended). */
static void
write_checkpoint (const char *folder, const char *config, gboolean routing, const char *const *more)
{
  static const char *const body[] = { "model.embed_tokens.weight:4,8", "model.norm.weight:8",
    "model.layers.0.input_layernorm.weight:8", "model.layers.0.post_attention_layernorm.weight:8",
    "model.layers.0.self_attn.q_proj.weight:8,8", "model.layers.0.self_attn.k_proj.weight:8,8",
    "model.layers.0.self_attn.v_proj.weight:8,8", "model.layers.0.self_attn.o_proj.weight:8,8",
    "model.layers.0.mlp.gate_proj.weight:16,8", "model.layers.0.mlp.up_proj.weight:16,8",
    "model.layers.0.mlp.down_proj.weight:8,16", NULL };
  static const char *const reads[] = { "model.layers.0.attn_res_proj.weight:1,8", "model.layers.0.attn_res_norm.weight:8",
    "model.layers.0.mlp_res_proj.weight:1,8", "model.layers.0.mlp_res_norm.weight:8", "model.final_res_proj.weight:1,8",
    "model.final_res_norm.weight:8", NULL };
  const char *const *lists[] = { body, routing ? reads : NULL, more };
  g_autoptr (GString) header = g_string_new ("{");
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (float));
  g_autofree char *config_path = g_build_filename (folder, "config.json", NULL);
  g_autofree char *path = g_build_filename (folder, "model.safetensors", NULL);
  gsize at = 0;

  for (guint l = 0; l < G_N_ELEMENTS (lists); l++)
    for (guint i = 0; lists[l] != NULL && lists[l][i] != NULL; i++) {
      g_auto (GStrv) parts = g_strsplit (lists[l][i], ":", 3);
      g_auto (GStrv) dims = g_strsplit (parts[1], ",", -1);
      gsize n = 4;
      float value = parts[2] == NULL;
      for (guint d = 0; dims[d] != NULL; d++)
        n *= g_ascii_strtoull (dims[d], NULL, 10);
      g_string_append_printf (header, "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}", at > 0 ? "," : "",
                              parts[0], parts[1], at, at + n);
      for (gsize k = 0; k < n / 4; k++)
        g_array_append_val (values, value);
      at += n;
    }
  g_string_append_c (header, '}');
  g_autoptr (GByteArray) file = g_byte_array_new ();
  guint64 length = GUINT64_TO_LE ((guint64) header->len);
  g_byte_array_append (file, (const guint8 *) &length, 8);
  g_byte_array_append (file, (const guint8 *) header->str, (guint) header->len);
  g_byte_array_append (file, (const guint8 *) values->data, values->len * 4);
  g_assert_true (g_file_set_contents (config_path, config, -1, NULL));
  g_assert_true (g_file_set_contents (path, (const char *) file->data, file->len, NULL));
}

#define BODY \
  "\"vocab_size\":4,\"hidden_size\":8,\"num_hidden_layers\":1,\"num_attention_heads\":1,\"intermediate_size\":16,\"tie_word_embeddings\":true"
#define FLA \
  "\"vocab_size\":4,\"hidden_size\":8,\"num_hidden_layers\":1,\"num_heads\":1,\"intermediate_size\":16,\"tie_word_embeddings\":true"
#define FULL_MH "{\"model_type\":\"qwen3_attnres\"," BODY ",\"attnres_mode\":\"full_mh\",\"attnres_num_heads\":2}"

typedef struct {
  const char *name, *config;
  gboolean routing;
  const char *more[8];
  MharDialectOptions options;
  const char *mode; /* NULL: refused */
  int heads;
  const char *says; /* in the first warning, or in the refusal; NULL: no warnings */
  guint sites;      /* 0: 3, or none in a plain Transformer */
} Odd;

#define MODE(mode, more) "{\"model_type\":\"qwen3_attnres\"," BODY ",\"attnres_mode\":\"" mode "\"" more "}"
#define LAYER "model.layers.0."

static const Odd odd[] = {
  { "full-mh", FULL_MH, TRUE, { NULL }, { 0 }, "full_mh", 2, NULL, 0 },
  { "heads-defaulted", "{\"model_type\":\"qwen3_attnres\"," BODY ",\"attnres_mode\":\"full_mh\"}", TRUE, { NULL }, { 0 }, "full_mh", 8,
    "attnres_num_heads is not in the config", 0 },
  { "heads-overridden", FULL_MH, TRUE, { NULL }, { .heads = 4 }, "full_mh", 4, NULL, 0 },
  { "heads-do-not-divide", FULL_MH, TRUE, { NULL }, { .heads = 3 }, NULL, 0, "3 routing heads do not divide", 0 },
  { "one-head-whatever-the-number", "{\"model_type\":\"qwen3_attnres\"," BODY ",\"attnres_mode\":\"full\",\"attnres_num_heads\":8}", TRUE,
    { NULL }, { 0 }, "full", 1, NULL, 0 },
  { "plain", "{\"model_type\":\"qwen3\"," BODY "}", FALSE, { NULL }, { 0 }, "baseline", 1, NULL, 0 },
  { "baseline-with-routing-tensors", "{\"model_type\":\"qwen3_attnres\"," BODY ",\"attnres_mode\":\"baseline\"}", TRUE, { NULL }, { 0 },
    "baseline", 1, NULL, 0 },
  { "routing-without-mode", "{\"model_type\":\"qwen3_attnres\"," BODY "}", TRUE, { NULL }, { 0 }, NULL, 0, "attnres_mode is not", 0 },
  { "mode-without-routing", FULL_MH, FALSE, { NULL }, { 0 }, NULL, 0, "attn_res_proj", 0 },
  { "mode-unknown", "{\"model_type\":\"qwen3_attnres\"," BODY ",\"attnres_mode\":\"depth_attn\"}", TRUE, { NULL }, { 0 }, NULL, 0,
    "\"depth_attn\" is not supported", 0 },
  { "mode-untrained", MODE ("full_split_v", ""), TRUE, { NULL }, { 0 }, NULL, 0, "no checkpoint trained in it is known", 0 },
  { "mode-is-no-word", "{\"model_type\":\"qwen3_attnres\"," BODY ",\"attnres_mode\":7}", TRUE, { NULL }, { 0 }, NULL, 0, "attnres_mode", 0 },
  { "gate-unknown", MODE ("full", ",\"attnres_gate_type\":\"softmax\""), TRUE, { NULL }, { 0 }, NULL, 0, "\"softmax\" is not supported", 0 },
  { "gate-without-tensor", MODE ("full", ",\"attnres_gate_type\":\"learnable_alpha\""), TRUE, { NULL }, { 0 }, NULL, 0, "attn_res_alpha", 0 },
  { "vector-gate-without-bias", MODE ("full", ",\"attnres_gate_type\":\"sigmoid_vector\""), TRUE, { LAYER "attn_res_gate_proj.weight:8,8" },
    { 0 }, NULL, 0, "attn_res_gate_proj.bias", 0 },
  { "gate", MODE ("block", ",\"attnres_gate_type\":\"learnable_alpha\""), TRUE, { LAYER "attn_res_alpha:1", LAYER "mlp_res_alpha:1:0" },
    { 0 }, "block", 1, NULL, 0 },
  { "gates-closed", MODE ("full", ",\"attnres_gate_type\":\"learnable_alpha\""), TRUE, { LAYER "attn_res_alpha:1:0", LAYER "mlp_res_alpha:1,1:0" },
    { 0 }, "full", 1, "every gate is exactly zero", 0 },
  { "queries-zero", MODE ("block_mh", ",\"attnres_num_heads\":2"), FALSE, { LAYER "attn_res_proj.weight:1,8:0", LAYER "attn_res_norm.weight:8",
    LAYER "mlp_res_proj.weight:1,8:0", LAYER "mlp_res_norm.weight:8" }, { 0 }, "block_mh", 2, "every routing query is exactly zero", 2 },
  { "block-without-final-route", MODE ("block", ""), FALSE, { LAYER "attn_res_proj.weight:1,8", LAYER "attn_res_norm.weight:8",
    LAYER "mlp_res_proj.weight:1,8", LAYER "mlp_res_norm.weight:8" }, { 0 }, NULL, 0, "final_res_proj", 0 },
  { "head-wise-needs-a-query-a-group", MODE ("full_hw", ",\"attnres_num_heads\":2"), TRUE, { NULL }, { 0 }, "full_hw", 2, NULL, 0 },
  { "null-asked-for", MODE ("delta", ",\"attnres_use_null_source\":true"), TRUE, { NULL }, { 0 }, NULL, 0, "attn_null_source", 0 },
  { "null-always-in-delta-mh", MODE ("delta_mh", ",\"attnres_num_heads\":2"), TRUE, { NULL }, { 0 }, NULL, 0, "attn_null_source", 0 },
  { "null-of-another-width", MODE ("delta_mh", ",\"attnres_num_heads\":2"), TRUE, { LAYER "attn_null_source:4" }, { 0 }, NULL, 0, "[4]", 0 },
  { "delta-without-null", MODE ("delta", ""), TRUE, { NULL }, { 0 }, "delta", 1, NULL, 1 },
  { "null-unasked", MODE ("delta_block", ""), TRUE, { LAYER "attn_null_source:8", LAYER "mlp_null_source:8" }, { 0 }, "delta_block", 1, NULL, 2 },
  { "hyper-without-connections", MODE ("hyper_connection", ""), TRUE, { NULL }, { 0 }, NULL, 0, "hc_alpha_attn", 0 },
  { "hyper-streams-out-of-range", MODE ("hyper_connection", ",\"attnres_hyper_n\":0"), TRUE, { NULL }, { 0 }, NULL, 0, "attnres_hyper_n", 0 },
  { "recency", MODE ("block", ""), TRUE, { LAYER "attn_res_bias:1", LAYER "mlp_res_bias:1" }, { 0 }, "block", 1,
    "a source stands twice at 1 site and", 2 },
  { "recency-full", MODE ("full", ""), TRUE, { LAYER "attn_res_bias:1", LAYER "mlp_res_bias:1" }, { 0 }, "full", 1,
    "a source stands twice at 2 sites", 2 },
  { "recency-without-a-bias", MODE ("full", ""), TRUE, { LAYER "attn_res_bias:1" }, { 0 }, NULL, 0, "mlp_res_bias", 0 },
  { "recency-of-several-heads", MODE ("full_mh", ""), TRUE, { LAYER "attn_res_bias:1" }, { 0 }, NULL, 0, "recency bias", 0 },
  { "sublayers", "{\"model_type\":\"llama\"," BODY ",\"attnres_block_size\":2}", TRUE, { "model.res_proj.weight:1,8", "model.res_norm.weight:8" },
    { 0 }, "block", 1, NULL, 2 },
  { "sublayers-odd", "{\"model_type\":\"llama\"," BODY ",\"attnres_block_size\":3}", TRUE, { NULL }, { 0 }, NULL, 0, "1 or even", 0 },
  { "sublayers-without-final-route", "{\"model_type\":\"llama\"," BODY ",\"attnres_block_size\":1}", TRUE, { NULL }, { 0 }, NULL, 0,
    "model.res_proj", 0 },
  { "sublayers-without-routing", "{\"model_type\":\"llama\"," BODY ",\"attnres_block_size\":2}", FALSE, { NULL }, { 0 }, NULL, 0,
    "mlp_res_proj", 0 },
  { "own-words", "{\"model_type\":\"transformer\"," FLA ",\"attnres_block_size\":2}", TRUE,
    { "model.res_proj.weight:1,8", "model.res_norm.weight:8" }, { 0 }, "block", 1, NULL, 2 },
  { "own-words-plain", "{\"model_type\":\"transformer\"," FLA ",\"attnres_block_size\":null}", FALSE, { NULL }, { 0 }, "baseline", 1, NULL, 0 },
  { "own-words-norms-lost", "{\"model_type\":\"transformer\"," FLA ",\"qk_norm\":true}", FALSE, { NULL }, { 0 }, NULL, 0,
    "no norms for queries and keys but 'qk_norm' is true", 0 },
  { "own-words-norms-unasked", "{\"model_type\":\"transformer\"," FLA "}", FALSE,
    { LAYER "self_attn.q_norm.weight:8", LAYER "self_attn.k_norm.weight:8" }, { 0 }, NULL, 0, "'qk_norm' is not set", 0 },
  { "own-words-biases-lost", "{\"model_type\":\"transformer\"," FLA ",\"qkv_bias\":true}", FALSE, { NULL }, { 0 }, NULL, 0,
    "q_proj.bias", 0 },
  { "kimi-names", "{\"model_type\":\"qwen3\"," BODY ",\"attn_res_block_size\":2}", FALSE,
    { LAYER "self_attention_res_proj.weight:1,8", LAYER "mlp_res_proj.weight:1,8" }, { 0 }, NULL, 0,
    "_res_proj.weight' are of no dialect", 0 },
  { "kimi-products", "{\"model_type\":\"qwen3\"," BODY "}", FALSE, { LAYER "attn_res_score:8", LAYER "ffn_res_score:8" }, { 0 }, NULL, 0,
    "--weights-only", 0 },
  { "kimi-config-alone", "{\"model_type\":\"qwen3\"," BODY ",\"attn_res_block_size\":2}", FALSE, { NULL }, { 0 }, NULL, 0,
    "'attn_res_block_size' asks", 0 },
  { "regrouped", MODE ("full", ""), TRUE, { NULL }, { .heads = 2 }, "full", 2, "mode full has one routing head; --heads 2 cuts", 0 },
  { "one-head-asked-for", MODE ("full", ""), TRUE, { NULL }, { .heads = 1 }, "full", 1, NULL, 0 },
  { "heads-of-nothing", "{\"model_type\":\"qwen3\"," BODY "}", FALSE, { NULL }, { .heads = 2 }, "baseline", 1, "--heads 2 changes nothing", 0 },
  { "unused", FULL_MH, TRUE, { "model.layers.0.attn_null_source:8", NULL }, { 0 }, "full_mh", 2, "attn_null_source", 0 },
  { "unused-strict", FULL_MH, TRUE, { "model.layers.0.attn_null_source:8", NULL }, { .strict = TRUE }, NULL, 0, "attn_null_source", 0 },
  { "higher-layers", FULL_MH, TRUE, { "model.layers.3.mlp_res_norm.weight:8", "model.layers.3.mlp.up_proj.weight:16,8", "model.norm.inv_freq:4" },
    { 0 }, "full_mh", 2, "the config has 1 layer and leaves 2 stored tensors of higher layers unused, such as model.layers.3.mlp_res_norm.weight", 0 },
  { "higher-layers-strict", FULL_MH, TRUE, { "model.layers.1.attn_res_proj.weight:1,8" }, { .strict = TRUE }, NULL, 0, "of higher layers", 0 },
  { "higher-layers-of-a-plain-one", "{\"model_type\":\"qwen3\"," BODY "}", FALSE, { "model.layers.1.mlp.up_proj.weight:16,8" }, { .strict = TRUE },
    NULL, 0, "leaves 1 stored tensor of higher layers unused, such as model.layers.1.mlp.up_proj.weight", 0 },
  { "routing-of-a-name-unheard-of", FULL_MH, TRUE, { LAYER "attn_res_scale:1" }, { .strict = TRUE }, NULL, 0, "attn_res_scale", 0 },
  { "rotary-buffers", FULL_MH, TRUE, { LAYER "self_attn.rotary_emb.inv_freq:4", "model.rotary_emb.inv_freq:4" }, { .strict = TRUE }, "full_mh", 2,
    NULL, 0 },
  { "unknown-tensors", FULL_MH, TRUE, { LAYER "self_attn.sinks:1", "model.aux:2" }, { .strict = TRUE }, "full_mh", 2,
    "2 stored tensors are of no known use and left out, such as " LAYER "self_attn.sinks", 0 },
  { "biases-unasked", FULL_MH, TRUE, { LAYER "self_attn.k_proj.bias:8", LAYER "self_attn.q_proj.bias:8" }, { .strict = TRUE }, "full_mh", 2,
    "attention_bias is not set", 0 },
  { "other-head", FULL_MH, TRUE, { "lm_head.weight:4,8", NULL }, { 0 }, "full_mh", 2, NULL, 0 },
};

static void
test_odd (gconstpointer data)
{
  const Odd *o = data;
  char *folder = scratch_new ();
  g_autoptr (GError) error = NULL;

  write_checkpoint (folder, o->config, o->routing, o->more);
  g_autoptr (MharCheckpoint) checkpoint = mhar_checkpoint_open (folder, &error);
  g_assert_no_error (error);
  g_autoptr (MharPlan) plan = mhar_plan_from_checkpoint (checkpoint, &o->options, &error);
  if (o->mode == NULL) {
    g_assert_nonnull (error);
    g_assert_cmpint (error->code, ==, o->options.heads > 0 ? MHAR_ERROR_USAGE : MHAR_ERROR_INPUT);
    g_test_message ("%s", error->message);
    g_assert_nonnull (strstr (error->message, o->says));
  } else {
    g_assert_no_error (error);
    g_assert_cmpstr (plan->mode, ==, o->mode);
    g_assert_cmpint (plan->heads, ==, o->heads);
    g_assert_cmpuint (plan->sites->len, ==, o->sites > 0 ? o->sites : strcmp (o->mode, "baseline") == 0 ? 0 : 3);
    g_assert_cmpuint (plan->warnings->len, ==, o->says != NULL);
    if (o->says != NULL)
      g_assert_nonnull (strstr (g_ptr_array_index (plan->warnings, 0), o->says));
  }
  scratch_remove (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (odd); i++) {
    g_autofree char *path = g_strdup_printf ("/dialect/%s", odd[i].name);
    g_test_add_data_func (path, &odd[i], test_odd);
  }
  return g_test_run ();
}
