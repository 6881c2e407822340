#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What a good run prints. The texts to compare with are in expected/; after a wanted change, run this program
with MHAR_ACCEPT=1 and read the difference before committing it."""
import csv
import io
import math
import os
import re
import subprocess

import h5py
import numpy as np

from harness import *

# Paths in outputs are as given, so runs start from the fixtures' folder.
HERE = {"cwd": str(FIXTURES)}
TEXT = ["--tokens", "public-domain.u16", "--max-tokens", "150", "--context", "64", "--null-draws", "4", "--device", "cpu"]
THREE = ["mini-full", "mini-full_mh", "mini-baseline"]


def golden(name, text):
    path = EXPECTED / name
    if os.environ.get("MHAR_ACCEPT"):
        path.write_text(text)
    assert text == path.read_text(), f"differs from expected/{name}:\n{text}"


# Tables

def table(scratch, style, name, names, *more):
    result = succeed(*names, *TEXT, "--table", style, *more, **HERE)
    assert result.err == "", result.err
    golden(name, result.out)


for style, ending in (("text", "txt"), ("markdown", "md"), ("latex", "tex")):
    add(f"table, one checkpoint, {style}", table, style, f"table-one.{ending}", ["mini-full_mh"])
    add(f"table, three checkpoints, {style}", table, style, f"table-three.{ending}", THREE, "--match-sources", "6")
add("table, no null", table, "text", "table-no-null.txt", ["mini-full", "mini-full_mh"], "--null-draws", "0")
add("table, one probe", table, "text", "table-collinearity.txt", THREE, "--collinearity")
add("table, names alike", table, "text", "table-alike.txt", ["mini-full", "./mini-full"], "--collinearity")


@case
def table_csv_has_every_number_in_full(scratch):
    result = succeed(*THREE, *TEXT, "--table", "csv", **HERE)
    rows = list(csv.reader(io.StringIO(result.out)))
    assert rows[0] == ["checkpoint", "quantity", "value"]
    whole = {(c, q): float(v) for c, q, v in rows[1:]}
    assert {c for c, _ in whole} == set(THREE)
    run = report(*THREE, *TEXT, **HERE)["checkpoints"]
    for one, name in zip(run, THREE):
        assert whole[name, "loss"] == one["loss"] and whole[name, "layers"] == one["layers"]
        assert whole[name, "collinearity_mean"] == one["collinearity"]["mean"]
    assert whole["mini-full", "slice_kl_excess"] == run[0]["slice_kl"]["excess"]
    assert whole["mini-full_mh", "max_deviation"] == run[1]["depth_map"]["max_deviation"]


@case
def table_rounds_the_json(scratch):
    text = succeed("mini-full", *TEXT, **HERE).out
    one = report("mini-full", *TEXT, **HERE)["checkpoints"][0]
    for label, value in (("loss (nat/token)", one["loss"]), ("  trained", one["slice_kl"]["trained"]),
                         ("  mean |cosine|", one["collinearity"]["mean_abs"])):
        printed = re.search(rf"^{re.escape(label)} +(\S+) \[.*\]$", text, re.M).group(1)
        assert printed == f"{value:.4f}", (label, printed, value)


# --info, --sites

def description(scratch, option, names):
    result = succeed(option, *names, **HERE)
    assert result.err == "", result.err
    golden(f"{option[2:]}-{names[0] if len(names) == 1 else 'several'}.txt", result.out)


for option in ("--info", "--sites"):
    for names in (["mini-full_mh"], ["mini-baseline"], ["mini-llama", "mini-full"]):
        add(f"{option} {' '.join(names)}", description, option, names)


@case
def info_as_json(scratch):
    (info,) = json.loads(succeed("--info", "mini-full_mh", "--json", **HERE).out)
    assert info == {
        "path": "mini-full_mh", "dialect": "D1: MHAR, Qwen3 body", "mode": "full_mh", "model_type": "qwen3_attnres", "heads": 4,
        "sites": 9, "layers": 4, "width": 64, "attention_heads": 4, "kv_heads": 2, "head_dim": 16, "ffn": 128, "vocab": 4096,
        "context": 1024, "rope_theta": 10000.0, "dtype": "BF16", "parameters": info["parameters"], "bytes": info["bytes"],
        "files": 1, "warnings": []}, info
    tensors = read_tensors(MH / "model.safetensors")
    assert info["parameters"] == sum(math.prod(shape) for _, shape, _ in tensors.values())
    assert len(json.loads(succeed("--info", *THREE, "--json", **HERE).out)) == 3


@case
def sites_as_json(scratch):
    (one,) = json.loads(succeed("--sites", "mini-full_mh", "--json", **HERE).out)
    assert set(one) == {"path", "dialect", "mode", "heads", "sites"} and one["heads"] == 4
    rows = ["embed"] + [f"L{l}.{k}" for l in range(4) for k in ("attn", "mlp")]
    for n, site in enumerate(one["sites"]):
        label = "final" if n == 8 else rows[n + 1]
        assert site == {"site": n, "label": label, "read": "replace", "gate": None, "bias": 0.0, "heads": 4, "groups": 0, "sources": rows[: n + 1]}, site
    assert json.loads(succeed("--sites", "mini-baseline", "--json", **HERE).out)[0]["sites"] == []


# --json: exactly the keys of the design

def with_intervals(*names):
    return set(names) | {name + "_interval" for name in names}


DISAGREEMENT = with_intervals("trained", "median", "null", "excess") | {"draws", "null_sd", "null_kind", "p_value",
                                                                          "null_draw_interval", "per_site"}
OF_THE_NULL = with_intervals("null", "excess") | {"draws", "null_sd", "null_kind", "p_value", "null_draw_interval"}
CHECKPOINT = {"path", "mode", "dialect", "layers", "width", "heads", "sites", "tokens", "windows", "collinearity", "per_site",
              "warnings", "bootstrap"} | with_intervals("loss")


def check_disagreement(found, sites, extra=(), draws=4):
    assert set(found) == (DISAGREEMENT - (OF_THE_NULL if draws == 0 else set())) | set(extra), set(found)
    for site in found["per_site"]:
        of_null = {"null_interval", "p_value"} if draws > 0 else set()
        assert set(site) == {"site", "label", "sources", "null"} | with_intervals("trained") | of_null, set(site)
        for name in with_intervals("trained", "null"):
            assert not name.endswith("_interval") or name not in site or site[name][0] <= site[name][1], site
        assert (site["null"] is None) == (draws == 0) and isinstance(site["trained"], float)
    assert [s["site"] for s in found["per_site"]] == sites
    assert math.isclose(found["trained"], np.mean([s["trained"] for s in found["per_site"]]), rel_tol=1e-6)
    if draws > 0:
        assert math.isclose(found["excess"], found["trained"] - found["null"], rel_tol=1e-9)


def no_constants(text):
    def refuse_constant(word):
        raise AssertionError(f"{word} in JSON")
    return json.loads(text, parse_constant=refuse_constant)


@case
def json_keys(scratch):
    result = succeed(*THREE, *TEXT, "--match-sources", "6", "--json", "-q", **HERE)
    run = no_constants(result.out)
    assert set(run) == {"schema", "command", "device", "precision", "seed", "checkpoints"}
    assert (run["schema"], run["device"], run["precision"], run["seed"]) == (1, "cpu", "fp32", 0)
    assert run["command"].startswith("mhar-probe mini-full mini-full_mh")
    full, mh, plain = run["checkpoints"]
    assert set(full) == CHECKPOINT | {"slice_kl"}
    assert set(mh) == CHECKPOINT | {"head_js", "depth_map"}
    assert set(plain) == CHECKPOINT
    check_disagreement(full["slice_kl"], list(range(1, 9)), {"slices", "slicing", "matched"})
    check_disagreement(full["slice_kl"]["matched"], [5, 6, 7, 8], {"count"})
    assert (full["slice_kl"]["slices"], full["slice_kl"]["slicing"], full["slice_kl"]["matched"]["count"]) == (4, "contiguous", 6)
    check_disagreement(mh["head_js"], list(range(1, 9)))
    assert set(mh["depth_map"]) == with_intervals("max_deviation", "null_max_deviation", "head_correlation", "replication_r") | {
        "head_correlation_floor", "p_value", "null_draw_interval", "per_site"}
    for site in mh["depth_map"]["per_site"]:
        assert set(site) == {"site", "label", "sources", "null_max_deviation", "p_value", "p_value_corrected",
                             "p_value_heads"} | with_intervals("max_deviation")
        assert len(site["p_value_heads"]) == 4 and min(site["p_value_heads"]) == site["p_value_corrected"] >= 1 / 5
    assert full["bootstrap"] == {"resamples": 2000, "entries": 3, "block": 2}
    assert plain["per_site"] == []
    for one, heads in ((full, 1), (mh, 4)):
        assert [s["site"] for s in one["per_site"]] == list(range(9))
        for n, site in enumerate(one["per_site"]):
            assert set(site) == {"site", "label", "sources", "heads", "entropy", "weight", "weight_sd", "contribution"}
            assert (site["sources"], site["heads"]) == (n + 1, heads)
            for name in ("weight", "weight_sd", "contribution"):
                assert np.shape(site[name]) == (heads, n + 1)
            assert np.shape(site["entropy"]) == (heads,)
            assert np.allclose(np.sum(site["weight"], axis=1), 1, atol=1e-5)


@case
def json_keys_of_each_probe_alone(scratch):
    names = ["mini-full", "mini-full_mh"]
    base = CHECKPOINT - {"collinearity"}
    for option, full_has, mh_has in (("--kl", {"slice_kl"}, {"head_js"}), ("--depth-maps", set(), {"depth_map"}),
                                     ("--collinearity", {"collinearity"}, {"collinearity"})):
        full, mh = report(*names, *TEXT, option, **HERE)["checkpoints"]
        assert set(full) == base | full_has, (option, set(full))
        assert set(mh) == base | mh_has, (option, set(mh))
        assert ("weight" in mh["per_site"][3]) == (option == "--depth-maps")
    both = report(*names, *TEXT, "--kl", "--collinearity", **HERE)["checkpoints"]
    assert set(both[0]) == base | {"slice_kl", "collinearity"}
    all_of_them = report(*names, *TEXT, "--all", **HERE)["checkpoints"]
    assert all_of_them == report(*names, *TEXT, **HERE)["checkpoints"]


@case
def json_without_a_null(scratch):
    full, mh = report("mini-full", "mini-full_mh", *TEXT, "--null-draws", "0", **HERE)["checkpoints"]
    check_disagreement(full["slice_kl"], list(range(1, 9)), {"slices", "slicing"}, draws=0)
    check_disagreement(mh["head_js"], list(range(1, 9)), draws=0)
    assert not any("null" in key or key == "p_value" for key in mh["depth_map"])


@case
def json_of_controls(scratch):
    lists = ["--slices", "8,2", "--slicing", "both", "--null-kind", "swapped,random", "--null-norm", "slice,query"]
    full, mh, plain = report(*THREE, *TEXT, *lists, **HERE)["checkpoints"]
    assert "controls" not in plain
    nulls = [("swapped", "slice"), ("random", "slice"), ("swapped", "query")]
    crossed = [(s, how, *null) for null in nulls for s in (8, 2) for how in ("contiguous", "interleaved")]
    assert [(c["slices"], c["slicing"], c["null_kind"], c["null_norm"]) for c in full["controls"]] == crossed
    assert [(c["measure"], c["null_kind"], c["null_norm"]) for c in mh["controls"]] == [("head_js", *null) for null in nulls]
    own = (DISAGREEMENT - {"per_site"}) | {"measure", "null_norm"}
    for c in full["controls"]:
        assert set(c) == own | {"slices", "slice_width", "slicing"} and c["slice_width"] * c["slices"] == 64
    for c in mh["controls"]:
        assert set(c) == own
    # the first is the main one, whoever computed it
    for one, name in ((full, "slice_kl"), (mh, "head_js")):
        for key in own - {"measure", "null_norm"}:
            assert one["controls"][0][key] == one[name][key], key
    # and each is what a run of its own has
    (alone,) = report("mini-full", *TEXT, "--slices", "2", "--slicing", "interleaved", "--null-norm", "slice", **HERE)["checkpoints"]
    assert all(math.isclose(full["controls"][7][k], alone["slice_kl"][k], rel_tol=1e-9) for k in ("trained", "null", "excess", "p_value"))
    assert "controls" not in alone


@case
def table_of_controls(scratch):
    lists = ["--slices", "4,2", "--null-draws", "20"]
    out = succeed("mini-full", *TEXT[:-4], *lists, "--device", "cpu", **HERE).out
    assert re.search(r"^  2 contiguous, random null +0\.0\d+ - 0\.0\d+ = 0\.0\d+ \[.*\], p 0\.\d+", out, re.M), out
    assert "Width control" not in out
    out = succeed("mini-full", "mini-full_mh", *TEXT, "--null-norm", "query,slice", **HERE).out
    for name in ("heads, random null", "heads, random null, norm by slice", "4 contiguous, random null", "4 contiguous, random null, norm by slice"):
        assert re.search(rf"^  {name}  ", out, re.M), out
    rows = list(csv.reader(io.StringIO(succeed("mini-full", *TEXT, "--slices", "4,2", "--table", "csv", **HERE).out)))
    assert ["mini-full", "control_excess[slice_kl:2:contiguous:random]"] in [row[:2] for row in rows]


@case
def table_of_widths(scratch):
    """Slices of 32 in models of 64 and of 256: a line of their own, whose cells are the controls'."""
    wide = str(TESTS.parent / "data" / "demo" / "single")
    out = succeed("mini-full", wide, *TEXT, "--kl", "--slices", "2,8", **HERE).out
    rows = {line[:40].strip(): re.findall(r"\S+ - \S+ = \S+ \[[^]]*\], p \S+", line) for line in out.splitlines()}
    control = {name: cells for name, cells in rows.items() if cells}
    widths = [cells for name, cells in control.items() if name.startswith("32 wide contiguous, random null")]
    two, eight = (cells for n in "28" for name, cells in control.items() if name.startswith(f"{n} contiguous"))
    assert len(widths) == 1 and widths[0] == [two[0], eight[1]], out
    assert not any(name.startswith(("8 wide", "128 wide")) for name in control), out


EVERYTHING = ["--all", "--reads=final:*:embed,L1.mlp:0:*", "--top-tokens", "3", "--slices", "4,2", "--null-kind", "random,shuffled", "--ablation-map",
              "--uniform", "--top-k", "1", "--match-sources", "5", "-q"]
NUMBER = r"[-+−]?\d+(?:\.\d+)?(?:e[-+]\d+)?"


def of_everything(*more):
    """What makes every table there is: a run, a comparison, weights alone."""
    names = [str(DEMO / "mhar"), *more]
    return [[*names, *TEXT, *EVERYTHING], ["--compare", str(DEMO / "mhar"), str(DEMO / "single"), *TEXT, "--depth-maps", "--heads", "4", "-q"],
            ["--weights-only", "mini-full", "mini-full_mh"]]


@case
def every_table_in_every_style(scratch):
    """What the text has, numbers and labels, Markdown and LaTeX have; CSV every number of it."""
    words = lambda text: [w for w in re.split(r"[\s|&,()\[\]{}$\\«»*]+", text) if w]
    for args in of_everything():
        text = succeed(*args, **HERE).out
        lines = list(csv.reader(io.StringIO(succeed(*args, "--table", "csv", **HERE).out)))
        assert all(len(line) == 3 for line in lines)
        rounded = [f"{float(v):.3g}" for _, _, v in lines[1:] if v]
        for number in re.findall(rf"(?<![\w.]){NUMBER}(?![\w.:%])", text):
            if "." in number and not any(abs(float(v) - float(number)) <= 0.006 * abs(float(number)) + 6e-5 for v in rounded):
                raise AssertionError(f"{number} is not in the CSV of {args}")
        for style in ("markdown", "latex"):
            have = words(succeed(*args, "--table", style, **HERE).out.replace("---", "—").replace("--", "–"))
            for word in words(text.replace("\\n", " ")):
                assert word in have or not re.fullmatch(rf"{NUMBER}(–{NUMBER})?", word), (style, word)
            assert have.count("reads") == (2 * text.count(" reads ") if "--reads" in str(args) else have.count("reads"))


@case
def csv_names_are_of_one_style(scratch):
    """A name as in JSON and HDF5, and in brackets what it is of, with colons between."""
    for args in of_everything("mini-full"):
        rows = list(csv.reader(io.StringIO(succeed(*args, "--table", "csv", **HERE).out)))[1:]
        names = [name for _, name, _ in rows]
        assert len(set((who, name) for who, name, _ in rows)) == len(rows)
        for name in names:
            assert re.fullmatch(r"[a-z][a-z0-9_]*(\[[^\[\]]+\])?", name), name
        ends = {n for n in names if re.match(r"\w+_low\b", n)}
        assert {n.replace("_low", "_high") for n in ends} == {n for n in names if re.match(r"\w+_high\b", n)}


@case
def tables_round_as_the_manual_says(scratch):
    """Everything in a cell to the place of its first number: of random runs, and of numbers put into a file."""
    place = lambda x: (lambda m, e: int(e or 0) - len(m.partition(".")[2]))(*(x.split("e") + [""])[:2])
    for args in of_everything():
        text = succeed(*args, **HERE).out
        cells = re.findall(rf"({NUMBER})((?: ± {NUMBER})?) \[({NUMBER}), ({NUMBER})\]", text) if "--weights-only" not in args else []
        assert len(cells) > 5 or "--weights-only" in args, text
        for value, spread, low, high in cells:
            assert len({place(x) for x in (value, *spread.split()[1:], low, high)}) == 1, (value, spread, low, high)
            assert place(value) <= -4 and float(low) < float(high), (value, low, high)
    file = scratch / "run.h5"
    succeed("mini-full_mh", *TEXT, "--kl", "-o", file, **HERE)
    for value, low, high, text in ((2.9234e-6, 1.1378e-6, 1.23e-5, "2.92e-06 [1.14e-06, 1.230e-05]"), (2.9234e-6, -4e-9, 3e-6, "2.92e-06 [0, 3.00e-06]"),
                                   (0.004881, 0.0047, 0.00499, "0.00488 [0.00470, 0.00499]"), (0.0049, 0.000001, 1.0, "0.00490 [0.00000, 1.00000]"),
                                   (3.5, 3.49999, 3.50001, "3.50000 [3.49999, 3.50001]"), (0.0, -2e-6, 3e-6, "0.000000 [-0.000002, 0.000003]"),
                                   (-1e-9, -2e-9, 0.0, "-1.00e-09 [-2.00e-09, 0]"), (12.0, -0.00001, 13, "12.0000 [0.0000, 13.0000]"),
                                   (float("nan"), 0.1, 0.2, "n/a"), (9.996e-6, 1e-6, 2e-5, "0.0000100 [0.0000010, 0.0000200]")):
        with h5py.File(file, "a") as f:
            for name, x in (("loss", value), ("loss_low", low), ("loss_high", high)):
                f["checkpoint_0"].attrs.modify(name, np.float64(x))
        assert f" {text}\n" in succeed("--from", file).out, (text, succeed("--from", file).out)


@case
def json_has_what_the_file_has(scratch):
    """Every digit: of what is stored in double precision that, of what is stored in single that."""
    file = scratch / "run.h5"
    full, mh = report("mini-full", "mini-full_mh", *TEXT, "--match-sources", "6", "-o", file, **HERE)["checkpoints"]
    with h5py.File(file) as f:
        for one, group, name, key in ((full["slice_kl"], f["checkpoint_0"], "slice_kl", "slice_kl"), (mh["head_js"], f["checkpoint_1"], "head_js", ""),
                                      (full["slice_kl"]["matched"], f["checkpoint_0"], "matched_kl", "")):
            for row in one["per_site"]:
                assert row["trained"] == group[f"{name}_site"][row["site"]] and row["null"] == group[f"{name}_null_site"][row["site"]]
                assert row["trained_interval"] == [group[f"{name}_site_{end}"][row["site"]] for end in ("low", "high")]
            assert math.isclose(np.mean([row["trained"] for row in one["per_site"]]), one["trained"], rel_tol=1e-14)
        for row in mh["per_site"]:
            for name in ("weight", "weight_sd", "contribution", "entropy"):
                stored = f["checkpoint_1"][name][row["site"]]
                assert np.array_equal(np.float32(row[name]), stored[..., : row["sources"]] if name != "entropy" else stored)


@case
def table_says_what_does_not_beat_its_null(scratch):
    out = succeed("mini-full_mh", *TEXT[:-4], "--null-draws", "32", "--device", "cpu", **HERE).out
    assert out.count("NOT DISTINGUISHABLE from its null") == 2, out
    few = succeed("mini-full_mh", *TEXT, **HERE).out
    assert few.count("too few draws to tell") == 2 and "sites above" not in few, few


@case
def json_of_one_window_has_no_replication(scratch):
    (one,) = report("mini-full_mh", "--tokens", "public-domain.u16", "--max-tokens", "50", "--device", "cpu", **HERE)["checkpoints"]
    assert one["windows"] == 1 and "replication_r" not in one["depth_map"]
    # nor intervals over windows, of which there is one
    assert not any(key.endswith("_interval") and key != "null_draw_interval" for key in [*one, *one["depth_map"], *one["head_js"]])


@case
def json_of_one_draw_has_no_spread(scratch):
    text = succeed("mini-full_mh", *TEXT, "--null-draws", "1", "--json", **HERE).out
    assert no_constants(text)["checkpoints"][0]["head_js"].get("null_sd") is None
    assert "nan" not in succeed("mini-full_mh", *TEXT, "--null-draws", "1", **HERE).out.lower()


@case
def few_draws_give_no_verdict(scratch):
    for draws, says in ((1, "too few draws"), (4, "too few draws"), (19, "its null")):
        text = succeed("mini-full_mh", *TEXT, "--null-draws", str(draws), "-o", scratch / "run.h5", **HERE).out
        lines = [l for l in text.splitlines() if l.startswith("  verdict")]
        assert len(lines) == 2 and all(says in l for l in lines), lines
        assert succeed("--from", scratch / "run.h5").out == text


def warned(scratch, words, args):
    """A warning on standard error, in the JSON, in the file, and again from the file."""
    found = succeed(*args, "-o", scratch / "run.h5", **HERE)
    assert words in found.err, found
    assert any(words in w for w in report(*args, **HERE)["checkpoints"][0]["warnings"])
    with h5py.File(scratch / "run.h5") as f:
        assert any(words in w for w in f["checkpoint_0"].attrs["warnings"])
    assert words in succeed("--from", scratch / "run.h5").err


SAID = "no site has the 10 sources that --match-sources asks for, the most is 9: nothing is matched"
add("warning: more sources to match than there are", warned, SAID, ["mini-full", *TEXT, "--match-sources", "10"])
add("warning: --heads of a mode of one head", warned, "mode full has one routing head; --heads 4 cuts", ["mini-full", *TEXT, "--heads", "4"])
add("warning: --heads without reads", warned, "--heads 4 changes nothing", ["mini-baseline", *TEXT, "--heads", "4"])


@case
def as_many_sources_to_match_as_there_are(scratch):
    assert succeed("mini-full", *TEXT, "--match-sources", "9", **HERE).err == ""
    of_heads = succeed("mini-full_mh", *TEXT, "--match-sources", "10", **HERE).err  # which is of modes with one head
    assert "--match-sources changes nothing" in of_heads and len(of_heads.splitlines()) == 1


@case
def weights_that_are_no_numbers(scratch):
    """NaN in one weight: the run ends, says so, and no NaN reaches the JSON."""
    folder = copy_checkpoint(FULL, scratch / "x")
    tensors = read_tensors(folder / "model.safetensors")
    dtype, shape, data = tensors["model.layers.3.mlp.down_proj.weight"]
    assert dtype == "BF16"
    tensors["model.layers.3.mlp.down_proj.weight"] = (dtype, shape, b"\xc0\x7f" + data[2:])
    write_tensors(folder / "model.safetensors", tensors)
    words = "the loss is not a finite number: the weights hold NaN or infinite values, or overflow"
    warned(scratch, words, [folder, *TEXT])
    one = no_constants(succeed(folder, *TEXT, "--json", "-q", **HERE).out)["checkpoints"][0]
    assert one["loss"] is None and one["slice_kl"]["trained"] is None and one["slice_kl"]["p_value"] is None
    assert [s["trained"] is None for s in one["slice_kl"]["per_site"]] == [False] * 7 + [True]
    for style in ("text", "markdown", "latex"):
        out = succeed(folder, *TEXT, "--table", style, "-q", **HERE).out
        assert "nan" not in out.lower() and re.search(r"^(\| )?loss \(nat/token\)[ |&]+n/a", out, re.M), out
        assert "DISTINGUISHABLE" not in out and "above its null" not in out
    rows = list(csv.reader(io.StringIO(succeed(folder, *TEXT, "--table", "csv", "-q", **HERE).out)))
    assert [str(folder), "loss", ""] in rows and not any("nan" in v.lower() for _, _, v in rows)
    compared = no_constants(succeed("--compare", folder, "mini-full", *TEXT, "--depth-maps", "--json", "-q", "-o", scratch / "c.h5", **HERE).out)["compare"]
    assert compared["js_consensus"] is None and compared["per_site"][0]["js_consensus"] == 0 and compared["per_site"][-1]["max_difference"] is None
    assert "n/a" in succeed("--from", scratch / "c.h5").out.split("against")[1]


@case
def report_of_weights_that_are_no_numbers(scratch):
    """It says so, and judges nothing."""
    for name in ("mini-full", "mini-full_mh"):
        folder = copy_checkpoint(FIXTURES / name, scratch / name)
        tensors = read_tensors(folder / "model.safetensors")
        dtype, shape, data = tensors["model.layers.3.mlp.down_proj.weight"]
        tensors["model.layers.3.mlp.down_proj.weight"] = (dtype, shape, b"\xc0\x7f" + data[2:])
        write_tensors(folder / "model.safetensors", tensors)
    succeed("--report", scratch / "r", scratch / "mini-full", scratch / "mini-full_mh", *TEXT[:-4], "--null-draws", "19", "--device", "cpu", "-q", **HERE)
    html = re.sub(r"<svg.*?</svg>|<style.*?</style>", "", (scratch / "r" / "report.html").read_text(), flags=re.S)
    text = re.sub(r"<[^>]+>", "", html)
    assert text.count("Its loss is not a finite number") == 2
    assert "NaN" not in re.sub("(hold|are) NaN or infinite", "", text) and " nan" not in text
    text = text[text.index("Its loss is") : text.index("The null’s queries" if "The null’s queries" in text else "How small p can be")]
    for judged in ("is distinguishable", "is not distinguishable", "controls (Section 5)", "costs most", "changes the loss by", "Mass is not importance"):
        assert judged not in text, text[max(0, text.find(judged) - 300) :][:600]


@case
def divergences_are_not_negative(scratch):
    """Queries so small that all heads and slices weigh alike but for rounding, which would take their divergences below 0."""
    for source in ("mini-full", "mini-full_mh"):
        folder = copy_checkpoint(FIXTURES / source, scratch / source)
        tensors = read_tensors(folder / "model.safetensors")
        for n, (dtype, shape, data) in tensors.items():
            if "_res_proj" in n:  # 1e-12 and the like, of either sign
                words = np.random.default_rng(len(n)).choice(np.array([0x2B80, 0x2480, 0x3000, 0xAB80, 0xA480, 0xB000], "<u2"), len(data) // 2)
                tensors[n] = (dtype, shape, words.tobytes())
        write_tensors(folder / "model.safetensors", tensors)
        one = report(folder, *TEXT, "--match-sources", "4", "--slices", "4,2", **HERE)["checkpoints"][0]
        groups = [one[k] for k in ("slice_kl", "head_js") if k in one]
        groups += [g["matched"] for g in groups if "matched" in g] + [x for g in groups for x in g["per_site"]] + one.get("controls", [])
        assert len(groups) > 8 and all(g[k] >= 0 for g in groups for k in ("trained", "null"))
        assert all(e >= 0 for s in one["per_site"] for e in s["entropy"])


@case
def json_seed_beyond_63_bits(scratch):
    for seed in (0, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1):
        run = report("mini-full", *TEXT, "--seed", str(seed), "--null-draws", "1", **HERE)
        assert int(run["seed"]) == seed, run["seed"]


@case
def agrees_with_the_golden_reports(scratch):
    for name in THREE:
        want = json.loads((TESTS / "golden" / f"{name}.json").read_text())
        (got,) = report(name, *TEXT, **HERE)["checkpoints"]

        def compare(w, g, where):
            if isinstance(w, dict):
                for key in w:
                    assert key in g, f"{where}.{key} is missing"
                    compare(w[key], g[key], f"{where}.{key}")
            elif isinstance(w, list):
                assert len(w) == len(g), where
                for i, (a, b) in enumerate(zip(w, g)):
                    compare(a, b, f"{where}[{i}]")
            elif isinstance(w, float):
                assert math.isclose(w, g, rel_tol=1e-4, abs_tol=2e-6), (where, w, g)
            else:
                assert w == g, (where, w, g)
        compare(want, got, name)


# Standard error

@case
def quiet_says_nothing(scratch):
    folder = copy_checkpoint(MH, scratch / "warned", {"tie_word_embeddings": False})
    args = [folder, "--tokens", IDS, "--max-tokens", "50", "-o", scratch / "run.h5", "--figure", scratch / "f.svg"]
    loud, quiet = succeed(*args), succeed(*args, "--quiet")
    assert "warning" in loud.err and quiet.err == "" and loud.out == quiet.out
    assert succeed("--from", scratch / "run.h5", "-q").err == "" and "warning" in succeed("--from", scratch / "run.h5").err


@case
def no_escape_codes_unless_asked_for(scratch):
    args = ["mini-full", "--tokens", "public-domain.u16", "--max-tokens", "100", "--context", "25"]
    assert "\x1b" not in (plain := succeed(*args, **HERE)).err + plain.out and "\r" not in plain.err
    for more in ([], ["--quiet"]):
        shown = succeed(*args, *more, "--progress", "always", **HERE)
        assert "\x1b[K" in shown.err and "100 %" in shown.err and shown.out == plain.out
        assert "\x1b" not in shown.out


def on_a_terminal(*args, term="xterm"):
    """The program with a terminal as standard error; what it wrote there, and its output."""
    import pty
    ours, theirs = pty.openpty()
    process = start(*args, stdout=subprocess.PIPE, stderr=theirs, env={"TERM": term}, **HERE)
    os.close(theirs)
    out = process.stdout.read()
    seen = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            break
        if not part:
            break
        seen += part
    process.wait()
    os.close(ours)
    assert process.returncode == 0
    return seen.decode(), out.decode()


@case
def progress_on_a_terminal(scratch):
    args = ["mini-full", "--tokens", "public-domain.u16", "--max-tokens", "100", "--context", "25", "--device", "cpu"]
    seen, out = on_a_terminal(*args)
    assert "mini-full [" in seen and seen.endswith("\r\x1b[K") and out == succeed(*args, **HERE).out
    assert on_a_terminal(*args, "--progress", "never")[0] == ""
    assert on_a_terminal(*args, "--quiet")[0] == ""
    assert on_a_terminal(*args, term="dumb")[0] == ""


# Locales

def german(scratch):
    """de_DE.UTF-8 where it is installed or can be made here, which takes the locales package; else no test."""
    listed = subprocess.run(["locale", "-a"], capture_output=True, text=True).stdout.split()
    if any(name.lower() in ("de_de.utf8", "de_de.utf-8") for name in listed):
        return {"locale": "de_DE.UTF-8"}
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", scratch / "de_DE.UTF-8"], capture_output=True)
    if made.returncode != 0:
        raise Skip("no German locale, and none can be made")
    return {"locale": "de_DE.UTF-8", "env": {"LOCPATH": str(scratch)}}


@case
def numbers_have_points_in_every_locale(scratch):
    args = ["mini-full_mh", *TEXT]
    want = [succeed(*args, *more, **HERE).out for more in ([], ["--table", "csv"])]
    figure = scratch / "f.svg"
    succeed(*args, "--figure", figure, **HERE)
    drawn = figure.read_bytes()
    for kw in ({"locale": "C"}, german(scratch)):
        assert [succeed(*args, *more, **HERE, **kw).out for more in ([], ["--table", "csv"])] == want
        json.loads(succeed(*args, "--json", **HERE, **kw).out)
        succeed(*args, "--figure", figure, **HERE, **kw)
        assert figure.read_bytes() == drawn, "the figure differs"
        reference = FIXTURES / "authors" / "mini-full.safetensors"
        succeed("mini-full", "--verify", reference, "--tolerance", "1.5e-5", **HERE, **kw)


@case
def messages_are_in_one_language(scratch):
    assert probe("--frobnicate", **german(scratch)).err == probe("--frobnicate").err


# Names of files

@case
def names_in_any_bytes(scratch):
    for raw in (b"na\xc3\xafve caf\xc3\xa9", b"latin1-\xe9", b"new\nline", b"a|b_c&d%$#{}~^\\", b"quote\"comma,"):
        folder = copy_checkpoint(MH, scratch / os.fsdecode(raw))
        file = scratch / os.fsdecode(raw + b".h5")
        for locale in ("C.UTF-8", "C"):
            table = succeed(folder, *SHORT, "-o", file, locale=locale)
            assert len({len(line) for line in table.out.splitlines() if "  " in line}) <= 2, table.out
            run = report(folder, *SHORT, locale=locale)
            assert run["checkpoints"][0]["path"] and report("--from", file)["checkpoints"] == run["checkpoints"]
            for style in ("markdown", "csv", "latex"):
                out = succeed(folder, *SHORT, "--table", style, locale=locale).out
                if style == "csv":
                    assert all(len(row) == 3 for row in csv.reader(io.StringIO(out, newline=""))), out
                if style == "latex":
                    assert not re.search(r"(?<!\\)[&%$#_]", out.split("\\hline")[1].split(" & ", 1)[1].replace("$|$", "").rstrip("\\ \n")), out
            for option in ("--info", "--sites"):
                assert json.loads(succeed(option, folder, "--json", locale=locale).out)[0]["path"]


@case
def a_trailing_slash_changes_nothing_but_the_path(scratch):
    a, b = succeed("mini-full", *TEXT, **HERE), succeed("mini-full/", *TEXT, **HERE)
    assert a.out == b.out


main()
