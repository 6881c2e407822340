/* SPDX-License-Identifier: MIT */
#include "app/reader/confine.h"

/* Sanitizers look for leaks with calls of their own. */
#if defined MHAR_HAVE_SECCOMP && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__

#include <errno.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

static const int allowed[] = {
  SCMP_SYS (read),
  SCMP_SYS (readv),
  SCMP_SYS (pread64),
  SCMP_SYS (write),
  SCMP_SYS (writev),
  SCMP_SYS (lseek),
  SCMP_SYS (fstat),
  SCMP_SYS (close),
  /* memory */
  SCMP_SYS (brk),
  SCMP_SYS (munmap),
  SCMP_SYS (mremap),
  SCMP_SYS (madvise),
  /* threads of OpenBLAS, which are there before, wait and end */
  SCMP_SYS (futex),
  SCMP_SYS (sched_yield),
  SCMP_SYS (restart_syscall),
  /* signals, and what abort() needs besides tgkill */
  SCMP_SYS (rt_sigaction),
  SCMP_SYS (rt_sigprocmask),
  SCMP_SYS (rt_sigreturn),
  SCMP_SYS (sigaltstack),
  SCMP_SYS (getpid),
  SCMP_SYS (gettid),
  SCMP_SYS (clock_gettime),
  SCMP_SYS (getrandom),
  SCMP_SYS (exit),
  SCMP_SYS (exit_group),
};

static int
allow_all (scmp_filter_ctx filter)
{
  /* Standard output's kind is asked for by fstat, which newer C libraries call so: of a descriptor, without a name. */
  const struct scmp_arg_cmp of_descriptor = SCMP_A3 (SCMP_CMP_MASKED_EQ, 0x1000, 0x1000); /* AT_EMPTY_PATH */
  const struct scmp_arg_cmp no_code = SCMP_A2 (SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
  const struct scmp_arg_cmp to_itself = SCMP_A0 (SCMP_CMP_EQ, (scmp_datum_t)getpid ());
  int failed = 0;

  for (gsize i = 0; i < G_N_ELEMENTS (allowed); i++)
    failed |= seccomp_rule_add (filter, SCMP_ACT_ALLOW, allowed[i], 0);
  failed |= seccomp_rule_add (filter, SCMP_ACT_ALLOW, SCMP_SYS (newfstatat), 1, of_descriptor);
  failed |= seccomp_rule_add (filter, SCMP_ACT_ALLOW, SCMP_SYS (mmap), 1, no_code);
  failed |= seccomp_rule_add (filter, SCMP_ACT_ALLOW, SCMP_SYS (mprotect), 1, no_code);
  failed |= seccomp_rule_add (filter, SCMP_ACT_ALLOW, SCMP_SYS (tgkill), 1, to_itself);
  return failed;
}

gboolean
mhar_confine (void)
{
  scmp_filter_ctx filter = seccomp_init (SCMP_ACT_ERRNO (EPERM));
  gboolean confined = filter != NULL && seccomp_attr_set (filter, SCMP_FLTATR_CTL_TSYNC, 1) == 0
                      && allow_all (filter) == 0 && seccomp_load (filter) == 0;

  seccomp_release (filter);
  return confined;
}

#else

gboolean
mhar_confine (void)
{
  return FALSE;
}

#endif
