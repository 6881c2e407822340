/* SPDX-License-Identifier: MIT */
/* Buffers of the CPU backend are plain memory; so is the scratch the ops share. */
#include "kernels/cpu/cpu-private.h"

#include <stdlib.h>
#include <string.h>

void *
mhar_cpu_alloc (size_t bytes)
{
  if (bytes > SIZE_MAX - 63)
    return NULL;
  size_t whole = (bytes + 63) / 64 * 64;
  return aligned_alloc (64, whole > 0 ? whole : 64);
}

int
mhar_cpu_scratch (MharContext *c, size_t bytes, void **out)
{
  if (bytes > c->scratch_bytes) {
    void *more = mhar_cpu_alloc (bytes);
    if (more == NULL)
      return mhar_cpu_fail (c, MHAR_NO_MEMORY, "no memory for %zu bytes of scratch", bytes);
    free (c->scratch);
    c->scratch = more;
    c->scratch_bytes = bytes;
  }
  *out = c->scratch;
  return MHAR_OK;
}

int
mhar_cpu_buffer_new (MharContext *c, size_t bytes, MharBuffer **out)
{
  *out = NULL;
  MharBuffer *b = calloc (1, sizeof *b);
  if (b != NULL)
    b->data = mhar_cpu_alloc (bytes);
  if (b == NULL || b->data == NULL) {
    free (b);
    return mhar_cpu_fail (c, MHAR_NO_MEMORY, "no memory for a buffer of %zu bytes", bytes);
  }
  b->bytes = bytes;
  *out = b;
  return MHAR_OK;
}

void
mhar_cpu_buffer_free (MharContext *c, MharBuffer *b)
{
  (void) c;
  if (b == NULL)
    return;
  free (b->data);
  free (b);
}

static int
check_range (MharContext *c, const MharBuffer *b, size_t offset, size_t bytes)
{
  if (offset > b->bytes || bytes > b->bytes - offset)
    return mhar_cpu_fail (c, MHAR_FAILED, "bytes %zu to %zu of a buffer of %zu", offset, offset + bytes, b->bytes);
  return MHAR_OK;
}

int
mhar_cpu_upload (MharContext *c, MharBuffer *b, size_t offset_bytes, const void *from, size_t bytes)
{
  int status = check_range (c, b, offset_bytes, bytes);
  if (status == MHAR_OK && bytes > 0)
    memcpy ((char *) b->data + offset_bytes, from, bytes);
  return status;
}

int
mhar_cpu_download (MharContext *c, const MharBuffer *b, size_t offset_bytes, void *to, size_t bytes)
{
  int status = check_range (c, b, offset_bytes, bytes);
  if (status == MHAR_OK && bytes > 0)
    memcpy (to, (const char *) b->data + offset_bytes, bytes);
  return status;
}

int
mhar_cpu_zero (MharContext *c, MharBuffer *b, size_t offset_bytes, size_t bytes)
{
  int status = check_range (c, b, offset_bytes, bytes);
  if (status == MHAR_OK && bytes > 0)
    memset ((char *) b->data + offset_bytes, 0, bytes);
  return status;
}

/* Byte range of `count` float32 at x; a product that does not fit lies outside of any buffer. */
static int
check_rows (MharContext *c, MharRows x, size_t count, size_t *offset, size_t *bytes)
{
  if (!mhar_cpu_product (x.offset, 1, sizeof (float), offset) || !mhar_cpu_product (count, 1, sizeof (float), bytes))
    return mhar_cpu_fail (c, MHAR_FAILED, "%zu elements at %zu do not fit in memory", count, x.offset);
  return check_range (c, x.buffer, *offset, *bytes);
}

int
mhar_cpu_rows_get (MharContext *c, MharRows x, size_t count, float *to)
{
  size_t offset = 0, bytes = 0;
  int status = check_rows (c, x, count, &offset, &bytes);
  return status != MHAR_OK ? status : mhar_cpu_download (c, x.buffer, offset, to, bytes);
}

int
mhar_cpu_rows_set (MharContext *c, MharRows x, size_t count, const float *from)
{
  size_t offset = 0, bytes = 0;
  int status = check_rows (c, x, count, &offset, &bytes);
  return status != MHAR_OK ? status : mhar_cpu_upload (c, x.buffer, offset, from, bytes);
}
