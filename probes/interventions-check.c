/* SPDX-License-Identifier: MIT */
/* Whether what a file says of interventions can be printed and drawn. */
#include "probes/intervention.h"

#include "core/error.h"

#include <string.h>

typedef struct {
  const char *name;
  MharFieldType type;
  const char *dims[4]; /* NULL-ended */
} Expected;

static const Expected listed[] = {
  { "spec", MHAR_FIELD_STRING, { "intervention" } },
  { "n_edited", MHAR_FIELD_I32, { "intervention" } },
  { "loss", MHAR_FIELD_F64, { "intervention" } },
  { "delta_loss", MHAR_FIELD_F64, { "intervention" } },
  { "delta_loss_interval", MHAR_FIELD_F64, { "intervention", "bound" } },
  { NULL, MHAR_FIELD_F64, { NULL } },
};

static const Expected mapped[] = {
  { "site", MHAR_FIELD_I32, { "site" } },
  { "site_label", MHAR_FIELD_STRING, { "site" } },
  { "n_sources", MHAR_FIELD_I32, { "site" } },
  { "source_label", MHAR_FIELD_STRING, { "site", "source" } },
  { "delta_loss", MHAR_FIELD_F64, { "site", "source" } },
  { "delta_loss_interval", MHAR_FIELD_F64, { "site", "source", "bound" } },
  { "mass", MHAR_FIELD_F64, { "site", "source" } },
  { NULL, MHAR_FIELD_F64, { NULL } },
};

/* `lengths`: of "intervention" or "site", of "source", of "bound"; 0 until a field has said. */
static gboolean
fits (const MharField *field, const Expected *want, gsize lengths[3])
{
  guint n = 0;

  while (n < 4 && want->dims[n] != NULL)
    n++;
  if (field == NULL || field->type != want->type || field->n_dims != n)
    return FALSE;
  for (guint d = 0; d < n; d++) {
    gsize *length = &lengths[strcmp (want->dims[d], "source") == 0 ? 1 : strcmp (want->dims[d], "bound") == 0 ? 2 : 0];
    if (strcmp (field->dims[d], want->dims[d]) != 0 || field->shape[d] == 0 || (*length != 0 && field->shape[d] != *length))
      return FALSE;
    *length = field->shape[d];
  }
  return TRUE;
}

static gboolean
check_group (const MharDataset *group, const Expected *want, const char *path, const char *set, GError **error)
{
  gsize lengths[3] = { 0, 0, 2 };

  for (; group != NULL && want->name != NULL; want++)
    if (!fits (mhar_dataset_get (group, want->name), want, lengths))
      return mhar_bad_input (
          error, "%s: %s/%s/%s is missing, or has another type or other dimensions than schema 1 gives it; the file is damaged",
          path, set, mhar_dataset_name (group), want->name);
  return TRUE;
}

gboolean
mhar_interventions_results_check (const MharDataset *set, const char *path, GError **error)
{
  const MharDataset *map = mhar_dataset_find_child (set, "ablation_map");
  const char *name = mhar_dataset_name (set);

  if (!check_group (mhar_dataset_find_child (set, "interventions"), listed, path, name, error) ||
      !check_group (map, mapped, path, name, error))
    return FALSE;
  const MharField *count = map != NULL ? mhar_dataset_get (map, "n_sources") : NULL;
  for (gsize s = 0; count != NULL && s < count->shape[0]; s++)
    if (count->data.i32[s] < 0 || (gsize) count->data.i32[s] > mhar_dataset_get (map, "mass")->shape[1])
      return mhar_bad_input (error, "%s: %s/ablation_map counts more sources than it holds; the file is damaged", path, name);
  return TRUE;
}
