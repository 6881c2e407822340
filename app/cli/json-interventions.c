/* SPDX-License-Identifier: MIT */
#include "app/cli/json.h"

#include <math.h>

static json_t *
real (double value)
{
  return isfinite (value) ? json_real (value) : json_null ();
}

static json_t *
word (const char *text)
{
  return text != NULL ? json_string (text) : json_null ();
}

/* [low, high] of element `i`; null where there is no interval. */
static json_t *
interval (const MharField *field, gsize i)
{
  double low = field->data.f64[2 * i], high = field->data.f64[2 * i + 1];

  return isfinite (low) && isfinite (high) ? json_pack ("[f, f]", low, high) : json_null ();
}

static json_t *
list_asked (const MharDataset *set)
{
  const MharField *spec = mhar_dataset_get (set, "spec"), *sites = mhar_dataset_get (set, "n_edited");
  const MharField *loss = mhar_dataset_get (set, "loss"), *delta = mhar_dataset_get (set, "delta_loss");
  const MharField *ends = mhar_dataset_get (set, "delta_loss_interval");
  json_t *list = json_array ();

  for (gsize k = 0; k < spec->shape[0]; k++)
    json_array_append_new (list, json_pack ("{s:o, s:i, s:o, s:o, s:o}", "spec", word (spec->data.str[k]), "sites",
                                            sites->data.i32[k], "loss", real (loss->data.f64[k]), "delta_loss",
                                            real (delta->data.f64[k]), "delta_loss_interval", interval (ends, k)));
  return list;
}

typedef json_t *(*Element) (const MharField *field, gsize i);

static json_t *
number_at (const MharField *field, gsize i)
{
  return real (field->data.f64[i]);
}

static json_t *
label_at (const MharField *field, gsize i)
{
  return word (field->data.str[i]);
}

/* [site][source], only what is there. */
static json_t *
ragged (const MharDataset *set, const char *name, Element element)
{
  const MharField *field = mhar_dataset_get (set, name), *count = mhar_dataset_get (set, "n_sources");
  json_t *list = json_array ();

  for (gsize s = 0; s < field->shape[0]; s++) {
    json_t *row = json_array ();
    for (gsize n = 0; n < (gsize) count->data.i32[s]; n++)
      json_array_append_new (row, element (field, s * field->shape[1] + n));
    json_array_append_new (list, row);
  }
  return list;
}

static json_t *
map_object (const MharDataset *set)
{
  const MharField *site = mhar_dataset_get (set, "site"), *label = mhar_dataset_get (set, "site_label");
  json_t *numbers = json_array (), *labels = json_array ();

  for (gsize s = 0; s < site->shape[0]; s++) {
    json_array_append_new (numbers, json_integer (site->data.i32[s]));
    json_array_append_new (labels, word (label->data.str[s]));
  }
  return json_pack ("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "site", numbers, "label", labels, "source_labels",
                    ragged (set, "source_label", label_at), "delta_loss", ragged (set, "delta_loss", number_at),
                    "delta_loss_interval", ragged (set, "delta_loss_interval", interval), "mass",
                    ragged (set, "mass", number_at), "rank_correlation",
                    real (mhar_dataset_real (set, "rank_correlation", NAN)), "rank_correlation_within",
                    real (mhar_dataset_real (set, "rank_correlation_within", NAN)));
}

void
mhar_json_interventions (const MharDataset *set, json_t *object)
{
  const MharDataset *asked = mhar_dataset_find_child (set, "interventions");
  const MharDataset *map = mhar_dataset_find_child (set, "ablation_map");

  if (asked != NULL)
    json_object_set_new (object, "interventions", list_asked (asked));
  if (map != NULL)
    json_object_set_new (object, "ablation_map", map_object (map));
}
