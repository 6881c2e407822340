/* SPDX-License-Identifier: MIT */
/* The random queries behind every null: Philox4x32-10 (Salmon et al., SC'11), so that draw j of site s is the same on every
 * device, whatever the thread count and however many draws there are. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* `n` standard normals of one draw at one site. Counter (block, draw, site, 0), key = the seed's two halves, low first; each
 * block of four words gives two Box–Muller pairs, u = (word + 0.5) / 2³², z = √(−2 ln u0) · (cos, sin) (2π u1). */
void mhar_random_normals (guint64 seed, guint32 site, guint32 draw, gsize n, double *z);

/* How a random query takes the trained one's size: whole, or slice by slice. */
typedef struct {
  guint slices; /* 0: each row is rescaled to its row's norm; S: each of its S slices to that slice's norm */
  gboolean interleaved;
} MharNullNorm;

/* A random query like `query` [rows, width], into `z` of the same shape. A slice of the trained query that is zero gives zeros. */
void mhar_random_query (guint64 seed, guint32 site, guint32 draw, const double *query, gsize rows, gsize width,
                        const MharNullNorm *norm, double *z);

G_END_DECLS
