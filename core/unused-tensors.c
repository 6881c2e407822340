/* SPDX-License-Identifier: MIT */
#include "core/unused-tensors.h"

#include "core/error.h"
#include "core/input.h"

#include <string.h>

typedef enum { LAYERS, ROUTING, ATTENTION_BIASES, MLP_BIASES, UNKNOWN, N_KINDS, EXPECTED } Kind;

/* Of routing alone, and not written in every mode as *_res_proj and *_res_norm are. */
static const char *const particular[] = { "_res_alpha", "_res_gate_", "_res_bias", "_null_source", "v_res_proj",
                                          "v_res_norm", "hc_alpha_",  "hc_A_",     "hc_beta_",     NULL };
static const char *const in_every_mode[] = { "_res_proj", "_res_norm", NULL };
static const char *const routing[] = { "_res_", NULL };
/* Made from the config wherever they are needed. */
static const char *const computed[] = { "rotary_emb", "inv_freq", "position_ids", NULL };

static gboolean
has_any (const char *name, const char *const *parts)
{
  for (; *parts != NULL; parts++)
    if (strstr (name, *parts) != NULL)
      return TRUE;
  return FALSE;
}

/* The number of the layer that the tensor is of: the first part of its name that is a number; −1: of none. */
static gint64
layer_of (const char *name)
{
  g_auto (GStrv) parts = g_strsplit (name, ".", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    if (parts[i][0] != '\0' && parts[i][strspn (parts[i], "0123456789")] == '\0')
      return (gint64)MIN (g_ascii_strtoull (parts[i], NULL, 10), (guint64)G_MAXINT64);
  return -1;
}

static Kind
kind_of (const char *name, int layers)
{
  if (has_any (name, computed))
    return EXPECTED;
  if (layer_of (name) >= layers)
    return LAYERS;
  if (has_any (name, particular))
    return ROUTING;
  if (has_any (name, in_every_mode))
    return EXPECTED;
  if (has_any (name, routing))
    return ROUTING;
  if (g_str_has_suffix (name, "_proj.bias"))
    return strstr (name, "mlp.") != NULL ? MLP_BIASES : ATTENTION_BIASES;
  return UNKNOWN;
}

/* What is to be said of n tensors of a kind; g_free. */
static char *
sentence (Kind kind, const MharPlan *plan, guint n, const char *first)
{
  const char *s = n == 1 ? "" : "s", *are = n == 1 ? "is" : "are";
  g_autofree char *name = mhar_input_quote (first);

  switch (kind) {
  case LAYERS:
    return g_strdup_printf (
        "the config has %d layer%s and leaves %u stored tensor%s of higher layers unused, such as %s", plan->layers,
        plan->layers == 1 ? "" : "s", n, s, name);
  case ROUTING:
    return g_strdup_printf ("mode %s leaves %u stored routing tensor%s unused, such as %s", plan->mode, n, s, name);
  case ATTENTION_BIASES:
    return g_strdup ("attention_bias is not set but biases of the attention are stored: they are not used");
  case MLP_BIASES:
    return g_strdup ("mlp_bias is not set but biases of the MLP are stored: they are not used");
  default:
    return g_strdup_printf ("%u stored tensor%s %s of no known use and left out, such as %s", n, s, are, name);
  }
}

static void
add_routing (const MharCheckpoint *checkpoint, const MharPlan *plan, GHashTable *used)
{
  for (guint i = 0; i < plan->routing->len; i++) {
    const MharTensor *tensor = mhar_checkpoint_find (checkpoint, g_ptr_array_index (plan->routing, i));
    if (tensor != NULL)
      g_hash_table_add (used, (gpointer)tensor);
  }
}

gboolean
mhar_unused_check (const MharCheckpoint *checkpoint, MharPlan *plan, GHashTable *used, gboolean strict, GError **error)
{
  const char *first[N_KINDS] = { NULL };
  guint n[N_KINDS] = { 0 };

  add_routing (checkpoint, plan, used);
  for (guint i = 0; i < mhar_checkpoint_n_tensors (checkpoint); i++) {
    const MharTensor *tensor = mhar_checkpoint_tensor (checkpoint, i);
    Kind kind = g_hash_table_contains (used, tensor) ? EXPECTED : kind_of (tensor->name, plan->layers);
    if (kind == EXPECTED)
      continue;
    if (n[kind]++ == 0)
      first[kind] = tensor->name;
  }
  for (Kind kind = 0; kind < N_KINDS; kind++) {
    if (n[kind] == 0)
      continue;
    g_autofree char *text = sentence (kind, plan, n[kind], first[kind]);
    if (strict && kind <= ROUTING)
      return mhar_bad_input (error, "%s: %s; leave out --strict to run without", mhar_checkpoint_path (checkpoint),
                             text);
    mhar_plan_warn (plan, "%s", text);
  }
  return TRUE;
}
