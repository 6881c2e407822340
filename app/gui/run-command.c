/* SPDX-License-Identifier: MIT */
#include "app/gui/run-command.h"

#include "probes/reads.h"

/* Longer texts are named, not repeated. */
#define PROMPT_MAX 400 /* bytes */

static void
append_quoted (GString *line, const char *word)
{
  g_autofree char *quoted = g_shell_quote (word);
  g_string_append_printf (line, " %s", quoted);
}

static void
append_text (GString *line, const MharRunRequest *request)
{
  gsize length = 0;
  const char *text = g_bytes_get_data (request->text, &length);

  if (g_str_equal (request->text_name, "bundled text"))
    return;
  if (g_str_equal (request->text_name, "prompt") && length <= PROMPT_MAX) {
    g_autofree char *prompt = g_strndup (text, length);
    g_string_append (line, " --prompt");
    append_quoted (line, prompt);
    return;
  }
  g_string_append (line, " --text");
  append_quoted (line, request->text_name);
}

static void
append_path (GString *line, const MharOpened *opened)
{
  g_autofree char *path = g_filename_display_name (mhar_opened_path (opened));
  append_quoted (line, path);
}

char *
mhar_run_command (const MharRunRequest *request)
{
  const MharProbeOptions *o = &request->options;
  GString *line = g_string_new ("mhar-probe");

  append_path (line, request->opened);
  if (request->other != NULL)
    append_path (line, request->other);
  append_text (line, request);
  if (!g_str_equal (request->device, "auto"))
    g_string_append_printf (line, " --device %s", request->device);
  if (o->context > 0)
    g_string_append_printf (line, " --context %u", o->context);
  if (o->max_tokens > 0)
    g_string_append_printf (line, " --max-tokens %" G_GINT64_FORMAT, o->max_tokens);
  if (o->batch > 0)
    g_string_append_printf (line, " --batch %u", o->batch);
  if (o->slices != 4)
    g_string_append_printf (line, " --slices %u", o->slices);
  if (o->interleaved)
    g_string_append (line, " --slicing interleaved");
  if (o->null_draws != 32)
    g_string_append_printf (line, " --null-draws %u", o->null_draws);
  if (o->null_kind != MHAR_NULL_RANDOM)
    g_string_append_printf (line, " --null-kind %s", mhar_null_kind_name (o->null_kind));
  if (o->null_norm_slice)
    g_string_append (line, " --null-norm slice");
  if (o->seed != 0)
    g_string_append_printf (line, " --seed %" G_GUINT64_FORMAT, o->seed);
  if (o->ablation_map)
    g_string_append (line, " --ablation-map");
  if (o->probes & MHAR_PROBE_READS)
    g_string_append (line, " --all --reads='" MHAR_READS_ALL "'");
  return g_string_free (line, FALSE);
}
