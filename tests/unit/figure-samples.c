/* SPDX-License-Identifier: MIT */
/* Datasets for the figure tests. */
#include "figure-samples.h"

#include <math.h>

#define DRAWS 8
#define SLICES 4

/* Read by LeakSanitizer where a test is built with it: Fontconfig keeps its configuration until the process ends. */
const char *__lsan_default_suppressions (void);

const char *
__lsan_default_suppressions (void)
{
  return "leak:libfontconfig\n";
}

double
sample_value (guint a, guint b, guint c)
{
  guint32 x = a * 2654435761u ^ b * 2246822519u ^ c * 3266489917u;

  x ^= x >> 15;
  x *= 2246822519u;
  x ^= x >> 13;
  return (x & 0xffffff) / (double)0x1000000;
}

MharField *
sample_field (MharDataset *set, const char *name, guint n_dims, const char *const *dims, const gsize *shape)
{
  return mhar_dataset_add (set, mhar_field_new (name, name, "1", MHAR_FIELD_F32, n_dims, dims, shape));
}

static char *
sublayer (guint i)
{
  return i == 0 ? g_strdup ("embed") : g_strdup_printf ("L%u.%s", (i - 1) / 2, (i - 1) % 2 ? "mlp" : "attn");
}

static void
add_labels (MharDataset *set, guint sites)
{
  const char *dims[] = { "site", "source" }, *output[] = { "output" };
  gsize shape[] = { sites, sites };
  MharField *site, *source, *out, *counts;

  site = mhar_dataset_add (set, mhar_field_new ("site_label", "name", "", MHAR_FIELD_STRING, 1, dims, shape));
  source = mhar_dataset_add (set, mhar_field_new ("source_label", "name", "", MHAR_FIELD_STRING, 2, dims, shape));
  out = mhar_dataset_add (set, mhar_field_new ("output_label", "name", "", MHAR_FIELD_STRING, 1, output, shape));
  counts = mhar_dataset_add (set, mhar_field_new ("n_sources", "sources", "1", MHAR_FIELD_I32, 1, dims, shape));
  for (guint i = 0; i < sites; i++) {
    site->data.str[i] = i + 1 == sites ? g_strdup ("final") : sublayer (i + 1);
    out->data.str[i] = sublayer (i);
    counts->data.i32[i] = (gint32)i + 1;
    for (guint j = 0; j <= i; j++)
      source->data.str[i * sites + j] = sublayer (j);
  }
}

static void
add_maps (MharDataset *set, guint sites, guint heads)
{
  const char *dims[] = { "site", "head", "source" };
  gsize shape[] = { sites, heads, sites };
  MharField *weight = sample_field (set, "weight", 3, dims, shape);
  MharField *deviation = heads > 1 ? sample_field (set, "deviation", 3, dims, shape) : NULL;

  for (guint i = 0; i < sites; i++)
    for (guint h = 0; h < heads; h++) {
      double sum = 0;

      for (guint j = 0; j <= i; j++)
        sum += 0.1 + sample_value (i, h, j);
      for (guint j = 0; j <= i; j++)
        weight->data.f32[(i * heads + h) * sites + j] = (float)((0.1 + sample_value (i, h, j)) / sum);
    }
  for (guint i = 0; deviation && i < sites; i++)
    for (guint j = 0; j <= i; j++) {
      double mean = 0;

      for (guint h = 0; h < heads; h++)
        mean += weight->data.f32[(i * heads + h) * sites + j] / heads;
      for (guint h = 0; h < heads; h++) {
        gsize at = (i * heads + h) * sites + j;

        deviation->data.f32[at] = (float)(weight->data.f32[at] - mean);
      }
    }
}

static void
add_disagreement (MharDataset *set, guint sites, guint heads)
{
  const char *slice_dims[] = { "site", "slice" }, *draw_dims[] = { "site", "draw" };
  gsize slice_shape[] = { sites, SLICES }, draw_shape[] = { sites, DRAWS };
  MharField *own = sample_field (set, heads > 1 ? "head_js" : "slice_kl", heads > 1 ? 1 : 2, slice_dims, slice_shape);
  MharField *null = sample_field (set, heads > 1 ? "head_js_null" : "slice_kl_null", 2, draw_dims, draw_shape);
  guint columns = heads > 1 ? 1 : SLICES;

  for (guint i = 1; i < sites; i++) {
    double level = i % 4 == 3 ? 0.05 : 0.2;

    for (guint s = 0; s < columns; s++)
      own->data.f32[i * columns + s] = (float)(level + 0.02 * ((s + 0.5) - columns / 2.0));
    for (guint draw = 0; draw < DRAWS; draw++)
      null->data.f32[i * DRAWS + draw] = (float)(0.05 + 0.01 * (draw % 2 ? 1 : -1));
  }
}

/* p-values and intervals, as runs of today have them; every fourth site does not beat its null. */
void
sample_add_certainty (MharDataset *set, guint sites, gboolean heads)
{
  static const char *const ends[] = { "_p_value", "_site_low", "_site_high" };
  const char *stem = heads ? "head_js" : "slice_kl", *dims[] = { "site" };
  gsize shape[] = { sites };
  g_autofree char *p_name = g_strconcat (stem, "_p_value", NULL);

  for (guint e = 0; e < G_N_ELEMENTS (ends); e++) {
    g_autofree char *name = g_strconcat (stem, ends[e], NULL);
    MharField *field = mhar_dataset_add (set, mhar_field_new (name, "", "1", MHAR_FIELD_F64, 1, dims, shape));

    for (guint i = 1; i < sites; i++) {
      double level = i % 4 == 3 ? 0.05 : 0.2;

      field->data.f64[i] = e == 0 ? (i % 4 == 3 ? 0.4 : 0.01) : level + (e == 1 ? -0.01 : 0.01);
    }
  }
  mhar_dataset_set_real (set, p_name, 0.4);
  mhar_dataset_set_real (set, "max_deviation_p_value", 0.4);
  mhar_dataset_set_integer (set, "draws", 99);
}

static void
add_cosine (MharDataset *set, guint n)
{
  const char *dims[] = { "output", "output_b" };
  gsize shape[] = { n, n };
  MharField *cosine = sample_field (set, "cosine", 2, dims, shape);

  for (guint i = 0; i < n; i++)
    for (guint j = 0; j <= i; j++)
      cosine->data.f32[i * n + j] = cosine->data.f32[j * n + i] = i == j ? 1 : (float)(sample_value (i, j, 99) - 0.4);
}

/* Of both signs, the first 1. */
static void
add_coefficients (MharDataset *set, guint n)
{
  const char *dims[] = { "input", "output" };
  gsize shape[] = { n, n };
  MharField *label = mhar_dataset_add (set, mhar_field_new ("input_label", "name", "", MHAR_FIELD_STRING, 1, dims, shape));
  MharField *field = sample_field (set, "coefficient", 2, dims, shape);

  for (guint i = 0; i < n; i++) {
    label->data.str[i] = i + 1 == n ? g_strdup ("final") : sublayer (i + 1);
    for (guint j = 0; j <= i; j++)
      field->data.f32[i * n + j] = i == 0 ? 1 : (float)(sample_value (i, j, 7) - 0.4);
  }
}

/* Sites 1 … of the sample without each source in turn: changes of 0.01 or so, one of 4, every fifth uncertain. */
static void
add_ablation (MharDataset *set, guint sites)
{
  const char *dims[] = { "site", "source", "bound" };
  gsize shape[] = { sites - 1, sites, 2 };
  MharDataset *map = mhar_dataset_new ("ablation_map");
  MharField *label = mhar_dataset_add (map, mhar_field_new ("site_label", "name", "", MHAR_FIELD_STRING, 1, dims, shape));
  MharField *source = mhar_dataset_add (map, mhar_field_new ("source_label", "name", "", MHAR_FIELD_STRING, 2, dims, shape));
  MharField *counts = mhar_dataset_add (map, mhar_field_new ("n_sources", "sources", "1", MHAR_FIELD_I32, 1, dims, shape));
  MharField *delta = mhar_dataset_add (map, mhar_field_new ("delta_loss", "change", "nat", MHAR_FIELD_F64, 2, dims, shape));
  MharField *mass = mhar_dataset_add (map, mhar_field_new ("mass", "mass", "1", MHAR_FIELD_F64, 2, dims, shape));
  MharField *ends = mhar_dataset_add (map, mhar_field_new ("delta_loss_interval", "ends", "nat", MHAR_FIELD_F64, 3, dims, shape));

  for (guint i = 0; i + 1 < sites; i++) {
    label->data.str[i] = i + 2 == sites ? g_strdup ("final") : sublayer (i + 2);
    counts->data.i32[i] = (gint32)i + 2;
    for (guint j = 0; j < i + 2; j++) {
      gsize at = (gsize)i * sites + j;
      double change = i + j == 0 ? 4 : 0.04 * (sample_value (i, j, 7) - 0.3);

      source->data.str[at] = sublayer (j);
      delta->data.f64[at] = change;
      mass->data.f64[at] = (0.5 + sample_value (i, j, 8)) / (i + 2);
      ends->data.f64[2 * at] = change - ((i + j) % 5 == 4 ? 1 : 0.1) * fabs (change) - 1e-6;
      ends->data.f64[2 * at + 1] = change + ((i + j) % 5 == 4 ? 1 : 0.1) * fabs (change) + 1e-6;
    }
  }
  mhar_dataset_set_real (map, "rank_correlation", 0.4);
  mhar_dataset_set_real (map, "rank_correlation_within", 0.3);
  mhar_dataset_add_child (set, map);
}

/* Mean weights by what reads, of the last site's dimension; some bins have few tokens, some none. */
static void
add_bins (MharDataset *reads, const char *prefix, const char *dim, gsize bins, guint sites, guint heads)
{
  const char *dims[] = { "site", "head", "source", dim };
  gsize shape[] = { sites, heads, sites, bins };
  g_autofree char *name = g_strconcat ("weight_by_", prefix, NULL), *tokens = g_strconcat (prefix, "_tokens", NULL);
  g_autofree char *first = g_strconcat (prefix, "_first", NULL), *last = g_strconcat (prefix, "_last", NULL);
  g_autofree char *label = g_strconcat (prefix, "_label", NULL);
  MharField *weight = mhar_dataset_add (reads, mhar_field_new (name, "mean", "1", MHAR_FIELD_F32, 4, dims, shape));
  MharField *count = mhar_dataset_add (reads, mhar_field_new (tokens, "tokens", "1", MHAR_FIELD_I32, 1, dims + 3, shape + 3));
  gboolean named = bins < 6;
  MharField *low = named ? NULL : mhar_dataset_add (reads, mhar_field_new (first, "low", "1", MHAR_FIELD_I32, 1, dims + 3, shape + 3));
  MharField *high = named ? NULL : mhar_dataset_add (reads, mhar_field_new (last, "high", "1", MHAR_FIELD_I32, 1, dims + 3, shape + 3));
  MharField *names = named ? mhar_dataset_add (reads, mhar_field_new (label, "name", "", MHAR_FIELD_STRING, 1, dims + 3, shape + 3)) : NULL;

  for (gsize b = 0; b < bins; b++) {
    count->data.i32[b] = named && b == 1 ? 0 : 1 << b;
    if (named)
      names->data.str[b] = g_strdup_printf ("kind %d of token", (int)b);
    else {
      low->data.i32[b] = b > 0 ? 1 << (b - 1) : 0;
      high->data.i32[b] = (1 << b) - 1;
    }
  }
  for (guint s = 0; s < sites; s++)
    for (guint h = 0; h < heads; h++)
      for (guint n = 0; n <= s; n++)
        for (guint b = 0; b < bins; b++)
          if (count->data.i32[b] > 0)
            weight->data.f32[((s * heads + h) * sites + n) * bins + b] = (float)((0.5 + sample_value (s + h, n, b)) / (s + 1));
}

static void
add_reads (MharDataset *set, guint sites, guint heads)
{
  const char *dims[] = { "site", "source" }, *parts[] = { "head", "source" };
  gsize shape[] = { sites, sites }, by_head[] = { heads, sites };
  MharDataset *reads = mhar_dataset_new ("reads");
  MharField *label = mhar_dataset_add (reads, mhar_field_new ("site_label", "name", "", MHAR_FIELD_STRING, 1, dims, shape));
  MharField *source = mhar_dataset_add (reads, mhar_field_new ("source_label", "name", "", MHAR_FIELD_STRING, 2, dims, shape));
  MharField *counts = mhar_dataset_add (reads, mhar_field_new ("n_sources", "sources", "1", MHAR_FIELD_I32, 1, dims, shape));
  MharField *logit = mhar_dataset_add (
      reads, mhar_field_new ("logit_contribution_centred", "logit", "1", MHAR_FIELD_F64, 2, parts, by_head));

  for (guint i = 0; i < sites; i++) {
    label->data.str[i] = i + 1 == sites ? g_strdup ("final") : sublayer (i + 1);
    counts->data.i32[i] = (gint32)i + 1;
    for (guint j = 0; j <= i; j++)
      source->data.str[i * sites + j] = sublayer (j);
    for (guint h = 0; h < heads; h++)
      logit->data.f64[h * sites + i] = sample_value (h, i, 9) - 0.3;
  }
  static const char *const cell[] = { "cell_site", "cell_head", "cell_source" };
  const char *one_dim = "cell";
  gsize one = 1;
  for (guint c = 0; c < 3; c++)
    mhar_dataset_add (reads, mhar_field_new (cell[c], "cell", "1", MHAR_FIELD_I32, 1, &one_dim, &one));
  mhar_dataset_get (reads, "cell_site")->data.i32[0] = (gint32)sites - 1;
  mhar_dataset_set_integer (reads, "logit_site", sites - 1);
  add_bins (reads, "position", "position_bin", 9, sites, heads);
  add_bins (reads, "document_position", "document_bin", 12, sites, heads);
  add_bins (reads, "class", "class", 5, sites, heads);
  add_bins (reads, "piece", "piece", 3, sites, heads);
  mhar_dataset_add_child (set, reads);
}

MharDataset *
sample_outputs (guint outputs)
{
  MharDataset *set = mhar_dataset_new ("checkpoint_0");

  mhar_dataset_set_string (set, "path", "/data/checkpoints/sample");
  add_labels (set, outputs);
  add_cosine (set, outputs);
  return set;
}

MharDataset *
sample_full (guint sites, guint heads)
{
  MharDataset *set = mhar_dataset_new ("checkpoint_0");
  const char *stem = heads > 1 ? "head_js" : "slice_kl";
  const struct {
    const char *end;
    double value;
  } scalars[] = { { "trained", 0.16 }, { "null", 0.05 }, { "null_sd", 0.002 }, { "excess", 0.11 } };

  mhar_dataset_set_string (set, "path", "/data/checkpoints/sample");
  mhar_dataset_set_string (set, "mode", heads > 1 ? "full_mh" : "full");
  mhar_dataset_set_integer (set, "layers", sites / 2);
  mhar_dataset_set_integer (set, "width", 256);
  mhar_dataset_set_integer (set, "heads", heads);
  mhar_dataset_set_integer (set, "sites", sites);
  mhar_dataset_set_integer (set, "tokens", 600);
  mhar_dataset_set_integer (set, "windows", 3);
  mhar_dataset_set_integer (set, "draws", DRAWS);
  if (heads > 1) {
    mhar_dataset_set_real (set, "null_max_deviation", 0.097);
    mhar_dataset_set_real (set, "replication_r", 0.975);
  } else {
    mhar_dataset_set_integer (set, "slices", SLICES);
    mhar_dataset_set_string (set, "slicing", "contiguous");
  }
  for (guint i = 0; i < G_N_ELEMENTS (scalars); i++) {
    g_autofree char *name = g_strdup_printf ("%s_%s", stem, scalars[i].end);

    mhar_dataset_set_real (set, name, scalars[i].value);
  }
  add_labels (set, sites);
  add_maps (set, sites, heads);
  add_disagreement (set, sites, heads);
  add_cosine (set, sites);
  add_coefficients (set, sites);
  if (sites > 1)
    add_ablation (set, sites);
  add_reads (set, sites, heads);
  return set;
}

void
sample_add_sources (MharDataset *set, guint sites, guint heads)
{
  const char *dims[] = { "site", "head", "source" };
  gsize shape[] = { sites, heads, sites };
  const MharField *weight = mhar_dataset_get (set, "weight");
  MharField *counts = mhar_dataset_add (set, mhar_field_new ("n_heads", "heads", "1", MHAR_FIELD_I32, 1, dims, shape));
  MharField *entropy = sample_field (set, "entropy", 2, dims, shape);
  MharField *contribution = sample_field (set, "contribution", 3, dims, shape);

  for (guint i = 0; i < sites; i++) {
    counts->data.i32[i] = (gint32)heads;
    for (guint h = 0; h < heads; h++) {
      double sum = 0;

      for (guint j = 0; j <= i; j++) {
        gsize at = ((gsize)i * heads + h) * sites + j;
        double w = (double)weight->data.f32[at];

        sum -= w * log (w);
        contribution->data.f32[at] = (float)(w * (1 + sample_value (j, 3, 4)));
      }
      entropy->data.f32[i * heads + h] = (float)sum;
    }
  }
}

MharDataset *
sample_capture (guint tokens, guint sites, guint heads)
{
  const char *dims[] = { "token", "site", "head", "source" };
  gsize shape[] = { tokens, sites, heads, sites };
  MharDataset *set = mhar_dataset_new ("capture");
  MharField *weight = mhar_dataset_add (set, mhar_field_new ("weight", "weight", "1", MHAR_FIELD_F32, 4, dims, shape));
  MharField *index = mhar_dataset_add (set, mhar_field_new ("token", "index", "1", MHAR_FIELD_I32, 1, dims, shape));

  for (guint t = 0; t < tokens; t++) {
    index->data.i32[t] = (gint32)t;
    for (guint i = 0; i < sites; i++)
      for (guint h = 0; h < heads; h++) {
        float *row = weight->data.f32 + (((gsize)t * sites + i) * heads + h) * sites;
        double sum = 0;

        for (guint j = 0; j <= i; j++)
          sum += 0.1 + sample_value (t * 31 + i, h, j);
        for (guint j = 0; j <= i; j++)
          row[j] = (float)((0.1 + sample_value (t * 31 + i, h, j)) / sum);
      }
  }
  return set;
}
