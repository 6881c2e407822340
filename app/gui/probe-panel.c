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
  GtkDropDown *slices_drop, *slicing_drop, *null_drop, *norm_drop;
  GtkStringList *slices; /* the divisors that are offered */
  MharProbeOptions ran;
  gboolean has_ran;
};

G_DEFINE_FINAL_TYPE (MharProbePanel, mhar_probe_panel, GTK_TYPE_BOX)

static gboolean
same (const MharProbeOptions *a, const MharProbeOptions *b)
{
  return a->context == b->context && a->max_tokens == b->max_tokens && a->slices == b->slices
         && a->interleaved == b->interleaved && a->null_draws == b->null_draws && a->seed == b->seed
         && a->null_kind == b->null_kind && a->null_norm_slice == b->null_norm_slice;
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

/* `place` is what goes into the row, and holds `widget` or is it. */
static void
add_row (MharProbePanel *self, int row, const char *label, GtkWidget *widget, GtkWidget *place)
{
  GtkWidget *name = gtk_label_new_with_mnemonic (label);

  gtk_label_set_xalign (GTK_LABEL (name), 0);
  gtk_label_set_mnemonic_widget (GTK_LABEL (name), widget);
  gtk_accessible_update_relation (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_RELATION_LABELLED_BY, name, NULL, -1);
  gtk_widget_set_hexpand (place, TRUE);
  gtk_grid_attach (self->grid, name, 0, row, 1, 1);
  gtk_grid_attach (self->grid, place, 1, row, 1, 1);
}

static GtkSpinButton *
add_number (MharProbePanel *self, int row, int n)
{
  GtkWidget *spin = gtk_spin_button_new_with_range (numbers[n].low, numbers[n].high, numbers[n].step);

  gtk_spin_button_set_value (GTK_SPIN_BUTTON (spin), numbers[n].value);
  gtk_editable_set_width_chars (GTK_EDITABLE (spin), 6);
  gtk_spin_button_set_numeric (GTK_SPIN_BUTTON (spin), TRUE);
  g_signal_connect_swapped (spin, "value-changed", G_CALLBACK (show_changed), self);
  gtk_widget_set_tooltip_text (spin, _(numbers[n].hint));
  add_row (self, row, _(numbers[n].label), spin, spin);
  return GTK_SPIN_BUTTON (spin);
}

static GtkDropDown *
new_choice (MharProbePanel *self, const char *hint, GtkStringList *list)
{
  GtkWidget *drop = gtk_drop_down_new (G_LIST_MODEL (list), NULL);

  gtk_widget_set_tooltip_text (drop, hint);
  gtk_widget_add_css_class (drop, "tight");
  g_signal_connect_swapped (drop, "notify::selected", G_CALLBACK (show_changed), self);
  return GTK_DROP_DOWN (drop);
}

/* Two choices in one row; the second has a name for who hears it. */
static void
add_choices (MharProbePanel *self, int row, const char *label, GtkDropDown *first, GtkDropDown *second, const char *name)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);

  gtk_widget_set_hexpand (GTK_WIDGET (second), TRUE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (second), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (first));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (second));
  add_row (self, row, label, GTK_WIDGET (first), box);
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
add_drops (MharProbePanel *self)
{
  const char *slicings[] = { _("contiguous"), _("interleaved"), NULL };
  const char *kinds[] = { _("random"), _("shuffled"), _("swapped"), NULL }; /* as MharNullKind */
  const char *norms[] = { _("whole"), _("by slice"), NULL };

  self->slices = gtk_string_list_new ((const char *const[]){ "2", "4", NULL });
  self->slices_drop
      = new_choice (self, _("Parts that a query is cut into; of checkpoints with one head"), self->slices);
  self->slicing_drop = new_choice (self, _("Whether a slice is a block of coordinates or every S-th one"),
                                   gtk_string_list_new (slicings));
  self->null_drop
      = new_choice (self,
                    _("What the null’s queries are: random vectors, the trained query with its coordinates shuffled, "
                      "or other sites’ queries"),
                    gtk_string_list_new (kinds));
  self->norm_drop = new_choice (self, _("Whether null queries have the trained one’s norm as a whole or slice by slice"),
                                gtk_string_list_new (norms));
  gtk_drop_down_set_selected (self->slices_drop, 1);
}

static void
mhar_probe_panel_init (MharProbePanel *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  add_drops (self);
  self->spins[TOKENS] = add_number (self, 0, TOKENS);
  self->spins[WINDOW] = add_number (self, 1, WINDOW);
  add_choices (self, 2, _("_slices"), self->slices_drop, self->slicing_drop, _("slicing"));
  add_choices (self, 3, _("nu_ll"), self->null_drop, self->norm_drop, _("norm of the null’s queries"));
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
  options->null_kind = (MharNullKind) MIN (gtk_drop_down_get_selected (self->null_drop), MHAR_NULL_KINDS - 1);
  options->null_norm_slice = gtk_drop_down_get_selected (self->norm_drop) == 1;
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
  gtk_drop_down_set_selected (self->null_drop,
                              MIN ((guint) mhar_settings_get_integer (settings, "null", 0), MHAR_NULL_KINDS - 1));
  gtk_drop_down_set_selected (self->norm_drop, mhar_settings_get_integer (settings, "null-norm", 0) == 1);
}

void
mhar_probe_panel_save (MharProbePanel *self, MharSettings *settings)
{
  for (int n = 0; n < N_NUMBERS; n++)
    mhar_settings_set_real (settings, numbers[n].key, gtk_spin_button_get_value (self->spins[n]));
  mhar_settings_set_integer (settings, "slices", (int) chosen_slices (self));
  mhar_settings_set_integer (settings, "interleaved", gtk_drop_down_get_selected (self->slicing_drop) == 1);
  mhar_settings_set_integer (settings, "null", (int) gtk_drop_down_get_selected (self->null_drop));
  mhar_settings_set_integer (settings, "null-norm", gtk_drop_down_get_selected (self->norm_drop) == 1);
}
