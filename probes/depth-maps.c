/* SPDX-License-Identifier: MIT */
/* Depth maps (paper, Figure 4): the token mean of every routing weight, w̄[site, head, source]; its mean over heads is the
 * consensus, what is left the deviation. Beside them each read's entropy and what each source contributes to the mix, and,
 * because a deviation alone proves nothing: what random queries of the same norm reach, whether it replicates on the other half
 * of the text, and how the heads' deviations correlate (their floor is −1/(H−1): they sum to zero). */
#include "probes/deviation.h"
#include "probes/statistics.h"

#include <math.h>

static MharField *
add (MharDataset *set, const char *name, const char *long_name, const char *units, MharFieldType type, gboolean window,
     gsize windows, guint n_dims, const MharProbeSetup *setup)
{
  const char *dims[] = { "window", "site", "head", "source" };
  gsize shape[] = { windows, setup->n_sites, setup->max_heads, setup->max_sources };
  guint skip = window ? 0 : 1;
  return mhar_dataset_add (set, mhar_field_new (name, long_name, units, type, n_dims - skip, dims + skip, shape + skip));
}

/* The packed sums of ops.h, window by window, into padded fields. */
static void
unpack (const MharProbeSetup *setup, const MharRouteSums *sums, gsize windows, MharField *weight, MharField *square,
        MharField *contribution, MharField *entropy)
{
  gsize cells = setup->n_sites * setup->max_heads * setup->max_sources, at = 0, row = 0;

  for (gsize w = 0; w < windows; w++)
    for (gsize s = 0; s < setup->n_sites; s++) {
      const MharSite *site = mhar_plan_site (setup->plan, (guint) s);
      for (gsize h = 0; h < (gsize) site->heads; h++) {
        entropy->data.f64[(w * setup->n_sites + s) * setup->max_heads + h] = mhar_not_negative (sums->entropy[row++]);
        for (gsize n = 0; n < (gsize) site->n_sources; n++, at++) {
          weight->data.f64[w * cells + mhar_deviation_padded (setup, s, h, n)] = sums->weight[at];
          square->data.f64[w * cells + mhar_deviation_padded (setup, s, h, n)] = sums->square[at];
          contribution->data.f64[w * cells + mhar_deviation_padded (setup, s, h, n)] = sums->contribution[at];
        }
      }
    }
}

/* The random queries' weights, only ever pooled, so the batch is as one window: [1, draw, Σ heads·N of the sites with several
 * heads]. */
static void
add_null_weights (const MharProbeSetup *setup, const MharNullSums *null, MharDataset *slab)
{
  gsize draws = setup->options->null_draws, packed = mhar_deviation_packed_length (setup), base = 0, k = 0;
  MharDataset *pooled = mhar_dataset_find_child (slab, "pooled");
  const char *dims[] = { "window", "draw", "packed" };
  gsize shape[] = { 1, draws, packed };
  MharField *field = mhar_dataset_add (pooled, mhar_field_new ("weight_null", "sum over tokens of random queries' weights", "1",
                                                               MHAR_FIELD_F64, 3, dims, shape));
  for (guint s = 0; s < setup->plan->sites->len; s++) {
    const MharSite *site = mhar_plan_site (setup->plan, s);
    gsize cells = (gsize) site->heads * site->n_sources;
    if (!mhar_site_counts (site, TRUE))
      continue;
    for (gsize j = 0; j < draws; j++)
      memcpy (field->data.f64 + j * packed + base, null[k].weight + j * cells, cells * sizeof (double));
    base += cells;
    k++;
  }
}

static gboolean
batch (gpointer state G_GNUC_UNUSED, MharBatch *b, MharDataset *slab, GError **error)
{
  const MharProbeSetup *setup = mhar_rig_setup (b->rig);
  gsize windows = (gsize) b->span.windows;
  const MharNullSums *null = NULL;
  MharRouteSums sums;

  if (setup->n_sites == 0)
    return TRUE;
  if (!mhar_batch_route_sums (b, &sums, error) || !mhar_batch_head_null (b, &null, error))
    return FALSE;
  MharField *weight = add (slab, "weight", "sum over the window's tokens of the routing weight", "1", MHAR_FIELD_F64, TRUE,
                           windows, 4, setup);
  MharField *square = add (slab, "weight_square", "sum over the window's tokens of the routing weight's square", "1",
                           MHAR_FIELD_F64, TRUE, windows, 4, setup);
  MharField *contribution = add (slab, "contribution", "sum over the window's tokens of |w_n s_n[h]|", "1", MHAR_FIELD_F64,
                                 TRUE, windows, 4, setup);
  MharField *entropy = add (slab, "entropy", "sum over the window's tokens of -sum w ln w", "nat", MHAR_FIELD_F64, TRUE,
                            windows, 3, setup);
  unpack (setup, &sums, windows, weight, square, contribution, entropy);
  if (null != NULL)
    add_null_weights (setup, null, slab);
  return TRUE;
}

/* Between tokens: whether a mean weight is what most tokens have. */
static void
add_spread (const MharProbeSetup *setup, const MharPool *pool, double tokens, MharDataset *out)
{
  const double *sums = mhar_pool_total (pool, "weight"), *squares = mhar_pool_total (pool, "weight_square");
  MharField *field = add (out, "weight_sd", "standard deviation over tokens of the routing weight", "1", MHAR_FIELD_F32,
                          FALSE, 0, 4, setup);

  for (gsize i = 0; i < mhar_field_length (field); i++) {
    double mean = sums[i] / tokens, square = squares[i] / tokens - mean * mean;
    field->data.f32[i] = isnan (square) ? NAN : (float)sqrt (fmax (square, 0));
  }
}

static void
finish (const MharProbeSetup *setup, const MharPool *pool, MharDataset *out, GPtrArray *warnings G_GNUC_UNUSED)
{
  static const struct {
    const char *name, *long_name, *units;
    guint n_dims;
  } fields[] = {
    { "weight", "token mean of the routing weight", "1", 4 },
    { "contribution", "token mean of the norm of what a source adds to the mix, |w_n s_n[h]|", "1", 4 },
    { "entropy", "token mean of the routing entropy, -sum w ln w", "nat", 3 },
  };
  double tokens = mhar_pool_scalar (pool, "count");

  if (setup->n_sites == 0)
    return;
  for (gsize f = 0; f < G_N_ELEMENTS (fields); f++) {
    const double *sums = mhar_pool_total (pool, fields[f].name);
    MharField *field = add (out, fields[f].name, fields[f].long_name, fields[f].units, MHAR_FIELD_F32, FALSE, 0,
                            fields[f].n_dims, setup);
    for (gsize i = 0; i < mhar_field_length (field); i++)
      field->data.f32[i] = (float) (sums[i] / tokens);
  }
  add_spread (setup, pool, tokens, out);
  mhar_deviation_finish (setup, pool, out);
}

static const char *const sums_by_window[] = { "weight", NULL };

const MharProbe mhar_probe_depth_maps
    = { "depth-maps", MHAR_PROBE_DEPTH_MAPS, NULL, batch, NULL, finish, mhar_deviation_scalars, sums_by_window };
