/* SPDX-License-Identifier: MIT */
/* Rows of the embedding table, picked by token id. */
#include "kernels/cpu/cpu-private.h"

/* Row `row` of the table [V, D] as floats; the caller checked that it is there. */
static void
copy_row (const MharWeight *table, size_t row, float *to)
{
  for (size_t i = 0; i < table->n_parts; i++) {
    const MharStored *part = &table->parts[i];
    if (row < part->rows) {
      mhar_cpu_widen (part->data, part->type, row * table->cols, table->cols, to);
      return;
    }
    row -= part->rows;
  }
}

int
mhar_cpu_embed (MharContext *c, const MharWeight *table, const MharBuffer *ids, size_t T, MharRows out)
{
  (void) c;
  const int32_t *id = ids->data;
  float *to = mhar_cpu_at (out);
  size_t D = table->cols;
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < T; i++)
    copy_row (table, (size_t) id[i], to + i * D);
  return MHAR_OK;
}
