/* SPDX-License-Identifier: MIT */
#include "app/cli/token-source.h"

#include "core/digest.h"
#include "core/error.h"
#include "core/input.h"
#include "core/npy.h"
#include "core/paths.h"
#include "core/tokenizer.h"

#include <gio/gio.h>
#include <gio/gunixinputstream.h>
#include <string.h>
#include <unistd.h>

/* No text is longer; what never ends is not read for ever. */
#define TEXT_MAX (1 << 30) /* bytes */

static GBytes *
read_standard_input (GCancellable *cancellable, GError **error)
{
  g_autoptr (GInputStream) in = g_unix_input_stream_new (STDIN_FILENO, FALSE);
  GByteArray *all = g_byte_array_new ();
  guint8 part[65536];
  gssize n;
  g_autoptr (GError) local = NULL;

  while ((n = g_input_stream_read (in, part, sizeof part, cancellable, &local)) > 0 && all->len + n <= TEXT_MAX)
    g_byte_array_append (all, part, (guint) n);
  if (n == 0)
    return g_byte_array_free_to_bytes (all);
  g_byte_array_unref (all);
  if (n > 0)
    mhar_bad_input (error, "standard input has more than 1 GiB of text; cut it into parts");
  else if (g_error_matches (local, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    g_propagate_error (error, g_steal_pointer (&local));
  else
    mhar_bad_input (error, "standard input cannot be read: %s; give a file with --text", local->message);
  return NULL;
}

static GBytes *
read_file (const char *path, guint64 limit, GError **error)
{
  g_autoptr (GMappedFile) map = mhar_input_map (path, limit, error);
  return map != NULL ? g_mapped_file_get_bytes (map) : NULL;
}

static GBytes *
read_text (const MharCliOptions *options, char **name, GCancellable *cancellable, GError **error)
{
  if (options->prompt != NULL) {
    *name = g_strdup ("prompt");
    return g_bytes_new (options->prompt, strlen (options->prompt));
  }
  if (options->text != NULL && strcmp (options->text, "-") == 0) {
    *name = g_strdup ("standard input");
    return read_standard_input (cancellable, error);
  }
  if (options->text != NULL) {
    *name = g_filename_display_basename (options->text);
    return read_file (options->text, TEXT_MAX, error);
  }
  g_autofree char *bundled = mhar_path_data ("demo/text.txt");
  *name = g_strdup ("bundled text");
  if (bundled == NULL) {
    mhar_bad_input (error, "the bundled text is not installed; give --text, --prompt or --tokens");
    return NULL;
  }
  return read_file (bundled, TEXT_MAX, error);
}

static gboolean
open_ids (MharTokenSource *source, const char *path, GCancellable *cancellable, GError **error)
{
  g_autoptr (GBytes) bytes = read_file (path, 0, error);

  if (bytes == NULL)
    return FALSE;
  source->name = g_filename_display_basename (path);
  source->digest = mhar_digest_bytes (bytes, cancellable, error);
  source->ids = source->digest != NULL ? mhar_ids_parse (bytes, path, error) : NULL;
  return source->ids != NULL;
}

MharTokenSource *
mhar_token_source_open (const MharCliOptions *options, GCancellable *cancellable, GError **error)
{
  g_autoptr (MharTokenSource) source = g_new0 (MharTokenSource, 1);

  if (options->tokens != NULL)
    return open_ids (source, options->tokens, cancellable, error) ? g_steal_pointer (&source) : NULL;
  source->text = read_text (options, &source->name, cancellable, error);
  if (source->text == NULL)
    return NULL;
  if (g_bytes_get_size (source->text) == 0) {
    mhar_bad_input (error, "%s is empty; give some text", source->name);
    return NULL;
  }
  source->digest = mhar_digest_bytes (source->text, cancellable, error);
  return source->digest != NULL ? g_steal_pointer (&source) : NULL;
}

void
mhar_token_source_free (MharTokenSource *source)
{
  if (source == NULL)
    return;
  g_clear_pointer (&source->text, g_bytes_unref);
  g_clear_pointer (&source->ids, g_array_unref);
  g_free (source->name);
  g_free (source->digest);
  g_free (source);
}

GArray *
mhar_token_source_ids (const MharTokenSource *source, const MharCheckpoint *checkpoint, GCancellable *cancellable,
                       GError **error)
{
  if (source->ids != NULL)
    return g_array_ref (source->ids);
  g_autofree char *path = g_build_filename (mhar_checkpoint_folder (checkpoint), "tokenizer.json", NULL);
  if (!g_file_test (path, G_FILE_TEST_EXISTS)) {
    mhar_bad_input (
        error, "%s: there is no tokenizer.json, so text cannot be encoded; put it there, or give ids with --tokens",
        mhar_checkpoint_folder (checkpoint));
    return NULL;
  }
  g_autoptr (MharTokenizer) tokenizer = mhar_tokenizer_load (path, error);
  if (tokenizer == NULL)
    return NULL;
  gsize length = 0;
  const char *text = g_bytes_get_data (source->text, &length);
  g_autoptr (GError) local = NULL;
  g_autoptr (GArray) tokens = mhar_tokenizer_encode (tokenizer, text, length, cancellable, &local);
  if (tokens == NULL && local->domain == MHAR_ERROR)
    mhar_bad_input (error, "%s: %s", source->name, local->message);
  else if (tokens == NULL)
    g_propagate_error (error, g_steal_pointer (&local));
  if (tokens == NULL)
    return NULL;
  GArray *ids = g_array_sized_new (FALSE, FALSE, sizeof (gint32), tokens->len);
  for (guint i = 0; i < tokens->len; i++)
    g_array_append_val (ids, g_array_index (tokens, MharToken, i).id);
  return ids;
}

char *
mhar_token_source_tokenizer (const MharTokenSource *source, const MharCheckpoint *checkpoint)
{
  g_autofree char *path = g_build_filename (mhar_checkpoint_folder (checkpoint), "tokenizer.json", NULL);
  g_autoptr (GBytes) bytes = source->ids == NULL ? read_file (path, 0, NULL) : NULL;

  return bytes != NULL ? mhar_digest_bytes (bytes, NULL, NULL) : NULL;
}
