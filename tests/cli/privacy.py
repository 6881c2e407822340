#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""No network, no name of a user, a machine or a home folder in what is written, no file under a name that can be guessed."""
import getpass
import os
import re
import socket
import zlib

import h5py

from harness import *

USER, HOST = "xenophanes", "kolophon-7"


def planted(scratch):
    """A home folder with a name that would be found anywhere, the checkpoint and text in it, and what says who is there."""
    home = scratch / "home" / USER
    home.mkdir(parents=True)
    copy_checkpoint(MH, home / "model")
    shutil.copy(IDS, home / "ids.u16")
    env = {"HOME": str(home), "USER": USER, "LOGNAME": USER, "HOSTNAME": HOST, "EMAIL": f"{USER}@{HOST}", "XDG_CACHE_HOME": str(home / "cache")}
    return home, env


def content(path):
    """Bytes of a file, what is deflated in a PDF or PNG with them."""
    data = path.read_bytes()
    for m in re.finditer(rb"x[\x01\x5e\x9c\xda]", data):
        try:
            data += zlib.decompressobj().decompress(data[m.start():])
        except zlib.error:
            pass
    return data


def texts_of(group):
    """Every text of an HDF5 file: attributes and arrays."""
    for value in group.attrs.values():
        yield from map(str, value) if hasattr(value, "__iter__") and not isinstance(value, str) else [str(value)]
    for item in group.values():
        if isinstance(item, h5py.Group):
            yield from texts_of(item)
        else:
            yield from map(str, item.attrs.values())
            if item.dtype.kind == "O" and item.dtype != h5py.ref_dtype and h5py.check_string_dtype(item.dtype):
                yield from map(str, item.asstr()[()].flat)


def check_clean(scratch, words, files, output):
    for path in files:
        data = content(path)
        if path.suffix == ".h5":
            with h5py.File(path) as f:
                data += "\n".join(texts_of(f)).encode()
        for word in words:
            assert word.encode() not in data, (path.name, word)
    for word in words:
        assert word not in output, (word, output[:500])


RUN = ["--max-tokens", "200", "--context", "32", "--null-draws", "2", "--device", "cpu"]


def words_of(scratch):
    real = {getpass.getuser() if os.environ.get("USER") else "", socket.gethostname()} - {"", "root"}
    return [USER, HOST, str(scratch), *(w for w in real if len(w) > 4)]


def outputs(place):
    """What a run writes."""
    return ["-o", place / "run.h5", "--figure", place / "run.pdf"]


@case
def relative_names_tell_nothing(scratch):
    home, env = planted(scratch)
    result = succeed("model", "--tokens", "ids.u16", *RUN, "-o", "run.h5", "--figure", "run.pdf", "--json", "--reads", cwd=home, env=env)
    for ending in ("svg", "png"):
        succeed("--from", "run.h5", "--figure", f"run.{ending}", cwd=home, env=env)
    check_clean(scratch, words_of(scratch), [home / f"run.{e}" for e in ("h5", "pdf", "svg", "png")], result.out)


@case
def private_reduces_paths_to_their_names(scratch):
    home, env = planted(scratch)
    args = [home / "model", "--tokens", home / "ids.u16", *RUN, *outputs(home)]
    plain = succeed(*args, "--json", env=env)
    assert USER in plain.out, "what is looked for would not be there anyway"
    result = succeed(*args, "--private", "--json", env=env)
    check_clean(scratch, words_of(scratch), [home / "run.h5", home / "run.pdf"], result.out + result.err)
    assert json.loads(result.out)["command"].startswith("mhar-probe model --tokens ids.u16")
    assert json.loads(result.out)["checkpoints"][0]["path"] == "model"
    strip = lambda r: [{k: v for k, v in c.items() if k != "path"} for c in json.loads(r.out)["checkpoints"]]
    assert strip(result) == strip(plain)


@case
def private_with_everything_else(scratch):
    home, env = planted(scratch)
    copy_checkpoint(FULL, home / "second")
    clean = lambda files, *results: check_clean(scratch, words_of(scratch), files, "".join(r.out + r.err for r in results))
    both = [home / "model", f"{home / 'second'}/", *RUN, "--tokens", home / "ids.u16", "--private"]
    clean([home / "run.h5", home / "run.pdf"], succeed(*both, "--compare", "--all", *outputs(home), env=env))
    for name in ("a", "b"):
        (home / f"{name}.u16").write_bytes(IDS.read_bytes()[{"a": 0, "b": 640}[name]:][:640])
        succeed(home / "model", *RUN, "--tokens", home / f"{name}.u16", "-o", home / f"{name}.h5", env=env)
    clean([home / "run.h5"], succeed("--merge", home / "a.h5", home / "b.h5", "-o", home / "run.h5", "--private", "--json", env=env))
    clean([home / "run.h5"], succeed("--weights-only", home / "model", "-o", home / "run.h5", "--private", "--json", env=env))
    (home / "steps").mkdir()
    for step in (10, 20):
        copy_checkpoint(FULL, home / "steps" / f"checkpoint-{step}")
    (home / "steps" / "checkpoint-20" / "config.json").write_text("{")
    result = succeed("--series", home / "steps", *RUN, "--tokens", home / "ids.u16", "--private", "-o", home / "run.h5", "--json", "-q", env=env)
    clean([home / "run.h5"], result)
    assert json.loads(result.out)["series"]["skipped"], "nothing was skipped"


@case
def private_without_a_run(scratch):
    """--info, --sites and --verify, as text and as JSON."""
    home, env = planted(scratch)
    copy_checkpoint(FULL, home / "second")
    succeed(home / "model", "--save-reference", home / "ours.safetensors", "--tokens", home / "ids.u16", "--max-tokens", "8", "--device", "cpu", env=env)
    for job in (["--info"], ["--sites"], ["--verify", home / "ours.safetensors", "--device", "cpu"]):
        for more in ([], ["--json"]):
            both = [home / "model"] + ([home / "second"] if job[0] != "--verify" else [])
            plain = succeed(*job, *both, *more, env=env).out
            shown = succeed(*job, *both, *more, "--private", env=env).out
            assert USER in plain or not more and job[0] == "--verify", plain
            check_clean(scratch, words_of(scratch), [], shown)
            reduced = plain.replace(f"{home}/", "")
            if more and job[0] == "--verify":
                reduced = reduced.replace("--json", "--json --private")
            assert shown == reduced, (shown, reduced)


@case
def private_of_a_run_that_was_not(scratch):
    """What --from makes of a file that is full of paths: table, JSON, figure, report."""
    home, env = planted(scratch)
    (home / "steps").mkdir()
    for step in (10, 20):
        copy_checkpoint(FULL, home / "steps" / f"checkpoint-{step}")
    copy_checkpoint(MH, home / "a b's", {"tie_word_embeddings": False})
    args = ["--tokens", home / "ids.u16", *RUN]
    clean = lambda files, *results: check_clean(scratch, words_of(scratch), files, "".join(r.out + r.err for r in results))
    for what in ([home / "a b's"], ["--compare", home / "steps" / "checkpoint-10", home / "steps" / "checkpoint-20"], ["--series", home / "steps"]):
        succeed(*what, *args, "-o", home / "run.h5", "-q", env=env)
        assert USER in succeed("--from", home / "run.h5", "--json").out
        for more in ([], ["--json"], ["--table", "csv"], ["--figure", scratch / "x.svg"], *([["--report", scratch / "rep"]] if "--series" not in what else [])):
            clean([], succeed("--from", home / "run.h5", "--private", *more))
        clean([scratch / "x.svg"])
        if (scratch / "rep").exists():
            clean([scratch / "rep" / "report.html", scratch / "rep" / "report.pdf"])
    succeed(home / "a b's", *args, "-o", home / "run.h5", env=env)
    said = report("--from", home / "run.h5", "--private")["command"]
    assert said.startswith("mhar-probe 'a b'\\''s' --tokens ids.u16") and said.endswith("-o run.h5"), said
    with h5py.File(home / "run.h5", "r+") as f:
        f["provenance"].attrs["device_fallback"] = f"cannot open “/home/{USER}/lib/mhar-cuda.so”: no such file; 3 and/or 4 km/h"
    succeed("--from", home / "run.h5", "--private", "--report", scratch / "rep")
    clean([scratch / "rep" / "report.html"])


@case
def private_names_stay_apart(scratch):
    for name in ("a/model", "b/model", "b/other"):
        (scratch / name).parent.mkdir(exist_ok=True)
        copy_checkpoint(MH, scratch / name)
    three = ["a/model", "b/other", "b/model/"]
    want = ["model (1)", "other", "model (3)"]
    short = [*SHORT, "--private"]
    assert [c["path"] for c in report(*three, *short, "-o", "run.h5", cwd=scratch)["checkpoints"]] == want
    assert re.split(r"  +", succeed(*three, *short, cwd=scratch).out.splitlines()[0].strip()) == want
    rows = succeed(*three, *short, "--table", "csv", cwd=scratch).out.splitlines()[1:]
    assert list(dict.fromkeys(row.partition(",")[0] for row in rows)) == want
    with h5py.File(scratch / "run.h5") as f:
        assert [f[f"checkpoint_{i}"].attrs["path"] for i in range(3)] == want
    for job in ("--info", "--sites"):
        assert [c["path"] for c in json.loads(succeed(job, *three, "--private", "--json", cwd=scratch).out)] == want
    two = report("--compare", "a/model", "b/model", *short, cwd=scratch)["compare"]
    assert (two["a"], two["b"]) == ("model (1)", "model (2)")
    # and without --private, what has one path twice or two paths of one name
    for paths, name in ((("a/model", "b/model"), "b/model against a/model"), (("a/model", "a/model"), "a/model (2) against a/model (1)")):
        out = succeed("--compare", *paths, *SHORT, cwd=scratch).out
        assert name in out and name.split()[-1] in out.splitlines()[0], out
    for place, step in (("a", 10), ("b", 20)):
        copy_checkpoint(MH, scratch / place / f"step-{step}")
    series = report("--series", "a/step-10", "b/step-20", *short, cwd=scratch)["series"]
    assert series["path"] == ["step-10", "step-20"] and series["step"] == [10, 20]


@case
def private_runs_that_go_on(scratch):
    home, env = planted(scratch)
    args = [home / "model", *RUN, "--tokens", home / "ids.u16", "--max-tokens", "20000", "--private", "--checkpoint-every", "4", "-q", "-o", home / "run.h5"]
    process = start(*args, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not (home / "run.h5.part" / "state.h5").exists():
        assert process.poll() is None
    process.kill()
    process.communicate()
    check_clean(scratch, words_of(scratch), [p for p in (home / "run.h5.part").iterdir() if not p.name.startswith(".")], "")


@case
def a_prompt_is_no_path(scratch):
    found = report(DEMO / "mhar", "--private", "--prompt", "either/or, this/that and so on", "--device", "cpu", "--null-draws", "0")
    assert "either/or" in found["command"]


@case
def a_state_that_another_could_have_planted_is_not_followed(scratch):
    (scratch / "elsewhere").mkdir()
    (scratch / "run.h5.part").symlink_to("elsewhere")
    result = probe(MH, *SHORT, "--checkpoint-every", "1", "-o", "run.h5", cwd=scratch)
    check_refusal(result, 1, "run.h5.part", "folder of your own")
    assert not any((scratch / "elsewhere").iterdir())


@case
def nothing_is_written_elsewhere_nor_under_a_name_that_can_be_guessed(scratch):
    """Every file that is made has a name with six random characters, or is one that was asked for, or the lock of a folder of ours."""
    if shutil.which("strace") is None:
        raise Skip("there is no strace")
    if sanitized():
        raise Skip("a sanitizer cannot look for leaks of what is traced")
    log = scratch / "log"
    place = scratch / "place"
    place.mkdir()
    result = subprocess.run(["strace", "-f", "-qq", "-e", "trace=open,openat,creat,mkdir,mkdirat,socket,connect,bind,sendto,sendmsg", "-o", log, PROBE, DEMO / "mhar", "--max-tokens", "96",
                             "--context", "32", "--null-draws", "2", "--device", "cpu", "--figure", place / "x.pdf", "-o", place / "x.h5",
                             "--checkpoint-every", "1", "-q"], env=environment(), capture_output=True, text=True)
    if "ptrace" in result.stderr.lower():
        raise Skip(f"strace is not allowed here: {result.stderr.strip()[:80]}")
    assert result.returncode == 0, result.stderr
    lines = log.read_text(errors="replace").splitlines()
    assert any("openat(" in line for line in lines), lines[:3]
    network = [line for line in lines if re.search(r"\b(socket|connect|bind|sendto|sendmsg)\(", line)]
    assert not network, network[:5]
    for line in lines:
        made = re.search(r'(?:openat|open|creat)\([^"]*"([^"]+)", [^)]*O_CREAT', line)
        if made and "/dev/" not in made[1] and made[1] != str(place / "x.h5.part" / "lock") and not re.search(r"\.mhar-[A-Za-z0-9]{6}$", made[1]):
            raise AssertionError(line)
        if made:
            assert "O_EXCL" in line or "/dev/" in made[1], line
            assert made[1].startswith(str(place)), line
        folder = re.search(r'mkdir(?:at)?\([^"]*"([^"]+)"', line)
        assert not folder or folder[1] == str(place / "x.h5.part"), line


@case
def no_socket_is_called_for(scratch):
    """The program's own code has no way to the network; the libraries that it links have, and the test above watches them."""
    if shutil.which("nm") is None:
        raise Skip("there is no nm")
    wanted = subprocess.run(["nm", "-D", "--undefined-only", PROBE], capture_output=True, text=True).stdout
    if not wanted:
        raise Skip("nm cannot read the program")
    names = {line.split()[-1].partition("@")[0] for line in wanted.splitlines()}
    if any(n.startswith("__asan") for n in names):
        raise Skip("sanitizers bring their own")
    assert "open" in names or "open64" in names or "openat" in names, sorted(names)[:20]
    bad = {n for n in names if n in ("socket", "connect", "bind", "listen", "accept", "sendto", "recvfrom", "getaddrinfo", "gethostbyname", "gethostname", "getpwuid",
                                     "getlogin", "uname") or re.match(r"g_(socket|network|resolver|inet|tcp|proxy|tls|get_user_name|get_real_name|get_host_name)", n)}
    assert not bad, bad


main()
