#!/usr/bin/env python3
"""What reads made otherwise do to the loss, in float64 NumPy: the reference for mhar-probe's interventions.

    interventions.py CKPT --tokens-file ids.u16 --context 64 --do 'L3.mlp:embedding' --do uniform='*' --map
    interventions.py CKPT --tokens "1 2 3" --do regroup=2 --out ref.safetensors     # logits.0, logits.1 …

An intervention is one whole forward in which some sites read otherwise; whatever comes later takes what came of it.
With w_h [N] the weights of head h at a site for one token (softmax over its N sources), it is one of

  SITES:SOURCE         source n is not there: its logit is -inf before the softmax, which renormalises the rest. A bias
                       that the last source carries goes with it and passes to no other
  consensus=SITES      every head reads with that token's mean over heads, w'_h = mean_g w_g
  swap-heads=[SITES:]A-B     heads A and B read with each other's weights, each from its own slice of the values
  permute-heads=SITES  head h reads with the weights of head h + 1, the last one with those of head 0
  null-query=SITES     the query is the random one of draw 0 of the nulls, of the same norm
  uniform=SITES        w' = 1/N; a bias is left out too
  top-k=[SITES:]K      only the K largest weights of each token and head, renormalised; of equal ones the older stay
  regroup=[SITES:]H    the frozen query read in H heads: head h scores and mixes the coordinates [h d/H, (h+1) d/H).
                       Sites whose queries take whole rows are left as they are

SITES is a label (L3.mlp, final) or a number (2l attention, 2l+1 MLP, 2L final), either with a + for that site and all
after it, or * for every site. SOURCE is the place in the site's list, from 0, or a family: `embedding` (its first
place), `newest` (the last source), `oldest` (the first that is neither embedding nor null), `middle` (all that are none
of these, and not null). An intervention leaves sites alone where it would change nothing or take the only source.

delta_loss = (sum of the cross-entropy with it - without) / predicted tokens, positive where it hurts. Its interval is
mhar_oracle.interval_about over its resamples of the windows, the same resamples for every intervention.
"""
import argparse
import functools
import json
import sys

import numpy as np

from mhar_oracle import (F, RESAMPLES, Model, ids_of, interval_about, loss, random_rows, resampled_windows, rms_norm, softmax, windows,
                         write_safetensors)


class Edited(Model):
    """`edits` is {site: (kind, argument)}; without any it is the model itself."""

    def __init__(self, folder):
        super().__init__(folder)
        self.edits, self.seed = {}, 0

    def has_null(self, site):
        name = "mlp" if site % 2 else "attn"
        return site < 2 * self.L and f"model.layers.{site // 2}.{name}_null_source" in self.w

    def embedding(self, ids):
        return self.w["model.embed_tokens.weight"][np.asarray(ids)]

    def families(self, site, rows, x):
        """Places of each family in a site's list of sources."""
        n = len(rows)
        null = {0} if self.has_null(site) else set()
        same = [i for i in range(n) if i not in null and np.array_equal(rows[i], x)]
        embedding = set(same[:1])
        others = [i for i in range(n) if i not in null | embedding]
        oldest, newest = set(others[:1]), {n - 1} - null
        middle = set(others) - oldest - newest
        return dict(embedding=embedding, oldest=oldest, newest=newest, middle=middle)

    def edited_weights(self, site, q, k, bias, whole):
        """Weights [N, T, H] of the edited read; k [N, T, H, e] (or [N, T, d] where whole)."""
        kind, arg = self.edits.get(site, (None, None))
        if kind == "null-query":
            q = random_rows(q, self.seed, site, 0)
        logit = np.einsum("hk,ntk->nth", q, k) if whole else np.einsum("hk,nthk->nth", q.reshape(k.shape[2:]), k)
        logit[-1] += bias
        if kind == "drop":
            logit[sorted(arg)] = -np.inf
        a = softmax(logit, 0)
        if kind == "uniform":
            a = np.full_like(a, 1.0 / a.shape[0])
        elif kind == "consensus":
            a = np.repeat(a.mean(2, keepdims=True), a.shape[2], axis=2)
        elif kind == "swap-heads":
            order = np.arange(a.shape[2])
            order[[arg[0], arg[1]]] = arg[1], arg[0]
            a = a[:, :, order]
        elif kind == "permute-heads":
            a = np.roll(a, -1, axis=2)
        elif kind == "top-k":
            rank = np.argsort(np.argsort(-a, axis=0, kind="stable"), axis=0, kind="stable")
            a = np.where(rank < arg, a, 0.0)
            a /= a.sum(0)
        return a

    def read(self, site, rows, heads):
        kind, arg = self.edits.get(site, (None, None))
        heads = arg if kind == "regroup" else heads
        q, gain, bias = self.query(site)
        v = np.stack(rows)
        n, t, d = v.shape
        k = rms_norm(v, gain, self.route_eps).reshape(n, t, heads, d // heads)
        a = self.edited_weights(site, q, k, bias, False)
        self.reads.append(dict(site=site, weights=a, rows=rows, whole=False))
        return np.einsum("nth,nthk->thk", a, v.reshape(n, t, heads, d // heads)).reshape(t, d)

    def read_groups(self, site, rows):
        q, gain, bias = self.query(site)
        v = np.stack(rows)
        a = self.edited_weights(site, q, rms_norm(v, gain, self.route_eps), bias, True)
        self.reads.append(dict(site=site, weights=a, rows=rows, whole=True))
        return np.einsum("ntg,ntd->tgd", a, v)


# ---------------------------------------------------------------- the grammar
def site_numbers(model, reads, text):
    """(sites, whether exactly one was named)."""
    have = [r["site"] for r in reads]
    if text == "*":
        return have, False
    after = text.endswith("+")
    word = text[:-1] if after else text
    if word.isdigit():
        number = int(word)
    elif word == "final":
        number = 2 * model.L
    else:
        layer, kind = word[1:].split(".")
        number = 2 * int(layer) + (kind == "mlp")
    if number not in have:
        raise SystemExit(f"no site {word}")
    return [s for s in have if s == number or (after and s > number)], not after


def resolve(model, reads, x, spec):
    """{site: (kind, argument)} of one intervention."""
    kind, eq, rest = spec.partition("=")
    if not eq:
        kind = "drop"
        where, _, what = spec.rpartition(":")
    elif kind in ("swap-heads", "top-k", "regroup"):
        where, _, what = rest.rpartition(":")
        where = where or "*"
    else:
        where, what = rest, None
    sites, _ = site_numbers(model, reads, where)
    edits = {}
    for r in reads:
        s, (n, _, h) = r["site"], r["weights"].shape
        if s not in sites:
            continue
        if kind == "drop":
            places = {int(what)} if what.isdigit() else model.families(s, r["rows"], x)[what]
            if places and max(places) < n and len(places) < n:
                edits[s] = (kind, places)
        elif kind == "regroup":
            if n > 1 and not r["whole"] and int(what) != h:
                edits[s] = (kind, int(what))
        elif kind == "top-k":
            if int(what) < n:
                edits[s] = (kind, int(what))
        elif kind == "swap-heads":
            a, b = (int(i) for i in what.split("-"))
            if n > 1 and max(a, b) < h:
                edits[s] = (kind, (a, b))
        elif n > 1 and (h > 1 or kind in ("uniform", "null-query")):
            edits[s] = (kind, None)
    if not edits:
        raise SystemExit(f"{spec} changes nothing")
    return edits


# ---------------------------------------------------------------- statistics
def ranks(x):
    """Ranks from 0, those of equal values averaged."""
    order = np.argsort(x, kind="stable")
    out = np.empty(len(x))
    i = 0
    while i < len(x):
        j = i
        while j + 1 < len(x) and x[order[j + 1]] == x[order[i]]:
            j += 1
        out[order[i:j + 1]] = (i + j) / 2
        i = j + 1
    return out


def spearman(a, b):
    a, b = ranks(np.asarray(a)), ranks(np.asarray(b))
    return float(np.corrcoef(a, b)[0, 1]) if a.std() > 0 and b.std() > 0 else None


@functools.lru_cache
def all_resamples(n, seed):
    return np.stack([resampled_windows(seed, b, n) for b in range(RESAMPLES)])  # how often each window stands in it


def interval(delta, pairs, seed):
    """[low, high] of sum delta / sum pairs over windows; None with fewer than three: a block would be all of them."""
    if len(pairs) < 3:
        return None
    times = all_resamples(len(pairs), seed)
    return interval_about("delta_loss", delta.sum() / pairs.sum(), times @ delta / (times @ pairs))


# ---------------------------------------------------------------- the report
def report(folder, ids, specs=(), mapped=False, context=1024, max_tokens=None, seed=0, skip=0):
    """`interventions` and `ablation_map` as `mhar-probe --json` prints them."""
    m = Edited(folder)
    m.seed = seed
    ws = [w for w in windows(np.asarray(ids), context, max_tokens) if len(w) > skip]
    base = m.run(ws[0])
    x = m.embedding(ws[0])
    edits = [resolve(m, base["reads"], x, s) for s in specs]
    cells = [(r["site"], n) for r in base["reads"] if len(r["rows"]) > 1 for n in range(len(r["rows"]))] if mapped else []
    edits += [{s: ("drop", {n})} for s, n in cells]
    pairs = np.array([len(w) - 1 for w in ws], F)
    ce = np.zeros(len(ws))
    delta, mass = np.zeros((len(edits), len(ws))), {}
    for i, w in enumerate(ws):
        m.edits = {}
        r = m.run(w)
        ce[i] = loss(r["logits"], w) * pairs[i]
        for one in r["reads"]:
            mass[one["site"]] = mass.get(one["site"], 0) + one["weights"][:, skip:].mean(2).sum(1)
        for k, e in enumerate(edits):
            m.edits = e
            delta[k, i] = loss(m.run(w)["logits"], w) * pairs[i] - ce[i]
    counted = sum(len(w) - skip for w in ws)
    out = dict(loss=ce.sum() / pairs.sum())
    mean = delta.sum(1) / pairs.sum()
    if specs:
        out["interventions"] = [dict(spec=s, sites=len(edits[k]), loss=out["loss"] + mean[k], delta_loss=mean[k],
                                     delta_loss_interval=interval(delta[k], pairs, seed)) for k, s in enumerate(specs)]
    if mapped:
        at = len(specs)
        sites = sorted({s for s, _ in cells})
        per = lambda f: [[f(k, s, n) for k, (c, n) in enumerate(cells) if c == s] for s in sites]
        out["ablation_map"] = dict(
            site=sites, delta_loss=per(lambda k, s, n: mean[at + k]), mass=per(lambda k, s, n: mass[s][n] / counted),
            delta_loss_interval=per(lambda k, s, n: interval(delta[at + k], pairs, seed)),
            rank_correlation=spearman(mean[at:], [mass[s][n] / counted for s, n in cells]))
        inside = [spearman(a, b) for a, b in zip(out["ablation_map"]["delta_loss"], out["ablation_map"]["mass"])
                  if len(a) > 2]
        inside = [r for r in inside if r is not None]
        out["ablation_map"]["rank_correlation_within"] = float(np.mean(inside)) if inside else None
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("checkpoint")
    p.add_argument("--tokens", default="1 2 3 4")
    p.add_argument("--tokens-file")
    p.add_argument("--offset", type=int, default=0)
    p.add_argument("--context", type=int, default=1024)
    p.add_argument("--max-tokens", type=int)
    p.add_argument("--skip-first", type=int, default=0)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--do", action="append", default=[], help="one intervention")
    p.add_argument("--map", action="store_true", help="drop every source of every site in turn")
    p.add_argument("--out", help="all ids as one window: logits of every --do, no report")
    a = p.parse_args()
    ids = ids_of(a)
    if a.out:
        m = Edited(a.checkpoint)
        m.seed = a.seed
        ids = ids[:a.max_tokens] if a.max_tokens else ids
        base = m.run(ids)
        res = {"ids": ids, "logits": base["logits"]}
        for k, spec in enumerate(a.do):
            m.edits = resolve(m, base["reads"], m.embedding(ids), spec)
            res[f"logits.{k}"] = m.run(ids)["logits"]
        write_safetensors(a.out, res)
        return
    print(json.dumps(report(a.checkpoint, ids, a.do, a.map, a.context, a.max_tokens, a.seed, a.skip_first), indent=1))


if __name__ == "__main__":
    sys.exit(main())
