#!/usr/bin/env python3
"""--weights-only against the oracle: random checkpoints of every mode, files of the Kimi-K3 kind as trained and fused, in 96
shards of which only those with queries are there, and routers; JSON and HDF5 alike. TAP."""
import json
import math
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np

TESTS = os.environ.get("MHAR_TEST_DATA", os.path.join(os.path.dirname(__file__), ".."))
PROGRAM = os.environ["MHAR_PROBE"]
sys.path.insert(0, os.path.join(TESTS, "oracle"))
import make_checkpoint  # noqa: E402
import weights_only  # noqa: E402

TOLERANCE = 3e-7  # fields are float32: 2^-24 relative, and what is below 1 absolute
MODES = ["full", "full_mh", "full_hw", "block", "block_mh", "delta", "delta_block", "delta_mh"]


def made(folder, *options):
    subprocess.run([sys.executable, os.path.join(TESTS, "oracle", "make_checkpoint.py"), folder, *options], check=True,
                   stdout=subprocess.DEVNULL)


def save_shards(folder, tensors, config, shards=96, dtype="BF16", keep=lambda names: True):
    """Tensors dealt over so many shards by turns; those of which `keep` says no stay unwritten."""
    os.makedirs(folder)
    names, held = list(tensors), {}
    for i, name in enumerate(names):
        held.setdefault(i % shards, []).append(name)
    where = {}
    for i in range(shards):
        file = f"model-{i + 1:05}-of-{shards:05}.safetensors"
        where.update({name: file for name in held.get(i, [])})
        if keep(held.get(i, [])):
            make_checkpoint.save(os.path.join(folder, file), {name: tensors[name] for name in held.get(i, [])}, dtype)
    with open(os.path.join(folder, "model.safetensors.index.json"), "w") as f:
        json.dump({"metadata": {}, "weight_map": where}, f)
    with open(os.path.join(folder, "config.json"), "w") as f:
        json.dump(config, f)


def kimi(rng, layers, d, fused):
    """Names as docs of the dialects have them (D5), among tensors of a body that nobody here can run."""
    p, t = "language_model.model.layers.", {}
    for i in range(layers):
        for k in range(3):
            t[f"{p}{i}.block_sparse_moe.experts.{k}.w1.weight"] = rng.standard_normal((4, 4))
        t[f"{p}{i}.self_attn.A_log"] = rng.standard_normal(4)
        if fused:
            t[f"{p}{i}.attn_res_score"], t[f"{p}{i}.ffn_res_score"] = rng.standard_normal(d), rng.standard_normal((1, d))
            continue
        for name in ("self_attention_res", "mlp_res"):
            t[f"{p}{i}.{name}_proj.weight"] = rng.standard_normal((1, d)) * 0.3
            t[f"{p}{i}.{name}_norm.weight"] = 1 + 0.1 * rng.standard_normal(d)
    if fused:
        t["language_model.model.output_res_score"] = rng.standard_normal(d)
    else:
        t["language_model.model.output_attn_res_proj.weight"] = rng.standard_normal((1, d))
        t["language_model.model.output_attn_res_norm.weight"] = 1 + 0.1 * rng.standard_normal(d)
    return t


KIMI_CONFIG = {"model_type": "kimi_k3", "text_config": {"attn_res_block_size": 4, "num_experts": 384, "hidden_size": 64}}


def has_routing(names):
    return any("_res_" in name for name in names)


def build(case, folder):
    rng = np.random.default_rng(11)
    if case.startswith("mode "):
        made(folder, *case.split()[2:], "--mode", case.split()[1])
    elif case.startswith("kimi"):
        # 24 layers of 8 tensors and 2 more: the shards without a query stay away
        save_shards(folder, kimi(rng, 24, 64, "fused" in case), KIMI_CONFIG, keep=has_routing)
    elif case == "routers":
        os.makedirs(folder)
        tensors = {f"connection.routers.{i}.query": rng.standard_normal(64) for i in range(11)}
        make_checkpoint.save(os.path.join(folder, "model.safetensors"), tensors, "F32")
        with open(os.path.join(folder, "config.json"), "w") as f:
            json.dump({"hidden_size": 64}, f)
    elif case == "a zero query":
        os.makedirs(folder)
        tensors = {f"model.layers.0.{k}_res_{w}.weight": np.ones((1, 8)) for k in ("attn", "mlp") for w in ("proj", "norm")}
        tensors["model.layers.0.mlp_res_proj.weight"] *= 0
        make_checkpoint.save(os.path.join(folder, "model.safetensors"), tensors, "F32")
        with open(os.path.join(folder, "config.json"), "w") as f:
            json.dump({}, f)


def walk(want, got, where=""):
    """(share of the tolerance, where) of the worst number; infinity where something is absent or of another kind."""
    if isinstance(want, dict):
        return max((walk(want[k], got[k], f"{where}.{k}") if isinstance(got, dict) and k in got else (math.inf, f"{where}.{k}")
                    for k in want), default=(0, where))
    if isinstance(want, list):
        if not isinstance(got, list) or len(want) != len(got):
            return math.inf, where
        return max((walk(a, b, f"{where}[{i}]") for i, (a, b) in enumerate(zip(want, got))), default=(0, where))
    if isinstance(want, float):
        return (abs(want - got) / max(1, abs(want)) / TOLERANCE if isinstance(got, (int, float)) else math.inf), where
    return (0 if want == got else math.inf), f"{where}: {want!r} {got!r}"


def check_file(path, want):
    """The HDF5 file says what the JSON does."""
    with h5py.File(path) as f:
        group = f["checkpoint_0"]
        n, s = want["sites"], want["slices"]
        shapes = {"query_norm": (n,), "scored_norm": (n,), "slice_norm": (n, s), "query_cosine": (n, n),
                  "slice_cosine": (n, s, s), "slice_site_cosine": (s, n, n)}
        for name, shape in shapes.items():
            field = group[name]
            if field.shape != shape or field.dtype != np.float32 or not field.attrs["long_name"] or field.attrs["units"] != "1":
                return math.inf, name
            values = np.stack([np.array(site[name], np.float64) for site in want["per_site"]],
                              axis=1 if name == "slice_site_cosine" else 0)
            if (np.isnan(values) != np.isnan(field[...])).any():
                return math.inf, name
            share = np.nanmax(np.abs(values - field[...]) / np.maximum(1, np.abs(values)), initial=0) / TOLERANCE
            if share > 1:
                return share, name
        if [x.decode() for x in group["site_label"][...]] != [site["label"] for site in want["per_site"]]:
            return math.inf, "site_label"
        if group.attrs["signal"] != "query_cosine" or group.attrs["NX_class"] != "NXdata":
            return math.inf, "NXdata"
    return 0, ""


def run(case, options):
    with tempfile.TemporaryDirectory() as scratch:
        folder, out = os.path.join(scratch, "x"), os.path.join(scratch, "out.h5")
        build(case, folder)
        words = {k.lstrip("-"): v for k, v in zip(options[::2], options[1::2])}
        kept = {"slices": int, "heads": int, "slicing": str}
        want = weights_only.report(folder, **{k: kept[k](v) for k, v in words.items()})
        answer = subprocess.run([PROGRAM, "--weights-only", folder, "--json", "-q", "-o", out, *options], capture_output=True,
                                text=True, check=False)
        if answer.returncode != 0:
            return math.inf, answer.stderr.strip()
        saved = subprocess.run([PROGRAM, "--from", out, "--json", "-q"], capture_output=True, text=True, check=False)
        if saved.stdout != answer.stdout:
            return math.inf, "--from prints something else: " + saved.stderr
        return max(walk(want, json.loads(answer.stdout)["checkpoints"][0]), check_file(out, want))


def main():
    cases = [(f"mode {mode} --layers 3 --width 96 --heads 3 --kv-heads 3 --heads-routing 3 --dtype {dtype}", [])
             for mode, dtype in zip(MODES, ["F32", "BF16", "F16"] * 3)]
    cases += [("mode full --layers 1 --width 96 --heads 3 --kv-heads 3", ["--slices", "3", "--slicing", "interleaved"]),
              ("mode full --layers 2 --shards 4", ["--heads", "8"]),
              ("mode full_mh --layers 2 --heads-routing 4", ["--heads", "1", "--slices", "2"]),
              ("mode baseline --layers 2", []),
              ("kimi", []), ("kimi fused", []), ("kimi", ["--heads", "8"]), ("routers", ["--slices", "8"]),
              ("a zero query", ["--slices", "2"])]
    print(f"1..{len(cases)}")
    good = True
    for i, (case, options) in enumerate(cases):
        if case.startswith("mode baseline"):  # no routing tensors in it: refused in one sentence
            with tempfile.TemporaryDirectory() as scratch:
                build(case, os.path.join(scratch, "x"))
                answer = subprocess.run([PROGRAM, "--weights-only", os.path.join(scratch, "x")], capture_output=True, text=True,
                                        check=False)
            share, where = (0, "") if answer.returncode == 3 and "no routing query" in answer.stderr else (math.inf, str(answer))
        else:
            share, where = run(case, options)
        good = good and share <= 1
        print(f"{'ok' if share <= 1 else 'not ok'} {i + 1} - {case} {' '.join(options)}")
        print(f"# largest error {100 * share:.3g} % of the allowance at {where}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
