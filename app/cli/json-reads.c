/* SPDX-License-Identifier: MIT */
#include "app/cli/json.h"

#include "probes/reads.h"

#include <math.h>

static json_t *
real (double value)
{
  return isfinite (value) ? json_real (value) : json_null ();
}

static json_t *
word (const char *text)
{
  json_t *string = text != NULL ? json_string (text) : NULL;
  return string != NULL ? string : json_null ();
}

static json_t *
whole_numbers (const MharDataset *set, const char *prefix, const char *suffix)
{
  g_autofree char *name = g_strconcat (prefix, suffix, NULL);
  const MharField *field = mhar_dataset_get (set, name);
  json_t *list = json_array ();

  for (gsize i = 0; field != NULL && i < field->shape[0]; i++)
    json_array_append_new (list, json_integer (field->data.i32[i]));
  return list;
}

static json_t *
names (const MharDataset *set, const char *prefix)
{
  g_autofree char *name = g_strconcat (prefix, "_label", NULL);
  const MharField *field = mhar_dataset_get (set, name);
  json_t *list = json_array ();

  for (gsize i = 0; i < field->shape[0]; i++)
    json_array_append_new (list, word (field->data.str[i]));
  return list;
}

/* [head][source] of one site, each a list of the bins. */
static json_t *
means (const MharDataset *set, const char *name, gsize s)
{
  const MharField *field = mhar_dataset_get (set, name);
  gsize heads = (gsize) mhar_dataset_get (set, "n_heads")->data.i32[s];
  gsize sources = (gsize) mhar_dataset_get (set, "n_sources")->data.i32[s], bins = field->shape[3];
  json_t *by_head = json_array ();

  for (gsize h = 0; h < heads; h++) {
    json_t *by_source = json_array ();
    for (gsize n = 0; n < sources; n++) {
      const float *at = field->data.f32 + ((s * field->shape[1] + h) * field->shape[2] + n) * bins;
      json_t *row = json_array ();
      for (gsize b = 0; b < bins; b++)
        json_array_append_new (row, real ((double) at[b]));
      json_array_append_new (by_source, row);
    }
    json_array_append_new (by_head, by_source);
  }
  return by_head;
}

static json_t *
sites (const MharDataset *set)
{
  static const char *const by[]
      = { "weight_by_position", "weight_by_document_position", "weight_by_class", "weight_by_piece" };
  const MharField *site = mhar_dataset_get (set, "site"), *label = mhar_dataset_get (set, "site_label");
  json_t *list = json_array ();

  for (gsize s = 0; s < site->shape[0]; s++) {
    json_t *entry = json_pack ("{s:i, s:o}", "site", site->data.i32[s], "label", word (label->data.str[s]));
    for (guint i = 0; i < G_N_ELEMENTS (by); i++)
      if (mhar_dataset_get (set, by[i]) != NULL)
        json_object_set_new (entry, by[i], means (set, by[i], s));
    json_array_append_new (list, entry);
  }
  return list;
}

/* The tokens of one list of a cell. */
static json_t *
tokens (const MharDataset *set, gsize cell, gsize which)
{
  static const char *const keys[] = { "before", "text", "after" };
  static const char *const fields[] = { "example_before", "example_text", "example_after" };
  const MharField *token = mhar_dataset_get (set, "token"), *weight = mhar_dataset_get (set, "token_weight");
  const MharField *id = mhar_dataset_get (set, "example_id");
  json_t *list = json_array ();

  for (gsize k = 0; k < token->shape[2]; k++) {
    gsize i = (cell * 2 + which) * token->shape[2] + k;
    int example = mhar_reads_find_example (set, token->data.i32[i]);
    if (example < 0)
      continue;
    json_t *entry = json_pack ("{s:i, s:i, s:o}", "token", token->data.i32[i], "id", id->data.i32[example], "weight",
                               real ((double) weight->data.f32[i]));
    for (guint f = 0; f < G_N_ELEMENTS (fields); f++)
      if (mhar_dataset_get (set, fields[f]) != NULL)
        json_object_set_new (entry, keys[f], word (mhar_dataset_get (set, fields[f])->data.str[example]));
    json_array_append_new (list, entry);
  }
  return list;
}

static json_t *
cells (const MharDataset *set)
{
  const MharField *site = mhar_dataset_get (set, "cell_site"), *head = mhar_dataset_get (set, "cell_head");
  const MharField *source = mhar_dataset_get (set, "cell_source"),
                  *source_label = mhar_dataset_get (set, "source_label");
  json_t *list = json_array ();

  for (gsize c = 0; site != NULL && c < site->shape[0]; c++) {
    gint32 s = site->data.i32[c], n = source->data.i32[c];
    json_array_append_new (list, json_pack ("{s:i, s:o, s:i, s:i, s:o, s:o, s:o}", "site",
                                            mhar_dataset_get (set, "site")->data.i32[s], "label",
                                            word (mhar_dataset_get (set, "site_label")->data.str[s]), "head",
                                            head->data.i32[c], "source", n, "source_label",
                                            word (source_label->data.str[(gsize) s * source_label->shape[1] + (gsize) n]),
                                            "most", tokens (set, c, 0), "least", tokens (set, c, 1)));
  }
  return list;
}

static json_t *
contributions (const MharDataset *set, const char *name, gsize s)
{
  const MharField *field = mhar_dataset_get (set, name);
  gsize heads = (gsize) mhar_dataset_get (set, "n_heads")->data.i32[s];
  gsize sources = (gsize) mhar_dataset_get (set, "n_sources")->data.i32[s];
  json_t *list = json_array ();

  for (gsize h = 0; h < heads; h++) {
    json_t *row = json_array ();
    for (gsize n = 0; n < sources; n++)
      json_array_append_new (row, real (field->data.f64[h * field->shape[1] + n]));
    json_array_append_new (list, row);
  }
  return list;
}

static json_t *
logit (const MharDataset *set)
{
  gsize s = (gsize) mhar_dataset_integer (set, "logit_site", 0);

  return json_pack ("{s:i, s:o, s:I, s:o, s:o, s:o, s:o}", "site", mhar_dataset_get (set, "site")->data.i32[s], "label",
                    word (mhar_dataset_get (set, "site_label")->data.str[s]), "tokens",
                    (json_int_t) mhar_dataset_integer (set, "logit_tokens", 0), "target",
                    real (mhar_dataset_real (set, "target_logit", NAN)), "target_centred",
                    real (mhar_dataset_real (set, "target_logit_centred", NAN)), "contribution",
                    contributions (set, "logit_contribution", s), "contribution_centred",
                    contributions (set, "logit_contribution_centred", s));
}

void
mhar_json_reads (const MharDataset *set, json_t *object)
{
  static const char *const positions[] = { "position", "document_position" }, *const kinds[] = { "class", "piece" };
  const MharDataset *reads = mhar_dataset_find_child (set, "reads");

  if (reads == NULL)
    return;
  json_t *group = json_pack ("{s:o}", "end_of_text", whole_numbers (reads, "end_of_text", ""));
  for (guint i = 0; i < G_N_ELEMENTS (positions); i++)
    json_object_set_new (group, positions[i],
                         json_pack ("{s:o, s:o, s:o}", "first", whole_numbers (reads, positions[i], "_first"), "last",
                                    whole_numbers (reads, positions[i], "_last"), "tokens",
                                    whole_numbers (reads, positions[i], "_tokens")));
  for (guint i = 0; mhar_dataset_get (reads, "weight_by_class") != NULL && i < G_N_ELEMENTS (kinds); i++)
    json_object_set_new (group, kinds[i],
                         json_pack ("{s:o, s:o}", "label", names (reads, kinds[i]), "tokens",
                                    whole_numbers (reads, kinds[i], "_tokens")));
  json_object_set_new (group, "per_site", sites (reads));
  json_object_set_new (group, "cells", cells (reads));
  if (mhar_dataset_get (reads, "logit_contribution") != NULL)
    json_object_set_new (group, "logit", logit (reads));
  json_object_set_new (object, "reads", group);
}
