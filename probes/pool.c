/* SPDX-License-Identifier: MIT */
#include "probes/pool.h"

typedef struct {
  gsize n;
  double *half[2];
  double *total; /* half[0] + half[1], kept in step so that readers may be const */
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
  if (pooled != NULL)
    add_fields (pool, pooled, first_window);
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
