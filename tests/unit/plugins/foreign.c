/* SPDX-License-Identifier: MIT */
/* A plug-in of another ABI, for test-device.c. */
#include "kernels/ops.h"

const MharOps *mhar_backend_get (void);

const MharOps *
mhar_backend_get (void)
{
  static const MharOps ops = { .abi = 999, .struct_size = sizeof (MharOps), .name = "foreign" };
  return &ops;
}
