/* SPDX-License-Identifier: MIT */
/* Dialects: the plans of checkpoints made here tensor by tensor, and the warnings and refusals of odd ones. */
#include "core/dialect.h"
#include "core/error.h"
#include "tests/unit/scratch.h"

#include <string.h>

/* A one-layer checkpoint, d 8, one attention head, vocabulary 4, all ones; `more` are extra tensors (name, NULL-ended), vectors of 8. */
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
  g_autofree char *config_path = g_build_filename (folder, "config.json", NULL);
  g_autofree char *path = g_build_filename (folder, "model.safetensors", NULL);
  gsize at = 0;

  for (guint l = 0; l < G_N_ELEMENTS (lists); l++)
    for (guint i = 0; lists[l] != NULL && lists[l][i] != NULL; i++) {
      g_auto (GStrv) parts = g_strsplit (lists[l][i], ":", 2);
      g_auto (GStrv) dims = g_strsplit (parts[1], ",", -1);
      gsize n = 4;
      for (guint d = 0; dims[d] != NULL; d++)
        n *= g_ascii_strtoull (dims[d], NULL, 10);
      g_string_append_printf (header, "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}", at > 0 ? "," : "",
                              parts[0], parts[1], at, at + n);
      at += n;
    }
  g_string_append_c (header, '}');
  g_autoptr (GByteArray) file = g_byte_array_new ();
  guint64 length = GUINT64_TO_LE ((guint64) header->len);
  g_byte_array_append (file, (const guint8 *) &length, 8);
  g_byte_array_append (file, (const guint8 *) header->str, (guint) header->len);
  for (gsize i = 0; i < at / 4; i++) {
    float one = 1;
    g_byte_array_append (file, (const guint8 *) &one, 4);
  }
  g_assert_true (g_file_set_contents (config_path, config, -1, NULL));
  g_assert_true (g_file_set_contents (path, (const char *) file->data, file->len, NULL));
}

#define BODY \
  "\"vocab_size\":4,\"hidden_size\":8,\"num_hidden_layers\":1,\"num_attention_heads\":1,\"intermediate_size\":16,\"tie_word_embeddings\":true"
#define FULL_MH "{\"model_type\":\"qwen3_attnres\"," BODY ",\"attnres_mode\":\"full_mh\",\"attnres_num_heads\":2}"

typedef struct {
  const char *name, *config;
  gboolean routing;
  const char *more[3];
  MharDialectOptions options;
  const char *mode; /* NULL: refused */
  int heads;
  const char *says; /* in the first warning, or in the refusal; NULL: no warnings */
} Odd;

static const Odd odd[] = {
  { "full-mh", FULL_MH, TRUE, { NULL }, { 0 }, "full_mh", 2, NULL },
  { "heads-defaulted", "{\"model_type\":\"qwen3_attnres\"," BODY ",\"attnres_mode\":\"full_mh\"}", TRUE, { NULL }, { 0 }, "full_mh", 8,
    "attnres_num_heads is not in the config" },
  { "heads-overridden", FULL_MH, TRUE, { NULL }, { .heads = 4 }, "full_mh", 4, NULL },
  { "heads-do-not-divide", FULL_MH, TRUE, { NULL }, { .heads = 3 }, NULL, 0, "3 routing heads do not divide" },
  { "one-head-whatever-the-number", "{\"model_type\":\"qwen3_attnres\"," BODY ",\"attnres_mode\":\"full\",\"attnres_num_heads\":8}", TRUE,
    { NULL }, { 0 }, "full", 1, NULL },
  { "plain", "{\"model_type\":\"qwen3\"," BODY "}", FALSE, { NULL }, { 0 }, "baseline", 1, NULL },
  { "baseline-with-routing-tensors", "{\"model_type\":\"qwen3_attnres\"," BODY ",\"attnres_mode\":\"baseline\"}", TRUE, { NULL }, { 0 },
    "baseline", 1, NULL },
  { "routing-without-mode", "{\"model_type\":\"qwen3_attnres\"," BODY "}", TRUE, { NULL }, { 0 }, NULL, 0, "attnres_mode is not" },
  { "mode-without-routing", FULL_MH, FALSE, { NULL }, { 0 }, NULL, 0, "attn_res_proj" },
  { "mode-unknown", "{\"model_type\":\"qwen3_attnres\"," BODY ",\"attnres_mode\":\"depth_attn\"}", TRUE, { NULL }, { 0 }, NULL, 0,
    "\"depth_attn\" is not supported" },
  { "gate", "{\"model_type\":\"qwen3_attnres\"," BODY ",\"attnres_mode\":\"full\",\"attnres_gate_type\":\"learnable_alpha\"}", TRUE, { NULL },
    { 0 }, NULL, 0, "\"learnable_alpha\" is not supported" },
  { "unused", FULL_MH, TRUE, { "model.layers.0.attn_null_source:8", NULL }, { 0 }, "full_mh", 2, "attn_null_source" },
  { "unused-strict", FULL_MH, TRUE, { "model.layers.0.attn_null_source:8", NULL }, { .strict = TRUE }, NULL, 0, "attn_null_source" },
  { "other-head", FULL_MH, TRUE, { "lm_head.weight:4,8", NULL }, { 0 }, "full_mh", 2, NULL },
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
    g_assert_error (error, MHAR_ERROR, MHAR_ERROR_INPUT);
    g_test_message ("%s", error->message);
    g_assert_nonnull (strstr (error->message, o->says));
  } else {
    g_assert_no_error (error);
    g_assert_cmpstr (plan->mode, ==, o->mode);
    g_assert_cmpint (plan->heads, ==, o->heads);
    g_assert_cmpuint (plan->sites->len, ==, strcmp (o->mode, "baseline") == 0 ? 0 : 3);
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
