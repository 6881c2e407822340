/* SPDX-License-Identifier: MIT */
#include "h5-checksums.h"

#include <string.h>

#define CHECKSUM 4
#define MAX_DEPTH 8 /* of a tree, so that a cycle ends */

typedef struct {
  guint8 *bytes;
  gsize size;
  GArray *blocks;
} Image;

static guint64
get (const Image *image, gsize at, guint n)
{
  guint64 value = 0;
  if (at > image->size || n > image->size - at)
    return 0;
  while (n-- > 0)
    value = value << 8 | image->bytes[at + n];
  return value;
}

static gboolean
has (const Image *image, guint64 at, const char *signature)
{
  return at < image->size && image->size - at >= 4 && memcmp (image->bytes + at, signature, 4) == 0;
}

/* ---- lookup3 ---- */

static guint32
turn (guint32 value, guint bits)
{
  return value << bits | value >> (32 - bits);
}

static void
mix (guint32 v[3])
{
  static const guint8 turns[6] = { 4, 6, 8, 16, 19, 4 };
  for (guint i = 0; i < 6; i++) {
    guint32 *a = &v[i % 3], *b = &v[(i + 1) % 3], *c = &v[(i + 2) % 3];
    *a -= *c;
    *a ^= turn (*c, turns[i]);
    *c += *b;
  }
}

static void
finish (guint32 v[3])
{
  static const guint8 turns[7] = { 14, 11, 25, 16, 4, 14, 24 };
  for (guint i = 0; i < 7; i++) {
    guint32 *to = &v[(i + 2) % 3], from = v[(i + 1) % 3];
    *to ^= from;
    *to -= turn (from, turns[i]);
  }
}

/* Adds up to 12 bytes, as three little-endian words. */
static void
add (guint32 v[3], const guint8 *bytes, gsize n)
{
  for (gsize i = 0; i < n; i++)
    v[i / 4] += (guint32)bytes[i] << 8 * (i % 4);
}

guint32
fuzz_h5_lookup3 (const guint8 *bytes, gsize size)
{
  guint32 first = 0xdeadbeef + (guint32)size, v[3] = { first, first, first };
  for (; size > 12; bytes += 12, size -= 12) {
    add (v, bytes, 12);
    mix (v);
  }
  if (size == 0)
    return v[2];
  add (v, bytes, size);
  finish (v);
  return v[2];
}

/* ---- blocks ---- */

/* The checksum at `at`, of what stands in the block before it; of all of the block where it stands within. */
static void
seal_at (Image *image, guint64 start, guint64 length, guint64 at)
{
  if (start > image->size || length > image->size - start || at < start || at - start > length
      || length - (at - start) < CHECKSUM)
    return;
  gboolean last = at + CHECKSUM == start + length;
  memset (image->bytes + at, 0, CHECKSUM);
  guint32 sum = fuzz_h5_lookup3 (image->bytes + start, last ? at - start : length);
  for (guint i = 0; i < CHECKSUM; i++)
    image->bytes[at + i] = (guint8)(sum >> 8 * i);
  FuzzH5Block block = { start, length };
  g_array_append_val (image->blocks, block);
}

/* The block from `start` on, with its checksum behind `length` bytes. */
static void
seal (Image *image, guint64 start, guint64 length)
{
  if (length <= image->size)
    seal_at (image, start, length + CHECKSUM, start + length);
}

/* ---- object headers ---- */

static void seal_messages (Image *image, guint64 at, guint64 end, gboolean ordered, guint depth);

static void
seal_continuation (Image *image, guint64 address, guint64 length, gboolean ordered, guint depth)
{
  if (depth > MAX_DEPTH || !has (image, address, "OCHK") || length < 4 + CHECKSUM || length > image->size - address)
    return;
  seal_messages (image, address + 4, address + length - CHECKSUM, ordered, depth);
  seal (image, address, length - CHECKSUM);
}

static void
seal_messages (Image *image, guint64 at, guint64 end, gboolean ordered, guint depth)
{
  const guint head = ordered ? 6 : 4;
  while (at + head <= end) {
    guint type = (guint)get (image, at, 1), length = (guint)get (image, at + 1, 2);
    if (type == 0x10 && length >= 16)
      seal_continuation (image, get (image, at + head, 8), get (image, at + head + 8, 8), ordered, depth + 1);
    at += head + length;
  }
}

static void
seal_object (Image *image, gsize start)
{
  guint flags = (guint)get (image, start + 5, 1), width = 1u << (flags & 3);
  gsize at = start + 6 + (flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0);
  guint64 length = get (image, at, width);
  at += width;
  if (at > image->size || length > image->size - at)
    return;
  seal_messages (image, at, at + length, (flags & 4) != 0, 0);
  seal (image, start, at - start + length);
}

/* ---- B-trees ---- */

typedef struct {
  guint64 node, record;
  guint count;                /* bytes that the number of records in a node takes */
  guint total[MAX_DEPTH + 1]; /* bytes that the number of those in and below a node of that level takes */
} Tree;

static guint
bytes_for (guint64 value)
{
  guint n = 1;
  for (; value > 0xff; value >>= 8)
    n++;
  return n;
}

static guint
pointer_size (const Tree *tree, guint level)
{
  return 8 + tree->count + (level > 1 ? tree->total[level - 1] : 0);
}

static void
measure_tree (Tree *tree)
{
  guint64 below = (tree->node - 10) / tree->record;
  tree->count = bytes_for (below);
  for (guint level = 1; level <= MAX_DEPTH; level++) {
    guint pointer = pointer_size (tree, level);
    guint64 most = tree->node > 10 + pointer ? (tree->node - 10 - pointer) / (tree->record + pointer) : 0;
    below = (most + 1) * below + most; /* may overflow for heads that lie */
    tree->total[level] = bytes_for (below);
  }
}

static void
seal_node (Image *image, const Tree *tree, guint64 address, guint64 records, guint level)
{
  guint64 length = 6 + records * tree->record;
  if (level == 0) {
    if (has (image, address, "BTLF"))
      seal (image, address, length);
    return;
  }
  guint pointer = pointer_size (tree, level);
  if (!has (image, address, "BTIN") || length + (records + 1) * pointer > image->size - address)
    return;
  for (guint64 i = 0; i <= records; i++) {
    gsize at = address + length + i * pointer;
    seal_node (image, tree, get (image, at, 8), get (image, at + 8, tree->count), level - 1);
  }
  seal (image, address, length + (records + 1) * pointer);
}

static void
seal_tree (Image *image, gsize start)
{
  Tree tree = { .node = get (image, start + 6, 4), .record = get (image, start + 10, 2) };
  guint level = (guint)get (image, start + 12, 2);
  if (tree.node > 10 && tree.record > 0 && level <= 2) {
    measure_tree (&tree);
    seal_node (image, &tree, get (image, start + 16, 8), get (image, start + 24, 2), level);
  }
  seal (image, start, 34);
}

/* ---- fractal heaps ---- */

typedef struct {
  gboolean checked; /* its direct blocks have checksums */
  guint filters;    /* bytes of them */
  guint offset;     /* bytes that a place in the heap takes */
  guint64 width, first, largest;
} FractalHeap;

static guint64
row_block (const FractalHeap *heap, guint64 row)
{
  return heap->first << (row > 1 ? MIN (row - 1, 30) : 0);
}

static void
seal_direct (Image *image, const FractalHeap *heap, guint64 address, guint64 length)
{
  if (heap->checked && has (image, address, "FHDB"))
    seal_at (image, address, length, address + 13 + heap->offset);
}

static void
seal_indirect (Image *image, const FractalHeap *heap, guint64 address, guint64 rows)
{
  if (!has (image, address, "FHIB") || rows * heap->width > image->size / 8)
    return;
  guint64 at = address + 13 + heap->offset;
  for (guint64 row = 0; row < rows; row++)
    for (guint64 i = 0; i < heap->width; i++) {
      gboolean direct = row_block (heap, row) <= heap->largest;
      if (direct)
        seal_direct (image, heap, get (image, at, 8), row_block (heap, row));
      at += direct && heap->filters > 0 ? 20 : 8;
    }
  seal (image, address, at - address);
}

static void
seal_heap (Image *image, gsize start)
{
  FractalHeap heap = { .checked = (get (image, start + 9, 1) & 2) != 0,
                       .filters = (guint)get (image, start + 7, 2),
                       .offset = (guint)(get (image, start + 128, 2) + 7) / 8,
                       .width = get (image, start + 110, 2),
                       .first = get (image, start + 112, 8),
                       .largest = get (image, start + 120, 8) };
  guint64 root = get (image, start + 132, 8), rows = get (image, start + 140, 2);
  if (rows == 0)
    seal_direct (image, &heap, root, heap.first);
  else
    seal_indirect (image, &heap, root, rows);
  seal (image, start, 142 + (heap.filters > 0 ? 12 + heap.filters : 0));
}

/* ---- fixed arrays: where the chunks of newer variables are ---- */

static void
seal_array (Image *image, gsize start)
{
  guint64 element = get (image, start + 6, 1), n = get (image, start + 8, 8), address = get (image, start + 16, 8);
  if (has (image, address, "FADB") && element > 0 && n <= image->size / element)
    seal (image, address, 14 + n * element);
  seal (image, start, 24);
}

GArray *
fuzz_h5_seal (guint8 *bytes, gsize size)
{
  Image image = { bytes, size, g_array_new (FALSE, FALSE, sizeof (FuzzH5Block)) };
  guint64 version = get (&image, 8, 1);
  if (has (&image, 0, "\x89HDF") && (version == 2 || version == 3))
    seal (&image, 0, 44);
  for (gsize at = 0; at + 4 <= size; at++) {
    if (has (&image, at, "OHDR"))
      seal_object (&image, at);
    else if (has (&image, at, "BTHD"))
      seal_tree (&image, at);
    else if (has (&image, at, "FRHP"))
      seal_heap (&image, at);
    else if (has (&image, at, "FAHD"))
      seal_array (&image, at);
  }
  return image.blocks;
}
