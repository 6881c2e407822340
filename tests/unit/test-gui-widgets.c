/* SPDX-License-Identifier: MIT */
/* The drawn widgets in a window: cells as sharp as pixels allow, keys and clicks that select, one selection in all of
 * them, and words for those who do not see. Skipped without a display. */
#include "app/figure/colour-map.h"
#include "app/gui/collinearity-view.h"
#include "app/gui/compare-view.h"
#include "app/gui/dataset-look.h"
#include "app/gui/disagreement-view.h"
#include "app/gui/map-view.h"
#include "app/gui/numbers-view.h"
#include "app/gui/selection-panel.h"
#include "app/gui/sources-view.h"
#include "app/gui/tokens-text.h"
#include "app/gui/tokens-view.h"
#include "core/tokenizer.h"
#include "figure-samples.h"

#include <math.h>
#include <string.h>

#define SITES 13
#define HEADS 4

typedef struct {
  MharSelection *selection;
  MharDataset *set;
  GtkWidget *window, *view;
} Fixture;

static MharDataset *
full_sample (guint sites, guint heads)
{
  MharDataset *set = sample_full (sites, heads);

  sample_add_sources (set, sites, heads);
  return set;
}

/* The view in a window of that size, drawn. */
static void
show (Fixture *f, GtkWidget *view, int width, int height)
{
  f->view = view;
  f->window = gtk_window_new ();
  gtk_window_set_decorated (GTK_WINDOW (f->window), FALSE);
  gtk_window_set_default_size (GTK_WINDOW (f->window), width, height);
  gtk_window_set_child (GTK_WINDOW (f->window), view);
  gtk_window_present (GTK_WINDOW (f->window));
  gtk_test_widget_wait_for_draw (f->window);
  gtk_window_set_focus (GTK_WINDOW (f->window), view);
}

static void
set_up (Fixture *f, guint sites, guint heads)
{
  f->selection = mhar_selection_new ();
  f->set = full_sample (sites, heads);
  f->window = f->view = NULL;
  mhar_selection_set_dataset (f->selection, f->set);
  mhar_selection_set_cell (f->selection, 7, heads > 1 ? 2 : 0, 3);
}

static void
tear_down (Fixture *f)
{
  if (f->window != NULL)
    gtk_window_destroy (GTK_WINDOW (f->window));
  g_object_unref (f->selection);
  mhar_dataset_unref (f->set);
}

static GtkWidget *
map_view (Fixture *f)
{
  GtkWidget *view = mhar_map_view_new (f->selection);

  mhar_map_view_set_dataset (MHAR_MAP_VIEW (view), f->set);
  return view;
}

static GObject *
controller_of (GtkWidget *widget, GType type)
{
  g_autoptr (GListModel) list = gtk_widget_observe_controllers (widget);

  for (guint i = 0; i < g_list_model_get_n_items (list); i++) {
    g_autoptr (GObject) item = g_list_model_get_item (list, i);

    if (G_TYPE_CHECK_INSTANCE_TYPE (item, type))
      return item;
  }
  g_assert_not_reached ();
}

static gboolean
press (GtkWidget *widget, guint key, GdkModifierType state)
{
  gboolean handled = FALSE;

  g_signal_emit_by_name (controller_of (widget, GTK_TYPE_EVENT_CONTROLLER_KEY), "key-pressed", key, 0, state, &handled);
  return handled;
}

static void
click (GtkWidget *widget, double x, double y)
{
  g_signal_emit_by_name (controller_of (widget, GTK_TYPE_GESTURE_CLICK), "released", 1, x, y);
}

static void
point_at (GtkWidget *widget, double x, double y)
{
  g_signal_emit_by_name (controller_of (widget, GTK_TYPE_EVENT_CONTROLLER_MOTION), "motion", x, y);
}

static void
assert_selection (MharSelection *selection, int site, int head, int source)
{
  g_assert_cmpint (mhar_selection_get_site (selection), ==, site);
  g_assert_cmpint (mhar_selection_get_head (selection), ==, head);
  g_assert_cmpint (mhar_selection_get_source (selection), ==, source);
}

static MharFigureRect
cell_of (GtkWidget *view, guint panel, guint row, guint column)
{
  const MharDrawing *drawing = mhar_figure_view_get_drawing (MHAR_FIGURE_VIEW (view));

  return mhar_figure_layout_cell (mhar_drawing_layout (drawing), panel, row, column);
}

/* What the window's own renderer makes of the widget, in device pixels. */
static cairo_surface_t *
render (Fixture *f, int *scale)
{
  g_autoptr (GdkPaintable) paintable = NULL;
  g_autoptr (GdkTexture) texture = NULL;
  g_autoptr (GskRenderNode) node = NULL;
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  int width = gtk_widget_get_width (f->view), height = gtk_widget_get_height (f->view);
  cairo_surface_t *surface;

  gtk_widget_queue_draw (f->view);
  gtk_test_widget_wait_for_draw (f->window);
  paintable = gtk_widget_paintable_new (f->view);
  *scale = gtk_widget_get_scale_factor (f->view);
  gtk_snapshot_scale (snapshot, (float)*scale, (float)*scale);
  gdk_paintable_snapshot (paintable, snapshot, width, height);
  node = gtk_snapshot_free_to_node (snapshot);
  texture = gsk_renderer_render_texture (gtk_native_get_renderer (gtk_widget_get_native (f->view)), node,
                                         &GRAPHENE_RECT_INIT (0, 0, (float)(width * *scale), (float)(height * *scale)));
  surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, gdk_texture_get_width (texture),
                                        gdk_texture_get_height (texture));
  gdk_texture_download (texture, cairo_image_surface_get_data (surface),
                        (gsize)cairo_image_surface_get_stride (surface));
  cairo_surface_mark_dirty (surface);
  return surface;
}

static guint32
pixel (cairo_surface_t *surface, int x, int y)
{
  guint32 value;

  g_assert_cmpint (x, >=, 0);
  g_assert_cmpint (y, >=, 0);
  g_assert_cmpint (x, <, cairo_image_surface_get_width (surface));
  g_assert_cmpint (y, <, cairo_image_surface_get_height (surface));
  memcpy (&value, cairo_image_surface_get_data (surface) + y * cairo_image_surface_get_stride (surface) + x * 4, 4);
  return value & 0xffffff;
}

static double
colour_error (guint32 got, double r, double g, double b)
{
  double dr = fabs ((got >> 16 & 255) - r * 255), dg = fabs ((got >> 8 & 255) - g * 255);

  return MAX (MAX (dr, dg), fabs ((got & 255) - b * 255));
}

/* Every cell's colour in the window against the figure's; allowance two levels. */
static void
check_map_colours (Fixture *f, cairo_surface_t *surface, int scale)
{
  const MharDrawing *drawing = mhar_figure_view_get_drawing (MHAR_FIGURE_VIEW (f->view));
  const MharFigureLayout *layout = mhar_drawing_layout (drawing);
  double worst = 0;
  guint cells = 0;

  for (guint p = 0; p < layout->n_panels; p++)
    for (guint i = 0; i < layout->n_rows; i++)
      for (guint j = 0; j < layout->n_columns; j++) {
        MharFigureRect cell = mhar_figure_layout_cell (layout, p, i, j);
        double value = mhar_drawing_value (drawing, p, i, j), r, g, b;

        if (!isfinite (value))
          continue;
        mhar_drawing_colour (drawing, p, value, &r, &g, &b);
        worst = MAX (worst, colour_error (pixel (surface, (int)((cell.x + cell.width / 2) * scale),
                                                 (int)((cell.y + cell.height / 2) * scale)),
                                          r, g, b));
        cells++;
      }
  g_test_message ("scale %d: %u cells, largest error %.0f %% of the allowance", scale, cells, 50 * worst);
  g_assert_cmpuint (cells, ==, layout->n_panels * SITES * (SITES + 1) / 2);
  g_assert_cmpfloat (worst, <=, 2);
}

/* The last row of the first map has a ramp in it: as many colours as cells, and not one more. */
static void
check_no_blur (Fixture *f, cairo_surface_t *surface, int scale)
{
  const MharDrawing *drawing = mhar_figure_view_get_drawing (MHAR_FIGURE_VIEW (f->view));
  const MharFigureRect *cells = &mhar_drawing_layout (drawing)->panels[0].cells;
  MharFigureRect last = cell_of (f->view, 0, SITES - 1, 0);
  int y = (int)((last.y + last.height / 2) * scale), from = (int)ceil (cells->x * scale) + scale;
  g_autoptr (GHashTable) colours = g_hash_table_new (NULL, NULL);

  for (int x = from; x < (int)((cells->x + cells->width) * scale) - scale; x++)
    g_hash_table_add (colours, GUINT_TO_POINTER (pixel (surface, x, y)));
  g_test_message ("scale %d: %u colours in %d cells", scale, g_hash_table_size (colours), SITES);
  g_assert_cmpuint (g_hash_table_size (colours), ==, SITES);
}

/* Absent cells have the colours of the hatching alone, which no value has. */
static void
check_absent (Fixture *f, cairo_surface_t *surface, int scale)
{
  const MharPalette *palette = mhar_palette_get (MHAR_FIGURE_LIGHT, MHAR_FIGURE_PLAIN);
  MharFigureRect cell = cell_of (f->view, 1, 2, 8);

  for (int y = 0; y < (int)cell.height * scale; y++)
    for (int x = 0; x < (int)cell.width * scale; x++) {
      guint32 got = pixel (surface, (int)(cell.x * scale) + x, (int)(cell.y * scale) + y);
      double green = (got >> 8 & 255) / 255.0;

      g_assert_cmpfloat (green, >=, palette->hatch.g - 0.02);
      g_assert_cmpfloat (green, <=, palette->ground.g + 0.02);
      g_assert_cmpint (abs ((int)(got >> 16 & 255) - (int)(got & 255)), <, 16);
    }
}

static void
check_pixels (int expected_scale)
{
  Fixture f;
  MharField *weight;
  cairo_surface_t *surface;
  int scale;

  set_up (&f, SITES, HEADS);
  weight = mhar_dataset_get (f.set, "weight");
  for (guint j = 0; j < SITES; j++)
    weight->data.f32[((SITES - 1) * HEADS) * SITES + j] = (float)j / SITES;
  show (&f, map_view (&f), 900, 620);
  surface = render (&f, &scale);
  g_assert_cmpint (scale, ==, expected_scale);
  check_map_colours (&f, surface, scale);
  check_no_blur (&f, surface, scale);
  check_absent (&f, surface, scale);
  cairo_surface_destroy (surface);
  tear_down (&f);
}

static void
test_pixels (void)
{
  check_pixels (1);
}

/* GTK reads the scale once a process. Leaks are not looked for in the second one: a module that GTK loads and unloads
 * keeps something. */
static void
test_pixels_at_two (void)
{
  g_autofree char *options = g_strdup (g_getenv ("ASAN_OPTIONS"));

  if (g_test_subprocess ()) {
    check_pixels (2);
    return;
  }
  g_setenv ("GDK_SCALE", "2", TRUE);
  g_setenv ("ASAN_OPTIONS", "detect_leaks=0", TRUE);
  g_test_trap_subprocess (NULL, 60 * G_USEC_PER_SEC, 0);
  g_unsetenv ("GDK_SCALE");
  g_unsetenv ("ASAN_OPTIONS");
  if (options != NULL)
    g_setenv ("ASAN_OPTIONS", options, TRUE);
  g_test_trap_assert_passed ();
}

/* Zoomed to a fraction of a cell: cells keep the colours of the figure, and their edges stay sharp. */
static void
test_zoom (void)
{
  Fixture f;
  const MharFigureLayout *layout;
  MharFigureRect cell;

  set_up (&f, 193, 2);
  show (&f, map_view (&f), 900, 620);
  mhar_map_view_set_enlarged (MHAR_MAP_VIEW (f.view), TRUE);
  g_assert_true (press (f.view, GDK_KEY_plus, GDK_CONTROL_MASK));
  layout = mhar_drawing_layout (mhar_figure_view_get_drawing (MHAR_FIGURE_VIEW (f.view)));
  g_assert_cmpfloat_with_epsilon (layout->view.width, 193 / 1.25, 1e-6);
  mhar_figure_view_set_zoom (MHAR_FIGURE_VIEW (f.view), &(MharFigureRect){ 100.3, 100.7, 11, 11 });
  g_assert_cmpfloat_with_epsilon (layout->view.x, 100.3, 1e-9);
  /* The cursor takes the view along. */
  mhar_selection_set_cell (f.selection, 150, 1, 20);
  cell = cell_of (f.view, 0, 150, 20);
  g_assert_cmpfloat (cell.x, >=, layout->panels[0].cells.x - 1e-6);
  g_assert_cmpfloat (cell.y + cell.height, <=, layout->panels[0].cells.y + layout->panels[0].cells.height + 1e-6);
  g_assert_true (press (f.view, GDK_KEY_0, GDK_CONTROL_MASK));
  g_assert_cmpfloat (layout->view.width, ==, 193);
  tear_down (&f);
}

static void
test_map_keys (void)
{
  Fixture f;

  set_up (&f, SITES, HEADS);
  show (&f, map_view (&f), 900, 620);
  press (f.view, GDK_KEY_Right, 0);
  assert_selection (f.selection, 7, 2, 4);
  press (f.view, GDK_KEY_Up, 0);
  assert_selection (f.selection, 6, 2, 4);
  press (f.view, GDK_KEY_End, 0);
  assert_selection (f.selection, 6, 2, 6); /* as many as the site has */
  press (f.view, GDK_KEY_Home, 0);
  press (f.view, GDK_KEY_Left, 0);
  assert_selection (f.selection, 6, 2, 0);
  press (f.view, GDK_KEY_1, 0);
  assert_selection (f.selection, 6, 0, 0);
  press (f.view, GDK_KEY_Page_Down, 0);
  assert_selection (f.selection, 7, 0, 0);
  g_assert_true (gtk_widget_child_focus (f.view, GTK_DIR_TAB_FORWARD));
  assert_selection (f.selection, 7, 1, 0);
  press (f.view, GDK_KEY_0, 0);
  assert_selection (f.selection, 7, MHAR_SELECTION_CONSENSUS, 0);
  /* From the last panel Tab leaves. */
  g_assert_false (gtk_widget_child_focus (f.view, GTK_DIR_TAB_FORWARD));
  g_assert_false (press (f.view, GDK_KEY_x, 0));
  tear_down (&f);
}

static void
test_enlarge (void)
{
  Fixture f;
  MharFigureRect cell;
  const MharDrawing *drawing;

  set_up (&f, SITES, HEADS);
  show (&f, map_view (&f), 900, 620);
  cell = cell_of (f.view, 3, 9, 5);
  click (f.view, cell.x + cell.width / 2, cell.y + cell.height / 2);
  assert_selection (f.selection, 9, 3, 5);
  g_assert_true (mhar_map_view_get_enlarged (MHAR_MAP_VIEW (f.view)));
  drawing = mhar_figure_view_get_drawing (MHAR_FIGURE_VIEW (f.view));
  g_assert_cmpuint (mhar_drawing_layout (drawing)->n_panels, ==, 1);
  g_assert_cmpint (mhar_drawing_layout (drawing)->panels[0].head, ==, 3);
  press (f.view, GDK_KEY_2, 0);
  drawing = mhar_figure_view_get_drawing (MHAR_FIGURE_VIEW (f.view));
  g_assert_cmpint (mhar_drawing_layout (drawing)->panels[0].head, ==, 1);
  press (f.view, GDK_KEY_Escape, 0);
  g_assert_false (mhar_map_view_get_enlarged (MHAR_MAP_VIEW (f.view)));
  g_assert_false (press (f.view, GDK_KEY_Escape, 0)); /* is the window's then */
  press (f.view, GDK_KEY_F11, 0);
  g_assert_true (mhar_map_view_get_enlarged (MHAR_MAP_VIEW (f.view)));
  press (f.view, GDK_KEY_Return, 0);
  g_assert_false (mhar_map_view_get_enlarged (MHAR_MAP_VIEW (f.view)));
  tear_down (&f);
}

static void
assert_says (GtkWidget *view, const char *words)
{
  const char *text = mhar_figure_view_get_description (MHAR_FIGURE_VIEW (view));

  if (strstr (text, words) == NULL)
    g_test_message ("“%s” does not say “%s”", text, words);
  g_assert_nonnull (strstr (text, words));
  gtk_test_accessible_assert_property (view, GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text);
}

static void
test_words (void)
{
  Fixture f;
  MharFigureRect cell;

  set_up (&f, SITES, HEADS);
  show (&f, map_view (&f), 900, 620);
  assert_says (f.view, "L3.mlp, head 2 reads ");
  cell = cell_of (f.view, 0, 4, 1);
  point_at (f.view, cell.x + 2, cell.y + 2);
  assert_says (f.view, "L2.attn, head 0 reads ");
  cell = cell_of (f.view, 0, 4, 9);
  point_at (f.view, cell.x + 2, cell.y + 2);
  assert_says (f.view, "L2.attn has 5 sources");
  g_signal_emit_by_name (controller_of (f.view, GTK_TYPE_EVENT_CONTROLLER_MOTION), "leave");
  assert_says (f.view, "L3.mlp, head 2 reads ");
  press (f.view, GDK_KEY_Down, 0);
  assert_says (f.view, "L4.attn, head 2 reads ");
  /* New data under the pointer. */
  cell = cell_of (f.view, 0, 4, 1);
  point_at (f.view, cell.x + 2, cell.y + 2);
  mhar_map_view_set_dataset (MHAR_MAP_VIEW (f.view), f.set);
  assert_says (f.view, "L2.attn, head 0 reads ");
  tear_down (&f);
}

/* All pages on one selection: what one changes the others show. */
static void
test_one_selection (void)
{
  Fixture f;
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0), *views[5];
  MharFigureRect cell;
  MharDisplay display;

  set_up (&f, SITES, HEADS);
  views[0] = map_view (&f);
  views[1] = mhar_disagreement_view_new (f.selection);
  views[2] = mhar_collinearity_view_new (f.selection);
  views[3] = mhar_sources_view_new (f.selection);
  views[4] = mhar_compare_view_new (f.selection);
  for (guint i = 0; i < G_N_ELEMENTS (views); i++) {
    gtk_box_append (GTK_BOX (box), views[i]);
    if (i > 0 && i < 4)
      mhar_figure_view_set_dataset (MHAR_FIGURE_VIEW (views[i]), f.set);
  }
  mhar_compare_view_set_datasets (MHAR_COMPARE_VIEW (views[4]), f.set, f.set);
  show (&f, box, 2000, 500);
  mhar_selection_set_cell (f.selection, 9, 1, 4);
  for (guint i = 0; i < G_N_ELEMENTS (views); i++)
    assert_says (views[i], "L4.mlp");
  cell = cell_of (views[1], 0, 0, 2); /* the third site with two sources */
  click (views[1], cell.x + cell.width / 2, cell.y + 20);
  assert_selection (f.selection, 3, 1, 3);
  assert_says (views[0], "L1.mlp, head 1");
  cell = cell_of (views[2], 0, 2, 8); /* outputs L0.mlp and L3.mlp, above the diagonal */
  click (views[2], cell.x + 3, cell.y + 3);
  assert_selection (f.selection, 7, 1, 2);
  assert_says (views[2], "The outputs of L0.mlp and L3.mlp");
  cell = cell_of (views[3], 1, 0, 6);
  click (views[3], cell.x + 3, cell.y + 3);
  assert_selection (f.selection, 7, 1, 6);
  cell = cell_of (views[4], 1, 5, 2);
  click (views[4], cell.x + 3, cell.y + 3);
  assert_selection (f.selection, 5, 1, 2);
  assert_says (views[4], "a difference of 0.0 points");
  cell = cell_of (views[4], 1, 5, 9); /* L2.mlp has no source of that name: its last is the nearest */
  click (views[4], cell.x + 3, cell.y + 3);
  assert_selection (f.selection, 5, 1, 5);
  press (views[4], GDK_KEY_Right, 0);
  assert_selection (f.selection, 5, 1, 5);
  mhar_display_init (&display);
  display.scale = MHAR_FIGURE_SCALE_SYMMETRIC; /* weights too go from below 0 then */
  mhar_compare_view_set_display (MHAR_COMPARE_VIEW (views[4]), &display);
  assert_says (views[4], "L2.mlp, head 1 reads ");
  assert_says (views[4], " % of L2.attn in A");
  display.deviation = TRUE;
  mhar_compare_view_set_display (MHAR_COMPARE_VIEW (views[4]), &display);
  assert_says (views[4], " points off the head mean in A");
  tear_down (&f);
}

static void
test_roles (void)
{
  Fixture f;
  GtkWidget *views[6];

  set_up (&f, SITES, HEADS);
  views[0] = mhar_map_view_new (f.selection);
  views[1] = mhar_disagreement_view_new (f.selection);
  views[2] = mhar_collinearity_view_new (f.selection);
  views[3] = mhar_sources_view_new (f.selection);
  views[4] = mhar_compare_view_new (f.selection);
  views[5] = mhar_tokens_text_new (f.selection);
  for (guint i = 0; i < G_N_ELEMENTS (views); i++) {
    g_object_ref_sink (views[i]);
    gtk_test_accessible_assert_role (views[i], GTK_ACCESSIBLE_ROLE_IMG);
    g_assert_true (gtk_widget_get_focusable (views[i]));
    if (i < 5)
      g_assert_true (gtk_test_accessible_has_property (GTK_ACCESSIBLE (views[i]), GTK_ACCESSIBLE_PROPERTY_LABEL));
    g_object_unref (views[i]);
  }
  tear_down (&f);
}

/* One head, a plain Transformer, an empty set, nothing at all: a sentence, never a fault. */
static void
test_lacks (void)
{
  g_autoptr (MharDataset) empty = mhar_dataset_new ("empty");
  g_autoptr (MharDataset) single = full_sample (9, 1);
  MharDataset *sets[] = { empty, single, NULL };
  MharDisplay display;
  Fixture f;

  set_up (&f, SITES, HEADS);
  show (&f, map_view (&f), 600, 400);
  mhar_display_init (&display);
  display.deviation = TRUE;
  mhar_map_view_set_display (MHAR_MAP_VIEW (f.view), &display);
  for (guint i = 0; i < G_N_ELEMENTS (sets); i++) {
    cairo_surface_t *surface;
    int scale;

    mhar_selection_set_dataset (f.selection, sets[i]);
    mhar_map_view_set_dataset (MHAR_MAP_VIEW (f.view), sets[i]);
    surface = render (&f, &scale);
    cairo_surface_destroy (surface);
    press (f.view, GDK_KEY_Right, 0);
    press (f.view, GDK_KEY_F11, 0);
    click (f.view, 200, 200);
  }
  mhar_map_view_set_dataset (MHAR_MAP_VIEW (f.view), empty);
  assert_says (f.view, "This run holds no depth maps");
  tear_down (&f);
}

/* Tokens of `text`, cut at the given bytes. */
static GArray *
tokens_at (const gsize *ends, guint n)
{
  GArray *tokens = g_array_new (FALSE, FALSE, sizeof (MharToken));
  gsize start = 0;

  for (guint i = 0; i < n; i++) {
    MharToken token = { (gint32)i, start, ends[i] };

    g_array_append_val (tokens, token);
    start = ends[i];
  }
  return tokens;
}

/* The middle of every piece is its token's, in text of two directions, with combining marks, line ends and tabs. */
static void
test_token_layout (void)
{
  static const char text[]
      = "Abc \327\242\327\221\327\250\327\231\327\252 e\314\201te\n\n\tz\360\237\221\251\360\237\221\247 end";
  static const gsize ends[] = { 3, 4, 8, 14, 15, 18, 20, 22, 24, 28, 32, 33, 36 };
  g_autoptr (GArray) tokens = tokens_at (ends, G_N_ELEMENTS (ends));
  g_autoptr (MharTokenLayout) layout = mhar_token_layout_new (text, strlen (text), tokens, tokens->len);
  PangoContext *context = pango_font_map_create_context (pango_cairo_font_map_get_default ());
  g_autofree char *line_ends = mhar_token_layout_quote (layout, 7);
  guint pieces_of[G_N_ELEMENTS (ends)] = { 0 };

  g_assert_cmpuint (strlen (text), ==, ends[G_N_ELEMENTS (ends) - 1]);
  g_assert_cmpstr (line_ends, ==, "↵↵");
  g_assert_cmpint (mhar_token_layout_wrap (layout, context, 90), >, 40);
  for (guint p = 0; p < mhar_token_layout_n_paragraphs (layout); p++) {
    const GArray *pieces = mhar_token_layout_pieces (layout, p);

    for (guint i = 0; i < pieces->len; i++) {
      const MharTokenPiece *piece = &g_array_index (pieces, MharTokenPiece, i);

      pieces_of[piece->token]++;
      g_assert_cmpint (
          mhar_token_layout_hit (layout, (double)(piece->x + piece->width / 2), (double)(piece->y + piece->height / 2)),
          ==, (int)piece->token);
    }
  }
  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    g_assert_cmpuint (pieces_of[i], >, 0);
  g_assert_cmpint (mhar_token_layout_hit (layout, -5, 3), ==, -1);
  g_assert_cmpint (mhar_token_layout_hit (layout, 5, 1e6), ==, -1);
  g_object_unref (context);
}

/* Spans that no tokenizer gives, and bytes that are no text. */
static void
test_hostile_tokens (void)
{
  static const char text[] = "a\0b\xff\xfe\303\251\nlong";
  g_autoptr (GArray) tokens = g_array_new (FALSE, FALSE, sizeof (MharToken));
  g_autoptr (MharTokenLayout) layout = NULL;
  g_autoptr (MharTokenLayout) none = NULL;
  PangoContext *context = pango_font_map_create_context (pango_cairo_font_map_get_default ());
  const MharToken odd[] = { { 0, 0, 2 }, { 1, 5, 3 }, { 2, 6, 6 }, { 3, 0, 99 }, { 4, 6, G_MAXSIZE }, { 5, 3, 4 } };

  g_array_append_vals (tokens, odd, G_N_ELEMENTS (odd));
  layout = mhar_token_layout_new (text, sizeof text - 1, tokens, 1000);
  none = mhar_token_layout_new ("", 0, tokens, 0);
  g_assert_cmpuint (mhar_token_layout_n_tokens (layout), ==, G_N_ELEMENTS (odd));
  g_assert_cmpint (mhar_token_layout_wrap (none, context, 50), >=, 0);
  mhar_token_layout_wrap (layout, context, 1);
  for (guint p = 0; p < mhar_token_layout_n_paragraphs (layout); p++)
    g_assert_nonnull (mhar_token_layout_pieces (layout, p));
  for (guint i = 0; i < G_N_ELEMENTS (odd); i++) {
    g_autofree char *quote = mhar_token_layout_quote (layout, i);

    g_assert_true (g_utf8_validate (quote, -1, NULL));
  }
  g_object_unref (context);
}

static GString *
sample_text (guint n, GArray **tokens)
{
  GString *text = g_string_new (NULL);

  *tokens = g_array_new (FALSE, FALSE, sizeof (MharToken));
  for (guint i = 0; i < n; i++) {
    MharToken token = { (gint32)i, text->len, 0 };

    g_string_append_printf (text, i % 40 == 39 ? "word%u\n" : "word%u ", i);
    token.end = text->len;
    g_array_append_val (*tokens, token);
  }
  return text;
}

static GtkWidget *
tokens_text_of (GtkWidget *widget)
{
  if (MHAR_IS_TOKENS_TEXT (widget))
    return widget;
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child)) {
    GtkWidget *found = tokens_text_of (child);

    if (found != NULL)
      return found;
  }
  return NULL;
}

static void
test_tokens_view (void)
{
  Fixture f;
  GArray *tokens;
  GString *text = sample_text (4096, &tokens);
  MharDataset *capture = sample_capture (4000, SITES, HEADS);
  GtkWidget *view, *shown;
  gint64 before;

  set_up (&f, SITES, HEADS);
  view = mhar_tokens_view_new (f.selection);
  mhar_tokens_view_set_dataset (MHAR_TOKENS_VIEW (view), f.set);
  mhar_tokens_view_set_text (MHAR_TOKENS_VIEW (view), text->str, text->len, tokens, capture);
  show (&f, view, 800, 600);
  shown = tokens_text_of (view);
  mhar_selection_set_token (f.selection, 5000);
  g_assert_cmpint (mhar_selection_get_token (f.selection), ==, 3999); /* what was captured */
  mhar_selection_set_token (f.selection, 10);
  g_assert_nonnull (strstr (mhar_tokens_view_get_description (MHAR_TOKENS_VIEW (view)),
                            "Token 10, “word10 ”: L3.mlp, head 2 reads "));
  gtk_test_accessible_assert_property (shown, GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                       mhar_tokens_view_get_description (MHAR_TOKENS_VIEW (view)));
  press (shown, GDK_KEY_bracketright, 0);
  press (shown, GDK_KEY_Right, 0);
  g_assert_cmpint (mhar_selection_get_token (f.selection), ==, 12);
  press (shown, GDK_KEY_Down, 0);
  g_assert_cmpint (mhar_selection_get_token (f.selection), >, 15);
  press (shown, GDK_KEY_Up, 0);
  g_assert_cmpint (abs (mhar_selection_get_token (f.selection) - 12), <=, 1);
  before = g_get_monotonic_time ();
  for (int site = 0; site < SITES; site++)
    mhar_selection_set_site (f.selection, site);
  g_test_message ("scrubbing a site takes %.1f ms", (double)(g_get_monotonic_time () - before) / 1e3 / SITES);
  mhar_tokens_view_set_text (MHAR_TOKENS_VIEW (view), NULL, 0, NULL, NULL);
  mhar_tokens_view_set_dataset (MHAR_TOKENS_VIEW (view), NULL);
  g_assert_cmpstr (mhar_tokens_view_get_description (MHAR_TOKENS_VIEW (view)), ==, "");
  tear_down (&f);
  mhar_dataset_unref (capture);
  g_array_unref (tokens);
  g_string_free (text, TRUE);
}

/* The text of the label after the one that says `name`; the name itself is there once. */
static const char *
label_after (GtkWidget *widget, const char *name, gboolean *next)
{
  if (GTK_IS_LABEL (widget)) {
    if (*next)
      return gtk_label_get_label (GTK_LABEL (widget));
    *next = g_str_equal (gtk_label_get_label (GTK_LABEL (widget)), name);
  }
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child)) {
    const char *found = label_after (child, name, next);

    if (found != NULL)
      return found;
  }
  return NULL;
}

static void
assert_row (GtkWidget *panel, const char *name, const char *value)
{
  gboolean next = FALSE;

  g_assert_cmpstr (label_after (panel, name, &next), ==, value);
}

static void
test_selection_panel (void)
{
  Fixture f;

  set_up (&f, SITES, HEADS);
  show (&f, mhar_selection_panel_new (f.selection), 260, 400);
  mhar_selection_panel_set_dataset (MHAR_SELECTION_PANEL (f.view), f.set);
  assert_row (f.view, "Site", "L3.mlp");
  assert_row (f.view, "Head", "2 of 4");
  assert_row (f.view, "Source", "L1.attn");
  mhar_selection_set_head (f.selection, MHAR_SELECTION_CONSENSUS);
  assert_row (f.view, "Head", "mean of all");
  assert_row (f.view, "Deviation", "–");
  mhar_selection_panel_set_dataset (MHAR_SELECTION_PANEL (f.view), NULL);
  assert_row (f.view, "Weight", "–");
  tear_down (&f);
}

/* Data that changes under a window again and again, as while running. */
static void
test_many_datasets (void)
{
  Fixture f;

  set_up (&f, SITES, HEADS);
  show (&f, map_view (&f), 600, 400);
  for (guint i = 0; i < 100; i++) {
    g_autoptr (MharDataset) next = full_sample (i % 3 == 2 ? 25 : SITES, i % 2 ? HEADS : 1);

    mhar_selection_set_dataset (f.selection, next);
    mhar_map_view_set_dataset (MHAR_MAP_VIEW (f.view), next);
    if (i % 10 == 0)
      gtk_test_widget_wait_for_draw (f.window);
  }
  assert_says (f.view, "L3.mlp, head ");
  tear_down (&f);
}

static MharNumbers *
numbers_of (const MharDataset *set, MharPage page)
{
  return mhar_numbers_new (&(MharNumbersSource){ .page = page, .set = set, .site = -1, .source = -1, .head = -1 });
}

/* Those of the table's cells, in the order of the rows. */
static void
collect_cells (GtkWidget *widget, GPtrArray *cells)
{
  if (GTK_IS_LABEL (widget) && gtk_widget_has_css_class (widget, "number"))
    g_ptr_array_add (cells, widget);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL; child = gtk_widget_get_next_sibling (child))
    collect_cells (child, cells);
}

/* Whether the table has that many rows of labels or some more, and they say what `numbers` has. */
static gboolean
table_shows (GtkWidget *view, const MharNumbers *numbers, guint rows, GPtrArray *cells)
{
  guint columns = mhar_numbers_n_columns (numbers);

  g_ptr_array_set_size (cells, 0);
  collect_cells (view, cells);
  if (cells->len < rows * columns)
    return FALSE;
  for (guint i = 0; i < cells->len; i++) {
    const char *text = gtk_label_get_label (g_ptr_array_index (cells, i));
    if (mhar_numbers_is_text (numbers, i % columns)) {
      if (!g_str_equal (text, mhar_numbers_text (numbers, i / columns, i % columns)))
        return FALSE;
    } else {
      double value = mhar_numbers_value (numbers, i / columns, i % columns);
      if (isnan (value) ? !g_str_equal (text, "–") : !(fabs (g_strtod (text, NULL) - value) < 1e-5))
        return FALSE;
    }
  }
  return TRUE;
}

/* The most labels that changed between two frames. */
typedef struct {
  guint now, most;
} Changes;

static void
count_change (Changes *changes)
{
  changes->most = MAX (changes->most, ++changes->now);
}

static void
new_frame (Changes *changes)
{
  changes->now = 0;
}

/* A table replaced by one of the same columns keeps its labels and changes a few of them a frame; another table takes its
 * place as it should. */
static void
test_table (void)
{
  Fixture f;
  g_autoptr (GPtrArray) before = g_ptr_array_new (), after = g_ptr_array_new ();
  Changes changes = { 0 };

  set_up (&f, 97, HEADS);
  show (&f, mhar_numbers_view_new (), 600, 400);
  MharNumbersView *table = MHAR_NUMBERS_VIEW (f.view);
  g_autoptr (MharNumbers) entropies = numbers_of (f.set, MHAR_PAGE_SOURCES),
                          sites = numbers_of (f.set, MHAR_PAGE_DISAGREEMENT);
  MharField *entropy = (MharField *) mhar_dataset_get (f.set, "entropy");
  for (gsize i = 0; i < mhar_field_length (entropy); i++)
    entropy->data.f32[i] *= 0.5f;
  g_autoptr (MharNumbers) halves = numbers_of (f.set, MHAR_PAGE_SOURCES);
  mhar_numbers_view_show (table, entropies);
  while (!table_shows (f.view, entropies, 200, before)) /* as many as GTK has widgets for, or a few more */
    g_main_context_iteration (NULL, TRUE);
  for (guint i = 0; i < before->len; i++)
    g_signal_connect_swapped (g_ptr_array_index (before, i), "notify::label", G_CALLBACK (count_change), &changes);
  GdkFrameClock *clock = gtk_widget_get_frame_clock (f.view);
  g_signal_connect_swapped (clock, "before-paint", G_CALLBACK (new_frame), &changes);
  mhar_numbers_view_show (table, halves);
  while (!table_shows (f.view, halves, 200, after))
    g_main_context_iteration (NULL, TRUE);
  for (guint i = 0; i < before->len; i++)
    g_assert_true (g_ptr_array_index (before, i) == g_ptr_array_index (after, i));
  g_assert_cmpuint (changes.most, >, 0);
  g_assert_cmpuint (changes.most, <=, 60);
  g_signal_handlers_disconnect_by_data (clock, &changes);
  mhar_numbers_view_show (table, NULL);
  g_assert_false (gtk_widget_get_mapped (g_ptr_array_index (after, 0)));
  mhar_numbers_view_show (table, sites);
  while (!table_shows (f.view, sites, 97, after))
    g_main_context_iteration (NULL, TRUE);
  g_assert_true (gtk_widget_get_mapped (g_ptr_array_index (after, 0)));
  mhar_numbers_view_show (table, entropies);
  while (!table_shows (f.view, entropies, 200, after))
    g_main_context_iteration (NULL, TRUE);
  tear_down (&f);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_setenv ("GTK_A11Y", "test", TRUE); /* roles and properties without a bus */
  if (!gtk_init_check ()) {
    g_print ("1..0 # SKIP no display\n");
    return 0;
  }
  g_test_add_func ("/gui-widgets/roles", test_roles);
  g_test_add_func ("/gui-widgets/pixels", test_pixels);
  g_test_add_func ("/gui-widgets/pixels-at-two", test_pixels_at_two);
  g_test_add_func ("/gui-widgets/zoom", test_zoom);
  g_test_add_func ("/gui-widgets/map-keys", test_map_keys);
  g_test_add_func ("/gui-widgets/enlarge", test_enlarge);
  g_test_add_func ("/gui-widgets/words", test_words);
  g_test_add_func ("/gui-widgets/one-selection", test_one_selection);
  g_test_add_func ("/gui-widgets/lacks", test_lacks);
  g_test_add_func ("/gui-widgets/token-layout", test_token_layout);
  g_test_add_func ("/gui-widgets/hostile-tokens", test_hostile_tokens);
  g_test_add_func ("/gui-widgets/tokens-view", test_tokens_view);
  g_test_add_func ("/gui-widgets/selection-panel", test_selection_panel);
  g_test_add_func ("/gui-widgets/many-datasets", test_many_datasets);
  g_test_add_func ("/gui-widgets/table", test_table);
  return g_test_run ();
}
