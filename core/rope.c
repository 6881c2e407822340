/* SPDX-License-Identifier: MIT */
#include "core/rope.h"

#include <math.h>

static void
fill_plain (double theta, gsize e, double *frequency)
{
  for (gsize i = 0; i < e / 2; i++)
    frequency[i] = pow (theta, -2.0 * (double)i / (double)e);
}

/* The positions that stretch the base: no fewer than the model was trained on. */
static double
stretched (const MharRope *rope, guint window)
{
  return MAX ((double)window, rope->original);
}

static double
dynamic_theta (const MharRope *rope, gsize e, guint window)
{
  double stretch = rope->factor * stretched (rope, window) / rope->original - (rope->factor - 1);
  return rope->theta * pow (stretch, (double)e / ((double)e - 2));
}

/* Which pair, as a real number, turns `turns` times in the positions trained on. */
static double
pair_of_turns (const MharRope *rope, gsize e, double turns)
{
  return (double)e * log (rope->original / (turns * 2 * G_PI)) / (2 * log (rope->theta));
}

static void
bend_yarn (const MharRope *rope, gsize e, double *frequency)
{
  double first = pair_of_turns (rope, e, rope->fast), last = pair_of_turns (rope, e, rope->slow);
  first = fmax (rope->truncate ? floor (first) : first, 0);
  last = fmin (rope->truncate ? ceil (last) : last, (double)e - 1);
  double span = last != first ? last - first : 0.001;
  for (gsize i = 0; i < e / 2; i++) {
    double ramp = CLAMP (((double)i - first) / span, 0, 1);
    frequency[i] *= 1 - ramp + ramp / rope->factor;
  }
}

static void
bend_llama3 (const MharRope *rope, gsize e, double *frequency)
{
  for (gsize i = 0; i < e / 2; i++) {
    double turns = rope->original * frequency[i] / (2 * G_PI);
    double kept = CLAMP ((turns - rope->low) / (rope->high - rope->low), 0, 1);
    frequency[i] *= kept + (1 - kept) / rope->factor;
  }
}

double *
mhar_rope_frequencies (const MharRope *rope, int head_dim, guint window)
{
  gsize e = (gsize)head_dim;
  double *frequency = g_new (double, e / 2);
  fill_plain (rope->kind == MHAR_ROPE_DYNAMIC ? dynamic_theta (rope, e, window) : rope->theta, e, frequency);
  if (rope->kind == MHAR_ROPE_YARN)
    bend_yarn (rope, e, frequency);
  if (rope->kind == MHAR_ROPE_LLAMA3)
    bend_llama3 (rope, e, frequency);
  for (gsize i = 0; rope->kind == MHAR_ROPE_LINEAR && i < e / 2; i++)
    frequency[i] /= rope->factor;
  return frequency;
}

float *
mhar_rope_table (const MharRope *rope, int head_dim, guint length, guint window)
{
  gsize e = (gsize)head_dim, half = e / 2;
  g_autofree double *frequency = mhar_rope_frequencies (rope, head_dim, window);
  float *table = g_new (float, length *e);
  for (gsize i = 0; i < half; i++)
    for (gsize p = 0; p < length; p++) {
      table[p * e + i] = (float)(rope->attention * cos ((double)p * frequency[i]));
      table[p * e + half + i] = (float)(rope->attention * sin ((double)p * frequency[i]));
    }
  return table;
}

gboolean
mhar_rope_same (const MharRope *rope, guint a, guint b)
{
  return rope->kind != MHAR_ROPE_DYNAMIC || stretched (rope, a) == stretched (rope, b);
}

gboolean
mhar_rope_equal (const MharRope *a, const MharRope *b)
{
  return a->kind == b->kind && a->theta == b->theta && a->factor == b->factor && a->original == b->original
         && a->attention == b->attention && a->fast == b->fast && a->slow == b->slow && a->truncate == b->truncate
         && a->low == b->low && a->high == b->high;
}
