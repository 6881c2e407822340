/* SPDX-License-Identifier: MIT */
/* The depth history on the device, and the plan made once for its sites. Shared by the route-*, null and cosine files.
 *
 * Logits live in planes of `stride` tokens, tokens innermost, plane base(site) + head·N(site) + position with
 * base(site) = Σ heads·N of the sites before: the packed index P of MharRouteSums.
 *
 * Sites of one shape (heads, whole) make a class; consecutive sites of a class make blocks of up to K. Rows that every
 * site of a block reads and that some earlier site read before are the block's older rows: where the block begins, one
 * kernel scores those that have not been scored yet for this and all later blocks (route-score.cu), and one mixes them
 * for all sites of the block (route-older.cu), in `columns` of width D: one a site, or one a head of a `whole` site.
 * The rest are each site's newest rows, scored and mixed by the read itself (route-read.cu).
 *
 * The queries of a block stand in tiles of 8 (a site each; at whole sites a site and head each), so that a tile is one
 * operand of a 16×8×16 product; a tile covers the channels of one head. */
#pragma once

#include "kernels/cuda/launch.cuh"

#include <stdlib.h>

#define MHAR_TILE 8   /* queries in a tile, and the most columns mixed in one pass over the older rows */
#define MHAR_GROUP 4  /* tiles of the same channels that one warp scores at a time */
#define MHAR_STEP 16  /* channels in one step of a tensor-core product */
#define MHAR_STEP_UNITS 32 /* 16-byte units of packed queries in one step of a tile */

/* Eight queries over channels [MHAR_STEP·first_step, …) of their group. */
struct MharTile {
  int32_t pack;             /* 16-byte units into `pack` */
  int32_t plane[MHAR_TILE]; /* where the logits go; −1: no column */
};

struct MharTileGroup {
  int32_t first_step, n_steps, first_tile, n_tiles;
};

struct MharRowPlan {
  int32_t first_group, n_groups; /* of the blocks it is an older row of */
  int32_t first_use, last_use;   /* sites; n_sites and −1: never read */
};

struct MharSource {
  int32_t row, position;
};

struct MharSitePlan {
  int32_t n_sources, heads, whole, in_class;
  int32_t plane;                  /* base(site) */
  int32_t first_source;           /* into `sources`: all N of them, in order */
  int32_t first_newest, n_newest; /* into `newest` */
  int32_t block, column;          /* column: its first one in the block */
  int32_t norm;                   /* norm plane, within a row, of its first head (whole sites: of the row) */
  size_t query;                   /* floats into `query` */
  float bias;
};

struct MharBlockPlan {
  int32_t first_site, n_sites, in_class, columns;
  int32_t n_older;     /* 0: its sites read everything themselves */
  int32_t first_older; /* into `older`: n_older rows */
  int32_t first_plane; /* into `older_plane`: [n_older, columns] planes of the first head */
  int32_t pack;        /* 16-byte units: its tiles, head by head */
};

/* Sites of one shape. A whole site's heads are columns, each with one head of the full width. */
struct MharRouteClass {
  int32_t heads, whole;
  int32_t norm;            /* first norm plane within a row: one a head, or the whole row's at whole sites */
  int32_t columns;         /* the most in a block that has older rows */
  float *partial;          /* [columns, max_tokens, D]: Σ e^(l − top) row over the older rows */
  float *top, *sum;        /* [columns, heads or 1, stride]: running maximum and Σ e^(l − top) */
};

/* A host array that grows; on a failed allocation it stays `bad` and ignores what is added. */
template <typename T> struct MharList {
  T *items;
  int32_t n, room;
  bool bad;
};

struct MharRoutePlan {
  MharList<MharSitePlan> sites;
  MharList<MharBlockPlan> blocks;
  MharList<MharRouteClass> classes;
  MharList<MharRowPlan> rows;
  MharList<MharTile> tiles;
  MharList<MharTileGroup> groups;
  MharList<MharSource> sources, newest;
  MharList<int32_t> older, older_plane;
  MharList<uint4> pack;
  MharList<float> query;
  int32_t n_planes;      /* ΣHN */
  int32_t n_head_planes; /* ΣH */
  int32_t n_norms;       /* norm planes of a row; plane 0 is the whole row's */
};

/* The plan's arrays that kernels read. */
struct MharRouteTables {
  MharSitePlan *sites;
  MharRowPlan *rows;
  MharTile *tiles;
  MharTileGroup *groups;
  MharSource *sources;
  int32_t *older, *older_plane;
  uint4 *pack;
  float *query;
};

/* Of a row's Σ s²: nothing, the whole row's, or every head's of every class too. */
typedef enum { MHAR_MEASURED_NOT, MHAR_MEASURED, MHAR_MEASURED_ALL } MharMeasured;

struct MharRoute {
  size_t max_tokens, stride, width; /* stride: tokens of a plane, max_tokens rounded up to 32 */
  double eps;
  int32_t n_rows, n_sites;
  MharRoutePlan plan;
  MharRouteTables on_device;
  MharBuffer history; /* [R, max_tokens, D] */
  float *logits;      /* [n_planes, stride] */
  float *squares;     /* [R, n_norms, stride]: Σ s² of the row, and of each head's part of it */
  size_t windows, length, tokens; /* of this batch */
  int32_t *waiting, n_waiting; /* stored, older rows of some block, and not scored yet */
  int32_t reads;               /* so far */
  int32_t *met;                /* [R]: the read before or in which Σ s² of the row came about, from 1 on; 0: none yet */
  uint8_t *measured;           /* [R]: which of its norm planes are known, MharMeasured */
  /* how the kernels are run; set by route_new, and by a benchmark after it */
  int32_t warps; /* that share a token in a read, at least */
  bool overlap;
  bool again; /* rows may be stored again: no read takes from file what another one measured */
};

template <typename T>
static inline void
mhar_list_add (MharList<T> *list, T item)
{
  if (list->n == list->room && !list->bad) {
    const int32_t room = list->room ? list->room * 2 : 64;
    T *grown = list->room < (1 << 29) ? (T *) realloc (list->items, (size_t) room * sizeof (T)) : NULL;
    list->bad = !grown;
    if (grown) {
      list->items = grown;
      list->room = room;
    }
  }
  if (!list->bad)
    list->items[list->n++] = item;
}

/* Channels of head h in steps of 16: [first, first + n). */
static inline void
mhar_head_steps (size_t width, int heads, int h, int32_t *first, int32_t *n)
{
  const size_t part = width / heads;
  *first = (int32_t) (h * part / MHAR_STEP);
  *n = (int32_t) (((h + 1) * part + MHAR_STEP - 1) / MHAR_STEP) - *first;
}

/* Heads that share a row's channels among them, as the norms and the partial mixes see it. */
static inline int
mhar_site_parts (const MharSitePlan *s)
{
  return s->whole ? 1 : s->heads;
}

template <typename Real>
static inline Real *
mhar_row_at (const MharRoute *r, int32_t row)
{
  return (Real *) r->history.data + (size_t) row * r->max_tokens * r->width;
}

/* Fills `plan` (zeroed) from the table; false: no memory. route-plan.cu */
bool mhar_route_plan_make (MharRoutePlan *plan, const MharRouteTable *table, bool bf16);
void mhar_route_plan_free (MharRoutePlan *plan);

/* Squares of the rows and, unless only those are wanted, their logits at the blocks they are older rows of.
 * route-score.cu */
int mhar_route_score (MharContext *c, MharRoute *r, const int32_t *rows, int n, bool logits);
/* The logits alone, of rows already measured, in bf16 contexts; whether there is room for it. route-ahead.cu */
int mhar_route_score_ahead (MharContext *c, const MharRoute *r, const int32_t *rows, int n);
bool mhar_route_ahead_fits (const MharContext *c, const MharRoute *r);
/* Whether mhar_route_read_newest covers sites of this shape. route-read.cu */
bool mhar_route_read_fits (MharPrecision precision, size_t width, int heads, bool whole);
/* One site: scores its newest rows and mixes them with the older part. route-read.cu */
int mhar_route_read_newest (MharContext *c, MharRoute *r, int32_t site, const MharReadOut *out);
/* Mixes the older rows of a block. route-older.cu, route-older-f32.cu */
int mhar_route_mix_older (MharContext *c, MharRoute *r, int32_t block);
int mhar_route_mix_older_f32 (MharContext *c, MharRoute *r, int32_t block);
/* Any site, from all of its sources, without any of the above. route-plain.cu */
int mhar_route_read_plain (MharContext *c, const MharRoute *r, int32_t site, const MharReadOut *out);
/* After the last read: the squares of every stored row. route.cu */
int mhar_route_settle (MharContext *c, MharRoute *r);
/* Whether the machine code in use waits for the grids before it (sm_90). route-score.cu */
bool mhar_route_may_overlap (void);

/* Whether rows can be read sixteen bytes at a time, no head cutting a group of sixteen bytes. */
static inline bool
mhar_route_is_wide (const MharRoute *r, int wide)
{
  bool fits = r->width % wide == 0;
  for (int i = 0; i < r->plan.classes.n; i++)
    fits = fits && r->width / (r->plan.classes.items[i].whole ? 1 : r->plan.classes.items[i].heads) % wide == 0;
  return fits;
}

/* ---- what the kernels share ---- */

/* VEC consecutive elements: sixteen bytes, or one element where sixteen bytes do not fit. */
template <typename Real, int VEC> struct MharVector {
  uint4 bits;
};
template <typename Real> struct MharVector<Real, 1> {
  Real bits;
};

template <typename Real> struct MharWide;
template <> struct MharWide<float> { static const int n = 4; };
template <> struct MharWide<__nv_bfloat16> { static const int n = 8; };

/* First token and number of counted tokens of window w (MharSpan). */
static __host__ __device__ __forceinline__ int
mhar_span_count (MharSpan span, int w)
{
  const int64_t each = span.length > span.skip ? span.length - span.skip : 0;
  if (span.limit < 0)
    return (int) each;
  const int64_t left = span.limit - each * w;
  return (int) (left < 0 ? 0 : left < each ? left : each);
}
