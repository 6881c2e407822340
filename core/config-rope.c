/* SPDX-License-Identifier: MIT */
/* The rotary embedding a config asks for: rope_theta with rope_scaling (transformers 4) or rope_parameters
 * (transformers 5, flat or one object a layer type). */
#include "core/config-private.h"

#include "core/error.h"

#include <math.h>
#include <string.h>

/* One object of parameters; NULL: none, the plain embedding. */
typedef struct {
  const MharConfig *config;
  const json_t *object;
  const char *name; /* "rope_scaling", "rope_parameters.full_attention" */
} Source;

static const struct {
  const char *name;
  MharRopeKind kind;
} kinds[] = {
  { "default", MHAR_ROPE_PLAIN }, { "linear", MHAR_ROPE_LINEAR }, { "dynamic", MHAR_ROPE_DYNAMIC },
  { "yarn", MHAR_ROPE_YARN },     { "llama3", MHAR_ROPE_LLAMA3 },
};

/* A number in [low, high]; `otherwise` where absent or null, and where 0 and `zero` (transformers' `x or 32`). An
 * absent one that is needed has NAN for `otherwise`. */
static gboolean
read_number (const Source *s, const char *key, double low, double high, gboolean zero, double otherwise, double *number,
             GError **error)
{
  const json_t *found = mhar_config_get (s->object, key);
  double x = json_number_value (found);
  *number = otherwise;
  if (found == NULL && !isnan (otherwise))
    return TRUE;
  if (found == NULL)
    return mhar_bad_input (error, "%s: '%s.%s' is missing; give the config.json that was saved with the tensors",
                           s->config->shown, s->name, key);
  if (zero && json_is_number (found) && x == 0)
    return TRUE;
  *number = x;
  if (json_is_number (found) && x >= low && x <= high)
    return TRUE;
  g_autofree char *text = mhar_config_describe (found);
  return mhar_bad_input (error, "%s: '%s.%s' is %s; give a number from %g to %.10g", s->config->shown, s->name, key,
                         text, low, high);
}

static gboolean
read_truncate (const Source *s, gboolean *truncate, GError **error)
{
  const json_t *found = mhar_config_get (s->object, "truncate");
  *truncate = found == NULL || json_is_true (found);
  if (found == NULL || json_is_boolean (found))
    return TRUE;
  g_autofree char *text = mhar_config_describe (found);
  return mhar_bad_input (error, "%s: '%s.truncate' is %s; give true or false", s->config->shown, s->name, text);
}

/* The positions that the model was trained on: original_max_position_embeddings here, beside it, or
 * max_position_embeddings. */
static gboolean
read_original (const Source *s, double *original, GError **error)
{
  static const char key[] = "original_max_position_embeddings";
  int beside, context = s->config->body.context;
  return mhar_config_integer (s->config, key, 1, CONFIG_CONTEXT_MAX, context, &beside, error)
         && read_number (s, key, 1, CONFIG_CONTEXT_MAX, FALSE, beside > 0 ? beside : NAN, original, error);
}

static double
yarn_scale (double factor, double mscale)
{
  return factor <= 1 ? 1 : 0.1 * mscale * log (factor) + 1;
}

/* Peng et al., YaRN (2023), with the defaults that transformers gives what is absent. */
static gboolean
read_yarn (const Source *s, MharRope *rope, GError **error)
{
  double all, mscale, context = s->config->body.context;
  if (!read_original (s, &rope->original, error))
    return FALSE;
  double implied = context > 0 ? context / rope->original : NAN;
  if (!read_number (s, "factor", 1e-3, 1e6, FALSE, implied, &rope->factor, error)
      || !read_number (s, "beta_fast", 1e-6, 1e6, TRUE, 32, &rope->fast, error)
      || !read_number (s, "beta_slow", 1e-6, 1e6, TRUE, 1, &rope->slow, error)
      || !read_number (s, "mscale", 0, 1e6, FALSE, 0, &mscale, error)
      || !read_number (s, "mscale_all_dim", 0, 1e6, FALSE, 0, &all, error)
      || !read_truncate (s, &rope->truncate, error))
    return FALSE;
  if (rope->fast < rope->slow || rope->theta <= 1)
    return mhar_bad_input (error,
                           "%s: '%s' has 'beta_fast' %g, 'beta_slow' %g and 'rope_theta' %g; yarn needs a beta_fast no "
                           "less than beta_slow and a theta above 1",
                           s->config->shown, s->name, rope->fast, rope->slow, rope->theta);
  double attention = yarn_scale (rope->factor, 1);
  if (mscale > 0 && all > 0)
    attention = yarn_scale (rope->factor, mscale) / yarn_scale (rope->factor, all);
  return read_number (s, "attention_factor", 1e-6, 1e6, FALSE, attention, &rope->attention, error);
}

static gboolean
read_llama3 (const Source *s, MharRope *rope, GError **error)
{
  if (!read_original (s, &rope->original, error)
      || !read_number (s, "factor", 1e-3, 1e6, FALSE, NAN, &rope->factor, error)
      || !read_number (s, "low_freq_factor", 1e-6, 1e6, FALSE, NAN, &rope->low, error)
      || !read_number (s, "high_freq_factor", 1e-6, 1e6, FALSE, NAN, &rope->high, error))
    return FALSE;
  return rope->high > rope->low
         || mhar_bad_input (error, "%s: '%s.high_freq_factor' is %g; it must be above 'low_freq_factor' %g",
                            s->config->shown, s->name, rope->high, rope->low);
}

static gboolean
read_dynamic (const Source *s, MharRope *rope, GError **error)
{
  const MharBody *body = &s->config->body;
  if (body->context == 0)
    return mhar_bad_input (error, "%s: '%s' is dynamic but 'max_position_embeddings' is missing; give it",
                           s->config->shown, s->name);
  if (body->head_dim == 2)
    return mhar_bad_input (error, "%s: '%s' is dynamic, which a 'head_dim' of 2 does not allow", s->config->shown,
                           s->name);
  rope->original = body->context;
  return read_number (s, "factor", 1e-3, 1e6, FALSE, NAN, &rope->factor, error);
}

/* rope_type, or type as it was called before. */
static gboolean
read_kind (const Source *s, MharRopeKind *kind, GError **error)
{
  const json_t *type = mhar_config_get (s->object, "rope_type"), *old = mhar_config_get (s->object, "type");
  const char *key = type != NULL ? "rope_type" : "type", *what = json_string_value (type != NULL ? type : old);
  if (type != NULL && old != NULL && !json_equal (type, old))
    return mhar_bad_input (error, "%s: '%s' has a 'type' and another 'rope_type'; keep the one it was trained with",
                           s->config->shown, s->name);
  if (type == NULL && old == NULL) {
    *kind = MHAR_ROPE_PLAIN;
    return mhar_config_get (s->object, "factor") == NULL
           || mhar_bad_input (error, "%s: '%s' has a 'factor' but no 'rope_type'; give it", s->config->shown, s->name);
  }
  for (gsize i = 0; what != NULL && i < G_N_ELEMENTS (kinds); i++)
    if (strcmp (what, kinds[i].name) == 0) {
      *kind = kinds[i].kind;
      return TRUE;
    }
  g_autofree char *full = g_strconcat (s->name, ".", key, NULL);
  return mhar_config_unsupported (s->config, full, type != NULL ? type : old,
                                  "only default, linear, dynamic, yarn and llama3 are", error);
}

/* One theta: in the object, beside it, or both alike. Within an object for one layer type its own comes first. */
static gboolean
read_theta (const Source *s, gboolean nested, double *theta, GError **error)
{
  double beside = 10000;
  const json_t *own = mhar_config_get (s->object, "rope_theta"),
               *outer = mhar_config_get (s->config->root, "rope_theta");
  g_autofree char *full = g_strconcat (s->name, ".rope_theta", NULL);
  if (!mhar_config_real (s->config, "rope_theta", outer, CONFIG_THETA_MAX, &beside, error))
    return FALSE;
  *theta = beside;
  if (!mhar_config_real (s->config, full, own, CONFIG_THETA_MAX, theta, error))
    return FALSE;
  return nested || own == NULL || outer == NULL || *theta == beside
         || mhar_bad_input (error, "%s: 'rope_theta' is %.10g but '%s' is %.10g; keep the one it was trained with",
                            s->config->shown, beside, full, *theta);
}

static gboolean
check_partial (const Source *s, GError **error)
{
  static const char key[] = "partial_rotary_factor";
  json_t *factors[] = { mhar_config_get (s->config->root, key), mhar_config_get (s->object, key) };
  for (gsize i = 0; i < G_N_ELEMENTS (factors); i++)
    if (factors[i] != NULL && !(json_is_number (factors[i]) && json_number_value (factors[i]) == 1))
      return mhar_config_unsupported (s->config, key, factors[i], "only the rotation of whole heads is", error);
  return TRUE;
}

static gboolean
read_one (const Source *s, gboolean nested, MharRope *rope, GError **error)
{
  *rope = (MharRope){ .attention = 1 };
  if (!check_partial (s, error) || !read_kind (s, &rope->kind, error) || !read_theta (s, nested, &rope->theta, error))
    return FALSE;
  switch (rope->kind) {
  case MHAR_ROPE_LINEAR:
    return read_number (s, "factor", 1e-3, 1e6, FALSE, NAN, &rope->factor, error);
  case MHAR_ROPE_DYNAMIC:
    return read_dynamic (s, rope, error);
  case MHAR_ROPE_YARN:
    return read_yarn (s, rope, error);
  case MHAR_ROPE_LLAMA3:
    return read_llama3 (s, rope, error);
  case MHAR_ROPE_PLAIN:
  default:
    return TRUE;
  }
}

/* rope_scaling where it holds anything, else rope_parameters: transformers 5 reads either, and writes the latter. */
static gboolean
find_source (const MharConfig *config, Source *source, GError **error)
{
  static const char *const names[] = { "rope_scaling", "rope_parameters" };
  *source = (Source){ config, NULL, names[1] };
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++) {
    json_t *found = mhar_config_get (config->root, names[i]);
    if (found != NULL && !json_is_object (found))
      return mhar_config_unsupported (config, names[i], found, "only an object of parameters is", error);
    if (json_object_size (found) == 0)
      continue;
    if (source->object != NULL && !json_equal (source->object, found))
      return mhar_bad_input (error,
                             "%s: 'rope_scaling' and 'rope_parameters' are both set and differ; keep the one it was "
                             "trained with",
                             config->shown);
    *source = (Source){ config, found, names[i] };
  }
  return TRUE;
}

static gboolean
has_objects (const json_t *object)
{
  const char *key;
  json_t *value;
  json_object_foreach ((json_t *)object, key, value) {
    if (json_is_object (value))
      return TRUE;
  }
  return FALSE;
}

/* rope[k] of layers of one type, from the object of that name. */
static gboolean
read_nested (const Source *s, const char *type, MharRope *rope, GError **error)
{
  g_autofree char *full = g_strconcat (s->name, ".", type, NULL);
  const Source own = { s->config, mhar_config_get (s->object, type), full };
  if (!json_is_object (own.object))
    return mhar_bad_input (error,
                           "%s: '%s' is missing but there are layers of that type; give the config.json that was "
                           "saved with the tensors",
                           s->config->shown, full);
  return read_one (&own, TRUE, rope, error);
}

gboolean
mhar_config_read_rope (MharConfig *config, GError **error)
{
  MharBody *body = &config->body;
  gboolean sliding = body->window > 0, full = memchr (body->slides, 0, (gsize)body->layers) != NULL;
  MharRope *rope = body->rope;
  Source source;
  if (!find_source (config, &source, error))
    return FALSE;
  if (!has_objects (source.object)) {
    if (!read_one (&source, FALSE, &rope[0], error))
      return FALSE;
    rope[1] = rope[0];
  } else {
    if ((full && !read_nested (&source, "full_attention", &rope[0], error))
        || (sliding && !read_nested (&source, "sliding_attention", &rope[1], error)))
      return FALSE;
    if (!sliding) /* a type that no layer has is as the other */
      rope[1] = rope[0];
    else if (!full)
      rope[0] = rope[1];
  }
  body->rope_theta = rope[0].theta;
  return TRUE;
}
