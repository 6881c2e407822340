/* SPDX-License-Identifier: MIT */
/* Where a run's token ids come from: a text, a prompt, a file of ids, or the bundled text. */
#pragma once

#include "app/cli/options.h"
#include "core/checkpoint.h"

G_BEGIN_DECLS

/* The input as given, read once and shared by all checkpoints. */
typedef struct {
  GBytes *text;     /* NULL where ids were given */
  GArray *ids;      /* gint32; NULL where a text was */
  char *name;       /* the file's name, "prompt", "standard input" or "bundled text" */
  char *digest;     /* SHA-256 of the text or of the ids file, hex */
} MharTokenSource;

/* MHAR_ERROR_INPUT naming the file where it is missing, empty or not of its kind. Standard input is waited for, until
 * it ends or `cancellable` is cancelled. */
MharTokenSource *mhar_token_source_open (const MharCliOptions *options, GCancellable *cancellable, GError **error);
void mhar_token_source_free (MharTokenSource *source);

/* The ids (gint32; g_array_unref) for a checkpoint: the text through its tokenizer.json, or the ids given.
 * MHAR_ERROR_INPUT where a text is given and the checkpoint has no tokenizer. */
GArray *mhar_token_source_ids (const MharTokenSource *source, const MharCheckpoint *checkpoint, GCancellable *cancellable,
                               GError **error);

/* SHA-256 (hex, g_free) of the tokenizer.json that made the ids; NULL where ids were given. */
char *mhar_token_source_tokenizer (const MharTokenSource *source, const MharCheckpoint *checkpoint);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharTokenSource, mhar_token_source_free)

G_END_DECLS
