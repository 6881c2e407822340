#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""--sites of every fixture and of what is odd, against expected/sites-*.txt; its JSON says the same, and a run's labels are its.
After a wanted change, run this program with MHAR_ACCEPT=1 and read the difference before committing it."""
import os
import re
import subprocess

import h5py

from harness import *

HERE = {"cwd": str(FIXTURES)}
NAMES = sorted(p.parent.name for p in FIXTURES.glob("*/config.json") if p.parent.name.startswith(("mini-", "d3-")))


def golden(name, text):
    path = EXPECTED / f"sites-{name}.txt"
    if os.environ.get("MHAR_ACCEPT"):
        path.write_text(text)
    assert text == path.read_text(), f"differs from {path.name}:\n{text}"


def rows(text):
    """The lines of the table, split: number, label, read, gate, bias, H, G, N and the sources."""
    found = re.findall(r"^ *(\d+)  (\S+) +(\S+) +(\S+) +(\S+) +(\d+) +(\S+) +(\d+)  (.*)$", text, re.M)
    return [(*line[:8], line[8].split(", ")) for line in found]


def fixture(scratch, name):
    text = succeed("--sites", name, **HERE).out
    golden(name, text)
    (one,) = json.loads(succeed("--sites", name, "--json", **HERE).out)
    table = rows(text)
    assert len(table) == len(one["sites"])
    for (number, label, read, gate, bias, heads, groups, n, sources), site in zip(table, one["sites"], strict=True):
        assert (int(number), label, read, sources) == (site["site"], site["label"], site["read"], site["sources"])
        assert int(heads) == site["heads"] and (0 if groups == "-" else int(groups)) == site["groups"]
        assert int(n) == len(sources)
        assert (gate == "-") == (site["gate"] is None) and (bias == "-") == (site["bias"] == 0)
        assert bias == "-" or bias == f"{site['bias']:+.3f}"
        if site["gate"]:
            value = "vector" if site["gate"]["value"] is None else f"{site['gate']['value']:.4f}"
            assert gate == f"{value}/{site['gate']['with']}", gate


def labels(scratch, name):
    """The file of a run, and its JSON, call sites and sources what --sites calls them."""
    (one,) = json.loads(succeed("--sites", name, "--json", **HERE).out)
    (scratch / "ids.u16").write_bytes(bytes(i * j % 256 for i in range(40) for j in (i, 0)))
    run = report(name, "--tokens", scratch / "ids.u16", "--null-draws", "0", "-o", scratch / "run.h5", **HERE)["checkpoints"][0]
    assert [s["label"] for s in run["per_site"]] == [s["label"] for s in one["sites"]]
    with h5py.File(scratch / "run.h5") as f:
        group = f["checkpoint_0"]
        if one["sites"]:
            assert [x.decode() for x in group["site_label"][:]] == [s["label"] for s in one["sites"]]
            found = [[x.decode() for x in line if x] for line in group["source_label"][:]]
            assert found == [s["sources"] for s in one["sites"]], found
        assert ("depth_coefficients" in run) == ("coefficients" in one)
        if "coefficients" in one:
            found = run["depth_coefficients"]
            assert found["outputs"] == [x.decode() for x in group["output_label"][:]]
            assert found["inputs"] == [x.decode() for x in group["input_label"][:]]
            for r, line in enumerate(one["coefficients"]):
                assert abs(group["coefficient"][r, : len(line)] - line).max() < 1e-6
            assert group["input_label"][-1] == b"final" and group["input_label"][0] == b"L0.attn"


for fixture_name in NAMES:
    add(f"fixture {fixture_name}", fixture, fixture_name)
for fixture_name in ("mini-full_hw", "mini-delta", "mini-block", "mini-hyper", "d3-block"):
    add(f"labels of {fixture_name}", labels, fixture_name)


def made(scratch, name, words, without="", *more):
    """A checkpoint of make_checkpoint.py; `without`: keys taken out of its config."""
    folder = scratch / name
    subprocess.run([sys.executable, ORACLE / "make_checkpoint.py", folder, *words.split()], check=True)
    config = json.loads((folder / "config.json").read_text())
    left = {k: v for k, v in config.items() if k not in without.split()}
    (folder / "config.json").write_text(json.dumps(left))
    golden(name, succeed("--sites", name, *more, cwd=str(scratch)).out)


BLOCKS = "--mode delta_block --layers 4 --blocks 4 --null-source"
add("recursive block differences", made, "recursive", BLOCKS)
add("true block differences", made, "true", BLOCKS, "", "--block-delta", "true")
add("two blocks have only one difference", made, "two-blocks", "--mode delta_block --layers 4 --blocks 2", "", "--block-delta", "true")
add("a sum after every sublayer", made, "recency-full", "--mode full --recency-bias --layers 2")
add("blocks that do not divide the layers", made, "uneven", "--mode block_mh --family llama --layers 5 --blocks 3 --gate sigmoid_vector")
add("flash-linear-attention's own words", made, "fla", "--fla 4 --layers 5 --family llama")
add("heads defaulted", made, "defaulted", "--mode block_mh --layers 2", "attnres_num_heads")
add("null sources that nobody reads", made, "unused", "--mode full --layers 1 --null-source")

main()
