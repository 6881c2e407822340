#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""--map: a dialect described by the user. The two examples of data/name-map.md, what is printed of a map, and what is refused.
The numbers are those of tests/numeric/test_map.py."""
import re

import h5py

from harness import *

PAGE = TESTS.parent / "data" / "name-map.md"
BODY = "model.layers.{i}.mlp.up_proj.weight"


def own(**changes):
    """The map of MHAR's mode full_mh, changed; a None takes a key away."""
    keys = lambda at: {"query": f"model.{at}_proj.weight", "norm": f"model.{at}_norm.weight"}
    values = {"name": "by map", "attn": keys("layers.{i}.attn_res"), "mlp": keys("layers.{i}.mlp_res"), "final": keys("final_res"),
              "heads": 4, **changes}
    return {k: v for k, v in values.items() if v is not None}


def write_map(scratch, values):
    (scratch / "map.json").write_text(values if isinstance(values, str) else json.dumps(values))
    return scratch / "map.json"


def heads_of(folder):
    return json.loads(succeed("--info", "--json", folder).out)[0]["heads"]


@case
def the_same_numbers_as_without(scratch):
    a_map = write_map(scratch, own(heads=heads_of(MH)))
    answers = [report(MH, *SHORT), report(MH, "--map", a_map, *SHORT)]
    for answer in answers:
        answer.pop("command")
        for key in ("dialect", "mode"):
            answer["checkpoints"][0].pop(key)
    assert answers[0] == answers[1]


@case
def sites_and_info(scratch):
    a_map = write_map(scratch, own(heads=heads_of(MH), blocks="layers:1"))
    sites = json.loads(succeed("--sites", "--json", MH, "--map", a_map).out)[0]
    assert sites["dialect"] == "by map" and sites["mode"] == "replace, blocks of 2 sublayers"
    # layer 1 begins a block: its attention reads the block of layer 0 as the running sum still, its MLP starts anew
    assert [s["sources"] for s in sites["sites"][:4]] == [["embed"], ["embed", "L0.attn"], ["embed", "block 1"],
                                                         ["embed", "block 1", "L1.attn"]]
    assert sites["sites"][-1]["label"] == "final"
    assert "by map" in succeed("--info", MH, "--map", a_map).out


@case
def an_eps_of_its_own(scratch):
    config = json.loads((MH / "config.json").read_text())["rms_norm_eps"]
    answers = []
    for eps in (None, config, 0.05):
        a_map = write_map(scratch, own(heads=heads_of(MH), eps=eps))
        (sites,) = json.loads(succeed("--sites", "--json", MH, "--map", a_map).out)
        assert sites.get("eps") == eps
        assert (f"sources normed with eps {eps:g}" in succeed("--sites", MH, "--map", a_map).out) if eps else True
        answers.append(report(MH, "--map", a_map, *SHORT)["checkpoints"][0])
    assert answers[0] == answers[1] and answers[0]["loss"] != answers[2]["loss"]
    succeed(MH, "--map", a_map, *SHORT, "-o", scratch / "run.h5")
    with h5py.File(scratch / "run.h5") as f:
        assert f["checkpoint_0"].attrs["routing_eps"] == 0.05 and f["checkpoint_0"].attrs["rms_norm_eps"] == config


@case
def heads_from_the_command_line(scratch):
    a_map = write_map(scratch, own(heads=3))
    refuse(scratch, 3, ["map.json", "3 routing heads do not divide"], MH, "--map", a_map, *SHORT)
    assert json.loads(succeed("--info", "--json", MH, "--map", a_map, "--heads", "2").out)[0]["heads"] == 2


@case
def weights_only_goes_by_the_map(scratch):
    folder = scratch / "x"
    folder.mkdir()
    write_tensors(folder / "model.safetensors", {f"depth.{i}.{k}": ("F32", [4], struct.pack("<4f", 1, 2, 3, i + n))
                                                 for i in range(3) for n, k in enumerate(("a", "m"))})
    a_map = write_map(scratch, {"attn": {"product": "depth.{i}.a"}, "mlp": {"product": "depth.{i}.m"}})
    one = json.loads(succeed("--weights-only", folder, "--map", a_map, "--json", "--slices", "2").out)["checkpoints"][0]
    assert [s["label"] for s in one["per_site"]] == [f"L{i}.{k}" for i in range(3) for k in ("attn", "mlp")]
    assert one["dialect"] == "name map" and one["per_site"][0]["query_norm"] is None


# The examples of the page, on checkpoints made to fit: they open, and give the sources that the page says.

def examples():
    return [json.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE.read_text(), re.S)]


def fitted(scratch, a_map, renames=()):
    """A checkpoint of the fixture's tensors under the names of the map."""
    folder = copy_checkpoint(MH, scratch / "fitted", {"model_type": "qwen3"},
                             [k for k in json.loads((MH / "config.json").read_text()) if k.startswith("attnres")])
    tensors = {}
    for name, value in read_tensors(MH / "model.safetensors").items():
        layer = re.match(r"model\.layers\.(\d+)\.", name)
        pattern = re.sub(r"^model\.layers\.\d+\.", "model.layers.{i}.", name)
        theirs = a_map.get("body", {}).get(pattern)
        for kind in ("attn", "mlp", "final"):
            keys, at = a_map.get(kind, {}), ("model." if kind == "final" else "model.layers.{i}.") + kind
            if pattern == at + "_res_proj.weight":
                theirs = keys.get("query") or keys.get("product")
            if pattern == at + "_res_norm.weight":
                theirs = keys.get("norm")
            if theirs is None and "_res_" in name and kind in name:
                break
        if theirs is None and "_res_" in name:
            continue
        tensors[(theirs or name).replace("{i}", layer.group(1) if layer else "")] = value
    write_tensors(folder / "model.safetensors", tensors)
    return folder


@case
def the_examples_of_the_page_work(scratch):
    assert len(examples()) == 2
    page = PAGE.read_text()
    for n, a_map in enumerate(examples()):
        place = scratch / str(n)
        place.mkdir()
        layers = json.loads((MH / "config.json").read_text())["num_hidden_layers"]
        if "bias" in a_map["attn"]:
            bias = {a_map[k]["bias"].replace("{i}", str(i)): ("F32", [], struct.pack("<f", 0.5))
                    for k in ("attn", "mlp") for i in range(layers)}
        else:
            bias = {}
        folder = fitted(place, a_map)
        write_tensors(folder / "model.safetensors", {**read_tensors(folder / "model.safetensors"), **bias})
        found = write_map(place, a_map)
        sites = json.loads(succeed("--sites", "--json", folder, "--map", found).out)[0]
        assert sites["dialect"] == a_map["name"] and sites["mode"] in page, sites["mode"]
        report(folder, "--map", found, *SHORT)


# What is refused, with a checkpoint that is good.
for title, values, words in [
    ("no JSON", "{", ["map.json", "not valid JSON"]),
    ("an unknown key", own(gate="x"), ["map.json", "'gate' is not a key of a name map"]),
    ("a query absent", own(attn={"query": "model.layers.{i}.q"}), ["model.layers.1.q", "missing"]),
    ("a gain absent", own(mlp={"query": "model.layers.{i}.mlp_res_proj.weight", "norm": "g.{i}"}), ["g.0", "missing"]),
    ("a gain for a query", own(attn={"query": "model.layers.{i}.input_layernorm.weight", "norm": BODY}), ["up_proj", "shape"]),
    ("a final route with add", own(read="add"), ["map.json", "final route goes with read replace only"]),
    ("a body's tensor absent", own(body={BODY: "up.{i}"}), ["map.json", "'up.0'", "does not hold"]),
    ("a body's tensor twice", own(body={BODY: "model.layers.{i}.mlp.gate_proj.weight"}), ["map.json", "holds another tensor"]),
    ("heads that do not divide", own(heads=7), ["map.json", "7 routing heads do not divide"]),
]:
    add(f"refused: {title}", lambda scratch, values, words: refuse(scratch, 3, words, MH, "--map", write_map(scratch, values),
                                                                   *SHORT), values, words)


@case
def other_files_as_a_map(scratch):
    refuse(scratch, 3, ["nowhere.json", "no such file"], MH, "--map", scratch / "nowhere.json", *SHORT)
    os.mkfifo(scratch / "fifo")
    refuse(scratch, 3, ["fifo", "regular file"], MH, "--map", scratch / "fifo", *SHORT)
    refuse(scratch, 3, ["/dev/zero", "regular file"], MH, "--map", "/dev/zero", *SHORT)
    refuse(scratch, 2, ["--map"], "--devices", "--map", "x", outputs=False)


main()
