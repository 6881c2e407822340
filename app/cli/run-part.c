/* SPDX-License-Identifier: MIT */
#include "app/cli/run-part.h"

#include "app/cli/run-identity.h"
#include "app/cli/run-lock.h"
#include "core/error.h"
#include "core/output-target.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATE "state.h5"

struct _MharRunPart {
  char *output, *folder, *name;
  int lock; /* −1: not ours */
  const MharDataset *identity;
  GPtrArray *states;    /* MharDataset *: checkpoint_0 …, of the checkpoints that were begun */
  guint segments;       /* that count */
  guint next;           /* of mhar_run_part_next */
  guint next_of;        /* its checkpoint */
  MharH5Writer *writer; /* of the segment after them; NULL where nothing is in it */
  guint64 bytes;
};

/* ---- names ---- */

static char *
path_of (const MharRunPart *part, const char *name)
{
  return g_build_filename (part->folder, name, NULL);
}

static char *
segment_path (const MharRunPart *part, guint number)
{
  g_autofree char *name = g_strdup_printf ("%06u.h5", number);
  return path_of (part, name);
}

/* The number of a segment's name, −1 of another of ours (the state, or a file that was not finished), −2 of none. */
static gint64
number_of (const char *name)
{
  guint64 number;
  g_autofree char *digits = g_strndup (name, MIN (strlen (name), 6));

  if (strlen (name) == 9 && g_str_has_suffix (name, ".h5")
      && g_ascii_string_to_unsigned (digits, 10, 0, 999999, &number, NULL))
    return (gint64)number;
  return mhar_output_is_unfinished (name) || strcmp (name, STATE) == 0 ? -1 : -2;
}

/* Removes what a run that died has left behind: unfinished files, and segments from `first` on; with `state` that too.
 */
static void
sweep (const MharRunPart *part, guint first, gboolean state)
{
  g_autoptr (GDir) dir = g_dir_open (part->folder, 0, NULL);

  for (const char *name; dir != NULL && (name = g_dir_read_name (dir)) != NULL;) {
    gint64 number = number_of (name);
    g_autofree char *path = path_of (part, name);
    if (number >= (gint64)first || (number == -1 && (state || strcmp (name, STATE) != 0)))
      g_unlink (path);
  }
}

/* ---- what was saved ---- */

static gboolean
damaged (const MharRunPart *part, GError **error, const char *what)
{
  return mhar_bad_input (error, "%s: %s; remove the folder and start anew", part->name, what);
}

/* A file of ours. What is wrong with one that is damaged or another's is said without the remedy, which is for results.
 */
static MharDataset *
read_file (const char *path, const char *const *skip, GError **error)
{
  g_autoptr (GError) local = NULL;
  MharDataset *root = mhar_h5_read (path, skip, &local);

  if (root != NULL)
    return root;
  const char *remedy = g_strrstr (local->message, "; "), *disk = strstr (local->message, "; look after");
  if (g_error_matches (local, MHAR_ERROR, MHAR_ERROR_INPUT) && remedy != NULL && disk == NULL)
    mhar_bad_input (error, "%.*s", (int)(remedy - local->message), local->message);
  else
    g_propagate_error (error, g_steal_pointer (&local));
  return NULL;
}

/* Takes the states, whose segments follow each other. */
static gboolean
take_states (MharRunPart *part, const MharDataset *root, GError **error)
{
  for (guint c = 0;; c++) {
    g_autofree char *name = g_strdup_printf ("checkpoint_%u", c);
    MharDataset *state = mhar_dataset_find_child (root, name);
    gint64 end = state != NULL ? mhar_dataset_integer (state, "segments", -1) : -1;
    if (state == NULL)
      return c > 0 || damaged (part, error, STATE " holds no state of a run");
    if (end <= (gint64)part->segments || end > 999999)
      return damaged (part, error, STATE " does not count its segments");
    part->segments = (guint)end;
    g_ptr_array_add (part->states, mhar_dataset_ref (state));
  }
}

/* Where another program, or another file of ours, has the name, there is no identity in it. */
static gboolean
read_state (MharRunPart *part, GError **error)
{
  g_autofree char *path = path_of (part, STATE);
  g_autoptr (GError) local = NULL;
  g_autoptr (MharDataset) root = read_file (path, NULL, &local);
  const MharDataset *identity = root != NULL ? mhar_dataset_find_child (root, "identity") : NULL;

  if (root == NULL && g_error_matches (local, MHAR_ERROR, MHAR_ERROR_INPUT))
    return mhar_bad_input (error, "%s; remove the folder %s to start anew", local->message, part->name);
  if (root == NULL) {
    g_propagate_error (error, g_steal_pointer (&local));
    return FALSE;
  }
  if (identity == NULL)
    return damaged (part, error, STATE " is not the state of a run");
  return mhar_run_identity_check (part->identity, identity, part->name, error) && take_states (part, root, error);
}

gboolean
mhar_run_part_is_saved (const char *output)
{
  struct stat status;
  g_autofree char *folder = g_strconcat (output, ".part", NULL);
  g_autofree char *state = g_build_filename (folder, STATE, NULL);

  return g_lstat (state, &status) == 0;
}

static gboolean
has_state (const MharRunPart *part)
{
  return mhar_run_part_is_saved (part->output);
}

static gboolean
open_folder (MharRunPart *part, gboolean resume, GError **error)
{
  part->lock = mhar_run_lock_take (part->folder, error);
  if (part->lock < 0)
    return FALSE;
  if (has_state (part) && !resume) {
    g_set_error (error, MHAR_ERROR, MHAR_ERROR_USAGE,
                 "%s holds what an interrupted run has saved; go on with --resume, or remove the folder to start anew",
                 part->name);
    return FALSE;
  }
  if (has_state (part) && !read_state (part, error))
    return FALSE;
  sweep (part, part->segments, FALSE);
  return TRUE;
}

MharRunPart *
mhar_run_part_open (const char *output, gboolean resume, const MharDataset *identity, GError **error)
{
  g_autoptr (MharRunPart) part = g_new0 (MharRunPart, 1);

  part->output = g_strdup (output);
  part->folder = g_strconcat (output, ".part", NULL);
  part->name = g_filename_display_name (part->folder);
  part->lock = -1;
  part->identity = identity;
  part->states = g_ptr_array_new_with_free_func ((GDestroyNotify)mhar_dataset_unref);
  return open_folder (part, resume, error) ? g_steal_pointer (&part) : NULL;
}

void
mhar_run_part_free (MharRunPart *part)
{
  if (part == NULL)
    return;
  g_clear_pointer (&part->writer, mhar_h5_writer_free);
  if (part->lock >= 0 && !has_state (part))
    mhar_run_part_remove (part); /* of no use to a run that goes on */
  if (part->lock >= 0)
    close (part->lock);
  g_ptr_array_unref (part->states);
  g_free (part->output);
  g_free (part->folder);
  g_free (part->name);
  g_free (part);
}

const char *
mhar_run_part_name (const MharRunPart *part)
{
  return part->name;
}

const MharDataset *
mhar_run_part_state (const MharRunPart *part, guint checkpoint)
{
  return checkpoint < part->states->len ? g_ptr_array_index (part->states, checkpoint) : NULL;
}

/* ---- reading segments ---- */

/* Segments of a checkpoint: from *first up to the number returned. */
static guint
segments_of (const MharRunPart *part, guint checkpoint, guint *first)
{
  const MharDataset *before = checkpoint > 0 ? mhar_run_part_state (part, checkpoint - 1) : NULL;
  const MharDataset *own = mhar_run_part_state (part, checkpoint);

  *first = before != NULL ? (guint)mhar_dataset_integer (before, "segments", 0) : 0;
  return own != NULL ? (guint)mhar_dataset_integer (own, "segments", 0) : *first;
}

MharDataset *
mhar_strip_scales (const MharDataset *from, const char *group)
{
  gboolean sums = strcmp (group, "sums") == 0;
  MharDataset *to = mhar_dataset_new (group);

  for (guint f = 0; f < mhar_dataset_n_fields (from); f++) {
    const MharField *field = mhar_dataset_field (from, f);
    if (sums && field->type == MHAR_FIELD_F64 && field->n_dims > 0)
      mhar_dataset_add (to, mhar_field_copy (field));
    else if (!sums && field->type == MHAR_FIELD_F32 && strcmp (field->name, "weight") == 0)
      mhar_dataset_add (to, mhar_field_copy (field));
    else if (!sums && field->type == MHAR_FIELD_I32 && strcmp (field->name, "token") == 0)
      mhar_dataset_add (to, mhar_field_copy (field));
  }
  return to;
}

/* A group of a segment; NULL without an error where it has none. */
static MharDataset *
read_group (const MharRunPart *part, guint number, const char *group, GError **error)
{
  const char *skip[] = { strcmp (group, "sums") == 0 ? "capture" : "sums", NULL };
  g_autofree char *path = segment_path (part, number);
  g_autoptr (MharDataset) root = read_file (path, skip, error);
  const MharDataset *found = root != NULL ? mhar_dataset_find_child (root, group) : NULL;

  return found != NULL ? mhar_strip_scales (found, group) : NULL;
}

gboolean
mhar_run_part_next (MharRunPart *part, guint checkpoint, MharDataset **slab, GError **error)
{
  g_autoptr (GError) local = NULL;
  guint first, end = segments_of (part, checkpoint, &first);

  if (part->next_of != checkpoint || part->next < first)
    part->next = first;
  part->next_of = checkpoint;
  *slab = part->next < end ? read_group (part, part->next, "sums", &local) : NULL;
  if (*slab == NULL && part->next < end && local == NULL) {
    g_autofree char *path = segment_path (part, part->next);
    return mhar_bad_input (error, "%s has no sums", path);
  }
  part->next++;
  if (local == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&local));
  return FALSE;
}

static gboolean
pour_group (MharRunPart *part, guint number, guint checkpoint, const char *group, MharH5Writer *writer, gboolean f16,
            GError **error)
{
  g_autoptr (GError) local = NULL;
  g_autofree char *to = g_strdup_printf ("checkpoint_%u/%s", checkpoint, group);
  g_autoptr (MharDataset) slab = read_group (part, number, group, &local);

  if (slab != NULL)
    return mhar_h5_writer_append (writer, to, slab, f16, error);
  if (local == NULL)
    return TRUE;
  g_propagate_prefixed_error (error, g_steal_pointer (&local), "%s is damaged, remove it to start anew: ", part->name);
  return FALSE;
}

gboolean
mhar_run_part_pour (MharRunPart *part, MharH5Writer *writer, gboolean f16, GError **error)
{
  for (guint c = 0; c < part->states->len; c++) {
    guint first, end = segments_of (part, c, &first);
    for (guint k = first; k < end; k++)
      if (!pour_group (part, k, c, "sums", writer, FALSE, error)
          || !pour_group (part, k, c, "capture", writer, f16, error))
        return FALSE;
  }
  return TRUE;
}

/* ---- writing them ---- */

static gsize
bytes_of (const MharDataset *slab)
{
  gsize bytes = 0;

  for (guint f = 0; f < mhar_dataset_n_fields (slab); f++) {
    const MharField *field = mhar_dataset_field (slab, f);
    bytes += mhar_field_length (field) * (field->type == MHAR_FIELD_F64 ? sizeof (double) : sizeof (float));
  }
  return bytes;
}

gboolean
mhar_run_part_append (MharRunPart *part, const char *group, const MharDataset *slab, GError **error)
{
  g_autofree char *path = segment_path (part, part->segments);

  if (part->writer == NULL)
    part->writer = mhar_h5_writer_new (path, error);
  part->bytes += bytes_of (slab);
  return part->writer != NULL && mhar_h5_writer_append (part->writer, group, slab, FALSE, error);
}

guint64
mhar_run_part_bytes (const MharRunPart *part)
{
  return part->bytes;
}

static MharDataset *
new_root (const char *title)
{
  MharDataset *root = mhar_dataset_new ("/");
  mhar_dataset_set_string (root, "title", title);
  mhar_dataset_set_integer (root, "mhar_schema", 1);
  return root;
}

static gboolean
end_segment (MharRunPart *part, GError **error)
{
  g_autoptr (MharDataset) root = new_root ("Part of a run that is not finished");
  gboolean good = part->writer != NULL && mhar_h5_writer_write (part->writer, root, error)
                  && mhar_h5_writer_commit (part->writer, error);

  g_clear_pointer (&part->writer, mhar_h5_writer_free);
  part->bytes = 0;
  part->segments += good;
  return good;
}

static gboolean
write_state (const MharRunPart *part, GError **error)
{
  g_autofree char *path = path_of (part, STATE);
  g_autoptr (MharDataset) root = new_root ("State of a run that is not finished");
  g_autoptr (MharH5Writer) writer = mhar_h5_writer_new (path, error);

  mhar_dataset_add_child (root, mhar_dataset_ref ((MharDataset *)part->identity));
  for (guint c = 0; c < part->states->len; c++)
    mhar_dataset_add_child (root, mhar_dataset_ref (g_ptr_array_index (part->states, c)));
  return writer != NULL && mhar_h5_writer_write (writer, root, error) && mhar_h5_writer_commit (writer, error);
}

gboolean
mhar_run_part_save (MharRunPart *part, guint checkpoint, const MharDataset *state, GError **error)
{
  g_autofree char *name = g_strdup_printf ("checkpoint_%u", checkpoint);
  MharDataset *own = mhar_dataset_new (name);

  g_ptr_array_set_size (part->states, (gint)checkpoint);
  g_ptr_array_add (part->states, own);
  if (!end_segment (part, error))
    return FALSE;
  for (guint a = 0; a < mhar_dataset_n_attributes (state); a++) {
    const MharAttribute *attribute = mhar_dataset_attribute (state, a);
    mhar_dataset_set_integer (own, attribute->name, attribute->integer);
  }
  mhar_dataset_set_integer (own, "segments", part->segments);
  for (guint c = 0; c < mhar_dataset_n_children (state); c++)
    mhar_dataset_add_child (own, mhar_dataset_ref (mhar_dataset_child (state, c)));
  return write_state (part, error);
}

void
mhar_run_part_remove (MharRunPart *part)
{
  g_clear_pointer (&part->writer, mhar_h5_writer_free);
  sweep (part, 0, TRUE);
  mhar_run_lock_remove (part->folder);
  g_rmdir (part->folder);
}
