/* SPDX-License-Identifier: MIT */
/* Devices and contexts, their scratch memory, and how a failed call becomes a status and a sentence. */
#include "kernels/cuda/cuda-private.cuh"

#include <cctype>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

/* What cuBLAS may use: its own recommendation for Hopper, but ours and fixed, because its choice of kernels, and so the
 * last bit of a product, depends on it. */
#define BLAS_WORKSPACE ((size_t) 32 << 20)

int
mhar_cuda_failed (MharContext *c, const char *what, cudaError_t result)
{
  (void) cudaGetLastError (); /* an error that is not fatal would otherwise be seen by the next launch */
  snprintf (c->error, sizeof c->error, "%s: %s", what, cudaGetErrorString (result));
  return result == cudaErrorMemoryAllocation ? MHAR_NO_MEMORY : MHAR_FAILED;
}

int
mhar_cublas_failed (MharContext *c, const char *what, cublasStatus_t result)
{
  (void) cudaGetLastError ();
  snprintf (c->error, sizeof c->error, "%s: %s", what, cublasGetStatusString (result));
  return result == CUBLAS_STATUS_ALLOC_FAILED ? MHAR_NO_MEMORY : MHAR_FAILED;
}

int
mhar_cuda_unsupported (MharContext *c, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  vsnprintf (c->error, sizeof c->error, format, args);
  va_end (args);
  return MHAR_UNSUPPORTED;
}

/* Why there are no devices. The runtime reports a missing driver and an old one by the same number; only the version
 * tells them apart. */
static int
no_device (cudaError_t result, char *err, size_t n)
{
  int driver = 0, runtime = 0;

  (void) cudaGetLastError ();
  (void) cudaDriverGetVersion (&driver);
  (void) cudaRuntimeGetVersion (&runtime);
  if (result == cudaErrorInsufficientDriver && driver == 0)
    snprintf (err, n, "no NVIDIA driver");
  else if (result == cudaErrorInsufficientDriver)
    snprintf (err, n, "the NVIDIA driver is too old: it knows CUDA %d.%d and %d.%d is needed", driver / 1000,
              driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
  else if (result == cudaErrorNoDevice)
    snprintf (err, n, "no CUDA device");
  else
    snprintf (err, n, "CUDA does not start: %s", cudaGetErrorString (result));
  return MHAR_NO_DEVICE;
}

int
mhar_cuda_device_count (int *count, char *err, size_t n)
{
  cudaError_t result;

  *count = 0;
  result = cudaGetDeviceCount (count);
  if (result == cudaSuccess && *count > 0)
    return MHAR_OK;
  *count = 0;
  return no_device (result == cudaSuccess ? cudaErrorNoDevice : result, err, n);
}

static int
open_device (MharContext *c)
{
  int major = 0, minor = 0, shared = 0;

  MHAR_CUDA_ENTER (c);
  MHAR_CUDA_TRY (c, cudaDeviceGetAttribute (&major, cudaDevAttrComputeCapabilityMajor, c->device));
  MHAR_CUDA_TRY (c, cudaDeviceGetAttribute (&minor, cudaDevAttrComputeCapabilityMinor, c->device));
  if (major < 8) {
    snprintf (c->error, sizeof c->error, "device %d has compute capability %d.%d and 8.0 is needed", c->device, major,
              minor);
    return MHAR_NO_DEVICE;
  }
  MHAR_CUDA_TRY (c, cudaDeviceGetAttribute (&c->n_multiprocessors, cudaDevAttrMultiProcessorCount, c->device));
  MHAR_CUDA_TRY (c, cudaDeviceGetAttribute (&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, c->device));
  c->shared_per_block = (size_t) shared;
  MHAR_CUDA_TRY (c, cudaStreamCreateWithFlags (&c->stream, cudaStreamNonBlocking));
  return MHAR_OK;
}

static int
open_blas (MharContext *c)
{
  MHAR_CUBLAS_TRY (c, cublasCreate (&c->blas));
  MHAR_CUDA_TRY (c, cudaMalloc (&c->blas_workspace, BLAS_WORKSPACE));
  MHAR_CUBLAS_TRY (c, cublasSetStream (c->blas, c->stream)); /* puts the workspace back to cuBLAS' own: first */
  MHAR_CUBLAS_TRY (c, cublasSetWorkspace (c->blas, c->blas_workspace, BLAS_WORKSPACE));
  MHAR_CUBLAS_TRY (c, cublasSetAtomicsMode (c->blas, CUBLAS_ATOMICS_NOT_ALLOWED));
  MHAR_CUBLAS_TRY (c, cublasSetMathMode (c->blas, (cublasMath_t) (CUBLAS_DEFAULT_MATH
                                                                 | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)));
  return MHAR_OK;
}

int
mhar_cuda_context_new (MharContext **out, int device, MharPrecision precision, char *err, size_t n)
{
  MharContext *c;
  int count, status;

  *out = NULL;
  MHAR_CUDA_PASS (mhar_cuda_device_count (&count, err, n));
  if (device < 0 || device >= count) {
    snprintf (err, n, "no CUDA device %d: the devices are 0 to %d", device, count - 1);
    return MHAR_NO_DEVICE;
  }
  c = (MharContext *) calloc (1, sizeof *c);
  if (c == NULL) {
    snprintf (err, n, "out of memory");
    return MHAR_NO_MEMORY;
  }
  c->device = device;
  c->precision = precision;
  status = open_device (c);
  if (status == MHAR_OK)
    status = open_blas (c);
  if (status != MHAR_OK) {
    snprintf (err, n, "%s", c->error);
    mhar_cuda_context_free (c);
    return status;
  }
  *out = c;
  return MHAR_OK;
}

void
mhar_cuda_context_free (MharContext *c)
{
  if (c == NULL)
    return;
  (void) cudaSetDevice (c->device);
  if (c->stream != NULL)
    (void) cudaStreamSynchronize (c->stream);
  if (c->blas != NULL)
    (void) cublasDestroy (c->blas);
  (void) cudaFree (c->blas_workspace);
  (void) cudaFree (c->scratch);
  (void) cudaFreeHost (c->pinned);
  if (c->stream != NULL)
    (void) cudaStreamDestroy (c->stream);
  (void) cudaGetLastError ();
  free (c);
}

/* The driver's own version ("580.159.03"): CUDA only tells which CUDA it knows. An empty text where the file is not. */
static void
driver_version (char *text, size_t n)
{
  FILE *f = fopen ("/proc/driver/nvidia/version", "r");
  char line[512] = "", *rest = NULL;

  text[0] = '\0';
  if (f == NULL)
    return;
  if (fgets (line, sizeof line, f) != NULL)
    for (char *word = strtok_r (line, " \t\n", &rest); word != NULL; word = strtok_r (NULL, " \t\n", &rest))
      if (isdigit ((unsigned char) word[0]) && strchr (word, '.') != NULL
          && strspn (word, "0123456789.") == strlen (word)) {
        snprintf (text, n, "%s", word);
        break;
      }
  fclose (f);
}

int
mhar_cuda_describe (MharContext *c, MharDeviceInfo *info)
{
  cudaDeviceProp properties;
  size_t available = 0, total = 0;
  int runtime = 0;
  char driver[64];

  MHAR_CUDA_ENTER (c);
  memset (info, 0, sizeof *info);
  MHAR_CUDA_TRY (c, cudaGetDeviceProperties (&properties, c->device));
  MHAR_CUDA_TRY (c, cudaMemGetInfo (&available, &total));
  MHAR_CUDA_TRY (c, cudaRuntimeGetVersion (&runtime));
  driver_version (driver, sizeof driver);
  snprintf (info->name, sizeof info->name, "%.127s", properties.name);
  snprintf (info->runtime, sizeof info->runtime, "CUDA %d.%d%s%s", runtime / 1000, runtime % 1000 / 10,
            driver[0] != '\0' ? ", driver " : "", driver);
  info->memory_total = total;
  info->memory_free = available;
  return MHAR_OK;
}

int
mhar_cuda_synchronize (MharContext *c)
{
  MHAR_CUDA_ENTER (c);
  MHAR_CUDA_TRY (c, cudaStreamSynchronize (c->stream));
  return MHAR_OK;
}

const char *
mhar_cuda_error_text (MharContext *c)
{
  return c->error;
}

/* What is queued may still use the old memory, so growing waits for it. */
int
mhar_cuda_scratch (MharContext *c, size_t bytes, void **out)
{
  if (bytes > c->scratch_bytes) {
    const size_t step = (size_t) 2 << 20;

    bytes = (bytes + step - 1) / step * step;
    MHAR_CUDA_TRY (c, cudaStreamSynchronize (c->stream));
    MHAR_CUDA_TRY (c, cudaFree (c->scratch));
    c->scratch = NULL;
    c->scratch_bytes = 0;
    MHAR_CUDA_TRY (c, cudaMalloc (&c->scratch, bytes));
    c->scratch_bytes = bytes;
  }
  *out = c->scratch;
  return MHAR_OK;
}

int
mhar_cuda_pinned (MharContext *c, size_t bytes, void **out)
{
  if (bytes > c->pinned_bytes) {
    const size_t step = (size_t) 64 << 10;

    bytes = (bytes + step - 1) / step * step;
    MHAR_CUDA_TRY (c, cudaStreamSynchronize (c->stream));
    MHAR_CUDA_TRY (c, cudaFreeHost (c->pinned));
    c->pinned = NULL;
    c->pinned_bytes = 0;
    MHAR_CUDA_TRY (c, cudaMallocHost (&c->pinned, bytes));
    c->pinned_bytes = bytes;
  }
  *out = c->pinned;
  return MHAR_OK;
}
