# SPDX-License-Identifier: MIT
"""What the tests of the command line share: running the program, making damaged inputs, printing TAP.

The program is $MHAR_PROBE (else build/app/cli/mhar-probe of this tree), the data folder $MHAR_TEST_DATA (else tests/).
Every case gets an empty folder of its own, removed afterwards unless it failed and $MHAR_KEEP is set. Run one program with
words as arguments to run only the cases whose names hold one of them."""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

TESTS = Path(os.environ.get("MHAR_TEST_DATA") or Path(__file__).resolve().parent.parent).resolve()
PROBE = os.path.abspath(os.environ.get("MHAR_PROBE") or TESTS.parent / "build/app/cli/mhar-probe")
FIXTURES = TESTS / "fixtures"
EXPECTED = TESTS / "cli" / "expected"
DEMO = TESTS.parent / "data" / "demo"
ORACLE = TESTS / "oracle"
MH, FULL, PLAIN, LLAMA = (FIXTURES / f"mini-{n}" for n in ("full_mh", "full", "baseline", "llama"))
IDS = FIXTURES / "public-domain.u16"
# A run that takes a moment: 150 ids, three windows, one of them short.
SHORT = ["--tokens", str(IDS), "--max-tokens", "150", "--context", "64", "--null-draws", "4", "--device", "cpu"]

# Set by `make test-long`: everything there is to try, not a sample of it.
LONG = os.environ.get("MHAR_TEST_LONG") == "1"

_cases = []


class Skip(Exception):
    """Raised by a case that this machine cannot run; says why."""


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __str__(self):
        return f"exit {self.code}\nstdout: {self.out[:2000]!r}\nstderr: {self.err[:2000]!r}"


def environment(locale="C.UTF-8", **extra):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "MHAR_", "G_"))}
    env.update(LC_ALL=locale, MHAR_DATA_DIR=str(TESTS.parent / "data"), G_DEBUG="fatal-criticals", TERM="dumb",
               OMP_NUM_THREADS="1")  # waiting threads spin, which on a busy machine takes most of the time
    env.update(extra)
    return env


def sanitized():
    """Whether the program was built with AddressSanitizer."""
    return b"__asan_init" in Path(PROBE).read_bytes()


def start(*args, locale="C.UTF-8", env=None, **popen):
    """The program as a subprocess.Popen, for who wants to disturb it."""
    popen.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen([PROBE, *map(os.fspath, args)], env=environment(locale, **(env or {})), **popen)


def probe(*args, timeout=60, text=None, **kw):
    """Runs the program to its end. A death by a signal (a crash) or a hang is never what a case wants."""
    if text is not None:
        kw["stdin"] = subprocess.PIPE
    kw.setdefault("stdout", subprocess.PIPE)
    kw.setdefault("stderr", subprocess.PIPE)
    process = start(*args, **kw)
    timeout *= 5 if sanitized() else 1
    try:
        out, err = process.communicate(text, timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"still running after {timeout} s: {' '.join(map(os.fspath, args))}")
    result = Result(process.returncode, (out or b"").decode("utf-8", "replace"), (err or b"").decode("utf-8", "replace"))
    assert result.code in (0, 1, 2, 3, 130), f"died: {result}"
    return result


def succeed(*args, **kw):
    result = probe(*args, **kw)
    assert result.code == 0, str(result)
    return result


def report(*args, **kw):
    """The parsed --json of a run."""
    return json.loads(succeed(*args, "--json", "-q", **kw).out)


def check_refusal(result, code, *words):
    """One sentence on standard error, nothing on standard output; `words` stand in the sentence."""
    assert result.code == code, f"exit {result.code}, not {code}\n{result}"
    assert result.out == "", f"something on standard output\n{result}"
    lines = result.err.splitlines()
    assert len(lines) == 1 and result.err.endswith("\n"), f"not one line\n{result}"
    assert lines[0].startswith("mhar-probe: "), str(result)
    assert not lines[0].endswith("."), f"a full stop\n{result}"
    assert len(lines[0]) > 30 and "(null)" not in lines[0] and "\x1b" not in lines[0], str(result)
    for word in words:
        assert str(word) in lines[0], f"“{word}” is not in the message\n{result}"


def refuse(scratch, code, words, *args, outputs=True, **kw):
    """The program refuses: exit `code`, one sentence with `words` in it, and nothing left in the folder of the outputs."""
    place = scratch / "refused-outputs"
    place.mkdir(exist_ok=True)
    more = ["-o", place / "out.h5", "--figure", place / "out.pdf"] if outputs else []
    result = probe(*args, *more, **kw)
    check_refusal(result, code, *([words] if isinstance(words, str) else words))
    assert not any(place.iterdir()), f"left behind: {sorted(p.name for p in place.iterdir())}"
    return result


# Safetensors, as little of it as tests need.

def read_tensors(path):
    """{name: (dtype, shape, bytes)}, in file order."""
    data = Path(path).read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    at = 8 + size
    return {k: (v["dtype"], v["shape"], data[at + v["data_offsets"][0] : at + v["data_offsets"][1]])
            for k, v in header.items()}


def write_tensors(path, tensors, metadata=None):
    header, blobs, at = {"__metadata__": metadata} if metadata else {}, [], 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + len(data)]}
        blobs.append(data)
        at += len(data)
    write_raw(path, header, b"".join(blobs))


def write_raw(path, header, data):
    """A safetensors file with the header as given, which may lie."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


def copy_checkpoint(source, to, config=None, remove=()):
    """A copy of a checkpoint folder, its config changed by the dict `config` and rid of the keys `remove`."""
    to.mkdir()
    shutil.copy(source / "model.safetensors", to)
    values = json.loads((source / "config.json").read_text())
    values.update(config or {})
    for key in remove:
        del values[key]
    (to / "config.json").write_text(json.dumps(values))
    return to


# Cases.

def add(name, function, *args):
    """One case: function (scratch folder, *args)."""
    _cases.append((name, function, args))


def case(function):
    """Decorator: the function is a case, named as it is."""
    add(function.__name__.replace("_", " "), function)
    return function


def _run_case(number, name, function, args):
    scratch = Path(tempfile.mkdtemp(prefix="mhar-cli-"))
    failed = False
    try:
        function(scratch, *args)
        print(f"ok {number} - {name}", flush=True)
    except Skip as reason:
        print(f"ok {number} - {name} # SKIP {reason}", flush=True)
    except Exception:
        failed = True
        print(f"not ok {number} - {name}", flush=True)
        traceback.print_exc()  # what meson shows of a TAP program that failed is its standard error
    if failed and os.environ.get("MHAR_KEEP"):
        print(f"# kept: {scratch}")
    else:
        shutil.rmtree(scratch, ignore_errors=True)
    return not failed


def main():
    words = sys.argv[1:]
    if not os.access(PROBE, os.X_OK):
        print(f"Bail out! no program at {PROBE}; name it in MHAR_PROBE")
        sys.exit(1)
    chosen = [c for c in _cases if not words or any(w in c[0] for w in words)]
    print(f"1..{len(chosen)}", flush=True)
    good = [_run_case(i + 1, *c) for i, c in enumerate(chosen)]
    sys.exit(0 if all(good) else 1)
