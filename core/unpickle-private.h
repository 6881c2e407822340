/* SPDX-License-Identifier: MIT */
/* Inside the pickle reader: the names that have a meaning, and what calling them makes. */
#pragma once

#include "core/unpickle.h"

G_BEGIN_DECLS

/* A new value; NULL and an error at the limit. Owned by the pickle, as its items are. */
MharPickleValue *mhar_pickle_new (MharPickle *pickle, MharPickleKind kind, GError **error);
/* Room for n items, zeroed; NULL and an error at the limit. */
MharPickleValue **mhar_pickle_items (MharPickle *pickle, gsize n, GError **error);
/* "FILE: data.pkl, byte N: …" in MHAR_ERROR_INPUT; returns FALSE. */
gboolean mhar_pickle_bad (const MharPickle *pickle, GError **error, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* The value of "module.name", or NULL and a refusal by that name. */
MharPickleValue *mhar_pickle_global (MharPickle *pickle, const char *module, gsize module_length, const char *name,
                                     gsize name_length, GError **error);
/* What `function (*arguments)` gives. */
MharPickleValue *mhar_pickle_call (MharPickle *pickle, const MharPickleValue *function, MharPickleValue *arguments,
                                   GError **error);
/* The storage of a persistent id: ('storage', torch.FloatStorage, key, location, elements). */
MharPickleValue *mhar_pickle_storage (MharPickle *pickle, const MharPickleValue *id, GError **error);

G_END_DECLS
