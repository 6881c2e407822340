/* SPDX-License-Identifier: MIT */
/* Keys that move the selection wherever the focus is, unless what has the focus takes them itself. */
#include "app/gui/window-private.h"

static gboolean
on_key (GtkEventControllerKey *controller G_GNUC_UNUSED, guint key, guint code G_GNUC_UNUSED, GdkModifierType state,
        MharWindow *self)
{
  MharSelection *s = self->selection;

  if (self->set == NULL || (state & (GDK_CONTROL_MASK | GDK_ALT_MASK | GDK_SUPER_MASK)) != 0)
    return GDK_EVENT_PROPAGATE;
  if (key >= GDK_KEY_1 && key <= GDK_KEY_9)
    mhar_selection_set_head (s, (int) (key - GDK_KEY_1));
  else if (key == GDK_KEY_0)
    mhar_selection_set_head (s, MHAR_SELECTION_CONSENSUS);
  else if (key == GDK_KEY_Page_Up || key == GDK_KEY_KP_Page_Up)
    mhar_selection_set_site (s, MAX (mhar_selection_get_site (s) - 1, 0));
  else if (key == GDK_KEY_Page_Down || key == GDK_KEY_KP_Page_Down)
    mhar_selection_set_site (s, mhar_selection_get_site (s) + 1);
  else if (key == GDK_KEY_bracketleft)
    mhar_selection_set_token (s, MAX (mhar_selection_get_token (s) - 1, 0));
  else if (key == GDK_KEY_bracketright)
    mhar_selection_set_token (s, mhar_selection_get_token (s) + 1);
  else if (key == GDK_KEY_comma)
    mhar_selection_set_source (s, MAX (mhar_selection_get_source (s) - 1, 0));
  else if (key == GDK_KEY_period)
    mhar_selection_set_source (s, mhar_selection_get_source (s) + 1);
  else
    return GDK_EVENT_PROPAGATE;
  return GDK_EVENT_STOP;
}

void
mhar_window_add_keys (MharWindow *self)
{
  GtkEventController *keys = gtk_event_controller_key_new ();

  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_BUBBLE);
  g_signal_connect_object (keys, "key-pressed", G_CALLBACK (on_key), self, 0);
  gtk_widget_add_controller (GTK_WIDGET (self), keys);
}
