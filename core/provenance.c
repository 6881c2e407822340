/* SPDX-License-Identifier: MIT */
#include "core/provenance.h"

#include "build-config.h"
#include "core/h5file.h"

const char *
mhar_version (void)
{
  return "mhar-probe " MHAR_VERSION;
}

static MharDataset *
run_attributes (const GPtrArray *devices, const MharProvenance *p, const char *time)
{
  const MharDevice *device = g_ptr_array_index ((GPtrArray *) devices, 0);
  MharDataset *set = mhar_dataset_new ("provenance");
  g_autofree char *seed = g_strdup_printf ("%" G_GUINT64_FORMAT, p->seed);
  MharDeviceInfo info;

  mhar_device_describe (device, &info);
  mhar_dataset_set_string (set, "version", mhar_version ());
  mhar_dataset_set_string (set, "command", p->command);
  mhar_dataset_set_string (set, "time", time);
  mhar_dataset_set_string (set, "device", devices->len > 1 ? "cuda:all" : mhar_device_spec (device));
  mhar_dataset_set_integer (set, "devices", devices->len);
  mhar_dataset_set_string (set, "device_name", info.name);
  mhar_dataset_set_string (set, "driver", info.runtime);
  if (mhar_device_fallback (device) != NULL)
    mhar_dataset_set_string (set, "device_fallback", mhar_device_fallback (device));
  mhar_dataset_set_string (set, "precision", mhar_device_precision_name (device));
  mhar_dataset_set_string (set, "seed", seed);
  mhar_dataset_set_integer (set, "context", p->context);
  mhar_dataset_set_string (set, "text", p->text_name);
  mhar_dataset_set_string (set, "text_sha256", p->text_digest);
  mhar_dataset_set_integer (set, "text_tokens", p->text_tokens);
  mhar_dataset_set_string (set, "hdf5_version", mhar_h5_version ());
  return set;
}

MharDataset *
mhar_provenance_root (const GPtrArray *devices, const MharProvenance *p)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *time = g_date_time_format (now, "%Y-%m-%dT%H:%M:%SZ");
  g_autofree char *history = g_strdup_printf ("%s %s", time, p->command);
  MharDataset *root = mhar_dataset_new ("/");

  mhar_dataset_set_string (root, "title", "What attention over depth has learned: routing probes of trained checkpoints");
  mhar_dataset_set_string (root, "history", history);
  mhar_dataset_set_string (root, "source", mhar_version ());
  mhar_dataset_set_string (root, "references", "arXiv 2607.27230");
  mhar_dataset_set_string (root, "Conventions", "CF-1.10");
  mhar_dataset_set_integer (root, "mhar_schema", 1);
  mhar_dataset_set_string (root, "default", "checkpoint_0");
  mhar_dataset_add_child (root, run_attributes (devices, p, time));
  return root;
}
