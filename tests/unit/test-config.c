/* SPDX-License-Identifier: MIT */
/* core/config: the body's numbers, their defaults and limits, and what is refused by name. */
#include "core/config.h"

#include "core/rope.h"
#include "tests/unit/scratch.h"

#include <math.h>
#include <sys/stat.h>

#define PATH "some/config.json"

/* One line per key, so that a test can replace or drop it. */
static const char *const base[] = {
  "\"model_type\": \"qwen3_attnres\"",
  "\"num_hidden_layers\": 4",
  "\"hidden_size\": 64",
  "\"num_attention_heads\": 4",
  "\"num_key_value_heads\": 2",
  "\"head_dim\": 24",
  "\"vocab_size\": 4096",
  "\"intermediate_size\": 128",
  "\"max_position_embeddings\": 1024",
  "\"rms_norm_eps\": 1e-05",
  "\"hidden_act\": \"silu\"",
  "\"tie_word_embeddings\": true",
  "\"rope_parameters\": {\"rope_theta\": 500000.0, \"rope_type\": \"default\"}",
  "\"attention_bias\": false",
  "\"mlp_bias\": false",
  "\"use_sliding_window\": false",
  "\"sliding_window\": null",
  "\"layer_types\": [\"full_attention\", \"full_attention\"]",
  "\"num_experts\": 0",
  "\"attnres_mode\": \"full_mh\"",
};

/* The base with `key: value` put in place of the line of that key, or added; value NULL drops it. */
static char *
with (const char *key, const char *value)
{
  g_autofree char *start = g_strdup_printf ("\"%s\":", key);
  GString *text = g_string_new ("{");
  for (gsize i = 0; i < G_N_ELEMENTS (base); i++)
    if (!g_str_has_prefix (base[i], start))
      g_string_append_printf (text, "%s%s", text->len > 1 ? ",\n " : "", base[i]);
  if (value != NULL)
    g_string_append_printf (text, ",\n %s %s", start, value);
  return g_string_free (g_string_append (text, "}\n"), FALSE);
}

static MharConfig *
parse (const char *text, GError **error)
{
  return mhar_config_parse (text, strlen (text), PATH, error);
}

static MharConfig *
parse_good (const char *key, const char *value)
{
  g_autofree char *text = with (key, value);
  GError *error = NULL;
  MharConfig *config = parse (text, &error);
  g_assert_no_error (error);
  g_assert_nonnull (config);
  return config;
}

static void
test_body (void)
{
  g_autofree char *text = with ("dtype", "\"bfloat16\"");
  GError *error = NULL;
  g_autoptr (MharConfig) config = parse (text, &error);
  g_assert_no_error (error);
  const MharBody *body = mhar_config_body (config);
  g_assert_cmpstr (body->model_type, ==, "qwen3_attnres");
  g_assert_cmpint (body->layers, ==, 4);
  g_assert_cmpint (body->width, ==, 64);
  g_assert_cmpint (body->heads, ==, 4);
  g_assert_cmpint (body->kv_heads, ==, 2);
  g_assert_cmpint (body->head_dim, ==, 24);
  g_assert_cmpint (body->ffn, ==, 128);
  g_assert_cmpint (body->vocab, ==, 4096);
  g_assert_cmpint (body->context, ==, 1024);
  g_assert_cmpfloat (body->eps, ==, 1e-5);
  g_assert_cmpfloat (body->rope_theta, ==, 500000);
  g_assert_true (body->tied);
  gsize length;
  const char *kept = mhar_config_text (config, &length);
  g_assert_cmpmem (kept, length, text, strlen (text));
  g_assert_cmpstr (mhar_config_path (config), ==, PATH);
}

static void
test_defaults (void)
{
  g_autoptr (MharConfig) heads = parse_good ("num_key_value_heads", NULL);
  g_assert_cmpint (mhar_config_body (heads)->kv_heads, ==, 4);
  g_autoptr (MharConfig) null_heads = parse_good ("num_key_value_heads", "null");
  g_assert_cmpint (mhar_config_body (null_heads)->kv_heads, ==, 4);
  g_autoptr (MharConfig) dim = parse_good ("head_dim", NULL);
  g_assert_cmpint (mhar_config_body (dim)->head_dim, ==, 16);
  g_autoptr (MharConfig) null_dim = parse_good ("head_dim", "null");
  g_assert_cmpint (mhar_config_body (null_dim)->head_dim, ==, 16);
  g_autoptr (MharConfig) context = parse_good ("max_position_embeddings", NULL);
  g_assert_cmpint (mhar_config_body (context)->context, ==, 0);
  g_autoptr (MharConfig) eps = parse_good ("rms_norm_eps", NULL);
  g_assert_cmpfloat (mhar_config_body (eps)->eps, ==, 1e-6);
  g_autoptr (MharConfig) tied = parse_good ("tie_word_embeddings", NULL);
  g_assert_false (mhar_config_body (tied)->tied);
  g_autoptr (MharConfig) rope = parse_good ("rope_parameters", NULL);
  g_assert_cmpfloat (mhar_config_body (rope)->rope_theta, ==, 10000);
}

/* What may stand for a key. */
static const struct {
  const char *key, *value;
} allowed[] = {
  { "model_type", "\"qwen3\"" },
  { "model_type", "\"llama\"" },
  { "model_type", "\"llama_attnres\"" },
  { "model_type", "\"qwen3_attnres_v2\"" },
  { "rope_scaling", "null" },
  { "rope_parameters", "{}" },
  { "rope_parameters", "{\"rope_type\": null}" },
  { "rope_parameters", "{\"type\": \"default\", \"partial_rotary_factor\": 1.0}" },
  { "rope_scaling", "{}" },
  { "rope_scaling", "{\"rope_theta\": 500000.0, \"rope_type\": \"default\"}" }, /* as rope_parameters */
  { "rope_theta", "500000" },                                                   /* as rope_parameters has it */
  { "hidden_act", NULL },
  { "hidden_act", "\"swish\"" },
  { "attention_bias", "null" },
  { "q_lora_rank", "null" },
  { "sliding_window", "4096" },     /* not used */
  { "use_sliding_window", "true" }, /* with no window */
  { "layer_types", "null" },
  { "layer_types", "[]" },
  { "layer_types", "[\"full_attention\"]" }, /* as good as none */
  { "num_experts_per_tok", "null" },
  { "hidden_size", "67" }, /* head_dim is given */
  { "hidden_size", "64.0" },
  { "hidden_size", "6.4e1" },
  { "num_hidden_layers", "1024" },
  { "vocab_size", "4194304" },
  { "max_position_embeddings", "16777216" },
  { "head_dim", "2" },
  { "rms_norm_eps", "1" },
  { "unheard_of", "[[{\"a\": [1, 2.5, null]}]]" },
};

static void
test_allowed (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (allowed); i++)
    mhar_config_free (parse_good (allowed[i].key, allowed[i].value));
  g_autoptr (MharConfig) config = parse_good ("hidden_size", "6.4e1");
  g_assert_cmpint (mhar_config_body (config)->width, ==, 64);
}

static const struct {
  const char *key, *value, *words;
} refused[] = {
  /* not supported, by name */
  { "model_type", "\"qwen3_moe\"", "'model_type'|\"qwen3_moe\"|not supported" },
  { "model_type", "\"kimi_k3\"", "kimi_k3|not supported" },
  { "model_type", "\"deepseek_v3\"", "deepseek_v3|not supported" },
  { "model_type", "\"qwen3attnres\"", "not supported" },
  { "model_type", "\"\"", "not supported" },
  { "model_type", NULL, "'model_type' is missing" },
  { "model_type", "7", "'model_type'|7|string" },
  { "kv_lora_rank", "512", "'kv_lora_rank'|512|multi-head latent attention|--weights-only shows" },
  { "qk_rope_head_dim", "64", "'qk_rope_head_dim'|not supported" },
  { "rope_parameters", "[]", "'rope_parameters'|a list|not supported" },
  { "rope_scaling", "\"linear\"", "'rope_scaling'|linear|not supported" },
  { "rope_scaling", "{\"type\": \"linear\", \"factor\": 2.0}", "'rope_scaling' and 'rope_parameters' are both set" },
  { "rope_parameters", "{\"rope_type\": \"longrope\", \"factor\": 4}",
    "'rope_parameters.rope_type'|longrope|not supported" },
  { "rope_parameters", "{\"type\": \"mrope\"}", "'rope_parameters.type'|mrope|not supported" },
  { "rope_parameters", "{\"rope_type\": 1}", "'rope_parameters.rope_type'|not supported" },
  { "rope_parameters", "{\"rope_type\": \"yarn\", \"type\": \"linear\", \"factor\": 2}", "'type'|another 'rope_type'" },
  { "rope_parameters", "{\"factor\": 4}", "'rope_parameters' has a 'factor' but no 'rope_type'" },
  { "rope_parameters", "{\"rope_type\": \"linear\"}", "'rope_parameters.factor' is missing" },
  { "rope_parameters", "{\"rope_type\": \"linear\", \"factor\": 0}", "'rope_parameters.factor'|0.001 to" },
  { "rope_parameters", "{\"rope_type\": \"linear\", \"factor\": \"2\"}", "'rope_parameters.factor' is \"2\"" },
  { "rope_parameters", "{\"rope_type\": \"yarn\", \"truncate\": 1}", "'rope_parameters.truncate' is 1|true or false" },
  { "rope_parameters", "{\"rope_type\": \"yarn\", \"beta_fast\": 1, \"beta_slow\": 2}", "'beta_fast' 1|'beta_slow' 2" },
  { "rope_parameters", "{\"rope_type\": \"yarn\", \"rope_theta\": 1}", "'rope_theta' 1|above 1" },
  { "rope_parameters", "{\"rope_type\": \"yarn\", \"attention_factor\": 0}", "'rope_parameters.attention_factor'" },
  { "rope_parameters", "{\"rope_type\": \"yarn\", \"mscale\": -1}", "'rope_parameters.mscale' is -1" },
  { "rope_parameters", "{\"rope_type\": \"yarn\", \"original_max_position_embeddings\": 0}",
    "'rope_parameters.original_max" },
  { "rope_parameters", "{\"rope_type\": \"llama3\", \"factor\": 8}", "'rope_parameters.low_freq_factor' is missing" },
  { "rope_parameters", "{\"rope_type\": \"llama3\", \"factor\": 8, \"low_freq_factor\": 4, \"high_freq_factor\": 4}",
    "'rope_parameters.high_freq_factor' is 4|above" },
  { "rope_parameters", "{\"sliding_attention\": {\"rope_theta\": 1}}", "'rope_parameters.full_attention' is missing" },
  { "rope_parameters", "{\"full_attention\": {\"rope_type\": \"su\"}}",
    "'rope_parameters.full_attention.rope_type'|su" },
  { "rope_theta", "10000", "'rope_theta' is 10000|'rope_parameters.rope_theta' is 500000" },
  { "rope_parameters", "{\"rope_theta\": -1}", "'rope_parameters.rope_theta'|-1|above 0" },
  { "rope_parameters", "{\"partial_rotary_factor\": 0.5}", "'partial_rotary_factor'|0.5|not supported" },
  { "partial_rotary_factor", "0.25", "'partial_rotary_factor'|0.25|not supported" },
  { "hidden_act", "\"gelu\"", "'hidden_act'|gelu|not supported|--weights-only" },
  { "hidden_act", "[\"silu\"]", "'hidden_act'|not supported" },
  { "attention_bias", "1", "'attention_bias'|true or false" },
  { "mlp_bias", "true", "'mlp_bias'|true|not supported|Llama" },
  { "layer_types", "[\"full_attention\", \"sliding_attention\"]",
    "'layer_types' has 2 entries|'num_hidden_layers' is 4" },
  { "layer_types", "[\"sliding_attention\",\"sliding_attention\",\"sliding_attention\",\"sliding_attention\"]",
    "'layer_types'|no window|'use_sliding_window'" },
  { "layer_types", "[\"linear_attention\"]", "'layer_types[0]'|linear_attention|not supported" },
  { "layer_types", "[null]", "'layer_types[0]'|not supported" },
  { "layer_types", "\"full_attention\"", "'layer_types'|not supported" },
  { "num_experts", "128", "'num_experts'|128|not supported|--weights-only" },
  { "num_local_experts", "8", "'num_local_experts'|not supported" },
  { "moe_intermediate_size", "768", "'moe_intermediate_size'|not supported" },
  /* numbers */
  { "num_hidden_layers", NULL, "'num_hidden_layers' is missing" },
  { "num_hidden_layers", "null", "'num_hidden_layers' is missing" },
  { "num_hidden_layers", "0", "'num_hidden_layers'|0|1 to 1024" },
  { "num_hidden_layers", "-4", "'num_hidden_layers'|-4" },
  { "num_hidden_layers", "1025", "'num_hidden_layers'|1025" },
  { "num_hidden_layers", "true", "'num_hidden_layers'|true|whole number" },
  { "num_hidden_layers", "\"4\"", "'num_hidden_layers'|\"4\"|whole number" },
  { "num_hidden_layers", "[4]", "'num_hidden_layers'|a list" },
  { "num_hidden_layers", "4.5", "'num_hidden_layers'|4.5|whole number" },
  { "num_hidden_layers", "1e300", "'num_hidden_layers'|whole number" },
  { "num_hidden_layers", "-1e300", "'num_hidden_layers'|whole number" },
  { "num_hidden_layers", "9223372036854775807", "'num_hidden_layers'|9223372036854775807" },
  { "num_hidden_layers", "4294967300", "'num_hidden_layers'|4294967300" }, /* 4 in 32 bits */
  { "hidden_size", NULL, "'hidden_size' is missing" },
  { "hidden_size", "65537", "'hidden_size'|65537" },
  { "num_attention_heads", "0", "'num_attention_heads'" },
  { "num_attention_heads", "1025", "'num_attention_heads'" },
  { "num_attention_heads", "3", "'num_attention_heads' is 3|'num_key_value_heads' 2" },
  { "num_key_value_heads", "0", "'num_key_value_heads'|0" },
  { "num_key_value_heads", "8", "'num_attention_heads' is 4|8" },
  { "head_dim", "0", "'head_dim'|0" },
  { "head_dim", "-16", "'head_dim'|-16" },
  { "head_dim", "15", "'head_dim' is 15|even" },
  { "head_dim", "false", "'head_dim'|false" },
  { "intermediate_size", "0", "'intermediate_size'" },
  { "intermediate_size", "1048577", "'intermediate_size'" },
  { "vocab_size", "4194305", "'vocab_size'|4194305" },
  { "max_position_embeddings", "0", "'max_position_embeddings'" },
  { "max_position_embeddings", "16777217", "'max_position_embeddings'" },
  { "rms_norm_eps", "0", "'rms_norm_eps'|above 0" },
  { "rms_norm_eps", "-1e-6", "'rms_norm_eps'|above 0" },
  { "rms_norm_eps", "2", "'rms_norm_eps'|up to 1" },
  { "rms_norm_eps", "true", "'rms_norm_eps'|true" },
  { "rms_norm_eps", "\"1e-6\"", "'rms_norm_eps'" },
  { "rope_theta", "0", "'rope_theta'" },
  { "rope_theta", "1e16", "'rope_theta'" },
  { "rope_theta", "\"10000\"", "'rope_theta'" },
  { "tie_word_embeddings", "1", "'tie_word_embeddings'|1|true or false" },
  { "tie_word_embeddings", "\"true\"", "'tie_word_embeddings'|true or false" },
  /* JSON's own limits */
  { "rms_norm_eps", "NaN", "not valid JSON" },
  { "rms_norm_eps", "Infinity", "not valid JSON" },
  { "rms_norm_eps", "1e999", "not valid JSON|overflow" },
  { "hidden_size", "99999999999999999999", "not valid JSON|too big" },
  { "x", "1, \"x\": 1", "not valid JSON|duplicate" },
  { "x", "\"\\u0000\"", "not valid JSON" },
};

static void
refuse (const char *text, gsize length, const char *words)
{
  GError *error = NULL;
  g_assert_null (mhar_config_parse (text, length, PATH, &error));
  g_test_message ("%s", error->message);
  g_assert_true (g_str_has_prefix (error->message, PATH ": "));
  scratch_assert_refused (&error, words);
}

static void
test_refused (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (refused); i++) {
    g_autofree char *text = with (refused[i].key, refused[i].value);
    refuse (text, strlen (text), refused[i].words);
  }
  const char *uneven = "{\"model_type\": \"qwen3\", \"num_hidden_layers\": 1, \"hidden_size\": 66, "
                       "\"num_attention_heads\": 4, \"vocab_size\": 9, \"intermediate_size\": 9}";
  refuse (uneven, strlen (uneven), "'hidden_size' 66|'num_attention_heads' 4|head_dim");
}

/* use_sliding_window, sliding_window, max_window_layers and layer_types in place of the base's, and what each layer
 * sees. */
static const struct {
  const char *lines;
  int windows[4];
} windows[] = {
  { "\"sliding_window\": 7", { 0 } }, /* not used */
  { "\"use_sliding_window\": false, \"sliding_window\": 7, \"max_window_layers\": 0", { 0 } },
  { "\"use_sliding_window\": true, \"sliding_window\": null, \"max_window_layers\": 0", { 0 } },
  { "\"use_sliding_window\": true, \"sliding_window\": 7", { 0 } }, /* from layer 28 on */
  { "\"use_sliding_window\": true, \"sliding_window\": 7.0, \"max_window_layers\": 2.0", { 0, 0, 7, 7 } },
  { "\"use_sliding_window\": true, \"sliding_window\": 7, \"max_window_layers\": 0, \"layer_types\": null",
    { 7, 7, 7, 7 } },
  { "\"use_sliding_window\": true, \"max_window_layers\": 3", { 0, 0, 0, 4096 } },
  { "\"use_sliding_window\": true, \"sliding_window\": 9, \"max_window_layers\": 0, \"layer_types\": "
    "[\"full_attention\", \"sliding_attention\", \"full_attention\", \"sliding_attention\"]",
    { 0, 9, 0, 9 } },
};

static char *
with_windows (const char *lines, const char *model_type)
{
  return g_strdup_printf (
      "{\"model_type\": \"%s\", \"num_hidden_layers\": 4, \"hidden_size\": 64, \"num_attention_heads\": "
      "4, \"vocab_size\": 99, \"intermediate_size\": 12, \"max_position_embeddings\": 512, %s}",
      model_type, lines);
}

static void
test_windows (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (windows); i++) {
    GError *error = NULL;
    g_autofree char *text = with_windows (windows[i].lines, "qwen3"), *llama = with_windows (windows[i].lines, "llama");
    g_autoptr (MharConfig) config = parse (text, &error);
    g_assert_no_error (error);
    gboolean any = FALSE;
    for (int l = 0; l < 4; l++) {
      g_assert_cmpint (mhar_body_window (mhar_config_body (config), l), ==, windows[i].windows[l]);
      any |= windows[i].windows[l] > 0;
    }
    g_autoptr (MharConfig) other = parse (llama, &error); /* transformers' Llama has no windows */
    g_assert_true ((other == NULL) == any);
    if (any)
      scratch_assert_refused (&error, PATH "|sliding|Llama|--weights-only");
    else
      g_assert_no_error (error);
  }
}

static const MharRope *
ropes_of (MharConfig **config, const char *lines)
{
  GError *error = NULL;
  g_autofree char *text = with_windows (lines, "qwen3");
  *config = parse (text, &error);
  g_assert_no_error (error);
  return mhar_config_body (*config)->rope;
}

#define SLIDING "\"use_sliding_window\": true, \"sliding_window\": 7, \"max_window_layers\": "

static void
test_ropes (void)
{
  g_autoptr (MharConfig) flat = NULL, nested = NULL, all = NULL, yarn = NULL;
  const MharRope *r
      = ropes_of (&flat, SLIDING "2, \"rope_parameters\": {\"rope_theta\": 5, \"type\": \"linear\", \"factor\": 3}");
  g_assert_cmpint (r[0].kind, ==, MHAR_ROPE_LINEAR);
  g_assert_cmpfloat (r[0].factor, ==, 3);
  g_assert_true (mhar_rope_equal (&r[0], &r[1]));
  r = ropes_of (&nested,
                SLIDING "2, \"rope_theta\": 7, \"rope_parameters\": {\"sliding_attention\": {\"rope_theta\": 5}, "
                        "\"full_attention\": {\"rope_type\": \"dynamic\", \"factor\": 2}, \"other\": null}");
  g_assert_cmpint (r[0].kind, ==, MHAR_ROPE_DYNAMIC);
  g_assert_cmpfloat (r[0].theta, ==, 7); /* the one beside them */
  g_assert_cmpfloat (r[0].original, ==, 512);
  g_assert_cmpint (r[1].kind, ==, MHAR_ROPE_PLAIN);
  g_assert_cmpfloat (r[1].theta, ==, 5); /* its own */
  g_assert_false (mhar_rope_equal (&r[0], &r[1]));
  r = ropes_of (&all, SLIDING "0, \"rope_parameters\": {\"sliding_attention\": {\"rope_theta\": 5}}");
  g_assert_cmpfloat (mhar_config_body (all)->rope_theta, ==, 5);
  g_assert_true (mhar_rope_equal (&r[0], &r[1]));
  r = ropes_of (&yarn,
                "\"original_max_position_embeddings\": 128, \"rope_scaling\": {\"type\": \"yarn\", \"factor\": null, "
                "\"beta_fast\": 0, \"beta_slow\": null}");
  g_assert_cmpfloat (r->original, ==, 128);
  g_assert_cmpfloat (r->factor, ==, 4); /* 512 / 128 */
  g_assert_cmpfloat (r->fast, ==, 32);
  g_assert_cmpfloat (r->slow, ==, 1);
  g_assert_cmpfloat_with_epsilon (r->attention, 0.1 * log (4) + 1, 1e-15);
  g_assert_true (r->truncate);
}

/* What only stands in the way with another key. */
static void
test_refused_together (void)
{
  static const struct {
    const char *lines, *words;
  } bad[] = {
    { "\"use_sliding_window\": true, \"sliding_window\": 0", "'sliding_window' is 0" },
    { "\"use_sliding_window\": true, \"sliding_window\": 2.5", "'sliding_window' is 2.5" },
    { SLIDING "-1", "'max_window_layers' is -1" },
    { SLIDING "2, \"rope_parameters\": {\"full_attention\": {}}", "'rope_parameters.sliding_attention' is missing" },
    { SLIDING "2, \"rope_parameters\": {\"full_attention\": {}, \"sliding_attention\": {\"rope_type\": \"linear\"}}",
      "'rope_parameters.sliding_attention.factor' is missing" },
    { "\"head_dim\": 2, \"rope_scaling\": {\"type\": \"dynamic\", \"factor\": 2}",
      "'rope_scaling' is dynamic|'head_dim'" },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autofree char *text = with_windows (bad[i].lines, "qwen3");
    refuse (text, strlen (text), bad[i].words);
  }
  g_autofree char *open = with_windows ("\"rope_scaling\": {\"type\": \"dynamic\", \"factor\": 2}", "llama");
  g_autoptr (GString) context = g_string_new (open);
  g_assert_cmpuint (g_string_replace (context, "max_position_embeddings", "something", 0), ==, 1);
  refuse (context->str, context->len, "'rope_scaling' is dynamic|'max_position_embeddings' is missing");
}

static void
test_biases (void)
{
  g_autoptr (MharConfig) none = parse_good ("x", "1"), attention = parse_good ("attention_bias", "true");
  g_assert_false (mhar_config_body (none)->attention_bias);
  g_assert_true (mhar_config_body (attention)->attention_bias && mhar_config_body (attention)->output_bias);
  g_assert_cmpfloat (mhar_config_body (attention)->qk_eps, ==, mhar_config_body (attention)->eps);
  g_assert_false (mhar_config_body (attention)->mlp_bias);
  GError *error = NULL;
  g_autofree char *text = with_windows ("\"mlp_bias\": true", "llama_attnres");
  g_autoptr (MharConfig) mlp = parse (text, &error);
  g_assert_no_error (error);
  g_assert_true (mhar_config_body (mlp)->mlp_bias);
}

#define FLA_BASE "\"model_type\": \"transformer\", \"num_hidden_layers\": 3, \"hidden_size\": 192, \"vocab_size\": 99"

/* What flash-linear-attention's words mean; `words`: of the refusal. */
static const struct {
  const char *lines;
  int heads, kv_heads, ffn, window;
  gboolean biases;
  MharQkNorm norm;
  double eps;
  const char *words;
} own_words[] = {
  { "\"num_heads\": 6", 6, 6, 512, 0, FALSE, MHAR_QK_NORM_NONE, 1e-6, NULL },
  { "\"num_heads\": 6, \"num_kv_heads\": 2, \"norm_eps\": 1e-5, \"qk_norm\": true, \"qkv_bias\": true", 6, 2, 512, 0, TRUE,
    MHAR_QK_NORM_STORED, 1e-5, NULL },
  { "\"num_heads\": 6, \"num_kv_heads\": null, \"intermediate_size\": null, \"hidden_ratio\": null", 6, 6, 512, 0, FALSE,
    MHAR_QK_NORM_NONE, 1e-6, NULL },
  { "\"num_heads\": 6, \"hidden_ratio\": 2", 6, 6, 256, 0, FALSE, MHAR_QK_NORM_NONE, 1e-6, NULL }, /* 256 exactly */
  { "\"num_heads\": 6, \"hidden_ratio\": 3", 6, 6, 512, 0, FALSE, MHAR_QK_NORM_NONE, 1e-6, NULL }, /* 384 */
  { "\"num_heads\": 6, \"intermediate_size\": 72, \"hidden_ratio\": 9", 6, 6, 72, 0, FALSE, MHAR_QK_NORM_NONE, 1e-6, NULL },
  { "\"num_heads\": 6, \"window_size\": 17", 6, 6, 512, 17, FALSE, MHAR_QK_NORM_NONE, 1e-6, NULL },
  { "\"num_attention_heads\": 6", .words = "'num_heads' is missing" },
  { "\"num_heads\": 6, \"num_kv_heads\": 4", .words = "'num_heads' is 6|'num_kv_heads' 4" },
  { "\"num_heads\": 5", .words = "'hidden_size' 192|'num_heads' 5" },
  { "\"num_heads\": 6, \"hidden_ratio\": 0", .words = "'hidden_ratio' is 0|above 0" },
  { "\"num_heads\": 6, \"hidden_ratio\": \"4\"", .words = "'hidden_ratio'|above 0" },
  { "\"num_heads\": 6, \"qk_norm\": 1", .words = "'qk_norm' is 1|true or false" },
  { "\"num_heads\": 6, \"qkv_bias\": \"no\"", .words = "'qkv_bias'|true or false" },
  { "\"num_heads\": 6, \"window_size\": 0", .words = "'window_size' is 0" },
  { "\"num_heads\": 6, \"norm_eps\": 0", .words = "'norm_eps' is 0" },
  { "\"num_heads\": 6, \"hidden_act\": \"gelu\"", .words = "'hidden_act'|gelu|not supported" },
};

static void
test_own_words (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (own_words); i++) {
    g_autofree char *text = g_strdup_printf ("{" FLA_BASE ", %s}", own_words[i].lines);
    g_autoptr (GError) error = NULL;
    if (own_words[i].words != NULL) {
      refuse (text, strlen (text), own_words[i].words);
      continue;
    }
    g_autoptr (MharConfig) config = parse (text, &error);
    g_assert_no_error (error);
    const MharBody *body = mhar_config_body (config);
    g_assert_cmpint (body->heads, ==, own_words[i].heads);
    g_assert_cmpint (body->kv_heads, ==, own_words[i].kv_heads);
    g_assert_cmpint (body->head_dim, ==, 32);
    g_assert_cmpint (body->ffn, ==, own_words[i].ffn);
    g_assert_cmpint (mhar_body_window (body, 2), ==, own_words[i].window);
    g_assert_cmpint (body->attention_bias, ==, own_words[i].biases);
    g_assert_false (body->output_bias);
    g_assert_cmpint (body->qk_norm, ==, own_words[i].norm);
    g_assert_cmpfloat (body->eps, ==, own_words[i].eps);
    g_assert_cmpfloat (body->qk_eps, ==, 1e-5);
    g_assert_cmpstr (mhar_body_family (body), ==, "flash-linear-attention");
  }
}

static void
test_malformed (void)
{
  GString *deep = g_string_new ("{\"x\":");
  for (int i = 0; i < 100000; i++)
    g_string_append (deep, "{\"x\":");
  refuse ("", 0, "not valid JSON");
  refuse ("[1]", 3, "not an object");
  refuse ("null", 4, "not valid JSON");
  refuse ("{\"a\": 1} {", 10, "not valid JSON at line 1");
  refuse ("{\"a\": 1}\0", 9, "not valid JSON");
  refuse ("{\n\n\"a\" 1}", 10, "line 3");
  refuse (deep->str, deep->len, "64 deep");
  g_string_free (deep, TRUE);
  g_autofree char *large = g_malloc ((16 << 20) + 1);
  memset (large, ' ', (16 << 20) + 1);
  refuse (large, (16 << 20) + 1, "16777217|too many");
}

static void
test_access (void)
{
  g_autoptr (MharConfig) config = parse_good ("x", "8.0, \"s\": \"text\", \"t\": true, \"n\": null, \"half\": 0.5");
  GError *error = NULL;
  int number = -1;
  gboolean flag = FALSE;
  g_assert_true (mhar_config_has (config, "x"));
  g_assert_false (mhar_config_has (config, "n"));
  g_assert_false (mhar_config_has (config, "absent"));
  g_assert_true (mhar_config_integer (config, "x", 0, 8, 3, &number, &error));
  g_assert_cmpint (number, ==, 8);
  g_assert_true (mhar_config_integer (config, "n", 0, 8, 3, &number, &error));
  g_assert_cmpint (number, ==, 3);
  g_assert_true (mhar_config_integer (config, "absent", 0, 8, -7, &number, &error));
  g_assert_cmpint (number, ==, -7);
  g_assert_false (mhar_config_integer (config, "x", 0, 7, 3, &number, &error));
  scratch_assert_refused (&error, PATH "|'x' is 8.0|0 to 7");
  g_assert_false (mhar_config_integer (config, "half", 0, 7, 3, &number, &error));
  scratch_assert_refused (&error, "'half' is 0.5");
  g_assert_false (mhar_config_integer (config, "s", 0, 7, 3, &number, &error));
  scratch_assert_refused (&error, "'s' is \"text\"");
  g_assert_true (mhar_config_boolean (config, "t", FALSE, &flag, &error));
  g_assert_true (flag);
  g_assert_true (mhar_config_boolean (config, "n", TRUE, &flag, &error));
  g_assert_true (flag);
  g_assert_false (mhar_config_boolean (config, "s", TRUE, &flag, &error));
  scratch_assert_refused (&error, "'s' is \"text\"|true or false");
  g_assert_cmpstr (mhar_config_string (config, "s", "else", &error), ==, "text");
  g_assert_cmpstr (mhar_config_string (config, "n", "else", &error), ==, "else");
  g_assert_null (mhar_config_string (config, "absent", NULL, &error));
  g_assert_no_error (error);
  g_assert_null (mhar_config_string (config, "t", "else", &error));
  scratch_assert_refused (&error, "'t' is true|string");
}

static void
test_load (void)
{
  static const char pointer[] = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 988097824\n";
  char *folder = scratch_new ();
  g_autofree char *text = with ("x", "1"), *good = scratch_write (folder, "config.json", text, strlen (text));
  g_autofree char *lfs = scratch_write (folder, "lfs", pointer, strlen (pointer)),
                  *empty = scratch_write (folder, "0", "", 0);
  g_autofree char *fifo = g_build_filename (folder, "fifo", NULL), *absent = g_build_filename (folder, "absent", NULL);
  g_autofree char *large = scratch_write (folder, "large", "", 0);
  g_assert_cmpint (mkfifo (fifo, 0600), ==, 0);
  FILE *file = g_fopen (large, "wb");
  g_assert_cmpint (fseek (file, 16 << 20, SEEK_SET), ==, 0);
  g_assert_cmpint (fputc ('}', file), ==, '}');
  fclose (file);
  GError *error = NULL;
  g_autoptr (MharConfig) config = mhar_config_load (good, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (mhar_config_path (config), ==, good);
  const struct {
    const char *path, *words;
  } bad[] = { { lfs, "git-lfs pointer" },       { empty, "is empty" },
              { fifo, "not a regular file" },   { absent, "no such file" },
              { folder, "not a regular file" }, { large, "16777217 bytes" } };
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_assert_null (mhar_config_load (bad[i].path, &error));
    g_assert_true (g_str_has_prefix (error->message, bad[i].path));
    scratch_assert_refused (&error, bad[i].words);
  }
  scratch_remove (folder);
}

static void
test_damage (void)
{
  g_autofree char *text = with ("layer_types", "[\"full_attention\", \"sliding_attention\", \"full_attention\", "
                                               "\"sliding_attention\"], \"a\": 1");
  GString *whole = g_string_new (text);
  g_string_replace (whole, "\"use_sliding_window\": false", "\"use_sliding_window\": true", 0);
  g_string_replace (whole, "\"sliding_window\": null", "\"sliding_window\": 64", 0);
  g_string_replace (whole, "\"rope_type\": \"default\"", "\"rope_type\": \"yarn\", \"factor\": 4, \"beta_fast\": 8.5",
                    0);
  g_free (text);
  text = g_string_free (whole, FALSE);
  gsize length = strlen (text);
  GRand *rand = g_rand_new_with_seed (20260731);
  GError *error = NULL;
  guint opened = 0, n = 20000;
  for (gsize i = 0; i < length - 2; i++) {           /* the last two are the brace and a new line */
    g_autofree char *part = g_memdup2 (text, i + 1); /* a block of its own: reading past it shows */
    g_assert_null (mhar_config_parse (part, i, PATH, &error));
    scratch_assert_refused (&error, PATH);
  }
  for (guint i = 0; i < n; i++) {
    GString *changed = scratch_mutate (rand, text, length);
    g_autofree char *exact = g_memdup2 (changed->str, changed->len);
    g_autoptr (MharConfig) config = mhar_config_parse (exact, changed->len, PATH, &error);
    if (config == NULL)
      scratch_assert_refused (&error, PATH);
    else {
      const MharBody *body = mhar_config_body (config);
      g_assert_true (body->layers > 0 && body->width > 0 && body->heads > 0 && body->ffn > 0 && body->vocab > 0);
      g_assert_true (body->kv_heads > 0 && body->heads % body->kv_heads == 0);
      g_assert_true (body->head_dim > 0 && body->head_dim % 2 == 0 && body->eps > 0 && body->rope_theta > 0);
      g_autofree float *table = mhar_rope_table (&body->rope[1], body->head_dim, 2, 70000);
      g_assert_true (isfinite (table[0]) && isfinite (table[2 * body->head_dim - 1]));
      for (int l = 0; l < body->layers; l++)
        g_assert_cmpint (mhar_body_window (body, l), >=, 0);
      opened++;
    }
    g_string_free (changed, TRUE);
  }
  g_test_message ("%u of %u damaged configs still read", opened, n);
  g_assert_cmpuint (opened, >, n / 100); /* an unknown key more or another digit is no damage */
  g_assert_cmpuint (opened, <, n / 2);
  g_rand_free (rand);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/config/body", test_body);
  g_test_add_func ("/config/defaults", test_defaults);
  g_test_add_func ("/config/allowed", test_allowed);
  g_test_add_func ("/config/refused", test_refused);
  g_test_add_func ("/config/windows", test_windows);
  g_test_add_func ("/config/ropes", test_ropes);
  g_test_add_func ("/config/refused-together", test_refused_together);
  g_test_add_func ("/config/biases", test_biases);
  g_test_add_func ("/config/own-words", test_own_words);
  g_test_add_func ("/config/malformed", test_malformed);
  g_test_add_func ("/config/access", test_access);
  g_test_add_func ("/config/load", test_load);
  g_test_add_func ("/config/damage", test_damage);
  return g_test_run ();
}
