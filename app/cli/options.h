/* SPDX-License-Identifier: MIT */
/* What the command line asked for. */
#pragma once

#include "app/figure/figure.h"
#include "core/device.h"
#include "core/dialect.h"
#include "probes/run.h"

G_BEGIN_DECLS

typedef enum { MHAR_TABLE_TEXT, MHAR_TABLE_MARKDOWN, MHAR_TABLE_CSV, MHAR_TABLE_LATEX } MharTableStyle;
typedef enum { MHAR_PROGRESS_AUTO, MHAR_PROGRESS_ALWAYS, MHAR_PROGRESS_NEVER } MharProgressWhen;

typedef enum { MHAR_SAVE_NO_WEIGHTS, MHAR_SAVE_F32, MHAR_SAVE_F16 } MharSaveWeights;

/* Everything of one size a kind of option, which app/cli/option-table.c counts on. */
typedef struct {
  char **checkpoints;
  /* what to do, when not the main job */
  gboolean help, version, devices, info, sites, weights_only;
  gboolean compare, series; /* a run of two checkpoints, or of a training run's steps */
  char *verify, *save_reference, *from;
  double tolerance;
  /* input */
  char *text, *prompt, *tokens;
  MharProbeOptions probe;
  GPtrArray *interventions; /* MharIntervention *, what probe.interventions borrows where there are any */
  GPtrArray *reads;         /* likewise of probe.reads */
  /* model */
  char *device;
  char *config; /* in place of the checkpoint's config.json */
  char *map;    /* a name map */
  MharPrecisionWish precision;
  guint heads; /* 0: as the checkpoint says */
  MharBlockDelta block_delta;
  gboolean strict;
  /* output */
  char *output, *figure;
  char *report; /* a folder; its report.h5 is `output` then */
  MharSaveWeights save_weights;
  gboolean digest, json, quiet;
  gboolean base_names; /* no path in what is written */
  guint64 checkpoint_every; /* windows between two saves of a run's state; 0: none */
  gboolean resume;
  gboolean merge;     /* the words are saved runs */
  MharTableStyle table;
  MharProgressWhen progress;
  MharFigureKind kind;
  MharFigureOptions figure_options;
  char *command; /* the line as typed, for provenance */
  GPtrArray *given;  /* names (const char *) of the options on it, in their order */
  GPtrArray *values; /* their values (char *), as text; "" of one that takes none */
} MharCliOptions;

/* MHAR_ERROR_USAGE in one sentence where the line makes no sense. */
MharCliOptions *mhar_cli_options_parse (char **argv, GError **error);
void mhar_cli_options_free (MharCliOptions *options);

/* Whether they go together; MHAR_ERROR_USAGE. mhar_cli_options_parse has asked it. */
gboolean mhar_cli_options_check (const MharCliOptions *options, GError **error);

/* Whether an option is on the line, by its long name. */
gboolean mhar_is_given (const MharCliOptions *options, const char *name);
/* What a run measures of what the line names: a report fills in what is not named. */
MharProbeFlags mhar_measured (const MharCliOptions *options);
/* Whether a random query takes the place of a trained one (--null-query), and whether any random query keeps the norms
 * of slices. */
gboolean mhar_uses_null_query (const MharCliOptions *options);
gboolean mhar_uses_slice_norm (const MharCliOptions *options);

/* Base name of the HDF5 file that a line as typed (`command` of a file's provenance) writes; NULL where it writes none,
 * or is none of ours. g_free. */
char *mhar_cli_output_of (const char *command);

/* What --help prints; g_free. */
char *mhar_cli_help (void);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharCliOptions, mhar_cli_options_free)

G_END_DECLS
