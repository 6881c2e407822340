/* SPDX-License-Identifier: MIT */
/* Many forwards that differ from one another from some read on.
 *
 * The batch runs once more as it is. Where a site comes up from which some edit differs, the rows before it are there
 * and none after: the edit runs from here to the end, writing later rows into the places that the batch itself has not
 * come to yet, and the batch then goes on and writes them again. So an edit costs what lies behind its first site, and
 * no rows are kept twice. What a sublayer may still want of the past beyond rows, the stream and the latest output, is
 * put aside and back. */
#include "core/forward-private.h"

#include "core/error.h"

/* Puts the stream, and the latest output where it lies in no row, aside; or back. */
static int
put_aside (MharForward *f, gboolean back)
{
  const MharOps *ops = mhar_forward_ops (f);
  MharContext *c = mhar_forward_context (f);
  gsize count = (gsize) f->W * f->t * (gsize) mhar_model_body (f->model)->width;
  MharRows stream = mhar_rows (f->stream), out = mhar_rows (f->out), kept = mhar_rows (f->aside);
  MharRows kept_out = { f->aside, f->needs.stream ? count : 0 };
  int status = MHAR_OK;

  if (f->needs.stream)
    status = back ? ops->combine (c, 1, kept, 0, kept, count, stream)
                  : ops->combine (c, 1, stream, 0, stream, count, kept);
  if (status == MHAR_OK && f->latest.buffer == f->out)
    status = back ? ops->combine (c, 1, kept_out, 0, kept_out, count, out)
                  : ops->combine (c, 1, out, 0, out, count, kept_out);
  return status;
}

/* Steps [first, end) of the plan, with f->edit. */
static gboolean
run_steps (MharForward *f, guint first, guint end, GCancellable *cancellable, GError **error)
{
  int status = MHAR_OK;

  for (guint i = first; i < end && status == MHAR_OK; i++) {
    if (g_cancellable_set_error_if_cancelled (cancellable, error))
      return FALSE;
    status = mhar_forward_step (f, i);
  }
  return mhar_device_check (mhar_model_device (f->model), status, "running the model", error);
}

static gboolean
begin (MharForward *f, GError **error)
{
  int status = mhar_forward_ops (f)->route_begin (mhar_forward_context (f), f->route, f->W, f->t);

  if (status == MHAR_OK)
    status = mhar_forward_start (f);
  return mhar_device_check (mhar_model_device (f->model), status, "running the model", error);
}

/* One edit from step `first`, which reads its first site, to the end; then everything as it was before. */
static gboolean
run_fork (MharForward *f, const MharForwardEdits *edits, guint index, guint first, GCancellable *cancellable,
          GError **error)
{
  guint end = mhar_model_plan (f->model)->steps->len;
  MharRows latest = f->latest;

  f->edit = g_ptr_array_index (edits->list, index);
  gboolean good = run_steps (f, first, end, cancellable, error) && edits->done (f, index, edits->user, error);
  f->edit = NULL;
  f->latest = latest;
  return good && mhar_device_check (mhar_model_device (f->model), put_aside (f, TRUE), "running the model", error);
}

static gboolean
run_forks (MharForward *f, const MharForwardEdits *edits, guint first, GCancellable *cancellable, GError **error)
{
  const MharPlan *plan = mhar_model_plan (f->model);
  const MharStep *step = &g_array_index (plan->steps, MharStep, first);
  gboolean aside = FALSE;

  if (step->kind != MHAR_STEP_READ || step->index < 0)
    return TRUE;
  for (guint k = 0; k < edits->list->len; k++) {
    if (mhar_plan_edit_first (g_ptr_array_index (edits->list, k), plan) != (guint) step->index)
      continue;
    if (!aside && !mhar_device_check (mhar_model_device (f->model), put_aside (f, FALSE), "running the model", error))
      return FALSE;
    aside = TRUE;
    if (!run_fork (f, edits, k, first, cancellable, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
run_apart (MharForward *f, const MharForwardEdits *edits, GCancellable *cancellable, GError **error)
{
  guint end = mhar_model_plan (f->model)->steps->len;
  gboolean good = TRUE;

  for (guint k = 0; k < edits->list->len && good; k++) {
    f->edit = g_ptr_array_index (edits->list, k);
    good = begin (f, error) && run_steps (f, 0, end, cancellable, error) && edits->done (f, k, edits->user, error);
    f->edit = NULL;
  }
  return good;
}

gboolean
mhar_forward_run_edits (MharForward *f, const MharForwardEdits *edits, GCancellable *cancellable, GError **error)
{
  guint end = mhar_model_plan (f->model)->steps->len;

  g_return_val_if_fail (f->size.again && f->W > 0, FALSE);
  if (edits->apart && !run_apart (f, edits, cancellable, error))
    return FALSE;
  if (!begin (f, error))
    return FALSE;
  for (guint i = 0; i < end; i++)
    if ((!edits->apart && !run_forks (f, edits, i, cancellable, error)) || !run_steps (f, i, i + 1, cancellable, error))
      return FALSE;
  return TRUE;
}
