/* SPDX-License-Identifier: MIT */
/* The words of interventions. */
#include "probes/intervention.h"

#include "core/error.h"

#include <string.h>

#define MOST 65536 /* heads, or weights kept: more is a slip */

static const struct {
  const char *name;
  const char *takes;
} kinds[] = {
  [MHAR_INTERVENTION_ABLATE] = { "ablate", "SITE:SOURCE, such as L3.mlp:embed, L2.attn+:oldest or *:newest" },
  [MHAR_INTERVENTION_CONSENSUS] = { "consensus", "a site, such as L3.mlp, L3.mlp+ or *" },
  [MHAR_INTERVENTION_SWAP] = { "swap-heads", "two heads A-B or SITE:A-B, such as 0-1 or L3.mlp:2-3" },
  [MHAR_INTERVENTION_PERMUTE] = { "permute-heads", "a site, such as L3.mlp, L3.mlp+ or *" },
  [MHAR_INTERVENTION_NULL] = { "null-query", "a site, such as L3.mlp, L3.mlp+ or *" },
  [MHAR_INTERVENTION_UNIFORM] = { "uniform", "a site, such as L3.mlp, L3.mlp+ or *" },
  [MHAR_INTERVENTION_TOP] = { "top-k", "K or SITE:K, K from 1 on, such as 2 or L3.mlp:1" },
  [MHAR_INTERVENTION_REGROUP] = { "regroup", "H or SITE:H, H from 1 on, such as 8 or L3.mlp:2" },
};

const char *
mhar_intervention_name (MharInterventionKind kind)
{
  return kinds[kind].name;
}

static void
intervention_free (gpointer data)
{
  MharIntervention *i = data;
  g_free (i->site);
  g_free (i->source);
  g_free (i->spec);
  g_free (i);
}

GPtrArray *
mhar_interventions_new (void)
{
  return g_ptr_array_new_with_free_func (intervention_free);
}

/* "*", "WORD" or "WORD+". */
static gboolean
take_site (MharIntervention *to, const char *text)
{
  gsize n = strlen (text);

  if (strcmp (text, "*") == 0)
    return TRUE;
  to->after = n > 1 && text[n - 1] == '+';
  to->site = g_strndup (text, n - (to->after ? 1 : 0));
  return to->site[0] != '\0' && strpbrk (to->site, "*+:") == NULL;
}

static gboolean
take_count (const char *text, guint least, guint *to)
{
  guint64 value;

  if (!g_ascii_string_to_unsigned (text, 10, least, MOST, &value, NULL))
    return FALSE;
  *to = (guint) value;
  return TRUE;
}

static gboolean
take_pair (MharIntervention *to, const char *text)
{
  g_auto (GStrv) heads = g_strsplit (text, "-", 3);

  return g_strv_length (heads) == 2 && take_count (heads[0], 0, &to->a) && take_count (heads[1], 0, &to->b) &&
         to->a != to->b;
}

/* What stands after the last colon, or alone. */
static gboolean
take_argument (MharIntervention *to, const char *text)
{
  switch (to->kind) {
  case MHAR_INTERVENTION_ABLATE:
    to->source = g_strdup (text);
    return text[0] != '\0';
  case MHAR_INTERVENTION_SWAP:
    return take_pair (to, text);
  default:
    return take_count (text, 1, &to->a);
  }
}

static char *
write_spec (const MharIntervention *i)
{
  const char *name = kinds[i->kind].name, *site = i->site != NULL ? i->site : "*", *plus = i->after ? "+" : "";

  switch (i->kind) {
  case MHAR_INTERVENTION_ABLATE:
    return g_strdup_printf ("%s%s:%s", site, plus, i->source);
  case MHAR_INTERVENTION_SWAP:
    return g_strdup_printf ("%s=%s%s:%u-%u", name, site, plus, i->a, i->b);
  case MHAR_INTERVENTION_TOP:
  case MHAR_INTERVENTION_REGROUP:
    return g_strdup_printf ("%s=%s%s:%u", name, site, plus, i->a);
  default:
    return g_strdup_printf ("%s=%s%s", name, site, plus);
  }
}

/* One item; NULL where it is none of the kind. */
static MharIntervention *
parse_one (MharInterventionKind kind, const char *text)
{
  MharIntervention *i = g_new0 (MharIntervention, 1);
  gboolean site_alone = kind == MHAR_INTERVENTION_CONSENSUS || kind == MHAR_INTERVENTION_PERMUTE ||
                        kind == MHAR_INTERVENTION_NULL || kind == MHAR_INTERVENTION_UNIFORM;
  const char *colon = strchr (text, ':');
  gboolean good;

  i->kind = kind;
  if (site_alone)
    good = take_site (i, text);
  else if (colon == NULL)
    good = kind != MHAR_INTERVENTION_ABLATE && take_argument (i, text);
  else {
    g_autofree char *site = g_strndup (text, (gsize) (colon - text));
    good = take_site (i, site) && take_argument (i, colon + 1);
  }
  if (good) {
    i->spec = write_spec (i);
    return i;
  }
  intervention_free (i);
  return NULL;
}

gboolean
mhar_interventions_parse (GPtrArray *list, MharInterventionKind kind, const char *text, GError **error)
{
  g_auto (GStrv) items = g_strsplit (text, ",", -1);
  guint before = list->len;

  for (guint k = 0; items[k] != NULL; k++) {
    MharIntervention *one = parse_one (kind, items[k]);
    if (one == NULL) {
      g_set_error (error, MHAR_ERROR, MHAR_ERROR_USAGE, "--%s takes %s, not “%s”", kinds[kind].name, kinds[kind].takes,
                   items[k]);
      g_ptr_array_set_size (list, (int) before);
      return FALSE;
    }
    for (guint i = 0; i < list->len; i++)
      if (strcmp (((const MharIntervention *)g_ptr_array_index (list, i))->spec, one->spec) == 0) {
        mhar_bad_usage (error, "--%s asks for %s twice; leave one of them out", kinds[kind].name, one->spec);
        intervention_free (one);
        g_ptr_array_set_size (list, (int)before);
        return FALSE;
      }
    g_ptr_array_add (list, one);
  }
  if (list->len > before)
    return TRUE;
  g_set_error (error, MHAR_ERROR, MHAR_ERROR_USAGE, "--%s takes %s, not nothing", kinds[kind].name, kinds[kind].takes);
  return FALSE;
}
