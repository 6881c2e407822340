/* SPDX-License-Identifier: MIT */
/* A run in a worker thread: text to tokens, the model over its windows, the probes, and all that a window shows of it.
 * The only place where the viewer computes. Progress comes to the main context ten times a second at most; a cancelled
 * run gives the windows it has done. */
#pragma once

#include "app/gui/opened.h"
#include "core/device.h"
#include "probes/run.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* Per-token weights are kept for the first tokens of the text, at most this many and at most so many bytes of them. */
#define MHAR_CAPTURE_TOKENS 4096
#define MHAR_CAPTURE_BYTES (256u << 20)

typedef struct _MharRunResult MharRunResult;

typedef struct {
  MharOpened *opened; /* a checkpoint */
  MharOpened *other;  /* a second one to compare with, run after it; NULL: none */
  GBytes *text;       /* UTF-8 */
  char *text_name;    /* "prompt", "bundled text", a file's path */
  char *device;       /* as mhar_device_open takes it */
  MharProbeOptions options;
  MharRunResult
      *previous; /* of the same checkpoints, text and device: used again as far as it holds what is asked; NULL: none */
} MharRunRequest;

MharRunRequest *mhar_run_request_new (void); /* options as mhar_probe_options_init leaves them */
void mhar_run_request_free (MharRunRequest *request);

typedef struct {
  guint index;          /* 0: the first checkpoint, 1: the other */
  guint64 done, total;  /* tokens of this checkpoint */
  double rate;          /* tokens a second; 0: not known yet */
  MharDataset *partial; /* means over the windows done; NULL: none since the last call */
} MharRunProgress;

struct _MharRunResult {
  gatomicrefcount refs;
  GPtrArray *sets;   /* MharDataset *: of the checkpoint, then of the other */
  MharDataset *root; /* a file's account of the run, `sets` as its children */
  GPtrArray *sums;   /* for each of `sets` a GPtrArray of MharDataset *, as the run gave them; NULL where they were too
                        large to keep */
  MharDataset
      *capture; /* weight [token, site, head, source] F32, token [token] I32 of the first checkpoint; NULL: none */
  GBytes *text;
  GArray *tokens;           /* MharToken of the whole text, by the first checkpoint's tokenizer */
  char *device;             /* "CPU", a GPU's name */
  char *fallback;           /* why it is not a GPU; NULL: it is, or none was wanted */
  gboolean stopped;         /* it was cancelled; `sets` are of the windows done, and the other may be missing */
  gboolean again;           /* nothing was run: it was all in the previous result */
  MharProbeOptions options; /* what was asked of the probes */
  double seconds;
};

MharRunResult *mhar_run_result_ref (MharRunResult *result);
void mhar_run_result_unref (MharRunResult *result);

typedef void (*MharRunProgressFunc) (const MharRunProgress *progress, gpointer user);

/* Takes `request`. `progress` (may be NULL) is not called any more once `callback` is. */
void mhar_run_async (MharRunRequest *request, GCancellable *cancellable, MharRunProgressFunc progress,
                     GAsyncReadyCallback callback, gpointer user);
/* Errors as mhar_probe_run, mhar_device_open, mhar_tokenizer_load; G_IO_ERROR_CANCELLED where not one window was done.
 */
MharRunResult *mhar_run_finish (GAsyncResult *result, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharRunRequest, mhar_run_request_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharRunResult, mhar_run_result_unref)

G_END_DECLS
