#!/usr/bin/env python3
"""A grid of random checkpoints, every mode and gate on both bodies at odd sizes: logits and the routing weights of every site
against the float64 oracle, tensor by tensor, each within 1e-5 of its norm. TAP.

Dialects that the oracle has no words for are rewritten from one that it has: D4 is D1 with its keys and the very first read left out.
Depth coefficients of hyper-connections are unrolled here. Needs MHAR_PROBE; other arguments go to every run."""
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile

TESTS = os.environ.get("MHAR_TEST_DATA", os.path.join(os.path.dirname(__file__), ".."))
PROGRAM = os.environ["MHAR_PROBE"]
EXTRA = sys.argv[1:]
sys.path.insert(0, os.path.join(TESTS, "oracle"))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np  # noqa: E402

import make_checkpoint  # noqa: E402
import mhar_oracle  # noqa: E402

ALLOWED = 1e-5
IDS = np.array([(7 * i * i + 3 * i) % 251 for i in range(21)])

# What is odd: one layer and one KV head; three blocks of five layers; heads of one coordinate; a head_dim that is not d / heads;
# a block a layer, so that N is the largest it can be.
SHAPES = [
    "--width 96 --heads 3 --kv-heads 1 --layers 1 --vocab 257 --heads-routing 3 --streams 1",
    "--width 96 --heads 3 --kv-heads 3 --head-dim 24 --layers 5 --blocks 3 --heads-routing 3 --shards 2 --streams 3",
    "--layers 4 --blocks 3 --kv-heads 4 --ffn 72 --heads-routing 64 --shards 5 --untied",
    "--width 80 --heads 5 --kv-heads 5 --layers 3 --blocks 2 --heads-routing 5 --head-dim 40 --streams 2",
    "--layers 6 --blocks 8 --heads 4 --kv-heads 2 --heads-routing 2 --old-config --rope-theta 1000000",
]
GATES = ["bias", "learnable_alpha", "sigmoid_scalar", "sigmoid_vector"]
GATED = ["full", "full_mh", "full_hw", "block", "block_mh", "delta", "delta_block", "delta_mh", "block --recency-bias",
         "full --recency-bias"]
FAMILIES, DTYPES = ["qwen3", "llama"], ["BF16", "F16", "F32"]


def grid():
    """(what make_checkpoint.py is told, D4's block size or 0, whether block differences are true ones)."""
    cases = []

    def add(mode, gate, shape, period=0, true_blocks=False):
        n = len(cases)
        null = "--null-source " if mode.startswith("delta") and n % 2 else ""
        cases.append((f"--mode {mode} --gate {gate} --family {FAMILIES[(n // 5 + n) % 2]} --dtype {DTYPES[n % 3]} --seed {n} {null}"
                      + shape, period, true_blocks))

    for mode in GATED:
        for gate in GATES:
            for shape in SHAPES:
                add(mode, gate, shape)
    for shape in SHAPES:
        add("baseline", "bias", shape)
        for period in (1, 2, 4):
            add("full" if period == 1 else "block", "bias", shape, period)
        for mode in ("delta_block", "delta_mh"):
            add(mode, "bias", shape, true_blocks=True)
        for _ in FAMILIES:
            add("hyper_connection", "bias", shape)
    # flash-linear-attention's own names and config: with and without norms of queries and keys, biases, a window, a computed width.
    for period in (0, 1, 2, 4):
        for more in ("--qkv-bias --ffn 0", "--window 5 --kv-heads 4 --ffn 72", "--untied --window 1", "--layers 5 --heads 2 --rope-theta 50000"):
            add("full", "bias", f"{more} --fla {period}")
    return cases


def write(folder, words, rename=None):
    """A checkpoint by make_checkpoint.py, in this process; `rename` gives tensors other names."""
    sys.argv = ["make_checkpoint.py", folder, *words]
    save = make_checkpoint.save
    if rename:
        make_checkpoint.save = lambda path, tensors, dtype: save(path, {rename(k): x for k, x in tensors.items()}, dtype)
    try:
        make_checkpoint.main()
    finally:
        make_checkpoint.save = save


def edit_config(folder, change):
    path = os.path.join(folder, "config.json")
    with open(path, encoding="utf-8") as f:
        config = json.load(f)
    change(config)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(config, f)


def own_names(name):
    """flash-linear-attention's names."""
    for old, new in (("model.final_res", "model.res"), ("self_attn.", "attn."), ("input_layernorm", "attn_norm"),
                     ("post_attention_layernorm", "mlp_norm"), ("model.embed_tokens", "model.embeddings")):
        name = name.replace(old, new)
    return name


def as_d4(folder, words, period, body):
    """The same weights as a D4 checkpoint; `body`: its body's names too. Returns the folder."""
    words = [w for i, w in enumerate(words) if "--shards" not in words[max(i - 1, 0):i + 1]]
    write(folder, words, own_names if body else lambda name: name.replace("model.final_res", "model.res"))

    def change(config):
        for key in [k for k in config if k.startswith("attnres_")]:
            del config[key]
        config["attnres_block_size"] = period
    edit_config(folder, change)
    return folder


def unrolled(m):
    """Coefficients of each output in the input of each sublayer and of the last norm."""
    n, total = m.c["attnres_hyper_n"], 2 * m.L + 1
    streams, rows = np.eye(1, total).repeat(n, 0), []
    for k in range(2 * m.L):
        p, kind = f"model.layers.{k // 2}.hc_", "mlp" if k % 2 else "attn"
        rows.append(mhar_oracle.softmax(m.w[p + "alpha_" + kind], 0) @ streams)
        streams = m.w[p + "A_" + kind] @ streams + np.outer(m.w[p + "beta_" + kind], np.eye(total)[k + 1])
    return rows + [streams.mean(0)]


def check_coefficients(folder, m):
    run = subprocess.run([PROGRAM, "--sites", "--json", folder], capture_output=True, text=True, check=True)
    found = json.loads(run.stdout)[0]["coefficients"]
    want = unrolled(m)
    return max([(np.abs(np.array(f) - r[:len(f)]).max() + np.abs(r[len(f):]).sum(), f"coefficients of input {i}")
                for i, (f, r) in enumerate(zip(found, want, strict=True))] + [check_run_coefficients(folder, want)])


def check_run_coefficients(folder, want):
    """The same in a run's JSON, single precision; null where there is none."""
    ids = os.path.join(folder, "ids.u16")
    IDS.astype("<u2").tofile(ids)
    run = subprocess.run([PROGRAM, "--depth-maps", "--json", "-q", "--tokens", ids, folder, *EXTRA], capture_output=True, text=True, check=True)
    found = json.loads(run.stdout)["checkpoints"][0]["depth_coefficients"]
    rows = found["coefficient"]
    holes = [[x is None for x in row] for row in rows]
    if holes != [[k > i for k in range(len(want))] for i in range(len(want))] or len(found["inputs"]) != len(want):
        return float("inf"), "what is null in depth_coefficients"
    got = np.array([[x or 0.0 for x in row] for row in rows])
    return np.abs(got - np.stack(want)).max() / max(1.0, np.abs(want).max()), "depth_coefficients"


def check(case):
    """(largest share of the allowance, where, how many tensors)."""
    words, period, true_blocks = case[0].split(), case[1], case[2]
    with tempfile.TemporaryDirectory() as scratch:
        folder, reference = os.path.join(scratch, "checkpoint"), os.path.join(scratch, "ref.safetensors")
        write(folder, words)
        m = mhar_oracle.Model(folder)
        m.true_blocks = true_blocks
        m.per_block = period // 2 if period > 1 else m.per_block
        result = m.run(IDS)
        reads = {r["site"]: r["weights"] for r in result["reads"] if not (period and r["site"] == 0)}
        mhar_oracle.write_safetensors(reference, {"ids": IDS, "logits": result["logits"],
                                                  **{f"weights.{s}": w for s, w in reads.items()}})
        if period:
            folder = as_d4(os.path.join(scratch, "d4"), words, period, body="llama" in words)
        options = ["--block-delta", "true"] if true_blocks else []
        run = subprocess.run([PROGRAM, "--verify", reference, folder, *options, *EXTRA], capture_output=True, text=True, check=False)
        errors = [(float(line.split()[4].rstrip(",")), line.split()[0]) for line in run.stdout.splitlines()
                  if "relative norm error" in line]
        if run.returncode not in (0, 1) or len(errors) != len(reads) + 1:
            return float("inf"), run.stderr.strip() or run.stdout, len(errors)
        if m.mode == "hyper_connection":
            errors.append(check_coefficients(folder, m))
    worst, where = max(errors)
    return worst / ALLOWED, where, len(errors)


def main():
    cases, failed, tensors, most = grid(), 0, 0, 0.0
    print(f"1..{len(cases) + 1}")
    with multiprocessing.Pool(2) as pool:
        for number, (case, (share, where, n)) in enumerate(zip(cases, pool.imap(check, cases)), 1):
            good = share <= 1
            failed, tensors, most = failed + (not good), tensors + n, max(most, share)
            name = f"{f'D4 of {case[1]}: ' if case[1] else ''}{'true blocks: ' if case[2] else ''}{case[0]}"
            print(f"{'ok' if good else 'not ok'} {number} - {name}: {100 * share:.2f} % of the allowance ({where})", flush=True)
    enough = len(cases) >= 200
    print(f"{'ok' if enough else 'not ok'} {len(cases) + 1} - {len(cases)} checkpoints, {tensors} tensors, largest error "
          f"{100 * most:.2f} % of the allowance")
    return 1 if failed or not enough else 0


if __name__ == "__main__":
    sys.exit(main())
