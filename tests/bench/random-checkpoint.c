/* SPDX-License-Identifier: MIT */
#include "tests/bench/random-checkpoint.h"

#include "core/error.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct {
  GString *header;
  GArray *parts; /* Part */
  guint64 at;
} Layout;

typedef struct {
  guint64 at, count;
  double scale; /* 0: ones */
} Part;

static void
add (Layout *layout, const char *name, gsize rows, gsize cols, double scale)
{
  Part part = { layout->at, (guint64) MAX (rows, 1) * cols, scale };
  guint64 end = layout->at + 2 * part.count;

  g_string_append_printf (layout->header, "%s\"%s\":{\"dtype\":\"BF16\",\"shape\":[", layout->parts->len ? "," : "{", name);
  if (rows > 0)
    g_string_append_printf (layout->header, "%zu,", rows);
  g_string_append_printf (layout->header, "%zu],\"data_offsets\":[%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT "]}", cols, layout->at, end);
  g_array_append_val (layout->parts, part);
  layout->at = end;
}

static void
add_layer (Layout *layout, const MharBenchShape *s, int l)
{
  const gsize d = (gsize) s->width, q = (gsize) s->heads * s->head_dim, k = (gsize) s->kv_heads * s->head_dim, f = (gsize) s->ffn;
  const struct {
    const char *name;
    gsize rows, cols;
    double scale;
  } tensors[] = {
    { "input_layernorm", 0, d, 0 },         { "post_attention_layernorm", 0, d, 0 }, { "self_attn.q_proj", q, d, 0.02 },
    { "self_attn.k_proj", k, d, 0.02 },     { "self_attn.v_proj", k, d, 0.02 },      { "self_attn.o_proj", d, q, 0.02 },
    { "self_attn.q_norm", 0, (gsize) s->head_dim, 0 }, { "self_attn.k_norm", 0, (gsize) s->head_dim, 0 },
    { "mlp.gate_proj", f, d, 0.02 },        { "mlp.up_proj", f, d, 0.02 },           { "mlp.down_proj", d, f, 0.02 },
    { "attn_res_proj", 1, d, 0.3 },         { "attn_res_norm", 0, d, 0 },            { "mlp_res_proj", 1, d, 0.3 },
    { "mlp_res_norm", 0, d, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (tensors); i++) {
    g_autofree char *name = g_strdup_printf ("model.layers.%d.%s.weight", l, tensors[i].name);
    add (layout, name, tensors[i].rows, tensors[i].cols, tensors[i].scale);
  }
}

/* bf16 of scale · n, n roughly normal (a sum of four uniforms): splitmix64 gives four 16-bit uniforms a word. */
static void
fill (guint16 *to, guint64 count, guint64 seed, double scale)
{
#pragma omp parallel for schedule(static)
  for (guint64 i = 0; i < count; i++) {
    guint64 z = (seed + i) * 0x9E3779B97F4A7C15u + 0x632BE59BD9B4E019u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    double sum = (double) (z & 0xFFFF) + (double) (z >> 16 & 0xFFFF) + (double) (z >> 32 & 0xFFFF) + (double) (z >> 48);
    float value = scale == 0 ? 1.0f : (float) (scale * (sum / 65536.0 - 2.0) * 1.7320508);
    guint32 bits;
    memcpy (&bits, &value, sizeof bits);
    to[i] = (guint16) (bits >> 16);
  }
}

static gboolean
write_tensors (const char *path, const Layout *layout, GError **error)
{
  gsize head = (layout->header->len + 7) / 8 * 8, total = 8 + head + layout->at;
  int fd = open (path, O_RDWR | O_CREAT | O_TRUNC, 0644);
  guint8 *map = MAP_FAILED;
  guint64 length = GUINT64_TO_LE ((guint64) head);

  if (fd >= 0 && ftruncate (fd, (off_t) total) == 0)
    map = mmap (NULL, total, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (fd >= 0)
    close (fd);
  if (map == MAP_FAILED) {
    g_set_error (error, MHAR_ERROR, MHAR_ERROR_RUN, "%s: no room for %zu bytes", path, total);
    return FALSE;
  }
  memcpy (map, &length, 8);
  memset (map + 8, ' ', head);
  memcpy (map + 8, layout->header->str, layout->header->len);
  for (guint i = 0; i < layout->parts->len; i++) {
    const Part *part = &g_array_index (layout->parts, Part, i);
    fill ((guint16 *) (gpointer) (map + 8 + head + part->at), part->count, part->at, part->scale);
  }
  munmap (map, total);
  return TRUE;
}

gboolean
mhar_bench_write_checkpoint (const char *folder, const MharBenchShape *s, GError **error)
{
  g_autofree char *config_path = g_build_filename (folder, "config.json", NULL);
  g_autofree char *path = g_build_filename (folder, "model.safetensors", NULL);
  g_autofree char *config = g_strdup_printf (
    "{\"model_type\":\"qwen3_attnres\",\"attnres_mode\":\"full_mh\",\"attnres_num_heads\":%d,\"vocab_size\":%d,\"hidden_size\":%d,"
    "\"num_hidden_layers\":%d,\"num_attention_heads\":%d,\"num_key_value_heads\":%d,\"head_dim\":%d,\"intermediate_size\":%d,"
    "\"rms_norm_eps\":1e-6,\"max_position_embeddings\":4096,\"tie_word_embeddings\":true,\"hidden_act\":\"silu\"}",
    s->routing_heads, s->vocab, s->width, s->layers, s->heads, s->kv_heads, s->head_dim, s->ffn);
  Layout layout = { g_string_new (NULL), g_array_new (FALSE, FALSE, sizeof (Part)), 0 };

  add (&layout, "model.embed_tokens.weight", (gsize) s->vocab, (gsize) s->width, 0.1);
  for (int l = 0; l < s->layers; l++)
    add_layer (&layout, s, l);
  add (&layout, "model.final_res_proj.weight", 1, (gsize) s->width, 0.3);
  add (&layout, "model.final_res_norm.weight", 0, (gsize) s->width, 0);
  add (&layout, "model.norm.weight", 0, (gsize) s->width, 0);
  g_string_append_c (layout.header, '}');
  gboolean good = g_file_set_contents (config_path, config, -1, error) && write_tensors (path, &layout, error);
  g_string_free (layout.header, TRUE);
  g_array_unref (layout.parts);
  return good;
}
