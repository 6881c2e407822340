/* SPDX-License-Identifier: MIT */
/* Python's pickle as torch.save writes it (protocols 2 to 5), read as data and never run: None, booleans, numbers,
 * strings, tuples, lists, dicts, OrderedDicts, torch.Size, storages and tensors over them. Nothing else has a meaning
 * here: a pickle that asks for any other name or call is refused by that name. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  MHAR_PICKLE_NONE,
  MHAR_PICKLE_BOOLEAN,
  MHAR_PICKLE_INTEGER,
  MHAR_PICKLE_REAL,
  MHAR_PICKLE_STRING,
  MHAR_PICKLE_TUPLE, /* torch.Size too */
  MHAR_PICKLE_LIST,
  MHAR_PICKLE_DICT,    /* OrderedDict too */
  MHAR_PICKLE_GLOBAL,  /* a name that is known */
  MHAR_PICKLE_STORAGE, /* items: its key (string), its number of elements (integer) */
  MHAR_PICKLE_TENSOR   /* items: storage, offset (integer), size (tuple of integers), stride (likewise) */
} MharPickleKind;

typedef struct _MharPickleValue MharPickleValue;
struct _MharPickleValue {
  MharPickleKind kind;
  gsize n; /* bytes of text, or items (of a dict: keys and values by turns) */
  union {
    gint64 integer; /* boolean too */
    double real;
    const char *text; /* in the pickle, not ended by a zero; valid UTF-8 */
    guint known;      /* which name: private to the reader */
    MharPickleValue **items;
  } as;
  const char *dtype; /* of a storage, in safetensors' words: "BF16" … */
  gsize room;        /* for the reader: items there is space for */
};

typedef struct _MharPickle MharPickle;

/* Reads `length` bytes, which must outlive it. MHAR_ERROR_INPUT (`shown` names the file) naming what is not read, or
 * where the pickle is cut short, malformed, of another protocol, or beyond 64 MiB, 4 million values, 8 million items or
 * a stack of a million. Nothing recurses, so nesting needs no limit; a list may hold itself. */
MharPickle *mhar_pickle_read (const guint8 *data, gsize length, const char *shown, GError **error);
void mhar_pickle_free (MharPickle *pickle);

const MharPickleValue *mhar_pickle_root (const MharPickle *pickle);
/* Whether the value is the string `text`. */
gboolean mhar_pickle_is (const MharPickleValue *value, const char *text);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharPickle, mhar_pickle_free)

G_END_DECLS
