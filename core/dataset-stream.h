/* SPDX-License-Identifier: MIT */
/* A dataset from one process to another of this program on one machine: lengths before contents, numbers as they are in
 * memory. What arrives is trusted no more than a file, because what sends it has read one. */
#pragma once

#include "core/field.h"

#include <stdio.h>

G_BEGIN_DECLS

/* All of it: attributes, fields, what was lost, children. FALSE where not all could be written. */
gboolean mhar_dataset_send (FILE *to, const MharDataset *set);
/* NULL where it is cut short, or is not what mhar_dataset_send writes: text is UTF-8, ranks are a field's, arrays
 * together take no more than `most` bytes. mhar_dataset_unref. */
MharDataset *mhar_dataset_receive (FILE *from, guint64 most);

/* One text; NULL is sent as "". */
gboolean mhar_text_send (FILE *to, const char *text);
/* NULL as above; free with g_free. */
char *mhar_text_receive (FILE *from);

G_END_DECLS
