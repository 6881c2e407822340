/* SPDX-License-Identifier: MIT */
#include "app/gui/probe-panel.h"

#include <glib/gi18n.h>

#define MAX_SLICES 64

enum { TOKENS, WINDOW, DRAWS, SEED, N_NUMBERS };

static const struct {
  const char *key, *label, *hint;
  double low, high, step, value;
} numbers[N_NUMBERS] = {
  { "tokens", N_("_tokens"), N_("Tokens of the text that are run, at most; 0: all of them"), 0, 1e9, 256, 4096 },
  { "window", N_("_window"), N_("Tokens the model sees at once"), 2, 1e6, 64, 256 },
  { "draws", N_("_draws"), N_("Random queries that make the null; 0: no null"), 0, 4096, 8, 32 },
  { "seed", N_("se_ed"), N_("Of the random queries: the same seed gives the same null"), 0, 4294967295.0, 1, 0 },
};

struct _MharProbePanel {
  GtkBox parent;
  GtkGrid *grid;
  GtkWidget *changed_label, *again_button;
  GtkSpinButton *spins[N_NUMBERS];
  GtkDropDown *slices_drop, *slicing_drop;
  GtkStringList *slices; /* the divisors that are offered */
  MharProbeOptions ran;
  gboolean has_ran;
};

G_DEFINE_FINAL_TYPE (MharProbePanel, mhar_probe_panel, GTK_TYPE_BOX)

static gboolean
same (const MharProbeOptions *a, const MharProbeOptions *b)
{
  return a->context == b->context && a->max_tokens == b->max_tokens && a->slices == b->slices
         && a->interleaved == b->interleaved && a->null_draws == b->null_draws && a->seed == b->seed;
}

static void
show_changed (MharProbePanel *self)
{
  MharProbeOptions now = self->ran;

  if (self->has_ran)
    mhar_probe_panel_read (self, &now);
  gboolean changed = self->has_ran && !same (&now, &self->ran);
  gtk_widget_set_visible (self->changed_label, changed);
  gtk_widget_set_visible (self->again_button, changed);
}

static void
add_row (MharProbePanel *self, int row, const char *label, const char *hint, GtkWidget *widget)
{
  GtkWidget *name = gtk_label_new_with_mnemonic (label);

  gtk_label_set_xalign (GTK_LABEL (name), 0);
  gtk_label_set_mnemonic_widget (GTK_LABEL (name), widget);
  gtk_widget_set_tooltip_text (widget, hint);
  gtk_accessible_update_relation (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_RELATION_LABELLED_BY, name, NULL, -1);
  gtk_widget_set_hexpand (widget, TRUE);
  gtk_grid_attach (self->grid, name, 0, row, 1, 1);
  gtk_grid_attach (self->grid, widget, 1, row, 1, 1);
}

static GtkSpinButton *
add_number (MharProbePanel *self, int row, int n)
{
  GtkWidget *spin = gtk_spin_button_new_with_range (numbers[n].low, numbers[n].high, numbers[n].step);

  gtk_spin_button_set_value (GTK_SPIN_BUTTON (spin), numbers[n].value);
  gtk_editable_set_width_chars (GTK_EDITABLE (spin), 6);
  gtk_spin_button_set_numeric (GTK_SPIN_BUTTON (spin), TRUE);
  g_signal_connect_swapped (spin, "value-changed", G_CALLBACK (show_changed), self);
  add_row (self, row, _(numbers[n].label), _(numbers[n].hint), spin);
  return GTK_SPIN_BUTTON (spin);
}

static GtkDropDown *
add_choice (MharProbePanel *self, int row, const char *label, const char *hint, GtkStringList *list)
{
  GtkWidget *drop = gtk_drop_down_new (G_LIST_MODEL (list), NULL);

  g_signal_connect_swapped (drop, "notify::selected", G_CALLBACK (show_changed), self);
  add_row (self, row, label, hint, drop);
  return GTK_DROP_DOWN (drop);
}

static void
dispose (GObject *object)
{
  gtk_widget_dispose_template (GTK_WIDGET (object), MHAR_TYPE_PROBE_PANEL);
  G_OBJECT_CLASS (mhar_probe_panel_parent_class)->dispose (object);
}

static void
mhar_probe_panel_class_init (MharProbePanelClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = dispose;
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/mhar_probe/Viewer/ui/probe-panel.ui");
  gtk_widget_class_bind_template_child (widget_class, MharProbePanel, grid);
  gtk_widget_class_bind_template_child (widget_class, MharProbePanel, changed_label);
  gtk_widget_class_bind_template_child (widget_class, MharProbePanel, again_button);
}

static void
mhar_probe_panel_init (MharProbePanel *self)
{
  const char *slicings[] = { _("contiguous"), _("interleaved"), NULL };

  gtk_widget_init_template (GTK_WIDGET (self));
  self->spins[TOKENS] = add_number (self, 0, TOKENS);
  self->spins[WINDOW] = add_number (self, 1, WINDOW);
  self->slices = gtk_string_list_new ((const char *const[]){ "2", "4", NULL });
  self->slices_drop = add_choice (self, 2, _("_slices"),
                                  _("Parts that a query is cut into; of checkpoints with one head"), self->slices);
  gtk_drop_down_set_selected (self->slices_drop, 1);
  self->slicing_drop
      = add_choice (self, 3, _("s_licing"), _("Whether a slice is a block of coordinates or every S-th one"),
                    gtk_string_list_new (slicings));
  self->spins[DRAWS] = add_number (self, 4, DRAWS);
  self->spins[SEED] = add_number (self, 5, SEED);
}

GtkWidget *
mhar_probe_panel_new (void)
{
  return g_object_new (MHAR_TYPE_PROBE_PANEL, NULL);
}

static guint
chosen_slices (const MharProbePanel *self)
{
  const char *text = gtk_string_list_get_string (self->slices, gtk_drop_down_get_selected (self->slices_drop));
  return text != NULL ? (guint) g_ascii_strtoull (text, NULL, 10) : 4;
}

void
mhar_probe_panel_read (MharProbePanel *self, MharProbeOptions *options)
{
  options->max_tokens = (gint64) gtk_spin_button_get_value (self->spins[TOKENS]);
  options->context = (guint) gtk_spin_button_get_value (self->spins[WINDOW]);
  options->null_draws = (guint) gtk_spin_button_get_value (self->spins[DRAWS]);
  options->seed = (guint64) gtk_spin_button_get_value (self->spins[SEED]);
  options->slices = chosen_slices (self);
  options->interleaved = gtk_drop_down_get_selected (self->slicing_drop) == 1;
}

static void
select_slices (MharProbePanel *self, guint wanted)
{
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (self->slices)); i++)
    if (g_ascii_strtoull (gtk_string_list_get_string (self->slices, i), NULL, 10) == wanted)
      gtk_drop_down_set_selected (self->slices_drop, i);
}

void
mhar_probe_panel_set_width (MharProbePanel *self, int width)
{
  guint wanted = chosen_slices (self);
  guint old = g_list_model_get_n_items (G_LIST_MODEL (self->slices));

  for (int n = 2; n <= MAX_SLICES; n++)
    if (width % n == 0) {
      g_autofree char *text = g_strdup_printf ("%d", n);
      gtk_string_list_append (self->slices, text);
    }
  if (g_list_model_get_n_items (G_LIST_MODEL (self->slices)) > old)
    gtk_string_list_splice (self->slices, 0, old, NULL);
  select_slices (self, wanted);
}

void
mhar_probe_panel_set_ran (MharProbePanel *self, const MharProbeOptions *options)
{
  self->has_ran = options != NULL;
  if (options != NULL)
    self->ran = *options;
  show_changed (self);
}

void
mhar_probe_panel_load (MharProbePanel *self, const MharSettings *settings)
{
  for (int n = 0; n < N_NUMBERS; n++)
    gtk_spin_button_set_value (self->spins[n], mhar_settings_get_real (settings, numbers[n].key, numbers[n].value));
  select_slices (self, (guint) mhar_settings_get_integer (settings, "slices", 4));
  gtk_drop_down_set_selected (self->slicing_drop, mhar_settings_get_integer (settings, "interleaved", 0) == 1);
}

void
mhar_probe_panel_save (MharProbePanel *self, MharSettings *settings)
{
  for (int n = 0; n < N_NUMBERS; n++)
    mhar_settings_set_real (settings, numbers[n].key, gtk_spin_button_get_value (self->spins[n]));
  mhar_settings_set_integer (settings, "slices", (int) chosen_slices (self));
  mhar_settings_set_integer (settings, "interleaved", gtk_drop_down_get_selected (self->slicing_drop) == 1);
}
