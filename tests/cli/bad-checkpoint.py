#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A checkpoint that is missing, damaged, at odds with itself or unsupported: exit 3 and one sentence, before anything runs."""
import json
import os
import shutil
import struct

import h5py

from harness import *


def no(scratch, folder, *words, args=()):
    return refuse(scratch, 3, words, folder, *SHORT, *args)


def broken(scratch, change, source=MH, config=None, remove=()):
    """A copy of `source` whose tensors {name: (dtype, shape, bytes)} were changed."""
    folder = copy_checkpoint(source, scratch / "broken", config, remove)
    tensors = read_tensors(folder / "model.safetensors")
    change(tensors)
    write_tensors(folder / "model.safetensors", tensors)
    return folder


@case
def checkpoint_missing(scratch):
    no(scratch, scratch / "nowhere", "nowhere", "no such folder")


@case
def checkpoint_is_the_tensor_file(scratch):
    no(scratch, MH / "model.safetensors", "model.safetensors", "give the folder")


@case
def checkpoint_is_a_text_file(scratch):
    (scratch / "notes.txt").write_text("x")
    no(scratch, scratch / "notes.txt", "notes.txt")


@case
def folder_without_config(scratch):
    shutil.copytree(MH, scratch / "x")
    (scratch / "x" / "config.json").unlink()
    no(scratch, scratch / "x", "config.json")


@case
def folder_without_tensors(scratch):
    shutil.copytree(MH, scratch / "x")
    (scratch / "x" / "model.safetensors").unlink()
    no(scratch, scratch / "x", "model.safetensors")


@case
def second_of_two_checkpoints_missing(scratch):
    refuse(scratch, 3, ["nowhere"], MH, scratch / "nowhere", *SHORT)


@case
def in_info_and_sites_too(scratch):
    for option in ("--info", "--sites"):
        for more in ((), ("--json",)):
            refuse(scratch, 3, ["nowhere"], option, MH, scratch / "nowhere", *more, outputs=False)


# Special files in place of regular ones: refused, without waiting on them.

def special(scratch, name, kind):
    folder = scratch / "x"
    shutil.copytree(MH, folder)
    (folder / name).unlink()
    if kind == "fifo":
        os.mkfifo(folder / name)
    elif kind == "folder":
        (folder / name).mkdir()
    elif kind == "device":
        (folder / name).symlink_to("/dev/zero")
    elif kind == "loop":
        (folder / name).symlink_to(name)
    else:
        (folder / name).write_bytes(b"")
    words = [name, "is empty (0 bytes)"] if kind == "empty" else [name]
    refuse(scratch, 3, words, folder, *SHORT, timeout=10)


for name in ("config.json", "model.safetensors"):
    for kind in ("fifo", "folder", "device", "loop", "empty"):
        add(f"{name} is a {kind}", special, name, kind)


# config.json

def config_text(scratch, text):
    folder = copy_checkpoint(MH, scratch / "x")
    (folder / "config.json").write_bytes(text)
    no(scratch, folder, "config.json")


GOOD_CONFIG = (MH / "config.json").read_bytes()
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
for title, text in {
    "cut short": GOOD_CONFIG[:200],
    "not JSON": b"hidden_size = 64\n",
    "a list": b"[1, 2]",
    "not UTF-8": GOOD_CONFIG.replace(b"silu", b"s\xfflu"),
    "a key twice": GOOD_CONFIG.replace(b"{", b'{"hidden_size": 32,', 1),
    "nested too deep": b'{"a":' + b"[" * 100000 + b"]" * 100000 + b"}",
    "NaN in it": GOOD_CONFIG.replace(b"1e-06", b"NaN"),
}.items():
    add(f"config.json: {title}", config_text, text)


def config_value(scratch, key, value, *words):
    folder = copy_checkpoint(MH, scratch / "x", {key: value})
    no(scratch, folder, "config.json", *words)


# At odds with the tensors or out of range.
for key, value in {
    "hidden_size": 128, "num_hidden_layers": 5, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 8,
    "intermediate_size": 64, "vocab_size": 4095,
}.items():
    add(f"config at odds: {key}", config_value, key, value)
for key, values in {
    "hidden_size": [0, -64, 64.5, "64", [], 2**31, 2**62, True], "num_hidden_layers": [0, 10**9], "vocab_size": [0, -1, 2**40],
    "num_attention_heads": [0, 3], "num_key_value_heads": [0, 3], "head_dim": [0, 15], "intermediate_size": [0],
    "rms_norm_eps": [0, -1, "small"], "max_position_embeddings": [0], "attnres_num_heads": [0, "4"],
    "rope_parameters": [3, {"rope_type": "longrope", "factor": 4}, {"rope_theta": 0}],
}.items():
    for value in values:
        add(f"config out of range: {key} = {json.dumps(value)}", config_value, key, value, key.split("_")[0])

MODES = ["block_v", "delta_v", "delta_block_v", "delta_replace", "full_v", "full_split", "full_split_v", "full_additive", "first_layer",
         "pre_gated", "depth_attn", "no_such_mode"]
for mode in MODES:
    add(f"mode refused by name: {mode}", config_value, "attnres_mode", mode, f'"{mode}"', "not supported")
for mode, word in (("full_hw", "attn_res_proj"), ("delta_mh", "attn_null_source"), ("hyper_connection", "hc_alpha_attn")):
    add(f"mode whose tensors are not there: {mode}", config_value, "attnres_mode", mode, word, "layers.0")
for gate, word in (("learnable_alpha", "attn_res_alpha"), ("sigmoid_scalar", "attn_res_gate_logit"),
                   ("sigmoid_vector", "attn_res_gate_proj.weight")):
    add(f"gate whose tensors are not there: {gate}", config_value, "attnres_gate_type", gate, word, "missing")
for gate in ("none", ""):
    add(f"gate refused by name: {gate!r}", config_value, "attnres_gate_type", gate, "attnres_gate_type", gate)
for key, value, word in [
    ("model_type", "qwen3_moe", "qwen3_moe"),
    ("model_type", "gpt2", "gpt2"), ("model_type", 3, "model_type"), ("num_experts", 8, "num_experts"),
    ("hidden_act", "gelu", "gelu"), ("attention_bias", True, "q_proj.bias"), ("mlp_bias", True, "mlp_bias"),
    ("layer_types", ["sliding_attention"] * 4, "layer_types"), ("rope_scaling", {"type": "linear"}, "rope_scaling"),
    ("partial_rotary_factor", 0.5, "partial_rotary_factor"), ("attnres_mode", 7, "attnres_mode"),
]:
    add(f"config unsupported: {key} = {json.dumps(value)}", config_value, key, value, word)


@case
def routing_heads_in_config_that_do_not_divide(scratch):
    no(scratch, copy_checkpoint(MH, scratch / "x", {"attnres_num_heads": 3}), "config.json", "3 routing heads", "--heads")


@case
def untied_without_a_head_of_its_own_is_a_warning(scratch):
    folder = copy_checkpoint(MH, scratch / "x", {"tie_word_embeddings": False})
    warning = "lm_head.weight"
    assert warning in succeed(folder, *SHORT).err
    assert warning in report(folder, *SHORT)["checkpoints"][0]["warnings"][0]


@case
def a_head_of_its_own_wins_over_the_tie_flag(scratch):
    """Loss by the stored head, whatever the flag says; a warning that is stored too, unless the two are the same."""
    def change(tensors):
        dtype, shape, data = tensors["model.embed_tokens.weight"]
        tensors["lm_head.weight"] = (dtype, shape, data[2 * shape[1]:] + data[:2 * shape[1]])  # rows moved on by one

    def same(tensors):
        tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"]

    found = {}
    for name, edit, tied in (("none", lambda t: None, True), ("same", same, True), ("other", change, True), ("untied", change, False)):
        (scratch / name).mkdir()
        folder = broken(scratch / name, edit, config={"tie_word_embeddings": tied})
        found[name] = report(folder, *SHORT, "-o", scratch / name / "run.h5")["checkpoints"][0]
        warns = [w for w in found[name]["warnings"] if "tie_word_embeddings is true but a different lm_head.weight" in w]
        assert len(warns) == (name == "other") == len(found[name]["warnings"]), found[name]["warnings"]
        with h5py.File(scratch / name / "run.h5") as f:
            assert list(f["checkpoint_0"].attrs["warnings"]) == found[name]["warnings"]
    assert found["same"]["loss"] == found["none"]["loss"] != found["other"]["loss"] == found["untied"]["loss"]


@case
def routing_that_nothing_trained_is_a_warning(scratch):
    zero = lambda part: lambda t: t.update({n: (d, s, bytes(len(b))) for n, (d, s, b) in t.items() if part in n})
    gated = FIXTURES / "mini-full-gscalar"
    alphas = scratch / "alphas"
    alphas.mkdir()

    def learnable(t):
        for n in [n for n in t if n.endswith("_res_gate_logit")]:
            d, s, b = t.pop(n)
            t[n.replace("gate_logit", "alpha")] = (d, s, bytes(len(b)))

    for folder, words in ((broken(scratch, zero("_res_proj")), "every routing query is exactly zero"),
                          (broken(alphas, learnable, gated, {"attnres_gate_type": "learnable_alpha"}), "every gate is exactly zero")):
        result = succeed(folder, *SHORT, "-o", scratch / "run.h5")
        assert words in result.err, result
        with h5py.File(scratch / "run.h5") as f:
            assert any(words in w for w in f["checkpoint_0"].attrs["warnings"])
        assert words in succeed("--from", scratch / "run.h5").err


@case
def a_null_that_is_the_same_is_not_below(scratch):
    """Reads of queries of zeros are uniform, as are those of null queries of their norm: nothing to tell apart."""
    folder = broken(scratch, lambda t: t.update({n: (d, s, bytes(len(b))) for n, (d, s, b) in t.items() if "_res_proj" in n}))
    args = ["--kl", "--depth-maps", "--null-draws", "39"]
    table = succeed(folder, *SHORT, *args, "--report", scratch / "report").out
    assert "BELOW" not in table and table.count("NOT DISTINGUISHABLE") >= 2, table
    page = (scratch / "report" / "report.html").read_text()
    assert "below its null" not in page and "not distinguishable" in page


@case
def routing_tensors_that_the_mode_does_not_use(scratch):
    def change(t):
        t["model.layers.1.attn_null_source"] = ("BF16", [64], bytes(128))
        t["model.layers.2.mlp_res_alpha"] = ("BF16", [], bytes(2))
    folder = broken(scratch, change)
    assert any("leaves 2 stored routing tensors unused, such as" in w for w in report(folder, *SHORT)["checkpoints"][0]["warnings"])
    no(scratch, folder, "2 stored routing tensors", "--strict", args=["--strict"])


@case
def layers_that_the_config_does_not_have(scratch):
    folder = copy_checkpoint(MH, scratch / "fewer", {"num_hidden_layers": 2})
    [warning] = report(folder, *SHORT)["checkpoints"][0]["warnings"]
    stored = read_tensors(MH / "model.safetensors")
    unused = [n for n in stored if n.startswith("model.layers.") and int(n.split(".")[2]) >= 2]
    assert warning == f"the config has 2 layers and leaves {len(unused)} stored tensors of higher layers unused, such as {unused[0]}", warning
    no(scratch, folder, f"leaves {len(unused)} stored tensors of higher layers unused", "--strict", args=["--strict"])
    assert not report(MH, *SHORT, "--strict")["checkpoints"][0]["warnings"]


@case
def reads_of_a_dialect_that_is_not_run(scratch):
    """Kimi-K3's names on a body that would run: refused, not taken for a plain Transformer, and the queries can be looked at."""
    for pairs in ((("attn_res_", "self_attention_res_"), ("final_res_", "output_attn_res_")),
                  (("attn_res_proj.weight", "attn_res_score"), ("mlp_res_proj.weight", "ffn_res_score"),
                   ("final_res_proj.weight", "output_res_score"))):
        def change(t):
            for n in list(t):
                new = n
                for a, b in pairs:
                    new = new.replace(a, b)
                t[new] = t.pop(n)
            if len(pairs) > 2:
                for n in [n for n in t if "_res_norm" in n]:
                    del t[n]
        folder = broken(scratch, change, config={"model_type": "qwen3"}, remove=["attnres_mode"])
        no(scratch, folder, "of no dialect that is run", "--weights-only")
        succeed("--weights-only", folder)
        shutil.rmtree(folder)


@case
def config_without_a_needed_key(scratch):
    for i, key in enumerate(["hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size", "model_type",
                             "attnres_mode"]):
        no(scratch, copy_checkpoint(MH, scratch / str(i), remove=[key]), key)


@case
def escapes_in_config_do_not_reach_the_terminal(scratch):
    folder = copy_checkpoint(MH, scratch / "x", {"attnres_mode": "a\x1b[31mb\nc"})
    no(scratch, folder, "not supported")


@case
def routing_heads_given_that_do_not_divide(scratch):
    refuse(scratch, 2, ["--heads"], MH, *SHORT, "--heads", "5")


# Tensors

def one_tensor(scratch, what):
    """Every kind of tensor in turn: absent, of another shape, of another type."""
    names = ["model.embed_tokens.weight", "model.norm.weight", "model.final_res_proj.weight", "model.final_res_norm.weight"]
    names += ["model.layers.1." + n + ".weight" for n in (
        "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "self_attn.q_norm", "self_attn.k_norm",
        "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj", "input_layernorm", "post_attention_layernorm", "attn_res_proj",
        "attn_res_norm", "mlp_res_proj", "mlp_res_norm")]
    for i, name in enumerate(names):
        place = scratch / str(i)
        place.mkdir()

        def change(tensors):
            dtype, shape, data = tensors[name]
            if what == "absent":
                del tensors[name]
            elif what == "longer":
                tensors[name] = (dtype, [shape[0] + 1, *shape[1:]], data + data[: len(data) // shape[0]])
            elif what == "flat":
                tensors[name] = (dtype, [1, 1, *shape], data)  # [1, n] and [n] are the same to it
            else:
                tensors[name] = (what, shape, data)

        folder = broken(place, change)
        result = no(place, folder, "layer 1" if what == "absent" and name.endswith(("q_norm.weight", "k_norm.weight")) else name)
        assert what in ("absent", "longer", "flat") or what in result.err, str(result)
        shutil.rmtree(place)


for what in ("absent", "longer", "flat", "I16", "U16"):
    add(f"tensors: {what}", one_tensor, what)


@case
def last_layer_absent(scratch):
    def change(tensors):
        for name in [n for n in tensors if n.startswith("model.layers.3.")]:
            del tensors[name]
    no(scratch, broken(scratch, change), "layers.3")


# The safetensors file itself

GOOD = (MH / "model.safetensors").read_bytes()
SIZE = struct.unpack("<Q", GOOD[:8])[0]


def raw(scratch, data):
    folder = copy_checkpoint(MH, scratch / "x")
    (folder / "model.safetensors").write_bytes(data)
    no(scratch, folder, "model.safetensors")
    shutil.rmtree(folder)


@case
def cut_at_many_lengths(scratch):
    for n in [1, 4, 7, 8, 9, 100, SIZE - 1, SIZE, 8 + SIZE - 1, 8 + SIZE, 8 + SIZE + 1, len(GOOD) // 2, len(GOOD) - 2,
              len(GOOD) - 1]:
        raw(scratch, GOOD[:n])


@case
def longer_than_it_says(scratch):
    raw(scratch, GOOD + b"\0")


@case
def header_length_lies(scratch):
    for n in (0, 1, SIZE - 8, SIZE + 8, 2**31, 2**63 - 8, 2**63, 2**64 - 1):
        raw(scratch, struct.pack("<Q", n) + GOOD[8:])


@case
def not_safetensors_at_all(scratch):
    for data in (b"PK\x03\x04" + bytes(3000), b"\x93NUMPY" + bytes(3000), bytes(5000), os.urandom(5000),
                 b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"):
        raw(scratch, data)


@case
def git_lfs_pointers_are_said_to_be_some(scratch):
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        folder = scratch / name
        shutil.copytree(DEMO / "mhar", folder)
        (folder / name).write_bytes(LFS)
        refuse(scratch, 3, [folder / name, "is a git-lfs pointer", "git lfs pull"], folder, "--prompt", "some words of text")
    folder = sharded(scratch / "shards")
    for name in (SECOND, "model.safetensors.index.json"):
        kept = (folder / name).read_bytes()
        (folder / name).write_bytes(LFS)
        no(scratch, folder, folder / name, "is a git-lfs pointer")
        (folder / name).write_bytes(kept)
    for name in ("ref.safetensors", "step.pt"):
        (scratch / name).write_bytes(LFS)
    check_refusal(probe("--verify", scratch / "ref.safetensors", MH), 3, "ref.safetensors", "is a git-lfs pointer")
    refuse(scratch, 3, ["step.pt", "is a git-lfs pointer"], scratch / "step.pt", "--config", MH / "config.json", *SHORT)


@case
def header_lies_about_a_tensor(scratch):
    header = json.loads(GOOD[8 : 8 + SIZE])
    data, name = GOOD[8 + SIZE :], "model.layers.2.mlp.up_proj.weight"
    entry = header[name]
    begin, end = entry["data_offsets"]
    for lie in ({"data_offsets": [begin, end + 2]}, {"data_offsets": [end, begin]}, {"data_offsets": [begin - 2, end - 2]},
                {"data_offsets": [-2, end]}, {"data_offsets": [2**63, 2**63]}, {"data_offsets": [begin]}, {"data_offsets": "x"},
                {"shape": [-128, -64]}, {"shape": [2**62, 2**62]}, {"shape": [2**64, 1]}, {"shape": [129, 64]}, {"shape": "x"}, {"shape": [1] * 40},
                {"dtype": "F33"}, {"dtype": 3}, {"dtype": "F32"}):
        folder = copy_checkpoint(MH, scratch / "x")
        write_raw(folder / "model.safetensors", {**header, name: {**entry, **lie}}, data)
        beyond_json = any(n >= 2**63 for v in lie.values() if isinstance(v, list) for n in v)  # the line is named, not the tensor
        no(scratch, folder, "model.safetensors", "line 1" if beyond_json else name)
        shutil.rmtree(folder)


# Sharded files

def sharded(folder, change=None):
    """MH in two shards with an index, which change (index, folder) may damage."""
    copy_checkpoint(MH, folder)
    tensors = read_tensors(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = list(tensors)
    parts = {"model-00001-of-00002.safetensors": names[:30], "model-00002-of-00002.safetensors": names[30:]}
    for part, held in parts.items():
        write_tensors(folder / part, {n: tensors[n] for n in held})
    index = {"metadata": {}, "weight_map": {n: part for part, held in parts.items() for n in held}}
    if change:
        change(index, folder)
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder


@case
def two_good_shards_are_the_same_as_one_file(scratch):
    whole, parts = report(MH, *SHORT), report(sharded(scratch / "x"), *SHORT)
    for a in (whole, parts):
        a["checkpoints"][0].pop("path")
        a.pop("command")
    assert whole == parts


def bad_shards(scratch, change, word):
    no(scratch, sharded(scratch / "x", change), word)


FIRST, SECOND = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
for title, change, word in [
    ("a shard absent", lambda i, f: (f / SECOND).unlink(), SECOND),
    ("a shard empty", lambda i, f: (f / SECOND).write_bytes(b""), SECOND),
    ("a shard cut", lambda i, f: (f / SECOND).write_bytes((f / SECOND).read_bytes()[:-100]), SECOND),
    ("a shard is a fifo", lambda i, f: ((f / SECOND).unlink(), os.mkfifo(f / SECOND)), SECOND),
    ("a tensor in two shards", lambda i, f: shutil.copy(f / FIRST, f / SECOND), "two shards"),
    ("shard outside the folder", lambda i, f: i["weight_map"].update(x="../model.safetensors"), "../model.safetensors"),
    ("shard name absolute", lambda i, f: i["weight_map"].update(x="/etc/passwd"), "/etc/passwd"),
    ("shard name not text", lambda i, f: i["weight_map"].update(x=7), "index.json"),
    ("a tensor the shard lacks", lambda i, f: i["weight_map"].update({"model.more.weight": FIRST}), "model.more.weight"),
    ("no weight map", lambda i, f: i.pop("weight_map"), "weight_map"),
    ("weight map a list", lambda i, f: i.update(weight_map=[1]), "weight_map"),
    ("weight map empty", lambda i, f: i.update(weight_map={}), "index.json"),
]:
    add(f"index: {title}", bad_shards, change, word)

main()
