/* SPDX-License-Identifier: MIT */
#include "app/gui/comparison-words.h"

#include "app/gui/dataset-look.h"
#include "app/gui/display.h"
#include "app/gui/verdict-words.h"
#include "probes/compare.h"

#include <glib/gi18n.h>
#include <math.h>

/* "0→3, 1→2". */
static void
append_heads (GString *words, const MharDataset *compare)
{
  gsize heads = 0;
  const gint32 *match = mhar_comparison_matching (compare, FALSE, &heads);
  g_autoptr (GString) pairs = g_string_new (NULL);

  for (gsize h = 0; match != NULL && h < heads; h++)
    g_string_append_printf (pairs, "%s%" G_GSIZE_FORMAT "→%d", h > 0 ? ", " : "", h, match[h]);
  if (match != NULL)
    g_string_append_printf (words, _("Each head of A stands beside the head of B that reads most like it: %s. "), pairs->str);
}

char *
mhar_comparison_words (const MharDataset *compare)
{
  gboolean heads = isfinite (mhar_dataset_real (compare, "js_matched", NAN));
  double distance = mhar_dataset_real (compare, heads ? "js_matched" : "js_consensus", NAN);
  double null = mhar_dataset_real (compare, heads ? "null_js" : "null_js_consensus", NAN);
  double ratio = mhar_dataset_real (compare, heads ? "js_ratio" : "js_ratio_consensus", NAN);
  double p = mhar_dataset_real (compare, heads ? "p_value" : "p_value_consensus", NAN);
  g_autofree char *apart = mhar_display_number (distance, 4, FALSE), *halves = mhar_display_number (null, 4, FALSE);
  g_autofree char *p_shown = mhar_p_value_shown (p);
  GString *words = g_string_new (NULL);

  if (heads)
    append_heads (words, compare);
  g_string_append_printf (words, heads ? _("They lie %s nat apart") : _("The mean heads lie %s nat apart"), apart);
  if (!isfinite (null))
    g_string_append (words, _("; one window is too little to say what the text alone does."));
  else if (isfinite (p))
    g_string_append_printf (words, _(", %.1f times what two halves of the text make of one checkpoint (%s; p = %s)."), ratio, halves,
                            p_shown);
  else
    g_string_append_printf (words, _(", %.1f times what two halves of the text make of one checkpoint (%s)."), ratio, halves);
  return g_string_free (words, FALSE);
}

const char *
mhar_comparison_no_deviation (const MharDataset *a, const MharDataset *b, int head)
{
  if (!mhar_figure_available (a, MHAR_FIGURE_DEVIATION))
    return mhar_look_many_heads (a) ? _("A holds no deviations") : _("A has one head: its weights deviate from nothing");
  if (!mhar_figure_available (b, MHAR_FIGURE_DEVIATION))
    return mhar_look_many_heads (b) ? _("B holds no deviations") : _("B has one head: its weights deviate from nothing");
  if (head < 0)
    return _("The mean over heads does not deviate from itself: select a head");
  return mhar_look_shares_head (a, b, head) ? NULL : _("A and B have not as many heads: only the means over heads are compared");
}

/* Of the account that a file gives of its run. */
static const char *
text_attribute (const MharDataset *root, const char *name)
{
  const MharDataset *provenance = mhar_dataset_find_child (root, "provenance");

  return provenance != NULL ? mhar_dataset_string (provenance, name) : NULL;
}

/* "1024 tokens of bundled text". */
static char *
text_run (const MharDataset *root, gint64 tokens)
{
  const char *name = text_attribute (root, "text");

  return g_strdup_printf (ngettext ("%d token of %s", "%d tokens of %s", (gulong) tokens), (int) tokens,
                          name != NULL ? name : _("a text"));
}

char *
mhar_comparison_text_words (const MharDataset *root_a, const MharDataset *a, const MharDataset *root_b, const MharDataset *b)
{
  const char *digests[2] = { text_attribute (root_a, "text_sha256"), text_attribute (root_b, "text_sha256") };
  gint64 tokens[2] = { mhar_dataset_integer (a, "tokens", -1), mhar_dataset_integer (b, "tokens", -1) };
  gboolean known = digests[0] != NULL && digests[1] != NULL && tokens[0] >= 0 && tokens[1] >= 0;

  if (!known || (tokens[0] == tokens[1] && g_str_equal (digests[0], digests[1])))
    return NULL;
  g_autofree char *first = text_run (root_a, tokens[0]), *second = text_run (root_b, tokens[1]);
  if (g_str_equal (digests[0], digests[1]))
    return g_strdup_printf (_("B ran another length of the text: %s, A %s. The difference may be the tokens’ and not the checkpoints’."),
                            second, first);
  return g_strdup_printf (_("B ran another text: %s, A %s. The difference may be the texts’ and not the checkpoints’."), second,
                          first);
}
