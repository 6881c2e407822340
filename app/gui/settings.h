/* SPDX-License-Identifier: MIT */
/* What the viewer remembers: $XDG_CONFIG_HOME/mhar-probe/settings.ini, a key file. A file that is absent, malformed or
 * not writable costs nothing but the memory. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _MharSettings MharSettings;

MharSettings *mhar_settings_load (void);
void mhar_settings_free (MharSettings *settings);
/* Writes the file where something changed since. */
void mhar_settings_save (MharSettings *settings);

int mhar_settings_get_integer (const MharSettings *settings, const char *key, int otherwise);
void mhar_settings_set_integer (MharSettings *settings, const char *key, int value);
double mhar_settings_get_real (const MharSettings *settings, const char *key, double otherwise);
void mhar_settings_set_real (MharSettings *settings, const char *key, double value);
/* NULL where absent; g_free. */
char *mhar_settings_get_string (const MharSettings *settings, const char *key);
void mhar_settings_set_string (MharSettings *settings, const char *key, const char *value);

#define MHAR_RECENT_MAX 8

/* Folders and files opened, the latest first, as URIs: a NULL-ended list; g_strfreev. */
char **mhar_settings_get_recent (const MharSettings *settings);
/* Puts the file first. */
void mhar_settings_add_recent (MharSettings *settings, GFile *file);
void mhar_settings_clear_recent (MharSettings *settings);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharSettings, mhar_settings_free)

G_END_DECLS
