/* SPDX-License-Identifier: MIT */
/* The text that is run: typed, pasted, or from a file. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define MHAR_TYPE_PROMPT_PANEL (mhar_prompt_panel_get_type ())
G_DECLARE_FINAL_TYPE (MharPromptPanel, mhar_prompt_panel, MHAR, PROMPT_PANEL, GtkBox)

GtkWidget *mhar_prompt_panel_new (void);

/* Shows `text` (UTF-8) under its name. Of a long one the first part is shown, not to be edited, and all of it is run.
 */
void mhar_prompt_panel_set_text (MharPromptPanel *panel, GBytes *text, const char *name);
/* The text to run; g_bytes_unref. */
GBytes *mhar_prompt_panel_get_text (MharPromptPanel *panel);
/* "bundled text", a file's name, or "prompt" once it was edited. */
const char *mhar_prompt_panel_get_name (MharPromptPanel *panel);
/* A line under the text that was run: how many tokens it was, and what is shown of them. It goes with an edit. */
void mhar_prompt_panel_set_note (MharPromptPanel *panel, const char *note);
/* The results of the text are no longer shown. */
void mhar_prompt_panel_forget_run (MharPromptPanel *panel);
void mhar_prompt_panel_focus (MharPromptPanel *panel);

G_END_DECLS
