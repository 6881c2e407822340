/* SPDX-License-Identifier: MIT */
#include "app/cli/jobs.h"

/* One line a device: its name for --device, what it is, its runtime and memory. */
static void
describe (GString *out, const char *spec)
{
  MharDeviceInfo info;
  g_autoptr (GError) local = NULL;
  g_autoptr (MharDevice) device = mhar_device_open (spec, MHAR_PRECISION_WANT_F32, FALSE, &local);

  if (device == NULL) {
    g_string_append_printf (out, "%-8s %s\n", spec, local->message);
    return;
  }
  mhar_device_describe (device, &info);
  g_string_append_printf (out, "%-8s %s; %s", spec, info.name, info.runtime);
  if (info.memory_total > 0)
    g_string_append_printf (out, "; %.1f of %.1f GiB free", (double) info.memory_free / (1 << 30),
                            (double) info.memory_total / (1 << 30));
  g_string_append_c (out, '\n');
}

int
mhar_job_devices (const MharCliOptions *options G_GNUC_UNUSED, GError **error)
{
  g_autofree char *reason = NULL;
  g_autoptr (GString) out = g_string_new (NULL);
  int count = mhar_device_count_cuda (&reason);

  describe (out, "cpu");
  for (int i = 0; i < count; i++) {
    g_autofree char *spec = g_strdup_printf ("cuda:%d", i);
    describe (out, spec);
  }
  if (count == 0)
    g_string_append_printf (out, "%-8s not usable: %s\n", "cuda", reason);
  return mhar_print (out->str, error) ? 0 : -1;
}
