/* SPDX-License-Identifier: MIT */
/* A dialect that the user describes, in a name map (core/name-map.h): where its queries are, and one of four rules.
 *
 * replace, no blocks   each site reads every output so far, the embedding first; without a final route the last norm
 * takes their sum replace, blocks      each site reads the finished blocks and the running sum p; the site that begins
 * a block reads the old p, which is then finished, and p starts anew with that sublayer's output add, no blocks an
 * ordinary stream; from the second site on a read of every output so far is added to what a sublayer takes add, blocks
 * likewise a read of blocks: the embedding, and at the first sublayer of each block, before its output is added, the
 * stream less the block before (--block-delta)
 *
 * A site's tensors may be absent where it has one source or none, since nothing is to be chosen there. */
#include "core/dialect.h"

#include "core/error.h"
#include "core/name-map.h"

typedef struct {
  const MharCheckpoint *checkpoint;
  const MharNameMap *map;
  const MharBody *body;
  const MharDialectOptions *options;
  MharPlan *plan;
  GArray *sources; /* rows that the next site reads, but for p */
} Builder;

static gboolean
recognise (const MharCheckpoint *checkpoint)
{
  return mhar_checkpoint_map (checkpoint) != NULL;
}

/* The values of a tensor of the map, NULL on error; noted as routing. */
static double *
take (Builder *b, const char *pattern, int layer, guint n_dims, const guint64 *shape, GError **error)
{
  g_autofree char *name = mhar_name_fill (pattern, layer);
  const MharTensor *tensor = mhar_checkpoint_need (b->checkpoint, name, n_dims, shape, error);

  if (tensor == NULL)
    return NULL;
  g_ptr_array_add (b->plan->routing, g_steal_pointer (&name));
  return mhar_tensor_values (tensor);
}

/* g, or ones where the map has no norm or the file has the product. */
static double *
take_gain (Builder *b, const MharMapKeys *keys, int layer, GError **error)
{
  guint64 width = (guint64)b->body->width;

  if (keys->norm != NULL)
    return take (b, keys->norm, layer, 1, &width, error);
  double *ones = g_new (double, width);
  for (guint64 i = 0; i < width; i++)
    ones[i] = 1;
  return ones;
}

/* The next site over the sources and, unless it is negative, `last`; its index, −1 on error. */
static int
add_site (Builder *b, MharSiteKind kind, int layer, int last, GError **error)
{
  const MharMapKeys *keys = kind == MHAR_SITE_ATTN  ? &b->map->attn
                            : kind == MHAR_SITE_MLP ? &b->map->mlp
                                                    : &b->map->final;
  guint64 one = 1, shape[2] = { 1, (guint64)b->body->width };
  double *query = take (b, keys->product != NULL ? keys->product : keys->query, layer, 2, shape, error);
  double *gain = query != NULL ? take_gain (b, keys, layer, error) : NULL;
  g_autofree double *bias = gain != NULL && keys->bias != NULL ? take (b, keys->bias, layer, 1, &one, error) : NULL;
  g_autoptr (GArray) rows = g_array_copy (b->sources);

  if (gain == NULL || (keys->bias != NULL && bias == NULL)) {
    g_free (gain);
    g_free (query);
    return -1;
  }
  if (last >= 0)
    g_array_append_val (rows, last);
  int index = mhar_plan_add_site (b->plan, kind, layer, (const int *)rows->data, (int)rows->len, b->plan->heads, FALSE,
                                  query, gain);
  MharSite *site = g_ptr_array_index (b->plan->sites, index);
  site->mode = b->map->add ? MHAR_READ_ADD : MHAR_READ_REPLACE;
  site->base = MHAR_VALUE_STREAM;
  site->bias = bias != NULL ? *bias : 0;
  return index;
}

/* Reads the sources (and `last`) and runs the sublayer that this feeds; the row of its output, −1 on error. */
static int
run_sublayer (Builder *b, int s, int last, GError **error)
{
  MharSiteKind kind = s % 2 == 0 ? MHAR_SITE_ATTN : MHAR_SITE_MLP;
  const MharMapKeys *keys = kind == MHAR_SITE_MLP ? &b->map->mlp : &b->map->attn;
  g_autofree char *name = mhar_name_fill (keys->product != NULL ? keys->product : keys->query, s / 2);
  guint n = b->sources->len + (last >= 0);
  gboolean there = mhar_checkpoint_find (b->checkpoint, name) != NULL;
  int site = -1;

  if (n > 0 && (there || n > 1 || b->map->add)) {
    site = add_site (b, kind, s / 2, last, error);
    if (site < 0)
      return -1;
  }
  mhar_plan_add_step (b->plan, MHAR_STEP_READ, site, MHAR_VALUE_STREAM);
  return mhar_plan_run_sublayer (b->plan, kind, s / 2);
}

/* The program's end: the final route over the sources and `last`, or what the stream holds. */
static gboolean
finish (Builder *b, int last, GError **error)
{
  gboolean route = b->map->final.query != NULL || b->map->final.product != NULL;
  int site = route ? add_site (b, MHAR_SITE_FINAL, -1, last, error) : -1;

  mhar_plan_add_step (b->plan, MHAR_STEP_READ, site, MHAR_VALUE_STREAM);
  return !route || site >= 0;
}

/* Every output so far; where reads are added, from the second site on. */
static gboolean
build_rows (Builder *b, int embed, GError **error)
{
  if (!b->map->add)
    g_array_append_val (b->sources, embed);
  for (int s = 0; s < 2 * b->body->layers; s++) {
    int row = run_sublayer (b, s, -1, error);
    if (row < 0)
      return FALSE;
    if (s == 0 && b->map->add)
      g_array_append_val (b->sources, embed);
    g_array_append_val (b->sources, row);
    mhar_plan_add_step (b->plan, MHAR_STEP_STREAM_ADD, 0, MHAR_VALUE_OUT);
  }
  return finish (b, -1, error);
}

/* The row of p: the output that it consists of where it is only one, else one of its own. */
static int
running_row (Builder *b, int only, gboolean finished)
{
  if (only >= 0)
    return only;
  int row = finished ? mhar_plan_add_row (b->plan, "block %u", b->sources->len) : mhar_plan_add_row (b->plan, "stream");
  mhar_plan_add_step (b->plan, MHAR_STEP_STORE, row, MHAR_VALUE_STREAM);
  return row;
}

static gboolean
build_replaced_blocks (Builder *b, int embed, GError **error)
{
  int only = embed;

  for (int s = 0; s < 2 * b->body->layers; s++) {
    gboolean begins = s % b->map->period == 0;
    int p = running_row (b, only, begins), row = run_sublayer (b, s, p, error);
    if (row < 0)
      return FALSE;
    if (begins)
      g_array_append_val (b->sources, p);
    mhar_plan_add_step (b->plan, begins ? MHAR_STEP_STREAM_SET : MHAR_STEP_STREAM_ADD, 0, MHAR_VALUE_OUT);
    only = begins ? row : -1;
  }
  gboolean route = b->map->final.query != NULL || b->map->final.product != NULL;
  return finish (b, route ? running_row (b, only, FALSE) : -1, error);
}

/* The next block of an ordinary stream; *last: the row that the one after it lacks. */
static void
add_block (Builder *b, int s, int embed, int *last)
{
  gboolean another = s + b->map->period < 2 * b->body->layers;
  int row = embed;

  if (b->sources->len > 0) {
    row = mhar_plan_add_row (b->plan, "block %u", b->sources->len);
    mhar_plan_add_store (b->plan, row, MHAR_VALUE_STREAM_LESS, *last);
  }
  *last = row;
  if (row != embed && another && b->options->block_delta == MHAR_BLOCK_DELTA_TRUE) {
    *last = mhar_plan_add_row (b->plan, "stream at L%d.%s", s / 2, s % 2 == 0 ? "attn" : "mlp");
    mhar_plan_add_step (b->plan, MHAR_STEP_STORE, *last, MHAR_VALUE_STREAM);
  }
  g_array_append_val (b->sources, row);
}

static gboolean
build_added_blocks (Builder *b, int embed, GError **error)
{
  int last = embed;

  b->plan->block_delta = b->options->block_delta == MHAR_BLOCK_DELTA_TRUE ? "true" : "recursive";
  for (int s = 0; s < 2 * b->body->layers; s++) {
    if (run_sublayer (b, s, -1, error) < 0)
      return FALSE;
    if (s % b->map->period == 0)
      add_block (b, s, embed, &last);
    mhar_plan_add_step (b->plan, MHAR_STEP_STREAM_ADD, 0, MHAR_VALUE_OUT);
  }
  return finish (b, -1, error);
}

static gboolean
check (const Builder *b, int heads, GError **error)
{
  const MharNameMap *map = b->map;

  if (map->add && (map->final.query != NULL || map->final.product != NULL))
    return mhar_bad_input (error, "%s: a final route goes with read replace only; leave out 'final'", map->path);
  if (b->body->width % heads != 0)
    return mhar_bad_input (error, "%s: %d routing heads do not divide a width of %d; mend 'heads'", map->path, heads,
                           b->body->width);
  return TRUE;
}

static MharPlan *
build (const MharCheckpoint *checkpoint, const MharDialectOptions *options, GError **error)
{
  Builder b = { .checkpoint = checkpoint, .map = mhar_checkpoint_map (checkpoint), .options = options };
  g_autoptr (GArray) sources = g_array_new (FALSE, FALSE, sizeof (int));
  int heads = options->heads > 0 ? options->heads : b.map->heads;

  b.body = mhar_config_body (mhar_checkpoint_config (checkpoint));
  if (!check (&b, heads, error))
    return NULL;
  g_autofree char *blocks
      = b.map->period > 0 ? g_strdup_printf (", blocks of %d sublayers", b.map->period) : g_strdup ("");
  g_autofree char *mode = g_strconcat (b.map->add ? "add" : "replace", blocks, NULL);
  g_autoptr (MharPlan) plan = mhar_plan_new (b.map->name, mode, b.body->layers, b.body->width, heads);
  b.plan = plan;
  plan->eps = b.map->eps;
  b.sources = sources;
  int embed = mhar_plan_store_embedding (plan);
  gboolean good = b.map->period == 0 ? build_rows (&b, embed, error)
                  : b.map->add       ? build_added_blocks (&b, embed, error)
                                     : build_replaced_blocks (&b, embed, error);
  return good ? g_steal_pointer (&plan) : NULL;
}

const MharDialect mhar_dialect_map = { "map", recognise, build };
