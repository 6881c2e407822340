#!/usr/bin/env python3
"""Whether p-values and intervals mean what they say: in checkpoints whose queries are random themselves nothing beats its null, so p-values are
uniform on 1/(n+1), 2/(n+1) … 1 (Kolmogorov–Smirnov against that). And where queries are not random, they are small. TAP."""
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

TESTS = os.environ.get("MHAR_TEST_DATA", os.path.join(os.path.dirname(__file__), ".."))
PROGRAM = os.environ["MHAR_PROBE"]
sys.path.insert(0, os.path.join(TESTS, "oracle"))
import make_checkpoint  # noqa: E402
import mhar_oracle as oracle  # noqa: E402

DRAWS = 39
CHECKPOINTS = 24
KINDS = ("random", "shuffled")


def make(folder, mode, seed, layers=5):
    subprocess.run([sys.executable, make_checkpoint.__file__, folder, "--mode", mode, "--layers", str(layers), "--width", "32",
                    "--heads", "2", "--kv-heads", "2", "--ffn", "32", "--vocab", "64", "--dtype", "F32", "--seed", str(seed),
                    "--query-scale", "1"], check=True)


def probe(scratch, folders, kind, seed):
    ids = os.path.join(scratch, "ids.u16")
    with open(ids, "wb") as f:
        for i in range(48):
            f.write(((11 * i * i + 5 * i + 1) % 64).to_bytes(2, "little"))
    run = subprocess.run([PROGRAM, "--json", "-q", "--kl", "--depth-maps", "--tokens", ids, "--context", "24", "--null-draws",
                          str(DRAWS), "--null-kind", kind, "--seed", str(seed), "--device", "cpu", *folders], capture_output=True,
                         text=True, check=True)
    return json.loads(run.stdout)["checkpoints"]


def distance(p, n):
    """Largest distance of the p-values' distribution from the uniform one on k/(n+1)."""
    return max(abs(sum(x <= (k + 0.5) / (n + 1) for x in p) / len(p) - k / (n + 1)) for k in range(1, n + 2))


def critical(m):
    """Of m independent values one set in a thousand lies farther off (Kolmogorov, with Stephens' correction); of values that
    can tie fewer do."""
    return 1.95 / (math.sqrt(m) + 0.12 + 0.11 / math.sqrt(m))


class Tap:
    n = failed = 0

    def check(self, good, what):
        self.n += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.n} - {what}", flush=True)


def values(runs, mode):
    """Sets of p-values that ought to be uniform, by name."""
    if mode == "full":
        return {"slice_kl by site": [x["p_value"] for r in runs for x in r["slice_kl"]["per_site"]]}
    return {"head_js by site": [x["p_value"] for r in runs for x in r["head_js"]["per_site"]],
            "deviation by site": [x["p_value"] for r in runs for x in r["depth_map"]["per_site"]]}


def untrained(tap, scratch, mode, kind, overall):
    folders = []
    for seed in range(CHECKPOINTS):
        folders.append(os.path.join(scratch, f"{mode}-{seed}"))
        if not os.path.exists(folders[-1]):
            make(folders[-1], mode, 100 + seed)
    runs = probe(scratch, folders, kind, 7 + KINDS.index(kind))
    for name, p in values(runs, mode).items():
        d = distance(p, DRAWS)
        assert len(p) >= 200, len(p)
        tap.check(d < critical(len(p)), f"{mode}, {kind} null: {len(p)} p-values of {name} are uniform: distance {d:.3f}, allowed "
                  f"{critical(len(p)):.3f}")
    for key in ("slice_kl",) if mode == "full" else ("head_js", "depth_map"):
        overall.setdefault(key, []).extend(r[key]["p_value"] for r in runs)
    if mode != "full":
        # the chance that any site's corrected p-value is 0.05 or less is 0.05 at most, not 0.05 by site
        hits = sum(min(x["p_value_corrected"] for x in r["depth_map"]["per_site"]) <= 0.05 for r in runs)
        most = [math.comb(CHECKPOINTS, k) * 0.05 ** k * 0.95 ** (CHECKPOINTS - k) for k in range(hits)]
        tap.check(1 - sum(most) > 0.001, f"{mode}, {kind} null: in {hits} of {CHECKPOINTS} checkpoints some site has a corrected p of 0.05 or less")


def trained(tap):
    """The demo that was trained beats its null at more sites than chance gives."""
    demo = os.path.join(TESTS, "..", "data", "demo", "single")
    run = subprocess.run([PROGRAM, "--json", "-q", "--kl", "--tokens", os.path.join(TESTS, "fixtures", "public-domain.u16"),
                          "--max-tokens", "256", "--context", "128", "--null-draws", str(DRAWS), "--device", "cpu", demo],
                         capture_output=True, text=True, check=True)
    one = json.loads(run.stdout)["checkpoints"][0]["slice_kl"]
    least = 1 / (DRAWS + 1)
    tap.check(one["p_value"] == least and sum(x["p_value"] <= 0.05 for x in one["per_site"]) > len(one["per_site"]) / 2,
              f"a trained checkpoint's are small: {one['p_value']:.3g} over sites")


def coverage(tap, windows=12, texts=120, heads=4, sources=8):
    """How often the interval of a text of made-up windows holds the mean over texts of its number: of a mean of windows, and of
    three numbers that noise biases. Unmoved quantiles of the divergence hold it in 3 of 4 texts only."""
    rng = np.random.default_rng(5)
    times = np.stack([oracle.resampled_windows(9, b, windows) for b in range(oracle.RESAMPLES)]).astype(float)
    even = np.arange(windows) % 2 == 0
    logits = rng.normal(size=sources) + 0.1 * rng.normal(size=(heads, sources))
    other = np.exp(logits).mean(0) / np.exp(logits).mean(0).sum()

    def numbers(x, m):
        mean = lambda m: np.tensordot(m, x, 1) / m.sum(1)[:, None, None]
        p, halves = mean(m), np.stack([oracle.deviation(mean(m * part)).reshape(len(m), -1) for part in (even, ~even)], 1)
        middle = (p + other) / 2
        kl = lambda a: (a * np.log(a / middle)).sum(2).mean(1)
        return dict(loss=p[:, 0, 0], replication_r=oracle.correlations(halves)[:, 0, 1],
                    max_deviation=np.abs(oracle.deviation(p)).max((1, 2)), js=(kl(p) + kl(np.broadcast_to(other, p.shape))) / 2)

    points, ends = [], []
    for _ in range(texts):
        e = np.exp(logits + 0.3 * rng.normal(size=(windows, heads, sources)))
        x = e / e.sum(2, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            boot = numbers(x, times)
        points.append({name: v[0] for name, v in numbers(x, np.ones((1, windows))).items()})
        ends.append({name: oracle.interval_about(name, points[-1][name], v) for name, v in boot.items()})
    for name in points[0]:
        mean = np.mean([p[name] for p in points])
        held = np.mean([e[name][0] <= mean <= e[name][1] for e in ends])
        own = all(e[name][0] <= p[name] <= e[name][1] for p, e in zip(points, ends))
        tap.check(held >= 0.78 and own, f"intervals of {name} hold it in {100 * held:.0f} % of texts of {windows} windows, and {'always' if own else 'NOT ALWAYS'} "
                  "their own number")


def main():
    tap, overall = Tap(), {}
    with tempfile.TemporaryDirectory() as scratch:
        for mode in ("full", "full_mh"):
            for kind in KINDS:
                untrained(tap, scratch, mode, kind, overall)
    for key, p in overall.items():
        d = distance(p, DRAWS)
        tap.check(d < critical(len(p)), f"{len(p)} p-values over sites of {key} are uniform: distance {d:.3f}, allowed {critical(len(p)):.3f}")
    trained(tap)
    coverage(tap)
    print(f"1..{tap.n}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
