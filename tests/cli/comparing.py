#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""--compare: what is printed, saved, drawn and refused. The numbers themselves are tests/numeric/test_compare.py's."""
import csv
import io

import h5py
import numpy as np

from harness import *

sys.path.insert(0, str(ORACLE))
import make_checkpoint  # noqa: E402

RUN = [*SHORT[:4], "--context", "16", "--depth-maps", "--null-draws", "2", "--device", "cpu"]
SMALL = "--layers 2 --width 32 --vocab 4096 --ffn 64".split()


def made(folder, *words, seed=1):
    sys.argv = ["make_checkpoint.py", str(folder), *SMALL, *map(str, words), "--seed", str(seed)]
    make_checkpoint.main()
    return folder


def pair(scratch, *words):
    return made(scratch / "a", *words), made(scratch / "b", *words, seed=2)


@case
def is_added_to_what_the_run_prints(scratch):
    a, b = pair(scratch)
    alone, both = report(a, b, *RUN), report("--compare", a, b, *RUN)
    assert "compare" not in alone and both["checkpoints"] == alone["checkpoints"]
    one = both["compare"]
    assert (one["a"], one["b"]) == (str(a), str(b)) and [x["label"] for x in one["per_site"]] == ["L0.mlp", "L1.attn", "L1.mlp", "final"]
    assert sorted(one["matching"]) == [0, 1, 2, 3] and 0 <= one["js_matched"] <= one["js_identity"] + 1e-15 and one["null_js"] > 0
    assert succeed("--compare", a, b, *RUN).out.startswith(succeed(a, b, *RUN).out)


@case
def the_other_way_round(scratch):
    """A and B change places: the distances stay, the matching is turned round."""
    a, b = pair(scratch)
    one, other = (report("--compare", *x, *RUN)["compare"] for x in ((a, b), (b, a)))
    for key in ("js_identity", "js_matched", "js_random", "js_consensus", "null_js", "js_ratio", "p_value", "max_difference"):
        assert abs(one[key] - other[key]) < 1e-12, key
    assert [one["matching"][h] for h in other["matching"]] == [0, 1, 2, 3]
    assert np.allclose(one["per_site"][0]["difference_consensus"], -np.array(other["per_site"][0]["difference_consensus"]))


@case
def a_checkpoint_with_itself(scratch):
    one = report("--compare", MH, MH, *RUN)["compare"]
    assert one["js_identity"] == one["js_matched"] == one["js_consensus"] == one["max_difference"] == one["js_ratio"] == 0
    assert one["matching"] == [0, 1, 2, 3] and one["p_value"] == 1 and one["js_random"] > 0


@case
def intervals_from_three_windows_on(scratch):
    """Two windows make no resample but themselves: no interval of anything, rather than one of no width."""
    a, b = pair(scratch)
    intervals = lambda x: [k for k, v in x.items() if k.endswith("_interval")] + [k for s in x.get("per_site", []) for k in intervals(s)]
    two, three = (report("--compare", a, b, *RUN, "--max-tokens", n) for n in ("32", "48"))
    assert two["checkpoints"][0]["windows"] == 2 and intervals(two["compare"]) == [] == intervals(two["checkpoints"][0])
    assert two["compare"]["null_js"] > 0 and "[" not in succeed("--compare", a, b, *RUN, "--max-tokens", "32", "--quiet").out.split("against")[1]
    assert {"js_matched_interval", "js_consensus_interval"} <= set(intervals(three["compare"]))
    low, high = three["compare"]["js_matched_interval"]
    assert low <= three["compare"]["js_matched"] <= high and low < high


@case
def numbers_of_heads_that_differ(scratch):
    a, b = made(scratch / "a"), made(scratch / "b", "--heads-routing", 2, seed=2)
    one = report("--compare", a, b, *RUN)["compare"]
    assert "js_matched" not in one and "matching" not in one and one["js_consensus"] > 0 and one["js_ratio_consensus"] > 0
    assert [(x["heads"], x["heads_b"]) for x in one["per_site"]] == [(4, 2)] * 4
    table = succeed("--compare", a, b, *RUN).out
    assert "JS of the consensus" in table and "matched" not in table


def cells(line):
    return [x.strip() for x in line.strip("|").split("|")]


@case
def tables_in_every_style(scratch):
    a, b = pair(scratch)
    one = report("--compare", a, b, *RUN)["compare"]
    blocks = succeed("--compare", a, b, *RUN, "--table", "markdown").out.rstrip("\n").split("\n\n")
    assert len(blocks) == 3
    for block in blocks:
        assert len({len(cells(line)) for line in block.splitlines()}) == 1, block
    sites = [cells(line) for line in blocks[2].splitlines()]
    assert [row[0] for row in sites[2:]] == [x["label"] for x in one["per_site"]] + ["all"]
    assert all(abs(float(row[2]) - x["js_matched"]) <= 5e-3 * x["js_matched"] for row, x in zip(sites[2:], one["per_site"]))
    latex = succeed("--compare", a, b, *RUN, "--table", "latex").out
    assert latex.count("\\begin{tabular}") == latex.count("\\end{tabular}") == 3
    rows = list(csv.reader(io.StringIO(succeed("--compare", a, b, *RUN, "--table", "csv").out)))
    assert {len(row) for row in rows} == {3} and rows[0] == ["checkpoint", "quantity", "value"]
    said = {row[1]: float(row[2]) for row in rows[1:] if row[0] == f"{b} against {a}"}
    assert said["js_matched"] == one["js_matched"] and said["p_value"] == one["p_value"]
    final = one["per_site"][-1]
    assert said["js_matched_low[final]"] == final["js_matched_interval"][0] and said["js[final:1:2]"] == final["js"][1][2]
    assert said["match[final:3]"] == final["match"][3] and abs(said["difference[final:2:embed]"] - final["difference"][2][0]) < 1e-12


@case
def one_head_has_short_tables(scratch):
    a, b = pair(scratch, "--mode", "full")
    text = succeed("--compare", a, b, *RUN).out
    assert "JS (nat)" in text and "random" not in text.split("\n\n")[-1] and "consensus" not in text and "→" not in text


@case
def in_the_file(scratch):
    a, b = pair(scratch)
    one = report("--compare", a, b, *RUN, "-o", scratch / "ab.h5")["compare"]
    with h5py.File(scratch / "ab.h5") as f:
        group = f["compare"]
        assert group.attrs["js_matched"] == one["js_matched"] and group.attrs["a"] == str(a)
        assert group["js"].shape == (5, 4, 4)
        assert [d[0].name for d in group["js"].dims] == [f"/compare/{name}" for name in ("site", "head", "head_b")]
        assert list(group["match"][-1]) == one["matching"] and np.isnan(group["js"][0]).all()
        weights = [f[f"checkpoint_{i}/weight"][:].astype(float) for i in range(2)]
        moved = weights[1][:, one["matching"]]
        assert np.nanmax(np.abs(moved[1:] - weights[0][1:] - group["difference"][1:])) < 1e-6
    import xarray
    assert "difference" in xarray.open_dataset(scratch / "ab.h5", group="compare", engine="h5netcdf")


@case
def from_is_the_run_again(scratch):
    a, b = pair(scratch)
    file = scratch / "ab.h5"
    succeed("--compare", a, b, *RUN, "-o", file)
    for how in ([], ["--table", "markdown"], ["--table", "csv"], ["--table", "latex"]):
        assert succeed("--compare", a, b, *RUN, *how).out == succeed("--from", file, *how).out
    assert report("--compare", a, b, *RUN)["compare"] == report("--from", file)["compare"]
    for ending in ("pdf", "svg", "png"):
        succeed("--compare", a, b, *RUN, "--figure", scratch / f"run.{ending}")
        succeed("--from", file, "--figure", scratch / f"from.{ending}", "--figure-kind", "compare")
        names = [f".{ending}"] if ending == "pdf" else [f"-{i}.{ending}" for i in range(1, 6)]
        for name in names:
            assert (scratch / f"run{name}").read_bytes() == (scratch / f"from{name}").read_bytes()
    succeed("--from", file, "--figure", scratch / "d.png", "--figure-kind", "deviation")
    assert (scratch / "d-2.png").exists() and not (scratch / "d-3.png").exists()


@case
def nothing_is_written_over_what_is_refused(scratch):
    a, b = pair(scratch)
    refuse(scratch, 2, "--compare takes two", "--compare", a, *RUN)
    refuse(scratch, 2, "--compare takes two", "--compare", a, b, a, *RUN)
    refuse(scratch, 2, "--depth-maps", "--compare", a, b, *SHORT, "--kl")
    refuse(scratch, 2, "--series", "--compare", "--series", a, b, *RUN)
    refuse(scratch, 2, "--compare", a, b, *RUN, "--figure-kind", "compare")
    refuse(scratch, 2, "--compare", "--compare", "--info", a, b, outputs=False)
    refuse(scratch, 3, ["has no read", "baseline"], "--compare", MH, PLAIN, *RUN)
    deep = made(scratch / "deep", "--layers", 3)
    refuse(scratch, 3, ["final", "L2.attn", str(a), str(deep)], "--compare", a, deep, *RUN)
    refuse(scratch, 3, ["source 0 of L0.attn", "null", "embed"], "--compare", FIXTURES / "mini-delta", FIXTURES / "mini-full", *RUN)


@case
def ids_that_differ(scratch):
    a, b = pair(scratch)
    for folder in (a, b):
        shutil.copy(DEMO / "single" / "tokenizer.json", folder)
    ok = ["--prompt", "The river rose at night, and nobody had seen it.", *RUN[4:]]
    succeed("--compare", a, b, *ok)
    text = json.loads((b / "tokenizer.json").read_text())
    vocab = text["model"]["vocab"]
    vocab["\u0120at"], vocab["\u0120and"] = vocab["\u0120and"], vocab["\u0120at"]
    (b / "tokenizer.json").write_text(json.dumps(text))
    refuse(scratch, 3, ["different ids", "--tokens"], "--compare", a, b, *ok)


@case
def windows_are_the_same_whatever_the_models_say(scratch):
    a, b = made(scratch / "a", "--context", 40), made(scratch / "b", "--context", 24, seed=2)
    one = report("--compare", a, b, "--tokens", IDS, "--max-tokens", "100", "--depth-maps", "--null-draws", "0", "--device", "cpu")
    assert [x["windows"] for x in one["checkpoints"]] == [5, 5]


def damaged(scratch, change):
    a, b = pair(scratch)
    succeed("--compare", a, b, *RUN, "-o", scratch / "ab.h5")
    with h5py.File(scratch / "ab.h5", "r+") as f:
        change(f["compare"])
    for how in ([], ["--json"], ["--table", "csv"]):
        check_refusal(probe("--from", scratch / "ab.h5", *how), 3, "ab.h5", "compare")


def set_match(group):
    group["match"][-1, 0] = 4


def set_count(group):
    group["n_sources"][2] = 9


def drop(name):
    def change(group):
        del group[name]
    return change


for name in ("match", "js", "difference", "js_consensus", "site_label", "whole_rows", "n_heads_b"):
    add(f"a file that lacks {name}", damaged, drop(name))
add("a match beyond the heads", damaged, set_match)
add("more sources than there are", damaged, set_count)

main()
