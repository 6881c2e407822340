/* SPDX-License-Identifier: MIT */
/* Reads the pattern item by item and writes PCRE2 that leaves nothing to taste: every character as \x{…}, every class
 * that the two engines or their Unicode tables read differently as what Oniguruma 6.9.8 was seen to match. */
#include "core/pattern.h"

#include "core/error.h"

#include <string.h>

#define MAX_GROUPS 64
#define MAX_REPEAT 1000
#define UNBOUNDED G_MAXUINT
#define FEW 16      /* repeats that count as a constant factor */
#define FEW_WAYS 64 /* through an alternative, likewise */

/* White_Space; PCRE2's \s also has U+180E. */
#define SPACE                                                                                                          \
  "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}"
#define NO_SPACE                                                                                                       \
  "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{84}\\x{86}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}"                      \
  "\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{10ffff}"
/* Oniguruma's word characters, with the superscripts and fractions of Latin-1 that only its table has. */
#define WORD "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}"

typedef struct {
  gsize begins;  /* in `out` */
  gboolean fold; /* outside the group */
  guint branches;
  gboolean looks; /* a look-around, which is not repeated */
} Group;

/* What makes a backtracking search slower than its text is long: of two repeats, each may be tried anew at every length
 * of the one before it. Not so where nothing behind the later one can fail. So along each alternative outside of
 * groups: */
typedef struct {
  guint open;        /* long repeats behind which nothing could fail as yet */
  guint retried;     /* long repeats behind which something can */
  guint ways;        /* product of the lengths and branches everything else may have */
  guint least, most; /* repeats of the last item, not yet counted above; most 0: none */
  gboolean linear;   /* of all that was read */
} Cost;

typedef struct {
  const char *pattern, *at;
  GString *out;
  GError **error;
  Group group[MAX_GROUPS];
  guint depth;
  gsize item; /* where the last item begins in `out`, while it may be repeated; else G_MAXSIZE */
  Cost cost;
  gboolean fold; /* within (?i: */
  char folded;   /* the letter just read there, lower case; 0 otherwise */
} Reader;

static gboolean
refuse (Reader *reader, const char *what)
{
  return mhar_bad_input (reader->error, "the pattern has %s at byte %d, which is not supported", what,
                         (int)(reader->at - reader->pattern));
}

static void
add_ways (Cost *cost, guint factor)
{
  cost->ways = MIN (cost->ways * factor, FEW_WAYS + 1);
}

/* Counts the last item, once its repeat is known. */
static void
count_item (Cost *cost)
{
  if (cost->least > 0) {
    cost->retried += cost->open;
    cost->open = 0;
  }
  if (cost->most > FEW)
    cost->open++;
  else if (cost->most > 0)
    add_ways (cost, cost->most - cost->least + 1);
  cost->least = cost->most = 0;
}

/* An item begins; inside groups only what repeats it matters. */
static void
begin_item (Reader *reader)
{
  if (reader->depth > 0)
    return;
  count_item (&reader->cost);
  reader->cost.least = reader->cost.most = 1;
}

/* An alternative ends. */
static void
end_alternative (Reader *reader)
{
  Cost *cost = &reader->cost;
  if (reader->depth > 0) {
    reader->group[reader->depth - 1].branches++;
    return;
  }
  count_item (cost);
  if (cost->retried > 1 || cost->ways > FEW_WAYS)
    cost->linear = FALSE;
  cost->open = cost->retried = 0;
  cost->ways = 1;
}

/* The last item is repeated. */
static void
repeat_item (Reader *reader, guint least, guint most)
{
  gboolean group = reader->out->str[reader->out->len - 1] == ')';
  if ((reader->depth > 0 && most > FEW) || (group && most > 1))
    reader->cost.linear = FALSE;
  if (reader->depth > 0)
    add_ways (&reader->cost, MIN (most - least, FEW) + 1);
  else {
    reader->cost.least = least;
    reader->cost.most = most;
  }
}

static gunichar
peek (const Reader *reader)
{
  return g_utf8_get_char (reader->at);
}

static void
skip (Reader *reader)
{
  reader->at = g_utf8_next_char (reader->at);
}

static gboolean
accept (Reader *reader, const char *text)
{
  if (!g_str_has_prefix (reader->at, text))
    return FALSE;
  reader->at += strlen (text);
  return TRUE;
}

/* \xHH, \x{H…}, \uHHHH, `at` behind the letter. One byte above 7F is half a character to Oniguruma. */
static gboolean
read_hex (Reader *reader, char letter, gunichar *c)
{
  gboolean braces = letter == 'x' && accept (reader, "{");
  guint least = braces ? 1 : letter == 'x' ? 2 : 4, most = braces ? 8 : least, n = 0;
  guint64 value = 0;
  for (; n < most && g_ascii_isxdigit (*reader->at); n++)
    value = value * 16 + (guint)g_ascii_xdigit_value (*reader->at++);
  if (n < least || (braces && !accept (reader, "}")) || value > 0x10ffff || !g_unichar_validate ((gunichar)value)
      || (letter == 'x' && !braces && value > 0x7f))
    return refuse (reader, "a malformed hexadecimal escape");
  *c = (gunichar)value;
  return TRUE;
}

/* An escaped character, `at` behind the backslash. */
static gboolean
read_escaped (Reader *reader, gunichar *c)
{
  static const char letters[] = "tnrfvae", meanings[] = "\t\n\r\f\v\a\033";
  *c = peek (reader);
  if (*c == 0)
    return refuse (reader, "a lone backslash");
  if (*c >= 0x80 || !g_ascii_isalnum ((char)*c)) {
    skip (reader);
    return TRUE;
  }
  char letter = (char)*c;
  const char *known = strchr (letters, letter);
  if (known == NULL && letter != 'x' && letter != 'u') {
    char what[] = "the escape \\?";
    what[sizeof what - 2] = letter;
    return refuse (reader, what);
  }
  skip (reader);
  if (known == NULL)
    return read_hex (reader, letter, c);
  *c = (gunichar)meanings[known - letters];
  return TRUE;
}

/* \p{…} or \P{…}, `at` on the letter: a general category or a script. */
static gboolean
read_property (Reader *reader)
{
  static const char categories[] = " C Cc Cf Cn Co L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps"
                                   " S Sc Sk Sm So Z Zl Zp Zs ";
  gboolean negated = *reader->at == 'P';
  if (reader->fold)
    return refuse (reader, "a property inside (?i:)");
  reader->at++;
  if (!accept (reader, "{"))
    return refuse (reader, "a property without braces");
  if (accept (reader, "^"))
    negated = !negated;
  gsize n = strspn (reader->at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_");
  if (n == 0 || n > 40 || reader->at[n] != '}')
    return refuse (reader, "a malformed property name");
  g_autofree char *name = g_strndup (reader->at, n);
  g_autofree char *word = g_strconcat (" ", name, " ", NULL);
  gboolean category = strstr (categories, word) != NULL;
  if (!category && n < 3)
    return refuse (reader, "an unknown property");
  g_string_append_printf (reader->out, "\\%c{%s%s}", negated ? 'P' : 'p', category ? "" : "sc:", name);
  reader->at += n + 1;
  return TRUE;
}

/* A class escape, `at` behind the backslash: writes it as members of a bracket class. *known: whether it is one. */
static gboolean
read_class_escape (Reader *reader, gboolean *known)
{
  static const struct {
    char letter;
    const char *members;
  } classes[] = { { 's', SPACE }, { 'S', NO_SPACE }, { 'd', "\\p{Nd}" }, { 'D', "\\P{Nd}" }, { 'w', WORD } };
  *known = TRUE;
  if (*reader->at == 'p' || *reader->at == 'P')
    return read_property (reader);
  if (*reader->at == 'w' && reader->fold)
    return refuse (reader, "\\w inside (?i:)");
  for (guint i = 0; i < G_N_ELEMENTS (classes); i++)
    if (classes[i].letter == *reader->at) {
      g_string_append (reader->out, classes[i].members);
      reader->at++;
      return TRUE;
    }
  *known = FALSE;
  return TRUE;
}

/* What else than `c` and its other case the letter matches without regard to case, as class members. */
static const char *
fold_partner (gunichar c)
{
  return c == 's' || c == 'S' ? "\\x{17f}" : c == 'k' || c == 'K' ? "\\x{212a}" : "";
}

/* The members from..to of a bracket class. */
static gboolean
write_range (Reader *reader, gunichar from, gunichar to)
{
  if (from > to)
    return refuse (reader, "a range in the wrong order");
  g_string_append_printf (reader->out, "\\x{%x}-\\x{%x}", from, to);
  if (!reader->fold)
    return TRUE;
  if (to >= 0x80)
    return refuse (reader, "a character beyond ASCII in a class inside (?i:)");
  for (gunichar c = from; c <= to; c++)
    if (g_ascii_isalpha ((char)c))
      g_string_append_printf (reader->out, "\\x{%x}%s", c ^ 0x20, fold_partner (c));
  return TRUE;
}

/* One member that is a single character, escaped or not. */
static gboolean
read_member (Reader *reader, gunichar *c)
{
  if (accept (reader, "\\"))
    return read_escaped (reader, c);
  *c = peek (reader);
  if (*c == 0)
    return refuse (reader, "an unclosed [");
  if (*c == '[' || g_str_has_prefix (reader->at, "&&"))
    return refuse (reader, *c == '[' ? "a class inside a class" : "an intersection of classes");
  skip (reader);
  return TRUE;
}

/* A member or a range of a bracket class. */
static gboolean
read_range (Reader *reader)
{
  gunichar from, to;
  if (*reader->at == '\\') {
    const char *before = reader->at++;
    gboolean known;
    if (!read_class_escape (reader, &known))
      return FALSE;
    if (known && reader->at[0] == '-' && reader->at[1] != ']')
      return refuse (reader, "a range that begins with a class");
    if (known)
      return TRUE;
    reader->at = before;
  }
  if (!read_member (reader, &from))
    return FALSE;
  if (reader->at[0] != '-' || reader->at[1] == ']')
    return write_range (reader, from, from);
  reader->at++;
  if (!read_member (reader, &to))
    return FALSE;
  if (reader->at[0] == '-' && reader->at[1] != ']')
    return refuse (reader, "a - behind a range");
  return write_range (reader, from, to);
}

/* A bracket class, `at` behind the [. A ] that stands first is a member. */
static gboolean
read_class (Reader *reader)
{
  reader->item = reader->out->len;
  g_string_append (reader->out, accept (reader, "^") ? "[^" : "[");
  gboolean first = TRUE;
  do {
    if (!first && accept (reader, "]")) {
      g_string_append_c (reader->out, ']');
      return TRUE;
    }
    first = FALSE;
  } while (read_range (reader));
  return FALSE;
}

/* Without regard to case, ss, st, ff, fi and fl also match one letter (ß and the ligatures). */
static gboolean
joins_ligature (char before, char letter)
{
  return (before == 's' && (letter == 's' || letter == 't')) || (before == 'f' && strchr ("fil", letter) != NULL);
}

static gboolean
write_literal (Reader *reader, gunichar c)
{
  reader->item = reader->out->len;
  if (!reader->fold || (c < 0x80 && !g_ascii_isalpha ((char)c)) || (c >= 0x80 && g_unichar_ispunct (c))) {
    g_string_append_printf (reader->out, "\\x{%x}", c);
    reader->folded = 0;
    return TRUE;
  }
  if (c >= 0x80)
    return refuse (reader, "a letter beyond ASCII inside (?i:)");
  char letter = g_ascii_tolower ((char)c);
  if (joins_ligature (reader->folded, letter))
    return refuse (reader, "letters that fold into one inside (?i:)");
  reader->folded = letter;
  g_string_append_printf (reader->out, "[\\x{%x}\\x{%x}%s]", (guint)letter, (guint)letter ^ 0x20, fold_partner (c));
  return TRUE;
}

/* An escape outside a class, `at` behind the backslash. */
static gboolean
read_escape (Reader *reader)
{
  gboolean known;
  gunichar c;
  reader->item = reader->out->len;
  gboolean not_word = accept (reader, "W");
  if (not_word && reader->fold)
    return refuse (reader, "\\W inside (?i:)");
  if (not_word) {
    g_string_append (reader->out, "[^" WORD "]");
    return TRUE;
  }
  g_string_append_c (reader->out, '[');
  if (!read_class_escape (reader, &known))
    return FALSE;
  if (known) {
    g_string_append_c (reader->out, ']');
    return TRUE;
  }
  g_string_truncate (reader->out, reader->item);
  return read_escaped (reader, &c) && write_literal (reader, c);
}

/* A group, `at` behind the (. Captures are not used, so a capturing group is a plain one. */
static gboolean
open_group (Reader *reader)
{
  static const char *const kinds[] = { "?:", "?=", "?!", "?<=", "?<!", "?>" };
  if (reader->depth == MAX_GROUPS)
    return refuse (reader, "too many groups in one another");
  Group *group = &reader->group[reader->depth++];
  *group = (Group){ reader->out->len, reader->fold, 1, FALSE };
  reader->item = G_MAXSIZE;
  g_string_append_c (reader->out, '(');
  if (*reader->at != '?') {
    g_string_append (reader->out, "?:");
    return TRUE;
  }
  if (accept (reader, "?i:")) {
    reader->fold = TRUE;
    g_string_append (reader->out, "?:");
    return TRUE;
  }
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (accept (reader, kinds[i])) {
      g_string_append (reader->out, kinds[i]);
      group->looks = i >= 1 && i <= 4;
      return TRUE;
    }
  return refuse (reader, "a kind of group");
}

static gboolean
close_group (Reader *reader)
{
  if (reader->depth == 0)
    return refuse (reader, "a ) without its (");
  Group group = reader->group[--reader->depth];
  g_string_append_c (reader->out, ')');
  add_ways (&reader->cost, group.branches);
  reader->fold = group.fold;
  reader->item = group.looks ? G_MAXSIZE : group.begins;
  return TRUE;
}

/* {n}, {n,}, {,m} or {n,m}, `at` behind the {. FALSE, nothing read, where it is a brace and no more. */
static gboolean
read_interval (Reader *reader, guint *least, guint *most, gboolean *bounded)
{
  const char *p = reader->at;
  gsize digits = strspn (p, "0123456789");
  gsize comma = p[digits] == ',', more = comma ? strspn (p + digits + 1, "0123456789") : 0;
  if (p[digits + comma + more] != '}' || digits + more == 0 || digits > 6 || more > 6)
    return FALSE;
  *least = (guint)g_ascii_strtoull (p, NULL, 10);
  *bounded = !comma || more > 0;
  *most = !comma ? *least : (guint)g_ascii_strtoull (p + digits + 1, NULL, 10);
  reader->at = p + digits + comma + more + 1;
  return TRUE;
}

/* What follows the { of an interval. Oniguruma repeats {n,m}+ as a whole where PCRE2 makes it possessive. */
static gboolean
write_interval (Reader *reader, guint least, guint most, gboolean bounded)
{
  if (reader->item == G_MAXSIZE || least > MAX_REPEAT || (bounded && (most > MAX_REPEAT || most < least)))
    return refuse (reader, "a misplaced or too large repeat before it");
  if (joins_ligature (reader->folded, reader->folded))
    return refuse (reader, "letters that fold into one inside (?i:)");
  reader->folded = 0;
  repeat_item (reader, least, !bounded || *reader->at == '+' ? UNBOUNDED : most);
  g_string_append_printf (reader->out, "{%u", least);
  if (!bounded)
    g_string_append_c (reader->out, ',');
  else if (most != least)
    g_string_append_printf (reader->out, ",%u", most);
  g_string_append_c (reader->out, '}');
  if (*reader->at == '?') {
    if (bounded && most == least)
      return refuse (reader, "a lazy repeat of fixed length");
    g_string_append_c (reader->out, *reader->at++);
  } else if (accept (reader, "+")) {
    g_string_insert (reader->out, (gssize)reader->item, "(?:");
    g_string_append (reader->out, ")+");
  }
  reader->item = G_MAXSIZE;
  return TRUE;
}

/* ?, * or + and the ? or + behind it. */
static gboolean
read_repeat (Reader *reader)
{
  if (reader->item == G_MAXSIZE)
    return refuse (reader, "a repeat of nothing that can be repeated");
  repeat_item (reader, *reader->at == '+', *reader->at == '?' ? 1 : UNBOUNDED);
  g_string_append_c (reader->out, *reader->at++);
  if (*reader->at == '?' || *reader->at == '+')
    g_string_append_c (reader->out, *reader->at++);
  reader->item = G_MAXSIZE;
  return TRUE;
}

static gboolean
write_assertion (Reader *reader, const char *text)
{
  g_string_append (reader->out, text);
  reader->item = G_MAXSIZE;
  return TRUE;
}

/* The next item. `folded` outlives only a letter and the brackets of groups. */
static gboolean
read_item (Reader *reader)
{
  guint least, most;
  gboolean bounded;
  gunichar c = peek (reader);
  if (strchr ("(){\\", c < 0x80 ? (int)c : 'a') == NULL && (c >= 0x80 || !g_ascii_isalpha ((char)c)))
    reader->folded = 0;
  if (c < 0x80 && strchr ("?*+", (char)c) != NULL)
    return read_repeat (reader);
  if (c == '{' && (skip (reader), read_interval (reader, &least, &most, &bounded)))
    return write_interval (reader, least, most, bounded);
  if (c == '|')
    end_alternative (reader);
  else if (c != ')')
    begin_item (reader);
  if (c != '{')
    skip (reader);
  switch (c) {
  case '\\':
    return read_escape (reader);
  case '[':
    return read_class (reader);
  case '(':
    return open_group (reader);
  case ')':
    return close_group (reader);
  case '|':
    return write_assertion (reader, "|");
  case '^':
    return write_assertion (reader, "(?m:^)");
  case '$':
    return write_assertion (reader, "(?m:$)");
  case '.':
    reader->item = reader->out->len;
    g_string_append (reader->out, "[^\\x{a}]");
    return TRUE;
  default:
    return write_literal (reader, c);
  }
}

char *
mhar_pattern_translate (const char *pattern, gboolean *linear, GError **error)
{
  g_autoptr (GString) out = g_string_new (NULL);
  Reader reader = { .pattern = pattern, .at = pattern, .out = out, .error = error, .item = G_MAXSIZE };
  reader.cost = (Cost){ .ways = 1, .linear = TRUE };
  if (strlen (pattern) > MHAR_PATTERN_MAX_BYTES) {
    mhar_bad_input (error, "the pattern is longer than %d bytes, which is not supported", MHAR_PATTERN_MAX_BYTES);
    return NULL;
  }
  while (*reader.at != '\0')
    if (!read_item (&reader))
      return NULL;
  if (reader.depth > 0) {
    refuse (&reader, "an unclosed (");
    return NULL;
  }
  end_alternative (&reader);
  *linear = reader.cost.linear;
  return g_string_free (g_steal_pointer (&out), FALSE);
}
