/* SPDX-License-Identifier: MIT */
/* The files of a report: written beside their names, and renamed only when all of them are whole. */
#include "app/cli/report.h"
#include "core/error.h"
#include "core/file-guard.h"
#include "core/output-target.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define FILES 2

static const char *const names[] = { "report.html", "report.pdf", "report.h5" };

struct _MharReportFiles {
  char *targets[FILES], *temporaries[FILES]; /* a temporary is NULL once it has its name */
  int fds[FILES];                            /* each keeps its temporary locked */
};

char *
mhar_report_file (const char *folder, guint i)
{
  return i < G_N_ELEMENTS (names) ? g_build_filename (folder, names[i], NULL) : NULL;
}

void
mhar_report_files_free (MharReportFiles *files)
{
  if (files == NULL)
    return;
  for (guint i = 0; i < FILES; i++) {
    if (files->temporaries[i] != NULL) {
      g_unlink (files->temporaries[i]);
      mhar_guard_forget (files->temporaries[i]);
      close (files->fds[i]);
    }
    g_free (files->temporaries[i]);
    g_free (files->targets[i]);
  }
  g_free (files);
}

/* What errno says, with what helps. */
static gboolean
writing_failed (const char *path, GError **error)
{
  int code = errno;
  g_autofree char *why = g_strconcat (g_strerror (code), mhar_write_remedy (code), NULL);

  return mhar_cannot_write (path, error, why);
}

static gboolean
making_failed (const char *folder, GError **error)
{
  if (errno != ENOENT)
    return writing_failed (folder, error);
  g_autofree char *above = g_path_get_dirname (folder), *shown = g_filename_display_name (above);
  g_autofree char *why = g_strdup_printf ("there is no folder %s; make it first", shown);
  return mhar_cannot_write (folder, error, why);
}

gboolean
mhar_report_folder (const char *folder, gboolean *made, GError **error)
{
  *made = g_mkdir (folder, 0777) == 0;
  if (*made)
    mhar_guard_temp (folder);
  else if (errno != EEXIST)
    return making_failed (folder, error);
  if (!g_file_test (folder, G_FILE_TEST_IS_DIR))
    return mhar_cannot_write (folder, error, "it is not a folder; give --report the name of one");
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree char *path = mhar_report_file (folder, i);
    if (!mhar_output_check (path, error))
      return FALSE;
  }
  return TRUE;
}

void
mhar_report_folder_done (const char *folder)
{
  mhar_guard_forget (folder);
  g_rmdir (folder);
}

static gboolean
stage (MharReportFiles *files, guint i, const char *folder, const GByteArray *bytes, GError **error)
{
  g_autofree char *path = mhar_report_file (folder, i);
  guint mode = 0;

  files->targets[i] = mhar_output_target (path, &mode, error);
  if (files->targets[i] == NULL)
    return FALSE;
  files->fds[i] = mhar_output_temporary (path, files->targets[i], mode, &files->temporaries[i], error);
  if (files->fds[i] < 0)
    return FALSE;
  return mhar_output_fill (files->fds[i], bytes->data, bytes->len) || writing_failed (path, error);
}

MharReportFiles *
mhar_report_stage (const MharDataset *root, const char *file, const char *folder, GError **error)
{
  g_autoptr (MharDocument) document = mhar_report_document (root, file);
  g_autoptr (GByteArray) html = mhar_document_html (document, error);
  g_autoptr (GByteArray) pdf = html != NULL ? mhar_document_pdf (document, error) : NULL;
  g_autoptr (MharReportFiles) files = g_new0 (MharReportFiles, 1);

  if (pdf == NULL || !stage (files, 0, folder, html, error) || !stage (files, 1, folder, pdf, error))
    return NULL;
  return g_steal_pointer (&files);
}

gboolean
mhar_report_publish (MharReportFiles *files, GError **error)
{
  for (guint i = 0; i < FILES; i++) {
    if (g_rename (files->temporaries[i], files->targets[i]) != 0)
      return writing_failed (files->targets[i], error);
    mhar_guard_forget (files->temporaries[i]);
    g_clear_pointer (&files->temporaries[i], g_free);
    close (files->fds[i]);
  }
  (void)!mhar_output_sync_folder (files->targets[0]);
  return TRUE;
}
