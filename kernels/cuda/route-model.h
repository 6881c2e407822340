/* SPDX-License-Identifier: MIT */
/* How many bytes the reads of a `full` model move: what a benchmark divides by the time. Plain C. */
#pragma once

#include <stddef.h>

/* Bytes of device memory that must move for `sites` reads, site s reading rows 0..s, when K sites share a pass over the
 * rows older than themselves. A row is tokens·width elements of `real` bytes. With s0 the first site of a block of k:
 *   older pass   s0 rows and their logits read once; k partial mixes in float32 written, and read again by the sites
 *   site s0 + j  j + 1 newest rows read, one mix written
 *   scoring      the rows older than any block read once more
 * in all about N²/2K + NK/2 + 2N rows and 2N partial mixes; and every logit written once, heads of them a token, row and
 * later site. A block whose older rows are not worth the partial mixes reads them site by site, as the kernels do.
 * K = 0: the plain path, N(N + 1)/2 + N rows. */
static inline double
mhar_cuda_route_bytes (int sites, int K, size_t tokens, size_t width, int heads, size_t real)
{
  const double row = (double) tokens * (double) width * (double) real;
  const double partial = (double) tokens * (double) width * 4.0;
  const double logit = (double) heads * (double) tokens * 4.0; /* of a row at a site */
  double bytes = sites * row + (double) sites * (sites + 1) / 2 * logit;
  int scored = 0;

  if (K <= 0)
    return bytes + (double) sites * (sites + 1) / 2 * row;
  for (int s0 = 0; s0 < sites; s0 += K) {
    const int k = sites - s0 < K ? sites - s0 : K;
    const int together = s0 * row + 2 * k * partial < (double) k * s0 * row;

    bytes += together ? s0 * row + 2 * k * partial + (double) k * s0 * logit : (double) k * s0 * row;
    bytes += k * (k + 1) / 2 * row;
    scored = together ? s0 : scored;
  }
  return bytes + scored * row;
}
