/* SPDX-License-Identifier: MIT */
/* What the tokens of a text are: their class, which part of a word they are, where in their document they stand, and
 * what is written there. */
#pragma once

#include "core/checkpoint.h"

G_BEGIN_DECLS

/* Of the text that a token covers: white space where all of it is, else by its first character that is not. A token
 * that covers part of a character has the whole of it; what is no character, and an end-of-text token, are OTHER. */
typedef enum {
  MHAR_CLASS_LETTER,      /* Unicode L or M */
  MHAR_CLASS_DIGIT,       /* N */
  MHAR_CLASS_PUNCTUATION, /* P or S */
  MHAR_CLASS_SPACE,
  MHAR_CLASS_OTHER,
  MHAR_N_CLASSES
} MharTokenClass;

typedef enum {
  MHAR_PIECE_FIRST,    /* of a word */
  MHAR_PIECE_CONTINUED, /* begins with a letter that one of the same document stands right before, or within a letter */
  MHAR_PIECE_NONE,     /* its first character that is not white space is no letter; or it is an end-of-text token */
  MHAR_N_PIECES
} MharTokenPiece;

const char *mhar_token_class_name (MharTokenClass class); /* "letter" */
const char *mhar_token_piece_name (MharTokenPiece piece); /* "first piece" */

typedef struct _MharTokenKinds MharTokenKinds;

/* Of the ids [n] of a text, which are borrowed. Text, classes and pieces come from the checkpoint's tokenizer.json
 * where there is one that can be read; documents end with the ids that config.json has as eos_token_id and the one that
 * the tokenizer calls <|endoftext|>. */
MharTokenKinds *mhar_token_kinds_new (const MharCheckpoint *checkpoint, const gint32 *ids, gsize n);
void mhar_token_kinds_free (MharTokenKinds *kinds);

gboolean mhar_token_kinds_has_text (const MharTokenKinds *kinds);
/* Why not, where there is a tokenizer.json; NULL else. Borrowed. */
const char *mhar_token_kinds_problem (const MharTokenKinds *kinds);
const GArray *mhar_token_kinds_ends (const MharTokenKinds *kinds); /* gint32, ascending: end-of-text ids */

MharTokenClass mhar_token_kinds_class (const MharTokenKinds *kinds, gsize token);
MharTokenPiece mhar_token_kinds_piece (const MharTokenKinds *kinds, gsize token);
/* Tokens since the last end-of-text token before, or since the text began. */
guint32 mhar_token_kinds_document (const MharTokenKinds *kinds, gsize token);

/* The text that the token covers, and that of the five tokens before and after it: valid UTF-8, no character cut in
 * two. Of kinds that have text; g_free each. */
void mhar_token_kinds_around (const MharTokenKinds *kinds, gsize token, char **before, char **text, char **after);

/* Whether some of the text is of a script that is written from right to left: it needs isolating where more than it
 * stands on the line. */
gboolean mhar_text_runs_leftward (const char *text);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharTokenKinds, mhar_token_kinds_free)

G_END_DECLS
