#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A GPU that is lost, has no memory, or has too old a driver: tests/unit/plugins/breaking.c stands in for it."""
import os

from harness import *

FP32 = ["--precision", "fp32"]
RUN = [MH, *SHORT[:-1], "cuda", *FP32, "--collinearity", "--reads"]


def broken(how, *args, devices=1, **kw):
    return probe(*args, env={"MHAR_BACKEND_DIR": os.environ["MHAR_TEST_PLUGINS"], "MHAR_TEST_BREAK": how,
                             "MHAR_TEST_DEVICES": str(devices)}, **kw)


def outputs(folder):
    return ["-o", folder / "out.h5", "--figure", folder / "out.pdf"]


def moments():
    """1, 2, 3, 5, 8, …: all calls in which a model is set up, and some of a run."""
    at, after = 1, 2
    while True:
        yield at
        at, after = after, at + after


def fails_at_any_call(scratch, how, said, *args):
    failed = 0
    for n in moments():
        result = broken(f"{how}:{n}", *args, *outputs(scratch))
        if result.code == 0:
            break
        check_refusal(result, 1, "cuda:0", said)
        assert not any(scratch.iterdir()), f"left behind at call {n}: {sorted(p.name for p in scratch.iterdir())}"
        failed += 1
    assert failed >= 5, f"the run took fewer than {n} calls"


add("the device is lost at any call", fails_at_any_call, "lost", "the device is lost", *RUN)
add("the device is lost among interventions", fails_at_any_call, "lost", "the device is lost", *RUN, "--ablate", "L1.mlp:embed", "--consensus")
add("the device is lost under auto", fails_at_any_call, "lost", "the device is lost", MH, *SHORT[:-1], "auto", *FP32)


def same(a, b, where=""):
    """The numbers of two runs agree as far as the size of a batch lets float32 products agree."""
    if isinstance(a, dict):
        assert a.keys() == b.keys(), where
        for key in a:
            same(a[key], b[key], f"{where}.{key}")
    elif isinstance(a, list):
        assert len(a) == len(b), where
        for i, pair in enumerate(zip(a, b)):
            same(*pair, f"{where}[{i}]")
    elif isinstance(a, float):
        assert abs(a - b) <= 1e-5 * abs(a) + 1e-9, (where, a, b)
    else:
        assert a == b, (where, a, b)


@case
def no_memory_once(scratch):
    """A batch that does not fit is made smaller, and what comes out is the same."""
    whole = json.loads(broken("none", *RUN, "--json", "-q").out)
    smaller = 0
    for n in moments():
        result = broken(f"memory:{n}", *RUN, "--json")
        assert result.code == 0, str(result)
        same({**whole, "command": None}, {**json.loads(result.out), "command": None})
        if "broken once" not in result.err:
            break
        smaller += 1
    assert smaller >= 5, smaller


add("no memory from any call on", fails_at_any_call, "full", "out of memory", *RUN)


@case
def several_devices(scratch):
    """Three give the bits of one, and one that is lost among them ends the run."""
    run = [MH, "--tokens", IDS, "--max-tokens", "700", "--context", "32", "--batch", "2", "--null-draws", "2", *FP32, "--collinearity", "--reads"]
    one, three = (broken("none", *run, "--device", of, "--json", "-q", devices=3) for of in ("cuda:1", "cuda:all"))
    assert one.code == three.code == 0, (one, three)
    assert json.loads(one.out)["checkpoints"] == json.loads(three.out)["checkpoints"]
    check_refusal(broken("lost:400", *run, "--device", "cuda:all", *outputs(scratch), devices=3), 1, "the device is lost")
    assert not any(scratch.iterdir())


@case
def an_old_driver(scratch):
    check_refusal(broken("driver", *RUN, *outputs(scratch)), 1, "cuda", "older than the CUDA runtime")
    assert not any(scratch.iterdir())
    automatic = broken("driver", MH, *SHORT[:-1], "auto", "--json", "-q")
    assert automatic.code == 0 and json.loads(automatic.out), str(automatic)


main()
