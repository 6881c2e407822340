/* SPDX-License-Identifier: MIT */
/* Names end in what a tensor is, with or without ".weight" after it; the number before that is the layer. */
#include "core/routing-weights.h"

#include "core/error.h"
#include "core/input.h"
#include "core/plan.h"

#include <stdlib.h>
#include <string.h>

#define LAYERS_MAX 1024
#define ROWS_MAX 1024
#define WIDTH_MAX 65536
#define QUERIES_MAX 4096

typedef enum { QUERY, GAIN, PRODUCT } Role;
enum { ROUTER = MHAR_SITE_FINAL + 1 }; /* a site that says no more than its number */

/* The more particular last: a file that has one of its names is of that family. */
static const char *const families[]
    = { "MHAR family (attn_res, mlp_res)", "flash-linear-attention (res_proj)",
        "block attention residuals, Kimi-K3 style", "hyper-connection routers", "name map" };
enum { MHAR, FLA, KIMI, ROUTERS, MAP };

static const struct {
  const char *part;
  guint family;
  int kind;
  Role role;
} parts[] = {
  { "attn_res_proj", MHAR, MHAR_SITE_ATTN, QUERY },
  { "attn_res_norm", MHAR, MHAR_SITE_ATTN, GAIN },
  { "mlp_res_proj", MHAR, MHAR_SITE_MLP, QUERY },
  { "mlp_res_norm", MHAR, MHAR_SITE_MLP, GAIN },
  { "final_res_proj", MHAR, MHAR_SITE_FINAL, QUERY },
  { "final_res_norm", MHAR, MHAR_SITE_FINAL, GAIN },
  { "res_proj", FLA, MHAR_SITE_FINAL, QUERY },
  { "res_norm", FLA, MHAR_SITE_FINAL, GAIN },
  { "self_attention_res_proj", KIMI, MHAR_SITE_ATTN, QUERY },
  { "self_attention_res_norm", KIMI, MHAR_SITE_ATTN, GAIN },
  { "output_attn_res_proj", KIMI, MHAR_SITE_FINAL, QUERY },
  { "output_attn_res_norm", KIMI, MHAR_SITE_FINAL, GAIN },
  { "attn_res_score", KIMI, MHAR_SITE_ATTN, PRODUCT },
  { "ffn_res_score", KIMI, MHAR_SITE_MLP, PRODUCT },
  { "output_res_score", KIMI, MHAR_SITE_FINAL, PRODUCT },
};

/* What a name says. */
typedef struct {
  guint family;
  int kind, layer; /* layer −1: of none */
  Role role;
} Key;

/* The tensors of one site. */
typedef struct {
  int kind, layer;
  const MharTensor *tensors[PRODUCT + 1];
} Slot;

/* The number that ends at `end`, of a component of its own; −1 where there is none. */
static int
number_before (const char *name, const char *end)
{
  const char *start = end;
  while (start > name && g_ascii_isdigit (start[-1]))
    start--;
  if (start == end || end - start > 4 || (start > name && start[-1] != '.'))
    return -1;
  int number = atoi (start);
  return number < LAYERS_MAX ? number : -1;
}

static gboolean
parse_router (const char *name, Key *key)
{
  const char *suffix = ".query";
  if (!g_str_has_suffix (name, suffix))
    return FALSE;
  const char *end = name + strlen (name) - strlen (suffix);
  int number = number_before (name, end);
  const char *digits = end;
  while (digits > name && g_ascii_isdigit (digits[-1]))
    digits--;
  g_autofree char *before = g_strndup (name, (gsize)(digits - name));
  *key = (Key){ ROUTERS, ROUTER, number, QUERY };
  return number >= 0 && g_str_has_suffix (before, "routers.");
}

static gboolean
parse_name (const char *name, Key *key)
{
  gsize length = strlen (name) - (g_str_has_suffix (name, ".weight") ? strlen (".weight") : 0);
  const char *last = name + length;
  while (last > name && last[-1] != '.')
    last--;
  gsize n = (gsize)(name + length - last);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    if (strlen (parts[i].part) != n || memcmp (parts[i].part, last, n) != 0)
      continue;
    int layer = last > name ? number_before (name, last - 1) : -1;
    *key = (Key){ parts[i].family, parts[i].kind, layer, parts[i].role };
    return (parts[i].kind == MHAR_SITE_FINAL) == (layer < 0);
  }
  return parse_router (name, key);
}

static gboolean
parse_mapped (const MharNameMap *map, const char *name, Key *key)
{
  const MharMapKeys *sites[] = { &map->attn, &map->mlp, &map->final };
  for (int kind = MHAR_SITE_ATTN; kind <= MHAR_SITE_FINAL; kind++) {
    const char *patterns[] = { sites[kind]->query, sites[kind]->norm, sites[kind]->product };
    for (guint role = QUERY; role <= PRODUCT; role++)
      if (patterns[role] != NULL && mhar_name_fits (patterns[role], name, &key->layer)) {
        key->family = MAP;
        key->kind = kind;
        key->role = (Role)role;
        return TRUE;
      }
  }
  return FALSE;
}

static gboolean
parse (const char *name, const MharNameMap *map, Key *key)
{
  return map != NULL ? parse_mapped (map, name, key) : parse_name (name, key);
}

gboolean
mhar_routing_is_key (const char *name, gpointer map)
{
  Key key;
  return parse (name, map, &key);
}

static gboolean G_GNUC_PRINTF (4, 5)
    bad_tensor (const MharCheckpoint *checkpoint, const char *name, GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *what = g_strdup_vprintf (format, args);
  va_end (args);
  g_autofree char *quoted = mhar_input_quote (name),
                  *shown = g_filename_display_name (mhar_checkpoint_path (checkpoint));
  return mhar_bad_input (error, "%s: tensor '%s' %s", shown, quoted, what);
}

/* [d], [1, d] or [rows, d] floats, d as of those before. */
static gboolean
check_tensor (const MharCheckpoint *checkpoint, const MharTensor *tensor, Role role, int *width, GError **error)
{
  guint64 d = tensor->n_dims > 0 ? tensor->shape[tensor->n_dims - 1] : 0,
          rows = tensor->n_dims == 2 ? tensor->shape[0] : 1;
  if (strcmp (tensor->dtype, "BF16") != 0 && strcmp (tensor->dtype, "F16") != 0 && strcmp (tensor->dtype, "F32") != 0)
    return bad_tensor (checkpoint, tensor->name, error, "is stored as %s; convert it to BF16, F16 or F32",
                       tensor->dtype);
  if (tensor->n_dims < 1 || tensor->n_dims > 2 || d < 1 || d > WIDTH_MAX || rows < 1
      || rows > (role == GAIN ? 1 : ROWS_MAX))
    return bad_tensor (checkpoint, tensor->name, error, "has not the shape [width] or [1, width] of a routing tensor");
  if (*width != 0 && d != (guint64)*width)
    return bad_tensor (
        checkpoint, tensor->name, error,
        "has the width %" G_GUINT64_FORMAT " where those before it have %d; the file is not of one model", d, *width);
  *width = (int)d;
  return TRUE;
}

static gint
compare_slots (gconstpointer a, gconstpointer b)
{
  const Slot *x = a, *y = b;
  int order_x = x->kind == MHAR_SITE_FINAL ? 2 * LAYERS_MAX : 2 * x->layer + (x->kind == MHAR_SITE_MLP);
  int order_y = y->kind == MHAR_SITE_FINAL ? 2 * LAYERS_MAX : 2 * y->layer + (y->kind == MHAR_SITE_MLP);
  return order_x != order_y ? order_x - order_y : x->kind - y->kind;
}

static Slot *
slot_of (GArray *slots, const Key *key)
{
  for (guint i = slots->len; i-- > 0;) {
    Slot *slot = &g_array_index (slots, Slot, i);
    if (slot->kind == key->kind && slot->layer == key->layer)
      return slot;
  }
  Slot slot = { key->kind, key->layer, { NULL } };
  g_array_append_val (slots, slot);
  return &g_array_index (slots, Slot, slots->len - 1);
}

/* The routing tensors of the checkpoint, site by site. */
static gboolean
collect (MharRoutingWeights *weights, const MharCheckpoint *checkpoint, const MharNameMap *map, GArray *slots,
         GError **error)
{
  guint family = MHAR;
  for (guint i = 0; i < mhar_checkpoint_n_tensors (checkpoint); i++) {
    const MharTensor *tensor = mhar_checkpoint_tensor (checkpoint, i);
    Key key;
    if (!parse (tensor->name, map, &key))
      continue;
    Slot *slot = slot_of (slots, &key);
    if (slot->tensors[key.role] != NULL) {
      g_autofree char *other = mhar_input_quote (slot->tensors[key.role]->name);
      return bad_tensor (checkpoint, tensor->name, error, "and '%s' are both the same read's; say which with --map",
                         other);
    }
    if (!check_tensor (checkpoint, tensor, key.role, &weights->width, error))
      return FALSE;
    slot->tensors[key.role] = tensor;
    family = MAX (family, key.family);
    weights->layers = MAX (weights->layers, key.layer + 1);
    g_ptr_array_add (weights->names, g_strdup (tensor->name));
  }
  g_ptr_array_add (weights->names, NULL);
  weights->dialect = families[family];
  g_array_sort (slots, compare_slots);
  return TRUE;
}

static char *
label_of (const Slot *slot, guint row, guint rows)
{
  g_autofree char *site = slot->kind == MHAR_SITE_FINAL ? g_strdup ("final")
                          : slot->kind == ROUTER
                              ? g_strdup_printf ("router %d", slot->layer)
                              : g_strdup_printf ("L%d.%s", slot->layer, slot->kind == MHAR_SITE_MLP ? "mlp" : "attn");
  return rows > 1 ? g_strdup_printf ("%s q%u", site, row) : g_steal_pointer (&site);
}

/* One entry for every row of the site's query. */
static gboolean
add_site (MharRoutingWeights *weights, const MharCheckpoint *checkpoint, const Slot *slot, GError **error)
{
  const MharTensor *query = slot->tensors[QUERY], *gain = slot->tensors[GAIN], *product = slot->tensors[PRODUCT];
  const MharTensor *stored = product != NULL ? product : query;
  if (stored == NULL)
    return bad_tensor (checkpoint, gain->name, error,
                       "is a key gain whose query is not there; fetch the checkpoint again");
  g_autofree double *q = mhar_tensor_values (stored),
                    *g = product == NULL && gain != NULL ? mhar_tensor_values (gain) : NULL;
  gsize d = (gsize)weights->width;
  guint rows = stored->n_dims == 2 ? (guint)stored->shape[0] : 1;
  if (rows > QUERIES_MAX - weights->queries->len)
    return bad_tensor (checkpoint, stored->name, error, "is one of more than %d queries; it is not a Transformer's",
                       QUERIES_MAX);
  for (guint r = 0; r < rows; r++) {
    MharRoutingQuery *one = g_new0 (MharRoutingQuery, 1);
    one->label = label_of (slot, r, rows);
    one->number = slot->kind == MHAR_SITE_FINAL ? 2 * weights->layers
                  : slot->kind == ROUTER        ? slot->layer
                                                : 2 * slot->layer + (slot->kind == MHAR_SITE_MLP);
    one->query = product == NULL ? g_memdup2 (q + r * d, d * sizeof *q) : NULL;
    one->scored = g_memdup2 (q + r * d, d * sizeof *q);
    for (gsize i = 0; g != NULL && i < d; i++)
      one->scored[i] *= g[i];
    g_ptr_array_add (weights->queries, one);
  }
  return TRUE;
}

static void
warn (MharRoutingWeights *weights, const GArray *slots)
{
  gboolean zero = TRUE;
  guint bare = 0;
  for (guint i = 0; i < weights->queries->len; i++) {
    const MharRoutingQuery *one = g_ptr_array_index (weights->queries, i);
    for (int k = 0; k < weights->width; k++)
      zero = zero && one->scored[k] == 0;
  }
  for (guint i = 0; i < slots->len; i++) {
    const Slot *slot = &g_array_index (slots, Slot, i);
    bare += slot->tensors[QUERY] != NULL && slot->tensors[GAIN] == NULL;
  }
  if (zero)
    g_ptr_array_add (
        weights->warnings,
        g_strdup ("every stored routing query is exactly zero: none was trained, and reads with them are uniform"));
  if (bare > 0)
    g_ptr_array_add (weights->warnings, g_strdup_printf ("%u quer%s no key gain beside %s: taken for 1", bare,
                                                         bare == 1 ? "y has" : "ies have", bare == 1 ? "it" : "them"));
}

static void
query_free (gpointer data)
{
  MharRoutingQuery *one = data;
  g_free (one->label);
  g_free (one->query);
  g_free (one->scored);
  g_free (one);
}

MharRoutingWeights *
mhar_routing_weights_read (const MharCheckpoint *checkpoint, const MharNameMap *map, GError **error)
{
  g_autoptr (MharRoutingWeights) weights = g_new0 (MharRoutingWeights, 1);
  g_autoptr (GArray) slots = g_array_new (FALSE, FALSE, sizeof (Slot));
  g_autofree char *shown = g_filename_display_name (mhar_checkpoint_path (checkpoint));
  weights->queries = g_ptr_array_new_with_free_func (query_free);
  weights->names = g_ptr_array_new_with_free_func (g_free);
  weights->warnings = g_ptr_array_new_with_free_func (g_free);
  if (!collect (weights, checkpoint, map, slots, error))
    return NULL;
  if (slots->len == 0) {
    mhar_bad_input (error, "%s: holds no routing query under any name that is known; name them with --map FILE", shown);
    return NULL;
  }
  for (guint i = 0; i < slots->len; i++)
    if (!add_site (weights, checkpoint, &g_array_index (slots, Slot, i), error))
      return NULL;
  warn (weights, slots);
  return g_steal_pointer (&weights);
}

void
mhar_routing_weights_free (MharRoutingWeights *weights)
{
  if (weights == NULL)
    return;
  g_ptr_array_unref (weights->queries);
  g_ptr_array_unref (weights->names);
  g_ptr_array_unref (weights->warnings);
  g_free (weights);
}
