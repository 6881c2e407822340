/* SPDX-License-Identifier: MIT */
/* The only names a pickle may use. A name is looked up, never imported; a call makes a value, and runs nothing. */
#include "core/unpickle-private.h"

#include "core/input.h"

#include <string.h>

typedef enum { ORDERED_DICT, SIZE, TENSOR, PARAMETER, STORAGE } Meaning;

static const struct {
  const char *module, *name;
  Meaning meaning;
  const char *dtype;
} names[] = {
  { "collections", "OrderedDict", ORDERED_DICT, NULL },
  { "torch", "Size", SIZE, NULL },
  { "torch._utils", "_rebuild_tensor_v2", TENSOR, NULL },
  { "torch._utils", "_rebuild_parameter", PARAMETER, NULL },
  { "torch", "BFloat16Storage", STORAGE, "BF16" },
  { "torch", "HalfStorage", STORAGE, "F16" },
  { "torch", "FloatStorage", STORAGE, "F32" },
  { "torch", "DoubleStorage", STORAGE, "F64" },
  { "torch", "LongStorage", STORAGE, "I64" },
  { "torch", "IntStorage", STORAGE, "I32" },
  { "torch", "ShortStorage", STORAGE, "I16" },
  { "torch", "CharStorage", STORAGE, "I8" },
  { "torch", "ByteStorage", STORAGE, "U8" },
  { "torch", "BoolStorage", STORAGE, "BOOL" },
};

static gboolean
same (const char *text, gsize length, const char *word)
{
  return length == strlen (word) && memcmp (text, word, length) == 0;
}

MharPickleValue *
mhar_pickle_global (MharPickle *pickle, const char *module, gsize module_length, const char *name, gsize name_length,
                    GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (same (module, module_length, names[i].module) && same (name, name_length, names[i].name)) {
      MharPickleValue *value = mhar_pickle_new (pickle, MHAR_PICKLE_GLOBAL, error);
      if (value != NULL)
        value->as.known = i;
      return value;
    }
  g_autofree char *first = g_strndup (module, module_length), *second = g_strndup (name, name_length);
  g_autofree char *full = g_strconcat (first, ".", second, NULL), *quoted = mhar_input_quote (full);
  mhar_pickle_bad (
      pickle, error,
      "%s is not read: only tensors and plain data are, so that no code can run; save the state dict alone, "
      "torch.save(model.state_dict(), FILE)",
      quoted);
  return NULL;
}

static gboolean
all_integers (const MharPickleValue *value)
{
  if (value->kind != MHAR_PICKLE_TUPLE)
    return FALSE;
  for (gsize i = 0; i < value->n; i++)
    if (value->as.items[i]->kind != MHAR_PICKLE_INTEGER)
      return FALSE;
  return TRUE;
}

/* (storage, offset, size, stride, requires_grad, backward_hooks [, metadata]) */
static MharPickleValue *
make_tensor (MharPickle *pickle, const MharPickleValue *arguments, GError **error)
{
  MharPickleValue **item = arguments->as.items;
  gboolean good = arguments->n >= 6 && arguments->n <= 7 && item[0]->kind == MHAR_PICKLE_STORAGE
                  && item[1]->kind == MHAR_PICKLE_INTEGER && all_integers (item[2]) && all_integers (item[3])
                  && item[2]->n == item[3]->n && item[5]->kind == MHAR_PICKLE_DICT && item[5]->n == 0;
  if (!good) {
    mhar_pickle_bad (pickle, error,
                     "torch._utils._rebuild_tensor_v2 is called with other arguments than torch gives; save the "
                     "checkpoint again");
    return NULL;
  }
  MharPickleValue *tensor = mhar_pickle_new (pickle, MHAR_PICKLE_TENSOR, error);
  MharPickleValue **items = tensor != NULL ? mhar_pickle_items (pickle, 4, error) : NULL;
  if (items == NULL)
    return NULL;
  memcpy (items, item, 4 * sizeof *items);
  tensor->as.items = items;
  tensor->n = 4;
  return tensor;
}

MharPickleValue *
mhar_pickle_call (MharPickle *pickle, const MharPickleValue *function, MharPickleValue *arguments, GError **error)
{
  if (function->kind != MHAR_PICKLE_GLOBAL || arguments->kind != MHAR_PICKLE_TUPLE) {
    mhar_pickle_bad (pickle, error, "something that is no known name is called; the file is damaged, fetch it again");
    return NULL;
  }
  MharPickleValue **item = arguments->as.items;
  switch (names[function->as.known].meaning) {
  case ORDERED_DICT:
    if (arguments->n == 0)
      return mhar_pickle_new (pickle, MHAR_PICKLE_DICT, error);
    break;
  case SIZE:
    if (arguments->n == 1 && all_integers (item[0]))
      return item[0];
    break;
  case TENSOR:
    return make_tensor (pickle, arguments, error);
  case PARAMETER: /* (tensor, requires_grad, backward_hooks) */
    if (arguments->n == 3 && item[0]->kind == MHAR_PICKLE_TENSOR)
      return item[0];
    break;
  case STORAGE:
    break;
  }
  mhar_pickle_bad (pickle, error, "%s.%s is called with other arguments than torch gives; save the checkpoint again",
                   names[function->as.known].module, names[function->as.known].name);
  return NULL;
}

MharPickleValue *
mhar_pickle_storage (MharPickle *pickle, const MharPickleValue *id, GError **error)
{
  MharPickleValue **item = id->as.items;
  gboolean good = id->kind == MHAR_PICKLE_TUPLE && id->n == 5 && mhar_pickle_is (item[0], "storage")
                  && item[1]->kind == MHAR_PICKLE_GLOBAL && names[item[1]->as.known].meaning == STORAGE
                  && item[2]->kind == MHAR_PICKLE_STRING && item[4]->kind == MHAR_PICKLE_INTEGER;
  if (!good) {
    mhar_pickle_bad (pickle, error, "a persistent id is not that of a storage; save the checkpoint again");
    return NULL;
  }
  MharPickleValue *storage = mhar_pickle_new (pickle, MHAR_PICKLE_STORAGE, error);
  MharPickleValue **items = storage != NULL ? mhar_pickle_items (pickle, 2, error) : NULL;
  if (items == NULL)
    return NULL;
  items[0] = item[2];
  items[1] = item[4];
  storage->dtype = names[item[1]->as.known].dtype;
  storage->as.items = items;
  storage->n = 2;
  return storage;
}
