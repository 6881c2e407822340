/* SPDX-License-Identifier: MIT */
#include "app/cli/reference.h"

#include "core/checkpoint.h"
#include "core/error.h"
#include "core/input.h"
#include "probes/nearest-label.h"

#include <string.h>

#define MOST_IDS (1 << 20)
#define WEIGHTS "weights."

void
mhar_reference_free (MharReference *r)
{
  if (r == NULL)
    return;
  mhar_safetensors_free (r->file);
  g_free (r->path);
  g_free (r->ids);
  g_free (r->positions);
  g_free (r->weights);
  g_free (r);
}

double *
mhar_reference_values (const MharTensor *tensor, gsize first, gsize n)
{
  gsize size = strcmp (tensor->dtype, "F64") == 0 ? 8 : strcmp (tensor->dtype, "F32") == 0 ? 4 : 2;
  MharTensor part = *tensor;

  part.data += first * size;
  part.bytes = n * size;
  if (size < 8)
    return mhar_tensor_values (&part);
  double *values = g_new (double, MAX (n, 1));
  memcpy (values, part.data, part.bytes);
  return values;
}

/* "[64, 128]" */
static char *
shape_text (guint n_dims, const guint64 *shape)
{
  GString *text = g_string_new ("[");

  for (guint d = 0; d < n_dims; d++)
    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, d > 0 ? ", " : "", shape[d]);
  return g_string_free (g_string_append_c (text, ']'), FALSE);
}

static gboolean
has_shape (const MharTensor *t, guint n_dims, const guint64 *shape)
{
  return t->n_dims == n_dims && memcmp (t->shape, shape, n_dims * sizeof *shape) == 0;
}

static gboolean
check_float (const MharReference *r, const MharTensor *t, GError **error)
{
  static const char *const known[] = { "F64", "F32", "F16", "BF16" };

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (strcmp (t->dtype, known[i]) == 0)
      return TRUE;
  g_autofree char *name = mhar_input_quote (t->name);
  return mhar_bad_input (error, "%s: tensor “%s” is %s; save it as F32, F64, F16 or BF16", r->path, name, t->dtype);
}

/* A tensor of whole numbers; `most` and `what` are of their refusal. */
static gboolean
read_whole (const MharReference *r, const MharTensor *t, gsize n, gint64 most, const char *what, guint *to,
            GError **error)
{
  for (gsize i = 0; i < n; i++) {
    gint64 value;
    memcpy (&value, t->data + i * sizeof value, sizeof value);
    if (value < 0 || value > most)
      return mhar_bad_input (error, "%s: %s %" G_GINT64_FORMAT " is beyond %s of %" G_GINT64_FORMAT, r->path, t->name,
                             value, what, most + 1);
    to[i] = (guint)value;
  }
  return TRUE;
}

static gboolean
read_ids (MharReference *r, int vocab, GError **error)
{
  const MharTensor *t = mhar_safetensors_find (r->file, "ids");

  if (t == NULL)
    return mhar_bad_input (error, "%s: there is no tensor “ids”; a reference holds ids, and logits or weights",
                           r->path);
  if (strcmp (t->dtype, "I64") != 0 || t->n_dims < 1 || t->n_dims > 2)
    return mhar_bad_input (error, "%s: ids must be I64 of the shape [tokens] or [windows, tokens]", r->path);
  guint64 windows = t->n_dims == 2 ? t->shape[0] : 1, length = t->shape[t->n_dims - 1];
  if (windows == 0 || length == 0 || windows > MOST_IDS || length > MOST_IDS / windows)
    return mhar_bad_input (error, "%s: ids must hold from 1 to %d token ids", r->path, MOST_IDS);
  r->windows = (guint)windows;
  r->length = (guint)length;
  r->ids = g_new (gint32, windows * length);
  return read_whole (r, t, windows * length, vocab - 1, "the checkpoint's vocabulary", (guint *)r->ids, error);
}

static gboolean
read_positions (MharReference *r, GError **error)
{
  const MharTensor *t = mhar_safetensors_find (r->file, "positions");

  r->n_positions = t != NULL && t->n_dims == 1 ? (guint)MIN (t->shape[0], G_MAXINT32) : r->length;
  if (t != NULL && (strcmp (t->dtype, "I64") != 0 || t->n_dims != 1 || r->n_positions == 0))
    return mhar_bad_input (error, "%s: positions must be I64 of the shape [rows of logits]", r->path);
  r->positions = g_new (guint, r->n_positions);
  for (guint i = 0; t == NULL && i < r->n_positions; i++)
    r->positions[i] = i;
  return t == NULL || read_whole (r, t, r->n_positions, r->length - 1, "the window", r->positions, error);
}

/* The shape with the windows in front, where ids have them; returns the number of dimensions. */
static guint
with_windows (const MharReference *r, const guint64 *shape, guint n_dims, guint64 *out)
{
  guint front = mhar_safetensors_find (r->file, "ids")->n_dims - 1;

  out[0] = r->windows;
  memcpy (out + front, shape, n_dims * sizeof *shape);
  return n_dims + front;
}

static gboolean
find_logits (MharReference *r, int vocab, GError **error)
{
  guint64 shape[] = { r->n_positions, (guint64)vocab }, want[3];
  guint n_dims = with_windows (r, shape, 2, want);

  r->logits = mhar_safetensors_find (r->file, "logits");
  if (r->logits == NULL)
    return TRUE;
  if (!check_float (r, r->logits, error))
    return FALSE;
  if (has_shape (r->logits, n_dims, want))
    return TRUE;
  const MharTensor *ids = mhar_safetensors_find (r->file, "ids");
  g_autofree char *has = shape_text (r->logits->n_dims, r->logits->shape), *asked = shape_text (n_dims, want);
  g_autofree char *of_ids = shape_text (ids->n_dims, ids->shape);
  return mhar_bad_input (
      error,
      "%s: logits have the shape %s, but with ids of %s and this checkpoint's vocabulary it is %s; name the rows "
      "that were saved in positions",
      r->path, has, of_ids, asked);
}

/* Which of the two layouts the weights of a site have. */
static gboolean
find_layout (const MharReference *r, const MharSite *site, MharReferenceWeights *w, GError **error)
{
  guint64 N = (guint64)site->n_sources, H = (guint64)site->heads;
  guint64 first[] = { N, r->length, H }, last[] = { r->length, H, N }, want[2][4];
  guint n_dims = with_windows (r, first, 3, want[0]);
  const char *order = mhar_safetensors_metadata (r->file, MHAR_REFERENCE_ORDER);
  g_autofree char *name = mhar_input_quote (w->tensor->name), *has = shape_text (w->tensor->n_dims, w->tensor->shape);

  with_windows (r, last, 3, want[1]);
  if (!check_float (r, w->tensor, error))
    return FALSE;
  gboolean in_front = has_shape (w->tensor, n_dims, want[0]);
  w->sources_last = has_shape (w->tensor, n_dims, want[1]);
  if (in_front && w->sources_last && g_strcmp0 (order, MHAR_REFERENCE_SOURCES_FIRST) == 0)
    w->sources_last = FALSE;
  else if (in_front && w->sources_last && g_strcmp0 (order, MHAR_REFERENCE_SOURCES_LAST) != 0)
    return mhar_bad_input (
        error,
        "%s: the shape %s of “%s” can be [sources, tokens, heads] or [tokens, heads, sources]; save another number of "
        "tokens, or say " MHAR_REFERENCE_ORDER " in the file's metadata",
        r->path, has, name);
  if (in_front || w->sources_last)
    return TRUE;
  g_autofree char *one = shape_text (n_dims, want[0]), *other = shape_text (n_dims, want[1]);
  return mhar_bad_input (error, "%s: “%s” has the shape %s, but the weights of %s are %s or %s here", r->path, name,
                         has, site->label, one, other);
}

/* The site of "weights.X": its place in the plan; −1 with the nearest labels where there is none. */
static int
find_site (const MharReference *r, const MharPlan *plan, const MharTensor *t, GError **error)
{
  const char *word = t->name + strlen (WEIGHTS);
  g_autoptr (GPtrArray) labels = g_ptr_array_new ();

  for (guint s = 0; s < plan->sites->len; s++) {
    const MharSite *site = mhar_plan_site (plan, s);
    g_autofree char *number = g_strdup_printf ("%d", site->number);
    if (strcmp (word, number) == 0 || strcmp (word, site->label) == 0)
      return (int)s;
    g_ptr_array_add (labels, site->label);
  }
  g_autofree char *name = mhar_input_quote (t->name);
  g_autofree char *nearest = labels->len > 0 ? mhar_nearest_labels (word, labels) : g_strdup ("none at all");
  mhar_bad_input (error, "%s: “%s” is of no read that this checkpoint has (it has %s)", r->path, name, nearest);
  return -1;
}

static gboolean
find_weights (MharReference *r, const MharPlan *plan, guint *found, GError **error)
{
  r->weights = g_new0 (MharReferenceWeights, plan->sites->len + 1);
  for (guint i = 0; i < mhar_safetensors_n_tensors (r->file); i++) {
    const MharTensor *t = mhar_safetensors_tensor (r->file, i);
    if (!g_str_has_prefix (t->name, WEIGHTS))
      continue;
    int s = find_site (r, plan, t, error);
    if (s < 0)
      return FALSE;
    MharReferenceWeights *w = &r->weights[s];
    if (w->tensor != NULL)
      return mhar_bad_input (error, "%s: %s and %s are of one read; leave one of them out", r->path, w->tensor->name,
                             t->name);
    w->tensor = t;
    if (!find_layout (r, mhar_plan_site (plan, (guint)s), w, error))
      return FALSE;
    (*found)++;
  }
  return TRUE;
}

MharReference *
mhar_reference_open (const char *path, const MharPlan *plan, int vocab, GError **error)
{
  g_autoptr (MharReference) r = g_new0 (MharReference, 1);
  guint found = 0;

  r->path = g_filename_display_name (path);
  r->file = mhar_safetensors_open (path, error);
  if (r->file == NULL || !read_ids (r, vocab, error) || !read_positions (r, error) || !find_logits (r, vocab, error)
      || !find_weights (r, plan, &found, error))
    return NULL;
  if (r->logits == NULL && found == 0) {
    mhar_bad_input (error, "%s: there are neither logits nor weights to compare with; save “logits” or “weights.SITE”",
                    r->path);
    return NULL;
  }
  return g_steal_pointer (&r);
}
