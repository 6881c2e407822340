/* SPDX-License-Identifier: MIT */
#include "core/name-map.h"

#include "core/error.h"
#include "core/input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX (64 << 10)
#define PATTERN_MAX 256
#define HEADS_MAX 65536
#define PERIOD_MAX 65536
#define LAYERS_MAX 1024
#define PLACE "{i}"

/* What a body is read by (core/body.h): the file may have it under other names. */
static const char *const body_names[] = { "model.embed_tokens.weight",
                                          "model.norm.weight",
                                          "lm_head.weight",
                                          "model.layers.{i}.input_layernorm.weight",
                                          "model.layers.{i}.post_attention_layernorm.weight",
                                          "model.layers.{i}.self_attn.q_proj.weight",
                                          "model.layers.{i}.self_attn.k_proj.weight",
                                          "model.layers.{i}.self_attn.v_proj.weight",
                                          "model.layers.{i}.self_attn.o_proj.weight",
                                          "model.layers.{i}.self_attn.q_proj.bias",
                                          "model.layers.{i}.self_attn.k_proj.bias",
                                          "model.layers.{i}.self_attn.v_proj.bias",
                                          "model.layers.{i}.self_attn.o_proj.bias",
                                          "model.layers.{i}.self_attn.q_norm.weight",
                                          "model.layers.{i}.self_attn.k_norm.weight",
                                          "model.layers.{i}.mlp.gate_proj.weight",
                                          "model.layers.{i}.mlp.up_proj.weight",
                                          "model.layers.{i}.mlp.down_proj.weight" };

static void
pair_clear (gpointer data)
{
  MharMapPair *pair = data;
  g_free (pair->ours);
  g_free (pair->theirs);
}

static void
keys_clear (MharMapKeys *keys)
{
  g_free (keys->query);
  g_free (keys->norm);
  g_free (keys->product);
  g_free (keys->bias);
}

void
mhar_name_map_free (MharNameMap *map)
{
  if (map == NULL)
    return;
  keys_clear (&map->attn);
  keys_clear (&map->mlp);
  keys_clear (&map->final);
  g_clear_pointer (&map->body, g_array_unref);
  g_free (map->name);
  g_free (map->path);
  g_free (map);
}

static gboolean G_GNUC_PRINTF (4, 5)
    bad_key (const MharNameMap *map, const char *key, GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *what = g_strdup_vprintf (format, args);
  va_end (args);
  g_autofree char *quoted = mhar_input_quote (key);
  return mhar_bad_input (error, "%s: '%s' %s", map->path, quoted, what);
}

/* `key` of the object, a pattern with "{i}" just once where `layers`, else without. */
static gboolean
read_pattern (const MharNameMap *map, const json_t *object, const char *key, const char *full, gboolean layers,
              char **pattern, GError **error)
{
  const json_t *value = json_object_get (object, key);
  const char *text = json_string_value (value);
  if (value == NULL)
    return TRUE;
  if (text == NULL || *text == '\0' || strlen (text) > PATTERN_MAX)
    return bad_key (map, full, error, "is not the name of a tensor, of 1 to %d bytes", PATTERN_MAX);
  const char *place = strstr (text, PLACE);
  if (layers && (place == NULL || strstr (place + 1, PLACE) != NULL))
    return bad_key (map, full, error, "must have {i}, the layer, in one place");
  if (layers && g_ascii_isdigit (place[strlen (PLACE)]))
    return bad_key (map, full, error, "has a digit behind {i}, so where the layer ends cannot be told; rename the tensors");
  if (!layers && place != NULL)
    return bad_key (map, full, error, "belongs to no layer; leave out {i}");
  *pattern = g_strdup (text);
  return TRUE;
}

static gboolean
check_known (const MharNameMap *map, json_t *object, const char *prefix, const char *const *known, GError **error)
{
  const char *key;
  json_t *value;
  json_object_foreach (object, key, value)
  {
    g_autofree char *full = g_strconcat (prefix, key, NULL);
    if (!g_strv_contains (known, key))
      return bad_key (map, full, error, "is not a key of a name map; see name-map.md for those that are");
  }
  return TRUE;
}

/* One of attn, mlp and final. */
static gboolean
read_keys (const MharNameMap *map, const json_t *root, const char *kind, MharMapKeys *keys, GError **error)
{
  static const char *const known[] = { "query", "norm", "product", "bias", NULL };
  char **fields[] = { &keys->query, &keys->norm, &keys->product, &keys->bias };
  g_autofree char *prefix = g_strconcat (kind, ".", NULL);
  json_t *object = json_object_get (root, kind);
  gboolean final = strcmp (kind, "final") == 0;
  if (object == NULL)
    return final || bad_key (map, kind, error, "is missing; name the tensors of its query");
  if (!json_is_object (object))
    return bad_key (map, kind, error, "is not an object of tensor names");
  if (!check_known (map, object, prefix, known, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++) {
    g_autofree char *full = g_strconcat (prefix, known[i], NULL);
    if (!read_pattern (map, object, known[i], full, !final, fields[i], error))
      return FALSE;
  }
  if ((keys->query != NULL) == (keys->product != NULL))
    return bad_key (map, kind, error, "must name either a query or a product");
  if (keys->product != NULL && keys->norm != NULL)
    return bad_key (map, kind, error, "names a norm beside a product, which holds it already; leave it out");
  return TRUE;
}

/* "none", "layers:N", "sublayers:N". */
static gboolean
read_blocks (MharNameMap *map, const json_t *root, GError **error)
{
  const json_t *value = json_object_get (root, "blocks");
  const char *text = value == NULL ? "none" : json_string_value (value);
  guint64 n = 0;
  if (text != NULL && strcmp (text, "none") == 0)
    return TRUE;
  gboolean layers = text != NULL && g_str_has_prefix (text, "layers:");
  gboolean sublayers = text != NULL && g_str_has_prefix (text, "sublayers:");
  if ((!layers && !sublayers) || !g_ascii_string_to_unsigned (strchr (text, ':') + 1, 10, 1, PERIOD_MAX / 2, &n, NULL))
    return bad_key (map, "blocks", error, "must be none, layers:N or sublayers:N, with N from 1 to %d", PERIOD_MAX / 2);
  map->period = (int)n * (layers ? 2 : 1);
  return TRUE;
}

static gboolean
read_words (MharNameMap *map, const json_t *root, GError **error)
{
  const json_t *name = json_object_get (root, "name"), *read = json_object_get (root, "read");
  const char *how = read == NULL ? "replace" : json_string_value (read);
  if (name != NULL && (!json_is_string (name) || json_string_length (name) > PATTERN_MAX))
    return bad_key (map, "name", error, "is not a text of at most %d bytes", PATTERN_MAX);
  map->name = name != NULL ? mhar_input_quote (json_string_value (name)) : g_strdup ("name map");
  if (how == NULL || (strcmp (how, "replace") != 0 && strcmp (how, "add") != 0))
    return bad_key (map, "read", error, "must be replace or add");
  map->add = strcmp (how, "add") == 0;
  return TRUE;
}

static gboolean
read_numbers (MharNameMap *map, const json_t *root, GError **error)
{
  const json_t *heads = json_object_get (root, "heads"), *eps = json_object_get (root, "eps");
  json_int_t n = heads == NULL ? 1 : json_integer_value (heads);
  double value = json_number_value (eps);
  if ((heads != NULL && !json_is_integer (heads)) || n < 1 || n > HEADS_MAX)
    return bad_key (map, "heads", error, "must be a whole number from 1 to %d", HEADS_MAX);
  map->heads = (int)n;
  if (eps != NULL && (!json_is_number (eps) || !(value > 0) || value > 1))
    return bad_key (map, "eps", error, "must be a number above 0 and up to 1");
  map->eps = eps == NULL ? 0 : value;
  return TRUE;
}

static gboolean
read_body (MharNameMap *map, const json_t *root, GError **error)
{
  json_t *object = json_object_get (root, "body"), *value;
  const char *key;
  if (object != NULL && !json_is_object (object))
    return bad_key (map, "body", error, "is not an object of tensor names");
  json_object_foreach (object, key, value)
  {
    g_autofree char *full = g_strconcat ("body.", key, NULL);
    gboolean known = FALSE;
    for (guint i = 0; i < G_N_ELEMENTS (body_names); i++)
      known = known || strcmp (key, body_names[i]) == 0;
    if (!known)
      return bad_key (map, full, error,
                      "is not the name of a tensor that a body has; see name-map.md for those it has");
    MharMapPair pair = { g_strdup (key), NULL };
    gboolean good = read_pattern (map, object, key, full, strstr (key, PLACE) != NULL, &pair.theirs, error);
    g_array_append_val (map->body, pair);
    if (!good)
      return FALSE;
  }
  return TRUE;
}

MharNameMap *
mhar_name_map_parse (const char *text, gsize length, const char *path, GError **error)
{
  static const char *const known[] = { "name", "attn", "mlp", "final", "read", "blocks", "heads", "eps", "body", NULL };
  g_autoptr (MharNameMap) map = g_new0 (MharNameMap, 1);
  map->path = g_filename_display_name (path);
  map->body = g_array_new (FALSE, FALSE, sizeof (MharMapPair));
  g_array_set_clear_func (map->body, pair_clear);
  json_auto_t *root = mhar_input_json (text, length, path, "the name map", error);
  if (root == NULL || !check_known (map, root, "", known, error) || !read_words (map, root, error)
      || !read_keys (map, root, "attn", &map->attn, error) || !read_keys (map, root, "mlp", &map->mlp, error)
      || !read_keys (map, root, "final", &map->final, error) || !read_blocks (map, root, error)
      || !read_numbers (map, root, error) || !read_body (map, root, error))
    return NULL;
  return g_steal_pointer (&map);
}

MharNameMap *
mhar_name_map_load (const char *path, GError **error)
{
  g_autoptr (GMappedFile) map = mhar_input_map (path, BYTES_MAX, error);
  if (map == NULL)
    return NULL;
  return mhar_name_map_parse (g_mapped_file_get_contents (map), g_mapped_file_get_length (map), path, error);
}

char *
mhar_name_fill (const char *pattern, int layer)
{
  const char *place = strstr (pattern, PLACE);
  if (place == NULL)
    return g_strdup (pattern);
  return g_strdup_printf ("%.*s%d%s", (int)(place - pattern), pattern, layer, place + strlen (PLACE));
}

gboolean
mhar_name_fits (const char *pattern, const char *name, int *layer)
{
  const char *place = strstr (pattern, PLACE);
  *layer = -1;
  if (place == NULL)
    return strcmp (pattern, name) == 0;
  gsize before = (gsize)(place - pattern), digits;
  if (strncmp (pattern, name, before) != 0)
    return FALSE;
  const char *number = name + before;
  digits = strspn (number, "0123456789");
  if (digits == 0 || digits > 4 || (digits > 1 && *number == '0')
      || strcmp (number + digits, place + strlen (PLACE)) != 0)
    return FALSE;
  *layer = atoi (number);
  return *layer < LAYERS_MAX;
}
