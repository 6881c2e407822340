/* SPDX-License-Identifier: MIT */
/* An HDF5 file driver over a descriptor that we opened ourselves.
 *
 * HDF5's own driver opens by name, and where the disk is full it can neither flush nor close: ids stay open and the
 * library tries again at exit. This one notes the first errno, drops every later write and reports success, so that
 * closing always works; whoever wrote the file asks for the errno. It takes no lock, which network folders often lack.
 */
#include "core/h5-private.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>
#endif

#define FIRST_LOOK 4096 /* bytes */

struct _MharH5Disk {
  int fd;
  gboolean writable;
  gboolean open;    /* HDF5 holds a pointer to this */
  gboolean dropped; /* writes go nowhere */
  int error;
  guint64 limit; /* ulimit -f: writing past it would raise SIGXFSZ */
  haddr_t eoa, eof;
  hid_t driver;
};

/* What HDF5 keeps for an open file; its own members come first. */
typedef struct {
  H5FD_t base;
  MharH5Disk *disk;
} DiskFile;

/* What goes through the access property list: HDF5 copies it as bytes. */
typedef struct {
  MharH5Disk *disk;
} DiskInfo;

static MharH5Disk *
disk_of (const H5FD_t *file)
{
  return ((const DiskFile *)file)->disk;
}

static void
disk_fail (MharH5Disk *disk, int code)
{
  if (disk->error == 0)
    disk->error = code;
  if (disk->writable)
    disk->dropped = TRUE;
}

static H5FD_t *
driver_open (const char *name G_GNUC_UNUSED, unsigned flags G_GNUC_UNUSED, hid_t fapl, haddr_t maxaddr G_GNUC_UNUSED)
{
  const DiskInfo *info = H5Pget_driver_info (fapl);
  struct stat status;
  if (info == NULL || info->disk->open || fstat (info->disk->fd, &status) != 0)
    return NULL;
  DiskFile *file = g_new0 (DiskFile, 1);
  file->disk = info->disk;
  file->disk->open = TRUE;
  file->disk->eof = (haddr_t)status.st_size;
  return &file->base;
}

static herr_t
driver_close (H5FD_t *file)
{
  disk_of (file)->open = FALSE;
  g_free (file);
  return 0;
}

static herr_t
driver_query (const H5FD_t *file, unsigned long *flags)
{
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA
           | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  /* A file to be read may name another driver for itself, and sizes that HDF5's accumulator overruns. */
  if (file != NULL && !disk_of (file)->writable)
    *flags |= H5FD_FEAT_IGNORE_DRVRINFO;
  else
    *flags |= H5FD_FEAT_ACCUMULATE_METADATA;
  return 0;
}

static haddr_t
driver_get_eoa (const H5FD_t *file, H5FD_mem_t type G_GNUC_UNUSED)
{
  return disk_of (file)->eoa;
}

static herr_t
driver_set_eoa (H5FD_t *file, H5FD_mem_t type G_GNUC_UNUSED, haddr_t address)
{
  disk_of (file)->eoa = address;
  return 0;
}

static haddr_t
driver_get_eof (const H5FD_t *file, H5FD_mem_t type G_GNUC_UNUSED)
{
  return disk_of (file)->eof;
}

/* As much of it as the file has; -1 on failure. */
static gssize
read_some (MharH5Disk *disk, guint8 *to, gsize size, guint64 address)
{
  gsize done = 0;
  while (done < size && disk->fd >= 0) {
    ssize_t n = pread (disk->fd, to + done, MIN (size - done, 1u << 30), (off_t)(address + done));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0) {
      disk_fail (disk, errno);
      return -1;
    }
    if (n == 0)
      break;
    done += (gsize)n;
  }
  return (gssize)done;
}

/* HDF5 trusts the head of a B-tree (of links or attributes): it divides by its sizes and looks for a checksum behind as
 * many records as it names. Version 2: "BTHD", version, type, size of a node (4), of a record (2), depth (2), 2
 * percentages, address of the root (8), records in it (2). */
static gboolean
is_sane_tree (const guint8 *head, gsize size)
{
  if (size < 26 || memcmp (head, "BTHD", 4) != 0)
    return TRUE;
  guint node = head[6] | head[7] << 8 | head[8] << 16 | (guint)head[9] << 24;
  guint record = head[10] | head[11] << 8, depth = head[12] | head[13] << 8, in_root = head[24] | head[25] << 8;
  return node >= 256 && node <= 65536 && record >= 8 && record <= 64 && depth <= 8 && in_root * record + 10 <= node;
}

static herr_t
driver_read (H5FD_t *file, H5FD_mem_t type G_GNUC_UNUSED, hid_t dxpl G_GNUC_UNUSED, haddr_t address, size_t size,
             void *buffer)
{
  MharH5Disk *disk = disk_of (file);
  if (address > G_MAXINT64 || size > G_MAXINT64 - address)
    return -1;
  /* HDF5 believes lengths that the file gives, as long as it gets an address for them: nothing is to be filled with zeros
   * for gigabytes. Its own first looks at a file may reach beyond a small one. */
  if (!disk->writable && size > MAX (disk->eof, FIRST_LOOK))
    return -1;
  gssize done = read_some (disk, buffer, size, address);
  if (done < 0)
    return -1;
  /* Allocated but not yet written: zeros, as HDF5's own driver has it. */
  memset ((guint8 *)buffer + done, 0, size - (gsize)done);
  return disk->writable || is_sane_tree (buffer, size) ? 0 : -1;
}

static herr_t
driver_write (H5FD_t *file, H5FD_mem_t type G_GNUC_UNUSED, hid_t dxpl G_GNUC_UNUSED, haddr_t address, size_t size,
              const void *buffer)
{
  MharH5Disk *disk = disk_of (file);
  const guint8 *from = buffer;
  if (!disk->dropped && (address > disk->limit || size > disk->limit - address))
    disk_fail (disk, EFBIG);
  while (size > 0 && !disk->dropped) {
    ssize_t n = pwrite (disk->fd, from, MIN (size, 1u << 30), (off_t)address);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      disk_fail (disk, n < 0 ? errno : ENOSPC);
      break;
    }
    from += n;
    address += (haddr_t)n;
    size -= (size_t)n;
  }
  disk->eof = MAX (disk->eof, address + size);
  return 0;
}

static herr_t
driver_truncate (H5FD_t *file, hid_t dxpl G_GNUC_UNUSED, hbool_t closing G_GNUC_UNUSED)
{
  MharH5Disk *disk = disk_of (file);
  if (disk->eoa == disk->eof || !disk->writable)
    return 0;
  if (!disk->dropped && disk->eoa > disk->limit)
    disk_fail (disk, EFBIG);
  if (!disk->dropped && ftruncate (disk->fd, (off_t)disk->eoa) != 0)
    disk_fail (disk, errno);
  disk->eof = disk->eoa;
  return 0;
}

static hid_t
driver_register (void)
{
  const H5FD_class_t driver = {
#ifdef H5FD_CLASS_VERSION
    .version = H5FD_CLASS_VERSION,
    .value = 500, /* of the range left to programs */
#endif
    .name = "mhar-disk",
    .maxaddr = (haddr_t)G_MAXINT64,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof (DiskInfo),
    .open = driver_open,
    .close = driver_close,
    .query = driver_query,
    .get_eoa = driver_get_eoa,
    .set_eoa = driver_set_eoa,
    .get_eof = driver_get_eof,
    .read = driver_read,
    .write = driver_write,
    .truncate = driver_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
  };
  return H5FDregister (&driver);
}

MharH5Disk *
mhar_h5_disk_new (int fd, gboolean writable)
{
  MharH5Disk *disk = g_new0 (MharH5Disk, 1);
  struct rlimit limit;
  disk->fd = fd;
  disk->writable = writable;
  disk->limit = G_MAXINT64;
  if (getrlimit (RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    disk->limit = MIN (disk->limit, limit.rlim_cur);
  disk->driver = H5I_INVALID_HID;
  return disk;
}

hid_t
mhar_h5_disk_open_file (MharH5Disk *disk)
{
  DiskInfo info = { disk };
  g_auto (MharH5Id) access = H5Pcreate (H5P_FILE_ACCESS);
  disk->driver = driver_register ();
  if (disk->driver < 0 || H5Pset_driver (access, disk->driver, &info) < 0
      || H5Pset_fclose_degree (access, H5F_CLOSE_STRONG) < 0)
    return H5I_INVALID_HID;
  if (!disk->writable)
    return H5Fopen ("mhar-disk", H5F_ACC_RDONLY, access);

  g_auto (MharH5Id) creation = H5Pcreate (H5P_FILE_CREATE);
  unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
  if (H5Pset_libver_bounds (access, H5F_LIBVER_V18, H5F_LIBVER_V18) < 0
      || H5Pset_link_creation_order (creation, order) < 0 || H5Pset_attr_creation_order (creation, order) < 0)
    return H5I_INVALID_HID;
  return H5Fcreate ("mhar-disk", H5F_ACC_TRUNC, creation, access);
}

int
mhar_h5_disk_errno (const MharH5Disk *disk)
{
  return disk->error;
}

gboolean
mhar_h5_disk_read (MharH5Disk *disk, guint64 offset, void *buffer, gsize size)
{
  return offset <= G_MAXINT64 && size <= G_MAXINT64 - offset && read_some (disk, buffer, size, offset) == (gssize)size;
}

void
mhar_h5_disk_abandon (MharH5Disk *disk)
{
  disk->dropped = TRUE;
}

gboolean
mhar_h5_disk_sync (MharH5Disk *disk)
{
  int fd = g_steal_fd (&disk->fd);
  if (fsync (fd) != 0)
    disk_fail (disk, errno);
  if (close (fd) != 0 && errno != EINTR)
    disk_fail (disk, errno);
  return disk->error == 0;
}

void
mhar_h5_disk_free (MharH5Disk *disk)
{
  if (disk == NULL)
    return;
  if (disk->fd >= 0)
    close (g_steal_fd (&disk->fd));
  disk->dropped = TRUE;
  if (disk->open)
    return; /* H5Fclose failed: HDF5 comes back at exit, and must find this (without a file behind it) */
  if (disk->driver >= 0)
    H5FDunregister (disk->driver);
  g_free (disk);
}
