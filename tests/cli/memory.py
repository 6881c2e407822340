#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A run on the CPU keeps the weights in the mapped file: its anonymous memory is a small part of the checkpoint, and does not grow
with the number of layers. Sparse checkpoints of about 120 MB; tests/bench/anonymous-memory.py does the same at full size."""
import importlib.util

import torchfile
from harness import *

_spec = importlib.util.spec_from_file_location("anonymous_memory", TESTS / "bench" / "anonymous-memory.py")
memory = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(memory)

OPTIONS = ["--max-tokens", "32", "--context", "32", "--device", "cpu"]  # the CUDA libraries bring memory of their own
MB = 1 << 20


def run(folder, *options):
    found = memory.measure(PROBE, str(folder), [*OPTIONS, *options], environment())
    assert found["status"] == 0, found
    print(f"# {found}")
    return found


@case
def anonymous_memory_is_a_part_of_the_checkpoint(scratch):
    if sanitized():
        raise Skip("sanitizers take memory of their own")
    size = memory.write_checkpoint(scratch / "x", memory.SHAPES["small"])
    assert size > 100 * MB
    found = run(scratch / "x")
    assert found["mapped_bytes"] > size, "the weights were not read from the map"
    assert found["anonymous_bytes"] < 48 * MB, "the weights, or a good part of them, were copied"


@case
def it_does_not_grow_with_the_layers(scratch):
    if sanitized():
        raise Skip("sanitizers take memory of their own")
    layers, *rest = memory.SHAPES["small"]
    peaks = []
    for n in (4, 16):
        size = memory.write_checkpoint(scratch / str(n), (n, *rest))
        peaks.append(run(scratch / str(n), "--collinearity")["anonymous_bytes"])
    # twelve layers more are 100 MB more on the disk, and 24 rows of the depth history more: 32 × 768 floats each
    assert peaks[1] - peaks[0] < 12 * MB, peaks


@case
def opening_does_not_read(scratch):
    memory.write_checkpoint(scratch / "x", memory.SHAPES["small"])
    _, _, seconds, anonymous, mapped = memory.watch([PROBE, "--info", str(scratch / "x")], environment())
    print(f"# {seconds:.3f} s, {anonymous / MB:.1f} MB anonymous, {mapped / MB:.1f} MB mapped")
    assert mapped < 60 * MB, "tensors were read"


@case
def an_archive_is_mapped_too(scratch):
    if sanitized():
        raise Skip("sanitizers take memory of their own")
    shape = memory.SHAPES["small"]
    memory.write_checkpoint(scratch / "x", shape)
    tensors = {}
    for part in sorted((scratch / "x").glob("*.safetensors")):
        tensors.update(read_tensors(part))
        part.unlink()
    (scratch / "x" / "model.safetensors.index.json").unlink()
    torchfile.save(scratch / "x" / "pytorch_model.bin", tensors)
    found = run(scratch / "x")
    assert found["anonymous_bytes"] < 48 * MB, "the weights, or a good part of them, were copied"


main()
