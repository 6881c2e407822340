/* SPDX-License-Identifier: MIT */
/* A backend's operations against the CPU's: the table of kernel-cases.c, and grids of the sizes real models have. The
 * plug-in is named by MHAR_TEST_BACKEND. Each case runs in fp32 and in bf16; the CPU gets the inputs rounded to bf16
 * for the latter. Ten repeats must agree bit for bit. Exit 77 (skipped) without a plug-in or a device. */
#include "tests/unit/kernel-cases.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPEATS 10
#define FLOOR 1e-1 /* outputs smaller than this are compared absolutely */

/* Allowances as relative norms. Operations not named: fp32 2e-5 (float sums in another order), bf16 2e-2 (activations
 * of 8 bits). */
static const struct {
  const char *what;
  double fp32, bf16;
} limits[] = {
  /* Picked or rounded once: exact, but for the rounding of the result. */
  { "embed", 1e-7, 1e-7 },
  { "combine", 1e-6, 1e-2 },
  { "zero row", 1e-7, 1e-7 },
  /* From stored rows by float arithmetic whatever the activations are. */
  { "weight sums", 2e-5, 2e-3 },
  { "weight squares", 2e-5, 2e-3 },
  { "weight spreads", 2e-5, 2e-3 },
  { "contribution sums", 2e-5, 2e-3 },
  { "entropy sums", 2e-5, 2e-3 },
  { "head js sums", 2e-5, 2e-3 },
  { "cosine sums", 2e-5, 2e-3 },
  { "mean |cosine| sums", 2e-5, 2e-3 },
  { "null kl", 2e-5, 2e-3 },
  { "null js", 2e-5, 2e-3 },
  { "null weights", 2e-5, 2e-3 },
};

static const char *const precision_names[] = { "fp32", "bf16" };

typedef struct {
  const MharOps *cpu, *device;
  MharContext *cpu_context, *device_context;
  MharPrecision precision;
  int n, n_failed;
} Suite;

static double
limit_of (const char *what, MharPrecision precision)
{
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
    if (strcmp (limits[i].what, what) == 0)
      return precision == MHAR_PRECISION_F32 ? limits[i].fp32 : limits[i].bf16;
  return precision == MHAR_PRECISION_F32 ? 2e-5 : 2e-2;
}

static void
report (Suite *s, bool ok, const char *name, const char *more)
{
  s->n++;
  s->n_failed += !ok;
  printf ("%sok %d - %s/%s%s\n", ok ? "" : "not ", s->n, precision_names[s->precision], name, more);
  fflush (stdout);
}

/* Prints the outputs that differ too much; returns the largest share of an allowance. */
static double
compare (const Suite *s, const KernelCase *k, const KernelResult *want, const KernelResult *got, const char **worst)
{
  double most = 0.0, slack = s->precision == MHAR_PRECISION_F32 && k->device_slack > 0 ? k->device_slack : 1.0;
  for (size_t i = 0; i < want->n; i++) {
    double limit = limit_of (want->out[i].what, s->precision) * slack;
    double share = kernel_share (&want->out[i], &got->out[i], limit, FLOOR);
    if (share > 1.0)
      printf ("# %s: %.3g of the allowance %g\n", want->out[i].what, share, limit);
    if (share >= most) {
      most = share;
      *worst = want->out[i].what;
    }
  }
  return most;
}

static bool
same_bits (const KernelResult *a, const KernelResult *b)
{
  for (size_t i = 0; i < a->n; i++)
    if (memcmp (a->out[i].v, b->out[i].v, a->out[i].n * sizeof (double)) != 0) {
      printf ("# %s: two runs differ\n", a->out[i].what);
      return false;
    }
  return true;
}

static bool
repeats_agree (const Suite *s, const KernelCase *k, const KernelInputs *in, const KernelResult *first)
{
  bool same = true;
  char err[512];
  for (int i = 1; same && i < REPEATS; i++) {
    KernelResult again = { 0 };
    int status = kernel_run (s->device, s->device_context, s->precision, k, in, &again, err, sizeof err);
    same = status == MHAR_OK && same_bits (first, &again);
    kernel_result_clear (&again);
  }
  return same;
}

/* A shape the backend says it does not cover is skipped, unless it is one that models have (`required`). */
static void
test_case (Suite *s, const KernelCase *k, bool required)
{
  KernelInputs *in = kernel_inputs_new (k, s->precision == MHAR_PRECISION_BF16);
  KernelResult want = { 0 }, got = { 0 };
  const char *worst = "";
  char err[512], more[640] = "";
  int cpu = kernel_run (s->cpu, s->cpu_context, MHAR_PRECISION_F32, k, in, &want, err, sizeof err);
  int device = cpu == MHAR_OK ? kernel_run (s->device, s->device_context, s->precision, k, in, &got, err, sizeof err)
                              : cpu;
  if (cpu == MHAR_OK && device == MHAR_UNSUPPORTED && !required) {
    snprintf (more, sizeof more, " # SKIP %s", err);
    report (s, true, k->name, more);
  } else if (device != MHAR_OK) {
    printf ("# status %d: %s\n", device, err);
    report (s, false, k->name, "");
  } else {
    double share = compare (s, k, &want, &got, &worst);
    printf ("# largest error %.1f %% of the allowance (%s)\n", 100.0 * share, worst);
    report (s, share <= 1.0 && repeats_agree (s, k, in, &got), k->name, "");
  }
  kernel_result_clear (&want);
  kernel_result_clear (&got);
  kernel_inputs_free (in);
}

static void
test_table (Suite *s)
{
  size_t n;
  const KernelCase *cases = kernel_cases (&n);
  for (size_t i = 0; i < n; i++)
    test_case (s, &cases[i], false);
}

/* Every head width with every awkward length, grouped queries, and one sliding window each. */
static void
test_attention (Suite *s)
{
  static const size_t widths[] = { 16, 24, 32, 64, 80, 96, 128, 160, 192, 256 };
  static const size_t lengths[] = { 1, 7, 33, 64, 65, 127, 1000 };
  char name[96];
  for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
    for (size_t j = 0; j < sizeof lengths / sizeof lengths[0]; j++) {
      size_t t = lengths[j], E = widths[i];
      KernelCase k = { name, KERNEL_ATTENTION, .W = t < 100 ? 2 : 1, .t = t, .A = 4, .K = j % 2 == 0 ? 2 : 1, .E = E };
      snprintf (name, sizeof name, "attention/e%zu-t%zu", E, t);
      test_case (s, &k, true);
      if (t != 127)
        continue;
      snprintf (name, sizeof name, "attention/e%zu-t%zu-sliding", E, t);
      k.sliding = 33;
      test_case (s, &k, true);
      snprintf (name, sizeof name, "rope/e%zu-t%zu", E, t);
      k = (KernelCase){ name, KERNEL_ROPE, .W = 1, .t = t, .A = 4, .K = 2, .E = E, .gain = true };
      test_case (s, &k, true);
    }
}

/* Every width with every number of heads, by look-ahead and plainly. */
static void
test_routing (Suite *s)
{
  static const size_t widths[] = { 64, 96, 256, 512, 1280 }, heads[] = { 1, 3, 4, 8 };
  char name[96];
  for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
    for (size_t j = 0; j < sizeof heads / sizeof heads[0]; j++)
      for (int plain = 0; plain < 2; plain++) {
        size_t D = widths[i], H = heads[j];
        KernelCase k = { name, KERNEL_ROUTE, .W = 2, .t = 33, .D = D, .R = 17, .H = H, .plain = plain, .Q = 5,
                         .S = H == 1 ? 4 : 0, .skip = 2, .site_bias = 0.5 };
        if (D % H != 0)
          continue;
        snprintf (name, sizeof name, "route/d%zu-h%zu%s", D, H, plain ? "-plain" : "");
        test_case (s, &k, true);
        if (H != 4)
          continue;
        snprintf (name, sizeof name, "route/d%zu-h%zu-whole%s", D, H, plain ? "-plain" : "");
        k.whole = true;
        test_case (s, &k, true);
      }
}

/* A long history, a batch of many tokens, and as many queries as a careful null draws. */
static void
test_large (Suite *s)
{
  static const KernelCase large[] = {
    { "route/73-rows", KERNEL_ROUTE, .W = 1, .t = 65, .D = 256, .R = 73, .H = 8, .Q = 3 },
    { "route/73-rows-one-head", KERNEL_ROUTE, .W = 1, .t = 33, .D = 256, .R = 73, .H = 1, .Q = 3, .S = 4,
      .interleaved = true, .twice = true },
    { "route/many-tokens", KERNEL_ROUTE, .W = 3, .t = 700, .D = 64, .R = 9, .H = 4, .Q = 7, .skip = 1, .limit = 1500 },
    { "route/many-queries", KERNEL_ROUTE, .W = 1, .t = 65, .D = 64, .R = 5, .H = 1, .Q = 300, .S = 4 },
    { "matmul/large", KERNEL_MATMUL, .W = 1, .t = 300, .D = 1280, .V = 3840, .dtype = MHAR_BF16, .n_parts = 3 },
    { "loss/large", KERNEL_LOSS, .W = 2, .t = 150, .D = 256, .V = 20000, .dtype = MHAR_BF16 },
  };
  for (size_t i = 0; i < sizeof large / sizeof large[0]; i++)
    test_case (s, &large[i], true);
}

static int
test_precision (Suite *s, MharPrecision precision)
{
  char err[512] = "";
  s->precision = precision;
  int status = s->device->context_new (&s->device_context, 0, precision, err, sizeof err);
  if (status != MHAR_OK) {
    char more[640];
    snprintf (more, sizeof more, "%s %s", status == MHAR_UNSUPPORTED ? " # SKIP" : ":", err);
    report (s, status == MHAR_UNSUPPORTED, "context", more);
    return status;
  }
  MharDeviceInfo info;
  if (s->device->describe (s->device_context, &info) == MHAR_OK)
    printf ("# %s, %s\n", info.name, info.runtime);
  test_table (s);
  test_attention (s);
  test_routing (s);
  test_large (s);
  s->device->context_free (s->device_context);
  return MHAR_OK;
}

/* The backend's table, or NULL with the reason printed as a skipped plan. */
static const MharOps *
open_backend (void)
{
  const char *path = getenv ("MHAR_TEST_BACKEND");
  void *module = path == NULL ? NULL : dlopen (path, RTLD_NOW | RTLD_LOCAL);
  if (module == NULL) {
    printf ("1..0 # SKIP %s\n", path == NULL ? "MHAR_TEST_BACKEND is not set" : dlerror ());
    return NULL;
  }
  union {
    void *symbol;
    MharBackendGet get;
  } entry = { .symbol = dlsym (module, MHAR_BACKEND_SYMBOL) };
  const MharOps *ops = entry.symbol == NULL ? NULL : entry.get ();
  if (ops == NULL || ops->abi != MHAR_OPS_ABI || ops->struct_size != sizeof *ops) {
    printf ("not ok 1 - %s has no table of this version\n1..1\n", path);
    exit (1);
  }
  int count = 0;
  char err[512] = "";
  if (ops->device_count (&count, err, sizeof err) != MHAR_OK || count == 0) {
    printf ("1..0 # SKIP no device: %s\n", err);
    return NULL;
  }
  return ops;
}

int
main (void)
{
  Suite s = { .cpu = mhar_cpu_ops (), .device = open_backend () };
  char err[512];
  if (s.device == NULL)
    return 77;
  if (s.cpu->context_new (&s.cpu_context, 0, MHAR_PRECISION_F32, err, sizeof err) != MHAR_OK) {
    printf ("not ok 1 - CPU context: %s\n1..1\n", err);
    return 1;
  }
  test_precision (&s, MHAR_PRECISION_F32);
  test_precision (&s, MHAR_PRECISION_BF16);
  s.cpu->context_free (s.cpu_context);
  printf ("1..%d\n", s.n);
  return s.n_failed > 0;
}
