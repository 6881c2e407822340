/* SPDX-License-Identifier: MIT */
#include "probes/pool.h"

#include <string.h>

typedef struct {
  gsize n;
  double *half[2];
  double *total; /* half[0] + half[1], kept in step so that readers may be const */
  MharField *like; /* of what came pooled: the field [0, …] that it goes into with all else; else NULL */
} Sum;

struct _MharPool {
  GHashTable *sums; /* name → Sum */
  GHashTable *kept; /* name → GArray of double */
  guint64 windows;
};

static void
sum_free (gpointer data)
{
  Sum *sum = data;
  g_free (sum->half[0]);
  g_free (sum->half[1]);
  g_free (sum->total);
  g_clear_pointer (&sum->like, mhar_field_free);
  g_free (sum);
}

MharPool *
mhar_pool_new (void)
{
  MharPool *pool = g_new0 (MharPool, 1);
  pool->sums = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, sum_free);
  pool->kept = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_array_unref);
  return pool;
}

void
mhar_pool_free (MharPool *pool)
{
  if (pool == NULL)
    return;
  g_hash_table_unref (pool->sums);
  g_hash_table_unref (pool->kept);
  g_free (pool);
}

static Sum *
sum_of (MharPool *pool, const char *name, gsize n)
{
  Sum *sum = g_hash_table_lookup (pool->sums, name);

  if (sum == NULL) {
    sum = g_new0 (Sum, 1);
    sum->n = n;
    sum->half[0] = g_new0 (double, n);
    sum->half[1] = g_new0 (double, n);
    sum->total = g_new0 (double, n);
    g_hash_table_insert (pool->sums, g_strdup (name), sum);
  }
  g_assert (sum->n == n);
  return sum;
}

/* An empty field [parity, what a window has …]. */
static MharField *
field_like (const MharField *field, gsize parities)
{
  const char *dims[MHAR_FIELD_MAX_DIMS] = { "parity" };
  gsize shape[MHAR_FIELD_MAX_DIMS] = { parities };

  for (guint d = 1; d < field->n_dims; d++) {
    dims[d] = field->dims[d];
    shape[d] = field->shape[d];
  }
  return mhar_field_new (field->name, field->long_name, field->units, MHAR_FIELD_F64, field->n_dims, dims, shape);
}

static void
note_pooled (MharPool *pool, const MharDataset *pooled)
{
  for (guint f = 0; f < mhar_dataset_n_fields (pooled); f++) {
    const MharField *field = mhar_dataset_field (pooled, f);
    Sum *sum = g_hash_table_lookup (pool->sums, field->name);
    if (sum != NULL && sum->like == NULL)
      sum->like = field_like (field, 0);
  }
}

static void
add_fields (MharPool *pool, const MharDataset *set, guint64 first_window)
{
  for (guint f = 0; f < mhar_dataset_n_fields (set); f++) {
    const MharField *field = mhar_dataset_field (set, f);
    if (field->type != MHAR_FIELD_F64)
      continue;
    gsize windows = field->shape[0], n = mhar_field_length (field) / windows;
    Sum *sum = sum_of (pool, field->name, n);
    GArray *kept = g_hash_table_lookup (pool->kept, field->name);
    if (kept != NULL)
      g_array_append_vals (kept, field->data.f64, (guint) (windows * n));
    for (gsize w = 0; w < windows; w++) {
      double *half = sum->half[(first_window + w) % 2];
      for (gsize i = 0; i < n; i++)
        half[i] += field->data.f64[w * n + i];
    }
    for (gsize i = 0; i < n; i++)
      sum->total[i] = sum->half[0][i] + sum->half[1][i];
  }
}

void
mhar_pool_add (MharPool *pool, const MharDataset *slab, guint64 first_window)
{
  const MharDataset *pooled = mhar_dataset_find_child (slab, "pooled");

  add_fields (pool, slab, first_window);
  if (pooled != NULL) {
    add_fields (pool, pooled, first_window);
    note_pooled (pool, pooled);
  }
  if (mhar_dataset_n_fields (slab) > 0)
    pool->windows = first_window + mhar_dataset_field (slab, 0)->shape[0];
}

void
mhar_pool_put (MharPool *pool, const char *name, gsize n, double *even, double *odd)
{
  Sum *sum = g_new0 (Sum, 1);

  *sum = (Sum){ n, { even, odd }, g_new (double, MAX (n, 1)) };
  for (gsize i = 0; i < n; i++)
    sum->total[i] = even[i] + odd[i];
  g_hash_table_insert (pool->sums, g_strdup (name), sum);
}

MharDataset *
mhar_pool_pooled (const MharPool *pool)
{
  g_autoptr (GList) names = g_list_sort (g_hash_table_get_keys (pool->sums), (GCompareFunc) strcmp);
  MharDataset *set = mhar_dataset_new ("pooled");

  for (const GList *name = names; name != NULL; name = name->next) {
    const Sum *sum = g_hash_table_lookup (pool->sums, name->data);
    if (sum->like == NULL)
      continue;
    MharField *field = mhar_dataset_add (set, field_like (sum->like, 2));
    for (guint p = 0; p < 2; p++)
      memcpy (field->data.f64 + p * sum->n, sum->half[p], sum->n * sizeof (double));
  }
  return set;
}

void
mhar_pool_add_pooled (MharPool *pool, const MharDataset *pooled)
{
  add_fields (pool, pooled, 0);
  note_pooled (pool, pooled);
}

MharDataset *
mhar_pool_pooled_totals (const MharPool *pool)
{
  g_autoptr (MharDataset) halves = mhar_pool_pooled (pool);
  MharDataset *set = mhar_dataset_new ("pooled");

  for (guint f = 0; f < mhar_dataset_n_fields (halves); f++) {
    const MharField *like = mhar_dataset_field (halves, f);
    MharField *field = mhar_dataset_add (set, mhar_field_new (like->name, like->long_name, like->units, MHAR_FIELD_F64, like->n_dims - 1,
                                                              (const char *const *) like->dims + 1, like->shape + 1));
    memcpy (field->data.f64, mhar_pool_total (pool, like->name), mhar_field_length (field) * sizeof (double));
  }
  return set;
}

void
mhar_pool_add_pooled_totals (MharPool *pool, const MharDataset *totals)
{
  g_autoptr (MharDataset) halves = mhar_dataset_new ("pooled");

  for (guint f = 0; f < mhar_dataset_n_fields (totals); f++) {
    const MharField *total = mhar_dataset_field (totals, f);
    const char *dims[MHAR_FIELD_MAX_DIMS] = { "parity" };
    gsize shape[MHAR_FIELD_MAX_DIMS] = { 1 };
    if (total->type != MHAR_FIELD_F64 || total->n_dims >= MHAR_FIELD_MAX_DIMS)
      continue;
    for (guint d = 0; d < total->n_dims; d++) {
      dims[d + 1] = total->dims[d];
      shape[d + 1] = total->shape[d];
    }
    MharField *field = mhar_dataset_add (halves, mhar_field_new (total->name, total->long_name, total->units, MHAR_FIELD_F64,
                                                                 total->n_dims + 1, dims, shape));
    memcpy (field->data.f64, total->data.f64, mhar_field_length (total) * sizeof (double));
  }
  mhar_pool_add_pooled (pool, halves);
}

void
mhar_pool_set_windows (MharPool *pool, guint64 windows)
{
  pool->windows = windows;
}

const double *
mhar_pool_total (const MharPool *pool, const char *name)
{
  const Sum *sum = g_hash_table_lookup (pool->sums, name);
  return sum != NULL ? sum->total : NULL;
}

const double *
mhar_pool_parity (const MharPool *pool, const char *name, guint parity)
{
  const Sum *sum = g_hash_table_lookup (pool->sums, name);
  return sum != NULL ? sum->half[parity] : NULL;
}

double
mhar_pool_scalar (const MharPool *pool, const char *name)
{
  const double *total = mhar_pool_total (pool, name);
  return total != NULL ? total[0] : 0;
}

double
mhar_pool_parity_scalar (const MharPool *pool, const char *name, guint parity)
{
  const double *half = mhar_pool_parity (pool, name, parity);
  return half != NULL ? half[0] : 0;
}

guint64
mhar_pool_windows (const MharPool *pool)
{
  return pool->windows;
}

void
mhar_pool_keep (MharPool *pool, const char *name)
{
  g_hash_table_insert (pool->kept, g_strdup (name), g_array_new (FALSE, FALSE, sizeof (double)));
}

const double *
mhar_pool_series (const MharPool *pool, const char *name)
{
  const GArray *kept = g_hash_table_lookup (pool->kept, name);
  return kept != NULL && kept->len > 0 ? (const double *) kept->data : NULL;
}
