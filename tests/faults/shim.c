/* SPDX-License-Identifier: MIT */
/* Loaded before the C library (LD_PRELOAD) by tests/faults/test_faults.py: makes one call fail, or all of them awkward.
 *
 *   MHAR_FAULT=CALL:N:ERRNO   the N-th CALL fails with that errno, and where "N+" all from it on: open, mmap, read, pread,
 *                             write, pwrite, fsync, ftruncate, rename; those of files below $MHAR_FAULT_FOLDER only
 *   MHAR_FAULT=CALL:N:0       nothing fails (to count)
 *   MHAR_FAULT=short          read, pread, write and pwrite of such files move at most 7 bytes
 *   MHAR_FAULT=interrupted    every second one of them is interrupted (EINTR)
 *   MHAR_FAULT=slow:N:SECONDS  such files are mapped, and from the N-th page on that is looked at each takes that long, as over a
 *                             network
 *   MHAR_FAULT=alloc:N:WHERE  the N-th allocation fails that is asked for from WHERE: a part of the path of the program
 *                             or library whose code calls malloc, calloc, realloc or aligned_alloc
 *   MHAR_FAULT_COUNT=FILE     how many calls there were is added there as a line when a process ends
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#define SHORT 7

static char call[16], where[256], folder[PATH_MAX], count_file[PATH_MAX];
static long wanted;
static int onward, code, shortened, interrupted, ready;
static atomic_long seen;

#define REAL(name) ((__typeof__ (&name)) dlsym (RTLD_NEXT, #name))

static void copy (char *to, size_t n, const char *from)
{
  if (from != NULL)
    snprintf (to, n, "%s", from);
}

static void finish (void)
{
  if (count_file[0] == '\0')
    return;
  FILE *file = fopen (count_file, "ae");
  fprintf (file, "%ld\n", atomic_load (&seen));
  fclose (file);
}

__attribute__ ((constructor)) static void start (void)
{
  const char *fault = getenv ("MHAR_FAULT");
  copy (folder, sizeof folder, getenv ("MHAR_FAULT_FOLDER"));
  copy (count_file, sizeof count_file, getenv ("MHAR_FAULT_COUNT"));
  if (fault == NULL)
    return;
  shortened = strcmp (fault, "short") == 0;
  interrupted = strcmp (fault, "interrupted") == 0;
  char number[32] = "", last[256] = "";
  if (sscanf (fault, "%15[^:]:%31[^:]:%255s", call, number, last) == 3) {
    wanted = atol (number);
    onward = strchr (number, '+') != NULL;
    code = atoi (last);
    copy (where, sizeof where, last);
  }
  atexit (finish);
  ready = 1;
}

/* libseccomp's: a confined reader could not ask what its descriptors are, nor count at its end. */
int seccomp_load (void *filter)
{
  (void) filter;
  return -ENOSYS;
}

static int below (const char *path)
{
  return folder[0] != '\0' && strncmp (path, folder, strlen (folder)) == 0;
}

static int ours (int fd)
{
  char link[64], path[PATH_MAX];
  snprintf (link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink (link, path, sizeof path - 1);
  if (n <= 0)
    return 0;
  path[n] = '\0';
  return below (path);
}

/* Whether this call is the one; errno is set then. */
static int fails (const char *name)
{
  if (!ready || strcmp (name, call) != 0)
    return 0;
  long n = atomic_fetch_add (&seen, 1) + 1;
  if (code == 0 || (onward ? n < wanted : n != wanted))
    return 0;
  errno = code;
  return 1;
}

/* Reads and writes: fails, is interrupted, or is shortened. */
static int awkward (const char *name, int fd, size_t *size)
{
  int saved = errno, mine = ready && ours (fd);
  errno = saved;
  if (!mine)
    return 0;
  if (fails (name))
    return 1;
  if (interrupted && atomic_fetch_add (&seen, 1) % 2 == 0) {
    errno = EINTR;
    return 1;
  }
  if (shortened && *size > SHORT)
    *size = SHORT;
  return 0;
}

ssize_t read (int fd, void *to, size_t n)
{
  return awkward ("read", fd, &n) ? -1 : REAL (read) (fd, to, n);
}

ssize_t write (int fd, const void *from, size_t n)
{
  return awkward ("write", fd, &n) ? -1 : REAL (write) (fd, from, n);
}

ssize_t pread64 (int fd, void *to, size_t n, off64_t at)
{
  return awkward ("pread", fd, &n) ? -1 : REAL (pread64) (fd, to, n, at);
}

ssize_t pread (int fd, void *to, size_t n, off_t at)
{
  return pread64 (fd, to, n, at);
}

ssize_t pwrite64 (int fd, const void *from, size_t n, off64_t at)
{
  return awkward ("pwrite", fd, &n) ? -1 : REAL (pwrite64) (fd, from, n, at);
}

ssize_t pwrite (int fd, const void *from, size_t n, off_t at)
{
  return pwrite64 (fd, from, n, at);
}

int fsync (int fd)
{
  return ours (fd) && fails ("fsync") ? -1 : REAL (fsync) (fd);
}

int ftruncate64 (int fd, off64_t size)
{
  return ours (fd) && fails ("ftruncate") ? -1 : REAL (ftruncate64) (fd, size);
}

int ftruncate (int fd, off_t size)
{
  return ftruncate64 (fd, size);
}

int rename (const char *from, const char *to)
{
  return below (to) && fails ("rename") ? -1 : REAL (rename) (from, to);
}

static int open_with (const char *path, int flags, mode_t mode)
{
  return below (path) && fails ("open") ? -1 : REAL (open64) (path, flags, mode);
}

int open64 (const char *path, int flags, ...)
{
  va_list args;
  va_start (args, flags);
  mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg (args, mode_t) : 0;
  va_end (args);
  return open_with (path, flags, mode);
}

int open (const char *path, int flags, ...)
{
  va_list args;
  va_start (args, flags);
  mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg (args, mode_t) : 0;
  va_end (args);
  return open_with (path, flags, mode);
}

/* ---- pages that come slowly: they are there, but forbidden until somebody looks ---- */

#define SLOW_MAPS 16

static struct {
  char *start;
  size_t n;
} slow_maps[SLOW_MAPS];
static atomic_int n_slow_maps;

static void on_look (int number, siginfo_t *info, void *context)
{
  (void) context;
  char *at = info->si_addr, *page = (char *) ((uintptr_t) at & ~(uintptr_t) (sysconf (_SC_PAGESIZE) - 1));
  for (int i = 0; i < atomic_load (&n_slow_maps); i++)
    if (at >= slow_maps[i].start && at < slow_maps[i].start + slow_maps[i].n) {
      if (atomic_fetch_add (&seen, 1) + 1 >= wanted)
        sleep ((unsigned) code);
      mprotect (page, (size_t) sysconf (_SC_PAGESIZE), PROT_READ);
      return;
    }
  signal (number, SIG_DFL);
}

static void *slow_map (void *start, size_t n)
{
  struct sigaction look = { .sa_sigaction = on_look, .sa_flags = SA_SIGINFO | SA_NODEFER };
  int i = atomic_load (&n_slow_maps);
  if (start == MAP_FAILED || i == SLOW_MAPS)
    return start;
  slow_maps[i].start = start;
  slow_maps[i].n = n;
  atomic_store (&n_slow_maps, i + 1);
  sigaction (SIGSEGV, &look, NULL);
  mprotect (start, n, PROT_NONE);
  return start;
}

void *mmap64 (void *at, size_t n, int protection, int flags, int fd, off64_t offset)
{
  int mine = ready && fd >= 0 && ours (fd);
  if (mine && fails ("mmap"))
    return MAP_FAILED;
  void *start = REAL (mmap64) (at, n, protection, flags, fd, offset);
  return mine && strcmp (call, "slow") == 0 ? slow_map (start, n) : start;
}

void *mmap (void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
  return mmap64 (at, n, protection, flags, fd, offset);
}

/* ---- allocation: dlsym itself allocates, so what it needs before it has answered comes from here ---- */

static char early[65536];
static size_t early_used;

static void *early_alloc (size_t n)
{
  size_t at = (early_used + 15) / 16 * 16;
  if (n > sizeof early - at)
    return NULL;
  early_used = at + n;
  return early + at;
}

static int is_early (const void *p)
{
  return (const char *) p >= early && (const char *) p < early + sizeof early;
}

static int refused (void *caller)
{
  static _Thread_local int inside;
  Dl_info info;
  if (!ready || inside || strcmp (call, "alloc") != 0)
    return 0;
  inside = 1;
  int mine = dladdr (caller, &info) != 0 && info.dli_fname != NULL && strstr (info.dli_fname, where) != NULL;
  inside = 0;
  if (!mine)
    return 0;
  long n = atomic_fetch_add (&seen, 1) + 1;
  if (onward ? n < wanted : n != wanted)
    return 0;
  errno = ENOMEM;
  return 1;
}

static void *(*real_malloc) (size_t), *(*real_calloc) (size_t, size_t), *(*real_realloc) (void *, size_t),
  *(*real_aligned) (size_t, size_t);
static void (*real_free) (void *);

static int find_real (void)
{
  static _Thread_local int finding;
  if (real_free != NULL)
    return 1;
  if (finding)
    return 0;
  finding = 1;
  real_malloc = dlsym (RTLD_NEXT, "malloc");
  real_calloc = dlsym (RTLD_NEXT, "calloc");
  real_realloc = dlsym (RTLD_NEXT, "realloc");
  real_aligned = dlsym (RTLD_NEXT, "aligned_alloc");
  real_free = dlsym (RTLD_NEXT, "free");
  finding = 0;
  return 1;
}

void *malloc (size_t n)
{
  if (!find_real ())
    return early_alloc (n);
  return refused (__builtin_return_address (0)) ? NULL : real_malloc (n);
}

void *calloc (size_t n, size_t size)
{
  if (!find_real ())
    return early_alloc (n * size);
  return refused (__builtin_return_address (0)) ? NULL : real_calloc (n, size);
}

void *realloc (void *p, size_t n)
{
  if (!find_real ())
    return NULL;
  return refused (__builtin_return_address (0)) ? NULL : real_realloc (p, n);
}

void *aligned_alloc (size_t alignment, size_t n)
{
  if (!find_real ())
    return NULL;
  return refused (__builtin_return_address (0)) ? NULL : real_aligned (alignment, n);
}

void free (void *p)
{
  if (p != NULL && !is_early (p) && find_real ())
    real_free (p);
}
