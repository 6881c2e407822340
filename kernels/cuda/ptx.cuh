/* SPDX-License-Identifier: MIT */
/* What the routing kernels need of the machine beyond mma.cuh: copies in groups, loads that leave L1 alone, and on
 * sm_90 launches that overlap. What sm_80 lacks is left out there; no result depends on it. */
#pragma once

#include "kernels/cuda/mma.cuh"

/* Dynamic shared memory, in units of 16 bytes. */
#define MHAR_SHARED(name) extern __shared__ uint4 name[]

/* Waits for the kernel before this one; nothing it wrote may be touched before. */
static __device__ __forceinline__ void
mhar_wait_for_grid (void)
{
#if __CUDA_ARCH__ >= 900
  asm volatile ("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Lets the next kernel start while this one runs. Called after mhar_wait_for_grid, so that what the kernels before this
 * one wrote may be touched by the next before it waits. */
static __device__ __forceinline__ void
mhar_release_grid (void)
{
#if __CUDA_ARCH__ >= 900
  asm volatile ("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* Closes a group of the copies this thread has started. */
static __device__ __forceinline__ void
mhar_copy_close (void)
{
  asm volatile ("cp.async.commit_group;" ::: "memory");
}

/* Until at most `n` of this thread's closed groups are under way. */
template <int n>
static __device__ __forceinline__ void
mhar_copy_groups (void)
{
  asm volatile ("cp.async.wait_group %0;" ::"n"(n) : "memory");
}

/* Sixteen bytes that this kernel reads once and does not write. */
static __device__ __forceinline__ uint4
mhar_load_once (const void *from)
{
  uint4 x;
  asm volatile ("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                : "l"(from));
  return x;
}
