/* SPDX-License-Identifier: MIT */
/* The processor as a device: one of it, float32 only, with a little memory of its own for the ops. */
#include "kernels/cpu/cpu-private.h"

#include <cblas.h>
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
mhar_cpu_device_count (int *count, char *err, size_t n)
{
  if (n > 0)
    err[0] = '\0';
  *count = 1;
  return MHAR_OK;
}

int
mhar_cpu_context_new (MharContext **out, int device, MharPrecision precision, char *err, size_t n)
{
  *out = NULL;
  if (device != 0) {
    snprintf (err, n, "there is one CPU device, number 0, not %d", device);
    return MHAR_NO_DEVICE;
  }
  if (precision != MHAR_PRECISION_F32) {
    snprintf (err, n, "the CPU computes in fp32 only; bf16 needs a CUDA device");
    return MHAR_UNSUPPORTED;
  }
  *out = calloc (1, sizeof **out);
  if (*out == NULL) {
    snprintf (err, n, "out of memory");
    return MHAR_NO_MEMORY;
  }
  return MHAR_OK;
}

void
mhar_cpu_context_free (MharContext *c)
{
  if (c == NULL)
    return;
  free (c->widened);
  free (c->gain[0]);
  free (c->gain[1]);
  free (c->scratch);
  free (c);
}

/* The first "model name" of /proc/cpuinfo; where there is none, the name of the architecture family. */
static void
processor_name (char *to, size_t n)
{
  snprintf (to, n, "CPU");
  FILE *file = fopen ("/proc/cpuinfo", "re");
  if (file == NULL)
    return;
  char line[256];
  while (fgets (line, sizeof line, file) != NULL) {
    char *colon = strchr (line, ':');
    if (strncmp (line, "model name", 10) != 0 || colon == NULL)
      continue;
    char *name = colon + 1 + strspn (colon + 1, " \t");
    name[strcspn (name, "\n")] = '\0';
    if (name[0] != '\0')
      snprintf (to, n, "%.100s", name);
    break;
  }
  fclose (file);
}

int
mhar_cpu_describe (MharContext *c, MharDeviceInfo *info)
{
  (void) c;
  memset (info, 0, sizeof *info);
  processor_name (info->name, sizeof info->name);
  const char *config = openblas_get_config (); /* "OpenBLAS 0.3.21 NO_LAPACKE …" */
  size_t length = strcspn (config, " ");
  if (config[length] == ' ')
    length += 1 + strcspn (config + length + 1, " ");
  if (length > 60)
    length = 60;
  int threads = mhar_cpu_threads ();
  snprintf (info->runtime, sizeof info->runtime, "%.*s, %d thread%s", (int) length, config, threads,
            threads == 1 ? "" : "s");
  return MHAR_OK;
}

int
mhar_cpu_synchronize (MharContext *c)
{
  (void) c; /* every op has finished when it returns */
  return MHAR_OK;
}

const char *
mhar_cpu_error_text (MharContext *c)
{
  return c->error;
}

int
mhar_cpu_fail (MharContext *c, int status, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  vsnprintf (c->error, sizeof c->error, format, args);
  va_end (args);
  return status;
}

int
mhar_cpu_threads (void)
{
  return omp_get_max_threads ();
}
