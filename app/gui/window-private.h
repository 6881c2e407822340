/* SPDX-License-Identifier: MIT */
/* What the files of the window share. */
#pragma once

#include "app/gui/centre.h"
#include "app/gui/checkpoint-panel.h"
#include "app/gui/columns.h"
#include "app/gui/opened.h"
#include "app/gui/probe-panel.h"
#include "app/gui/prompt-panel.h"
#include "app/gui/run-job.h"
#include "app/gui/selection-panel.h"
#include "app/gui/selection.h"
#include "app/gui/sites-view.h"
#include "app/gui/start-page.h"
#include "app/gui/window.h"

G_BEGIN_DECLS

struct _MharWindow {
  GtkApplicationWindow parent;

  /* of window.ui */
  GtkMenuButton *open_button, *export_button, *menu_button;
  GtkLabel *title_label, *subtitle_label, *notice_label, *sentence, *progress_label;
  GtkWidget *run_box, *start_slot, *work_slot;
  GtkDropDown *device_drop;
  GtkStack *run_stack, *root_stack;
  GtkProgressBar *progress;
  GtkInfoBar *notice;
  GtkButton *notice_button;

  /* made in C */
  MharStartPage *start;
  MharColumns *columns;
  MharCheckpointPanel *checkpoint_panel;
  MharSitesView *sites;
  MharPromptPanel *prompt;
  MharCentre *centre;
  MharProbePanel *probe;
  GtkDropDown *result_drop; /* which checkpoint of a saved run; hidden where it has one */
  GtkStringList *result_names;
  MharSelectionPanel *selection_panel;

  MharSelection *selection;
  GtkFileChooserNative *chooser; /* the one that is open */

  /* what is open: `opened` alone, or with `other` to compare with */
  MharOpened *opened, *other;
  GCancellable *opening;
  MharRunResult *result;      /* of the last run; NULL: none yet, or what is open is a saved run */
  MharDataset *set, *other_set; /* shown */
  MharRunResult *measured;      /* the last ablation map's run; NULL: none */
  MharDataset *measured_set;    /* shown; of a saved run what it holds */
  gboolean measuring;           /* what runs is for an ablation map */
  GCancellable *running;      /* NULL: nothing runs */
  MharRunRequest *ran;        /* what `result` answers; its text, options and device */
  MharRunRequest *measured_ran; /* likewise of `measured` */
  char *text_path;            /* of the file that the text was read from; NULL: none */
  GPtrArray *devices;         /* specs (char *) behind device_drop */
};

/* window.c */
void mhar_window_show_notice (MharWindow *self, GtkMessageType type, const char *text, const char *button, const char *action);
void mhar_window_hide_notice (MharWindow *self);
/* Everything follows what is open and shown. */
void mhar_window_refresh (MharWindow *self);
void mhar_window_refresh_sentence (MharWindow *self);
void mhar_window_show_start (MharWindow *self);
MharSettings *mhar_window_settings (MharWindow *self);

/* window-columns.c */
void mhar_window_build_columns (MharWindow *self);

/* window-keys.c */
void mhar_window_add_keys (MharWindow *self);

/* window-actions.c */
void mhar_window_add_actions (MharWindow *self);
void mhar_window_update_actions (MharWindow *self);

/* window-open.c */
void mhar_window_choose_folder (MharWindow *self, gboolean other);
void mhar_window_choose_file (MharWindow *self, gboolean other);
void mhar_window_choose_text (MharWindow *self);
void mhar_window_load_bundled_text (MharWindow *self);
/* Takes a file as the text to run. FALSE, and a sentence in the window, where it is none. */
gboolean mhar_window_load_text (MharWindow *self, const char *path);
void mhar_window_open_uri (MharWindow *self, const char *uri);
void mhar_window_open_other (MharWindow *self, GFile *file);
void mhar_window_close_other (MharWindow *self);
void mhar_window_update_open_menu (MharWindow *self);
/* Shows checkpoint `index` of the saved run. */
void mhar_window_show_saved (MharWindow *self, guint index);

/* window-drop.c */
void mhar_window_add_drop (MharWindow *self);

/* window-run.c */
void mhar_window_run (MharWindow *self);
/* The ablation map of what is open, as a run of its own. */
void mhar_window_measure (MharWindow *self);
void mhar_window_stop (MharWindow *self);
void mhar_window_forget_run (MharWindow *self);
void mhar_window_find_devices (MharWindow *self);

/* window-export.c */
void mhar_window_export_picture (MharWindow *self);
void mhar_window_export_numbers (MharWindow *self);
void mhar_window_export_run (MharWindow *self);
void mhar_window_copy_picture (MharWindow *self);
void mhar_window_copy_value (MharWindow *self);
void mhar_window_copy_command (MharWindow *self);

G_END_DECLS
