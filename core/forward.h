/* SPDX-License-Identifier: MIT */
/* Runs a plan over batches of windows. After a run the batch's depth history, its logits at every site and the last norm's
 * output are on the device, for probes and the loss to take; nothing but what they ask for comes down. */
#pragma once

#include "core/model.h"
#include "core/plan-edit.h"

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct {
  guint windows;  /* W of the largest batch */
  guint length;   /* t of the longest window */
  gboolean plain; /* --routing plain: one pass over all sources a site */
  guint block;    /* sites per pass over the older rows; 0: the device chooses */
  gboolean again; /* for mhar_forward_run_edits; a GPU is then plain */
} MharForwardSize;

typedef struct _MharForward MharForward;

/* Buffers for batches up to `size`. The model must outlive it. MHAR_ERROR_MEMORY where the device has not the
 * memory: a smaller size may do. */
MharForward *mhar_forward_new (const MharModel *model, const MharForwardSize *size, GError **error);
void mhar_forward_free (MharForward *forward);

/* ids [W·t], each in 0 … V−1 (the caller checked), W·t no more than the size allows. G_IO_ERROR_CANCELLED between two steps of
 * the plan when `cancellable` is. */
gboolean mhar_forward_run (MharForward *forward, const gint32 *ids, guint W, guint t, GCancellable *cancellable,
                           GError **error);

typedef struct {
  const GPtrArray *list; /* MharPlanEdit *, each with an edit or more */
  /* After every edit of the list, in whatever order, once a batch: `forward` is as after a run of edit `index`, for its
   * loss and logits. FALSE ends it all. */
  gboolean (*done) (MharForward *forward, guint index, gpointer user, GError **error);
  gpointer user;
  gboolean apart; /* every edit from the first step on, as separate runs would: to the bit the same, and slower */
} MharForwardEdits;

/* The batch of the last run once more under each of the edits, what they have in common run once, and then as it is:
 * afterwards everything is as after that run. Of a forward made with size.again. Errors as mhar_forward_run. */
gboolean mhar_forward_run_edits (MharForward *forward, const MharForwardEdits *edits, GCancellable *cancellable,
                                 GError **error);

/* Of the last run: Σ cross-entropy of the t − 1 predicted tokens of each window, nats: sum [W]. */
gboolean mhar_forward_loss (MharForward *forward, double *sum, GError **error);
/* Of the last run: logits [count, V] of tokens first …; `to` is the caller's. */
gboolean mhar_forward_logits (MharForward *forward, guint first, guint count, float *to, GError **error);

/* Of the last run: logits [W, V] of each window's last token, at most 64 windows; `to` is the caller's. */
gboolean mhar_forward_last_logits (MharForward *forward, float *to, GError **error);

MharRoute *mhar_forward_route (const MharForward *forward);
const MharModel *mhar_forward_model (const MharForward *forward);

/* Bytes of `device` that one token of a batch needs, for choosing W. */
gsize mhar_forward_bytes_per_token (const MharPlan *plan, const MharBody *body, const MharDevice *device);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharForward, mhar_forward_free)

G_END_DECLS
