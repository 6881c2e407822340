#!/usr/bin/env python3
"""Interventions against the float64 oracle: the logits under each, within 1e-5 of their norm, and every number that --json
prints of them; and that runs which share their beginning give the bits of runs that do not. TAP.

    test_interventions.py EDITED-LOGITS [options of every run]

Needs MHAR_PROBE."""
import json
import os
import subprocess
import sys
import tempfile

TESTS = os.environ.get("MHAR_TEST_DATA", os.path.join(os.path.dirname(__file__), ".."))
PROGRAM, EDITED, EXTRA = os.environ["MHAR_PROBE"], sys.argv[1], sys.argv[2:]
sys.path.insert(0, os.path.join(TESTS, "oracle"))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np  # noqa: E402

import interventions  # noqa: E402
import make_checkpoint  # noqa: E402

ALLOWED = 1e-5  # of the norm of the logits
LOSS, MASS, RANK = 2e-5, 1e-6, 1e-9  # absolutely: nat a token, share of one, rank correlation of the map's own numbers
TOKENS = 33

# Of every checkpoint; what changes nothing there is left out.
SPECS = ["*:embedding", "*:oldest", "*:newest", "*:middle", "2:0", "L2.attn+:newest", "L3.mlp:1", "L1.mlp+:oldest",
         "7:embedding", "final:newest", "final:0", "consensus=*", "consensus=L1.mlp", "swap-heads=*:0-1",
         "swap-heads=L2.attn:1-0", "permute-heads=*", "permute-heads=L2.mlp+", "null-query=*", "null-query=L1.attn+",
         "uniform=*", "uniform=L2.mlp", "top-k=*:1", "top-k=*:2", "top-k=L3.mlp:1", "regroup=*:1", "regroup=*:2",
         "regroup=*:8", "regroup=L2.attn+:4"]

FIXTURES = ["d3-block", "mini-block", "mini-delta", "mini-delta_block", "mini-delta_mh", "mini-full", "mini-full-gscalar",
            "mini-full_hw", "mini-full_mh"]
# Gates that mix with the latest output or the stream, heads of odd widths, biases that follow no source.
MADE = [
    "--mode full_mh --gate sigmoid_vector --layers 3 --width 96 --heads 3 --kv-heads 1 --heads-routing 3 --vocab 257",
    "--mode block_mh --gate sigmoid_scalar --layers 5 --blocks 3 --heads-routing 4 --family llama",
    "--mode block --gate learnable_alpha --layers 4 --blocks 2",
    "--mode delta --gate sigmoid_vector --layers 4 --family llama --null-source",
    "--mode delta_mh --gate learnable_alpha --layers 6 --blocks 3 --heads-routing 8 --dtype F32",
    "--mode full --recency-bias --gate sigmoid_scalar --layers 4",
    "--mode full_hw --gate sigmoid_vector --layers 4 --heads-routing 2 --kv-heads 2",
]


def useful(model, ids):
    """Those SPECS that change something, and their edits."""
    model.edits = {}
    base = model.run(ids)
    kept = []
    for spec in SPECS:
        try:
            edits = interventions.resolve(model, base["reads"], model.embedding(ids), spec)
        except (SystemExit, KeyError):
            continue
        if not any(k == "regroup" and model.d % a for k, a in edits.values()):
            kept.append((spec, edits))
    return base["logits"], kept


def logits_of(folder, scratch, how, ids, specs):
    np.asarray(ids, "<i4").tofile(os.path.join(scratch, "ids"))
    device = EXTRA[EXTRA.index("--device") + 1] if "--device" in EXTRA else "cpu"
    out = os.path.join(scratch, how)
    subprocess.run([EDITED, folder, device, "fp32", how, out, os.path.join(scratch, "ids"), *specs], check=True)
    return np.fromfile(out, "<f4").reshape(len(specs) + 1, len(ids), -1)


def check_logits(folder, scratch):
    """(what was checked, worst share of the allowance, where; whether sharing changed a bit)."""
    model = interventions.Edited(folder)
    vocab = model.w["model.embed_tokens.weight"].shape[0]
    ids = np.array([(7 * i * i + 3 * i) % min(vocab, 251) for i in range(TOKENS)])
    base, kept = useful(model, ids)
    specs = [s for s, _ in kept]
    got = logits_of(folder, scratch, "shared", ids, specs).astype(float)
    apart = logits_of(folder, scratch, "apart", ids, specs).astype(float)
    worst = (np.linalg.norm(got[-1] - base) / np.linalg.norm(base) / ALLOWED, "as it is")
    for k, (spec, edits) in enumerate(kept):
        model.edits = edits
        want = model.run(ids)["logits"]
        if not np.linalg.norm(want - base) > 10 * ALLOWED * np.linalg.norm(base):
            return f"{len(specs)} interventions", (float("inf"), f"{spec} changes the logits too little to be tested"), True
        worst = max(worst, (np.linalg.norm(got[k] - want) / np.linalg.norm(want) / ALLOWED, spec))
    return f"{len(specs)} interventions", worst, np.array_equal(got, apart)


def shares(want, got, path, out):
    """Appends (share of the allowance, path) of every number of `want`."""
    if isinstance(want, dict):
        for key in want:
            shares(want[key], got[key], f"{path}/{key}", out)
    elif isinstance(want, list):
        assert len(want) == len(got), path
        for i, (a, b) in enumerate(zip(want, got)):
            shares(a, b, f"{path}[{i}]", out)
    elif isinstance(want, float):
        limit = MASS if "/mass" in path else LOSS
        out.append((abs(want - got) / limit, f"{path}: {got} for {want}"))
    elif want != got:
        out.append((float("inf"), f"{path} is {got!r}, not {want!r}"))


def check_report(folder, scratch, context, tokens, specs, skip=0):
    model = interventions.Edited(folder)
    vocab = model.w["model.embed_tokens.weight"].shape[0]
    ids = np.fromfile(os.path.join(TESTS, "fixtures", "public-domain.u16"), "<u2")[:tokens] % min(vocab, 65536)
    ids.astype("<u2").tofile(os.path.join(scratch, "ids.u16"))
    want = interventions.report(folder, ids.astype(int), specs, True, context, None, 5, skip)
    options = [w for s in specs for w in ([f"--{s}"] if "=" in s else ["--ablate", s])]
    run = subprocess.run([PROGRAM, "--json", "--quiet", "--tokens", os.path.join(scratch, "ids.u16"), "--context", str(context),
                          "--skip-first", str(skip), "--seed", "5", "--ablation-map", *options, folder, *EXTRA],
                         capture_output=True, text=True, check=True)
    out = []
    got = json.loads(run.stdout)["checkpoints"][0]
    shares(want["interventions"], got["interventions"], "interventions", out)
    # Cells closer than LOSS may be ranked the other way: the correlation is held against the program's own maps.
    drawn, own = want["ablation_map"], got["ablation_map"]
    flat = [[x for row in own[key] for x in row] for key in ("delta_loss", "mass")]
    rows = [interventions.spearman(a, b) for a, b in zip(own["delta_loss"], own["mass"]) if len(a) > 2]
    for key, value in (("rank_correlation", interventions.spearman(*flat)), ("rank_correlation_within", float(np.mean(rows)))):
        drawn.pop(key)
        out.append((abs(value - own[key]) / RANK, f"{key}: {own[key]} for {value}"))
    shares(drawn, own, "ablation_map", out)
    return f"{len(out)} numbers", max(out)


def main():
    cases = [("fixtures/" + name, os.path.join(TESTS, "fixtures", name), None) for name in FIXTURES]
    cases += [(words, None, words) for words in MADE]
    reports = [("mini-full_mh", 32, 300, ["*:embedding", "consensus=*", "top-k=*:2"], 0),
               ("mini-full_hw", 40, 100, ["*:newest", "consensus=L1.mlp+", "regroup=*:4"], 3),
               ("mini-delta", 32, 290, ["L1.mlp+:oldest", "uniform=*", "null-query=*"], 0)]
    failed, number = 0, 0
    print(f"1..{len(cases) + len(reports)}")
    for name, folder, words in cases:
        number += 1
        with tempfile.TemporaryDirectory() as scratch:
            if words is not None:
                folder = os.path.join(scratch, "made")
                sys.argv = ["make_checkpoint.py", folder, *words.split(), "--seed", str(number)]
                make_checkpoint.main()
            what, (worst, where), same = check_logits(folder, scratch)
        good = worst <= 1 and same
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - logits, {name}: {what}, largest error {worst:.1%} of the allowance "
              f"({where}){'' if same else '; other bits where the beginning is shared'}", flush=True)
    for name, context, tokens, specs, skip in reports:
        number += 1
        with tempfile.TemporaryDirectory() as scratch:
            what, (worst, where) = check_report(os.path.join(TESTS, "fixtures", name), scratch, context, tokens, specs, skip)
        failed += not worst <= 1
        print(f"{'ok' if worst <= 1 else 'not ok'} {number} - report, {name}: {what}, largest error {worst:.1%} of the "
              f"allowance ({where})", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
