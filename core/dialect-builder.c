/* SPDX-License-Identifier: MIT */
#include "core/dialect-mhar-private.h"

#include "core/error.h"

#include <math.h>
#include <string.h>

#define DEFAULT_HEADS 8
#define DEFAULT_BLOCKS 8

static gboolean
find_gate (MharBuilder *b, GError **error)
{
  static const char *const names[]
      = { "bias", "learnable_alpha", "sigmoid_scalar", "sigmoid_vector" }; /* as MharGateKind */
  g_autoptr (GError) local = NULL;
  const char *gate = mhar_config_string (b->config, "attnres_gate_type", "bias", &local);

  if (gate == NULL) {
    g_propagate_error (error, g_steal_pointer (&local));
    return FALSE;
  }
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (gate, names[i]) == 0) {
      b->gate = (MharGateKind) i;
      return TRUE;
    }
  return mhar_bad_input (error,
                         "%s: attnres_gate_type \"%s\" is not supported; this version runs bias (no gate), "
                         "learnable_alpha, sigmoid_scalar and sigmoid_vector",
                         mhar_config_path (b->config), gate);
}

static gboolean
find_heads (MharBuilder *b, gboolean many, GError **error)
{
  const char *path = mhar_config_path (b->config);
  int heads, override = b->options->heads;

  if (!mhar_config_integer (b->config, "attnres_num_heads", 1, 65536, DEFAULT_HEADS, &heads, error))
    return FALSE;
  heads = override > 0 ? override : many ? heads : 1;
  if (b->body->width % heads != 0) {
    g_set_error (error, MHAR_ERROR, override > 0 ? MHAR_ERROR_USAGE : MHAR_ERROR_INPUT,
                 "%s: %d routing heads do not divide a width of %d; give the right number with --heads", path, heads,
                 b->body->width);
    return FALSE;
  }
  b->plan->heads = heads;
  if (!many && override > 1 && strcmp (b->plan->mode, "hyper_connection") != 0)
    mhar_plan_warn (b->plan,
                    "mode %s has one routing head; --heads %d cuts its queries into heads that it was not trained with",
                    b->plan->mode, override);
  if (many && override <= 0 && !mhar_config_has (b->config, "attnres_num_heads"))
    mhar_plan_warn (b->plan, "attnres_num_heads is not in the config: %d routing heads are assumed; --heads overrides",
                    heads);
  return TRUE;
}

MharPlan *
mhar_builder_begin (MharBuilder *b, const char *dialect, const char *mode, gboolean many, GError **error)
{
  int blocks;

  b->config = mhar_checkpoint_config (b->checkpoint);
  b->body = mhar_config_body (b->config);
  b->base = MHAR_VALUE_STREAM;
  const char *family = mhar_body_family (b->body);
  gboolean own = g_str_has_suffix (dialect, family);
  g_autofree char *name = g_strdup_printf ("%s, %s body", dialect, own ? "its own" : family);
  g_autoptr (MharPlan) plan = mhar_plan_new (name, mode, b->body->layers, b->body->width, 1);
  b->plan = plan;
  if (!find_gate (b, error) || !find_heads (b, many, error)
      || !mhar_config_integer (b->config, "attnres_num_blocks", 1, 65536, DEFAULT_BLOCKS, &blocks, error))
    return NULL;
  b->layers_per_block = (b->body->layers + blocks - 1) / blocks;
  return g_steal_pointer (&plan);
}

char *
mhar_builder_key (MharSiteKind kind, int layer, const char *suffix)
{
  return g_strdup_printf ("model.layers.%d.%s_%s", layer, kind == MHAR_SITE_MLP ? "mlp" : "attn", suffix);
}

double *
mhar_builder_values (MharBuilder *b, const char *name, guint n_dims, const guint64 *shape, GError **error)
{
  const MharTensor *tensor = mhar_checkpoint_need (b->checkpoint, name, n_dims, shape, error);

  if (tensor == NULL)
    return NULL;
  g_ptr_array_add (b->plan->routing, g_strdup (name));
  return mhar_tensor_values (tensor);
}

/* Notes a tensor of the given shape as one that the model loads; its index, −1 on error. */
static int
add_tensor (MharBuilder *b, const char *name, guint n_dims, const guint64 *shape, GError **error)
{
  if (mhar_checkpoint_need (b->checkpoint, name, n_dims, shape, error) == NULL)
    return -1;
  g_ptr_array_add (b->plan->routing, g_strdup (name));
  return mhar_plan_add_tensor (b->plan, name);
}

int
mhar_builder_add_constant (MharBuilder *b, const char *name, const char *label, GError **error)
{
  guint64 width = (guint64) b->body->width;
  int tensor = add_tensor (b, name, 1, &width, error);

  if (tensor < 0)
    return -1;
  int row = mhar_plan_add_row (b->plan, "%s", label);
  mhar_plan_add_store (b->plan, row, MHAR_VALUE_TENSOR, tensor);
  return row;
}

/* A gate that is one number. */
static gboolean
scalar_gate (MharBuilder *b, const char *name, MharGate *gate, GError **error)
{
  guint64 one = 1;
  g_autofree double *value = mhar_builder_values (b, name, 1, &one, error);

  if (value == NULL)
    return FALSE;
  gate->value = gate->kind == MHAR_GATE_SIGMOID ? 1 / (1 + exp (-*value)) : *value;
  return TRUE;
}

static gboolean
add_gate (MharBuilder *b, MharSiteKind kind, int layer, MharGate *gate, GError **error)
{
  guint64 width = (guint64) b->body->width, square[2] = { width, width };
  g_autofree char *alpha = mhar_builder_key (kind, layer, "res_alpha");
  g_autofree char *logit = mhar_builder_key (kind, layer, "res_gate_logit");
  g_autofree char *proj = mhar_builder_key (kind, layer, "res_gate_proj.weight");
  g_autofree char *bias = mhar_builder_key (kind, layer, "res_gate_proj.bias");

  gate->kind = b->gate;
  switch (gate->kind) {
  case MHAR_GATE_NONE:
    return TRUE;
  case MHAR_GATE_ALPHA:
    return scalar_gate (b, alpha, gate, error);
  case MHAR_GATE_SIGMOID:
    return scalar_gate (b, logit, gate, error);
  case MHAR_GATE_VECTOR:
    gate->proj = add_tensor (b, proj, 2, square, error);
    gate->bias = gate->proj < 0 ? -1 : add_tensor (b, bias, 1, &width, error);
    return gate->bias >= 0;
  default:
    g_assert_not_reached ();
  }
}

/* Query and gain of `prefix`, and the read of them. */
static int
add_read (MharBuilder *b, MharSiteKind kind, int layer, const char *prefix, const GArray *sources, int groups,
          GError **error)
{
  guint64 width = (guint64) b->body->width, shape[2] = { (guint64) MAX (groups, 1), width };
  g_autofree char *proj = g_strconcat (prefix, "_proj.weight", NULL);
  g_autofree char *norm = g_strconcat (prefix, "_norm.weight", NULL);
  double *query = mhar_builder_values (b, proj, 2, shape, error);
  double *gain = query != NULL ? mhar_builder_values (b, norm, 1, &width, error) : NULL;

  if (gain == NULL) {
    g_free (query);
    return -1;
  }
  return mhar_plan_add_site (b->plan, kind, layer, (const int *) sources->data, (int) sources->len,
                             groups > 0 ? groups : b->plan->heads, groups > 0, query, gain);
}

int
mhar_builder_add_site (MharBuilder *b, MharSiteKind kind, int layer, const GArray *sources, int groups, GError **error)
{
  g_autofree char *prefix = mhar_builder_key (kind, layer, "res");
  int index = add_read (b, kind, layer, prefix, sources, groups, error);

  if (index < 0)
    return -1;
  MharSite *site = g_ptr_array_index (b->plan->sites, index);
  site->mode = b->mode;
  site->base = b->base;
  if (groups == 0 && !add_gate (b, kind, layer, &site->gate, error))
    return -1;
  return index;
}

int
mhar_builder_add_final (MharBuilder *b, const char *prefix, const GArray *sources, GError **error)
{
  int site = add_read (b, MHAR_SITE_FINAL, -1, prefix, sources, 0, error);

  if (site >= 0)
    mhar_plan_add_step (b->plan, MHAR_STEP_READ, site, MHAR_VALUE_OUT);
  return site;
}

int
mhar_builder_run (MharBuilder *b, int site, MharSiteKind kind, int layer)
{
  mhar_plan_add_step (b->plan, MHAR_STEP_READ, site, MHAR_VALUE_STREAM);
  return mhar_plan_run_sublayer (b->plan, kind, layer);
}

/* The row of p: the output that it consists of where it is only one, else a new one. */
static int
running_row (MharBuilder *b, int only, gboolean begins, guint blocks)
{
  if (only >= 0)
    return only;
  int row = begins ? mhar_plan_add_row (b->plan, "block %u", blocks) : mhar_plan_add_row (b->plan, "stream");
  mhar_plan_add_step (b->plan, MHAR_STEP_STORE, row, MHAR_VALUE_STREAM);
  return row;
}

gboolean
mhar_builder_blocks (MharBuilder *b, int period, gboolean bypass, const char *final, GError **error)
{
  g_autoptr (GArray) sources = g_array_new (FALSE, FALSE, sizeof (int));
  int only = mhar_plan_store_embedding (b->plan), row;

  for (int s = 0; s < 2 * b->body->layers; s++) {
    MharSiteKind kind = s % 2 == 0 ? MHAR_SITE_ATTN : MHAR_SITE_MLP;
    gboolean begins = s % period == 0;
    row = running_row (b, only, begins, sources->len);
    g_array_append_val (sources, row);
    int site = s == 0 && bypass ? -1 : mhar_builder_add_site (b, kind, s / 2, sources, 0, error);
    if (site < 0 && !(s == 0 && bypass))
      return FALSE;
    if (!begins)
      g_array_set_size (sources, sources->len - 1);
    only = mhar_builder_run (b, site, kind, s / 2);
    mhar_plan_add_step (b->plan, begins ? MHAR_STEP_STREAM_SET : MHAR_STEP_STREAM_ADD, 0, MHAR_VALUE_OUT);
    only = begins ? only : -1;
  }
  if (final == NULL) {
    mhar_plan_add_step (b->plan, MHAR_STEP_READ, -1, MHAR_VALUE_STREAM);
    return TRUE;
  }
  row = running_row (b, only, FALSE, 0);
  g_array_append_val (sources, row);
  return mhar_builder_add_final (b, final, sources, error) >= 0;
}
