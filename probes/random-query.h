/* SPDX-License-Identifier: MIT */
/* The queries behind every null, each at its place in a stream of probes/philox.h: draw j of site s is the same on
 * every device, whatever the thread count and however many draws there are. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* `n` standard normals of one draw at one site: each two words give a Box–Muller pair, u = (word + 0.5) / 2³²,
 * z = √(−2 ln u0) · (cos, sin) (2π u1). */
void mhar_random_normals (guint64 seed, guint32 site, guint32 draw, gsize n, double *z);

/* How a null's query takes the trained one's size: whole, or slice by slice. */
typedef struct {
  guint slices; /* 0: each row is rescaled to its row's norm; S: each of its S slices to that slice's norm */
  gboolean interleaved;
} MharNullNorm;

/* Rescales z to the norms of `query`, both [rows, width]. A slice that is zero in either gives zeros. */
void mhar_rescale_query (const double *query, gsize rows, gsize width, const MharNullNorm *norm, double *z);

/* A random query like `query` [rows, width], into `z` of the same shape. */
void mhar_random_query (guint64 seed, guint32 site, guint32 draw, const double *query, gsize rows, gsize width,
                        const MharNullNorm *norm, double *z);

/* The coordinates of each row of `query` in another order (Fisher–Yates), which keeps the norm of the row; rescaled
 * where `norm` asks for slices. */
void mhar_shuffled_query (guint64 seed, guint32 site, guint32 draw, const double *query, gsize rows, gsize width,
                          const MharNullNorm *norm, double *z);

/* Whose query each of n sites takes, to [n]: one cycle through all of them (Sattolo), so that none keeps its own and
 * each is taken once. `first_site` is the number of the first. */
void mhar_swapped_order (guint64 seed, guint32 first_site, guint32 draw, gsize n, guint *to);

G_END_DECLS
