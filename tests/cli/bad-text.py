#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Text and token ids that cannot be run: exit 3 and one sentence naming the file and the remedy."""
import io
import os
import shutil
import struct

import numpy as np

from harness import *

ONE = DEMO / "mhar"  # has a tokenizer.json
CPU = ["--device", "cpu", "--null-draws", "0"]


def ids_file(scratch, name, data, *words):
    path = scratch / name
    path.write_bytes(data)
    return refuse(scratch, 3, [name, *words], MH, "--tokens", path, *CPU)


def npy(array, **kw):
    out = io.BytesIO()
    np.save(out, array, **kw)
    return out.getvalue()


GOOD_NPY = npy(np.arange(100, dtype="<u2"))


def header(text, version=1, data=bytes(200)):
    text = text.encode() + b" " * (-(len(text) + 11) % 64) + b"\n"
    size = struct.pack("<H", len(text)) if version == 1 else struct.pack("<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + size + text + data


for title, name, data, words in [
    ("odd length", "a.u16", b"\1\0\2", ["list of"]),
    ("not a multiple of four", "a.u32", b"\1\0\0\0\2\0", ["list of"]),
    ("empty", "a.u16", b"", ["empty"]),
    ("empty .npy", "a.npy", b"", ["empty"]),
    ("another ending", "a.bin", bytes(100), [".u16, .u32 or .npy"]),
    ("no ending", "ids", bytes(100), [".u16, .u32 or .npy"]),
    ("beyond the vocabulary", "a.u16", np.array([1, 2, 4095, 4096, 5], "<u2").tobytes(), []),
    ("beyond 31 bits", "a.u32", np.array([1, 2**31], "<u4").tobytes(), ["entry 1"]),
    ("one id", "a.u16", b"\1\0", []),
    ("text in place of .npy", "a.npy", b"1 2 3 4 5 6 7 8\n", ["NumPy"]),
    (".npy with its header cut", "a.npy", GOOD_NPY[:40], ["header"]),
    (".npy with its magic cut", "a.npy", GOOD_NPY[:7], ["NumPy"]),
    (".npy with its data cut", "a.npy", GOOD_NPY[:-10], ["promises", "cut short"]),
    (".npy with more than it says", "a.npy", GOOD_NPY + bytes(3), ["promises", "save the array again"]),
    (".npy of version 9", "a.npy", GOOD_NPY[:6] + b"\x09" + GOOD_NPY[7:], ["NumPy"]),
    (".npy, two-dimensional", "a.npy", npy(np.zeros((2, 50), "<u2")), ["one-dimensional"]),
    (".npy, no dimension", "a.npy", npy(np.array(3, "<u2")), ["one-dimensional"]),
    (".npy of floats", "a.npy", npy(np.zeros(100, "<f4")), ["whole numbers"]),
    (".npy of booleans", "a.npy", npy(np.zeros(100, "?")), ["whole numbers"]),
    (".npy, big-endian", "a.npy", npy(np.zeros(100, ">i4")), ["little-endian"]),
    (".npy of text", "a.npy", npy(np.array(["a", "b"])), ["whole numbers"]),
    (".npy of objects", "a.npy", npy(np.array([{}, 3], dtype=object), allow_pickle=True), ["whole numbers"]),
    (".npy, negative ids", "a.npy", npy(np.array([1, -2, 3], "<i8")), ["entry 1", "negative"]),
    (".npy, ids beyond 31 bits", "a.npy", npy(np.array([1, 2**40, 3], "<i8")), ["entry 1"]),
    (".npy, ids beyond the vocabulary", "a.npy", npy(np.array([1, 5000, 3], "<i4")), []),
    (".npy, empty array", "a.npy", npy(np.zeros(0, "<i4")), []),
    (".npy says 2^62 ids", "a.npy", header("{'descr': '<u2', 'fortran_order': False, 'shape': (4611686018427387904,), }"), ["promises"]),
    (".npy says 2^64 ids", "a.npy", header("{'descr': '<u2', 'fortran_order': False, 'shape': (18446744073709551616,), }"), []),
    (".npy says -1 ids", "a.npy", header("{'descr': '<u2', 'fortran_order': False, 'shape': (-1,), }"), ["one-dimensional"]),
    (".npy of a width of 3", "a.npy", header("{'descr': '<u3', 'fortran_order': False, 'shape': (100,), }"), ["whole numbers"]),
    (".npy of a width of 16", "a.npy", header("{'descr': '<u16', 'fortran_order': False, 'shape': (10,), }"), ["whole numbers"]),
    (".npy without a type", "a.npy", header("{'fortran_order': False, 'shape': (100,), }"), []),
    (".npy without a shape", "a.npy", header("{'descr': '<u2', 'fortran_order': False}"), []),
    (".npy with a header of 4 GiB", "a.npy", b"\x93NUMPY\2\0\xff\xff\xff\xff{'descr'", ["header"]),
    (".npy with an empty header", "a.npy", b"\x93NUMPY\1\0\0\0" + bytes(100), []),
]:
    add(f"ids: {title}", ids_file, name, data, *words)


@case
def ids_are_the_same_in_all_three_kinds_of_file(scratch):
    ids = np.fromfile(IDS, "<u2")[:100]
    ids.astype("<u4").tofile(scratch / "a.u32")
    ids.tofile(scratch / "a.u16")
    for dtype in ("<u2", "<i4", "<u4", "<i8"):
        np.save(scratch / f"a{dtype[1:]}.npy", ids.astype(dtype))
    np.lib.format.write_array(open(scratch / "a2.npy", "wb"), ids, version=(2, 0))
    np.lib.format.write_array(open(scratch / "a3.npy", "wb"), ids, version=(3, 0))
    runs = [report(FULL, "--tokens", p, *CPU)["checkpoints"] for p in sorted(scratch.iterdir())]
    assert len(runs) == 8 and all(r == runs[0] for r in runs)


@case
def ids_beyond_the_vocabulary_but_not_used_do_no_harm(scratch):
    np.array([1, 2, 3, 4, 5000], "<u2").tofile(scratch / "a.u16")
    succeed(MH, "--tokens", scratch / "a.u16", "--max-tokens", "4", *CPU)
    refuse(scratch, 3, ["5000"], MH, "--tokens", scratch / "a.u16", *CPU)


# Text

def text_file(scratch, data, *words):
    path = scratch / "some.txt"
    path.write_bytes(data)
    refuse(scratch, 3, words, ONE, "--text", path, *CPU)
    refuse(scratch, 3, [w.replace("some.txt", "standard input") for w in words], ONE, "--text", "-", *CPU, text=data)


for title, data, words in [
    ("empty", b"", ["some.txt", "empty"]),
    ("not UTF-8", b"a few good words and then \xff\xfe", ["some.txt", "UTF-8"]),
    ("cut inside a character", "the last one is \u20ac".encode()[:-1], ["some.txt", "UTF-8"]),
    ("a surrogate", b"abc \xed\xa0\x80", ["some.txt", "UTF-8"]),
    ("UTF-16", "hello there".encode("utf-16"), ["some.txt", "UTF-8"]),
    ("of one token", b"a", ["token"]),
]:
    add(f"text: {title}", text_file, data, *words)


@case
def prompts(scratch):
    refuse(scratch, 3, ["prompt", "empty"], ONE, "--prompt", "", *CPU)
    refuse(scratch, 3, ["token"], ONE, "--prompt", "a", *CPU)
    refuse(scratch, 3, ["prompt", "UTF-8"], ONE, "--prompt", os.fsdecode(b"words \xff here"), *CPU)


@case
def prompt_in_a_locale_that_cannot_encode_it(scratch):
    runs = [report(ONE, "--prompt", "naïve “café” — 日本語", *CPU, locale=locale)["checkpoints"] for locale in ("C.UTF-8", "C")]
    assert runs[0] == runs[1]


@case
def text_file_prompt_and_standard_input_are_one(scratch):
    words = "It was the best of times, it was the worst of times"
    (scratch / "a.txt").write_text(words)
    runs = [report(ONE, "--text", scratch / "a.txt", *CPU), report(ONE, "--prompt", words, *CPU),
            report(ONE, "--text", "-", *CPU, text=words.encode())]
    assert runs[0]["checkpoints"] == runs[1]["checkpoints"] == runs[2]["checkpoints"]


@case
def no_standard_input(scratch):
    refuse(scratch, 3, ["standard input"], ONE, "--text", "-", *CPU)  # /dev/null
    result = probe(ONE, "--text", "-", *CPU, preexec_fn=lambda: os.close(0))
    check_refusal(result, 3, "standard input")
    folder = os.open(scratch, os.O_RDONLY)
    check_refusal(probe(ONE, "--text", "-", *CPU, stdin=folder), 3, "standard input")
    os.close(folder)


@case
def text_without_a_tokenizer(scratch):
    (scratch / "a.txt").write_text("some words")
    for args in (["--text", scratch / "a.txt"], ["--prompt", "some words"], []):
        refuse(scratch, 3, ["tokenizer.json", "--tokens"], MH, *args, *CPU)


@case
def damaged_tokenizers(scratch):
    good = (ONE / "tokenizer.json").read_bytes()
    folder = scratch / "x"
    shutil.copytree(ONE, folder)
    for data in (good[:1000], good[:-1], b"", b"[]", b"{}", b'{"model": {"type": "WordPiece", "vocab": {}}}', b"\xff" * 100,
                 good.replace(b'"BPE"', b'"Unigram"'), good.replace(b'"vocab"', b'"vocabulary"', 1)):
        (folder / "tokenizer.json").write_bytes(data)
        refuse(scratch, 3, ["tokenizer.json"], folder, "--prompt", "some words", *CPU)


@case
def skipping_everything(scratch):
    refuse(scratch, 3, ["--skip-first 64", "windows of 64", "--context"], MH, "--tokens", IDS, "--context", "64", "--skip-first", "64", *CPU)
    refuse(scratch, 3, ["skip"], MH, "--tokens", IDS, "--max-tokens", "20", "--context", "64", "--skip-first", "20", *CPU)


@case
def skipping_all_but_one_position(scratch):
    run = report(MH, "--tokens", IDS, "--max-tokens", "150", "--context", "64", "--skip-first", "63", *CPU)
    assert run["checkpoints"][0]["windows"] == 2


@case
def refusals_stand_alone_on_any_device(scratch):
    """No note about the device before them."""
    for args in ([MH, "--tokens", scratch / "no.u16"], [ONE, "--prompt", "\udcff"], [MH], [MH, FULL, scratch / "no"]):
        check_refusal(probe(*args), 3)


# Special files: refused without waiting on them.

def special(scratch, option, name, kind):
    path = scratch / name
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "broken link":
        path.symlink_to("nowhere")
    refuse(scratch, 3, [name], ONE, option, path, *CPU, timeout=10)


for option, name in (("--text", "a.txt"), ("--tokens", "a.u16"), ("--tokens", "a.npy")):
    for kind in ("fifo", "folder", "device", "broken link", "missing"):
        add(f"{option}: {name} is a {kind}" if kind != "missing" else f"{option}: {name} is missing", special, option, name, kind)


@case
def tokenizer_is_a_fifo(scratch):
    shutil.copytree(ONE, scratch / "x")
    (scratch / "x" / "tokenizer.json").unlink()
    os.mkfifo(scratch / "x" / "tokenizer.json")
    refuse(scratch, 3, ["tokenizer.json"], scratch / "x", "--prompt", "some words", *CPU, timeout=10)


@case
def standard_input_that_never_comes_can_be_interrupted(scratch):
    import signal
    import subprocess
    import time
    reading, writing = os.pipe()
    process = start(ONE, "--text", "-", *CPU, stdin=reading, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=5)
    os.close(reading)
    os.close(writing)
    assert (process.returncode, out) == (130, b"") and err.startswith(b"mhar-probe: interrupted"), (process.returncode, out, err)


main()
