/* SPDX-License-Identifier: MIT */
#include "core/rope.h"

#include <math.h>

float *
mhar_rope_table (const MharBody *body, guint length)
{
  gsize e = (gsize) body->head_dim, half = e / 2;
  float *table = g_new (float, length * e);

  for (gsize i = 0; i < half; i++) {
    double frequency = pow (body->rope_theta, -2.0 * (double) i / (double) e);
    for (gsize p = 0; p < length; p++) {
      table[p * e + i] = (float) cos ((double) p * frequency);
      table[p * e + half + i] = (float) sin ((double) p * frequency);
    }
  }
  return table;
}
