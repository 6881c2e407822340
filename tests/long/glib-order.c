/* SPDX-License-Identifier: MIT */
/* Loaded before GLib (LD_PRELOAD) in a build with ThreadSanitizer: says what GLib orders. GLib is not built with the
 * sanitizer, and its locks are system calls and atomic operations of its own, which it does not see; of each call by which
 * one thread hands memory to another, `release` is what it gives away and `acquire` what it gets, by the object's address. */
#include <dlfcn.h>
#include <gio/gio.h>

/* Of the sanitizer's library. */
void __tsan_acquire (void *address);
void __tsan_release (void *address);

#define REAL(name) ((__typeof__ (&name)) dlsym (RTLD_NEXT, #name))

/* ---- locks ---- */

#define LOCK(name, Type)                                                                                               \
  void name (Type *lock)                                                                                               \
  {                                                                                                                    \
    static __typeof__ (&name) real;                                                                                    \
    if (real == NULL)                                                                                                  \
      real = REAL (name);                                                                                              \
    real (lock);                                                                                                       \
    __tsan_acquire (lock);                                                                                             \
  }
#define TRY_LOCK(name, Type)                                                                                           \
  gboolean name (Type *lock)                                                                                           \
  {                                                                                                                    \
    gboolean got = REAL (name) (lock);                                                                                 \
    if (got)                                                                                                           \
      __tsan_acquire (lock);                                                                                           \
    return got;                                                                                                        \
  }
#define UNLOCK(name, Type)                                                                                             \
  void name (Type *lock)                                                                                               \
  {                                                                                                                    \
    static __typeof__ (&name) real;                                                                                    \
    if (real == NULL)                                                                                                  \
      real = REAL (name);                                                                                              \
    __tsan_release (lock);                                                                                             \
    real (lock);                                                                                                       \
  }

LOCK (g_mutex_lock, GMutex)
TRY_LOCK (g_mutex_trylock, GMutex)
UNLOCK (g_mutex_unlock, GMutex)
LOCK (g_rec_mutex_lock, GRecMutex)
TRY_LOCK (g_rec_mutex_trylock, GRecMutex)
UNLOCK (g_rec_mutex_unlock, GRecMutex)
LOCK (g_rw_lock_writer_lock, GRWLock)
UNLOCK (g_rw_lock_writer_unlock, GRWLock)
LOCK (g_rw_lock_reader_lock, GRWLock)
UNLOCK (g_rw_lock_reader_unlock, GRWLock)

void
g_cond_wait (GCond *cond, GMutex *mutex)
{
  __tsan_release (mutex);
  REAL (g_cond_wait) (cond, mutex);
  __tsan_acquire (mutex);
}

gboolean
g_cond_wait_until (GCond *cond, GMutex *mutex, gint64 end)
{
  __tsan_release (mutex);
  gboolean in_time = REAL (g_cond_wait_until) (cond, mutex, end);
  __tsan_acquire (mutex);
  return in_time;
}

/* ---- what is done once ---- */

typedef struct {
  GOnce *once;
  GThreadFunc func;
  gpointer arg;
} Once;

static gpointer
do_once (gpointer data)
{
  Once *o = data;
  gpointer result = o->func (o->arg);
  __tsan_release (o->once);
  return result;
}

gpointer
g_once_impl (GOnce *once, GThreadFunc func, gpointer arg)
{
  Once o = { once, func, arg };
  gpointer result = REAL (g_once_impl) (once, do_once, &o);
  __tsan_acquire (once);
  return result;
}

/* ---- threads ---- */

typedef struct {
  GThreadFunc func;
  gpointer data;
} Start;

static gpointer
begin_thread (gpointer data)
{
  Start *start = data;
  __tsan_acquire (start);
  gpointer result = start->func (start->data);
  __tsan_release (g_thread_self ());
  g_free (start);
  return result;
}

GThread *
g_thread_new (const char *name, GThreadFunc func, gpointer data)
{
  Start *start = g_new (Start, 1);
  *start = (Start){ func, data };
  __tsan_release (start);
  return REAL (g_thread_new) (name, begin_thread, start);
}

gpointer
g_thread_join (GThread *thread)
{
  gpointer result = REAL (g_thread_join) (thread);
  __tsan_acquire (thread);
  return result;
}

/* ---- results of tasks ---- */

void
g_task_return_pointer (GTask *task, gpointer result, GDestroyNotify destroy)
{
  __tsan_release (task);
  REAL (g_task_return_pointer) (task, result, destroy);
}

void
g_task_return_error (GTask *task, GError *error)
{
  __tsan_release (task);
  REAL (g_task_return_error) (task, error);
}

gpointer
g_task_propagate_pointer (GTask *task, GError **error)
{
  __tsan_acquire (task);
  return REAL (g_task_propagate_pointer) (task, error);
}

/* ---- counts of references: whoever drops the last sees what all others did before they dropped theirs ---- */

#define DROP(name, Result, Type)                                                                                       \
  Result name (Type *counted)                                                                                          \
  {                                                                                                                    \
    static __typeof__ (&name) real;                                                                                    \
    if (real == NULL)                                                                                                  \
      real = REAL (name);                                                                                              \
    if (counted != NULL) {                                                                                             \
      __tsan_release (counted);                                                                                        \
      __tsan_acquire (counted);                                                                                        \
    }                                                                                                                  \
    return real (counted);                                                                                             \
  }

#undef g_atomic_ref_count_dec /* with G_DISABLE_CHECKS a macro */
DROP (g_atomic_ref_count_dec, gboolean, gatomicrefcount)
DROP (g_bytes_unref, void, GBytes)
DROP (g_array_unref, void, GArray)
DROP (g_ptr_array_unref, void, GPtrArray)
DROP (g_hash_table_unref, void, GHashTable)
DROP (g_object_unref, void, void)

void
g_atomic_rc_box_release_full (gpointer box, GDestroyNotify clear)
{
  __tsan_release (box);
  __tsan_acquire (box);
  REAL (g_atomic_rc_box_release_full) (box, clear);
}
