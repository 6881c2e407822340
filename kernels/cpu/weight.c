/* SPDX-License-Identifier: MIT */
/* Weights stay where the caller has them, in their stored type; this file makes floats of them, a few MiB at a time. */
#include "kernels/cpu/cpu-private.h"

#include <stdlib.h>
#include <string.h>

/* Floats widened at a time, 8 MiB of them. At widths 512 and 1280 a product is then within 3 % of one on stored
 * float32; 1 MiB costs 8 to 13 %, more than 8 MiB gains nothing. A row longer than this is widened whole. */
#define WIDEN_COUNT ((size_t) 1 << 21)

/* Elements one thread takes at a time. */
#define WIDEN_BLOCK ((size_t) 1 << 14)

int
mhar_cpu_weight_new (MharContext *c, const MharStored *parts, size_t n_parts, size_t cols, MharWeight **out)
{
  *out = NULL;
  size_t bytes, rows = 0;
  for (size_t i = 0; i < n_parts; i++)
    if (__builtin_add_overflow (rows, parts[i].rows, &rows) || !mhar_cpu_product (rows, cols, sizeof (float), &bytes))
      return mhar_cpu_fail (c, MHAR_NO_MEMORY, "a weight of %zu columns and too many rows", cols);
  MharWeight *w = calloc (1, sizeof *w);
  if (w != NULL)
    w->parts = calloc (n_parts > 0 ? n_parts : 1, sizeof *parts);
  if (w == NULL || w->parts == NULL) {
    free (w);
    return mhar_cpu_fail (c, MHAR_NO_MEMORY, "no memory for a weight");
  }
  if (n_parts > 0)
    memcpy (w->parts, parts, n_parts * sizeof *parts);
  w->n_parts = n_parts;
  w->rows = rows;
  w->cols = cols;
  *out = w;
  return MHAR_OK;
}

void
mhar_cpu_weight_free (MharContext *c, MharWeight *w)
{
  (void) c;
  if (w == NULL)
    return;
  free (w->parts);
  free (w);
}

static MHAR_CLONES void
widen_bf16 (const unsigned char *from, size_t count, float *to)
{
#pragma omp simd
  for (size_t i = 0; i < count; i++) {
    uint16_t half;
    memcpy (&half, from + 2 * i, 2);
    uint32_t bits = (uint32_t) half << 16;
    memcpy (to + i, &bits, 4);
  }
}

/* Exact for every pattern: normal numbers by rebiasing the exponent, subnormal ones as mantissa · 2⁻²⁴. */
static MHAR_CLONES void
widen_f16 (const unsigned char *from, size_t count, float *to)
{
#pragma omp simd
  for (size_t i = 0; i < count; i++) {
    uint16_t half;
    memcpy (&half, from + 2 * i, 2);
    uint32_t magnitude = half & 0x7fffu, sign = (uint32_t) (half & 0x8000u) << 16;
    uint32_t special = (uint32_t) (magnitude >= 0x7c00u), subnormal = 0u - (uint32_t) (magnitude < 0x0400u);
    uint32_t normal = (magnitude << 13) + ((112u << 23) << special), tiny;
    float small = (float) (int32_t) magnitude * 0x1p-24f;
    memcpy (&tiny, &small, 4);
    uint32_t bits = (tiny & subnormal) | (normal & ~subnormal) | sign;
    memcpy (to + i, &bits, 4);
  }
}

void
mhar_cpu_widen (const void *data, MharDtype type, size_t first, size_t count, float *to)
{
  const unsigned char *from = (const unsigned char *) data + first * mhar_dtype_size (type);
  if (type == MHAR_BF16)
    widen_bf16 (from, count, to);
  else if (type == MHAR_F16)
    widen_f16 (from, count, to);
  else
    memcpy (to, from, count * sizeof (float));
}

static bool
usable_in_place (const MharStored *part)
{
  return part->type == MHAR_F32 && (uintptr_t) part->data % sizeof (float) == 0;
}

/* `have` bytes at *p become at least `bytes`; the old contents are lost. */
static int
grow (MharContext *c, float **p, size_t *have, size_t bytes)
{
  if (bytes <= *have)
    return MHAR_OK;
  float *more = mhar_cpu_alloc (bytes);
  if (more == NULL)
    return mhar_cpu_fail (c, MHAR_NO_MEMORY, "no memory for %zu bytes of widened weights", bytes);
  free (*p);
  *p = more;
  *have = bytes;
  return MHAR_OK;
}

/* The part that holds row *first, which becomes a row of that part; NULL past the end. */
static const MharStored *
find_part (const MharWeight *w, size_t *first)
{
  for (size_t i = 0; i < w->n_parts; i++) {
    if (*first < w->parts[i].rows)
      return &w->parts[i];
    *first -= w->parts[i].rows;
  }
  return NULL;
}

int
mhar_cpu_weight_chunk (MharContext *c, const MharWeight *w, size_t first, size_t max_rows, const float **data,
                       size_t *rows)
{
  size_t row = first;
  const MharStored *part = find_part (w, &row);
  if (part == NULL)
    return mhar_cpu_fail (c, MHAR_FAILED, "row %zu of a weight of %zu rows", first, w->rows);
  size_t n = part->rows - row < max_rows ? part->rows - row : max_rows;
  if (usable_in_place (part)) {
    *data = (const float *) part->data + row * w->cols;
    *rows = n;
    return MHAR_OK;
  }
  size_t fit = w->cols > 0 && WIDEN_COUNT / w->cols > 0 ? WIDEN_COUNT / w->cols : 1;
  if (n > fit)
    n = fit;
  size_t count = n * w->cols;
  int status = grow (c, &c->widened, &c->widened_bytes, count * sizeof (float));
  if (status != MHAR_OK)
    return status;
  float *to = c->widened;
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < count; i += WIDEN_BLOCK)
    mhar_cpu_widen (part->data, part->type, row * w->cols + i, count - i < WIDEN_BLOCK ? count - i : WIDEN_BLOCK,
                    to + i);
  *data = to;
  *rows = n;
  return MHAR_OK;
}

int
mhar_cpu_gain (MharContext *c, int slot, const MharWeight *w, size_t first, size_t count, const float **out)
{
  *out = NULL;
  if (w == NULL)
    return MHAR_OK;
  size_t have = w->rows * w->cols;
  if (first > have || count > have - first)
    return mhar_cpu_fail (c, MHAR_FAILED, "elements %zu to %zu of a vector of %zu", first, first + count, have);
  if (w->n_parts == 1 && usable_in_place (&w->parts[0])) {
    *out = (const float *) w->parts[0].data + first;
    return MHAR_OK;
  }
  int status = grow (c, &c->gain[slot], &c->gain_bytes[slot], have * sizeof (float));
  if (status != MHAR_OK)
    return status;
  size_t at = 0;
  for (size_t i = 0; i < w->n_parts; i++) {
    size_t n = w->parts[i].rows * w->cols;
    mhar_cpu_widen (w->parts[i].data, w->parts[i].type, 0, n, c->gain[slot] + at);
    at += n;
  }
  *out = c->gain[slot] + first;
  return MHAR_OK;
}
