/* SPDX-License-Identifier: MIT */
/* A random Qwen3-shaped checkpoint in bf16, written in a second or two at any size, for benchmarks. */
#pragma once

#include <glib.h>

typedef struct {
  const char *name;
  int width, layers, heads, kv_heads, head_dim, ffn, vocab, routing_heads, windows, length;
} MharBenchShape;

/* Writes config.json and model.safetensors (mode full_mh) into the folder, which exists. Weights have a standard deviation of about
 * 0.02, queries of 0.3, gains are 1. */
gboolean mhar_bench_write_checkpoint (const char *folder, const MharBenchShape *shape, GError **error);
