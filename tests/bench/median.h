/* SPDX-License-Identifier: MIT */
/* What the CPU benches take of several timings. */
#pragma once

#include <stdlib.h>

static inline int
compare_times (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

/* Of times [n], which are sorted in place; of an even number the later of the middle two. */
static inline double
median (double *times, int n)
{
  qsort (times, (size_t) n, sizeof *times, compare_times);
  return times[n / 2];
}
