/* SPDX-License-Identifier: MIT */
/* libFuzzer's edits of a saved run, with its checksums set right behind them, and edits aimed at its metadata: most of
 * a file is values and padding, in which nothing is to be found. */
#include "h5-checksums.h"

#include <stdint.h>
#include <string.h>

size_t LLVMFuzzerMutate (uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator (uint8_t *data, size_t size, size_t max_size, unsigned seed);

static guint
pick (guint64 *state, gsize n)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (guint)((*state >> 33) % MAX (n, 1));
}

/* Writes up to 8 bytes at `at`: a number that is often one too far, or bytes of another block. */
static void
edit_block (guint8 *data, gsize size, const GArray *blocks, guint64 *state)
{
  static const gint64 numbers[]
      = { 0,   1,    -1,   2,     7,     8,     9,     16,         64,         127,        128,       255,
          256, 4095, 4096, 32767, 32768, 65535, 65536, G_MAXINT32, G_MININT32, G_MAXINT64, G_MININT64 };
  const FuzzH5Block *block = &g_array_index (blocks, FuzzH5Block, pick (state, blocks->len));
  const FuzzH5Block *other = &g_array_index (blocks, FuzzH5Block, pick (state, blocks->len));
  gsize at = block->start + pick (state, block->length), from = other->start + pick (state, other->length);
  gsize n = MIN ((gsize)1 << pick (state, 4), size - MAX (at, from));
  guint64 number = (guint64)numbers[pick (state, G_N_ELEMENTS (numbers))];
  switch (pick (state, 5)) {
  case 0:
    data[at] = (guint8)pick (state, 256);
    break;
  case 1:
    data[at] ^= (guint8)(1 << pick (state, 8));
    break;
  case 2:
    data[at] += (guint8)(pick (state, 9) - 4);
    break;
  case 3:
    number = GUINT64_TO_LE (number);
    memcpy (data + at, &number, n);
    break;
  default:
    memmove (data + at, data + from, n);
  }
}

size_t
LLVMFuzzerCustomMutator (uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
  guint64 state = seed;
  GArray *blocks = fuzz_h5_seal (data, size);
  if (blocks->len == 0 || pick (&state, 4) == 0)
    size = LLVMFuzzerMutate (data, size, max_size);
  else
    for (guint edits = 1 + pick (&state, 4); edits > 0; edits--)
      edit_block (data, size, blocks, &state);
  g_array_unref (blocks);
  g_array_unref (fuzz_h5_seal (data, size));
  return size;
}
