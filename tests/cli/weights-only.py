#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""--weights-only: what is printed, what a model needs for it and what not, and what is refused. The numbers are those of
tests/numeric/test_weights.py."""
import h5py

import torchfile
from harness import *


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


QUERY = "model.layers.0.attn_res_proj.weight"
GOOD = {QUERY: ("F32", [1, 4], floats(1, 2, 3, 4)), "model.layers.0.attn_res_norm.weight": ("F32", [4], floats(1, 1, 1, 2)),
        "model.layers.0.mlp_res_proj.weight": ("F32", [1, 4], floats(4, 3, 2, 1)),
        "model.layers.0.mlp_res_norm.weight": ("F32", [4], floats(1, 1, 1, 1))}


def folder_of(scratch, tensors, config="{}"):
    (scratch / "x").mkdir(exist_ok=True)
    write_tensors(scratch / "x" / "model.safetensors", tensors)
    if config is not None:
        (scratch / "x" / "config.json").write_text(config)
    return scratch / "x"


def examine(*args):
    return json.loads(succeed("--weights-only", *args, "--json", "-q").out)["checkpoints"]


@case
def by_hand(scratch):
    one = examine(folder_of(scratch, GOOD), "--slices", "2")[0]
    first, second = one["per_site"]
    assert [first["label"], second["label"], first["site"], second["site"]] == ["L0.attn", "L0.mlp", 0, 1]
    near = lambda a, b: abs(a - b) < 1e-6 * max(1, abs(b))
    assert near(first["query_norm"], 30**0.5) and near(first["scored_norm"], (1 + 4 + 9 + 64) ** 0.5)
    assert near(first["query_cosine"][1], (4 + 6 + 6 + 8) / 78**0.5 / 30**0.5)
    assert near(first["slice_norm"][1], 73**0.5) and near(first["slice_cosine"][0][1], (3 + 16) / 5**0.5 / 73**0.5)
    assert near(second["slice_site_cosine"][1][0], (6 + 8) / 73**0.5 / 5**0.5)
    assert near(one["query_cosine"]["mean"], first["query_cosine"][1])


@case
def no_config_and_no_body_are_needed(scratch):
    assert examine(folder_of(scratch, GOOD, None), "--slices", "2")[0]["mode"] == "unknown"


@case
def a_foreign_config_is_not_looked_into(scratch):
    config = '{"model_type": "kimi_k3", "num_experts": 384, "rope_scaling": {"type": "new"}, "hidden_size": "?"}'
    assert examine(folder_of(scratch, GOOD, config), "--slices", "2")[0]["model_type"] == "kimi_k3"


@case
def every_fixture(scratch):
    for folder in (MH, FULL, DEMO / "mhar", DEMO / "single"):
        one, info = examine(folder)[0], json.loads(succeed("--info", "--json", folder).out)[0]
        for key in ("mode", "layers", "width", "heads", "sites"):
            assert one[key] == info[key], (folder, key)
    refuse(scratch, 3, ["no routing query", "--map"], "--weights-only", LLAMA, outputs=False)


@case
def several_make_one_table(scratch):
    out = succeed("--weights-only", DEMO / "single", DEMO / "mhar").out
    assert "norm of q ⊙ g" in out and out.count("L5.mlp") > 2 and "n/a" not in out and "loss" not in out
    for style in ("markdown", "csv", "latex"):
        assert "cosine" in succeed("--weights-only", DEMO / "single", DEMO / "mhar", "--table", style).out


@case
def a_file_prints_the_same_again(scratch):
    out = scratch / "w.h5"
    for style in ([], ["--json"], ["--table", "markdown"]):
        first = succeed("--weights-only", DEMO / "single", DEMO / "mhar", "-o", out, *style)
        again = succeed("--from", out, *style)
        assert again.out == first.out, style
    refuse(scratch, 3, ["figure"], "--from", out, "--figure", scratch / "x.png", outputs=False)


@case
def an_archive(scratch):
    torchfile.save(scratch / "step.pt", {"model": {"module." + k: v for k, v in GOOD.items()}, "step": 2})
    assert examine(scratch / "step.pt", "--slices", "2")[0]["per_site"] == examine(folder_of(scratch, GOOD), "--slices",
                                                                                    "2")[0]["per_site"]


@case
def only_shards_with_queries_are_opened(scratch):
    folder = scratch / "x"
    folder.mkdir()
    write_tensors(folder / "a.safetensors", GOOD)
    (folder / "b.safetensors").write_bytes(b"not even opened")
    where = {**{k: "a.safetensors" for k in GOOD}, "model.body.weight": "b.safetensors", "model.more": "absent.safetensors"}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": where}))
    assert len(examine(folder, "--slices", "2")[0]["per_site"]) == 2
    (folder / "a.safetensors").unlink()
    refuse(scratch, 3, ["a.safetensors", "fetch that file"], "--weights-only", folder, outputs=False)


@case
def warnings_are_said(scratch):
    zero = {k: (d, s, bytes(len(b)) if "proj" in k else b) for k, (d, s, b) in GOOD.items()}
    assert "exactly zero" in succeed("--weights-only", folder_of(scratch, zero), "--slices", "2").err
    bare = {k: v for k, v in GOOD.items() if k != "model.layers.0.mlp_res_norm.weight"}
    one = probe("--weights-only", folder_of(scratch, bare), "--slices", "2", "--json")
    assert "1 query has no key gain" in one.err and "taken for 1" in json.loads(one.out)["checkpoints"][0]["warnings"][0]
    mh = '{"attnres_mode": "full_mh"}'
    wide = {QUERY: ("F32", [1, 16], floats(*range(16)))}
    assert "8 routing heads are assumed" in succeed("--weights-only", folder_of(scratch, wide, mh)).err


# What is refused: (title, tensors, options, words).
def changed(**tensors):
    return {**GOOD, **{k.replace("__", "."): v for k, v in tensors.items()}}


for title, tensors, options, words in [
    ("no query", {"model.norm.weight": ("F32", [4], floats(1, 1, 1, 1))}, [], ("no routing query", "--map")),
    ("a gain alone", {k: v for k, v in GOOD.items() if k != QUERY}, [], ("attn_res_norm", "key gain whose query is not there")),
    ("other widths", {**GOOD, "model.final_res_proj.weight": ("F32", [1, 5], floats(1, 2, 3, 4, 5))}, [],
     ("final_res_proj", "width 5", "have 4")),
    ("whole numbers", {QUERY: ("I32", [1, 4], bytes(16))}, [], (QUERY, "stored as I32")),
    ("a scalar", {QUERY: ("F32", [], floats(1))}, [], (QUERY, "has not the shape")),
    ("three dimensions", {QUERY: ("F32", [1, 2, 2], floats(1, 2, 3, 4))}, [], (QUERY, "has not the shape")),
    ("no elements", {QUERY: ("F32", [1, 0], b"")}, [], (QUERY, "has not the shape")),
    ("too many rows", {QUERY: ("F32", [2000, 1], bytes(8000))}, [], (QUERY, "has not the shape")),
    ("two of one site", {**GOOD, "other.layers.0.attn_res_proj.weight": GOOD[QUERY]}, [],
     ("attn_res_proj", "are both the same read's")),
    ("slices that do not divide", GOOD, ["--slices", "3"], ("3 slices do not divide a width of 4",)),
    ("heads that do not divide", GOOD, ["--heads", "3"], ("3 routing heads do not divide a width of 4", "--heads")),
    ("a config that is no JSON", (GOOD, "{"), [], ("config.json", "not valid JSON")),
    ("a config that is a list", (GOOD, "[]"), [], ("config.json", "not an object")),
]:
    def refused(scratch, tensors, options, words):
        tensors, config = tensors if isinstance(tensors, tuple) else (tensors, "{}")
        refuse(scratch, 2 if options else 3, words, "--weights-only", folder_of(scratch, tensors, config), *options, outputs=False)
    add(f"refused: {title}", refused, tensors, options, words)


@case
def options_that_do_not_go_with_it(scratch):
    for words, said in [(["--text", IDS], "takes no input"), (["--figure", "x.pdf"], "--figure draws a run"),
                        (["--info"], "separate jobs"), (["--from", "x.h5"], "separate jobs"), (["--save-weights"], "-o")]:
        refuse(scratch, 2, said, "--weights-only", DEMO / "single", *words, outputs=False)
    refuse(scratch, 2, "no checkpoint", "--weights-only", outputs=False)


# Saved files are not trusted.
for title, change, word in [
    ("a field gone", lambda g: g.__delitem__("slice_cosine"), "slice_cosine"),
    ("a field of doubles", lambda g: (g.__delitem__("query_norm"), g.create_dataset("query_norm", data=[0.0] * 13)), "query_norm"),
    ("a matrix that is not square", lambda g: (g.__delitem__("query_cosine"),
                                               g.create_dataset("query_cosine", (13, 12), "f4")), "query_cosine"),
    ("a field too short", lambda g: (g.__delitem__("scored_norm"), g.create_dataset("scored_norm", (3,), "f4")), "scored_norm"),
    ("labels gone", lambda g: g.__delitem__("site_label"), "site"),
]:
    def damaged(scratch, change, word):
        succeed("--weights-only", DEMO / "single", "-o", scratch / "w.h5", "-q")
        with h5py.File(scratch / "w.h5", "r+") as f:
            change(f["checkpoint_0"])
        refuse(scratch, 3, ["w.h5", word], "--from", scratch / "w.h5", outputs=False)
    add(f"damaged file: {title}", damaged, change, word)


@case
def inputs_are_not_overwritten(scratch):
    copy_checkpoint(MH, scratch / "m")
    tensors = scratch / "m" / "model.safetensors"
    before = tensors.read_bytes()
    check_refusal(probe("--weights-only", scratch / "m", "-o", tensors), 2, "model.safetensors", "overwritten")
    assert tensors.read_bytes() == before
    succeed(MH, "--tokens", IDS, "--max-tokens", "64", "--context", "32", "-q", "-o", scratch / "run.h5")
    (scratch / "link.pdf").symlink_to("run.h5")
    before = (scratch / "run.h5").read_bytes()
    check_refusal(probe("--from", scratch / "run.h5", "--figure", scratch / "link.pdf"), 2, "link.pdf", "overwritten")
    assert (scratch / "run.h5").read_bytes() == before


main()
