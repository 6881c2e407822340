/* SPDX-License-Identifier: MIT */
#include "app/gui/selection.h"

enum { PROP_0, PROP_SITE, PROP_HEAD, PROP_SOURCE, PROP_TOKEN, N_PROPS };

struct _MharSelection {
  GObject parent;
  MharDataset *set;
  int n_tokens;
  int values[N_PROPS]; /* by property number */
};

G_DEFINE_FINAL_TYPE (MharSelection, mhar_selection, G_TYPE_OBJECT)

static GParamSpec *properties[N_PROPS];
static guint changed_signal;

/* Element `i` of an integer field of the dataset, else `otherwise`. */
static int
number_at (const MharDataset *set, const char *name, int i, int otherwise)
{
  const MharField *field = set != NULL && i >= 0 ? mhar_dataset_get (set, name) : NULL;

  if (field == NULL || field->type != MHAR_FIELD_I32 || (gsize) i >= mhar_field_length (field))
    return otherwise;
  return field->data.i32[i];
}

static int
count_sites (const MharDataset *set)
{
  const MharField *sources = set != NULL ? mhar_dataset_get (set, "n_sources") : NULL;

  return sources != NULL ? (int) mhar_field_dim (sources, "site") : 0;
}

/* Brings every value into what the dataset has; the site decides about head and source. */
static void
clamp_values (const MharSelection *self, int *values)
{
  int sites = count_sites (self->set);

  values[PROP_SITE] = CLAMP (values[PROP_SITE], sites > 0 ? 0 : -1, sites - 1);
  int heads = number_at (self->set, "n_heads", values[PROP_SITE], 0);
  int sources = number_at (self->set, "n_sources", values[PROP_SITE], 0);
  values[PROP_HEAD] = heads == 1 ? 0 : CLAMP (values[PROP_HEAD], -1, heads - 1); /* one head is its own consensus */
  values[PROP_SOURCE] = CLAMP (values[PROP_SOURCE], -1, sources - 1);
  values[PROP_TOKEN] = CLAMP (values[PROP_TOKEN], -1, self->n_tokens - 1);
}

/* Takes the wanted values, clamped; one "changed" where any differs. */
static void
take (MharSelection *self, int *values)
{
  gboolean changed = FALSE;

  clamp_values (self, values);
  g_object_freeze_notify (G_OBJECT (self));
  for (guint p = 1; p < N_PROPS; p++) {
    if (self->values[p] == values[p])
      continue;
    self->values[p] = values[p];
    g_object_notify_by_pspec (G_OBJECT (self), properties[p]);
    changed = TRUE;
  }
  g_object_thaw_notify (G_OBJECT (self));
  if (changed)
    g_signal_emit (self, changed_signal, 0);
}

static void
set_one (MharSelection *self, guint property, int value)
{
  int values[N_PROPS];

  for (guint p = 0; p < N_PROPS; p++)
    values[p] = p == property ? value : self->values[p];
  take (self, values);
}

static void
get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  if (id == PROP_0 || id >= N_PROPS)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  else
    g_value_set_int (value, MHAR_SELECTION (object)->values[id]);
}

static void
set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  if (id == PROP_0 || id >= N_PROPS)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  else
    set_one (MHAR_SELECTION (object), id, g_value_get_int (value));
}

static void
finalize (GObject *object)
{
  mhar_dataset_unref (MHAR_SELECTION (object)->set);
  G_OBJECT_CLASS (mhar_selection_parent_class)->finalize (object);
}

static void
mhar_selection_class_init (MharSelectionClass *class)
{
  static const char *const names[N_PROPS] = { NULL, "site", "head", "source", "token" };
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->get_property = get_property;
  object_class->set_property = set_property;
  object_class->finalize = finalize;
  for (guint p = 1; p < N_PROPS; p++)
    properties[p] = g_param_spec_int (names[p], NULL, NULL, -1, G_MAXINT, -1,
                                      G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);
  changed_signal
      = g_signal_new ("changed", MHAR_TYPE_SELECTION, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
mhar_selection_init (MharSelection *self)
{
  for (guint p = 0; p < N_PROPS; p++)
    self->values[p] = -1;
}

MharSelection *
mhar_selection_new (void)
{
  return g_object_new (MHAR_TYPE_SELECTION, NULL);
}

void
mhar_selection_set_dataset (MharSelection *self, MharDataset *set)
{
  MharDataset *old = self->set;
  int values[N_PROPS];

  self->set = set != NULL ? mhar_dataset_ref (set) : NULL;
  mhar_dataset_unref (old);
  for (guint p = 0; p < N_PROPS; p++)
    values[p] = self->values[p];
  take (self, values);
}

void
mhar_selection_set_n_tokens (MharSelection *self, int n)
{
  self->n_tokens = n;
  set_one (self, PROP_TOKEN, self->values[PROP_TOKEN]);
}

int
mhar_selection_get_site (MharSelection *self)
{
  return self->values[PROP_SITE];
}

int
mhar_selection_get_head (MharSelection *self)
{
  return self->values[PROP_HEAD];
}

int
mhar_selection_get_source (MharSelection *self)
{
  return self->values[PROP_SOURCE];
}

int
mhar_selection_get_token (MharSelection *self)
{
  return self->values[PROP_TOKEN];
}

void
mhar_selection_set_site (MharSelection *self, int site)
{
  set_one (self, PROP_SITE, site);
}

void
mhar_selection_set_head (MharSelection *self, int head)
{
  set_one (self, PROP_HEAD, head);
}

void
mhar_selection_set_source (MharSelection *self, int source)
{
  set_one (self, PROP_SOURCE, source);
}

void
mhar_selection_set_token (MharSelection *self, int token)
{
  set_one (self, PROP_TOKEN, token);
}

void
mhar_selection_set_cell (MharSelection *self, int site, int head, int source)
{
  int values[N_PROPS] = { 0, site, head, source, self->values[PROP_TOKEN] };
  take (self, values);
}

gboolean
mhar_selection_choose_largest (MharSelection *self)
{
  const MharField *weight = self->set != NULL ? mhar_dataset_get (self->set, "weight") : NULL;
  double most = -1;
  gsize best = 0;

  if (self->values[PROP_SOURCE] >= 0 || weight == NULL || weight->n_dims != 3)
    return FALSE;
  for (gsize i = 0; i < mhar_field_length (weight); i++) {
    int site = (int) (i / (weight->shape[1] * weight->shape[2]));
    double value = mhar_field_value (weight, i);
    if (number_at (self->set, "n_sources", site, 0) < 2 || !(value > most)) /* NaN is nothing */
      continue;
    most = value;
    best = i;
  }
  if (most < 0)
    return FALSE;
  mhar_selection_set_cell (self, (int) (best / (weight->shape[1] * weight->shape[2])),
                           (int) (best / weight->shape[2] % weight->shape[1]), (int) (best % weight->shape[2]));
  return TRUE;
}
