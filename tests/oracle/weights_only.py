#!/usr/bin/env python3
"""Executable definition of --weights-only: norms and cosines of routing queries, from the tensors alone. NumPy only.

    weights_only.py FOLDER [--slices 4] [--slicing contiguous] [--heads H]

q is a site's query, g its key gain (1 where the file has only the product), u = q * g. A query of several rows (full_hw)
gives an entry a row. Slices of u are the routing heads where there are several, else S of them."""
import argparse
import json
import os
import re
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mhar_oracle import read_safetensors  # noqa: E402

# What a name ends in: site kind (0 attention, 1 MLP, 2 final, 3 router) and role.
LAYERED = r"(?:^|\.)(\d+)\.(?:(attn_res|self_attention_res|mlp_res)_(proj|norm)|(attn_res|ffn_res)_score)(?:\.weight)?$"
FINAL = r"(?:^|\.)(?:(final_res|output_attn_res|res)_(proj|norm)|output_res_score)(?:\.weight)?$"
ROUTER = r"(?:^|\.)routers\.(\d+)\.query$"


def tensors_of(folder):
    index = os.path.join(folder, "model.safetensors.index.json")
    if not os.path.exists(index):
        return read_safetensors(os.path.join(folder, "model.safetensors"))
    with open(index) as f:
        where = json.load(f)["weight_map"]
    routing = {k: v for k, v in where.items() if re.search(f"{LAYERED}|{FINAL}|{ROUTER}", k)}
    shards = {v: read_safetensors(os.path.join(folder, v)) for v in set(routing.values())}
    return {k: shards[v][k] for k, v in routing.items()}


def sites_of(tensors):
    """{(order, number or None, label): {role: array}}"""
    sites = {}
    for name, x in tensors.items():
        m = re.search(LAYERED, name)
        if m:
            layer, part, role, fused = int(m.group(1)), m.group(2) or m.group(4), m.group(3) or "score", m.group(4)
            mlp = part in ("mlp_res", "ffn_res")
            key = (2 * layer + mlp, 2 * layer + mlp, f"L{layer}.{'mlp' if mlp else 'attn'}")
        elif (m := re.search(FINAL, name)):
            key, role = (1 << 20, None, "final"), m.group(2) or "score"
        elif (m := re.search(ROUTER, name)):
            key, role = (2 * int(m.group(1)), int(m.group(1)), f"router {m.group(1)}"), "proj"
        else:
            continue
        sites.setdefault(key, {})[role] = np.atleast_2d(x.astype(np.float64))
    return dict(sorted(sites.items()))


def cosines(a, b):
    """[n, m] of rows a [n, d] and b [m, d]; NaN where one is zero."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return (a @ b.T) / np.linalg.norm(a, axis=1)[:, None] / np.linalg.norm(b, axis=1)[None, :]


def report(folder, slices=4, slicing="contiguous", heads=None):
    with open(os.path.join(folder, "config.json")) as f:
        c = json.load(f)
    mode = c.get("attnres_mode", "unknown")
    if heads is None:
        heads = c.get("attnres_num_heads", 8) if mode.endswith(("_mh", "_hw")) else 1
    sites = sites_of(tensors_of(folder))
    layers = 1 + max((number // (1 if label.startswith("router") else 2) for _, number, label in sites if number is not None),
                     default=-1)
    names, numbers, qs, us = [], [], [], []
    for (_, number, label), x in sites.items():
        stored = x.get("score", x.get("proj"))
        gain = x["norm"] if "norm" in x and "score" not in x else 1.0
        for r, row in enumerate(stored):
            names.append(label if len(stored) == 1 else f"{label} q{r}")
            numbers.append(2 * layers if number is None else number)
            qs.append(None if "score" in x else row)
            us.append((row * gain).reshape(-1))
    u = np.stack(us)
    n, d = u.shape
    s = heads if heads > 1 else slices
    parts = u.reshape(n, s, d // s) if heads > 1 or slicing == "contiguous" else u.reshape(n, d // s, s).transpose(0, 2, 1)
    between = cosines(u, u)
    across = np.stack([cosines(parts[:, k], parts[:, k]) for k in range(s)])
    within = np.stack([cosines(p, p) for p in parts])
    off, inner = ~np.eye(n, dtype=bool), ~np.eye(s, dtype=bool)
    def mean(x):
        x = x[~np.isnan(x)]
        return dict(mean=float(x.mean()), mean_abs=float(np.abs(x).mean())) if x.size else dict(mean=None, mean_abs=None)
    out = dict(mode=mode, layers=layers, width=d, heads=heads, sites=n, slices=s,
               slicing=slicing if heads == 1 else "contiguous",
               query_cosine=mean(between[off]), slice_site_cosine=mean(across[:, off]), slice_cosine=mean(within[:, inner]))
    number = lambda x: None if x is None or np.isnan(x) else float(x)
    nested = lambda x: [nested(y) for y in x] if np.ndim(x) else number(x)
    out["per_site"] = [dict(site=numbers[i], label=names[i],
                            query_norm=None if qs[i] is None else float(np.linalg.norm(qs[i])),
                            scored_norm=float(np.linalg.norm(u[i])), slice_norm=nested(np.linalg.norm(parts[i], axis=1)),
                            query_cosine=nested(between[i]), slice_cosine=nested(within[i]),
                            slice_site_cosine=nested(across[:, i])) for i in range(n)]
    return out


def main():
    p = argparse.ArgumentParser()
    p.add_argument("folder")
    p.add_argument("--slices", type=int, default=4)
    p.add_argument("--slicing", default="contiguous")
    p.add_argument("--heads", type=int)
    a = p.parse_args()
    print(json.dumps(report(a.folder, a.slices, a.slicing, a.heads), indent=1))


if __name__ == "__main__":
    main()
