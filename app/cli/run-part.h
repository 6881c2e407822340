/* SPDX-License-Identifier: MIT */
/* What a long run has saved of itself so far, so that one that dies can go on: the folder FILE.h5.part beside the file that
 * is to be written. It holds segments, 000000.h5 and so on, with the sums (and with --save-weights the weights) of the
 * windows between two saves, and state.h5, which says of what run they are, how many count, and what no window has.
 * Each is written under another name and renamed when it is on the disk, state.h5 last: whenever the run dies, what
 * state.h5 says is there. The results file is made of the segments at the end, whether or not the run was interrupted. */
#pragma once

#include "core/field.h"
#include "core/h5file.h"

G_BEGIN_DECLS

typedef struct _MharRunPart MharRunPart;

/* A copy of the group "sums" or "capture" of a file without the scales that the file adds, so that it can be appended to
 * another: of sums what is F64, of captures the weights and their tokens. */
MharDataset *mhar_strip_scales (const MharDataset *from, const char *group);

/* `identity` (app/cli/run-identity.h): what a run has to share with what was saved for it to go on there. Borrowed
 * until mhar_run_part_free. With `resume` what is there is gone on with, if anything is; without it MHAR_ERROR_USAGE
 * where something is. MHAR_ERROR_USAGE naming what differs, MHAR_ERROR_INPUT where what is there is damaged or another
 * process uses it, MHAR_ERROR_RUN where the folder cannot be made. */
MharRunPart *mhar_run_part_open (const char *output, gboolean resume, const MharDataset *identity, GError **error);
/* Leaves the folder as it is, where anything was saved; else removes it. */
void mhar_run_part_free (MharRunPart *part);
/* FILE.h5.part, as text. */
const char *mhar_run_part_name (const MharRunPart *part);

/* The state that was saved of a checkpoint, as mhar_run_part_save took it; NULL where none was. Borrowed. */
const MharDataset *mhar_run_part_state (const MharRunPart *part, guint checkpoint);
/* Its sums, a segment each call and in order: *slab NULL after the last. */
gboolean mhar_run_part_next (MharRunPart *part, guint checkpoint, MharDataset **slab, GError **error);

/* Adds a slab of group "sums" or "capture" to the segment that is being written. */
gboolean mhar_run_part_append (MharRunPart *part, const char *group, const MharDataset *slab, GError **error);
/* Bytes of that segment's arrays. */
guint64 mhar_run_part_bytes (const MharRunPart *part);
/* Ends the segment, which is of `checkpoint`, and saves the state (its attributes and children, which are kept). */
gboolean mhar_run_part_save (MharRunPart *part, guint checkpoint, const MharDataset *state, GError **error);

/* Appends all segments to the groups checkpoint_<i>/sums and capture, the latter with `f16` as IEEE half. */
gboolean mhar_run_part_pour (MharRunPart *part, MharH5Writer *writer, gboolean f16, GError **error);
/* Removes the folder, and from it what is not ours never. */
void mhar_run_part_remove (MharRunPart *part);

/* Whether a run that writes `output` has saved anything to go on from. */
gboolean mhar_run_part_is_saved (const char *output);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharRunPart, mhar_run_part_free)

G_END_DECLS
