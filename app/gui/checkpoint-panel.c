/* SPDX-License-Identifier: MIT */
#include "app/gui/checkpoint-panel.h"

#include "app/gui/dataset-look.h"
#include "app/gui/verdict-words.h"

#include <glib/gi18n.h>
#include <math.h>

struct _MharCheckpointPanel {
  GtkBox parent;
  GtkLabel *summary;
  GtkWidget *warnings; /* an expander with a label of them, hidden where there is none */
  GtkLabel *warning_text;
};

G_DEFINE_FINAL_TYPE (MharCheckpointPanel, mhar_checkpoint_panel, GTK_TYPE_BOX)

static void
mhar_checkpoint_panel_class_init (MharCheckpointPanelClass *class G_GNUC_UNUSED)
{
}

static GtkLabel *
add_text (GtkWidget *box)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  if (box != NULL)
    gtk_box_append (GTK_BOX (box), label);
  return GTK_LABEL (label);
}

static void
mhar_checkpoint_panel_init (MharCheckpointPanel *self)
{
  GtkWidget *heading = gtk_label_new (_("Checkpoint"));

  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 6);
  gtk_label_set_xalign (GTK_LABEL (heading), 0);
  gtk_widget_add_css_class (heading, "heading");
  gtk_box_append (GTK_BOX (self), heading);
  self->summary = add_text (GTK_WIDGET (self));
  self->warnings = gtk_expander_new (NULL);
  self->warning_text = add_text (NULL);
  gtk_widget_add_css_class (GTK_WIDGET (self->warning_text), "warning-text");
  gtk_expander_set_child (GTK_EXPANDER (self->warnings), GTK_WIDGET (self->warning_text));
  gtk_widget_add_css_class (self->warnings, "warnings");
  gtk_box_append (GTK_BOX (self), self->warnings);
}

GtkWidget *
mhar_checkpoint_panel_new (void)
{
  return g_object_new (MHAR_TYPE_CHECKPOINT_PANEL, NULL);
}

static void
append_sites (GString *text, const MharPlan *plan)
{
  int least = G_MAXINT, most = 0;

  for (guint s = 0; s < plan->sites->len; s++) {
    least = MIN (least, mhar_plan_site (plan, s)->n_sources);
    most = MAX (most, mhar_plan_site (plan, s)->n_sources);
  }
  if (plan->sites->len == 0)
    g_string_append (text, _("plain: nothing reads over depth"));
  else
    g_string_append_printf (text,
                            ngettext ("%u sites of %d–%d sources, %d routing head",
                                      "%u sites of %d–%d sources, %d routing heads", (gulong) plan->heads),
                            plan->sites->len, least, most, plan->heads);
}

static char *
describe_checkpoint (const MharOpened *opened)
{
  const MharCheckpoint *checkpoint = mhar_opened_checkpoint (opened);
  const MharPlan *plan = mhar_opened_plan (opened);
  const MharBody *body = mhar_config_body (mhar_checkpoint_config (checkpoint));
  g_autofree char *size = g_format_size (mhar_checkpoint_bytes (checkpoint));
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%s (%s)\n", plan->mode, plan->dialect);
  append_sites (text, plan);
  g_string_append_printf (text, _("\n%d layers × %d, %d heads on %d keys\nvocabulary %d, %s, %s (%s)"), body->layers,
                          body->width, body->heads, body->kv_heads, body->vocab,
                          body->tied ? _("tied head") : _("own head"), mhar_checkpoint_dtype (checkpoint), size);
  return g_string_free (text, FALSE);
}

static char *
describe_saved (const MharOpened *opened, const MharDataset *set)
{
  const MharDataset *provenance = mhar_dataset_find_child (mhar_opened_root (opened), "provenance");
  const char *time = provenance != NULL ? mhar_dataset_string (provenance, "time") : NULL;
  const char *mode = mhar_dataset_string (set, "mode"), *dialect = mhar_dataset_string (set, "dialect");
  g_autofree char *path
      = g_path_get_basename (mhar_dataset_string (set, "path") != NULL ? mhar_dataset_string (set, "path") : "?");

  return g_strdup_printf (_("Saved run of %s%s%s\n%s (%s)\n%d layers × %d, %d sites, heads: %d"), path,
                          time != NULL ? ", " : "", time != NULL ? time : "", mode != NULL ? mode : "?",
                          dialect != NULL ? dialect : "?", (int) mhar_dataset_integer (set, "layers", 0),
                          (int) mhar_dataset_integer (set, "width", 0), (int) mhar_dataset_integer (set, "sites", 0),
                          (int) mhar_dataset_integer (set, "heads", 0));
}

/* The scalar `name` with its interval; NULL where the run lacks it. g_free. */
static char *
scalar (const MharDataset *set, const char *name, int decimals)
{
  g_autofree char *low = g_strconcat (name, "_low", NULL), *high = g_strconcat (name, "_high", NULL);
  double value = mhar_dataset_real (set, name, NAN);

  return isfinite (value) ? mhar_interval_shown (value, mhar_dataset_real (set, low, NAN),
                                                 mhar_dataset_real (set, high, NAN), decimals, FALSE)
                          : NULL;
}

/* What the run comes to: a line a quantity, each with its interval and verdict. */
static void
append_summary (GString *text, const MharDataset *set)
{
  static const struct {
    const char *name, *p, *format;
    int decimals;
  } lines[] = {
    { "slice_kl_trained", "slice_kl_p_value", N_("\nslices disagree by %s nat"), 4 },
    { "head_js_trained", "head_js_p_value", N_("\nheads disagree by %s nat"), 4 },
    { "max_deviation", "max_deviation_p_value", N_("\nlargest deviation %s"), 3 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    g_autofree char *value = scalar (set, lines[i].name, lines[i].decimals);
    g_autofree char *verdict = mhar_run_verdict (set, lines[i].p);
    if (value == NULL)
      continue;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    g_string_append_printf (text, _(lines[i].format), value);
#pragma GCC diagnostic pop
    if (verdict != NULL)
      g_string_append_printf (text, ": %s", verdict);
  }
}

static void
append_run (GString *text, const MharDataset *set)
{
  g_autofree char *loss = scalar (set, "loss", 3);
  int windows = (int) mhar_dataset_integer (set, "windows", 0);

  g_string_append_printf (text, ngettext ("\n%d tokens in %d window", "\n%d tokens in %d windows", (gulong) MAX (windows, 0)),
                          (int) mhar_dataset_integer (set, "tokens", 0), windows);
  if (loss != NULL)
    g_string_append_printf (text, _(", loss %s nat"), loss);
  append_summary (text, set);
}

static void
show_warnings (MharCheckpointPanel *self, const MharOpened *opened, const MharDataset *set)
{
  const MharPlan *plan = mhar_opened_plan (opened);
  const char *const *list = set != NULL ? mhar_dataset_strings (set, "warnings") : NULL;
  g_autoptr (GString) text = g_string_new (NULL);
  guint n = 0;

  if (list == NULL && plan != NULL)
    for (guint i = 0; i < plan->warnings->len; i++, n++)
      g_string_append_printf (text, "%s%s", n > 0 ? "\n" : "", (char *) g_ptr_array_index (plan->warnings, i));
  for (guint i = 0; list != NULL && list[i] != NULL; i++, n++)
    g_string_append_printf (text, "%s%s", n > 0 ? "\n" : "", list[i]);
  gtk_widget_set_visible (self->warnings, n > 0);
  g_autofree char *valid = g_utf8_make_valid (text->str, -1);
  g_autofree char *heading = g_strdup_printf (ngettext ("⚠ %u warning", "⚠ %u warnings", n), n);
  gtk_label_set_label (self->warning_text, valid);
  gtk_expander_set_label (GTK_EXPANDER (self->warnings), heading);
  gtk_expander_set_expanded (GTK_EXPANDER (self->warnings), n > 0);
}

void
mhar_checkpoint_panel_show (MharCheckpointPanel *self, const MharOpened *opened, const MharDataset *set)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *what
      = mhar_opened_plan (opened) != NULL ? describe_checkpoint (opened) : describe_saved (opened, set);

  g_string_append (text, what);
  if (set != NULL)
    append_run (text, set);
  g_autofree char *valid = g_utf8_make_valid (text->str, -1);
  gtk_label_set_label (self->summary, valid);
  show_warnings (self, opened, set);
}
