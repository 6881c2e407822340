/* SPDX-License-Identifier: MIT */
/* Every operation once more, in double and in plain loops. */
#pragma once

#include "tests/unit/kernel-cases.h"

/* The outputs kernel_run () gives, in its order and under its names, from the definitions in kernels/ops.h. */
void kernel_reference (const KernelCase *k, const KernelInputs *in, KernelResult *result);
