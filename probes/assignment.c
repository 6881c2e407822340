/* SPDX-License-Identifier: MIT */
#include "probes/assignment.h"

#include <math.h>

/* A column no dearer than this share above the least is as good. */
#define ROUNDING 1e-12

typedef struct {
  const double *cost;
  gsize n;
  double *row, *column; /* potentials [n + 1]; cost − row − column is nowhere negative */
  gsize *taker;         /* [n + 1] the row, counted from 1, that has a column; 0: none */
  gsize *before;        /* [n + 1] the column before it on the path */
  double *least;        /* [n + 1] the least reduced cost from the tree to a column */
  gboolean *seen;       /* [n + 1] columns of the tree */
} Search;

/* Adds column `at` to the tree; returns the column that is now nearest, which the potentials bring to cost 0. */
static gsize
grow (Search *s, gsize at)
{
  gsize i = s->taker[at], nearest = 0;
  double delta = INFINITY;

  s->seen[at] = TRUE;
  for (gsize j = 1; j <= s->n; j++) {
    if (s->seen[j])
      continue;
    double here = s->cost[(i - 1) * s->n + j - 1] - s->row[i] - s->column[j];
    if (here < s->least[j]) {
      s->least[j] = here;
      s->before[j] = at;
    }
    if (s->least[j] < delta) {
      delta = s->least[j];
      nearest = j;
    }
  }
  for (gsize j = 0; j <= s->n; j++)
    if (s->seen[j]) {
      s->row[s->taker[j]] += delta;
      s->column[j] -= delta;
    } else
      s->least[j] -= delta;
  return nearest;
}

/* Gives row i a column: along the shortest path to a free one, each row on it moving one column on. Column 0 stands for
 * none. */
static void
place (Search *s, gsize i)
{
  gsize at = 0;

  for (gsize j = 0; j <= s->n; j++) {
    s->least[j] = INFINITY;
    s->seen[j] = FALSE;
  }
  s->taker[0] = i;
  do
    at = grow (s, at);
  while (s->taker[at] != 0);
  for (gsize back; at != 0; at = back) {
    back = s->before[at];
    s->taker[at] = s->taker[back];
  }
}

static double
take_identity (const double *cost, gsize n, guint *to)
{
  double sum = 0;

  for (gsize i = 0; i < n; i++) {
    to[i] = (guint)i;
    sum += cost[i * n + i];
  }
  return sum;
}

static gboolean
all_finite (const double *cost, gsize n)
{
  for (gsize i = 0; i < n; i++)
    if (!isfinite (cost[i]))
      return FALSE;
  return TRUE;
}

double
mhar_assignment (const double *cost, gsize n, guint *to)
{
  g_autofree double *row = g_new0 (double, n + 1), *column = g_new0 (double, n + 1), *least = g_new (double, n + 1);
  g_autofree gsize *taker = g_new0 (gsize, n + 1), *before = g_new0 (gsize, n + 1);
  g_autofree gboolean *seen = g_new (gboolean, n + 1);
  Search s = { cost, n, row, column, taker, before, least, seen };
  double best = 0, same = 0;

  if (!all_finite (cost, n * n)) /* no path would be shortest */
    return take_identity (cost, n, to);
  for (gsize i = 1; i <= n; i++)
    place (&s, i);
  for (gsize j = 1; j <= n; j++)
    to[taker[j] - 1] = (guint)(j - 1);
  for (gsize i = 0; i < n; i++) {
    best += cost[i * n + to[i]];
    same += cost[i * n + i];
  }
  return same <= best + fabs (best) * ROUNDING ? take_identity (cost, n, to) : best;
}
