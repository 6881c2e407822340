/* SPDX-License-Identifier: MIT */
/* The options as data: parsing, checking and --help all read this one table. */
#pragma once

#include "app/cli/options.h"

G_BEGIN_DECLS

typedef enum {
  MHAR_OPTION_FLAG,   /* gboolean: becomes TRUE */
  MHAR_OPTION_BITS,   /* int: the bits of `low` are added */
  MHAR_OPTION_COUNT,  /* guint: a whole number from `low` to `high` */
  MHAR_OPTION_WIDE,   /* guint64 or gint64, likewise */
  MHAR_OPTION_REAL,   /* double: a number above 0 */
  MHAR_OPTION_CHOICE, /* int: the place of the word in `choices`, counted from 0 */
  MHAR_OPTION_PARSED, /* whatever `parse` makes of the word */
  MHAR_OPTION_WORD    /* char *: the bytes as given, in no encoding */
} MharOptionKind;

typedef struct {
  const char *name;
  char letter; /* '\0': none */
  MharOptionKind kind;
  gsize offset; /* of what it sets, in MharCliOptions */
  const char *argument, *help;
  guint64 low, high;
  const char *choices;  /* "light|dark" */
  const char *if_alone; /* the value where none is given; NULL: one has to be */
  const char *if_absent; /* of what is parsed: the value that is the same as no such option; NULL: there is none */
  gboolean (*parse) (const char *text, gpointer field, GError **error);
} MharOptionRow;

typedef struct {
  const char *title;
  const MharOptionRow *rows; /* the last has no name */
} MharOptionGroup;

/* In the order of --help; the last has no title. */
extern const MharOptionGroup mhar_option_groups[];

/* The row of "--name" or "-n", as GOption calls it. */
const MharOptionRow *mhar_option_find (const char *option);

/* Whether a word (NULL: none) is one of an option's choices: then it is its value, where it stands behind it. */
gboolean mhar_option_is_choice (const MharOptionRow *row, const char *word);

G_END_DECLS
