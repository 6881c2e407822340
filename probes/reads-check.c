/* SPDX-License-Identifier: MIT */
/* Whether what a file says of reads can be printed and drawn, and where in it something stands. */
#include "probes/reads-private.h"

#include "core/error.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *name;
  MharFieldType type;
  const char *dims[4]; /* NULL-ended */
  const char *with;    /* there where that field is; NULL: always there */
} Expected;

static const Expected expected[] = {
  { "site", MHAR_FIELD_I32, { "site" }, NULL },
  { "site_label", MHAR_FIELD_STRING, { "site" }, NULL },
  { "n_sources", MHAR_FIELD_I32, { "site" }, NULL },
  { "n_heads", MHAR_FIELD_I32, { "site" }, NULL },
  { "source_label", MHAR_FIELD_STRING, { "site", "source" }, NULL },
  { "weight_by_position", MHAR_FIELD_F32, { "site", "head", "source", "position_bin" }, NULL },
  { "position_first", MHAR_FIELD_I32, { "position_bin" }, NULL },
  { "position_last", MHAR_FIELD_I32, { "position_bin" }, NULL },
  { "position_tokens", MHAR_FIELD_I32, { "position_bin" }, NULL },
  { "weight_by_document_position", MHAR_FIELD_F32, { "site", "head", "source", "document_bin" }, NULL },
  { "document_position_first", MHAR_FIELD_I32, { "document_bin" }, NULL },
  { "document_position_last", MHAR_FIELD_I32, { "document_bin" }, NULL },
  { "document_position_tokens", MHAR_FIELD_I32, { "document_bin" }, NULL },
  { "weight_by_class", MHAR_FIELD_F32, { "site", "head", "source", "class" }, "weight_by_class" },
  { "class_label", MHAR_FIELD_STRING, { "class" }, "weight_by_class" },
  { "class_tokens", MHAR_FIELD_I32, { "class" }, "weight_by_class" },
  { "weight_by_piece", MHAR_FIELD_F32, { "site", "head", "source", "piece" }, "weight_by_class" },
  { "piece_label", MHAR_FIELD_STRING, { "piece" }, "weight_by_class" },
  { "piece_tokens", MHAR_FIELD_I32, { "piece" }, "weight_by_class" },
  { "cell_site", MHAR_FIELD_I32, { "cell" }, "cell_site" },
  { "cell_head", MHAR_FIELD_I32, { "cell" }, "cell_site" },
  { "cell_source", MHAR_FIELD_I32, { "cell" }, "cell_site" },
  { "token", MHAR_FIELD_I32, { "cell", "list", "rank" }, "cell_site" },
  { "token_weight", MHAR_FIELD_F32, { "cell", "list", "rank" }, "cell_site" },
  { "example_token", MHAR_FIELD_I32, { "example" }, "cell_site" },
  { "example_id", MHAR_FIELD_I32, { "example" }, "cell_site" },
  { "example_before", MHAR_FIELD_STRING, { "example" }, "example_text" },
  { "example_text", MHAR_FIELD_STRING, { "example" }, "example_text" },
  { "example_after", MHAR_FIELD_STRING, { "example" }, "example_text" },
  { "logit_contribution", MHAR_FIELD_F64, { "head", "source" }, "logit_contribution" },
  { "logit_contribution_centred", MHAR_FIELD_F64, { "head", "source" }, "logit_contribution" },
  { "end_of_text", MHAR_FIELD_I32, { "end" }, "end_of_text" },
};

/* The length of a dimension in the fields before `until`, 0 where none has it. */
static gsize
length_of (const MharDataset *set, const char *dim, guint until)
{
  for (guint i = 0; i < until; i++) {
    const MharField *field = mhar_dataset_get (set, expected[i].name);
    if (field != NULL && mhar_field_dim (field, dim) > 0)
      return mhar_field_dim (field, dim);
  }
  return strcmp (dim, "list") == 0 ? 2 : 0;
}

static gboolean
fits (const MharDataset *set, guint which)
{
  const Expected *want = &expected[which];
  const MharField *field = mhar_dataset_get (set, want->name);
  guint n = 0;

  if (field == NULL)
    return want->with != NULL && mhar_dataset_get (set, want->with) == NULL && !mhar_dataset_is_lost (set, want->name);
  while (n < 4 && want->dims[n] != NULL)
    n++;
  if (field->type != want->type || field->n_dims != n)
    return FALSE;
  for (guint d = 0; d < n; d++) {
    gsize length = length_of (set, want->dims[d], which);
    if (strcmp (field->dims[d], want->dims[d]) != 0 || field->shape[d] == 0
        || (length != 0 && field->shape[d] != length))
      return FALSE;
  }
  return TRUE;
}

/* Whether the checkpoint itself has as many sites, heads and sources. */
static gboolean
agrees (const MharDataset *set, const MharDataset *reads, const char *name)
{
  const MharField *own = mhar_dataset_get (reads, name), *its = mhar_dataset_get (set, name);

  return its != NULL && its->type == MHAR_FIELD_I32 && its->n_dims == 1 && its->shape[0] == own->shape[0] &&
         memcmp (own->data.i32, its->data.i32, own->shape[0] * sizeof (gint32)) == 0;
}

static gboolean
counts_fit (const MharDataset *set)
{
  const MharField *weight = mhar_dataset_get (set, "weight_by_position"), *site = mhar_dataset_get (set, "cell_site");
  const MharField *heads = mhar_dataset_get (set, "n_heads"), *sources = mhar_dataset_get (set, "n_sources");
  gint64 logit = mhar_dataset_integer (set, "logit_site", 0);

  for (gsize s = 0; s < weight->shape[0]; s++)
    if (heads->data.i32[s] < 1 || (gsize) heads->data.i32[s] > weight->shape[1] || sources->data.i32[s] < 1 ||
        (gsize) sources->data.i32[s] > weight->shape[2])
      return FALSE;
  for (gsize c = 0; site != NULL && c < site->shape[0]; c++) {
    gint32 s = site->data.i32[c], h = mhar_dataset_get (set, "cell_head")->data.i32[c];
    gint32 n = mhar_dataset_get (set, "cell_source")->data.i32[c];
    if (s < 0 || (gsize) s >= weight->shape[0] || h < 0 || h >= heads->data.i32[s] || n < 0 || n >= sources->data.i32[s])
      return FALSE;
  }
  return logit >= 0 && (gsize) logit < weight->shape[0];
}

gboolean
mhar_reads_results_check (const MharDataset *set, const char *path, GError **error)
{
  const MharDataset *reads = mhar_dataset_find_child (set, "reads");

  for (guint i = 0; reads != NULL && i < G_N_ELEMENTS (expected); i++)
    if (!fits (reads, i))
      return mhar_bad_input (error,
                             "%s: %s/reads/%s is missing, or has another type or other dimensions than schema 1 gives "
                             "it; the file is damaged",
                             path, mhar_dataset_name (set), expected[i].name);
  if (reads != NULL && (!agrees (set, reads, "n_heads") || !agrees (set, reads, "n_sources") || !counts_fit (reads)))
    return mhar_bad_input (error,
                           "%s: %s/reads names sites, heads or sources that it does not hold; the file is damaged",
                           path, mhar_dataset_name (set));
  return TRUE;
}

int
mhar_reads_find_cell (const MharDataset *reads, int site, int head, int source)
{
  const MharField *sites = mhar_dataset_get (reads, "cell_site");

  for (gsize c = 0; sites != NULL && c < sites->shape[0]; c++)
    if (sites->data.i32[c] == site && mhar_dataset_get (reads, "cell_head")->data.i32[c] == head &&
        mhar_dataset_get (reads, "cell_source")->data.i32[c] == source)
      return (int) c;
  return -1;
}

int
mhar_reads_compare_tokens (gconstpointer a, gconstpointer b)
{
  gint32 x = *(const gint32 *) a, y = *(const gint32 *) b;
  return (x > y) - (x < y);
}

int
mhar_reads_find_example (const MharDataset *reads, gint32 token)
{
  const MharField *tokens = mhar_dataset_get (reads, "example_token");
  const gint32 *found
      = tokens != NULL ? bsearch (&token, tokens->data.i32, tokens->shape[0], sizeof token, mhar_reads_compare_tokens)
                       : NULL;
  return found != NULL ? (int) (found - tokens->data.i32) : -1;
}
