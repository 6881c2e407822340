/* SPDX-License-Identifier: MIT */
/* The instructions of sm_80 that C++ has no words for: copies to shared memory that run beside the arithmetic, 8×8
 * matrices from shared memory into the registers of a warp, and their products on the tensor cores.
 *
 * Who holds what, with g = lane / 4 and p = lane % 4: of an 8×8 matrix of bfloat16 a lane holds elements 2p and 2p + 1
 * of row g, in one register. An operand A [16, 16] is four such: rows 0–7 and 8–15 of columns 0–7, then both of columns
 * 8–15. An operand B [16, 8] is two, of its transpose: k 0–7, then k 8–15. The sums C [16, 8] are float32: elements 2p
 * and 2p + 1 of row g, then of row g + 8. */
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

static __device__ __forceinline__ uint32_t
mhar_shared_address (const void *p)
{
  return (uint32_t) __cvta_generic_to_shared (p);
}

/* Starts copying 16 bytes to shared memory, or writing 16 zeros there; `from` is then not read. */
static __device__ __forceinline__ void
mhar_copy_start (uint32_t to, const void *from, bool wanted)
{
  asm volatile ("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(wanted ? 16 : 0) : "memory");
}

/* The copies that this thread has started are done; a barrier then tells the others. */
static __device__ __forceinline__ void
mhar_copy_wait (void)
{
  asm volatile ("cp.async.wait_all;" ::: "memory");
}

/* Four 8×8 matrices; lane i gives the address of row i % 8 of matrix i / 8. */
static __device__ __forceinline__ void
mhar_matrix_load (uint32_t (&r)[4], uint32_t address)
{
  asm volatile ("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                : "r"(address)
                : "memory");
}

/* The same, each matrix transposed. */
static __device__ __forceinline__ void
mhar_matrix_load_transposed (uint32_t (&r)[4], uint32_t address)
{
  asm volatile ("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                : "r"(address)
                : "memory");
}

/* c += a·b. */
static __device__ __forceinline__ void
mhar_mma (float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
  asm ("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
       "{%0, %1, %2, %3};"
       : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
       : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* 2^x by the hardware, to 2 ulp of float32; 0 at −∞. For weights that are rounded to bfloat16 next. */
static __device__ __forceinline__ float
mhar_exp2 (float x)
{
  float y;

  asm ("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
