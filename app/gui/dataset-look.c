/* SPDX-License-Identifier: MIT */
#include "app/gui/dataset-look.h"

#include "app/figure/pairing.h"

#include <math.h>

static const MharField *
field_of (const MharDataset *set, const char *name, guint n_dims)
{
  const MharField *field = set != NULL ? mhar_dataset_get (set, name) : NULL;
  return field != NULL && field->n_dims == n_dims ? field : NULL;
}

static int
integer_at (const MharDataset *set, const char *name, int i)
{
  const MharField *field = field_of (set, name, 1);

  if (field == NULL || field->type != MHAR_FIELD_I32 || i < 0 || (gsize) i >= field->shape[0])
    return 0;
  return field->data.i32[i];
}

gsize
mhar_look_n_sites (const MharDataset *set)
{
  const MharField *field = field_of (set, "n_sources", 1);
  return field != NULL ? field->shape[0] : 0;
}

int
mhar_look_n_heads (const MharDataset *set, int site)
{
  return integer_at (set, "n_heads", site);
}

int
mhar_look_n_sources (const MharDataset *set, int site)
{
  return integer_at (set, "n_sources", site);
}

static const char *
text_at (const MharField *field, gsize i)
{
  const char *text
      = field != NULL && field->type == MHAR_FIELD_STRING && i < mhar_field_length (field) ? field->data.str[i] : NULL;
  return text != NULL ? text : "?";
}

const char *
mhar_look_site (const MharDataset *set, int site)
{
  return text_at (field_of (set, "site_label", 1), site >= 0 ? (gsize) site : G_MAXSIZE);
}

const char *
mhar_look_source (const MharDataset *set, int site, int source)
{
  const MharField *field = field_of (set, "source_label", 2);

  if (field == NULL || site < 0 || source < 0 || (gsize) source >= field->shape[1])
    return "?";
  return text_at (field, (gsize) site * field->shape[1] + (gsize) source);
}

int
mhar_look_site_named (const MharDataset *set, const char *label)
{
  for (gsize s = 0; s < mhar_look_n_sites (set); s++)
    if (g_str_equal (mhar_look_site (set, (int) s), label))
      return (int) s;
  return -1;
}

int
mhar_look_source_named (const MharDataset *set, int site, const char *label)
{
  for (int n = 0; n < mhar_look_n_sources (set, site); n++)
    if (g_str_equal (mhar_look_source (set, site, n), label))
      return n;
  return -1;
}

/* Mean of element [site, h, rest] over the heads `from` … `to` − 1. */
static double
mean_over_heads (const MharField *field, int site, int from, int to, gsize rest, gsize stride)
{
  double sum = 0;

  if (field == NULL || site < 0 || from < 0 || to <= from || (gsize) site >= field->shape[0]
      || (gsize) to > field->shape[1] || rest >= stride)
    return NAN;
  for (int h = from; h < to; h++)
    sum += mhar_field_value (field, ((gsize) site * field->shape[1] + (gsize) h) * stride + rest);
  return sum / (to - from);
}

double
mhar_look_cell (const MharDataset *set, const char *name, int site, int head, int source)
{
  const MharField *field = field_of (set, name, 3);
  int heads = mhar_look_n_heads (set, site);

  if (field == NULL || source < 0)
    return NAN;
  return mean_over_heads (field, site, head < 0 ? 0 : head, head < 0 ? heads : head + 1, (gsize) source,
                          field->shape[2]);
}

gboolean
mhar_look_most_read (const MharDataset *set, const char *label, int *site, int *head, double *weight)
{
  *weight = -1;
  for (int s = 0; s < (int) mhar_look_n_sites (set); s++) {
    int source = mhar_look_n_sources (set, s) > 1 ? mhar_look_source_named (set, s, label) : -1;
    for (int h = 0; source >= 0 && h < mhar_look_n_heads (set, s); h++) {
      double here = mhar_look_cell (set, "weight", s, h, source);
      if (here > *weight) {
        *weight = here;
        *site = s;
        *head = h;
      }
    }
  }
  return *weight >= 0;
}

double
mhar_look_head (const MharDataset *set, const char *name, int site, int head)
{
  int heads = mhar_look_n_heads (set, site);
  return mean_over_heads (field_of (set, name, 2), site, head < 0 ? 0 : head, head < 0 ? heads : head + 1, 0, 1);
}

double
mhar_look_spread (const MharDataset *set, int site, int head, int source)
{
  if (head < 0 && mhar_look_n_heads (set, site) == 1)
    head = 0;
  return head >= 0 ? mhar_look_cell (set, "weight_sd", site, head, source) : NAN;
}

double
mhar_look_deviation_p (const MharDataset *set, double deviation)
{
  const MharField *null = field_of (set, "max_deviation_null", 2);
  gsize sites = null != NULL ? null->shape[0] : 0, draws = null != NULL ? null->shape[1] : 0, reached = 0;

  if (draws == 0 || isnan (deviation))
    return NAN;
  for (gsize d = 0; d < draws; d++) {
    double most = NAN;
    for (gsize s = 0; s < sites; s++)
      most = fmax (most, mhar_field_value (null, s * draws + d)); /* of a number and NaN, the number */
    /* Deviations are kept as float32. */
    reached += most >= fabs (deviation) * (1 - 1e-6);
  }
  return (1.0 + (double) reached) / (1.0 + (double) draws);
}

static guint
site_there (const MharDataset *set, const MharDataset *other, int site)
{
  int there = other != NULL ? mhar_look_site_named (other, mhar_look_site (set, site)) : -1;

  return there >= 0 ? (guint) there : G_MAXUINT;
}

int
mhar_look_common_head (const MharDataset *set, const MharDataset *other, int site, int head)
{
  guint here = site >= 0 ? (guint) site : G_MAXUINT;

  return mhar_pairing_head (set, here, other, site_there (set, other, site), head);
}

gboolean
mhar_look_shares_head (const MharDataset *set, const MharDataset *other, int head)
{
  for (int s = 0; s < (int) mhar_look_n_sites (set); s++)
    if (site_there (set, other, s) < G_MAXUINT && mhar_look_common_head (set, other, s, head) >= 0)
      return TRUE;
  return FALSE;
}

void
mhar_look_pair (const MharDataset *set, const MharDataset *other, const char *name, int site, int head, int source,
                double *here, double *there)
{
  guint to = site_there (set, other, site);
  int from = to < G_MAXUINT ? mhar_look_source_named (other, (int) to, mhar_look_source (set, site, source)) : -1;
  int common = mhar_look_common_head (set, other, site, head);

  *here = mhar_look_cell (set, name, site, common, source);
  *there = from >= 0 ? mhar_look_cell (other, name, (int) to, common, from) : NAN;
}

/* Mean and standard deviation of the row of `field` [site, n]. */
static void
row_statistics (const MharField *field, int site, double *mean, double *sd)
{
  gsize n = field != NULL ? field->shape[1] : 0;
  double sum = 0, squares = 0;

  *mean = *sd = NAN;
  if (n == 0 || site < 0 || (gsize) site >= field->shape[0])
    return;
  for (gsize i = 0; i < n; i++)
    sum += mhar_field_value (field, (gsize) site * n + i);
  *mean = sum / (double) n;
  for (gsize i = 0; i < n; i++) {
    double d = mhar_field_value (field, (gsize) site * n + i) - *mean;
    squares += d * d;
  }
  if (n > 1)
    *sd = sqrt (squares / (double) (n - 1));
}

/* Number `site` of field PREFIX_END [site]. */
static double
site_number (const MharDataset *set, const char *prefix, const char *end, int site)
{
  g_autofree char *name = g_strconcat (prefix, end, NULL);
  const MharField *field = field_of (set, name, 1);

  if (field == NULL || field->type == MHAR_FIELD_STRING || site < 0 || (gsize) site >= field->shape[0])
    return NAN;
  return mhar_field_value (field, (gsize) site);
}

MharDisagreement
mhar_look_disagreement (const MharDataset *set, int site)
{
  gboolean many = mhar_look_n_heads (set, site) > 1;
  const char *name = many ? "head_js" : "slice_kl";
  MharDisagreement out = { NAN, NAN, NAN, NAN, NAN, NAN };
  const MharField *js = field_of (set, "head_js", 1);
  double sd;

  if (mhar_look_n_sources (set, site) < 2)
    return out;
  if (many && js != NULL && (gsize) site < js->shape[0])
    out.trained = mhar_field_value (js, (gsize) site);
  if (!many)
    row_statistics (field_of (set, "slice_kl", 2), site, &out.trained, &sd);
  row_statistics (field_of (set, many ? "head_js_null" : "slice_kl_null", 2), site, &out.null, &out.null_sd);
  out.low = site_number (set, name, "_site_low", site);
  out.high = site_number (set, name, "_site_high", site);
  out.p = site_number (set, name, "_p_value", site);
  return out;
}

gboolean
mhar_look_many_heads (const MharDataset *set)
{
  for (gsize s = 0; s < mhar_look_n_sites (set); s++)
    if (mhar_look_n_heads (set, (int) s) > 1)
      return TRUE;
  return FALSE;
}
