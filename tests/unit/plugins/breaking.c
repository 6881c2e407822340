/* SPDX-License-Identifier: MIT */
/* A GPU that breaks, for tests/cli/devices.py: the CPU's operations under the name of the CUDA plug-in, of which one
 * fails. $MHAR_TEST_BREAK says how and when:
 *
 *   lost:N     the N-th call and every one after it: the device is gone
 *   memory:N   the N-th call that makes something on the device, and only it: no memory
 *   full:N     the N-th call that makes something on the device, and every one after it: no memory
 *   driver     there is no device, because the driver is too old
 *   none       nothing
 *
 * $MHAR_TEST_DEVICES is how many there are of it, 1 if it is not set. */
#include "kernels/ops.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const MharOps *mhar_backend_get (void);

static const MharOps *cpu;
static MharOps ops;
static atomic_long calls, makes; /* of all devices, each in a thread of its own */
static long lost_at, memory_at, full_at;
static _Thread_local const char *last_text; /* NULL: the CPU's own */

static int
count_call (int making)
{
  long call = ++calls, made = making ? ++makes : 0;

  last_text = NULL;
  if (lost_at > 0 && call >= lost_at) {
    last_text = "the device is lost (unspecified launch failure)";
    return MHAR_FAILED;
  }
  if (making && (made == memory_at || (full_at > 0 && made >= full_at))) {
    last_text = "1 GiB wanted";
    if (made == memory_at)
      fputs ("broken once\n", stderr); /* the program need not say that it went on with less */
    return MHAR_NO_MEMORY;
  }
  return MHAR_OK;
}

static const char *
error_text (MharContext *c)
{
  return last_text != NULL ? last_text : cpu->error_text (c);
}

static int
device_count (int *count, char *err, size_t n)
{
  const char *how = getenv ("MHAR_TEST_BREAK"), *devices = getenv ("MHAR_TEST_DEVICES");

  *count = devices != NULL ? atoi (devices) : 1;
  if (how == NULL || strcmp (how, "driver") != 0)
    return MHAR_OK;
  *count = 0;
  snprintf (err, n, "the driver is older than the CUDA runtime");
  return MHAR_NO_DEVICE;
}

/* Whatever its number, and the precision it would have, it is the CPU in fp32. */
static int
context_new (MharContext **out, int device, MharPrecision precision, char *err, size_t n)
{
  (void) device, (void) precision;
  return cpu->context_new (out, 0, MHAR_PRECISION_F32, err, n);
}

/* `name` after a call that may be the one to fail. */
#define BREAKABLE(name, making, parameters, arguments)                                                                 \
  static int name parameters                                                                                           \
  {                                                                                                                    \
    int status = count_call (making);                                                                                  \
    return status != MHAR_OK ? status : cpu->name arguments;                                                           \
  }

BREAKABLE (synchronize, 0, (MharContext * c), (c))
BREAKABLE (buffer_new, 1, (MharContext * c, size_t bytes, MharBuffer **out), (c, bytes, out))
BREAKABLE (upload, 0, (MharContext * c, MharBuffer *b, size_t offset_bytes, const void *from, size_t bytes),
           (c, b, offset_bytes, from, bytes))
BREAKABLE (download, 0, (MharContext * c, const MharBuffer *b, size_t offset_bytes, void *to, size_t bytes),
           (c, b, offset_bytes, to, bytes))
BREAKABLE (zero, 0, (MharContext * c, MharBuffer *b, size_t offset_bytes, size_t bytes), (c, b, offset_bytes, bytes))
BREAKABLE (weight_new, 1, (MharContext * c, const MharStored *parts, size_t n_parts, size_t cols, MharWeight **out),
           (c, parts, n_parts, cols, out))
BREAKABLE (rows_get, 0, (MharContext * c, MharRows x, size_t count, float *to), (c, x, count, to))
BREAKABLE (rows_set, 0, (MharContext * c, MharRows x, size_t count, const float *from), (c, x, count, from))
BREAKABLE (embed, 0, (MharContext * c, const MharWeight *table, const MharBuffer *ids, size_t T, MharRows out),
           (c, table, ids, T, out))
BREAKABLE (rms_norm, 0,
           (MharContext * c, MharRows x, const MharWeight *gain, double eps, size_t T, size_t D, MharRows out),
           (c, x, gain, eps, T, D, out))
BREAKABLE (matmul, 0,
           (MharContext * c, MharRows x, size_t ldx, const MharWeight *w, size_t first, size_t count,
            const MharWeight *bias, size_t T, MharRows out, size_t ldo),
           (c, x, ldx, w, first, count, bias, T, out, ldo))
BREAKABLE (rope, 0,
           (MharContext * c, MharRows qkv, const MharWeight *q_gain, const MharWeight *k_gain, double eps,
            const MharBuffer *cos_sin, size_t W, size_t t, size_t A, size_t K, size_t E),
           (c, qkv, q_gain, k_gain, eps, cos_sin, W, t, A, K, E))
BREAKABLE (attention, 0,
           (MharContext * c, MharRows qkv, double scale, size_t sliding, size_t W, size_t t, size_t A, size_t K,
            size_t E, MharRows out),
           (c, qkv, scale, sliding, W, t, A, K, E, out))
BREAKABLE (swiglu, 0, (MharContext * c, MharRows x, size_t T, size_t F, MharRows out), (c, x, T, F, out))
BREAKABLE (combine, 0, (MharContext * c, double a, MharRows x, double b, MharRows y, size_t count, MharRows out),
           (c, a, x, b, y, count, out))
BREAKABLE (blend, 0, (MharContext * c, MharRows p, MharRows z, MharRows h, size_t count, MharRows out),
           (c, p, z, h, count, out))
BREAKABLE (cross_entropy, 0,
           (MharContext * c, MharRows x, const MharWeight *head, const MharBuffer *ids, size_t W, size_t t, size_t D,
            double *sum),
           (c, x, head, ids, W, t, D, sum))
BREAKABLE (route_new, 1, (MharContext * c, const MharRouteTable *table, MharRoute **out), (c, table, out))
BREAKABLE (route_begin, 0, (MharContext * c, MharRoute *r, size_t W, size_t t), (c, r, W, t))
BREAKABLE (route_stored, 0, (MharContext * c, MharRoute *r, int32_t row), (c, r, row))
BREAKABLE (route_read, 0, (MharContext * c, MharRoute *r, int32_t site, const MharReadOut *out), (c, r, site, out))
BREAKABLE (route_read_edited, 0, (MharContext * c, MharRoute *r, const MharRouteEdit *edit, const MharReadOut *out),
           (c, r, edit, out))
BREAKABLE (route_sums, 0, (MharContext * c, MharRoute *r, MharSpan span, const MharRouteSums *sums), (c, r, span, sums))
BREAKABLE (route_weights, 0, (MharContext * c, MharRoute *r, int32_t site, size_t first, size_t count, float *to),
           (c, r, site, first, count, to))
BREAKABLE (null_new, 1, (MharContext * c, MharRoute *r, const MharNullSite *sites, size_t n_sites, MharNull **out),
           (c, r, sites, n_sites, out))
BREAKABLE (null_run, 0, (MharContext * c, MharRoute *r, MharNull *n, MharSpan span, const MharNullSums *sums),
           (c, r, n, span, sums))
BREAKABLE (cosines, 0,
           (MharContext * c, MharRoute *r, const int32_t *rows, size_t n, MharSpan span, double *cosine,
            double *mean_abs, int *zero),
           (c, r, rows, n, span, cosine, mean_abs, zero))

static void
read_order (void)
{
  const char *how = getenv ("MHAR_TEST_BREAK");

  if (how != NULL && strncmp (how, "lost:", 5) == 0)
    lost_at = strtol (how + 5, NULL, 10);
  if (how != NULL && strncmp (how, "memory:", 7) == 0)
    memory_at = strtol (how + 7, NULL, 10);
  if (how != NULL && strncmp (how, "full:", 5) == 0)
    full_at = strtol (how + 5, NULL, 10);
}

/* When it is loaded: devices are opened from several threads. */
__attribute__ ((constructor)) static void
fill (void)
{
  cpu = mhar_cpu_ops ();
  read_order ();
  ops = *cpu;
  ops.name = "cuda";
  ops.device_count = device_count;
  ops.context_new = context_new;
  ops.error_text = error_text;
  ops.synchronize = synchronize;
  ops.buffer_new = buffer_new;
  ops.upload = upload;
  ops.download = download;
  ops.zero = zero;
  ops.weight_new = weight_new;
  ops.rows_get = rows_get;
  ops.rows_set = rows_set;
  ops.embed = embed;
  ops.rms_norm = rms_norm;
  ops.matmul = matmul;
  ops.rope = rope;
  ops.attention = attention;
  ops.swiglu = swiglu;
  ops.combine = combine;
  ops.blend = blend;
  ops.cross_entropy = cross_entropy;
  ops.route_new = route_new;
  ops.route_begin = route_begin;
  ops.route_stored = route_stored;
  ops.route_read = route_read;
  ops.route_read_edited = route_read_edited;
  ops.route_sums = route_sums;
  ops.route_weights = route_weights;
  ops.null_new = null_new;
  ops.null_run = null_run;
  ops.cosines = cosines;
}

const MharOps *
mhar_backend_get (void)
{
  return &ops;
}
