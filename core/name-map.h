/* SPDX-License-Identifier: MIT */
/* A user's account of a dialect that nobody listed: which keys hold its queries, gains and body, and how its blocks go.
 * data/name-map.md describes the file. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Patterns of tensor names; "{i}" in them is the layer, from 0. */
typedef struct {
  char *query, *norm; /* q, and g; NULL where the file has the product */
  char *product;      /* q ⊙ g, in one tensor */
  char *bias;         /* on the last source's logit; NULL: none */
} MharMapKeys;

typedef struct {
  char *ours, *theirs; /* the name that the body is read by, and the one it is stored under */
} MharMapPair;

typedef struct {
  char *path; /* as messages show it */
  char *name;
  MharMapKeys attn, mlp, final; /* final: all NULL where there is no final route */
  gboolean add;                 /* a read is added to the stream, else it stands in its place */
  int period;                   /* sublayers in a block; 0: no blocks */
  int heads;
  double eps;   /* 0: the config's */
  GArray *body; /* of MharMapPair */
} MharNameMap;

/* Reads `path`, of at most 64 KiB. MHAR_ERROR_INPUT naming the file and the key where it is not JSON, a key is unknown,
 * absent or of the wrong kind, a pattern has "{i}" where it must not or not where it must, or a number is out of
 * range. */
MharNameMap *mhar_name_map_load (const char *path, GError **error);
MharNameMap *mhar_name_map_parse (const char *text, gsize length, const char *path, GError **error);
void mhar_name_map_free (MharNameMap *map);

/* The pattern with the layer in place of "{i}"; g_free. */
char *mhar_name_fill (const char *pattern, int layer);
/* Whether `name` is the pattern's for some layer below 1024, which is then *layer (−1 where the pattern has no "{i}").
 */
gboolean mhar_name_fits (const char *pattern, const char *name, int *layer);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharNameMap, mhar_name_map_free)

G_END_DECLS
