#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How long a large checkpoint takes to open, and how much anonymous memory a run on the CPU takes: RssAnon, which leaves out the
pages of mapped files that the system may drop at any time. The shards are sparse files, so 16 GB take no room on the disk; all
weights are 0.

    anonymous-memory.py [SHAPE] [--probe PROGRAM] [--folder FOLDER] [OPTION OF THE PROGRAM…]

SHAPE: 8b (Qwen3-8B with reads), 1b, or small. Without options: --max-tokens 32 --context 32. Prints one JSON object."""
import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
import time

SHAPES = {  # layers, width, attention heads, key/value heads, head_dim, FFN, vocabulary, shards, tied
    "8b": (36, 4096, 32, 8, 128, 12288, 151936, 5, False),
    "1b": (28, 1536, 12, 2, 128, 8960, 151936, 2, True),
    "small": (8, 768, 12, 4, 64, 2048, 16384, 2, True),
}


def tensors_of(shape):
    """{name: shape}, in the order in which they are stored."""
    layers, d, heads, kv, e, ffn, vocab, _, tied = shape
    t = {"model.embed_tokens.weight": [vocab, d]}
    for i in range(layers):
        p = f"model.layers.{i}."
        t.update({p + "self_attn.q_proj.weight": [heads * e, d], p + "self_attn.k_proj.weight": [kv * e, d],
                  p + "self_attn.v_proj.weight": [kv * e, d], p + "self_attn.o_proj.weight": [d, heads * e],
                  p + "self_attn.q_norm.weight": [e], p + "self_attn.k_norm.weight": [e],
                  p + "mlp.gate_proj.weight": [ffn, d], p + "mlp.up_proj.weight": [ffn, d], p + "mlp.down_proj.weight": [d, ffn],
                  p + "input_layernorm.weight": [d], p + "post_attention_layernorm.weight": [d]})
        for kind in ("attn", "mlp"):
            t.update({p + kind + "_res_proj.weight": [1, d], p + kind + "_res_norm.weight": [d]})
    t.update({"model.final_res_proj.weight": [1, d], "model.final_res_norm.weight": [d], "model.norm.weight": [d]})
    if not tied:
        t["lm_head.weight"] = [vocab, d]
    return t


def write_shard(path, tensors):
    """BF16 zeros that take no room: only the header is written. Returns the bytes of data."""
    header, at = {}, 0
    for name, shape in tensors.items():
        size = 2
        for n in shape:
            size *= n
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        f.truncate(8 + len(text) + at)
    return at


def write_checkpoint(folder, shape):
    """A checkpoint of the MHAR kind, mode full_mh with 8 heads; returns the bytes of its tensors."""
    layers, d, heads, kv, e, ffn, vocab, shards, tied = shape
    os.makedirs(folder, exist_ok=True)
    tensors, where, total = tensors_of(shape), {}, 0
    names = list(tensors)
    for i in range(shards):
        file = f"model-{i + 1:05}-of-{shards:05}.safetensors"
        held = names[i * len(names) // shards:(i + 1) * len(names) // shards]
        total += write_shard(os.path.join(folder, file), {n: tensors[n] for n in held})
        where.update({n: file for n in held})
    with open(os.path.join(folder, "model.safetensors.index.json"), "w", encoding="utf-8") as f:
        json.dump({"metadata": {"total_size": total}, "weight_map": where}, f)
    config = dict(model_type="qwen3_attnres", num_hidden_layers=layers, hidden_size=d, num_attention_heads=heads,
                  num_key_value_heads=kv, head_dim=e, intermediate_size=ffn, vocab_size=vocab, rms_norm_eps=1e-6,
                  max_position_embeddings=4096, rope_theta=1e6, tie_word_embeddings=tied, attnres_mode="full_mh",
                  attnres_num_heads=8)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as f:
        json.dump(config, f)
    with open(os.path.join(folder, "ids.u16"), "wb") as f:
        f.write(struct.pack("<4096H", *((7 * i * i + 3 * i) % 16384 for i in range(4096))))
    return total


def status_of(pid):
    """{key: bytes} of the sizes that the system tells of a process; {} where it has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as f:
            lines = [line.split() for line in f]
    except OSError:
        return {}
    return {words[0].rstrip(":"): int(words[1]) * 1024 for words in lines if len(words) == 3 and words[2] == "kB"}


def watch(command, env=None):
    """Runs it: (exit status, standard error, seconds, largest RssAnon, largest RssFile seen), sampled every few
    milliseconds."""
    start, peak, mapped = time.monotonic(), 0, 0
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env)
    while process.poll() is None:
        status = status_of(process.pid)
        peak, mapped = max(peak, status.get("RssAnon", 0)), max(mapped, status.get("RssFile", 0))
        time.sleep(0.003)
    return process.returncode, process.stderr.read().decode(), time.monotonic() - start, peak, mapped


def measure(program, folder, options, env=None):
    """Of a checkpoint that write_checkpoint made: seconds to open it (best of three), then a run's."""
    opening = min(watch([program, "--info", folder], env)[2] for _ in range(3))
    run = [program, folder, "--device", "cpu", "-q", "--tokens", os.path.join(folder, "ids.u16"), *options]
    code, err, seconds, anonymous, mapped = watch(run, env)
    return dict(status=code, error=err, open_seconds=round(opening, 3), run_seconds=round(seconds, 2),
                anonymous_bytes=anonymous, mapped_bytes=mapped)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("shape", nargs="?", default="small", choices=SHAPES)
    p.add_argument("--probe", default=os.environ.get("MHAR_PROBE", "build/app/cli/mhar-probe"))
    p.add_argument("--folder", help="where to put the checkpoint; it is kept")
    a, options = p.parse_known_args()
    with tempfile.TemporaryDirectory(prefix="mhar-memory-") as scratch:
        folder = a.folder or scratch
        size = write_checkpoint(folder, SHAPES[a.shape])
        found = measure(a.probe, folder, options or ["--max-tokens", "32", "--context", "32"])
    print(json.dumps(dict(shape=a.shape, checkpoint_bytes=size, **found), indent=1))
    return found["status"]


if __name__ == "__main__":
    sys.exit(main())
