/* SPDX-License-Identifier: MIT */
#include "probes/weights-only.h"

#include "core/error.h"
#include "core/input.h"

#include <math.h>
#include <string.h>

#define DEFAULT_HEADS 8

typedef struct {
  const MharRoutingWeights *weights;
  gsize n, width, slices; /* queries, D, S */
  gboolean interleaved;
  GPtrArray *warnings;
} Setup;

static const double *
scored (const Setup *s, gsize i)
{
  const MharRoutingQuery *one = g_ptr_array_index (s->weights->queries, i);
  return one->scored;
}

/* Where element k of slice s stands in a query. */
static gsize
place (const Setup *s, gsize slice, gsize k)
{
  return s->interleaved ? k * s->slices + slice : slice * (s->width / s->slices) + k;
}

/* Slice a of x times slice b of y. */
static double
slice_product (const Setup *s, const double *x, gsize a, const double *y, gsize b)
{
  double sum = 0;
  for (gsize k = 0; k < s->width / s->slices; k++)
    sum += x[place (s, a, k)] * y[place (s, b, k)];
  return sum;
}

static double
norm (const double *x, gsize n)
{
  double sum = 0;
  for (gsize i = 0; x != NULL && i < n; i++)
    sum += x[i] * x[i];
  return x != NULL ? sqrt (sum) : NAN;
}

static double
cosine (double product, double norm_a, double norm_b)
{
  return norm_a > 0 && norm_b > 0 ? product / norm_a / norm_b : NAN;
}

static MharField *
add (MharDataset *out, const char *name, const char *long_name, MharFieldType type, guint n_dims,
     const char *const *dims, const gsize *shape)
{
  const char *units = type == MHAR_FIELD_STRING ? "" : "1";
  return mhar_dataset_add (out, mhar_field_new (name, long_name, units, type, n_dims, dims, shape));
}

static void
add_labels (const Setup *s, MharDataset *out)
{
  const char *dims[] = { "site", "source" };
  gsize shape[] = { s->n, 1 };
  MharField *site
      = add (out, "site", "2l feeds attention l, 2l+1 MLP l, 2L the last norm", MHAR_FIELD_I32, 1, dims, shape);
  MharField *label = add (out, "site_label", "the read's name", MHAR_FIELD_STRING, 1, dims, shape);
  add (out, "n_sources", "sources that the site reads; 0: not known without the model", MHAR_FIELD_I32, 1, dims, shape);
  MharField *heads = add (out, "n_heads", "distributions that the site has", MHAR_FIELD_I32, 1, dims, shape);
  add (out, "source_label", "what the site's source is; none is known without the model", MHAR_FIELD_STRING, 2, dims,
       shape);
  for (gsize i = 0; i < s->n; i++) {
    const MharRoutingQuery *one = g_ptr_array_index (s->weights->queries, i);
    site->data.i32[i] = one->number;
    label->data.str[i] = g_strdup (one->label);
    heads->data.i32[i] = (gint32)mhar_dataset_integer (out, "heads", 1);
  }
}

/* Norms of whole queries and of slices; the latter in double too, [n, S], for the cosines. */
static double *
add_norms (const Setup *s, MharDataset *out)
{
  const char *dims[] = { "site", "slice" };
  gsize shape[] = { s->n, s->slices };
  MharField *q = add (out, "query_norm", "norm of the query q as stored", MHAR_FIELD_F32, 1, dims, shape);
  MharField *u = add (out, "scored_norm", "norm of the query times the key gain", MHAR_FIELD_F32, 1, dims, shape);
  MharField *parts
      = add (out, "slice_norm", "norm of a slice of the query times the key gain", MHAR_FIELD_F32, 2, dims, shape);
  double *norms = g_new (double, s->n * s->slices);
  for (gsize i = 0; i < s->n; i++) {
    const MharRoutingQuery *one = g_ptr_array_index (s->weights->queries, i);
    q->data.f32[i] = (float)norm (one->query, s->width);
    u->data.f32[i] = (float)norm (one->scored, s->width);
    for (gsize k = 0; k < s->slices; k++) {
      norms[i * s->slices + k] = sqrt (slice_product (s, one->scored, k, one->scored, k));
      parts->data.f32[i * s->slices + k] = (float)norms[i * s->slices + k];
    }
  }
  return norms;
}

/* Mean, and mean absolute value, of what was added; nothing where nothing was. */
typedef struct {
  double sum, absolute;
  guint64 n;
} Mean;

static void
count (Mean *mean, double value)
{
  if (isnan (value))
    return;
  mean->sum += value;
  mean->absolute += fabs (value);
  mean->n++;
}

static void
set_means (MharDataset *out, const char *name, const Mean *mean)
{
  g_autofree char *plain = g_strconcat (name, "_mean", NULL), *absolute = g_strconcat (name, "_mean_abs", NULL);
  if (mean->n == 0)
    return;
  mhar_dataset_set_real (out, plain, mean->sum / (double)mean->n);
  mhar_dataset_set_real (out, absolute, mean->absolute / (double)mean->n);
}

/* Between sites: whole queries, and their slices of the same number. */
static void
add_between (const Setup *s, const double *norms, MharDataset *out)
{
  const char *dims[] = { "site", "site_b" }, *slice_dims[] = { "slice", "site", "site_b" };
  gsize shape[] = { s->n, s->n }, slice_shape[] = { s->slices, s->n, s->n };
  MharField *whole
      = add (out, "query_cosine", "cosine between two sites' queries times key gains", MHAR_FIELD_F32, 2, dims, shape);
  MharField *parts
      = add (out, "slice_site_cosine", "cosine between the same slice of two sites' queries times key gains",
             MHAR_FIELD_F32, 3, slice_dims, slice_shape);
  Mean mean = { 0 }, slice_mean = { 0 };
  for (gsize a = 0; a < s->n; a++)
    for (gsize b = 0; b <= a; b++) {
      const double *x = scored (s, a), *y = scored (s, b);
      double sum = 0;
      for (gsize k = 0; k < s->slices; k++) {
        double product = slice_product (s, x, k, y, k);
        double c = cosine (product, norms[a * s->slices + k], norms[b * s->slices + k]);
        sum += product;
        parts->data.f32[(k * s->n + a) * s->n + b] = parts->data.f32[(k * s->n + b) * s->n + a] = (float)c;
        if (a != b)
          count (&slice_mean, c);
      }
      double c = cosine (sum, norm (x, s->width), norm (y, s->width));
      whole->data.f32[a * s->n + b] = whole->data.f32[b * s->n + a] = (float)c;
      if (a != b)
        count (&mean, c);
    }
  set_means (out, "query_cosine", &mean);
  set_means (out, "slice_site_cosine", &slice_mean);
}

/* Between the slices of each query. */
static void
add_within (const Setup *s, const double *norms, MharDataset *out)
{
  const char *dims[] = { "site", "slice", "slice_b" };
  gsize shape[] = { s->n, s->slices, s->slices };
  MharField *field = add (out, "slice_cosine", "cosine between two slices of the site's query times key gain",
                          MHAR_FIELD_F32, 3, dims, shape);
  Mean mean = { 0 };
  for (gsize i = 0; i < s->n; i++)
    for (gsize a = 0; a < s->slices; a++)
      for (gsize b = 0; b < s->slices; b++) {
        double c = cosine (slice_product (s, scored (s, i), a, scored (s, i), b), norms[i * s->slices + a],
                           norms[i * s->slices + b]);
        field->data.f32[(i * s->slices + a) * s->slices + b] = (float)c;
        if (a < b)
          count (&mean, c);
      }
  set_means (out, "slice_cosine", &mean);
}

/* A value of the config, or of its text model's part; NULL where there is neither. */
static const json_t *
config_value (const json_t *root, const char *key)
{
  const json_t *value = json_object_get (root, key);
  return value != NULL ? value : json_object_get (json_object_get (root, "text_config"), key);
}

/* H: --heads, else what the mode makes of attnres_num_heads. 1 where nothing says. */
static guint
find_heads (const json_t *root, guint asked, Setup *s)
{
  const char *mode = json_string_value (config_value (root, "attnres_mode"));
  const json_t *heads = config_value (root, "attnres_num_heads");
  json_int_t n = json_integer_value (heads);
  if (asked > 0)
    return asked;
  if (mode == NULL || (!g_str_has_suffix (mode, "_mh") && !g_str_has_suffix (mode, "_hw")))
    return 1;
  if (json_is_integer (heads) && n > 0 && n <= G_MAXUINT16)
    return (guint)n;
  g_ptr_array_add (s->warnings,
                   g_strdup_printf ("attnres_num_heads is not in the config: %d routing heads are assumed; "
                                    "--heads overrides",
                                    DEFAULT_HEADS));
  return DEFAULT_HEADS;
}

static void
copy_config (const json_t *root, const MharCheckpoint *checkpoint, const Setup *s, MharDataset *out)
{
  static const char *const numbers[] = { "attnres_num_blocks", "attnres_block_size", "attn_res_block_size" };
  g_autofree char *path = g_filename_display_name (mhar_checkpoint_path (checkpoint));
  const char *mode = json_string_value (config_value (root, "attnres_mode"));
  const char *type = json_string_value (json_object_get (root, "model_type"));
  mhar_dataset_set_string (out, "path", path);
  mhar_dataset_set_string (out, "dialect", s->weights->dialect);
  mhar_dataset_set_string (out, "mode", mode != NULL ? mode : "unknown");
  mhar_dataset_set_integer (out, "layers", s->weights->layers);
  mhar_dataset_set_integer (out, "width", s->weights->width);
  if (type != NULL)
    mhar_dataset_set_string (out, "model_type", type);
  mhar_dataset_set_string (out, "dtype", mhar_checkpoint_dtype (checkpoint));
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (json_is_integer (config_value (root, numbers[i])))
      mhar_dataset_set_integer (out, numbers[i], json_integer_value (config_value (root, numbers[i])));
}

/* Slices: the heads where there are several. */
static gboolean
choose_slices (Setup *s, guint heads, const MharWeightsOptions *options, const MharCheckpoint *checkpoint,
               GError **error)
{
  g_autofree char *path = g_filename_display_name (mhar_checkpoint_path (checkpoint));
  s->slices = heads > 1 ? heads : options->slices;
  s->interleaved = heads > 1 ? FALSE : options->interleaved;
  s->width = (gsize)s->weights->width;
  if (s->width % s->slices != 0) {
    gboolean of_config = heads > 1 && options->heads == 0;
    g_set_error (error, MHAR_ERROR, of_config ? MHAR_ERROR_INPUT : MHAR_ERROR_USAGE,
                 "%s: %" G_GSIZE_FORMAT " %s do not divide a width of %d; give the right number with %s", path,
                 s->slices, heads > 1 ? "routing heads" : "slices", s->weights->width,
                 heads > 1 ? "--heads" : "--slices");
    return FALSE;
  }
  if (s->n * s->slices * MAX (s->n, s->slices) > (gsize)1 << 26)
    return mhar_bad_input (error,
                           "%s: %" G_GSIZE_FORMAT " slices of %" G_GSIZE_FORMAT
                           " queries give too many cosines; give a "
                           "smaller --slices",
                           path, s->slices, s->n);
  return TRUE;
}

static void
set_warnings (const Setup *s, MharDataset *out)
{
  const GPtrArray *more = s->weights->warnings;
  for (guint i = 0; i < more->len; i++)
    g_ptr_array_add (s->warnings, g_strdup (g_ptr_array_index (more, i)));
  g_ptr_array_add (s->warnings, NULL);
  mhar_dataset_set_strings (out, "warnings", (const char *const *)s->warnings->pdata);
}

MharDataset *
mhar_weights_only (const MharCheckpoint *checkpoint, const MharRoutingWeights *weights,
                   const MharWeightsOptions *options, GError **error)
{
  gsize length;
  const char *config_path, *text = mhar_checkpoint_config_text (checkpoint, &length, &config_path);
  json_auto_t *root = text != NULL ? mhar_input_json (text, length, config_path, "the file", error) : NULL;
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  Setup s = { .weights = weights, .n = weights->queries->len, .warnings = warnings };

  if (text != NULL && root == NULL)
    return NULL;
  guint heads = find_heads (root, options->heads, &s);
  if (!choose_slices (&s, heads, options, checkpoint, error))
    return NULL;
  MharDataset *out = mhar_dataset_new ("weights");
  copy_config (root, checkpoint, &s, out);
  mhar_dataset_set_integer (out, "heads", heads);
  mhar_dataset_set_integer (out, "sites", (gint64)s.n);
  mhar_dataset_set_integer (out, "slices", (gint64)s.slices);
  mhar_dataset_set_string (out, "slicing", s.interleaved ? "interleaved" : "contiguous");
  add_labels (&s, out);
  g_autofree double *norms = add_norms (&s, out);
  add_between (&s, norms, out);
  add_within (&s, norms, out);
  mhar_dataset_set_string (out, "signal", "query_cosine");
  set_warnings (&s, out);
  return out;
}
