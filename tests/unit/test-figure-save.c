/* SPDX-License-Identifier: MIT */
/* Figures as files: every format, the same bytes every time, whole or not at all. */
#include "app/figure/figure.h"
#include "app/figure/heat-map.h"
#include "app/figure/svg-finish.h"
#include "core/error.h"
#include "figure-samples.h"
#include "scratch.h"

#include <cairo-svg.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>

#define FONT "DejaVu Sans"

static const MharFigureKind kinds[]
    = { MHAR_FIGURE_DEVIATION, MHAR_FIGURE_DEPTH_MAP, MHAR_FIGURE_KL, MHAR_FIGURE_COLLINEARITY, MHAR_FIGURE_COEFFICIENTS };
static const char *const extensions[] = { "pdf", "svg", "png" };

static GPtrArray *
list_of (MharDataset *first, MharDataset *second)
{
  GPtrArray *list = g_ptr_array_new ();

  g_ptr_array_add (list, first);
  if (second)
    g_ptr_array_add (list, second);
  return list;
}

static char *
save (const char *folder, const char *name, GPtrArray *sets, MharFigureKind kind)
{
  char *path = g_build_filename (folder, name, NULL);
  g_autoptr (GError) error = NULL;
  MharFigureOptions options;

  mhar_figure_options_init (&options);
  options.family = FONT;
  g_assert_true (mhar_figure_save (path, sets, kind, &options, &error));
  g_assert_no_error (error);
  return path;
}

static char *
contents (const char *path, gsize *length)
{
  g_autoptr (GError) error = NULL;
  char *text = NULL;

  g_assert_true (g_file_get_contents (path, &text, length, &error));
  g_assert_no_error (error);
  return text;
}

static guint
entries (const char *folder)
{
  GDir *dir = g_dir_open (folder, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir))
    n++;
  g_dir_close (dir);
  return n;
}

/* How often `word` stands in the bytes. */
static guint
count (const char *bytes, gsize length, const char *word)
{
  guint n = 0;
  gsize size = strlen (word);

  for (gsize i = 0; i + size <= length; i++)
    n += memcmp (bytes + i, word, size) == 0;
  return n;
}

/* Twice in one process, with other drawing between, gives the same bytes. */
static void
test_same_bytes (void)
{
  char *folder = scratch_new ();
  g_autoptr (MharDataset) set = sample_full (25, 4), large = sample_full (160, 2);
  g_autoptr (GPtrArray) small_list = list_of (set, NULL), large_list = list_of (large, NULL);

  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    for (guint e = 0; e < G_N_ELEMENTS (extensions); e++)
      for (int big = 0; big < 2; big++) {
        g_autofree char *a = g_strdup_printf ("a%u%d.%s", k, big, extensions[e]);
        g_autofree char *b = g_strdup_printf ("b%u%d.%s", k, big, extensions[e]);
        GPtrArray *list = big ? large_list : small_list;
        g_autofree char *first = save (folder, a, list, kinds[k]),
                        *other = save (folder, "other.svg", small_list, kinds[3]);
        g_autofree char *second = save (folder, b, list, kinds[k]);
        gsize n, m;
        g_autofree char *one = contents (first, &n), *two = contents (second, &m);

        g_assert_nonnull (other);
        g_assert_cmpmem (one, n, two, m);
      }
  scratch_remove (folder);
}

static void
test_pdf (void)
{
  char *folder = scratch_new ();
  g_autoptr (MharDataset) several = sample_full (13, 4), single = sample_full (9, 1);
  g_autoptr (GPtrArray) sets = list_of (several, single);
  g_autofree char *path = save (folder, "figure.PDF", sets, MHAR_FIGURE_DEFAULT);
  gsize n;
  g_autofree char *bytes = contents (path, &n);

  g_assert_cmpuint (entries (folder), ==, 1);
  g_assert_true (g_str_has_prefix (bytes, "%PDF-"));
  g_assert_cmpuint (count (bytes, n, "%%EOF"), ==, 1);
  g_assert_cmpuint (count (bytes, n, "/Count 2"), ==, 1);
  g_assert_cmpuint (count (bytes, n, "sample: deviation"), ==, 1);
  g_assert_cmpuint (count (bytes, n, "20000101000000Z"), ==, 1);
  g_assert_cmpuint (count (bytes, n, "/Subtype /Image"), ==, 0);
  scratch_remove (folder);
}

static void
test_svg (void)
{
  char *folder = scratch_new ();
  g_autoptr (MharDataset) small = sample_full (13, 4), large = sample_full (193, 2);
  g_autoptr (GPtrArray) one = list_of (small, NULL), other = list_of (large, NULL);
  g_autofree char *path = NULL, *big = NULL, *bytes = NULL, *big_bytes = NULL;
  gsize n, m;

  mhar_dataset_set_string (small, "path", "/x/<a> & \"b\"");
  path = save (folder, "a.svg", one, MHAR_FIGURE_DEVIATION);
  big = save (folder, "b.svg", other, MHAR_FIGURE_COLLINEARITY);
  bytes = contents (path, &n);
  big_bytes = contents (big, &m);
  g_assert_nonnull (strstr (bytes, "<title>&lt;a&gt; &amp; &quot;b&quot;: deviation</title>"));
  /* Rectangles below the limit of cells, one image above. */
  g_assert_cmpuint (count (bytes, n, "<image"), ==, 0);
  g_assert_cmpuint (count (big_bytes, m, "<image"), ==, 1);
  g_assert_true (g_str_has_suffix (bytes, "</svg>\n"));
  scratch_remove (folder);
}

/* PNG header: signature, then width and height at bytes 16 and 20. */
static void
test_png (void)
{
  char *folder = scratch_new ();
  g_autoptr (MharDataset) set = sample_full (13, 4);
  g_autoptr (GPtrArray) sets = list_of (set, set);
  g_autofree char *stem = save (folder, "my.figure.png", sets, MHAR_FIGURE_DEFAULT);
  double width, height;
  MharFigureOptions options;

  mhar_figure_options_init (&options);
  options.family = FONT;
  g_assert_true (mhar_figure_natural_size (set, MHAR_FIGURE_DEFAULT, &options, &width, &height, NULL));
  g_assert_false (g_file_test (stem, G_FILE_TEST_EXISTS));
  g_assert_cmpuint (entries (folder), ==, 2);
  for (guint i = 1; i <= 2; i++) {
    g_autofree char *path = g_strdup_printf ("%s/my.figure-%u.png", folder, i);
    gsize n;
    g_autofree char *bytes = contents (path, &n);
    const guint8 *p = (const guint8 *)bytes;

    g_assert_cmpmem (p, 8, "\x89PNG\r\n\x1a\n", 8);
    g_assert_cmpuint ((guint)(p[18] << 8 | p[19]), ==, (guint)(width * 3));
    g_assert_cmpuint ((guint)(p[22] << 8 | p[23]), ==, (guint)(height * 3));
  }
  scratch_remove (folder);
}

static void
test_bad_names (void)
{
  static const char *const names[] = { "figure", "figure.jpg", ".pdf", "a/.svg", "figure.pdf.gz", "" };
  g_autoptr (MharDataset) set = sample_full (9, 2);
  g_autoptr (GPtrArray) sets = list_of (set, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autoptr (GError) error = NULL;

    g_assert_false (mhar_figure_save (names[i], sets, MHAR_FIGURE_DEFAULT, NULL, &error));
    g_assert_error (error, MHAR_ERROR, MHAR_ERROR_USAGE);
  }
}

/* One checkpoint of several lacks the kind: no file at all. */
static void
test_all_or_nothing (void)
{
  char *folder = scratch_new ();
  g_autoptr (MharDataset) several = sample_full (9, 2), single = sample_full (9, 1);
  g_autoptr (GPtrArray) sets = list_of (several, single);
  g_autofree char *png = g_build_filename (folder, "a.png", NULL),
                  *missing = g_build_filename (folder, "no", "a.pdf", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_false (mhar_figure_save (png, sets, MHAR_FIGURE_DEVIATION, NULL, &error));
  scratch_assert_refused (&error, "sample|no deviation|--figure-kind kl");
  g_assert_false (mhar_figure_save (missing, sets, MHAR_FIGURE_DEFAULT, NULL, &error));
  g_assert_error (error, MHAR_ERROR, MHAR_ERROR_RUN);
  g_assert_nonnull (strstr (error->message, "a.pdf"));
  g_assert_cmpuint (entries (folder), ==, 0);
  scratch_remove (folder);
}

/* A disk that is full after a few bytes, as far as a process can have one: the old file stays, alone. */
static void
test_full_disk (void)
{
  char *folder = scratch_new ();
  g_autofree char *path = scratch_write (folder, "a.pdf", "old", 3);
  g_autoptr (MharDataset) set = sample_full (9, 2);
  g_autoptr (GPtrArray) sets = list_of (set, NULL);
  g_autoptr (GError) error = NULL;
  struct rlimit old, small;
  gboolean saved;
  gsize n;
  g_autofree char *bytes = NULL;

  g_assert_cmpint (getrlimit (RLIMIT_FSIZE, &old), ==, 0);
  signal (SIGXFSZ, SIG_IGN);
  small = (struct rlimit){ 1000, old.rlim_max };
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &small), ==, 0);
  saved = mhar_figure_save (path, sets, MHAR_FIGURE_DEFAULT, NULL, &error);
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &old), ==, 0);
  g_assert_false (saved);
  g_assert_error (error, MHAR_ERROR, MHAR_ERROR_RUN);
  g_assert_cmpuint (entries (folder), ==, 1);
  bytes = contents (path, &n);
  g_assert_cmpmem (bytes, n, "old", 3);
  scratch_remove (folder);
}

static cairo_status_t
append_text (void *text, const unsigned char *data, unsigned int length)
{
  g_string_append_len (text, (const char *)data, length);
  return CAIRO_STATUS_SUCCESS;
}

/* Two cells in the first row, three in the second, one in the third. */
static gboolean
staircase (gconstpointer data, guint row, guint column, MharRgb *colour)
{
  static const guint lengths[] = { 2, 3, 1 };

  (void)data;
  *colour = (MharRgb){ 1, 0, 0 };
  return column < lengths[row];
}

/* In vector files a cell reaches under the neighbours drawn after it, and never into a place without a cell. */
static void
test_overlap (void)
{
  static const double want[][4] = { /* left, top, right, bottom, in order of drawing */
    { 0, 0, 10.3, 10.3 }, { 10, 0, 20, 10.3 },
    { 0, 10, 10, 20 }, { 10, 10, 20.3, 20 }, { 20, 10, 30, 20 },
    { 0, 20, 10, 30 },
  };
  g_autoptr (GString) text = g_string_new (NULL);
  cairo_surface_t *surface = cairo_svg_surface_create_for_stream (append_text, text, 30, 30);
  cairo_t *cr = cairo_create (surface);
  MharHeatMap map = { .cells = { 0, 0, 30, 30 }, .rows = 3, .columns = 3, .colour = staircase };
  const char *at;
  guint n = 0;

  mhar_heat_map_paint (&map, cr);
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
  for (at = strstr (text->str, " d=\"M "); at; at = strstr (at + 1, " d=\"M "), n++) {
    double x0, y0, x1, y1, unused;

    g_assert_cmpint (sscanf (at, " d=\"M %lf %lf L %lf %lf L %lf %lf", &x0, &y0, &x1, &unused, &unused, &y1), ==, 6);
    g_assert_cmpuint (n, <, G_N_ELEMENTS (want));
    g_assert_cmpfloat (fabs (x0 - want[n][0]), <, 0.01);
    g_assert_cmpfloat (fabs (y0 - want[n][1]), <, 0.01);
    g_assert_cmpfloat (fabs (x1 - want[n][2]), <, 0.01);
    g_assert_cmpfloat (fabs (y1 - want[n][3]), <, 0.01);
  }
  g_assert_cmpuint (n, ==, G_N_ELEMENTS (want));
}

static void
test_svg_ids (void)
{
  static const char text[] = "<svg a=\"1\">\n<g id=\"surface41\"/><use href=\"#image7\"/><image id=\"image7\"/>"
                             "<use href=\"#surface41\"/><g id=\"glyph0-1\"/><g id=\"image\"/><g fill=\"#012345\"/>#";
  g_autoptr (GByteArray) svg = g_byte_array_new ();

  g_byte_array_append (svg, (const guint8 *)text, sizeof text - 1);
  mhar_svg_finish (svg, "a<b");
  g_byte_array_append (svg, (const guint8 *)"", 1);
  g_assert_cmpstr (
      (const char *)svg->data, ==,
      "<svg a=\"1\">\n<title>a&lt;b</title>\n<g id=\"surface1\"/><use href=\"#image2\"/><image id=\"image2\"/>"
      "<use href=\"#surface1\"/><g id=\"glyph0-1\"/><g id=\"image\"/><g fill=\"#012345\"/>#");
}

/* 4,000 × 4,000 cells: what is saved is a picture that can be sent and opened. Takes a while: `make test-long`. */
static void
test_sixteen_million_cells (void)
{
  if (g_getenv ("MHAR_TEST_LONG") == NULL) {
    g_test_skip ("part of make test-long");
    return;
  }
  char *folder = scratch_new ();
  g_autoptr (MharDataset) set = sample_outputs (4000);
  g_autoptr (GPtrArray) sets = list_of (set, NULL);

  for (guint e = 0; e < G_N_ELEMENTS (extensions); e++) {
    g_autofree char *name = g_strdup_printf ("large.%s", extensions[e]);
    gint64 before = g_get_monotonic_time ();
    g_autofree char *path = save (folder, name, sets, MHAR_FIGURE_COLLINEARITY);
    GStatBuf info;

    g_assert_cmpint (g_stat (path, &info), ==, 0);
    g_test_message ("4,000 x 4,000 cells as %s: %.1f MB, %.1f s", extensions[e], (double)info.st_size / 1e6,
                    (double)(g_get_monotonic_time () - before) / 1e6);
    g_assert_cmpint (info.st_size, >, 1000000);
    g_assert_cmpint (info.st_size, <, 50000000);
  }
  scratch_remove (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/figure-save/same-bytes", test_same_bytes);
  g_test_add_func ("/figure-save/pdf", test_pdf);
  g_test_add_func ("/figure-save/svg", test_svg);
  g_test_add_func ("/figure-save/svg-ids", test_svg_ids);
  g_test_add_func ("/figure-save/overlap", test_overlap);
  g_test_add_func ("/figure-save/png", test_png);
  g_test_add_func ("/figure-save/sixteen-million-cells", test_sixteen_million_cells);
  g_test_add_func ("/figure-save/bad-names", test_bad_names);
  g_test_add_func ("/figure-save/all-or-nothing", test_all_or_nothing);
  g_test_add_func ("/figure-save/full-disk", test_full_disk);
  return g_test_run ();
}
