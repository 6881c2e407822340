/* SPDX-License-Identifier: MIT */
/* --private: results that do not say where on a machine they were made, nor who made them. */
#pragma once

#include "app/cli/options.h"

G_BEGIN_DECLS

/* Takes the folders of what the line and the results name (checkpoints and files), of the home folder and of the
 * current one, and any other whole path's, out of every text attribute of a run's root dataset, whether just made or
 * read from a file; paths of checkpoints become base names, numbered where they are alike. Nothing without --private.
 */
void mhar_base_names_only (const MharCliOptions *options, MharDataset *root);

/* The checkpoints of the line as they are shown: as typed, or with --private base names likewise. g_strfreev. */
char **mhar_base_names_shown (const MharCliOptions *options);

/* A text that may name files, as it is shown: with --private without their folders. g_free. */
char *mhar_base_names_in (const MharCliOptions *options, const char *text);

/* The words of a command line (the first is the program's name) as one, quoted for a shell; without --resume, since a
 * run that goes on is the same run. With `base_names` names of files lose their folders; a prompt is none. g_free. */
char *mhar_command_line (char *const *words, gboolean base_names);

/* One word, quoted for a shell where that needs it, in UTF-8. g_free. */
char *mhar_command_word (const char *word);

G_END_DECLS
