/* SPDX-License-Identifier: MIT */
/* Devices: the CPU always opens; a missing, broken or foreign plug-in explains itself, and only `auto` falls back. */
#include "core/device.h"
#include "core/error.h"

#include <glib/gstdio.h>

static void
test_cpu (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MharDevice) device = mhar_device_open ("cpu", MHAR_PRECISION_DEFAULT, TRUE, &error);
  MharDeviceInfo info;

  g_assert_no_error (error);
  g_assert_cmpstr (mhar_device_spec (device), ==, "cpu");
  g_assert_cmpstr (mhar_device_precision_name (device), ==, "fp32");
  g_assert_null (mhar_device_fallback (device));
  mhar_device_describe (device, &info);
  g_assert_cmpuint (strlen (info.name), >, 0);
  g_assert_nonnull (strstr (info.runtime, "OpenBLAS"));
}

static void
test_spec (void)
{
  static const char *const bad[] = { "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1:2", "" };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (mhar_device_open (bad[i], MHAR_PRECISION_DEFAULT, FALSE, &error));
    g_assert_error (error, MHAR_ERROR, MHAR_ERROR_USAGE);
  }
}

static void
test_cpu_bf16 (void)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (mhar_device_open ("cpu", MHAR_PRECISION_WANT_BF16, TRUE, &error));
  g_assert_error (error, MHAR_ERROR, MHAR_ERROR_USAGE);
}

/* With the folder's mhar-cuda.so as given: `cuda` fails with `reason`, `auto` falls back and keeps it. */
static void
check_plugin (const char *folder, const char *reason)
{
  g_autoptr (GError) error = NULL;

  g_setenv ("MHAR_BACKEND_DIR", folder, TRUE);
  g_assert_null (mhar_device_open ("cuda", MHAR_PRECISION_DEFAULT, FALSE, &error));
  g_assert_error (error, MHAR_ERROR, MHAR_ERROR_RUN);
  g_assert_nonnull (strstr (error->message, reason));
  g_autoptr (MharDevice) device = mhar_device_open ("auto", MHAR_PRECISION_DEFAULT, FALSE, NULL);
  g_assert_cmpstr (mhar_device_spec (device), ==, "cpu");
  g_assert_nonnull (strstr (mhar_device_fallback (device), reason));
}

static void
test_plugin (void)
{
  g_autofree char *folder = g_dir_make_tmp ("mhar-device-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "mhar-cuda.so", NULL);

  check_plugin (folder, "is not installed");
  check_plugin (".", "is not installed"); /* never a relative folder */
  g_assert_true (g_file_set_contents (path, "not a library", -1, NULL));
  check_plugin (folder, "cannot be loaded");
  g_unlink (path);
  g_rmdir (folder);
  check_plugin (g_getenv ("MHAR_TEST_PLUGINS"), "ABI 999");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/device/cpu", test_cpu);
  g_test_add_func ("/device/spec", test_spec);
  g_test_add_func ("/device/cpu-bf16", test_cpu_bf16);
  g_test_add_func ("/device/plugin", test_plugin);
  return g_test_run ();
}
