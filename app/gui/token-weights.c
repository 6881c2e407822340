/* SPDX-License-Identifier: MIT */
/* Captured weights. */
#include "app/gui/token-weights.h"

#include <math.h>
#include <string.h>

struct _MharTokenWeights {
  MharDataset *capture;
  const MharField *weight;
  int *rows; /* [n_tokens] row of each token of the text; −1: not captured */
  guint n_tokens, end;
};

MharTokenWeights *
mhar_token_weights_new (MharDataset *capture, guint n_tokens)
{
  const MharField *weight = mhar_dataset_get (capture, "weight"), *index = mhar_dataset_get (capture, "token");
  MharTokenWeights *self;

  if (weight == NULL || weight->type != MHAR_FIELD_F32 || weight->n_dims != 4)
    return NULL;
  if (index != NULL && (index->type != MHAR_FIELD_I32 || index->n_dims != 1 || index->shape[0] < weight->shape[0]))
    index = NULL;
  self = g_new0 (MharTokenWeights, 1);
  self->capture = mhar_dataset_ref (capture);
  self->weight = weight;
  self->n_tokens = n_tokens;
  self->rows = g_new (int, MAX (n_tokens, 1));
  memset (self->rows, 0xff, n_tokens * sizeof (int));
  for (gsize i = 0; i < weight->shape[0] && i < G_MAXINT; i++) {
    gint64 token = index != NULL ? index->data.i32[i] : (gint64)i;

    if (token < 0 || token >= n_tokens)
      continue;
    self->rows[token] = (int)i;
    self->end = MAX (self->end, (guint)token + 1);
  }
  return self;
}

void
mhar_token_weights_free (MharTokenWeights *self)
{
  if (self == NULL)
    return;
  mhar_dataset_unref (self->capture);
  g_free (self->rows);
  g_free (self);
}

guint
mhar_token_weights_n_heads (const MharTokenWeights *self)
{
  return (guint)self->weight->shape[2];
}

guint
mhar_token_weights_n_sources (const MharTokenWeights *self)
{
  return (guint)self->weight->shape[3];
}

guint
mhar_token_weights_end (const MharTokenWeights *self)
{
  return self->end;
}

static double
at (const MharTokenWeights *self, gsize row, gsize site, gsize head, gsize source)
{
  const gsize *shape = self->weight->shape;

  return (double)self->weight->data.f32[((row * shape[1] + site) * shape[2] + head) * shape[3] + source];
}

static double
mean_over_heads (const MharTokenWeights *self, gsize row, gsize site, gsize source)
{
  double sum = 0;
  guint n = 0;

  for (gsize h = 0; h < self->weight->shape[2]; h++) {
    double value = at (self, row, site, h, source);

    if (isfinite (value)) {
      sum += value;
      n++;
    }
  }
  return n > 0 ? sum / n : NAN;
}

double
mhar_token_weights_get (const MharTokenWeights *self, int token, int site, int head, int source, gboolean deviation)
{
  const gsize *shape = self->weight->shape;
  gsize row;

  if (token < 0 || (guint)token >= self->n_tokens || self->rows[token] < 0 || site < 0 || (gsize)site >= shape[1]
      || source < 0 || (gsize)source >= shape[3] || head >= (int)shape[2])
    return NAN;
  row = (gsize)self->rows[token];
  if (head < 0)
    return deviation ? 0 : mean_over_heads (self, row, (gsize)site, (gsize)source);
  return at (self, row, (gsize)site, (gsize)head, (gsize)source)
         - (deviation ? mean_over_heads (self, row, (gsize)site, (gsize)source) : 0);
}
