/* SPDX-License-Identifier: MIT */
#include "core/device.h"

#include "core/error.h"
#include "core/paths.h"

#include <gmodule.h>
#include <string.h>

struct _MharDevice {
  const MharOps *ops;
  MharContext *context;
  MharPrecision precision;
  char *spec;
  char *fallback;
};

/* The plug-in at `path`, kept for the life of the process: its CUDA runtime registers handlers that must not vanish. */
static const MharOps *
open_plugin (const char *path, char **reason)
{
  MharBackendGet get = NULL;
  GModule *module = g_module_open (path, G_MODULE_BIND_LOCAL);

  if (module == NULL) {
    *reason = g_strdup_printf ("the CUDA plug-in cannot be loaded (%s)", g_module_error ());
    return NULL;
  }
  g_module_make_resident (module);
  if (!g_module_symbol (module, MHAR_BACKEND_SYMBOL, (gpointer *) &get) || get == NULL) {
    *reason = g_strdup_printf ("%s is not a plug-in of mhar-probe", path);
    return NULL;
  }
  const MharOps *ops = get ();
  if (ops->abi != MHAR_OPS_ABI || ops->struct_size != sizeof (MharOps)) {
    *reason = g_strdup_printf ("the CUDA plug-in has ABI %u (%u bytes), this program needs %u (%zu bytes); install the one of "
                               "this version", ops->abi, ops->struct_size, (guint) MHAR_OPS_ABI, sizeof (MharOps));
    return NULL;
  }
  return ops;
}

static const MharOps *
cuda_ops (char **reason)
{
  g_autofree char *path = mhar_path_plugin ("mhar-cuda.so");

  if (path == NULL) {
    *reason = g_strdup ("the CUDA plug-in mhar-cuda.so is not installed");
    return NULL;
  }
  return open_plugin (path, reason);
}

int
mhar_device_count_cuda (char **reason)
{
  char text[512] = "";
  int count = 0;

  *reason = NULL;
  const MharOps *ops = cuda_ops (reason);
  if (ops == NULL)
    return 0;
  if (ops->device_count (&count, text, sizeof text) != MHAR_OK || count == 0) {
    *reason = g_strdup (text[0] != '\0' ? text : "no NVIDIA GPU");
    return 0;
  }
  return count;
}

static MharDevice *
open_context (const MharOps *ops, int index, MharPrecision precision, char **reason)
{
  char text[512] = "";
  MharContext *context = NULL;

  if (ops->context_new (&context, index, precision, text, sizeof text) != MHAR_OK) {
    *reason = g_strdup (text);
    return NULL;
  }
  MharDevice *device = g_new0 (MharDevice, 1);
  device->ops = ops;
  device->context = context;
  device->precision = precision;
  device->spec = ops == mhar_cpu_ops () ? g_strdup ("cpu") : g_strdup_printf ("cuda:%d", index);
  return device;
}

/* −1: not a cuda spec; else the index it names (0 for "cuda"). */
static int
cuda_index (const char *spec)
{
  guint64 index = 0;

  if (strcmp (spec, "cuda") == 0)
    return 0;
  if (g_str_has_prefix (spec, "cuda:") && g_ascii_string_to_unsigned (spec + 5, 10, 0, 1023, &index, NULL))
    return (int) index;
  return -1;
}

static MharDevice *
open_cuda (int index, MharPrecisionWish wish, gboolean bf16_stored, char **reason)
{
  gboolean bf16 = wish == MHAR_PRECISION_WANT_BF16 || (wish == MHAR_PRECISION_DEFAULT && bf16_stored);
  int count = mhar_device_count_cuda (reason);

  if (count == 0)
    return NULL;
  if (index >= count) {
    *reason = g_strdup_printf ("there are %d GPUs, numbered from 0", count);
    return NULL;
  }
  g_autofree char *none = NULL;
  return open_context (cuda_ops (&none), index, bf16 ? MHAR_PRECISION_BF16 : MHAR_PRECISION_F32, reason);
}

MharDevice *
mhar_device_open (const char *spec, MharPrecisionWish precision, gboolean bf16_stored, GError **error)
{
  g_autofree char *reason = NULL;
  gboolean automatic = strcmp (spec, "auto") == 0, cpu = strcmp (spec, "cpu") == 0;
  int index = automatic ? 0 : cuda_index (spec);

  if (!cpu && index < 0) {
    g_set_error (error, MHAR_ERROR, MHAR_ERROR_USAGE, "“%s” is not a device; give auto, cpu, cuda, cuda:N or cuda:all", spec);
    return NULL;
  }
  if (!cpu) {
    MharDevice *device = open_cuda (index, precision, bf16_stored, &reason);
    if (device != NULL)
      return device;
    if (!automatic) {
      g_set_error (error, MHAR_ERROR, MHAR_ERROR_RUN, "device %s cannot be used: %s", spec, reason);
      return NULL;
    }
  }
  g_autofree char *refused = NULL;
  MharDevice *device = open_context (mhar_cpu_ops (), 0,
                                     precision == MHAR_PRECISION_WANT_BF16 ? MHAR_PRECISION_BF16 : MHAR_PRECISION_F32,
                                     &refused);
  if (device == NULL) {
    g_set_error (error, MHAR_ERROR, precision == MHAR_PRECISION_WANT_BF16 ? MHAR_ERROR_USAGE : MHAR_ERROR_RUN,
                 "device cpu cannot be used: %s%s%s",
                 refused, reason != NULL ? "; no GPU: " : "", reason != NULL ? reason : "");
    return NULL;
  }
  device->fallback = g_steal_pointer (&reason);
  return device;
}

void
mhar_device_free (MharDevice *device)
{
  if (device == NULL)
    return;
  device->ops->context_free (device->context);
  g_free (device->spec);
  g_free (device->fallback);
  g_free (device);
}

const MharOps *
mhar_device_ops (const MharDevice *device)
{
  return device->ops;
}

MharContext *
mhar_device_context (const MharDevice *device)
{
  return device->context;
}

const char *
mhar_device_spec (const MharDevice *device)
{
  return device->spec;
}

MharPrecision
mhar_device_precision (const MharDevice *device)
{
  return device->precision;
}

const char *
mhar_device_precision_name (const MharDevice *device)
{
  return device->precision == MHAR_PRECISION_BF16 ? "bf16" : "fp32";
}

void
mhar_device_describe (const MharDevice *device, MharDeviceInfo *info)
{
  memset (info, 0, sizeof *info);
  device->ops->describe (device->context, info);
}

const char *
mhar_device_fallback (const MharDevice *device)
{
  return device->fallback;
}

gboolean
mhar_device_check (const MharDevice *device, int status, const char *what, GError **error)
{
  if (status == MHAR_OK)
    return TRUE;
  g_set_error (error, MHAR_ERROR, status == MHAR_NO_MEMORY ? MHAR_ERROR_MEMORY : MHAR_ERROR_RUN, "%s: %s%s while %s",
               device->spec, status == MHAR_NO_MEMORY ? "out of memory: " : "",
               device->ops->error_text (device->context), what);
  return FALSE;
}

static void
device_free (gpointer device)
{
  mhar_device_free (device);
}

GPtrArray *
mhar_devices_open (const char *spec, MharPrecisionWish precision, gboolean bf16_stored, GError **error)
{
  g_autoptr (GPtrArray) devices = g_ptr_array_new_with_free_func (device_free);
  g_autofree char *reason = NULL;
  int count = 1;

  if (strcmp (spec, "cuda:all") == 0) {
    count = mhar_device_count_cuda (&reason);
    if (count == 0) {
      g_set_error (error, MHAR_ERROR, MHAR_ERROR_RUN, "device cuda:all cannot be used: %s", reason);
      return NULL;
    }
  }
  for (int i = 0; i < count; i++) {
    g_autofree char *one = strcmp (spec, "cuda:all") == 0 ? g_strdup_printf ("cuda:%d", i) : g_strdup (spec);
    MharDevice *device = mhar_device_open (one, precision, bf16_stored, error);
    if (device == NULL)
      return NULL;
    g_ptr_array_add (devices, device);
  }
  return g_steal_pointer (&devices);
}
