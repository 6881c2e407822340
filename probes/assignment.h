/* SPDX-License-Identifier: MIT */
/* Which of n things goes to which of n others at the least cost (Hungarian method). */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The permutation `to` [n] of the columns of `cost` [n, n], row-major, whose sum Σ cost[i, to[i]] is least, by shortest
 * augmenting paths with potentials (Kuhn 1955, Munkres 1957; O(n³)). Where the identity is as good, to rounding, it is
 * the identity; so it is where a cost is not finite, as of weights that are NaN. Returns that sum. */
double mhar_assignment (const double *cost, gsize n, guint *to);

G_END_DECLS
