#!/usr/bin/env python3
"""What heads read (--reads) against the float64 oracle: every number that --json prints of it, the text of every token that
it lists, and that batches, threads and a saved file change none of it. TAP. Needs MHAR_PROBE."""
import json
import os
import subprocess
import sys
import tempfile

TESTS = os.environ.get("MHAR_TEST_DATA", os.path.join(os.path.dirname(__file__), ".."))
PROGRAM, EXTRA = os.environ["MHAR_PROBE"], sys.argv[1:]
sys.path.insert(0, os.path.join(TESTS, "oracle"))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np  # noqa: E402

import head_reads  # noqa: E402
from bpe_oracle import Tokenizer  # noqa: E402

WEIGHT, LOGIT = 1e-6, 2e-5  # absolutely: share of one; a logit of about 5
DEMO = os.path.join(TESTS, "..", "data", "demo", "mhar")
# Every kind of character, each cut in pieces by a small vocabulary; digits, symbols, controls; three documents.
MIXED = ("مرحبا بالعالم 😀👩‍🔬 日本語のテキスト naïve café Ünïcode ǅ ⅷ ½ 12,345.67 = €5 <b>x</b>\n\n\tTabs\r\nand\u200b e\u0301 "
         "नमस्ते<|endoftext|>Once upon a time there was a head that read. 🙂<|endoftext|><|endoftext|>end\u0001. ") * 3


def ids_of(folder, tokens, scratch):
    """(ids, where they are as a file) of the text that a case is about."""
    if isinstance(tokens, str):
        ids = Tokenizer(os.path.join(folder, "tokenizer.json")).encode(tokens)
    else:
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as f:
            vocab = json.load(f)["vocab_size"]
        ids = (np.fromfile(os.path.join(TESTS, "fixtures", "public-domain.u16"), "<u2")[:tokens] % vocab).astype(int).tolist()
        ids[40] = ids[90] = ids[91] = 0  # the fixtures' end-of-text token
    path = os.path.join(scratch, "ids.u16")
    np.asarray(ids, "<u2").tofile(path)
    return ids, path


def run(*words, env=None, check=True):
    extra = [] if "--from" in words else EXTRA  # a saved run has its device
    return subprocess.run([PROGRAM, *words, *extra], capture_output=True, text=True, check=check,
                          env={**os.environ, **(env or {})})


def reads_of(*words, env=None):
    return json.loads(run("--json", "--quiet", *words, env=env).stdout)["checkpoints"][0]["reads"]


def shares(want, got, path, limit, out):
    """Appends (share of the allowance, what) of every number of `want`."""
    if isinstance(want, dict):
        for key in want:
            shares(want[key], got[key], f"{path}/{key}", limit, out)
    elif isinstance(want, list):
        if len(want) != len(got):
            raise AssertionError(f"{path}: {len(got)} for {len(want)}")
        for i, (a, b) in enumerate(zip(want, got)):
            shares(a, b, f"{path}[{i}]", limit, out)
    elif isinstance(want, float) and not np.isnan(want):
        out.append((abs(want - got) / limit if got is not None else np.inf, f"{path}: {got} for {want}"))
    elif isinstance(want, float):
        out.append((0 if got is None else np.inf, f"{path}: {got} for nothing"))
    elif want != got:
        out.append((np.inf, f"{path} is {got!r}, not {want!r}"))


def check_cells(want, got, out):
    """Lists agree but for tokens whose weights float32 does not tell apart: those may stand in another order."""
    weights, where, tokens = want["_weights"], want["_where"].tolist(), want["_tokens"]
    for a, b in zip(want["cells"], got["cells"]):
        name = f"{b['label']}:{b['head']}:{b['source']}"
        for key in ("site", "head", "source"):
            shares(a[key], b[key], name, 0, out)
        for which, sign in (("most", -1), ("least", 1)):
            if len(a[which]) != len(b[which]):
                raise AssertionError(f"{name} has {len(b[which])} tokens for {len(a[which])}")
            order = [(sign * one["weight"], one["token"]) for one in b[which]]
            out.append((0 if order == sorted(order) and len(set(order)) == len(order) else np.inf, f"{name} is not in order"))
            for x, y in zip(a[which], b[which]):
                own = weights[a["site"]][where.index(y["token"]), a["head"], a["source"]]
                out.append((abs(x["weight"] - y["weight"]) / WEIGHT, f"{name} {which}: {y['weight']} for {x['weight']}"))
                out.append((abs(own - y["weight"]) / WEIGHT, f"{name} {which}: token {y['token']} has {own}"))
                said = [y["id"]] + [y.get(k) for k in ("before", "text", "after")]
                true = [tokens.ids[y["token"]]] + (list(tokens.around(y["token"])) if tokens.tokenizer else [None] * 3)
                out.append((0 if said == true else np.inf, f"{name}: {said} for {true}"))
    if len(want["cells"]) != len(got["cells"]):
        raise AssertionError(f"{len(got['cells'])} cells for {len(want['cells'])}")


def check(folder, tokens, context, skip, specs, cells, top, scratch):
    """(what was checked, worst share of the allowance, where)."""
    ids, path = ids_of(folder, tokens, scratch)
    found = reads_of("--tokens", path, "--context", str(context), "--skip-first", str(skip), "--top-tokens", str(top),
                     f"--reads={specs}", folder)
    if cells is None:  # all of them
        cells = [(s["site"], h, n) for s in found["per_site"] for h, row in enumerate(s["weight_by_position"])
                 for n in range(len(row))]
    want = head_reads.report(folder, ids, cells, top, context, None, skip)
    out = []
    check_cells(want, found, out)
    for key in ("end_of_text", "position", "document_position", "class", "piece", "per_site"):
        if (key in want) != (key in found):
            out.append((np.inf, f"{key} is there or not"))
        elif key in want:
            shares(want[key], found[key], key, WEIGHT, out)
    if ("logit" in want) != ("logit" in found):
        out.append((np.inf, "logit is there or not"))
    elif "logit" in want:
        shares(want["logit"], found["logit"], "logit", LOGIT, out)
        for total, parts in (("target", "contribution"), ("target_centred", "contribution_centred")):
            out.append((abs(np.sum(found["logit"][parts]) - want["logit"][total]) / LOGIT, f"{parts} do not add up to {total}"))
    return f"{len(out)} numbers", *max(out)


def same(a, b):
    """The largest difference of two runs of one thing. A matrix product may round otherwise in another batch, so tokens
    whose weights are that close may stand in another order; nothing else may."""
    out = []
    for x, y in zip(a["cells"], b["cells"]):
        for key in ("site", "head", "source"):
            shares(x[key], y[key], key, 0, out)
        for which in ("most", "least"):
            known = {one["token"]: one["weight"] for one in x[which]}
            shares([one["weight"] for one in x[which]], [one["weight"] for one in y[which]], which, WEIGHT, out)
            edge = x[which][-1]["weight"]
            shares([float(known.get(one["token"], edge)) for one in y[which]], [one["weight"] for one in y[which]], which, WEIGHT, out)
    for key in a:
        if key != "cells":
            shares(a[key], b[key], key, LOGIT if key == "logit" else WEIGHT, out)
    return max(out)


def check_same(scratch):
    """Batches, threads, and a saved run printed again."""
    _, path = ids_of(DEMO, MIXED, scratch)
    words = ["--tokens", path, "--context", "32", "--skip-first", "1", "--reads=*:*:*", "--top-tokens", "4", DEMO]
    saved = os.path.join(scratch, "run.h5")
    first = reads_of("--batch", "1", "-o", saved, *words)
    worst = same(first, reads_of("--batch", "5", *words))
    worst = max(worst, same(first, reads_of("--batch", "1", *words, env={"OMP_NUM_THREADS": "3"})))
    worst = max(worst, (0 if first == reads_of("--batch", "1", *words) else np.inf, "the same command gives something else"))
    again = json.loads(run("--from", saved, "--json", "--quiet").stdout)["checkpoints"][0]["reads"]
    worst = max(worst, (0 if again == first else np.inf, "--from prints something else"))
    return "batches of 1 and 5 windows, 3 threads, twice, --from", *worst


REFUSED = [("L3.mlp:1", "SITE:HEAD:SOURCE"), ("", "not"), (":0:0", "SITE:HEAD:SOURCE"), ("L1.mlp:x:0", "SITE:HEAD:SOURCE"),
           ("L1.mlp:0:", "SITE:HEAD:SOURCE"), ("L1.mpl:0:0", "L1.mlp"), ("L1.mlp:9:0", "no head 9"), ("*:4:0", "no head 4"),
           ("L1.mlp:0:embde", "embed"), ("0:0:3", "L0.attn"), ("L1.mlp:-1:0", "SITE:HEAD:SOURCE")]


def check_refused(scratch):
    out = []
    for spec, says in REFUSED:
        r = run(f"--reads={spec}", "--max-tokens", "64", DEMO, check=False)
        good = r.returncode == 2 and says in r.stderr and r.stderr.count("\n") == 1 and r.stdout == ""
        out.append((0 if good else np.inf, f"{spec!r}: {r.returncode} {r.stderr!r}"))
    plain = run("--reads", os.path.join(TESTS, "fixtures", "mini-baseline"), "--tokens", ids_of(DEMO, MIXED, scratch)[1], check=False)
    out.append((0 if plain.returncode == 2 and "nothing is read over depth" in plain.stderr else np.inf, plain.stderr.strip()))
    return f"{len(out)} refusals", *max(out)


def check_words(scratch):
    """Which cells the words name: labels, families, heads, `top`, each cell once."""
    path = ids_of(DEMO, MIXED, scratch)[1]
    names = lambda spec: [(c["label"], c["head"], c["source_label"]) for c in reads_of(
        "--tokens", path, "--context", "64", "--top-tokens", "1", f"--reads={spec}", DEMO)["cells"]]
    weight = json.loads(run("--json", "--quiet", "--depth-maps", "--tokens", path, "--context", "64", DEMO).stdout)
    last = weight["checkpoints"][0]["per_site"][-1]["weight"]
    labels = ["embed"] + [f"L{l}.{k}" for l in range(6) for k in ("attn", "mlp")]
    tops = [("final", h, labels[int(np.argmax(row))]) for h, row in enumerate(last)]
    cases = [("L1.mlp:2:newest,3:2:L1.attn,L1.mlp:0:embedding", [("L1.mlp", 2, "L1.attn"), ("L1.mlp", 0, "embed")]),
             ("L5.mlp+:1:0", [("L5.mlp", 1, "embed"), ("final", 1, "embed")]), ("L0.mlp:*:1", [("L0.mlp", h, "L0.attn") for h in range(4)]),
             ("last:*:top", tops), ("final:1:*", [("final", 1, s) for s in labels])]
    out = [(0 if names(spec) == want else np.inf, f"{spec}: {names(spec)} for {want}") for spec, want in cases]
    alone = json.loads(run("--json", "--quiet", "--tokens", path, "--context", "64", "--reads", DEMO).stdout)["checkpoints"][0]["reads"]
    out.append((0 if [(c["label"], c["head"], c["source_label"]) for c in alone["cells"]] == tops else np.inf, "--reads alone"))
    return f"{len(out)} specifications", *max(out)


def main():
    fixture = lambda name: os.path.join(TESTS, "fixtures", name)
    cases = [("mini-full", fixture("mini-full"), 300, 64, 0, "*:*:*", None, 10),
             ("mini-full_mh", fixture("mini-full_mh"), 301, 64, 5, "*:*:*", None, 7),
             ("mini-full_hw", fixture("mini-full_hw"), 130, 32, 0, "*:*:*", None, 3),
             ("mini-block", fixture("mini-block"), 300, 50, 0, "*:*:*", None, 10),
             ("mini-delta", fixture("mini-delta"), 200, 64, 1, "*:*:*", None, 10),
             ("mini-delta_mh", fixture("mini-delta_mh"), 130, 64, 0, "*:*:*", None, 2),
             ("d3-block", fixture("d3-block"), 120, 40, 0, "*:0:*", None, 200),  # more tokens asked for than there are
             ("mini-full-gscalar", fixture("mini-full-gscalar"), 100, 512, 0, "7:0:2", [(7, 0, 2)], 1),
             ("demo-mhar, text of many scripts", DEMO, MIXED, 48, 2, "*:*:*", None, 10)]
    rest = [("the same run otherwise", check_same), ("which cells are named", check_words), ("what is refused", check_refused)]
    failed = 0
    print(f"1..{len(cases) + len(rest)}")
    for number, (name, *case) in enumerate(cases + rest, 1):
        with tempfile.TemporaryDirectory() as scratch:
            what, worst, where = case[0](scratch) if callable(case[0]) else check(*case, scratch)
        failed += not worst <= 1
        print(f"{'ok' if worst <= 1 else 'not ok'} {number} - {name}: {what}, largest error {worst:.1%} of the allowance ({where.strip()})",
              flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
