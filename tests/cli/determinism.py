#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The same command gives the same bits; batch, threads and the routing path move numbers by rounding only."""
import h5py
import numpy as np

from harness import *

ARGS = ["--tokens", IDS, "--max-tokens", "330", "--context", "48", "--null-draws", "3", "--match-sources", "4", "--device", "cpu"]
NAMES = [FULL, MH, PLAIN]
SCALARS = 1e-6  # relative, between batches and thread counts
PATHS = 1e-9    # relative, between the routing paths


def numbers(value, where=""):
    """{place: number} of a report, but for what each run has of its own."""
    if isinstance(value, dict):
        return {k: v for key in value if key != "command" for k, v in numbers(value[key], f"{where}.{key}").items()}
    if isinstance(value, list):
        return {k: v for i, item in enumerate(value) for k, v in numbers(item, f"{where}[{i}]").items()}
    return {where: value}


def close(a, b, tolerance, scale_of=None):
    """Every scalar alike to `tolerance`; entries of arrays (places with [head][source]) to it against 1, what weights sum to."""
    a, b = numbers(a), numbers(b)
    assert a.keys() == b.keys()
    worst, place = 0.0, ""
    for key, x in a.items():
        y = b[key]
        if not isinstance(x, float):
            assert x == y, (key, x, y)
            continue
        part = abs(x - y) / max(abs(x), abs(y), 1e-300) / tolerance if x != y else 0.0
        if is_difference(key):
            part = abs(x - y) / max(abs(x), scale(a, key)) / tolerance
        if part > worst:
            worst, place = part, key
    print(f"# largest change: {worst:.2g} of the allowance{', at ' + place if place else ''}")
    assert worst <= 1, f"{place}: {a[place]!r} and {b[place]!r}"


def is_difference(key):
    """What is small because large things cancel: judged against those, and so are the ends of its interval."""
    return key.split("_interval[")[0].endswith((".excess", ".null_sd", "collinearity.mean", ".head_correlation"))


def scale(report, key):
    group, name = key.split("_interval[")[0].rsplit(".", 1)
    if name in ("excess", "null_sd"):
        return report[group + ".trained"]
    return report[group + ".mean_abs"] if group.endswith("collinearity") else 1.0


@case
def twice_the_same(scratch):
    for threads in ("1", "2"):
        runs = [succeed(*NAMES, *ARGS, "--json", "-q", env={"OMP_NUM_THREADS": threads}).out for _ in range(3)]
        assert runs[0] == runs[1] == runs[2]


@case
def twice_the_same_file_but_for_the_time(scratch):
    for name in ("a.h5", "b.h5"):
        succeed(*NAMES, *ARGS, "--save-weights", "-o", scratch / name)
    with h5py.File(scratch / "a.h5") as a, h5py.File(scratch / "b.h5") as b:
        seen = []

        def compare(path, x):
            y = b[path]
            for key in x.attrs:
                if key not in ("time", "history", "command", "DIMENSION_LIST", "REFERENCE_LIST"):
                    assert np.array_equal(x.attrs[key], y.attrs[key], equal_nan=x.attrs[key].dtype.kind == "f" if hasattr(x.attrs[key], "dtype") else False), (path, key)
            if isinstance(x, h5py.Dataset):
                assert x[()].tobytes() == y[()].tobytes() if x.dtype.kind != "O" else (x[()] == y[()]).all(), path
                seen.append(path)
        a.visititems(compare)
        assert len(seen) > 60, len(seen)


BASE = ["--batch", "1", "--routing", "lookahead"]


def batches(scratch, more, env):
    base = report(*NAMES, *ARGS, *BASE, env={"OMP_NUM_THREADS": "1"})
    close(base["checkpoints"], report(*NAMES, *ARGS, *more, env=env)["checkpoints"], SCALARS)


for batch in ("2", "7", "1000"):
    add(f"--batch {batch}", batches, ["--batch", batch], {"OMP_NUM_THREADS": "1"})
for threads in ("2", "3"):
    add(f"{threads} threads", batches, BASE, {"OMP_NUM_THREADS": threads})
add("7 windows a batch and 2 threads", batches, ["--batch", "7"], {"OMP_NUM_THREADS": "2"})


@case
def routing_paths(scratch):
    a, b = (report(*NAMES, *ARGS, "--routing", path)["checkpoints"] for path in ("lookahead", "plain"))
    close(scalars_only(a), scalars_only(b), PATHS)


def scalars_only(checkpoints):
    """Scalars are doubles from end to end; entries by site are stored as float32."""
    return [{k: {q: v for q, v in value.items() if not isinstance(v, (list, dict))} if isinstance(value, dict) else value
             for k, value in one.items() if k not in ("per_site", "warnings")} for one in checkpoints]


@case
def nulls_do_not_depend_on_how_many_draws(scratch):
    def draws(n):
        file = scratch / f"{n}.h5"
        succeed(FULL, MH, *ARGS, "--null-draws", str(n), "-o", file)
        with h5py.File(file) as f:
            return f["checkpoint_0/slice_kl_null"][:], f["checkpoint_1/head_js_null"][:]
    for few, many in zip(draws(2), draws(5)):
        assert np.array_equal(few, many[:, :2], equal_nan=True)


@case
def nulls_depend_on_the_seed_and_nothing_trained_does(scratch):
    a, b = (report(FULL, *ARGS, "--seed", seed)["checkpoints"][0] for seed in ("1", "2"))
    assert a["slice_kl"]["null"] != b["slice_kl"]["null"]
    def trained(value):
        """All but nulls, what is made of them, and intervals: the seed chooses the resamples."""
        if isinstance(value, dict):
            return {k: trained(v) for k, v in value.items() if k.rsplit("_interval")[0] not in ("null", "null_sd", "excess", "p_value")
                    and not k.endswith("_interval")}
        return [trained(v) for v in value] if isinstance(value, list) else value
    assert trained(a) == trained(b)


@case
def a_checkpoint_does_not_depend_on_its_company(scratch):
    together = report(FULL, MH, PLAIN, *ARGS)["checkpoints"]
    assert together == [report(name, *ARGS)["checkpoints"][0] for name in NAMES]


main()
