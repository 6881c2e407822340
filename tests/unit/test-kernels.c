/* SPDX-License-Identifier: MIT */
/* The CPU's operations against plain loops in double, for every case of kernel-cases.c; ten repeats must agree bit for
 * bit, and one and two threads but for rounding. */
#include "tests/unit/kernel-reference.h"

#include <glib.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#define REPEATS 10

/* Allowances as relative norms. What the CPU sums in double is held to double rounding; what passes through float32
 * products or is rounded to float32 to that of float32. Below `FLOOR` an output is compared absolutely. */
#define LIMIT_SUMS 1e-12
#define LIMIT_FLOAT 1e-6
#define FLOOR 1e-1

static const char *
sanitizer_options (void)
{
  return "allocator_may_return_null=1"; /* as malloc does, for the tests of exhaustion */
}

/* Read by the address sanitizer's runtime where there is one. */
const char *__asan_default_options (void);
const char *
__asan_default_options (void)
{
  return sanitizer_options ();
}

static MharContext *
new_context (void)
{
  MharContext *c = NULL;
  char err[256];
  g_assert_cmpint (mhar_cpu_ops ()->context_new (&c, 0, MHAR_PRECISION_F32, err, sizeof err), ==, MHAR_OK);
  return c;
}

static void
run (const KernelCase *k, const KernelInputs *in, KernelResult *result)
{
  MharContext *c = new_context ();
  char err[512];
  int status = kernel_run (mhar_cpu_ops (), c, MHAR_PRECISION_F32, k, in, result, err, sizeof err);
  g_assert_cmpstr (err, ==, "");
  g_assert_cmpint (status, ==, MHAR_OK);
  mhar_cpu_ops ()->context_free (c);
}

/* Fails where `got` is further from `want` than allowed; returns the largest share of the allowance. */
static double
compare (const KernelCase *k, const KernelResult *want, const KernelResult *got, const char **worst)
{
  double most = 0.0, slack = k->slack > 0 ? k->slack : 1.0;
  g_assert_cmpuint (want->n, ==, got->n);
  for (size_t i = 0; i < want->n; i++) {
    g_assert_cmpstr (want->out[i].what, ==, got->out[i].what);
    double limit = (want->out[i].sums ? LIMIT_SUMS : LIMIT_FLOAT) * slack;
    double share = kernel_share (&want->out[i], &got->out[i], limit, FLOOR);
    if (share > 1.0)
      g_test_message ("%s: %.3g of the allowance", want->out[i].what, share);
    if (share >= most) {
      most = share;
      *worst = want->out[i].what;
    }
  }
  return most;
}

static void
assert_same_bits (const KernelResult *a, const KernelResult *b)
{
  g_assert_cmpuint (a->n, ==, b->n);
  for (size_t i = 0; i < a->n; i++)
    g_assert_cmpmem (a->out[i].v, a->out[i].n * sizeof (double), b->out[i].v, b->out[i].n * sizeof (double));
}

static void
test_case (gconstpointer data)
{
  const KernelCase *k = data;
  KernelInputs *in = kernel_inputs_new (k, false);
  KernelResult want = { 0 }, got = { 0 }, again = { 0 };
  const char *worst = "", *worst_thread = "";
  int threads = omp_get_max_threads ();
  kernel_reference (k, in, &want);
  omp_set_num_threads (2);
  run (k, in, &got);
  double share = compare (k, &want, &got, &worst);
  g_test_message ("largest error %.1f %% of the allowance (%s)", 100.0 * share, worst);
  g_assert_cmpfloat (share, <=, 1.0);
  for (int i = 1; i < REPEATS; i++) {
    run (k, in, &again);
    assert_same_bits (&got, &again);
    kernel_result_clear (&again);
  }
  omp_set_num_threads (1);
  run (k, in, &again);
  share = compare (k, &got, &again, &worst_thread);
  g_test_message ("one thread from two %.1f %% of the allowance (%s)", 100.0 * share, worst_thread);
  g_assert_cmpfloat (share, <=, 1.0);
  omp_set_num_threads (threads);
  kernel_result_clear (&want);
  kernel_result_clear (&got);
  kernel_result_clear (&again);
  kernel_inputs_free (in);
}

/* The look-ahead scores and the plain ones are the same numbers. */
static void
test_plain (void)
{
  KernelCase k = { "route/plain-and-not", KERNEL_ROUTE, .W = 2, .t = 33, .D = 96, .R = 9, .H = 3, .whole = true,
                   .twice = true, .site_bias = 0.5, .Q = 1 };
  KernelInputs *in = kernel_inputs_new (&k, false);
  KernelResult ahead = { 0 }, plain = { 0 };
  const char *worst = "";
  run (&k, in, &ahead);
  k.plain = true;
  run (&k, in, &plain);
  double share = compare (&k, &plain, &ahead, &worst);
  g_test_message ("plain from look-ahead %.1f %% of the allowance (%s)", 100.0 * share, worst);
  g_assert_cmpfloat (share, <=, 1.0);
  kernel_result_clear (&ahead);
  kernel_result_clear (&plain);
  kernel_inputs_free (in);
}

/* Tokens of a batch do not see one another: two windows give what each gives alone. */
static void
test_windows (void)
{
  KernelCase both = { "attention/windows", KERNEL_ATTENTION, .W = 2, .t = 70, .A = 2, .K = 1, .E = 16 };
  KernelInputs *in = kernel_inputs_new (&both, false);
  KernelResult together = { 0 }, alone = { 0 };
  run (&both, in, &together);
  KernelCase one = both;
  one.W = 1;
  size_t half = together.out[0].n / 2;
  for (size_t w = 0; w < 2; w++) {
    KernelInputs part = *in;
    part.x = in->x + w * one.t * (one.A + 2 * one.K) * one.E;
    run (&one, &part, &alone);
    g_assert_cmpmem (alone.out[0].v, half * sizeof (double), together.out[0].v + w * half, half * sizeof (double));
    kernel_result_clear (&alone);
  }
  kernel_result_clear (&together);
  kernel_inputs_free (in);
}

/* The value of a half by its definition; NaN for any NaN. */
static double
half_value (unsigned bits, unsigned mantissa_bits, int bias)
{
  unsigned mantissa = bits & ((1u << mantissa_bits) - 1u), exponent = (bits & 0x7fffu) >> mantissa_bits;
  double sign = bits & 0x8000u ? -1.0 : 1.0, unit = ldexp (1.0, -(int) mantissa_bits);
  if (exponent == (0x7fffu >> mantissa_bits))
    return mantissa != 0 ? (double) NAN : sign * (double) INFINITY;
  if (exponent == 0)
    return sign * ldexp (mantissa * unit, 1 - bias);
  return sign * ldexp (1.0 + mantissa * unit, (int) exponent - bias);
}

/* All 65,536 patterns of a 16-bit type, through an embedding table at an odd address. */
static void
check_patterns (MharDtype type, unsigned mantissa_bits, int bias)
{
  const MharOps *ops = mhar_cpu_ops ();
  MharContext *c = new_context ();
  guint8 *raw = g_malloc (65536 * 2 + 1);
  gint32 ids[256];
  for (guint i = 0; i < 65536; i++) {
    guint16 half = (guint16) i;
    memcpy (raw + 1 + 2 * i, &half, 2);
    ids[i / 256] = (gint32) (i / 256);
  }
  MharStored part = { raw + 1, type, 256 };
  MharWeight *table = NULL;
  MharBuffer *id_buffer = NULL;
  MharRows out = { NULL, 0 };
  g_autofree float *got = g_new (float, 65536);
  g_assert_cmpint (ops->weight_new (c, &part, 1, 256, &table), ==, MHAR_OK);
  g_assert_cmpint (ops->buffer_new (c, sizeof ids, &id_buffer), ==, MHAR_OK);
  g_assert_cmpint (ops->buffer_new (c, 65536 * sizeof (float), &out.buffer), ==, MHAR_OK);
  g_assert_cmpint (ops->upload (c, id_buffer, 0, ids, sizeof ids), ==, MHAR_OK);
  g_assert_cmpint (ops->embed (c, table, id_buffer, 256, out), ==, MHAR_OK);
  g_assert_cmpint (ops->rows_get (c, out, 65536, got), ==, MHAR_OK);
  for (guint i = 0; i < 65536; i++) {
    double want = half_value (i, mantissa_bits, bias);
    g_assert_true (isnan (want) ? isnan (got[i]) : (double) got[i] == want && !signbit (got[i]) == !signbit (want));
  }
  ops->buffer_free (c, out.buffer);
  ops->buffer_free (c, id_buffer);
  ops->weight_free (c, table);
  ops->context_free (c);
  g_free (raw);
}

static void
test_f16_patterns (void)
{
  check_patterns (MHAR_F16, 10, 15);
}

static void
test_bf16_patterns (void)
{
  check_patterns (MHAR_BF16, 7, 127);
}

static void
test_device (void)
{
  const MharOps *ops = mhar_cpu_ops ();
  char err[256];
  int count = 0;
  MharContext *c = (MharContext *) err;
  g_assert_cmpuint (ops->abi, ==, MHAR_OPS_ABI);
  g_assert_cmpuint (ops->struct_size, ==, sizeof *ops);
  g_assert_cmpint (ops->device_count (&count, err, sizeof err), ==, MHAR_OK);
  g_assert_cmpint (count, ==, 1);
  g_assert_cmpint (ops->context_new (&c, 1, MHAR_PRECISION_F32, err, sizeof err), ==, MHAR_NO_DEVICE);
  g_assert_null (c);
  g_assert_cmpint (ops->context_new (&c, 0, MHAR_PRECISION_BF16, err, sizeof err), ==, MHAR_UNSUPPORTED);
  g_assert_nonnull (strstr (err, "bf16"));
  c = new_context ();
  MharDeviceInfo info;
  g_assert_cmpint (ops->describe (c, &info), ==, MHAR_OK);
  g_test_message ("%s; %s", info.name, info.runtime);
  g_assert_true (g_str_has_prefix (info.runtime, "OpenBLAS "));
  g_assert_cmpstr (info.name, !=, "");
  ops->context_free (c);
}

static void
assert_refused (const MharRouteTable *table, int want, const char *text)
{
  const MharOps *ops = mhar_cpu_ops ();
  MharContext *c = new_context ();
  MharRoute *r = (MharRoute *) c;
  g_assert_cmpint (ops->route_new (c, table, &r), ==, want);
  g_assert_null (r);
  g_assert_nonnull (strstr (ops->error_text (c), text));
  ops->context_free (c);
}

static void
test_refusals (void)
{
  double query[64] = { 0 };
  gint32 sources[2] = { 0, 1 };
  MharRouteSite site = { 2, sources, 3, 0, query, 0.0 };
  MharRouteTable table = { 16, 64, 1e-6, 2, 1, &site, 0, 0 };
  assert_refused (&table, MHAR_UNSUPPORTED, "not divisible by the 3 heads of site 0");
  site.heads = 4;
  table.n_rows = 1;
  assert_refused (&table, MHAR_UNSUPPORTED, "site 0 reads row 1 of 1");
  table.n_rows = 2;
  site.n_sources = 0;
  assert_refused (&table, MHAR_UNSUPPORTED, "site 0 has 0 sources");
  site.n_sources = 2;
  table.max_tokens = G_MAXSIZE / 128;
  assert_refused (&table, MHAR_NO_MEMORY, "no memory");
  table.max_tokens = G_MAXSIZE - 3;
  assert_refused (&table, MHAR_NO_MEMORY, "no memory");
}

static void
assert_null_refused (MharContext *c, MharRoute *r, const MharNullSite *site, const char *text)
{
  MharNull *n = (MharNull *) c;
  g_assert_cmpint (mhar_cpu_ops ()->null_new (c, r, site, 1, &n), ==, MHAR_UNSUPPORTED);
  g_assert_null (n);
  g_assert_nonnull (strstr (mhar_cpu_ops ()->error_text (c), text));
}

static void
test_null_refusals (void)
{
  const MharOps *ops = mhar_cpu_ops ();
  MharContext *c = new_context ();
  double query[64] = { 0 };
  gint32 sources[3] = { 0, 1, 2 }, take[2] = { 2, 1 };
  MharRouteSite sites[2] = { { 3, sources, 4, 0, query, 0.0 }, { 3, sources, 1, 0, query, 0.0 } };
  MharRouteTable table = { 16, 64, 1e-6, 3, 2, sites, 0, 0 };
  MharNullSite site = { .site = 2, .n_queries = 1, .queries = query };
  MharRoute *r = NULL;
  g_assert_cmpint (ops->route_new (c, &table, &r), ==, MHAR_OK);
  assert_null_refused (c, r, &site, "site 2 of 2");
  site.site = 0;
  site.slices = 4;
  assert_null_refused (c, r, &site, "which has 4 heads");
  site.site = 1;
  site.slices = 5;
  assert_null_refused (c, r, &site, "5 slices do not divide a width of 64");
  site.slices = 4;
  site.n_take = 2;
  site.take = take;
  assert_null_refused (c, r, &site, "ascending");
  g_assert_cmpint (ops->route_begin (c, r, 3, 6), ==, MHAR_UNSUPPORTED);
  g_assert_cmpint (ops->route_begin (c, r, 2, 8), ==, MHAR_OK);
  MharRouteSums none = { NULL, NULL, NULL, NULL };
  g_assert_cmpint (ops->route_sums (c, r, (MharSpan){ 2, 8, 0, -1 }, &none), ==, MHAR_OK);
  g_assert_cmpint (ops->route_sums (c, r, (MharSpan){ 3, 8, 0, -1 }, &none), ==, MHAR_FAILED);
  ops->route_free (c, r);
  ops->context_free (c);
}

static void
assert_edit_refused (MharContext *c, MharRoute *r, const MharRouteEdit *edit, const char *text)
{
  MharReadOut out = { .eps = 1e-6 };
  g_assert_cmpint (mhar_cpu_ops ()->route_read_edited (c, r, edit, &out), ==, MHAR_UNSUPPORTED);
  g_assert_nonnull (strstr (mhar_cpu_ops ()->error_text (c), text));
}

static void
test_edit_refusals (void)
{
  const MharOps *ops = mhar_cpu_ops ();
  MharContext *c = new_context ();
  double query[64] = { 0 };
  gint32 sources[2] = { 0, 1 }, outside[2] = { 0, 2 }, from[4] = { 1, 2, 3, 4 };
  MharRouteSite site = { 2, sources, 4, 0, query, 0.0 };
  MharRouteTable table = { 16, 64, 1e-6, 2, 1, &site, 0, 0, 1 };
  MharRouteEdit edit = { .site = site, .rule = MHAR_WEIGHTS_TOP };
  MharRoute *r = NULL;
  g_assert_cmpint (ops->route_new (c, &table, &r), ==, MHAR_OK);
  g_assert_cmpint (ops->route_begin (c, r, 1, 4), ==, MHAR_OK);
  assert_edit_refused (c, r, &edit, "keeps 0 weights");
  edit.rule = MHAR_WEIGHTS_FROM;
  edit.from = from;
  assert_edit_refused (c, r, &edit, "head 3 reads with the weights of head 4 of 4");
  edit.site.heads = 3;
  assert_edit_refused (c, r, &edit, "not divisible by the 3 heads");
  edit.site.heads = 4;
  edit.site.sources = outside;
  assert_edit_refused (c, r, &edit, "reads row 2 of 2");
  ops->route_free (c, r);
  ops->context_free (c);
}

static void
test_memory (void)
{
  const MharOps *ops = mhar_cpu_ops ();
  MharContext *c = new_context ();
  MharBuffer *b = (MharBuffer *) c;
  float x[4] = { 1, 2, 3, 4 };
  g_assert_cmpint (ops->buffer_new (c, G_MAXSIZE / 2, &b), ==, MHAR_NO_MEMORY);
  g_assert_null (b);
  g_assert_cmpint (ops->buffer_new (c, G_MAXSIZE - 5, &b), ==, MHAR_NO_MEMORY);
  g_assert_cmpstr (ops->error_text (c), !=, "");
  ops->buffer_free (c, NULL);
  g_assert_cmpint (ops->buffer_new (c, sizeof x, &b), ==, MHAR_OK);
  g_assert_cmpint (ops->upload (c, b, 4, x, sizeof x), ==, MHAR_FAILED);
  g_assert_cmpint (ops->upload (c, b, 0, x, sizeof x), ==, MHAR_OK);
  g_assert_cmpint (ops->zero (c, b, 4, 8), ==, MHAR_OK);
  g_assert_cmpint (ops->download (c, b, G_MAXSIZE, x, 4), ==, MHAR_FAILED);
  g_assert_cmpint (ops->download (c, b, 0, x, sizeof x), ==, MHAR_OK);
  g_assert_cmpfloat (x[0], ==, 1.0f);
  g_assert_cmpfloat (x[1] + x[2], ==, 0.0f);
  g_assert_cmpfloat (x[3], ==, 4.0f);
  g_assert_cmpint (ops->rows_get (c, (MharRows){ b, G_MAXSIZE / 4 }, 1, x), ==, MHAR_FAILED);
  ops->buffer_free (c, b);
  ops->context_free (c);
}

int
main (int argc, char **argv)
{
  size_t n;
  const KernelCase *cases = kernel_cases (&n);
  g_test_init (&argc, &argv, NULL);
  for (size_t i = 0; i < n; i++) {
    g_autofree char *path = g_strconcat ("/kernels/", cases[i].name, NULL);
    g_test_add_data_func (path, &cases[i], test_case);
  }
  g_test_add_func ("/kernels/route/plain-and-not", test_plain);
  g_test_add_func ("/kernels/attention/windows", test_windows);
  g_test_add_func ("/kernels/widen/f16", test_f16_patterns);
  g_test_add_func ("/kernels/widen/bf16", test_bf16_patterns);
  g_test_add_func ("/kernels/device", test_device);
  g_test_add_func ("/kernels/refusals", test_refusals);
  g_test_add_func ("/kernels/null-refusals", test_null_refusals);
  g_test_add_func ("/kernels/edit-refusals", test_edit_refusals);
  g_test_add_func ("/kernels/memory", test_memory);
  return g_test_run ();
}
