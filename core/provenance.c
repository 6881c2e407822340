/* SPDX-License-Identifier: MIT */
#include "core/provenance.h"

#include "build-config.h"
#include "core/h5file.h"

const char *
mhar_version (void)
{
  return "mhar-probe " MHAR_VERSION;
}

static char *
now_utc (void)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  return g_date_time_format (now, "%Y-%m-%dT%H:%M:%SZ");
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
  g_autofree char *time = now_utc ();
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

MharProvenanceText *
mhar_provenance_text_new (const char *name, const char *digest)
{
  MharProvenanceText *text = g_new (MharProvenanceText, 1);
  *text = (MharProvenanceText){ g_strdup (name), g_strdup (digest) };
  return text;
}

void
mhar_provenance_text_free (MharProvenanceText *text)
{
  g_free (text->name);
  g_free (text->digest);
  g_free (text);
}

static void
copy_attributes (const MharDataset *from, MharDataset *to)
{
  for (guint a = 0; a < mhar_dataset_n_attributes (from); a++) {
    const MharAttribute *attribute = mhar_dataset_attribute (from, a);
    if (attribute->type == MHAR_ATTRIBUTE_STRING)
      mhar_dataset_set_string (to, attribute->name, attribute->string);
    else if (attribute->type == MHAR_ATTRIBUTE_INTEGER)
      mhar_dataset_set_integer (to, attribute->name, attribute->integer);
    else if (attribute->type == MHAR_ATTRIBUTE_REAL)
      mhar_dataset_set_real (to, attribute->name, attribute->real);
    else
      mhar_dataset_set_strings (to, attribute->name, (const char *const *) attribute->strings);
  }
}

static void
set_texts (MharDataset *set, const GPtrArray *texts)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new (), digests = g_ptr_array_new ();

  for (guint i = 0; i < texts->len; i++) {
    const MharProvenanceText *text = g_ptr_array_index ((GPtrArray *) texts, i);
    g_ptr_array_add (names, text->name);
    g_ptr_array_add (digests, text->digest);
  }
  g_ptr_array_add (names, NULL);
  g_ptr_array_add (digests, NULL);
  g_autofree char *name = g_strjoinv (" + ", (char **) names->pdata), *all = g_strjoinv ("", (char **) digests->pdata);
  g_autofree char *digest = g_compute_checksum_for_string (G_CHECKSUM_SHA256, all, -1);
  mhar_dataset_set_string (set, "text", name);
  mhar_dataset_set_string (set, "text_sha256", digest);
  mhar_dataset_set_strings (set, "texts", (const char *const *) names->pdata);
  mhar_dataset_set_strings (set, "texts_sha256", (const char *const *) digests->pdata);
}

MharDataset *
mhar_provenance_merged (const MharDataset *first, const char *command, const GPtrArray *texts, gint64 text_tokens,
                        const char *const *files)
{
  const MharDataset *run = mhar_dataset_find_child (first, "provenance");
  MharDataset *root = mhar_dataset_new ("/"), *set = mhar_dataset_new ("provenance");
  g_autofree char *time = now_utc (), *history = g_strdup_printf ("%s %s", time, command);

  copy_attributes (first, root);
  mhar_dataset_set_string (root, "history", history);
  mhar_dataset_set_string (root, "source", mhar_version ());
  copy_attributes (run, set);
  mhar_dataset_set_string (set, "version", mhar_version ());
  mhar_dataset_set_string (set, "command", command);
  mhar_dataset_set_string (set, "time", time);
  mhar_dataset_set_integer (set, "text_tokens", text_tokens);
  mhar_dataset_set_string (set, "hdf5_version", mhar_h5_version ());
  set_texts (set, texts);
  mhar_dataset_set_strings (set, "merged", files);
  mhar_dataset_add_child (root, set);
  return root;
}
