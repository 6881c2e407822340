/* SPDX-License-Identifier: MIT */
/* Times the depth routing of the CUDA backend on made-up rows and queries, and checks that the look-ahead path agrees
 * with the plain one and repeats itself bit for bit. Linked with the backend's objects. Arguments choose parts: chain,
 * tune, delta, reduce (default: all), and once: every chain once, for a profiler. A dependent chain is a forward
 * without its sublayers: the mix of site n is written where row n + 1 stands, all reads in one CUDA graph. */
#include "kernels/cuda/route-model.h"
#include "kernels/cuda/route-private.cuh"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

extern "C" const MharOps *mhar_backend_get (void);

static const MharOps *ops;
static MharContext *context;
static double copy_rate; /* bytes read and written a second */
static int failures;
static std::string table;

static void
must (int status)
{
  if (!status)
    return;
  fprintf (stderr, "%s\n", ops->error_text (context));
  exit (1);
}

static void
must_cuda (cudaError_t result)
{
  if (result == cudaSuccess)
    return;
  fprintf (stderr, "%s\n", cudaGetErrorString (result));
  exit (1);
}

static void
row (const char *format, ...)
{
  char line[256];
  va_list args;
  va_start (args, format);
  vsnprintf (line, sizeof line, format, args);
  va_end (args);
  puts (line);
  fflush (stdout);
  table += std::string (line) + "\n";
}

/* Sums of four uniform numbers, nearly normal, of a hash of the index. */
__global__ void
fill_kernel (__nv_bfloat16 *to, size_t n, uint32_t seed)
{
  for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t) gridDim.x * blockDim.x) {
    uint64_t x = (i + 1) * 0x9e3779b97f4a7c15ull + seed;
    x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9ull;
    x ^= x >> 29;
    const float sum = (x & 0xffff) + (x >> 16 & 0xffff) + (x >> 32 & 0xffff) + (x >> 48);
    to[i] = __float2bfloat16_rn ((sum / 65536.0f - 2.0f) * 1.7320508f);
  }
}

struct Shape {
  const char *name;
  int width, layers, heads;
  size_t tokens;
  double aim_ms;
};

/* A `full` model's history, or one delta site; with a row past the last that takes the last mix. */
struct History {
  MharRoute *route = NULL;
  std::vector<std::vector<int32_t>> sources;
  std::vector<std::vector<double>> queries;
  std::vector<MharRouteSite> sites;
  int n_sites, n_rows;
  size_t tokens, width;

  History (int n, size_t t, size_t d, int heads, int plain, int block, bool delta = false)
      : n_sites (delta ? 1 : n), n_rows (n + 1), tokens (t), width (d)
  {
    std::mt19937 random (1);
    std::normal_distribution<double> normal;
    for (int s = 0; s < n_sites; s++) {
      sources.emplace_back ();
      for (int i = 0; i <= (delta ? n - 1 : s); i++)
        sources.back ().push_back (i);
      queries.emplace_back (d);
      for (double &q : queries.back ())
        q = normal (random) / sqrt ((double) d / heads);
    }
    for (int s = 0; s < n_sites; s++)
      sites.push_back ({ (int32_t) sources[s].size (), sources[s].data (), heads, 0, queries[s].data (), 0.0 });
    const MharRouteTable spec = { t, d, 1e-6, n + 1, n_sites, sites.data (), plain, block };
    must (ops->route_new (context, &spec, &route));
    for (int i = 0; i < n; i++)
      fill (i);
  }
  ~History () { ops->route_free (context, route); }
  __nv_bfloat16 *
  at (int i)
  {
    return mhar_cuda_at<__nv_bfloat16> (ops->route_row (route, i));
  }
  void
  fill (int i)
  {
    fill_kernel<<<1024, 256, 0, context->stream>>> (at (i), tokens * width, 77u * (i + 1));
  }
};

/* What a run may change; −1 and 0 leave the backend's choice. */
struct Knobs {
  int warps = 0, overlap = -1;
};

static void
begin (History &h, const Knobs &k)
{
  must (ops->route_begin (context, h.route, h.tokens / 1024 ? h.tokens / 1024 : 1, h.tokens / 1024 ? 1024 : h.tokens));
  h.route->warps = k.warps ? k.warps : 1;
  h.route->overlap = k.overlap < 0 ? mhar_route_may_overlap () : k.overlap;
}

/* All reads, each mix written into the next row. */
static void
chain (History &h, const Knobs &k)
{
  begin (h, k);
  must (ops->route_stored (context, h.route, 0));
  for (int s = 0; s < h.n_sites; s++) {
    const MharReadOut out = { ops->route_row (h.route, s + 1), {}, NULL, 1e-6 };
    must (ops->route_read (context, h.route, s, &out));
    must (ops->route_stored (context, h.route, s + 1));
  }
}

/* Median milliseconds of a graph's replays. */
template <typename Work>
static double
replay (Work work, int times = 25)
{
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaEvent_t start, stop;
  work (); /* first launches load code */
  must_cuda (cudaStreamSynchronize (context->stream));
  must_cuda (cudaStreamBeginCapture (context->stream, cudaStreamCaptureModeThreadLocal));
  work ();
  must_cuda (cudaStreamEndCapture (context->stream, &graph));
  must_cuda (cudaGraphInstantiate (&exec, graph, 0));
  must_cuda (cudaEventCreate (&start));
  must_cuda (cudaEventCreate (&stop));
  std::vector<float> ms;
  for (int i = 0; i < times + 5; i++) {
    float x;
    must_cuda (cudaEventRecord (start, context->stream));
    must_cuda (cudaGraphLaunch (exec, context->stream));
    must_cuda (cudaEventRecord (stop, context->stream));
    must_cuda (cudaEventSynchronize (stop));
    must_cuda (cudaEventElapsedTime (&x, start, stop));
    if (i >= 5)
      ms.push_back (x);
  }
  must_cuda (cudaGraphExecDestroy (exec));
  must_cuda (cudaGraphDestroy (graph));
  must_cuda (cudaEventDestroy (start));
  must_cuda (cudaEventDestroy (stop));
  std::sort (ms.begin (), ms.end ());
  return ms[ms.size () / 2];
}

/* Median milliseconds of calls that wait for their results. */
template <typename Work>
static double
wall (Work work, int times = 5)
{
  std::vector<double> ms;
  for (int i = 0; i < times + 1; i++) {
    must_cuda (cudaStreamSynchronize (context->stream));
    const auto start = std::chrono::steady_clock::now ();
    work ();
    must_cuda (cudaStreamSynchronize (context->stream));
    if (i)
      ms.push_back (std::chrono::duration<double, std::milli> (std::chrono::steady_clock::now () - start).count ());
  }
  std::sort (ms.begin (), ms.end ());
  return ms[ms.size () / 2];
}

/* Sixteen bytes a thread and step, `ahead` of them under way. */
template <int ahead>
__global__ void
copy_kernel (const uint4 *from, uint4 *to, size_t n)
{
  const size_t step = (size_t) gridDim.x * blockDim.x;
  for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x; i < n; i += ahead * step) {
    uint4 x[ahead];
#pragma unroll
    for (int j = 0; j < ahead; j++)
      if (i + j * step < n)
        x[j] = __ldcs (from + i + j * step);
#pragma unroll
    for (int j = 0; j < ahead; j++)
      if (i + j * step < n)
        __stcs (to + i + j * step, x[j]);
  }
}

/* Of the driver's copy and a plain kernel the faster; buffers forty times the L2. */
static void
measure_copy (void)
{
  const size_t bytes = (size_t) 2 << 30, n = bytes / sizeof (uint4);
  void *from, *to;
  must_cuda (cudaMalloc (&from, bytes));
  must_cuda (cudaMalloc (&to, bytes));
  fill_kernel<<<1024, 256, 0, context->stream>>> ((__nv_bfloat16 *) from, bytes / 2, 3);
  const double driver = replay (
    [&] { must_cuda (cudaMemcpyAsync (to, from, bytes, cudaMemcpyDeviceToDevice, context->stream)); });
  const double wide = replay (
    [&] { copy_kernel<4><<<context->n_multiprocessors * 8, 256, 0, context->stream>>> ((const uint4 *) from, (uint4 *) to, n); });
  const double simple = replay ([&] {
    copy_kernel<1><<<(unsigned) (n / 512), 512, 0, context->stream>>> ((const uint4 *) from, (uint4 *) to, n);
  });
  copy_rate = 2.0 * bytes / std::min ({ driver, wide, simple }) * 1e3;
  row ("copy, bytes read and written: driver %.2f TB/s, kernels %.2f and %.2f TB/s", 2e-9 * bytes / driver,
       2e-9 * bytes / wide, 2e-9 * bytes / simple);
  cudaFree (from);
  cudaFree (to);
}

static std::vector<float>
rows_of (MharRows x, size_t count)
{
  std::vector<float> to (count);
  must (ops->rows_get (context, x, count, to.data ()));
  return to;
}

/* Largest difference between the mixes of both paths as a share of the largest value, on rows that do not depend on
 * the reads; some sites, all tokens. */
static void
check_paths (const Shape &shape, const Knobs &k)
{
  const int n = 2 * shape.layers + 1;
  History ahead (n, shape.tokens, shape.width, shape.heads, 0, 0);
  History plain (n, shape.tokens, shape.width, shape.heads, 1, 0);
  MharBuffer *out;
  const size_t count = shape.tokens * shape.width;
  must (ops->buffer_new (context, 2 * count * 2, &out));
  begin (ahead, k);
  begin (plain, Knobs ());
  double worst = 0;
  for (int s = 0; s < n; s++) {
    const MharReadOut a = { { out, 0 }, {}, NULL, 1e-6 }, b = { { out, count }, {}, NULL, 1e-6 };
    must (ops->route_stored (context, ahead.route, s));
    must (ops->route_stored (context, plain.route, s));
    must (ops->route_read (context, ahead.route, s, &a));
    must (ops->route_read (context, plain.route, s, &b));
    if (s % 9 != 5 && s != n - 1)
      continue;
    const std::vector<float> x = rows_of (a.mix, count), y = rows_of (b.mix, count);
    float most = 0, apart = 0;
    for (size_t i = 0; i < count; i++) {
      most = std::max (most, fabsf (y[i]));
      apart = std::max (apart, x[i] == x[i] ? fabsf (x[i] - y[i]) : INFINITY);
    }
    worst = std::max (worst, (double) apart / most);
  }
  ops->buffer_free (context, out);
  failures += !(worst < 8e-3); /* bf16 keeps 8 bits: neighbouring roundings */
  row ("check %-14s warps %d: largest difference %.1e%s", shape.name, k.warps ? k.warps : 1, worst,
       worst < 8e-3 ? "" : " FAILED");
}

static void
check_repeats (History &h, const char *name)
{
  std::vector<float> first;
  bool same = true;
  for (int i = 0; i < 10; i++) {
    chain (h, Knobs ());
    const std::vector<float> now = rows_of (ops->route_row (h.route, h.n_rows - 1), h.tokens * h.width);
    if (i == 0)
      first = now;
    same = same && memcmp (first.data (), now.data (), now.size () * sizeof (float)) == 0;
  }
  failures += !same;
  row ("check %-14s ten runs %s", name, same ? "bit-equal" : "DIFFER");
}

static double
time_chain (const Shape &shape, int plain, int block, const Knobs &k)
{
  History h (2 * shape.layers + 1, shape.tokens, shape.width, shape.heads, plain, block);
  return replay ([&] { chain (h, k); });
}

static int
auto_block (const Shape &shape)
{
  return std::min (8, (int) lround (sqrt (2.0 * shape.layers + 1)));
}

static void
bench_chain (const Shape &shape)
{
  const int n = 2 * shape.layers + 1;
  char line[200];
  int at = snprintf (line, sizeof line, "%-14s", shape.name);
  for (int k : { 4, 6, 8, 0 }) {
    const double ms = time_chain (shape, 0, k, Knobs ());
    const int used = k ? k : auto_block (shape);
    const double bytes = mhar_cuda_route_bytes (n, used, shape.tokens, shape.width, shape.heads, 2);
    at += snprintf (line + at, sizeof line - at, k ? " K%d %.3f" : " auto(%d) %.3f ms", k ? k : auto_block (shape), ms);
    if (!k)
      at += snprintf (line + at, sizeof line - at, " %.1f GB %.0f%% of copy, aim %.2f", bytes / 1e9,
                      bytes / ms * 1e3 / copy_rate * 100, shape.aim_ms);
  }
  snprintf (line + at, sizeof line - at, "; plain %.2f", time_chain (shape, 1, 0, Knobs ()));
  row ("%s", line);
}

/* One thing changed at a time. */
static void
bench_tune (const Shape &shape)
{
  const struct {
    const char *name;
    Knobs k;
  } tries[] = { { "as chosen", {} }, { "2 warps", { 2 } }, { "4 warps", { 4 } }, { "no overlap", { 0, 0 } } };
  char line[240];
  int at = snprintf (line, sizeof line, "tune %-14s", shape.name);
  for (const auto &t : tries)
    at += snprintf (line + at, sizeof line - at, " %s %.3f", t.name, time_chain (shape, 0, 0, t.k));
  row ("%s", line);
}

static void
bench_delta (void)
{
  const size_t tokens = 8192, width = 4096;
  History h (9, tokens, width, 1, 0, 0, true);
  MharBuffer *out;
  must (ops->buffer_new (context, tokens * width * 2, &out));
  const double ms = replay ([&] {
    begin (h, Knobs ());
    for (int i = 0; i < 9; i++)
      must (ops->route_stored (context, h.route, i));
    const MharReadOut to = { { out, 0 }, {}, NULL, 1e-6 };
    must (ops->route_read (context, h.route, 0, &to));
  });
  const double bytes = 10.0 * tokens * width * 2;
  row ("delta read d4096 N9 T8192: %.4f ms, %.0f%% of copy (aim 80%%)", ms, bytes / ms * 1e3 / copy_rate * 100);
  ops->buffer_free (context, out);
}

static void
bench_null (History &h, int heads, int draws, MharSpan span)
{
  std::mt19937 random (5);
  std::normal_distribution<double> normal;
  std::vector<double> queries ((size_t) draws * h.width);
  for (double &q : queries)
    q = normal (random) / sqrt ((double) h.width / heads);
  std::vector<MharNullSite> sites;
  std::vector<MharNullSums> sums;
  std::vector<std::vector<double>> room;
  for (int s = 1; s < h.n_sites; s++) {
    sites.push_back ({ s, draws, queries.data (), heads == 1 ? 4 : 0, 0, 0, NULL });
    room.emplace_back ((size_t) span.windows * draws * (heads == 1 ? 4 : 1));
    double *first = room.back ().data ();
    room.emplace_back (heads == 1 ? 0 : (size_t) draws * heads * (s + 1));
    sums.push_back ({ heads == 1 ? first : NULL, heads == 1 ? NULL : first, heads == 1 ? NULL : room.back ().data () });
  }
  MharNull *null = NULL;
  const double made = wall ([&] {
    ops->null_free (context, null);
    must (ops->null_new (context, h.route, sites.data (), sites.size (), &null));
  }, 2);
  const double ms = wall ([&] { must (ops->null_run (context, h.route, null, span, sums.data ())); }, 3);
  double bytes = 0;
  for (const auto &r : room)
    bytes += r.size () * 8.0;
  row ("null H%d %4d draws, %d tokens: %.2f ms (made in %.1f; %.0f MB brought home)", heads, draws,
       span.limit < 0 ? (int) h.tokens : (int) span.limit, ms, made, bytes / 1e6);
  ops->null_free (context, null);
}

static void
bench_reduce (int heads)
{
  const size_t tokens = 8192, width = 1280;
  const int n = 73;
  MharSpan span = { 8, 1024, 0, -1 };
  History h (n, tokens, width, heads, 0, 0);
  begin (h, Knobs ());
  MharBuffer *out;
  must (ops->buffer_new (context, tokens * width * 2, &out));
  for (int s = 0; s < n; s++) {
    const MharReadOut to = { { out, 0 }, {}, NULL, 1e-6 };
    must (ops->route_stored (context, h.route, s));
    must (ops->route_read (context, h.route, s, &to));
  }
  const size_t planes = (size_t) heads * n * (n + 1) / 2;
  std::vector<double> weight (8 * planes), contribution (8 * planes), entropy (8 * (size_t) heads * n), js (8 * n);
  std::vector<double> square (8 * planes);
  const MharRouteSums sums = { weight.data (), contribution.data (), entropy.data (), js.data (), square.data () };
  const double summed = wall ([&] { must (ops->route_sums (context, h.route, span, &sums)); });
  std::vector<int32_t> rows (n);
  for (int i = 0; i < n; i++)
    rows[i] = i;
  std::vector<double> cosine (8 * (size_t) n * n), mean (8);
  int zero = 0;
  const double cosines = wall ([&] {
    must (ops->cosines (context, h.route, rows.data (), n, span, cosine.data (), mean.data (), &zero));
  });
  double total = 0;
  for (double w : weight)
    total += w;
  const double off = fabs (total / (8192.0 * heads * n) - 1);
  failures += !(off < 1e-5);
  row ("d1280 L36 T8192 H%d: sums %.2f ms (aim 2), cosines %.2f ms (aim 3); weights add up to 1 within %.0e", heads,
       summed, cosines, off);
  for (int draws : { 1, 32, 256 })
    bench_null (h, heads, draws, span);
  span.limit = 4096; /* --null-tokens */
  bench_null (h, heads, 1000, span);
  ops->buffer_free (context, out);
}

int
main (int argc, char **argv)
{
  static const Shape shapes[] = { { "d1280 T8192", 1280, 36, 8, 8192, 7.7 },
                                  { "d1280 T1024", 1280, 36, 8, 1024, 1.1 },
                                  { "d1024H16 T1024", 1024, 24, 16, 1024, 0.45 },
                                  { "d1024H8 T1024", 1024, 24, 8, 1024, 0.45 },
                                  { "d512 T4096", 512, 12, 4, 4096, 0.3 } };
  const auto wanted = [&] (const char *part) {
    for (int i = 1; i < argc; i++)
      if (!strcmp (argv[i], part))
        return true;
    return argc < 2 && strcmp (part, "once");
  };
  char err[256];
  ops = mhar_backend_get ();
  if (ops->context_new (&context, 0, MHAR_PRECISION_BF16, err, sizeof err)) {
    fprintf (stderr, "%s\n", err);
    return 77;
  }
  if (wanted ("once"))
    for (const Shape &s : shapes) {
      History h (2 * s.layers + 1, s.tokens, s.width, s.heads, 0, 0);
      chain (h, Knobs ());
    }
  else
    measure_copy ();
  if (wanted ("chain")) {
    for (int i : { 1, 3, 4 })
      for (int warps : { 1, 2, 4 })
        check_paths (shapes[i], Knobs{ warps });
    {
      History h (73, 1024, 1280, 8, 0, 0);
      check_repeats (h, "d1280 T1024");
    }
    for (const Shape &s : shapes)
      bench_chain (s);
  }
  if (wanted ("tune"))
    for (const Shape &s : shapes)
      bench_tune (s);
  if (wanted ("delta"))
    bench_delta ();
  if (wanted ("reduce"))
    for (int heads : { 8, 1 })
      bench_reduce (heads);
  ops->context_free (context);
  printf ("\n==== table ====\n%s%s\n", table.c_str (), failures ? "FAILED" : "all checks passed");
  return failures != 0;
}
