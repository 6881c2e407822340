#!/usr/bin/env python3
"""How far the routing of two checkpoints lies apart, in float64 NumPy: the reference for `mhar-probe --compare A B`.

    compare.py A B --tokens-file ids.u16 --context 64 --max-tokens 600

Both run on the same windows. With p_h [N] the distribution over sources that head h of a read has in the mean over all
counted tokens, divided by its own sum, in A, and q_g likewise in B, their distance is the Jensen-Shannon divergence in nats,

  JS (p, q) = 1/2 KL (p || m) + 1/2 KL (q || m),   m = (p + q) / 2,   0 <= JS <= ln 2.

It is of mean distributions: it says how far what the heads do in the mean lies apart, and nothing of tokens whose differences
cancel. At a read with H heads, over heads

  js_identity   mean of JS (p_h, q_h)
  js_matched    mean of JS (p_h, q_match(h)), where `match` is the permutation of B's heads that makes the sum of
                JS (p_h, q_match(h)) over heads *and reads* least: one permutation for all reads with as many heads (heads
                that mix whole rows, of full_hw, have one of their own). Where the identity is as good, it is the identity
  js_random     mean of JS (p_h, q_g) over all pairs: heads that are paired at random
  js_consensus  JS of the means over heads
  null_js_a     what the text does to one and the same head: mean of JS (p_h of one half of the windows, p_h of the other), mean
                over 200 random splits in two. null_js_b is the same of B, null_js the mean of both, null_js_consensus that
                of the means over heads
  js_ratio, js_ratio_consensus         js_matched / null_js, js_consensus / null_js_consensus
  p_value, p_value_consensus           (1 + splits whose null is at least the distance) / (1 + splits)
  max_difference, max_difference_consensus   largest |q_match(h),n - p_h,n|, and of the means over heads

Of the checkpoints: the mean over the reads with two sources or more, each once, split by split too; of the largest the largest; a
ratio is that of the means. Reads, their sources and their order must be the same in both. Where numbers of heads differ, only the
consensus is compared. A half is estimated from half as many tokens, and from others than the other half, where A and B share all:
a null is rather too large than too small.

What is split are the entries of the bootstrap (mhar_oracle.entries_of): they are put into a random order (Fisher-Yates from the last
to the second, step t with word t of the stream (split, 0, 5)), of which the first half, the larger, is one part. Two entries can be
split in one way only: fewer than 8 have no p-value, and no spread of the null.

Intervals are 95 %: of a null over its splits; of the other divergences mhar_oracle.interval_about over its resamples, the same
windows in A and in B, `match` as it is of the whole text; none with fewer than three windows.
"""
import argparse
import json
import sys
from itertools import permutations

import numpy as np

from mhar_oracle import (F, RESAMPLES, Collected, Model, entries_of, ids_of, interval, interval_about, p_value,
                         random_words, resampled_windows)

SPLITS, LEAST_ENTRIES = 200, 8


def js(p, q):
    """Of distributions along the last axis."""
    m = (p + q) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        kl = [np.where(x == 0, 0.0, x * np.log(x / m)) for x in (p, q)]
    return np.maximum((kl[0].sum(-1) + kl[1].sum(-1)) / 2, 0)


def assign(cost):
    """The permutation of the columns with the least sum: all of them tried up to 8, else shortest augmenting paths."""
    n = len(cost)
    if n <= 8:
        best = min(permutations(range(n)), key=lambda p: cost[np.arange(n), p].sum())
    else:
        best = augment(cost)
    same = np.trace(cost) <= cost[np.arange(n), list(best)].sum() * (1 + 1e-12)
    return list(range(n)) if same else [int(g) for g in best]


def augment(cost):
    """Row by row, along a shortest path in the reduced costs (Bellman-Ford, so that nothing has to be kept positive)."""
    n, row_of = len(cost), [-1] * len(cost)
    for row in range(n):
        dist, back = cost[row].copy(), [-1] * n  # to each column; the column before it
        for _ in range(n):
            for j in range(n):
                if row_of[j] < 0:
                    continue
                step = dist[j] - cost[row_of[j], j] + cost[row_of[j]]
                for k in np.flatnonzero(step < dist - 1e-15):
                    if k != j:
                        dist[k], back[k] = step[k], j
        free = [j for j in range(n) if row_of[j] < 0]
        j = min(free, key=lambda k: dist[k])
        while j >= 0:
            row_of[j], j = (row_of[back[j]] if back[j] >= 0 else row), back[j]
    to = [0] * n
    for j, row in enumerate(row_of):
        to[row] = j
    return to


def distributions(sums, m):
    """[B, H, N] of B resamples: sums [windows, H, N], m [B, windows]."""
    x = np.einsum("bw,whn->bhn", m, sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        return x / x.sum(-1, keepdims=True)


def halves(seed, split, windows):
    """Whether each window is in the first part of a split [windows]."""
    entry = entries_of(windows)
    n = int(entry.max()) + 1
    words, order = random_words(seed, split, 0, 5, n), np.arange(n)
    for t, i in enumerate(range(n - 1, 0, -1)):
        j = int(words[t]) * (i + 1) >> 32
        order[[i, j]] = order[[j, i]]
    return np.isin(entry, order[:-(-n // 2)])


def at_site(a, b, m, match):
    """{name: [B]} of one read; a and b are its sums [windows, H, N], m [B, windows]."""
    p, q = (distributions(x, m) for x in (a, b))
    out = dict(js_consensus=js(p.mean(1), q.mean(1)), max_difference_consensus=np.abs(q.mean(1) - p.mean(1)).max(1))
    if match is not None:
        out.update(js_identity=js(p, q).mean(1), js_matched=js(p, q[:, match]).mean(1),
                   max_difference=np.abs(q[:, match] - p).max((1, 2)))
    return out


def null_at_site(a, b, first, headed):
    """{name: [splits]} of one read; first [splits, windows]."""
    parts = [[distributions(x, side.astype(F)) for side in (first, ~first)] for x in (a, b)]
    out = dict(null_js_consensus=sum(js(h[0].mean(1), h[1].mean(1)) for h in parts) / 2)
    if headed:
        out["null_js_a"], out["null_js_b"] = (js(*h).mean(1) for h in parts)
        out["null_js"] = (out["null_js_a"] + out["null_js_b"]) / 2
    return out


def over_sites(sites):
    x = {name: np.stack([s[name] for s in sites]) for name in sites[0]}
    return {name: v.max(0) if name.startswith("max") else v.mean(0) for name, v in x.items()}


def against_null(point, null, entries):
    """The null's means, and how far the distances lie beyond it."""
    out = {name: float(v.mean()) for name, v in null.items()}
    for of, tail in (("js_matched", ""), ("js_consensus", "_consensus")):
        name = "null_js" + tail
        if of not in point or name not in null:
            continue
        out["js_ratio" + tail] = float(point[of][0] / out[name]) if out[name] > 0 else None
        if entries >= LEAST_ENTRIES:
            out[name + "_interval"] = interval(null[name])
            out["p_value" + tail] = p_value(point[of][0], null[name])
    return out


def matchings(a, b, sites):
    """{(heads, whole rows): permutation}, and the distances [H, H] of every read."""
    pairs, cost, one = {}, {}, np.ones((1, len(a.t)))
    for s in sites:
        p, q = (distributions(c.stack(s, "w"), one)[0] for c in (a, b))
        pairs[s] = js(p[:, None], q[None])
        kind = a.sites[s]["h"], a.sites[s]["g"]
        cost[kind] = cost.get(kind, 0) + pairs[s]
    return {kind: assign(c) for kind, c in cost.items()}, pairs


def named(point, boot):
    out = {}
    for name in point:
        out[name] = float(point[name][0])
        ends = interval_about(name, out[name], boot[name]) if boot and name.startswith("js") else None
        if ends:
            out[name + "_interval"] = ends
    return out


def report(folders, ids, context=1024, max_tokens=None, seed=0, skip=0):
    o = dict(context=context, max_tokens=max_tokens, slices=[2], slicings=["contiguous"], draws=0, seed=seed,
             match=None, skip=skip, kinds=["random"], norms=["query"])
    a, b = (Collected(Model(f), ids, o) for f in folders)
    if {s: x["n"] for s, x in a.sites.items()} != {s: x["n"] for s, x in b.sites.items()}:
        raise SystemExit("the two do not have the same reads")
    sites = [s for s, x in sorted(a.sites.items()) if x["n"] > 1]
    alike = all((a.sites[s]["h"], a.sites[s]["g"]) == (b.sites[s]["h"], b.sites[s]["g"]) for s in sites)
    matching, pairs = matchings(a, b, sites) if alike else ({}, {})
    match = {s: matching.get((a.sites[s]["h"], a.sites[s]["g"])) for s in sites}
    W = len(a.t)
    measure = lambda m: [at_site(a.stack(s, "w"), b.stack(s, "w"), m, match[s]) for s in sites]
    point, boot, null, entries = measure(np.ones((1, W))), None, None, int(entries_of(W).max()) + 1
    if W > 2:
        boot = measure(np.stack([resampled_windows(seed, r, W) for r in range(RESAMPLES)]).astype(F))
    if W > 1:
        first = np.stack([halves(seed, k, W) for k in range(SPLITS)])
        null = [null_at_site(a.stack(s, "w"), b.stack(s, "w"), first, alike) for s in sites]
    out = dict(**named(over_sites(point), over_sites(boot) if boot else None))
    if null:
        out.update(against_null(over_sites(point), over_sites(null), entries))
    if alike:
        out["js_random"] = float(np.mean([pairs[s].mean() for s in sites]))
        for (_, whole), to in matching.items():
            if len(to) > 1:
                out["matching_groups" if whole else "matching"] = to
    out["per_site"] = []
    one = np.ones((1, W))
    for i, s in enumerate(sites):
        x = dict(site=s, sources=a.sites[s]["n"], heads=a.sites[s]["h"], **named(point[i], boot[i] if boot else None),
                 **(against_null(point[i], null[i], entries) if null else {}))
        p, q = (distributions(c.stack(s, "w"), one)[0] for c in (a, b))
        x["difference_consensus"] = (q.mean(0) - p.mean(0)).tolist()
        if alike:
            x.update(js_random=float(pairs[s].mean()), match=match[s], js=pairs[s].tolist(), difference=(q[match[s]] - p).tolist())
        else:
            x["heads_b"] = b.sites[s]["h"]
        out["per_site"].append(x)
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("checkpoints", nargs=2)
    p.add_argument("--tokens", default="1 2 3 4")
    p.add_argument("--tokens-file", help="little-endian ids, .u16 or .u32")
    p.add_argument("--offset", type=int, default=0, help="ids of the file to skip")
    p.add_argument("--context", type=int, default=1024)
    p.add_argument("--max-tokens", type=int)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--skip-first", type=int, default=0)
    a = p.parse_args()
    print(json.dumps(report(a.checkpoints, ids_of(a), a.context, a.max_tokens, a.seed, a.skip_first), indent=1))


if __name__ == "__main__":
    sys.exit(main())
