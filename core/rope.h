/* SPDX-License-Identifier: MIT */
/* Rotary position embedding (Su et al., 2021): the table the kernels turn by. */
#pragma once

#include "core/config.h"

G_BEGIN_DECLS

/* cos and sin of position · theta^(−2i / E), E = head_dim: float [length, E], E/2 cosines then E/2 sines of each position,
 * computed in double; g_free. */
float *mhar_rope_table (const MharBody *body, guint length);

G_END_DECLS
