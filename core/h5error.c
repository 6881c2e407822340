/* SPDX-License-Identifier: MIT */
/* HDF5's error stack as one sentence. */
#include "core/h5-private.h"
#include "core/output-target.h"

#include <errno.h>

void
mhar_h5_id_release (hid_t id)
{
  if (id < 0)
    return;
  /* Every call clears the error stack, this one too, and what failed before is still to be told. */
  hid_t errors = H5Eget_num (H5E_DEFAULT) > 0 ? H5Eget_current_stack () : H5I_INVALID_HID;
  H5Idec_ref (id);
  if (errors >= 0)
    H5Eset_current_stack (errors);
}

void
mhar_h5_enter (void)
{
  H5dont_atexit ();
  H5Eset_auto2 (H5E_DEFAULT, NULL, NULL);
}

static herr_t
take_deepest (unsigned n, const H5E_error2_t *frame, void *data)
{
  char **reason = data;
  if (n == 0 && frame->desc != NULL)
    *reason = g_strdup (frame->desc);
  return 0;
}

char *
mhar_h5_reason (void)
{
  char *reason = NULL;
  H5Ewalk2 (H5E_DEFAULT, H5E_WALK_UPWARD, take_deepest, &reason);
  return reason != NULL ? reason : g_strdup ("HDF5 gives no reason");
}

gboolean
mhar_h5_write_failed (MharH5Writer *writer, GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *thing = g_strdup_vprintf (format, args);
  va_end (args);
  int code = mhar_h5_disk_errno (writer->disk);
  g_autofree char *reason = code != 0 ? g_strdup (g_strerror (code)) : mhar_h5_reason ();
  g_set_error (error, MHAR_ERROR, MHAR_ERROR_RUN, "cannot write %s: %s: %s%s", writer->shown, thing, reason,
               mhar_write_remedy (code));
  writer->failed = TRUE;
  return FALSE;
}

gboolean
mhar_h5_write_refused (MharH5Writer *writer, GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, MHAR_ERROR, MHAR_ERROR_RUN, "cannot write %s: %s", writer->shown, text);
  writer->failed = TRUE;
  return FALSE;
}
