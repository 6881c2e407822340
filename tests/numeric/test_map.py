#!/usr/bin/env python3
"""Name maps: checkpoints whose tensors carry names of nobody's, over every rule that a map can give, against the oracle; and
what a map with the names of a known mode gives, against the oracle's own account of that mode. TAP."""
import itertools
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

TESTS = os.environ.get("MHAR_TEST_DATA", os.path.join(os.path.dirname(__file__), ".."))
PROGRAM = os.environ["MHAR_PROBE"]
sys.path.insert(0, os.path.join(TESTS, "oracle"))
import mhar_oracle as oracle  # noqa: E402

IDS = [(7 * i * i + 3 * i) % 257 for i in range(41)]
KEYS = ["attn", "mlp", "final"]


class Mapped(oracle.Model):
    """The oracle's model, its depth history by a map: written from data/name-map.md."""

    def site(self, s, rows):
        """The mix of the rows at sublayer s (2L: the final route), or None where there is nothing to choose."""
        kind = "final" if s == 2 * self.L else KEYS[s % 2]
        return self.read(s, rows, self.H) if rows and (len(rows) > 1 or kind == "final" or s not in self.absent) else None

    def run(self, ids, rule):
        self.reads, self.H, self.legacy, self.absent = [], rule["heads"], rule["bias"], rule["absent"]
        w, n = self.w, 2 * self.L
        self.route_eps = rule["eps"] or self.eps
        x = w["model.embed_tokens.weight"][np.asarray(ids)]
        norms = ("input_layernorm", "post_attention_layernorm")

        def sublayer(s, h):
            h = oracle.rms_norm(h, w[f"model.layers.{s // 2}.{norms[s % 2]}.weight"], self.eps)
            return self.mlp(s // 2, h) if s % 2 else self.attention(s // 2, h)

        rows, p, total = [], x, x  # what is read, the running sum, the whole stream
        period, add = rule["period"], rule["add"]
        if not add and not period:
            rows = [x]
        for s in range(n):
            before = total
            if add:
                mix = self.site(s, rows)
                out = sublayer(s, total if mix is None else total + mix)
                if not period:
                    rows = (rows or [x]) + [out]
                elif s % period == 0:
                    rows = rows + ([before - (sum(rows) if rule["true"] else rows[-1])] if rows else [x])
            elif period:
                mix = self.site(s, rows + [p])
                out = sublayer(s, p if mix is None else mix)
                if s % period == 0:
                    rows, p = rows + [p], 0
                p = p + out
            else:
                mix = self.site(s, rows)
                out = sublayer(s, x if mix is None else mix)
                rows = rows + [out]
            total = total + out
        if rule["final"]:
            h = self.site(n, rows + [p] if period else rows)
        else:
            h = p if period and not add else total
        return oracle.rms_norm(h, w["model.norm.weight"], self.eps) @ self.head.T


def foreign(rule, layers):
    """(the map, {our name: theirs}) for a rule."""
    names = {"model.embed_tokens.weight": "tok.w", "model.norm.weight": "last.w"}
    body = {"model.layers.{i}." + k: "h.{i}." + k.replace("_proj.weight", "").replace(".", "_") for k in
            [f"self_attn.{x}_proj.weight" for x in "qkvo"] + [f"mlp.{x}_proj.weight" for x in ("gate", "up", "down")]
            + ["self_attn.q_norm.weight", "self_attn.k_norm.weight", "input_layernorm.weight",
               "post_attention_layernorm.weight"]}
    names.update({k.replace("{i}", str(i)): v.replace("{i}", str(i)) for k, v in body.items() for i in range(layers)})
    a_map = {"name": "a test's", "heads": rule["heads"], "read": "add" if rule["add"] else "replace", "blocks": rule["blocks"],
             "body": {**body, "model.embed_tokens.weight": "tok.w", "model.norm.weight": "last.w"}}
    if rule["eps"]:
        a_map["eps"] = rule["eps"]
    for kind in KEYS[:3 if rule["final"] else 2]:
        at = "" if kind == "final" else "{i}."
        ours = "model.final_res" if kind == "final" else f"model.layers.{{i}}.{kind}_res"
        a_map[kind] = {"product": f"depth.{at}{kind}"} if rule["fused"] else \
            {"query": f"depth.{at}{kind}.q", "norm": f"depth.{at}{kind}.g"}
        pairs = {"_proj.weight": a_map[kind].get("product") or a_map[kind]["query"]}
        if not rule["fused"]:
            pairs["_norm.weight"] = a_map[kind]["norm"]
        if rule["bias"] and kind != "final":
            a_map[kind]["bias"] = pairs["_bias"] = f"depth.{at}{kind}.b"
        for i in range(1 if kind == "final" else layers):
            names.update({ours.replace("{i}", str(i)) + k: v.replace("{i}", str(i)) for k, v in pairs.items()})
    return a_map, names


def make(folder, *options):
    subprocess.run([sys.executable, os.path.join(TESTS, "oracle", "make_checkpoint.py"), folder, "--dtype", "F32", "--vocab", "257",
                    *options], check=True, stdout=subprocess.DEVNULL)


def save_foreign(folder, rule):
    """Rewrites a checkpoint of mode full under foreign names; leaves our names' tensors for the oracle in a sibling folder."""
    config, w = oracle.load_checkpoint(folder)
    layers = config["num_hidden_layers"]
    rng = np.random.default_rng(5)
    for i, kind in itertools.product(range(layers), KEYS[:2]):
        if rule["bias"]:
            w[f"model.layers.{i}.{kind}_res_bias"] = rng.standard_normal(())
    if rule["fused"]:
        for name in [k for k in w if k.endswith("_res_proj.weight")]:
            gain = name.replace("_proj", "_norm")
            w[name] = (w[name] * w[gain]).astype(np.float32).astype(np.float64)
            w[gain] = np.ones_like(w[gain])
    a_map, names = foreign(rule, layers)
    ours = folder + "-ours"
    os.makedirs(ours)
    oracle.write_safetensors(os.path.join(ours, "model.safetensors"), w)
    absent = {f"model.layers.{s // 2}.{KEYS[s % 2]}_res_proj.weight" for s in rule["absent"]}
    oracle.write_safetensors(os.path.join(folder, "model.safetensors"),
                             {names[k]: v for k, v in w.items() if k in names and k not in absent})
    config["model_type"] = "qwen3"
    config = {k: v for k, v in config.items() if not k.startswith("attnres")}
    for place in (folder, ours):
        with open(os.path.join(place, "config.json"), "w") as f:
            json.dump(config, f)
    with open(os.path.join(folder, "map.json"), "w") as f:
        json.dump(a_map, f)
    return Mapped(ours)


def verify(folder, logits, reads, *options):
    """Share of the 1e-5 allowance of the worst tensor, and what it was."""
    reference = os.path.join(folder, "ref.safetensors")
    oracle.write_safetensors(reference, {"ids": np.array(IDS), "logits": logits,
                                         **{f"weights.{x['site']}": x["weights"] for x in reads}})
    run = subprocess.run([PROGRAM, "--verify", reference, folder, "--map", os.path.join(folder, "map.json"), "--device", "cpu",
                          *options], capture_output=True, text=True, check=False)
    lines = [line.split() for line in run.stdout.splitlines() if "relative norm error" in line]
    if not lines or len(lines) != 1 + len(reads):
        return float("inf"), run.stderr.strip() or run.stdout
    return max((float(words[4].rstrip(",")) / 1e-5, words[0]) for words in lines)


def rules():
    usual = dict(heads=1, add=False, blocks="none", period=0, final=True, fused=False, bias=False, true=False, absent=set(), eps=None)
    blocks = [("none", 0), ("layers:1", 2), ("layers:2", 4), ("layers:9", 18), ("sublayers:1", 1), ("sublayers:3", 3)]
    for (text, period), heads in itertools.product(blocks, (1, 4)):
        for final in (True, False):
            yield {**usual, "blocks": text, "period": period, "heads": heads, "final": final, "fused": heads == 4}
        for true in ((False, True) if period else (False,)):
            yield {**usual, "blocks": text, "period": period, "heads": heads, "add": True, "final": False, "bias": heads == 1,
                   "true": true}
    for text, period in blocks:
        yield {**usual, "blocks": text, "period": period, "bias": True, "absent": {0}}
    for (text, period), eps, add in itertools.product(blocks[::2], (1e-9, 3e-2), (False, True)):  # rows have mean squares near 1e-2
        yield {**usual, "blocks": text, "period": period, "eps": eps, "heads": 2, "add": add, "final": not add}


def check_rule(rule):
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.path.join(scratch, "x")
        make(folder, "--mode", "full", "--layers", "4", "--width", "64")
        model = save_foreign(folder, rule)
        logits = model.run(IDS, rule)
        return verify(folder, logits, model.reads, *(["--block-delta", "true"] if rule["true"] else []))


def check_disagreement():
    """The map's eps in what is computed from the sources afterwards: slices of the query, and random queries."""
    rule = {**next(rules()), "eps": 3e-2}
    with tempfile.TemporaryDirectory() as scratch:
        folder, ids = os.path.join(scratch, "x"), os.path.join(scratch, "ids.u16")
        make(folder, "--mode", "full", "--layers", "3")
        model = save_foreign(folder, rule)
        model.run(IDS, rule)
        np.array(IDS, "<u2").tofile(ids)
        run = subprocess.run([PROGRAM, folder, "--map", os.path.join(folder, "map.json"), "--device", "cpu", "--tokens", ids, "--kl",
                              "--null-draws", "2", "--json", "-q"], capture_output=True, text=True, check=True)
        found = {x["site"]: x for x in json.loads(run.stdout)["checkpoints"][0]["slice_kl"]["per_site"]}
        worst = (0.0, "")
        for read in model.reads:
            s, n = read["site"], len(read["rows"])
            if n < 2:
                continue
            q, gain, bias = model.query(s)
            kl = lambda z, s=s, r=read: oracle.slice_kl(z[0], gain, bias, r["rows"], model.route_eps, 4).mean()
            want = {"trained": kl(q), "null": np.mean([kl(oracle.random_rows(q, 0, s, j)) for j in range(2)])}
            worst = max([worst] + [(abs(found[s][k] / v - 1) / 1e-5, f"{k} of site {s}") for k, v in want.items()])
        return worst if len(found) == 2 * model.L else (float("inf"), "the number of sites")


def check_mode(mode, extra, a_map):
    """A map that says in its own words what a known mode is, over the checkpoint as it stands."""
    standard = {k: {"query": f"model.layers.{{i}}.{k}_res_proj.weight", "norm": f"model.layers.{{i}}.{k}_res_norm.weight"}
                for k in KEYS[:2]}
    if a_map.pop("final", False):
        standard["final"] = {"query": "model.final_res_proj.weight", "norm": "model.final_res_norm.weight"}
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.path.join(scratch, "x")
        make(folder, "--mode", mode, *extra)
        with open(os.path.join(folder, "map.json"), "w") as f:
            json.dump({**standard, **a_map}, f)
        model = oracle.Model(folder)
        found = model.run(IDS)
        return verify(folder, found["logits"], model.reads)


def main():
    modes = [("full", [], {"final": True}), ("full_mh", ["--heads-routing", "8"], {"final": True, "heads": 8}),
             ("block", ["--layers", "5", "--blocks", "3"], {"final": True, "blocks": "layers:2"}),
             ("block_mh", ["--layers", "4", "--heads-routing", "4"], {"heads": 4, "blocks": "layers:2"}),
             ("delta", ["--layers", "3"], {"read": "add"}),
             ("delta_block", ["--layers", "6", "--blocks", "3"], {"read": "add", "blocks": "layers:2"})]
    cases = [(f"rule {r}", lambda r=r: check_rule(r)) for r in rules()]
    cases.append(("slice disagreement with an eps of its own", check_disagreement))
    cases += [(f"mode {m}", lambda m=m, x=x, a=a: check_mode(m, x, a)) for m, x, a in modes]
    print(f"1..{len(cases)}")
    good = True
    for i, (name, check) in enumerate(cases):
        share, where = check()
        good = good and share <= 1
        print(f"{'ok' if share <= 1 else 'not ok'} {i + 1} - {name}")
        print(f"# largest error {100 * share:.3g} % of the allowance at {where}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
