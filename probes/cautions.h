/* SPDX-License-Identifier: MIT */
/* Options of a run that do nothing to this model, said in its warnings. */
#pragma once

#include "probes/probe.h"

G_BEGIN_DECLS

/* Adds sentences (char *) to `warnings`: where no site has as many sources as match_sources asks for. */
void mhar_caution_of_options (const MharProbeSetup *setup, GPtrArray *warnings);

G_END_DECLS
