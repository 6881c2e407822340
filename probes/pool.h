/* SPDX-License-Identifier: MIT */
/* Sums over the windows of a run, in window order, kept apart for even and odd windows so that a quantity can be replicated
 * on two halves of the text. */
#pragma once

#include "core/field.h"

G_BEGIN_DECLS

typedef struct _MharPool MharPool;

MharPool *mhar_pool_new (void);
void mhar_pool_free (MharPool *pool);

/* Adds every F64 field of `slab` and of its child "pooled"; their first dimension is the window, the first of which has index
 * `first_window`. Slabs come in order, with the same fields each. */
void mhar_pool_add (MharPool *pool, const MharDataset *slab, guint64 first_window);

/* Sums that were made elsewhere: of one window's length n, over even and odd windows; both are taken. */
void mhar_pool_put (MharPool *pool, const char *name, gsize n, double *even, double *odd);
/* What came in slabs' children "pooled", which no window has: the dataset "pooled" with a field [parity, …] for each, the
 * sums over even windows first; empty where nothing did. mhar_dataset_unref. */
MharDataset *mhar_pool_pooled (const MharPool *pool);
/* Adds such a dataset; of the pool's fields it has those of the same shape. */
void mhar_pool_add_pooled (MharPool *pool, const MharDataset *pooled);
/* The same without the parity, which is that of batches and says nothing: what a file holds. */
MharDataset *mhar_pool_pooled_totals (const MharPool *pool);
void mhar_pool_add_pooled_totals (MharPool *pool, const MharDataset *totals);
void mhar_pool_set_windows (MharPool *pool, guint64 windows);

/* Sum over all windows of the named field, one window's shape, row-major; NULL where there is none. Owned by the pool. */
const double *mhar_pool_total (const MharPool *pool, const char *name);
/* The same over even (0) or odd (1) windows only. */
const double *mhar_pool_parity (const MharPool *pool, const char *name, guint parity);
/* The total of a field of one number a window; 0 where there is none. */
double mhar_pool_scalar (const MharPool *pool, const char *name);
double mhar_pool_parity_scalar (const MharPool *pool, const char *name, guint parity);
guint64 mhar_pool_windows (const MharPool *pool);

/* From now on the field's value in every window is kept, beside its sum. To be called before the first is added. */
void mhar_pool_keep (MharPool *pool, const char *name);
/* [windows, one window's shape] of a kept field; NULL where there is none. Owned by the pool, until more is added. */
const double *mhar_pool_series (const MharPool *pool, const char *name);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharPool, mhar_pool_free)

G_END_DECLS
