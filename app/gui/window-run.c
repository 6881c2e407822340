/* SPDX-License-Identifier: MIT */
/* Running what is open, and what is seen of it meanwhile. */
#include "app/gui/window-private.h"

#include "app/gui/run-reads.h"
#include "core/device.h"

#include <glib/gi18n.h>
#include <gio/gio.h>

/* An empty bar asks for more height than another one (GTK 4.8), and the header would jump. */
#define BEGUN 0.01

/* What a worker's messages find their window by: the window may be gone. */
typedef struct {
  MharWindow *window;        /* weak */
  GApplication *application; /* held until the worker has ended, so that it ends tidily */
  GCancellable *cancellable;
} Running;

static void
running_free (Running *running)
{
  g_clear_weak_pointer (&running->window);
  g_application_release (running->application);
  g_object_unref (running->application);
  g_object_unref (running->cancellable);
  g_free (running);
}

void
mhar_window_forget_run (MharWindow *self)
{
  mhar_window_stop (self);
  g_clear_object (&self->running); /* what it still sends is not wanted */
  self->measuring = FALSE;
  g_clear_pointer (&self->result, mhar_run_result_unref);
  g_clear_pointer (&self->ran, mhar_run_request_free);
  g_clear_pointer (&self->set, mhar_dataset_unref);
  g_clear_pointer (&self->other_set, mhar_dataset_unref);
  g_clear_pointer (&self->measured, mhar_run_result_unref);
  g_clear_pointer (&self->measured_ran, mhar_run_request_free);
  g_clear_pointer (&self->measured_set, mhar_dataset_unref);
  mhar_probe_panel_set_ran (self->probe, NULL);
  mhar_prompt_panel_forget_run (self->prompt);
  gtk_stack_set_visible_child_name (self->run_stack, "run");
}

static void
show_progress (MharWindow *self, const MharRunProgress *progress)
{
  double share = progress->total > 0 ? (double) progress->done / (double) progress->total : 0;
  g_autofree char *text = g_strdup_printf (_("%.0f %% · %.0f tokens/s"), 100 * share, progress->rate);

  gtk_progress_bar_set_fraction (self->progress, MAX (share, BEGUN));
  gtk_label_set_label (self->progress_label, text);
}

/* Whether what a worker sends is still wanted. */
static gboolean
current (const Running *running)
{
  return running->window != NULL && running->window->running == running->cancellable;
}

static void
on_progress (const MharRunProgress *progress, gpointer data)
{
  Running *running = data;
  MharWindow *self = running->window;

  if (!current (running))
    return;
  show_progress (self, progress);
  if (progress->partial == NULL)
    return;
  MharDataset **shown = self->measuring ? &self->measured_set : progress->index == 0 ? &self->set : &self->other_set;
  g_clear_pointer (shown, mhar_dataset_unref);
  *shown = mhar_dataset_ref (progress->partial);
  mhar_window_refresh (self);
}

static void
show_note (MharWindow *self)
{
  guint all = self->result->tokens->len;
  const MharField *token = self->result->capture != NULL ? mhar_dataset_get (self->result->capture, "token") : NULL;
  int ran = (int) mhar_dataset_integer (self->set, "tokens", 0), captured = token != NULL ? (int) token->shape[0] : 0;
  g_autoptr (GString) note = g_string_new (NULL);

  if ((guint) ran < all)
    g_string_printf (note, _("%d of %u tokens run"), ran, all);
  else
    g_string_printf (note, _("%u tokens run"), all);
  if (captured < ran)
    g_string_append_printf (note, _("; the first %d are kept one by one"), captured);
  if (self->result->again)
    g_string_append (note, _(". Computed anew from the last run"));
  else
    g_string_append_printf (note, _(". %.1f s on %s"), self->result->seconds, self->result->device);
  mhar_prompt_panel_set_note (self->prompt, note->str);
}

/* Says how far a stopped run came. */
static void
show_stopped (MharWindow *self, const MharDataset *set, const char *action)
{
  const char *const *warnings = mhar_dataset_strings (set, "warnings");
  guint n = warnings != NULL ? g_strv_length ((char **) warnings) : 0;

  mhar_window_show_notice (self, GTK_MESSAGE_INFO, n > 0 ? warnings[n - 1] : _("stopped"), _("Run again"), action);
}

static void
take_result (MharWindow *self, MharRunResult *result, MharRunRequest *request)
{
  g_clear_pointer (&self->result, mhar_run_result_unref);
  g_clear_pointer (&self->ran, mhar_run_request_free);
  g_clear_pointer (&self->set, mhar_dataset_unref);
  self->result = result;
  self->ran = request;
  self->ran->options.batch = result->options.batch;
  self->set = mhar_dataset_ref (g_ptr_array_index (result->sets, 0));
  if (result->sets->len > 1) {
    g_clear_pointer (&self->other_set, mhar_dataset_unref);
    self->other_set = mhar_dataset_ref (g_ptr_array_index (result->sets, 1));
  }
  mhar_probe_panel_set_ran (self->probe, &request->options);
  show_note (self);
  if (result->stopped)
    show_stopped (self, self->set, "win.run");
}

/* The button that was pressed was away meanwhile; keys go to what it made, but for someone who types. */
static void
focus_map (MharWindow *self)
{
  GtkWidget *focus = gtk_window_get_focus (GTK_WINDOW (self));

  if (mhar_centre_get_page (self->centre) == MHAR_PAGE_ABLATION && (focus == NULL || !GTK_IS_TEXT_VIEW (focus)))
    mhar_centre_focus (self->centre);
}

static void
take_measured (MharWindow *self, MharRunResult *result, MharRunRequest *request)
{
  g_clear_pointer (&self->measured, mhar_run_result_unref);
  g_clear_pointer (&self->measured_ran, mhar_run_request_free);
  g_clear_pointer (&self->measured_set, mhar_dataset_unref);
  self->measured = result;
  self->measured_ran = request;
  self->measured_ran->options.batch = result->options.batch;
  self->measured_set = mhar_dataset_ref (g_ptr_array_index (result->sets, 0));
  if (result->stopped)
    show_stopped (self, self->measured_set, "win.measure");
  focus_map (self);
}

/* A measurement that came to nothing leaves the last one. */
static void
restore_measured (MharWindow *self)
{
  g_clear_pointer (&self->measured_set, mhar_dataset_unref);
  if (self->measured != NULL)
    self->measured_set = mhar_dataset_ref (g_ptr_array_index (self->measured->sets, 0));
}

static void
on_done (GObject *source G_GNUC_UNUSED, GAsyncResult *result, gpointer data)
{
  Running *running = data;
  MharWindow *self = running->window;
  g_autoptr (GError) error = NULL;
  MharRunResult *done = mhar_run_finish (result, &error);
  gboolean wanted = current (running);

  running_free (running);
  if (!wanted) {
    mhar_run_result_unref (done);
    return;
  }
  MharRunRequest *request = g_object_steal_data (G_OBJECT (self->running), "request");
  g_clear_object (&self->running);
  gtk_stack_set_visible_child_name (self->run_stack, "run");
  if (done != NULL && self->measuring)
    take_measured (self, done, request);
  else if (done != NULL)
    take_result (self, done, request);
  else
    mhar_run_request_free (request);
  if (done == NULL && self->measuring)
    restore_measured (self);
  self->measuring = FALSE;
  if (error != NULL && !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    mhar_window_show_notice (self, GTK_MESSAGE_ERROR, error->message, _("Edit the text"), "win.focus-text");
  mhar_window_refresh (self);
}

/* Whether two requests differ in nothing but what is asked of the probes. */
static gboolean
same_run (const MharRunRequest *a, const MharRunRequest *b)
{
  return a->opened == b->opened && a->other == b->other && g_bytes_equal (a->text, b->text)
         && g_str_equal (a->device, b->device);
}

/* A file by its whole path, so that the command that is copied is right in any folder. */
static char *
text_name (const MharWindow *self)
{
  const char *name = mhar_prompt_panel_get_name (self->prompt);

  if (self->text_path == NULL || g_str_equal (name, "prompt") || g_str_equal (name, "bundled text"))
    return g_strdup (name);
  g_autofree char *path = g_canonicalize_filename (self->text_path, NULL);
  return g_filename_display_name (path);
}

static MharRunRequest *
make_request (MharWindow *self)
{
  MharRunRequest *request = mhar_run_request_new ();
  guint device = gtk_drop_down_get_selected (self->device_drop);

  request->opened = mhar_opened_ref (self->opened);
  if (self->other != NULL && mhar_opened_checkpoint (self->other) != NULL)
    request->other = mhar_opened_ref (self->other);
  request->text = mhar_prompt_panel_get_text (self->prompt);
  request->text_name = text_name (self);
  request->device = g_strdup (device < self->devices->len ? g_ptr_array_index (self->devices, device) : "auto");
  mhar_probe_panel_read (self->probe, &request->options);
  mhar_run_ask_reads (&request->options, g_bytes_get_size (request->text));
  if (self->result != NULL && same_run (request, self->ran))
    request->previous = mhar_run_result_ref (self->result);
  return request;
}

static MharRunRequest *
copy_request (const MharRunRequest *from)
{
  MharRunRequest *to = mhar_run_request_new ();

  to->opened = mhar_opened_ref (from->opened);
  to->other = from->other != NULL ? mhar_opened_ref (from->other) : NULL;
  to->text = g_bytes_ref (from->text);
  to->text_name = g_strdup (from->text_name);
  to->device = g_strdup (from->device);
  to->options = from->options;
  return to;
}

static gboolean
can_run (const MharWindow *self)
{
  return self->running == NULL && self->opened != NULL && mhar_opened_checkpoint (self->opened) != NULL;
}

/* Takes the request. */
static void
start (MharWindow *self, MharRunRequest *request)
{
  Running *running = g_new0 (Running, 1);

  mhar_window_hide_notice (self);
  self->running = g_cancellable_new ();
  g_object_set_data_full (G_OBJECT (self->running), "request", copy_request (request),
                          (GDestroyNotify) mhar_run_request_free);
  g_set_weak_pointer (&running->window, self);
  running->application = g_object_ref (G_APPLICATION (gtk_window_get_application (GTK_WINDOW (self))));
  g_application_hold (running->application);
  running->cancellable = g_object_ref (self->running);
  gtk_progress_bar_set_fraction (self->progress, BEGUN);
  gtk_label_set_label (self->progress_label, _("starting"));
  gtk_stack_set_visible_child_name (self->run_stack, "stop");
  mhar_window_refresh (self);
  mhar_run_async (request, self->running, on_progress, on_done, running);
}

void
mhar_window_run (MharWindow *self)
{
  if (can_run (self))
    start (self, make_request (self));
}

void
mhar_window_measure (MharWindow *self)
{
  gint64 most = mhar_centre_get_ablation_tokens (self->centre);

  if (!can_run (self) || mhar_opened_plan (self->opened)->sites->len == 0)
    return;
  MharRunRequest *request = make_request (self);
  g_clear_pointer (&request->previous, mhar_run_result_unref);
  g_clear_pointer (&request->other, mhar_opened_unref);
  request->options.probes = MHAR_PROBE_INTERVENTIONS;
  request->options.reads = NULL;
  request->options.ablation_map = TRUE;
  request->options.max_tokens = request->options.max_tokens > 0 ? MIN (request->options.max_tokens, most) : most;
  self->measuring = TRUE;
  /* Else the focus would go from the button, which is not to be pressed meanwhile, into the number beside it. */
  if (gtk_window_get_focus (GTK_WINDOW (self)) == NULL || !GTK_IS_TEXT_VIEW (gtk_window_get_focus (GTK_WINDOW (self))))
    gtk_window_set_focus (GTK_WINDOW (self), NULL);
  mhar_centre_set_page (self->centre, MHAR_PAGE_ABLATION);
  start (self, request);
}

void
mhar_window_stop (MharWindow *self)
{
  if (self->running == NULL)
    return;
  g_cancellable_cancel (self->running);
  if (gtk_widget_get_root (GTK_WIDGET (self)) != NULL && self->progress != NULL)
    gtk_label_set_label (self->progress_label, _("stopping"));
}

static void
count_in_thread (GTask *task, gpointer source G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED,
                 GCancellable *cancellable G_GNUC_UNUSED)
{
  g_autofree char *reason = NULL;
  g_task_return_int (task, mhar_device_count_cuda (&reason));
}

static void
on_counted (GObject *source G_GNUC_UNUSED, GAsyncResult *result, gpointer data)
{
  GWeakRef *ref = data;
  g_autoptr (MharWindow) self = g_weak_ref_get (ref);
  int n = (int) g_task_propagate_int (G_TASK (result), NULL);

  g_weak_ref_clear (ref);
  g_free (ref);
  if (self == NULL || self->device_drop == NULL)
    return;
  GtkStringList *list = GTK_STRING_LIST (gtk_drop_down_get_model (self->device_drop));
  for (int i = 0; i < n; i++) {
    g_autofree char *label = g_strdup_printf (_("GPU %d"), i);
    g_ptr_array_add (self->devices, g_strdup_printf ("cuda:%d", i));
    gtk_string_list_append (list, label);
  }
  if (n > 1) {
    g_ptr_array_add (self->devices, g_strdup ("cuda:all"));
    gtk_string_list_append (list, _("All GPUs"));
  }
}

/* Automatic and CPU at once; the GPUs when the plug-in has counted them. */
void
mhar_window_find_devices (MharWindow *self)
{
  GtkStringList *list = gtk_string_list_new ((const char *const[]){ _("Automatic"), _("CPU"), NULL });
  GWeakRef *ref = g_new0 (GWeakRef, 1);

  g_ptr_array_add (self->devices, g_strdup ("auto"));
  g_ptr_array_add (self->devices, g_strdup ("cpu"));
  gtk_drop_down_set_model (self->device_drop, G_LIST_MODEL (list));
  g_object_unref (list);
  g_weak_ref_init (ref, self);
  g_autoptr (GTask) task = g_task_new (NULL, NULL, on_counted, ref);
  g_task_run_in_thread (task, count_in_thread);
}
