/* SPDX-License-Identifier: MIT */
/* One error domain. Messages are one line: the file, the thing, the remedy; no full stop at the end. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define MHAR_ERROR (mhar_error_quark ())
GQuark mhar_error_quark (void);

typedef enum {
  MHAR_ERROR_RUN = 1,   /* the run failed: device, disk, memory (exit 1) */
  MHAR_ERROR_USAGE = 2, /* the request makes no sense (exit 2) */
  MHAR_ERROR_INPUT = 3, /* a file is missing, malformed or unsupported (exit 3) */
  MHAR_ERROR_MEMORY = 4 /* a device has not the memory; a smaller batch may do (exit 1) */
} MharErrorCode;

/* g_set_error in MHAR_ERROR_INPUT; returns FALSE, so that a check is `return mhar_bad_input (error, …)`. */
gboolean mhar_bad_input (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);
/* The same in MHAR_ERROR_USAGE. */
gboolean mhar_bad_usage (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

G_END_DECLS
