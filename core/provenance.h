/* SPDX-License-Identifier: MIT */
/* Where a result came from: what a file says of itself and of the run that made it. */
#pragma once

#include "core/device.h"
#include "core/field.h"

G_BEGIN_DECLS

typedef struct {
  const char *command;     /* as typed */
  const char *text_name;   /* "bundled text", a file's base name … */
  const char *text_digest; /* SHA-256, hex */
  gint64 text_tokens;      /* ids of the text, before any cut, by the first checkpoint's tokenizer */
  guint64 seed;
  guint context;
} MharProvenance;

/* `devices`: the MharDevice * of the run, at least one. A root dataset with the file's own attributes (title, history, source, mhar_schema …) and a child "provenance". */
MharDataset *mhar_provenance_root (const GPtrArray *devices, const MharProvenance *provenance);

/* One text of several that were merged. */
typedef struct {
  char *name, *digest;
} MharProvenanceText;

/* Of runs put together: the root dataset of the first, without its checkpoints, with this `command`, the time now, the
 * texts (MharProvenanceText) in their order and `files`, the names of the files (NULL-ended). Its "text" is their names
 * with " + " between, its "text_sha256" the SHA-256 of their digests one after another. */
MharDataset *mhar_provenance_merged (const MharDataset *first, const char *command, const GPtrArray *texts,
                                     gint64 text_tokens, const char *const *files);
MharProvenanceText *mhar_provenance_text_new (const char *name, const char *digest);
void mhar_provenance_text_free (MharProvenanceText *text);

/* "mhar-probe 1.0.0". */
const char *mhar_version (void);

G_END_DECLS
