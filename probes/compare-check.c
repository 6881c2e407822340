/* SPDX-License-Identifier: MIT */
/* Whether what a file says of a comparison can be printed and drawn. */
#include "probes/compare.h"

#include "core/error.h"

#include <string.h>

typedef struct {
  const char *name;
  MharFieldType type;
  gboolean needed;
  const char *dims[4]; /* NULL-ended */
} Expected;

static const Expected expected[] = {
  { "site", MHAR_FIELD_I32, TRUE, { "site" } },
  { "site_label", MHAR_FIELD_STRING, TRUE, { "site" } },
  { "n_sources", MHAR_FIELD_I32, TRUE, { "site" } },
  { "n_heads", MHAR_FIELD_I32, TRUE, { "site" } },
  { "n_heads_b", MHAR_FIELD_I32, TRUE, { "site" } },
  { "whole_rows", MHAR_FIELD_I32, TRUE, { "site" } },
  { "source_label", MHAR_FIELD_STRING, TRUE, { "site", "source" } },
  { "js_consensus", MHAR_FIELD_F64, TRUE, { "site" } },
  { "max_difference_consensus", MHAR_FIELD_F64, TRUE, { "site" } },
  { "difference_consensus", MHAR_FIELD_F32, TRUE, { "site", "source" } },
  { "js", MHAR_FIELD_F64, FALSE, { "site", "head", "head_b" } },
  { "match", MHAR_FIELD_I32, FALSE, { "site", "head" } },
  { "difference", MHAR_FIELD_F32, FALSE, { "site", "head", "source" } },
};

/* Of a paired comparison all or none. */
static const char *const paired[]
    = { "js", "match", "difference", "js_identity", "js_matched", "js_random", "max_difference" };

/* Numbers by read, with or without. */
static const char *const rows[] = {
  "js_identity",
  "js_identity_low",
  "js_identity_high",
  "js_matched",
  "js_matched_low",
  "js_matched_high",
  "js_random",
  "js_consensus_low",
  "js_consensus_high",
  "max_difference",
  "null_js_a",
  "null_js_b",
  "null_js",
  "null_js_low",
  "null_js_high",
  "null_js_consensus",
  "null_js_consensus_low",
  "null_js_consensus_high",
  "js_ratio",
  "js_ratio_consensus",
  "p_value",
  "p_value_consensus",
};

typedef struct {
  gsize site, head, head_b, source; /* lengths; 0: not yet known */
} Lengths;

static gsize *
length_of (Lengths *lengths, const char *dim)
{
  return strcmp (dim, "site") == 0     ? &lengths->site
         : strcmp (dim, "head") == 0   ? &lengths->head
         : strcmp (dim, "head_b") == 0 ? &lengths->head_b
                                       : &lengths->source;
}

static gboolean
fits (const MharField *field, const Expected *want, Lengths *lengths)
{
  guint n = 0;

  while (n < 4 && want->dims[n] != NULL)
    n++;
  if (field->type != want->type || field->n_dims != n)
    return FALSE;
  for (guint d = 0; d < n; d++) {
    gsize *length = length_of (lengths, want->dims[d]);
    if (strcmp (field->dims[d], want->dims[d]) != 0 || field->shape[d] == 0
        || (*length != 0 && *length != field->shape[d]))
      return FALSE;
    *length = field->shape[d];
  }
  return TRUE;
}

static gboolean
check_field (const MharDataset *set, const Expected *want, Lengths *lengths, const char *path, GError **error)
{
  const MharField *field = mhar_dataset_get (set, want->name);

  if (field == NULL ? !want->needed && !mhar_dataset_is_lost (set, want->name) : fits (field, want, lengths))
    return TRUE;
  return mhar_bad_input (
      error,
      "%s: compare/%s is missing, or has another type or other dimensions than schema 1 gives it; the file is "
      "damaged",
      path, want->name);
}

/* Counts and heads lie within the arrays that they are about. */
static gboolean
counts_fit (const MharDataset *set, const Lengths *lengths)
{
  const gint32 *sources = mhar_dataset_get (set, "n_sources")->data.i32,
               *heads = mhar_dataset_get (set, "n_heads")->data.i32;
  const MharField *match = mhar_dataset_get (set, "match");

  for (gsize s = 0; s < lengths->site; s++) {
    if (sources[s] < 0 || (gsize)sources[s] > lengths->source || heads[s] < 0
        || (match != NULL && (gsize)heads[s] > lengths->head) || (match != NULL && (gsize)heads[s] > lengths->head_b))
      return FALSE;
    for (gsize h = 0; match != NULL && h < (gsize)heads[s]; h++)
      if (match->data.i32[s * lengths->head + h] < -1 || match->data.i32[s * lengths->head + h] >= heads[s])
        return FALSE;
  }
  return TRUE;
}

gboolean
mhar_comparison_check (const MharDataset *set, const char *path, GError **error)
{
  Lengths lengths = { 0 };
  guint present = 0;

  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    if (!check_field (set, &expected[i], &lengths, path, error))
      return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Expected want = { rows[i], MHAR_FIELD_F64, FALSE, { "site" } };
    if (!check_field (set, &want, &lengths, path, error))
      return FALSE;
  }
  for (guint i = 0; i < G_N_ELEMENTS (paired); i++)
    present += mhar_dataset_get (set, paired[i]) != NULL;
  if (present != 0 && present != G_N_ELEMENTS (paired))
    return mhar_bad_input (error, "%s: compare lacks some of what matched heads have; the file is damaged", path);
  if (!counts_fit (set, &lengths))
    return mhar_bad_input (error, "%s: compare counts more heads or sources than it holds; the file is damaged", path);
  return TRUE;
}
