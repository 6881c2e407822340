/* SPDX-License-Identifier: MIT */
/* mhar-viewer: the window. */
#include "app/gui/application.h"

#include "build-config.h"
#include "core/file-guard.h"
#include "core/provenance.h"

#include <glib/gi18n.h>
#include <locale.h>

/* −1: go on. */
static int
on_options (GApplication *application G_GNUC_UNUSED, GVariantDict *options G_GNUC_UNUSED, gboolean *version)
{
  if (!*version)
    return -1;
  g_print ("%s\n", mhar_version ());
  return 0;
}

int
main (int argc, char **argv)
{
  gboolean version = FALSE;
  const char *locales = g_getenv ("MHAR_LOCALE_DIR"); /* of a program that is not installed */
  const GOptionEntry entries[]
      = { { "version", 0, 0, G_OPTION_ARG_NONE, &version, N_("Print the version"), NULL }, { NULL } };

  mhar_guard_install ("mhar-viewer");
  setlocale (LC_ALL, "");
  bindtextdomain (GETTEXT_PACKAGE, locales != NULL ? locales : MHAR_LOCALEDIR);
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
  textdomain (GETTEXT_PACKAGE);
  g_set_prgname (MHAR_APPLICATION_ID);
  g_set_application_name (_("Depth routing viewer"));

  g_autoptr (MharApplication) application = mhar_application_new ();
  g_application_add_main_option_entries (G_APPLICATION (application), entries);
  g_application_set_option_context_parameter_string (G_APPLICATION (application),
                                                     _("[CHECKPOINT FOLDER or SAVED RUN]…"));
  g_signal_connect (application, "handle-local-options", G_CALLBACK (on_options), &version);
  int status = g_application_run (G_APPLICATION (application), argc, argv);
  mhar_guard_done ();
  return status;
}
