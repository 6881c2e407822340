/* SPDX-License-Identifier: MIT */
/* The pickle machine: a stack, marks in it, a memo. Values live until the pickle is freed, in whatever knots they were
 * tied; texts stay where they are in the file. What follows needs no recursion, and no code is ever run. */
#include "core/unpickle-private.h"

#include "core/error.h"
#include "core/zip-private.h"

#define BYTES_MAX (64 << 20)
#define VALUES_MAX (4 << 20)
#define ITEMS_MAX (8 << 20)
#define STACK_MAX (1 << 20)

struct _MharPickle {
  const char *shown;
  const guint8 *data;
  gsize length, at;
  gsize opcode;      /* where the current one stands, for messages */
  GPtrArray *values; /* all that were made */
  GPtrArray *lists;  /* all arrays of items */
  gsize n_items;
  GPtrArray *stack;
  GArray *marks;    /* guint: heights of the stack */
  GHashTable *memo; /* -> value */
  MharPickleValue *root;
};

gboolean
mhar_pickle_bad (const MharPickle *pickle, GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *what = g_strdup_vprintf (format, args);
  va_end (args);
  return mhar_bad_input (error, "%s: data.pkl, byte %" G_GSIZE_FORMAT ": %s", pickle->shown, pickle->opcode, what);
}

static gboolean
cut_short (const MharPickle *pickle, GError **error)
{
  return mhar_pickle_bad (pickle, error, "the pickle ends here, unfinished; the file is damaged, fetch it again");
}

static gboolean
malformed (const MharPickle *pickle, GError **error)
{
  return mhar_pickle_bad (pickle, error,
                          "opcode 0x%02x does not fit what is before it; the file is damaged, fetch it again",
                          pickle->data[pickle->opcode]);
}

MharPickleValue *
mhar_pickle_new (MharPickle *pickle, MharPickleKind kind, GError **error)
{
  if (pickle->values->len >= VALUES_MAX) {
    mhar_pickle_bad (pickle, error, "more than %d values; that is no checkpoint", VALUES_MAX);
    return NULL;
  }
  MharPickleValue *value = g_new0 (MharPickleValue, 1);
  value->kind = kind;
  g_ptr_array_add (pickle->values, value);
  return value;
}

MharPickleValue **
mhar_pickle_items (MharPickle *pickle, gsize n, GError **error)
{
  if (n > ITEMS_MAX - pickle->n_items) {
    mhar_pickle_bad (pickle, error, "more than %d items in its containers; that is no checkpoint", ITEMS_MAX);
    return NULL;
  }
  pickle->n_items += n;
  MharPickleValue **items = g_new0 (MharPickleValue *, MAX (n, 1));
  g_ptr_array_add (pickle->lists, items);
  return items;
}

static gboolean
push (MharPickle *pickle, MharPickleValue *value, GError **error)
{
  if (value == NULL) /* the error is set */
    return FALSE;
  if (pickle->stack->len >= STACK_MAX)
    return mhar_pickle_bad (pickle, error, "more than %d values at once; that is no checkpoint", STACK_MAX);
  g_ptr_array_add (pickle->stack, value);
  return TRUE;
}

/* The lowest place of the stack that the current opcode may touch. */
static guint
floor_of (const MharPickle *pickle)
{
  return pickle->marks->len > 0 ? g_array_index (pickle->marks, guint, pickle->marks->len - 1) : 0;
}

/* The value `down` places below the top, NULL where a mark or the bottom is in between. */
static MharPickleValue *
peek (const MharPickle *pickle, guint down)
{
  guint height = pickle->stack->len;
  return height - floor_of (pickle) > down ? g_ptr_array_index (pickle->stack, height - 1 - down) : NULL;
}

static void
drop (MharPickle *pickle, guint n)
{
  g_ptr_array_set_size (pickle->stack, (gint)(pickle->stack->len - n));
}

/* Takes the last mark away; *n: values above where it was. */
static gboolean
pop_mark (MharPickle *pickle, guint *n, GError **error)
{
  if (pickle->marks->len == 0)
    return malformed (pickle, error);
  *n = pickle->stack->len - floor_of (pickle);
  g_array_set_size (pickle->marks, pickle->marks->len - 1);
  return TRUE;
}

/* An argument of n bytes; NULL where the pickle ends before. */
static const guint8 *
take (MharPickle *pickle, guint64 n, GError **error)
{
  if (n > pickle->length - pickle->at) {
    cut_short (pickle, error);
    return NULL;
  }
  const guint8 *from = pickle->data + pickle->at;
  pickle->at += (gsize)n;
  return from;
}

/* A little-endian number of 1, 2, 4 or 8 bytes. */
static gboolean
take_number (MharPickle *pickle, guint bytes, guint64 *number, GError **error)
{
  const guint8 *from = take (pickle, bytes, error);
  if (from == NULL)
    return FALSE;
  *number = 0;
  for (guint i = 0; i < bytes; i++)
    *number |= (guint64)from[i] << 8 * i;
  return TRUE;
}

static gboolean
push_integer (MharPickle *pickle, MharPickleKind kind, gint64 integer, GError **error)
{
  MharPickleValue *value = mhar_pickle_new (pickle, kind, error);
  if (value != NULL)
    value->as.integer = integer;
  return push (pickle, value, error);
}

/* Two's complement in so many bytes; what does not fit 64 bits is of no use to a checkpoint. */
static gboolean
push_long (MharPickle *pickle, guint width, GError **error)
{
  guint64 bytes = 0, bits = 0;
  if (!take_number (pickle, width, &bytes, error))
    return FALSE;
  if (bytes > 8)
    return mhar_pickle_bad (pickle, error, "a number of %" G_GUINT64_FORMAT " bytes is not read", bytes);
  if (!take_number (pickle, (guint)bytes, &bits, error))
    return FALSE;
  if (bytes > 0 && bytes < 8 && (bits >> (8 * bytes - 1) & 1) != 0)
    bits |= ~(guint64)0 << 8 * bytes;
  return push_integer (pickle, MHAR_PICKLE_INTEGER, (gint64)bits, error);
}

/* The one number that is big-endian. */
static gboolean
push_real (MharPickle *pickle, GError **error)
{
  const guint8 *from = take (pickle, 8, error);
  guint64 bits = 0;
  for (guint i = 0; from != NULL && i < 8; i++)
    bits = bits << 8 | from[i];
  MharPickleValue *value = from != NULL ? mhar_pickle_new (pickle, MHAR_PICKLE_REAL, error) : NULL;
  if (value != NULL)
    memcpy (&value->as.real, &bits, sizeof bits);
  return push (pickle, value, error);
}

static gboolean
push_text (MharPickle *pickle, guint width, GError **error)
{
  guint64 bytes = 0;
  const guint8 *from = take_number (pickle, width, &bytes, error) ? take (pickle, bytes, error) : NULL;
  if (from == NULL)
    return FALSE;
  if (!g_utf8_validate ((const char *)from, (gssize)bytes, NULL))
    return mhar_pickle_bad (pickle, error, "a string is not valid UTF-8; save the checkpoint again");
  MharPickleValue *value = mhar_pickle_new (pickle, MHAR_PICKLE_STRING, error);
  if (value != NULL) {
    value->as.text = (const char *)from;
    value->n = (gsize)bytes;
  }
  return push (pickle, value, error);
}

/* The n values on top as one tuple in their place. */
static gboolean
push_tuple (MharPickle *pickle, guint n, GError **error)
{
  if (n > pickle->stack->len - floor_of (pickle))
    return malformed (pickle, error);
  MharPickleValue *tuple = mhar_pickle_new (pickle, MHAR_PICKLE_TUPLE, error);
  MharPickleValue **items = tuple != NULL ? mhar_pickle_items (pickle, n, error) : NULL;
  if (items == NULL)
    return FALSE;
  if (n > 0)
    memcpy (items, pickle->stack->pdata + (pickle->stack->len - n), n * sizeof *items);
  tuple->as.items = items;
  tuple->n = n;
  drop (pickle, n);
  return push (pickle, tuple, error);
}

/* Space for n more items of a list or dict. It grows by halves; what it outgrows stays, and counts. */
static gboolean
make_room (MharPickle *pickle, MharPickleValue *value, guint n, GError **error)
{
  if (value->n + n <= value->room)
    return TRUE;
  gsize room = MAX (value->n + n, value->room + value->room / 2);
  MharPickleValue **items = mhar_pickle_items (pickle, room, error);
  if (items == NULL)
    return FALSE;
  if (value->n > 0)
    memcpy (items, value->as.items, value->n * sizeof *items);
  value->as.items = items;
  value->room = room;
  return TRUE;
}

/* Appends the n values on top to the list or dict under them. */
static gboolean
extend (MharPickle *pickle, MharPickleKind kind, guint n, GError **error)
{
  MharPickleValue *to = peek (pickle, n);
  if (to == NULL || to->kind != kind || (kind == MHAR_PICKLE_DICT && n % 2 != 0))
    return malformed (pickle, error);
  if (!make_room (pickle, to, n, error))
    return FALSE;
  if (n > 0)
    memcpy (to->as.items + to->n, pickle->stack->pdata + (pickle->stack->len - n), n * sizeof *to->as.items);
  to->n += n;
  drop (pickle, n);
  return TRUE;
}

static gboolean
extend_marked (MharPickle *pickle, MharPickleKind kind, GError **error)
{
  guint n = 0;
  return pop_mark (pickle, &n, error) && extend (pickle, kind, n, error);
}

static gboolean
tuple_marked (MharPickle *pickle, GError **error)
{
  guint n = 0;
  return pop_mark (pickle, &n, error) && push_tuple (pickle, n, error);
}

static gboolean
remember (MharPickle *pickle, guint64 place, GError **error)
{
  MharPickleValue *top = peek (pickle, 0);
  if (top == NULL)
    return malformed (pickle, error);
  g_hash_table_insert (pickle->memo, GSIZE_TO_POINTER (place), top);
  return TRUE;
}

static gboolean
remember_at (MharPickle *pickle, guint width, GError **error)
{
  guint64 place;
  return take_number (pickle, width, &place, error) && remember (pickle, place, error);
}

static gboolean
recall (MharPickle *pickle, guint width, GError **error)
{
  guint64 place;
  if (!take_number (pickle, width, &place, error))
    return FALSE;
  MharPickleValue *value = g_hash_table_lookup (pickle->memo, GSIZE_TO_POINTER (place));
  return value != NULL ? push (pickle, value, error) : malformed (pickle, error);
}

/* GLOBAL: two lines of text. */
static gboolean
push_global (MharPickle *pickle, GError **error)
{
  const char *line[2];
  gsize length[2];
  for (guint i = 0; i < 2; i++) {
    const guint8 *from = pickle->data + pickle->at;
    const guint8 *end = memchr (from, '\n', pickle->length - pickle->at);
    if (end == NULL)
      return cut_short (pickle, error);
    line[i] = (const char *)from;
    length[i] = (gsize)(end - from);
    pickle->at += length[i] + 1;
  }
  return push (pickle, mhar_pickle_global (pickle, line[0], length[0], line[1], length[1], error), error);
}

static gboolean
push_stack_global (MharPickle *pickle, GError **error)
{
  const MharPickleValue *name = peek (pickle, 0), *module = peek (pickle, 1);
  if (name == NULL || module == NULL || name->kind != MHAR_PICKLE_STRING || module->kind != MHAR_PICKLE_STRING)
    return malformed (pickle, error);
  drop (pickle, 2);
  return push (pickle, mhar_pickle_global (pickle, module->as.text, module->n, name->as.text, name->n, error), error);
}

static gboolean
reduce (MharPickle *pickle, GError **error)
{
  MharPickleValue *arguments = peek (pickle, 0), *function = peek (pickle, 1);
  if (arguments == NULL || function == NULL)
    return malformed (pickle, error);
  drop (pickle, 2);
  return push (pickle, mhar_pickle_call (pickle, function, arguments, error), error);
}

/* BUILD sets attributes: of an OrderedDict (a state dict's _metadata), which mean nothing here. */
static gboolean
build (MharPickle *pickle, GError **error)
{
  const MharPickleValue *state = peek (pickle, 0), *object = peek (pickle, 1);
  if (state == NULL || object == NULL || state->kind != MHAR_PICKLE_DICT || object->kind != MHAR_PICKLE_DICT)
    return malformed (pickle, error);
  drop (pickle, 1);
  return TRUE;
}

static gboolean
push_storage (MharPickle *pickle, GError **error)
{
  const MharPickleValue *id = peek (pickle, 0);
  if (id == NULL)
    return malformed (pickle, error);
  drop (pickle, 1);
  return push (pickle, mhar_pickle_storage (pickle, id, error), error);
}

static gboolean
pop (MharPickle *pickle, gboolean marked, GError **error)
{
  guint n = 1;
  if (marked && !pop_mark (pickle, &n, error))
    return FALSE;
  if (n > pickle->stack->len - floor_of (pickle))
    return malformed (pickle, error);
  drop (pickle, n);
  return TRUE;
}

static gboolean
mark (MharPickle *pickle, GError **error)
{
  guint height = pickle->stack->len;
  if (pickle->marks->len >= STACK_MAX)
    return mhar_pickle_bad (pickle, error, "more than %d marks; that is no checkpoint", STACK_MAX);
  g_array_append_val (pickle->marks, height);
  return TRUE;
}

static gboolean
check_frame (MharPickle *pickle, GError **error)
{
  guint64 bytes = 0;
  if (!take_number (pickle, 8, &bytes, error))
    return FALSE;
  return bytes <= pickle->length - pickle->at || cut_short (pickle, error);
}

/* Values of no arguments and small numbers; *done: the opcode was one of them. */
static gboolean
step_scalar (MharPickle *pickle, guint8 opcode, gboolean *done, GError **error)
{
  guint64 number = 0;
  guint width = opcode == 'J' ? 4 : opcode == 'M' ? 2 : 1;

  *done = TRUE;
  switch (opcode) {
  case 'N':
    return push (pickle, mhar_pickle_new (pickle, MHAR_PICKLE_NONE, error), error);
  case 0x88:
  case 0x89:
    return push_integer (pickle, MHAR_PICKLE_BOOLEAN, opcode == 0x88, error);
  case 'J': /* signed, where the two others are not */
  case 'K':
  case 'M':
    return take_number (pickle, width, &number, error)
           && push_integer (pickle, MHAR_PICKLE_INTEGER, opcode == 'J' ? (gint32)number : (gint64)number, error);
  case 0x8a:
    return push_long (pickle, 1, error);
  case 0x8b:
    return push_long (pickle, 4, error);
  case 'G':
    return push_real (pickle, error);
  case 0x8c:
    return push_text (pickle, 1, error);
  case 'X':
    return push_text (pickle, 4, error);
  case 0x8d:
    return push_text (pickle, 8, error);
  }
  *done = FALSE;
  return TRUE;
}

static gboolean
step_container (MharPickle *pickle, guint8 opcode, gboolean *done, GError **error)
{
  *done = TRUE;
  switch (opcode) {
  case '(':
    return mark (pickle, error);
  case '0':
    return pop (pickle, FALSE, error);
  case '1':
    return pop (pickle, TRUE, error);
  case ')':
    return push_tuple (pickle, 0, error);
  case 't':
    return tuple_marked (pickle, error);
  case 0x85:
  case 0x86:
  case 0x87:
    return push_tuple (pickle, opcode - 0x84u, error);
  case ']':
    return push (pickle, mhar_pickle_new (pickle, MHAR_PICKLE_LIST, error), error);
  case '}':
    return push (pickle, mhar_pickle_new (pickle, MHAR_PICKLE_DICT, error), error);
  case 'a':
    return extend (pickle, MHAR_PICKLE_LIST, 1, error);
  case 'e':
    return extend_marked (pickle, MHAR_PICKLE_LIST, error);
  case 's':
    return extend (pickle, MHAR_PICKLE_DICT, 2, error);
  case 'u':
    return extend_marked (pickle, MHAR_PICKLE_DICT, error);
  }
  *done = FALSE;
  return TRUE;
}

static gboolean
step_object (MharPickle *pickle, guint8 opcode, GError **error)
{
  switch (opcode) {
  case 'c':
    return push_global (pickle, error);
  case 0x93:
    return push_stack_global (pickle, error);
  case 'R':
    return reduce (pickle, error);
  case 'b':
    return build (pickle, error);
  case 'Q':
    return push_storage (pickle, error);
  case 'q':
    return remember_at (pickle, 1, error);
  case 'r':
    return remember_at (pickle, 4, error);
  case 0x94:
    return remember (pickle, g_hash_table_size (pickle->memo), error);
  case 'h':
    return recall (pickle, 1, error);
  case 'j':
    return recall (pickle, 4, error);
  case 0x95:
    return check_frame (pickle, error);
  }
  return mhar_pickle_bad (pickle, error,
                          "opcode 0x%02x is not read: only those of tensors and plain data are; save the state dict "
                          "alone, torch.save(model.state_dict(), FILE)",
                          opcode);
}

/* PROTO first, STOP last, nothing after it. */
static gboolean
run (MharPickle *pickle, GError **error)
{
  guint64 protocol = 0;
  const guint8 *opcode = take (pickle, 1, error);
  if (opcode == NULL)
    return FALSE;
  if (*opcode != 0x80)
    return mhar_pickle_bad (pickle, error, "a pickle of protocol 0 or 1 is not read; save the checkpoint again");
  if (!take_number (pickle, 1, &protocol, error))
    return FALSE;
  if (protocol < 2 || protocol > 5)
    return mhar_pickle_bad (pickle, error, "a pickle of protocol %u is not read; those from 2 to 5 are",
                            (guint)protocol);
  for (gboolean done;;) {
    pickle->opcode = pickle->at;
    opcode = take (pickle, 1, error);
    if (opcode == NULL)
      return FALSE;
    if (*opcode == '.')
      break;
    if (!step_scalar (pickle, *opcode, &done, error) || (!done && !step_container (pickle, *opcode, &done, error))
        || (!done && !step_object (pickle, *opcode, error)))
      return FALSE;
  }
  pickle->root = peek (pickle, 0);
  if (pickle->root == NULL || pickle->stack->len != 1 || pickle->marks->len != 0 || pickle->at != pickle->length)
    return mhar_pickle_bad (pickle, error,
                            "the pickle does not end with one value; the file is damaged, fetch it again");
  return TRUE;
}

MharPickle *
mhar_pickle_read (const guint8 *data, gsize length, const char *shown, GError **error)
{
  g_autoptr (MharPickle) pickle = g_new0 (MharPickle, 1);
  pickle->shown = shown;
  pickle->data = data;
  pickle->length = length;
  pickle->values = g_ptr_array_new_with_free_func (g_free);
  pickle->lists = g_ptr_array_new_with_free_func (g_free);
  pickle->stack = g_ptr_array_new ();
  pickle->marks = g_array_new (FALSE, FALSE, sizeof (guint));
  pickle->memo = g_hash_table_new (NULL, NULL);
  if (length > BYTES_MAX) {
    mhar_pickle_bad (pickle, error, "a pickle of %" G_GSIZE_FORMAT " bytes is too large; that is no checkpoint",
                     length);
    return NULL;
  }
  return run (pickle, error) ? g_steal_pointer (&pickle) : NULL;
}

void
mhar_pickle_free (MharPickle *pickle)
{
  if (pickle == NULL)
    return;
  g_hash_table_unref (pickle->memo);
  g_array_unref (pickle->marks);
  g_ptr_array_unref (pickle->stack);
  g_ptr_array_unref (pickle->lists);
  g_ptr_array_unref (pickle->values);
  g_free (pickle);
}

const MharPickleValue *
mhar_pickle_root (const MharPickle *pickle)
{
  return pickle->root;
}

gboolean
mhar_pickle_is (const MharPickleValue *value, const char *text)
{
  return value->kind == MHAR_PICKLE_STRING && value->n == strlen (text) && memcmp (value->as.text, text, value->n) == 0;
}
