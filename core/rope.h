/* SPDX-License-Identifier: MIT */
/* Rotary position embedding (Su et al., 2021) and its ways to longer contexts: the table the kernels turn by. */
#pragma once

#include "core/config.h"

G_BEGIN_DECLS

/* The angle a position turns pair i by, radians: double [E/2], E = head_dim; g_free. As transformers has it:
 *
 *   PLAIN    f_i = theta^(−2i/E)
 *   LINEAR   f_i / factor
 *   DYNAMIC  f_i of theta · (factor·n/N − (factor − 1))^(E/(E−2)), n = max (window, N), N = original
 *   YARN     f_i (1 − r_i) + f_i / factor · r_i; r_i is a ramp of i, from 0 at the pair that turns `fast` times in
 *            `original` positions to 1 at the one that turns `slow` times
 *   LLAMA3   f_i of pairs that turn more than `high` times in `original` positions, f_i / factor of those that turn
 *            less than `low` times; between, a mix that is linear in the turns
 *
 * `window`: tokens of the window to be run. A window is computed as a model would that has just been loaded:
 * transformers keeps the frequencies of the longest window so far until one within the trained length comes. */
double *mhar_rope_frequencies (const MharRope *rope, int head_dim, guint window);

/* Cosines and sines of positions 0 … length − 1 at the frequencies of `window`, times `attention`: float [length, E],
 * E/2 cosines then E/2 sines of each position, computed in double; g_free. */
float *mhar_rope_table (const MharRope *rope, int head_dim, guint length, guint window);

/* Whether windows of a and of b tokens have the same frequencies. */
gboolean mhar_rope_same (const MharRope *rope, guint a, guint b);

gboolean mhar_rope_equal (const MharRope *a, const MharRope *b);

G_END_DECLS
