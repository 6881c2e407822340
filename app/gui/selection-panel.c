/* SPDX-License-Identifier: MIT */
/* Rows of a name and a value, and a sparkline over the site's sources. */
#include "app/gui/selection-panel.h"

#include "app/figure/sparkline.h"
#include "app/gui/dataset-look.h"
#include "app/gui/display.h"
#include "app/gui/verdict-words.h"

#include <glib/gi18n.h>
#include <math.h>

enum { ROW_SITE, ROW_HEAD, ROW_SOURCE, ROW_WEIGHT, ROW_DEVIATION, ROW_NULL, ROW_CONTRIBUTION, ROW_ENTROPY, N_ROWS };

static const char *const names[N_ROWS] = {
  N_("Site"),      N_("Head"),   N_("Source"),       N_("Weight"),
  N_("Deviation"), N_("Null ±"), N_("Contribution"), N_("Effective sources"),
};

struct _MharSelectionPanel {
  GtkWidget parent;
  MharSelection *selection;
  MharDataset *set;
  MharDisplay display;
  GtkWidget *box, *values[N_ROWS], *verdicts[2], *most_button, *most_label, *sparkline, *caption;
};

G_DEFINE_FINAL_TYPE (MharSelectionPanel, mhar_selection_panel, GTK_TYPE_WIDGET)

static double
look (MharSelectionPanel *self, const char *name)
{
  return mhar_look_cell (self->set, name, mhar_selection_get_site (self->selection),
                         mhar_selection_get_head (self->selection), mhar_selection_get_source (self->selection));
}

/* The number behind a row; NaN where there is none. */
static double
number (MharSelectionPanel *self, int row)
{
  int site = mhar_selection_get_site (self->selection), head = mhar_selection_get_head (self->selection);

  switch (row) {
  case ROW_WEIGHT:
    return look (self, "weight");
  case ROW_DEVIATION:
    return head >= 0 && mhar_look_n_heads (self->set, site) > 1 ? look (self, "deviation") : NAN;
  case ROW_NULL:
    return self->set != NULL && head >= 0 ? mhar_dataset_real (self->set, "null_max_deviation", NAN) : NAN;
  case ROW_CONTRIBUTION:
    return look (self, "contribution");
  case ROW_ENTROPY:
    return exp (mhar_look_head (self->set, "entropy", site, head));
  default:
    return NAN;
  }
}

/* "0.939 ± 0.041", between tokens. */
static char *
weight_text (MharSelectionPanel *self, double value)
{
  double spread = mhar_look_spread (self->set, mhar_selection_get_site (self->selection),
                                    mhar_selection_get_head (self->selection),
                                    mhar_selection_get_source (self->selection));
  g_autofree char *weight = mhar_display_number (value, 3, FALSE), *sd = mhar_display_number (spread, 3, FALSE);

  return isfinite (spread) ? g_strdup_printf ("%s ± %s", weight, sd) : g_steal_pointer (&weight);
}

/* A row in words; "–" where the selection or the run has nothing there. g_free. */
static char *
row_text (MharSelectionPanel *self, int row)
{
  int site = mhar_selection_get_site (self->selection), head = mhar_selection_get_head (self->selection);
  int source = mhar_selection_get_source (self->selection);
  double value = number (self, row);

  if (row == ROW_SITE && site >= 0)
    return g_strdup (mhar_look_site (self->set, site));
  if (row == ROW_HEAD && site >= 0)
    return head >= 0 ? g_strdup_printf (_("%d of %d"), head, mhar_look_n_heads (self->set, site))
                     : g_strdup (_("mean of all"));
  if (row == ROW_SOURCE && source >= 0)
    return g_strdup (mhar_look_source (self->set, site, source));
  if (!isfinite (value))
    return g_strdup ("–");
  if (row == ROW_WEIGHT)
    return weight_text (self, value);
  return mhar_display_number (value, row == ROW_ENTROPY ? 1 : 3, row == ROW_DEVIATION);
}

/* "→ disagreement 0.021 [0.020, 0.022]: below its null (p = 1)"; NULL where the site has none. */
static char *
disagreement_text (MharSelectionPanel *self)
{
  MharDisagreement d = mhar_look_disagreement (self->set, mhar_selection_get_site (self->selection));
  g_autofree char *value = mhar_interval_shown (d.trained, d.low, d.high, 3, FALSE);
  g_autofree char *verdict = isfinite (d.trained) ? mhar_verdict_sentence (self->set, d.p, d.trained - d.null) : NULL;

  if (!isfinite (d.trained))
    return NULL;
  return verdict != NULL ? g_strdup_printf (_("→ disagreement %s: %s"), value, verdict)
                         : g_strdup_printf (_("→ disagreement %s"), value);
}

/* "→ deviation: not distinguishable from its null (p = 0.42)", and the same of the site's disagreement. */
static void
refresh_verdicts (MharSelectionPanel *self)
{
  double deviation = number (self, ROW_DEVIATION);
  g_autofree char *one = isfinite (deviation) ? mhar_deviation_verdict (self->set, deviation) : NULL;
  g_autofree char *two = disagreement_text (self);
  g_autofree char *first = one != NULL ? g_strdup_printf (_("→ deviation: %s"), one) : g_strdup ("");

  gtk_label_set_label (GTK_LABEL (self->verdicts[0]), first);
  gtk_label_set_label (GTK_LABEL (self->verdicts[1]), two != NULL ? two : "");
  gtk_widget_set_visible (self->verdicts[0], one != NULL);
  gtk_widget_set_visible (self->verdicts[1], two != NULL);
}

/* Of the selected source; FALSE where nothing is selected, or nothing read. */
static gboolean
most_read (MharSelectionPanel *self, int *site, int *head, double *weight)
{
  int at = mhar_selection_get_site (self->selection), source = mhar_selection_get_source (self->selection);

  return self->set != NULL && at >= 0 && source >= 0
         && mhar_look_most_read (self->set, mhar_look_source (self->set, at, source), site, head, weight);
}

/* "embed is read most by L0.mlp, head 2: 93.9 %", which takes the selection there. */
static void
refresh_most (MharSelectionPanel *self)
{
  int site, head;
  double weight;
  gboolean any = most_read (self, &site, &head, &weight);

  gtk_widget_set_visible (self->most_button, any);
  if (!any)
    return;
  const char *source = mhar_look_source (self->set, mhar_selection_get_site (self->selection),
                                         mhar_selection_get_source (self->selection));
  g_autofree char *text
      = mhar_look_n_heads (self->set, site) > 1
            ? g_strdup_printf (_("%s is read most by %s, head %d: %.1f %%"), source, mhar_look_site (self->set, site), head, 100 * weight)
            : g_strdup_printf (_("%s is read most by %s: %.1f %%"), source, mhar_look_site (self->set, site), 100 * weight);
  gtk_label_set_label (GTK_LABEL (self->most_label), text);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->most_button), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
}

static void
on_most (MharSelectionPanel *self)
{
  int site, head;
  double weight;

  if (most_read (self, &site, &head, &weight))
    mhar_selection_set_cell (self->selection, site, head,
                             mhar_look_source_named (self->set, site,
                                                     mhar_look_source (self->set, mhar_selection_get_site (self->selection),
                                                                       mhar_selection_get_source (self->selection))));
}

static void
draw_sparkline (GtkDrawingArea *area G_GNUC_UNUSED, cairo_t *cr, int width, int height, gpointer data)
{
  MharSelectionPanel *self = data;
  int site = mhar_selection_get_site (self->selection);
  int heads = mhar_look_n_heads (self->set, site), sources = mhar_look_n_sources (self->set, site);
  g_autofree double *values = NULL;
  MharSparkline line;
  MharFigureRect rect = { 2, 5, width - 4, height - 8 };

  if (site < 0 || heads < 1 || sources < 1)
    return;
  values = g_new (double, (gsize)heads *(gsize)sources);
  for (int h = 0; h < heads; h++)
    for (int n = 0; n < sources; n++)
      values[h * sources + n] = mhar_look_cell (self->set, "weight", site, h, n);
  line = (MharSparkline){ values, (guint)heads, (guint)sources, mhar_selection_get_head (self->selection),
                          mhar_selection_get_source (self->selection) };
  mhar_sparkline_paint (&line, cr, &rect, mhar_palette_get (self->display.theme, self->display.style));
}

static void
refresh_caption (MharSelectionPanel *self)
{
  int site = mhar_selection_get_site (self->selection), sources = mhar_look_n_sources (self->set, site);
  g_autofree char *text = NULL;

  if (sources < 1) {
    text = g_strdup ("");
  } else {
    const char *first = mhar_look_source (self->set, site, 0), *last = mhar_look_source (self->set, site, sources - 1);

    text = sources > 1 ? g_strdup_printf (_("%s … %s, a line a head"), first, last) : g_strdup (first);
  }
  gtk_label_set_label (GTK_LABEL (self->caption), text);
  gtk_widget_set_tooltip_text (self->caption, text);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->sparkline), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
}

static void
refresh (MharSelectionPanel *self)
{
  for (int row = 0; row < N_ROWS; row++) {
    g_autofree char *text = row_text (self, row);

    gtk_label_set_label (GTK_LABEL (self->values[row]), text);
    gtk_widget_set_tooltip_text (self->values[row], text);
  }
  refresh_verdicts (self);
  refresh_most (self);
  refresh_caption (self);
  gtk_widget_queue_draw (self->sparkline);
}

static void
add_row (MharSelectionPanel *self, GtkGrid *grid, int row)
{
  GtkWidget *name = gtk_label_new (_(names[row])), *value = gtk_label_new ("–");

  gtk_label_set_xalign (GTK_LABEL (name), 0);
  gtk_widget_add_css_class (name, "dim-label");
  gtk_label_set_xalign (GTK_LABEL (value), 1);
  gtk_widget_set_hexpand (value, TRUE);
  gtk_label_set_ellipsize (GTK_LABEL (value), PANGO_ELLIPSIZE_END);
  gtk_label_set_width_chars (GTK_LABEL (value), 9);
  gtk_label_set_selectable (GTK_LABEL (value), FALSE);
  gtk_widget_add_css_class (value, "numeric");
  gtk_accessible_update_relation (GTK_ACCESSIBLE (value), GTK_ACCESSIBLE_RELATION_LABELLED_BY, name, NULL, -1);
  gtk_grid_attach (grid, name, 0, row, 1, 1);
  gtk_grid_attach (grid, value, 1, row, 1, 1);
  self->values[row] = value;
}

static void
dispose (GObject *object)
{
  MharSelectionPanel *self = MHAR_SELECTION_PANEL (object);

  g_clear_pointer (&self->box, gtk_widget_unparent);
  g_clear_pointer (&self->set, mhar_dataset_unref);
  g_clear_object (&self->selection);
  G_OBJECT_CLASS (mhar_selection_panel_parent_class)->dispose (object);
}

static void
mhar_selection_panel_class_init (MharSelectionPanelClass *class)
{
  G_OBJECT_CLASS (class)->dispose = dispose;
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (class), GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_css_name (GTK_WIDGET_CLASS (class), "selectionpanel");
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (class), GTK_ACCESSIBLE_ROLE_GROUP);
}

static GtkWidget *
new_verdict (void)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 32);
  return label;
}

static void
mhar_selection_panel_init (MharSelectionPanel *self)
{
  GtkWidget *grid = gtk_grid_new ();

  mhar_display_init (&self->display);
  self->box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  gtk_widget_set_parent (self->box, GTK_WIDGET (self));
  gtk_grid_set_row_spacing (GTK_GRID (grid), 3);
  gtk_grid_set_column_spacing (GTK_GRID (grid), 12);
  for (int row = 0; row < N_ROWS; row++)
    add_row (self, GTK_GRID (grid), row);
  for (guint i = 0; i < G_N_ELEMENTS (self->verdicts); i++)
    self->verdicts[i] = new_verdict ();
  self->most_label = new_verdict ();
  self->most_button = gtk_button_new ();
  gtk_button_set_child (GTK_BUTTON (self->most_button), self->most_label);
  gtk_button_set_has_frame (GTK_BUTTON (self->most_button), FALSE);
  gtk_widget_add_css_class (self->most_button, "answer");
  gtk_widget_set_tooltip_text (self->most_button, _("Go there"));
  g_signal_connect_object (self->most_button, "clicked", G_CALLBACK (on_most), self, G_CONNECT_SWAPPED);
  self->sparkline = gtk_drawing_area_new ();
  gtk_drawing_area_set_content_height (GTK_DRAWING_AREA (self->sparkline), 54);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (self->sparkline), draw_sparkline, self, NULL);
  self->caption = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (self->caption), 0);
  gtk_label_set_ellipsize (GTK_LABEL (self->caption), PANGO_ELLIPSIZE_MIDDLE);
  gtk_widget_add_css_class (self->caption, "dim-label");
  gtk_box_append (GTK_BOX (self->box), grid);
  for (guint i = 0; i < G_N_ELEMENTS (self->verdicts); i++)
    gtk_box_append (GTK_BOX (self->box), self->verdicts[i]);
  gtk_box_append (GTK_BOX (self->box), self->most_button);
  gtk_box_append (GTK_BOX (self->box), self->sparkline);
  gtk_box_append (GTK_BOX (self->box), self->caption);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Selection"), -1);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->sparkline), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _("Weights over the sources of the site"), -1);
}

GtkWidget *
mhar_selection_panel_new (MharSelection *selection)
{
  MharSelectionPanel *self = g_object_new (MHAR_TYPE_SELECTION_PANEL, NULL);

  self->selection = g_object_ref (selection);
  g_signal_connect_object (selection, "changed", G_CALLBACK (refresh), self, G_CONNECT_SWAPPED);
  refresh (self);
  return GTK_WIDGET (self);
}

void
mhar_selection_panel_set_dataset (MharSelectionPanel *self, MharDataset *set)
{
  MharDataset *old = self->set;

  self->set = set != NULL ? mhar_dataset_ref (set) : NULL;
  refresh (self);
  if (old != NULL)
    mhar_dataset_unref (old);
}

void
mhar_selection_panel_set_display (MharSelectionPanel *self, const MharDisplay *display)
{
  self->display = *display;
  gtk_widget_queue_draw (self->sparkline);
}
