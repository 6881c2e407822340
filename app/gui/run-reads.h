/* SPDX-License-Identifier: MIT */
/* Whether a run says what heads read: where it costs little. */
#pragma once

#include "core/plan.h"
#include "probes/probe.h"

G_BEGIN_DECLS

/* Asks for the reads of every cell where the text is not long: what `bytes` of it, and options->max_tokens, allow. */
void mhar_run_ask_reads (MharProbeOptions *options, gsize bytes);
/* Takes that back where a plan has no reads, or more cells than can be listed. */
void mhar_run_limit_reads (MharProbeOptions *options, const MharPlan *plan);

G_END_DECLS
