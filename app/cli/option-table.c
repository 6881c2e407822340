/* SPDX-License-Identifier: MIT */
#include "app/cli/option-table.h"

#include "core/error.h"
#include "probes/intervention.h"
#include "probes/reads.h"

#include <stddef.h>
#include <string.h>

#define AT(member) offsetof (MharCliOptions, member)
#define BITS MHAR_OPTION_BITS
#define FLAG MHAR_OPTION_FLAG
#define COUNT MHAR_OPTION_COUNT
#define WIDE MHAR_OPTION_WIDE
#define REAL MHAR_OPTION_REAL
#define CHOICE MHAR_OPTION_CHOICE
#define PARSED MHAR_OPTION_PARSED
#define WORD MHAR_OPTION_WORD

static gboolean
parse_kind (const char *text, gpointer field, GError **error)
{
  return mhar_figure_kind_parse (text, field, error);
}

static gboolean
parse_theme (const char *text, gpointer field, GError **error)
{
  return mhar_figure_theme_parse (text, field, error);
}

static gboolean
parse_style (const char *text, gpointer field, GError **error)
{
  return mhar_figure_style_parse (text, field, error);
}

/* Words between commas into places of `names`, each once; FALSE, with the reason, where one is not there. */
static gboolean
parse_list (const char *text, const char *option, const char *const *names, const char *more, guint *list, guint *n,
            GError **error)
{
  g_auto (GStrv) words = g_strsplit (text, ",", -1);

  *n = 0;
  for (guint w = 0; words[w] != NULL; w++) {
    guint place = 0;
    gboolean twice = FALSE;
    while (names[place] != NULL && strcmp (names[place], words[w]) != 0)
      place++;
    for (guint i = 0; i < *n; i++)
      twice = twice || list[i] == place;
    if (names[place] == NULL || twice) {
      g_autofree char *all = g_strjoinv (", ", (char **)names);
      return mhar_bad_usage (error, "%s takes one of %s%s, not “%s”; several go with commas between, each once", option,
                             all, more, text);
    }
    list[(*n)++] = place;
  }
  return *n > 0 || mhar_bad_usage (error, "%s needs a value", option);
}

static gboolean
parse_slicing (const char *text, gpointer field, GError **error)
{
  static const char *const names[] = { "contiguous", "interleaved", NULL };
  MharProbeOptions *o = field;
  guint list[2] = { 0 };

  if (!parse_list (strcmp (text, "both") == 0 ? "contiguous,interleaved" : text, "--slicing", names, ", both", list,
                   &o->n_all_slicings, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (list); i++)
    o->all_slicings[i] = (gboolean)list[i];
  o->interleaved = o->all_slicings[0];
  return TRUE;
}

static gboolean
parse_null_kind (const char *text, gpointer field, GError **error)
{
  static const char *const names[] = { "random", "shuffled", "swapped", NULL };
  MharProbeOptions *o = field;
  guint list[MHAR_NULL_KINDS] = { 0 };

  if (!parse_list (text, "--null-kind", names, "", list, &o->n_all_nulls, error))
    return FALSE;
  for (guint i = 0; i < MHAR_NULL_KINDS; i++)
    o->all_nulls[i] = (MharNullKind)list[i];
  o->null_kind = o->all_nulls[0];
  return TRUE;
}

static gboolean
parse_null_norm (const char *text, gpointer field, GError **error)
{
  static const char *const names[] = { "query", "slice", NULL };
  MharProbeOptions *o = field;
  guint list[2] = { 0 };

  if (!parse_list (text, "--null-norm", names, "", list, &o->n_all_norms, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (list); i++)
    o->all_norms[i] = (gboolean)list[i];
  o->null_norm_slice = o->all_norms[0];
  return TRUE;
}

static gboolean
parse_slices (const char *text, gpointer field, GError **error)
{
  MharProbeOptions *o = field;
  g_auto (GStrv) words = g_strsplit (text, ",", -1);
  guint n = g_strv_length (words);

  memset (o->all_slices, 0, sizeof o->all_slices);
  o->n_all_slices = 0;
  for (guint w = 0; w < n && n <= MHAR_MAX_SLICES; w++) {
    guint64 value = 0;
    gboolean good = g_ascii_string_to_unsigned (words[w], 10, 2, 65536, &value, NULL);
    for (guint i = 0; i < w; i++)
      good = good && o->all_slices[i] != value;
    if (!good)
      return mhar_bad_usage (
          error, "--slices takes a whole number from 2 to 65536, or several, each once, with commas between, not “%s”",
          text);
    o->all_slices[o->n_all_slices++] = (guint)value;
  }
  if (n == 0 || n > MHAR_MAX_SLICES)
    return mhar_bad_usage (error, "--slices takes a whole number from 2 to 65536, or up to %d of them, not “%s”",
                           MHAR_MAX_SLICES, text);
  o->slices = o->all_slices[0];
  return TRUE;
}

static gboolean
parse_ablate (const char *text, gpointer field, GError **error)
{
  return mhar_interventions_parse (*(GPtrArray **) field, MHAR_INTERVENTION_ABLATE, text, error);
}

static gboolean
parse_consensus (const char *text, gpointer field, GError **error)
{
  return mhar_interventions_parse (*(GPtrArray **) field, MHAR_INTERVENTION_CONSENSUS, text, error);
}

static gboolean
parse_swap (const char *text, gpointer field, GError **error)
{
  return mhar_interventions_parse (*(GPtrArray **) field, MHAR_INTERVENTION_SWAP, text, error);
}

static gboolean
parse_permute (const char *text, gpointer field, GError **error)
{
  return mhar_interventions_parse (*(GPtrArray **) field, MHAR_INTERVENTION_PERMUTE, text, error);
}

static gboolean
parse_null_query (const char *text, gpointer field, GError **error)
{
  return mhar_interventions_parse (*(GPtrArray **) field, MHAR_INTERVENTION_NULL, text, error);
}

static gboolean
parse_uniform (const char *text, gpointer field, GError **error)
{
  return mhar_interventions_parse (*(GPtrArray **) field, MHAR_INTERVENTION_UNIFORM, text, error);
}

static gboolean
parse_top (const char *text, gpointer field, GError **error)
{
  return mhar_interventions_parse (*(GPtrArray **) field, MHAR_INTERVENTION_TOP, text, error);
}

static gboolean
parse_regroup (const char *text, gpointer field, GError **error)
{
  return mhar_interventions_parse (*(GPtrArray **) field, MHAR_INTERVENTION_REGROUP, text, error);
}

static gboolean
parse_reads (const char *text, gpointer field, GError **error)
{
  return mhar_reads_specs_parse (*(GPtrArray **) field, text, error);
}

static gboolean
parse_size (const char *text, gpointer field, GError **error)
{
  static const char units[] = "KMGT";
  gsize n = strlen (text);
  const char *unit = n > 1 ? strchr (units, g_ascii_toupper (text[n - 1])) : NULL;
  g_autofree char *digits = g_strndup (text, unit != NULL ? n - 1 : n);
  guint shift = unit != NULL ? 10 * (guint) (unit - units + 1) : 0;
  guint64 value;

  if (!g_ascii_string_to_unsigned (digits, 10, 1, ((guint64) 1 << 62) >> shift, &value, NULL) || value << shift < 1 << 20)
    return mhar_bad_usage (error, "--max-memory takes a size of 1M or more, such as 800M or 8G, not “%s”", text);
  *(gint64 *) field = (gint64) (value << shift);
  return TRUE;
}

static const MharOptionRow probe_rows[] = {
  { "kl", 0, BITS, AT (probe.probes), NULL, "Slice or head disagreement, and its random-query null", MHAR_PROBE_KL },
  { "depth-maps", 0, BITS, AT (probe.probes), NULL, "Depth maps, deviation, entropy, contribution",
    MHAR_PROBE_DEPTH_MAPS },
  { "collinearity", 0, BITS, AT (probe.probes), NULL, "Cosines between sublayer outputs", MHAR_PROBE_COLLINEARITY },
  { "reads", 0, PARSED, AT (reads), "SITE:HEAD:SOURCE", "What heads read, as L3.mlp:2:embed (last:*:top)",
    .if_alone = MHAR_READS_DEFAULT, .parse = parse_reads },
  { "all", 0, BITS, AT (probe.probes), NULL, "All of them but --reads (the default)", MHAR_PROBE_ALL },
  { "compare", 0, FLAG, AT (compare), NULL, "Also how far the routing of two checkpoints lies apart" },
  { "series", 0, FLAG, AT (series), NULL, "The steps of a training run, of a folder or one by one, as curves" },
  { "slices", 0, PARSED, AT (probe), "S,…", "Slices of a query (4); several add controls to the first",
    .if_absent = "4", .parse = parse_slices },
  { "slicing", 0, PARSED, AT (probe), "HOW", "contiguous (the default), interleaved or both", .if_absent = "contiguous",
    .parse = parse_slicing },
  { "null-draws", 0, COUNT, AT (probe.null_draws), "N", "Null queries a site (32); 0: no null", 0, 1000000 },
  { "null-kind", 0, PARSED, AT (probe), "KIND,…", "Null queries: random (the default), shuffled or swapped; or several",
    .if_absent = "random", .parse = parse_null_kind },
  { "null-norm", 0, PARSED, AT (probe), "HOW,…",
    "Null queries keep the norm of the query (the default), or of each slice", .if_absent = "query",
    .parse = parse_null_norm },
  { "null-tokens", 0, WIDE, AT (probe.null_tokens), "N", "Tokens the nulls see (all)", 1, G_MAXINT32 },
  { "match-sources", 0, COUNT, AT (probe.match_sources), "M",
    "Also over M evenly spaced sources of every site that has them", 2, 65536 },
  { "top-tokens", 0, COUNT, AT (probe.top_tokens), "K", "Tokens in each list of --reads (10)", 1,
    MHAR_READS_MOST_TOKENS },
  { "seed", 0, WIDE, AT (probe.seed), "N", "Seed of the random queries (0)", 0, G_MAXUINT64 },
  { NULL },
};

/* Each may be given more than once, and takes several separated by commas. */
static const MharOptionRow intervention_rows[] = {
  { "ablate", 0, PARSED, AT (interventions), "SITE:SOURCE", "Leave a source out: L3.mlp:embed, L2.attn+:oldest, *:newest",
    .parse = parse_ablate },
  { "consensus", 0, PARSED, AT (interventions), "SITE", "All heads read with their mean (at every site)",
    .if_alone = "*", .parse = parse_consensus },
  { "swap-heads", 0, PARSED, AT (interventions), "[SITE:]A-B", "Two heads read with each other's weights (0-1)",
    .if_alone = "0-1", .parse = parse_swap },
  { "permute-heads", 0, PARSED, AT (interventions), "SITE", "Every head reads with the weights of the next",
    .if_alone = "*", .parse = parse_permute },
  { "null-query", 0, PARSED, AT (interventions), "SITE", "A random query in place of the trained one",
    .if_alone = "*", .parse = parse_null_query },
  { "uniform", 0, PARSED, AT (interventions), "SITE", "All sources weigh the same", .if_alone = "*",
    .parse = parse_uniform },
  { "top-k", 0, PARSED, AT (interventions), "[SITE:]K", "Only the K largest weights of each token and head",
    .parse = parse_top },
  { "regroup", 0, PARSED, AT (interventions), "[SITE:]H", "The trained query read in H heads", .parse = parse_regroup },
  { "ablation-map", 0, FLAG, AT (probe.ablation_map), NULL,
    "Every source of every site left out in turn, beside the routing mass" },
  { NULL },
};

static const MharOptionRow input_rows[] = {
  { "text", 't', WORD, AT (text), "FILE", "UTF-8 text; - reads standard input (a bundled text)" },
  { "prompt", 'p', WORD, AT (prompt), "TEXT", "The text itself" },
  { "tokens", 0, WORD, AT (tokens), "FILE", "Token ids: .u16, .u32 (little-endian) or .npy" },
  { "context", 0, COUNT, AT (probe.context), "T", "Tokens a window (1024, or the model's if less)", 2, 1 << 24 },
  { "max-tokens", 0, WIDE, AT (probe.max_tokens), "N", "Use only the first N tokens (all)", 2, G_MAXINT32 },
  { "skip-first", 0, COUNT, AT (probe.skip_first), "K",
    "Leave the first K positions of each window out of the means (0)", 0, 1 << 24 },
  { "batch", 0, COUNT, AT (probe.batch), "B", "Windows run together (chosen from memory)", 1, 1 << 20 },
  { NULL },
};

static const MharOptionRow model_rows[] = {
  { "device", 'd', WORD, AT (device), "DEVICE", "auto (the default), cpu, cuda, cuda:N or cuda:all" },
  { "precision", 0, CHOICE, AT (precision), "HOW", "fp32 or bf16 (fp32 on a CPU; as stored on a GPU)",
    .choices = "default|fp32|bf16" },
  { "config", 0, WORD, AT (config), "FILE", "In place of the config.json beside the tensors" },
  { "map", 0, WORD, AT (map), "FILE", "The names of the tensors of a dialect that is not known, as JSON" },
  { "heads", 0, COUNT, AT (heads), "H", "Routing heads, where the config is wrong or silent", 1, 65536 },
  { "block-delta", 0, CHOICE, AT (block_delta), "HOW", "Differences of delta blocks: recursive (the default) or true",
    .choices = "recursive|true" },
  { "strict", 0, FLAG, AT (strict), NULL, "Refuse routing tensors, layers and options that go unused" },
  { "routing", 0, CHOICE, AT (probe.plain), "HOW", "lookahead (the default) or plain, the reference path",
    .choices = "lookahead|plain" },
  { NULL },
};

static const MharOptionRow output_rows[] = {
  { "output", 'o', WORD, AT (output), "FILE.h5", "Write everything to an HDF5 file" },
  { "save-weights", 0, CHOICE, AT (save_weights), "f32|f16", "Every token's weights too, into that file (f32)",
    .choices = "no|f32|f16", .if_alone = "f32" },
  { "digest", 0, FLAG, AT (digest), NULL, "SHA-256 of the whole checkpoint, not of its routing alone" },
  { "table", 0, CHOICE, AT (table), "STYLE", "text (the default), markdown, csv or latex",
    .choices = "text|markdown|csv|latex" },
  { "report", 0, WORD, AT (report), "DIR", "Measure everything, and write it up as HTML, PDF and HDF5" },
  { "json", 0, FLAG, AT (json), NULL, "JSON instead of the table" },
  { "figure", 'f', WORD, AT (figure), "FILE", "Draw a figure: .pdf, .svg or .png" },
  { "figure-kind", 0, PARSED, AT (kind), "KIND", "deviation, depth-map, kl, collinearity … (all: man mhar-probe)", .parse = parse_kind },
  { "first-sites", 0, COUNT, AT (figure_options.first_sites), "N", "Sites in a map (10); 0: all", 0, 1 << 20 },
  { "theme", 0, PARSED, AT (figure_options.theme), "THEME", "light (the default) or dark", .parse = parse_theme },
  { "style", 0, PARSED, AT (figure_options.style), "STYLE", "default, or authors: as the paper's own plots",
    .parse = parse_style },
  { "private", 0, FLAG, AT (base_names), NULL, "Only the base names of paths in what is written" },
  { "quiet", 'q', FLAG, AT (quiet), NULL, "No notes on standard error" },
  { "progress", 0, CHOICE, AT (progress), "WHEN", "auto (the default: on a terminal), always or never",
    .choices = "auto|always|never" },
  { NULL },
};

static const MharOptionRow long_rows[] = {
  { "checkpoint-every", 0, WIDE, AT (checkpoint_every), "N",
    "Save the run's state after every N windows, beside the file of -o", 1, G_MAXINT32 },
  { "resume", 0, FLAG, AT (resume), NULL, "Go on where an interrupted run of the same command was" },
  { "max-memory", 0, PARSED, AT (probe.max_memory), "SIZE", "Bound the memory taken beside mapped files, as 8G, by the batch",
    .parse = parse_size },
  { NULL },
};

static const MharOptionRow other_rows[] = {
  { "info", 0, FLAG, AT (info), NULL, "What the checkpoint is, without running it" },
  { "sites", 0, FLAG, AT (sites), NULL, "Every site and the sources that it reads" },
  { "weights-only", 0, FLAG, AT (weights_only), NULL,
    "Norms and cosines of the routing queries, of any model, without running it" },
  { "verify", 0, WORD, AT (verify), "FILE", "Compare logits and weights with a .safetensors reference" },
  { "save-reference", 0, WORD, AT (save_reference), "FILE", "Write such a reference of the first window's tokens" },
  { "tolerance", 0, REAL, AT (tolerance), "X", "Relative norm error that --verify allows (1e-5)" },
  { "from", 0, WORD, AT (from), "FILE.h5", "Print and draw a saved run again, without the model" },
  { "merge", 0, FLAG, AT (merge), NULL, "Put saved runs of one checkpoint over several texts together" },
  { "devices", 0, FLAG, AT (devices), NULL, "List the devices, and why there are no more" },
  { "version", 0, FLAG, AT (version), NULL, "Print the version" },
  { "help", 'h', FLAG, AT (help), NULL, "Print this" },
  { NULL },
};

const MharOptionGroup mhar_option_groups[] = {
  { "Probes", probe_rows }, { "Interventions", intervention_rows }, { "Input", input_rows }, { "Model", model_rows },
  { "Output", output_rows }, { "Long runs", long_rows }, { "Other", other_rows }, { NULL, NULL },
};

const MharOptionRow *
mhar_option_find (const char *option)
{
  gboolean is_long = option[1] == '-';

  for (const MharOptionGroup *group = mhar_option_groups; group->title != NULL; group++)
    for (const MharOptionRow *row = group->rows; row->name != NULL; row++)
      if (is_long ? strcmp (row->name, option + 2) == 0 : row->letter == option[1])
        return row;
  return NULL;
}

gboolean
mhar_option_is_choice (const MharOptionRow *row, const char *word)
{
  g_auto (GStrv) choices = row->kind == CHOICE ? g_strsplit (row->choices, "|", -1) : NULL;
  return choices != NULL && word != NULL && g_strv_contains ((const char *const *)choices, word);
}
