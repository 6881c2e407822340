#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The body as a config sets it, against transformers: every checkpoint of tests/fixtures/hf has the logits stored with it, and has
not once the option it is there for is taken away; what cannot be run is refused by name."""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))
from harness import *

HF = FIXTURES / "hf"
TOLERANCE = 1e-5
CPU = ["--device", "cpu"]


def error_of(result):
    return float(re.search(r"^logits +relative norm error (\S+),", result.out, re.M).group(1))


def agrees(scratch, folder, *args):
    result = succeed(folder, "--verify", HF / folder.name / "reference.safetensors", "--tolerance", str(TOLERANCE), *CPU, *args)
    assert result.err == "", str(result)
    print(f"# relative norm error of the logits: {error_of(result) / TOLERANCE:.1%} of the allowance")


for path in sorted(HF.glob("*/config.json")):
    add(f"agrees with transformers: {path.parent.name}", agrees, path.parent)
    add(f"agrees in the plain path too: {path.parent.name}", agrees, path.parent, "--routing", "plain")


# What the fixture is there for, changed: other logits by far, so that each agreement above says something.

def differs(scratch, name, config, remove=()):
    folder = copy_checkpoint(HF / name, scratch / name, config, remove)
    result = probe(folder, "--verify", HF / name / "reference.safetensors", *CPU)
    assert result.code == 1, str(result)
    print(f"# relative norm error of the logits: {error_of(result):.2g}")
    assert error_of(result) > 100 * TOLERANCE, str(result)


def scaled(name, change):
    """The fixture's rotary parameters with some changed, None taking one away."""
    config = json.loads((HF / name / "config.json").read_text())
    key = "rope_parameters" if "rope_parameters" in config else "rope_scaling"
    return {key: {k: v for k, v in {**config[key], **change}.items() if v is not None}}


for name, config in [
    ("llama-linear", {"rope_scaling": None}), ("llama-dynamic", {"max_position_embeddings": 17}),
    ("llama-dynamic", {"max_position_embeddings": 40}), ("llama-yarn", {"rope_scaling": None}),
    ("llama-llama3", {"rope_theta": 550}), ("llama-numbers", {"rms_norm_eps": 1e-6}), ("llama-numbers", {"rope_theta": 320}),
    ("llama-defaults", {"rms_norm_eps": 1e-2}), ("llama-defaults", {"rope_theta": 9000}),
    ("qwen3-windows", {"sliding_window": 8}), ("qwen3-windows", {"max_window_layers": 0}),
    ("qwen3-windows", {"use_sliding_window": False}), ("qwen3-layer-types", {"sliding_window": 6}),
    ("qwen3-layer-types", {"layer_types": ["full_attention", "sliding_attention", "sliding_attention"]}),
]:
    add(f"differs: {name} with {json.dumps(config)}", differs, name, config)
for name, change in [
    ("llama-linear", {"factor": 4.1}), ("llama-yarn", {"beta_slow": 0.5}), ("llama-yarn", {"attention_factor": 1.0}),
    ("llama-yarn", {"original_max_position_embeddings": 32}), ("llama-llama3", {"low_freq_factor": 0.5}),
    ("llama-llama3", {"high_freq_factor": 3.0}), ("qwen3-yarn-mscale", {"truncate": True}),
    ("qwen3-yarn-mscale", {"mscale": None}), ("qwen3-yarn-mscale", {"mscale_all_dim": 0}),
    ("qwen3-yarn-mscale", {"beta_fast": 2}), ("qwen3-yarn-attention", {"attention_factor": None}),
    ("qwen3-dynamic", {"factor": 5.0}), ("qwen3-llama3", {"factor": 7.0}),
    ("qwen3-llama3", {"original_max_position_embeddings": 25}),
    ("qwen3-nested", {"sliding_attention": {"rope_theta": 51.0}}), ("qwen3-nested", {"full_attention": {"rope_theta": 1e4}}),
]:
    add(f"differs: {name} with a rope of {json.dumps(change)}", differs, name, scaled(name, change))


@case
def biases_that_the_config_does_not_ask_for(scratch):
    """As transformers does: not used. But it is said."""
    for name, key, word in [("qwen3-biases", "attention_bias", "attention"), ("llama-biases", "mlp_bias", "MLP")]:
        folder = copy_checkpoint(HF / name, scratch / name, {key: False})
        result = probe(folder, "--verify", HF / name / "reference.safetensors", *CPU)
        assert result.code == 1 and error_of(result) > 0.01, str(result)
        info = succeed(folder, "--info")
        assert f"warning      {key} is not set but biases of the {word} are stored" in info.out, str(info)


@case
def biases_where_each_group_reads_for_itself(scratch):
    """full_hw whose groups all have the query of `full` is `full`: with biases too, though the projection goes by groups."""
    tensors = read_tensors(FULL / "model.safetensors")
    config = json.loads((FULL / "config.json").read_text())
    groups, width = config["num_key_value_heads"], config["head_dim"]
    for l in range(config["num_hidden_layers"]):
        for name, n in (("q", config["num_attention_heads"] * width), ("k", groups * width), ("v", groups * width),
                        ("o", config["hidden_size"])):
            values = [((i * 37 + 11 * l) % 64 - 32) / 64 for i in range(n)]
            tensors[f"model.layers.{l}.self_attn.{name}_proj.bias"] = ("F32", [n], struct.pack(f"<{n}f", *values))
    losses = []
    for mode in ("full", "full_hw", "unbiased"):
        change = {"attention_bias": mode != "unbiased", "attnres_mode": mode.replace("unbiased", "full"), "attnres_num_heads": 1}
        folder = copy_checkpoint(FULL, scratch / mode, change)
        if mode == "full_hw":
            for l in range(config["num_hidden_layers"]):
                key = f"model.layers.{l}.attn_res_proj.weight"
                dtype, shape, data = tensors[key]
                tensors[key] = (dtype, [groups, shape[1]], data * groups)
        write_tensors(folder / "model.safetensors", tensors if mode != "unbiased" else read_tensors(FULL / "model.safetensors"))
        losses.append(report(folder, *SHORT)["checkpoints"][0]["loss"])
    assert abs(losses[0] - losses[1]) < 1e-6 and abs(losses[0] - losses[2]) > 1e-3, losses


@case
def a_dynamic_rope_goes_by_the_length_of_each_window(scratch):
    """Windows of 40 and then of 12 tokens, of which only the first is beyond the 16 that the model was trained on."""
    plain = copy_checkpoint(HF / "llama-dynamic", scratch / "plain", {"rope_scaling": None})
    ids = [7 * i % 128 for i in range(52)]

    def loss(folder, part):
        path = scratch / "ids.u16"
        path.write_bytes(struct.pack(f"<{len(part)}H", *part))
        run = report(folder, "--tokens", path, "--context", "40", "--collinearity", *CPU)
        return run["checkpoints"][0]["loss"]
    both, first, last = (loss(HF / "llama-dynamic", part) for part in (ids, ids[:40], ids[40:]))
    print(f"# error of the loss: {abs(both - (39 * first + 11 * last) / 50) / 1e-6:.1%} of the allowance")
    assert abs(both - (39 * first + 11 * last) / 50) < 1e-6, (both, first, last)
    assert abs(loss(plain, ids[40:]) - last) < 1e-6
    assert abs(loss(plain, ids[:40]) - first) > 1e-3


# Refusals

def refuses(scratch, name, config, *words):
    folder = copy_checkpoint(HF / name, scratch / name, config)
    refuse(scratch, 3, ["config.json", *words], folder, "--info", outputs=False)


for config, words in [
    ({"partial_rotary_factor": 0.5}, ["partial_rotary_factor", "0.5"]),
    ({"rope_scaling": {"rope_type": "longrope", "factor": 2.0}}, ["rope_scaling.rope_type", "longrope"]),
    ({"hidden_act": "gelu"}, ["hidden_act", "gelu"]),
    ({"num_experts": 8}, ["num_experts", "mixture of experts"]), ({"num_local_experts": 8}, ["num_local_experts"]),
    ({"kv_lora_rank": 512}, ["kv_lora_rank", "latent attention"]), ({"q_lora_rank": 64}, ["q_lora_rank"]),
    ({"model_type": "deepseek_v3"}, ["model_type", "deepseek_v3"]), ({"model_type": "qwen3_moe"}, ["model_type", "qwen3_moe"]),
    ({"layer_types": ["full_attention", "linear_attention"]}, ["layer_types[1]", "linear_attention"]),
    ({"mlp_bias": True}, ["mlp_bias", "Llama"]),
]:
    add(f"refused by name: {json.dumps(config)}", refuses, "qwen3-windows", config, *words, "not supported", "--weights-only")
for config, words in [
    ({"layer_types": ["full_attention", "sliding_attention"], "use_sliding_window": False}, ["layer_types", "use_sliding_window"]),
    ({"layer_types": ["full_attention", "full_attention", "sliding_attention"]}, ["layer_types", "3 entries"]),
    ({"rope_scaling": {"rope_type": "llama3", "factor": 8.0}}, ["rope_scaling.low_freq_factor", "missing"]),
    ({"rope_scaling": {"rope_type": "linear", "factor": -1.0}}, ["rope_scaling.factor", "-1"]),
    ({"rope_parameters": {"rope_type": "default", "rope_theta": 5.0}}, ["rope_theta", "10000", "rope_parameters.rope_theta"]),
]:
    add(f"refused with a reason: {json.dumps(config)}", refuses, "qwen3-windows", config, *words)
add("refused by name: windows in a Llama body", refuses, "llama-linear",
    {"use_sliding_window": True, "sliding_window": 4, "max_window_layers": 0}, "sliding", "Llama", "--weights-only")


@case
def biases_that_are_not_there(scratch):
    for name, key, tensor in [("llama-linear", "attention_bias", "self_attn.q_proj.bias"),
                              ("llama-linear", "mlp_bias", "mlp.gate_proj.bias")]:
        folder = copy_checkpoint(HF / name, scratch / key, {key: True})
        refuse(scratch, 3, [f"model.layers.0.{tensor}"], folder, "--info", outputs=False)


main()
