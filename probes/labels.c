/* SPDX-License-Identifier: MIT */
#include "probes/labels.h"

void
mhar_label_checkpoint (const MharCheckpoint *checkpoint, const MharPlan *plan, MharDataset *out)
{
  const MharBody *b = mhar_config_body (mhar_checkpoint_config (checkpoint));
  g_autofree char *path = g_filename_display_name (mhar_checkpoint_path (checkpoint)); /* text, where a path is bytes */

  mhar_dataset_set_string (out, "path", path);
  mhar_dataset_set_string (out, "dialect", plan->dialect);
  mhar_dataset_set_string (out, "mode", plan->mode);
  mhar_dataset_set_integer (out, "layers", plan->layers);
  mhar_dataset_set_integer (out, "width", plan->width);
  mhar_dataset_set_integer (out, "heads", plan->heads);
  mhar_dataset_set_integer (out, "sites", plan->sites->len);
  mhar_dataset_set_string (out, "model_type", b->model_type);
  mhar_dataset_set_string (out, "dtype", mhar_checkpoint_dtype (checkpoint));
  mhar_dataset_set_integer (out, "attention_heads", b->heads);
  mhar_dataset_set_integer (out, "kv_heads", b->kv_heads);
  mhar_dataset_set_integer (out, "head_dim", b->head_dim);
  mhar_dataset_set_integer (out, "ffn", b->ffn);
  mhar_dataset_set_integer (out, "vocab", b->vocab);
  mhar_dataset_set_real (out, "rope_theta", b->rope_theta);
  mhar_dataset_set_real (out, "rms_norm_eps", b->eps);
  if (plan->eps > 0)
    mhar_dataset_set_real (out, "routing_eps", plan->eps);
  if (plan->block_delta != NULL)
    mhar_dataset_set_string (out, "block_delta", plan->block_delta);
}

static void
copy_attribute (const MharAttribute *attribute, MharDataset *out)
{
  if (attribute->type == MHAR_ATTRIBUTE_STRING)
    mhar_dataset_set_string (out, attribute->name, attribute->string);
  else if (attribute->type == MHAR_ATTRIBUTE_INTEGER)
    mhar_dataset_set_integer (out, attribute->name, attribute->integer);
  else if (attribute->type == MHAR_ATTRIBUTE_REAL)
    mhar_dataset_set_real (out, attribute->name, attribute->real);
}

void
mhar_label_like (const MharDataset *set, MharDataset *out)
{
  static const char *const attributes[]
      = { "path", "dialect", "mode", "layers", "width", "heads", "sites", "model_type", "dtype", "attention_heads", "kv_heads",
          "head_dim", "ffn", "vocab", "rope_theta", "rms_norm_eps", "routing_eps", "block_delta", "sha256_routing",
          "sha256_files", "sha256_tokenizer", NULL };
  static const char *const fields[] = { "output_label", "site", "site_label", "n_sources", "n_heads", "source_label",
                                        "whole_rows", "input_label", "coefficient" };

  for (guint a = 0; a < mhar_dataset_n_attributes (set); a++)
    if (g_strv_contains (attributes, mhar_dataset_attribute (set, a)->name))
      copy_attribute (mhar_dataset_attribute (set, a), out);
  for (guint f = 0; f < G_N_ELEMENTS (fields); f++)
    if (mhar_dataset_get (set, fields[f]) != NULL)
      mhar_dataset_add (out, mhar_field_copy (mhar_dataset_get (set, fields[f])));
}

static MharField *
add (MharDataset *out, const char *name, const char *long_name, const char *units, MharFieldType type, const char *dim,
     gsize n)
{
  return mhar_dataset_add (out, mhar_field_new (name, long_name, units, type, 1, &dim, &n));
}

static void
label_sources (const MharPlan *plan, gsize most, MharDataset *out)
{
  const char *dims[] = { "site", "source" };
  gsize shape[] = { plan->sites->len, most };
  MharField *label = mhar_dataset_add (out, mhar_field_new ("source_label", "what the site's source is", "",
                                                            MHAR_FIELD_STRING, 2, dims, shape));

  for (guint s = 0; s < plan->sites->len; s++) {
    const MharSite *site = mhar_plan_site (plan, s);
    for (int i = 0; i < site->n_sources; i++)
      label->data.str[s * most + (gsize) i] = mhar_plan_source_label (plan, site, i);
  }
}

static void
label_whole (const MharPlan *plan, MharDataset *out)
{
  MharField *field = add (out, "whole_rows", "whether each of the site's distributions mixes whole rows, 0 or 1", "1",
                          MHAR_FIELD_I32, "site", plan->sites->len);

  for (guint s = 0; s < plan->sites->len; s++)
    field->data.i32[s] = mhar_plan_site (plan, s)->whole;
}

void
mhar_label_sites (const MharPlan *plan, MharDataset *out)
{
  gsize outputs = plan->outputs->len;

  MharField *output = add (out, "output_label", "sublayer output, embedding first", "", MHAR_FIELD_STRING, "output", outputs);
  for (gsize i = 0; i < outputs; i++)
    output->data.str[i] = g_strdup (mhar_plan_row (plan, g_array_index (plan->outputs, int, i)));
  if (plan->sites->len == 0)
    return;
  mhar_label_reads (plan, out);
  label_whole (plan, out);
}

void
mhar_label_reads (const MharPlan *plan, MharDataset *out)
{
  gsize n = plan->sites->len, most = 0;

  MharField *number = add (out, "site", "2l feeds attention l, 2l+1 MLP l, 2L the last norm", "1", MHAR_FIELD_I32, "site", n);
  MharField *label = add (out, "site_label", "the read's name", "", MHAR_FIELD_STRING, "site", n);
  MharField *sources = add (out, "n_sources", "sources that the site reads", "1", MHAR_FIELD_I32, "site", n);
  MharField *heads = add (out, "n_heads", "distributions that the site has", "1", MHAR_FIELD_I32, "site", n);
  for (guint s = 0; s < n; s++) {
    const MharSite *site = mhar_plan_site (plan, s);
    number->data.i32[s] = site->number;
    label->data.str[s] = g_strdup (site->label);
    sources->data.i32[s] = site->n_sources;
    heads->data.i32[s] = site->heads;
    most = MAX (most, (gsize) site->n_sources);
  }
  label_sources (plan, most, out);
}
