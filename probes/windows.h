/* SPDX-License-Identifier: MIT */
/* How a text is cut: consecutive windows of `context` ids; a last shorter one is kept if it has two ids or more; windows with
 * no position that counts (length ≤ skip) are left out altogether. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  gsize full;  /* windows of `context` ids */
  gsize rest;  /* ids of the last shorter window; 0: none */
  gsize total; /* ids in all of them */
} MharWindows;

MharWindows mhar_windows_cut (gsize n_ids, gsize context, gsize skip);

G_END_DECLS
