/* SPDX-License-Identifier: MIT */
/* --private: results that do not say where on a machine they were made. */
#pragma once

#include "app/cli/options.h"

G_BEGIN_DECLS

/* Takes the folders of the line's names (checkpoints and files), of the home folder and of the current one out of every
 * text attribute of a run's root dataset; paths of checkpoints become base names. Nothing without --private. */
void mhar_base_names_only (const MharCliOptions *options, MharDataset *root);

/* The base name of one word of a command line, and what stands before it in "--option=PATH"; g_free. */
char *mhar_base_name_of_word (const char *word);

G_END_DECLS
