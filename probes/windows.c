/* SPDX-License-Identifier: MIT */
#include "probes/windows.h"

MharWindows
mhar_windows_cut (gsize n_ids, gsize context, gsize skip)
{
  MharWindows windows = { n_ids / context, n_ids % context, 0 };

  if (context < 2 || context <= skip)
    windows.full = 0;
  if (windows.rest < 2 || windows.rest <= skip)
    windows.rest = 0;
  windows.total = windows.full * context + windows.rest;
  return windows;
}
