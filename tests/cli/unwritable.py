#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Output that cannot be written: exit 1 and one sentence, no unfinished file, and what was there before untouched."""
import contextlib
import os
import resource
import stat
import subprocess

from harness import *

ROOT = os.geteuid() == 0


def run_failed(result, *words, table=False):
    """Exit 1, one sentence; the table with it where what fails is found out at the end (None: or not)."""
    assert result.code == 1, str(result)
    lines = result.err.splitlines()
    assert len(lines) == 1 and lines[0].startswith("mhar-probe: ") and not lines[0].endswith("."), str(result)
    for word in words:
        assert str(word) in lines[0], f"“{word}” is not in the message\n{result}"
    assert table is None or (result.out != "") == table, str(result)
    assert result.out == "" or "collinearity" in result.out.lower(), str(result)


def listing(folder):
    return sorted(p.name for p in folder.iterdir())


OUTPUTS = [("-o", "out.h5"), ("--figure", "out.pdf"), ("--figure", "out.svg"), ("--figure", "out.png")]


def missing_folder(scratch, option, name):
    run_failed(probe(MH, *SHORT, option, scratch / "nowhere" / name), "nowhere")
    assert listing(scratch) == []


def folder_is_a_file(scratch, option, name):
    (scratch / "file").write_text("x")
    run_failed(probe(MH, *SHORT, option, scratch / "file" / name), "file")
    assert listing(scratch) == ["file"]


def name_is_a_folder(scratch, option, name):
    (scratch / name).mkdir()
    run_failed(probe(MH, *SHORT, option, scratch / name), name)
    assert listing(scratch) == [name] and listing(scratch / name) == []


@case
def folders_that_take_no_file(scratch):
    """Told before anything runs, of what is wanted as well as where."""
    for args in (["-o", "/proc/x.h5"], ["--figure", "/proc/x.pdf"], ["--save-reference", "/proc/x.safetensors"], ["--report", "/proc"]):
        ids = SHORT[:6] if "reference" in args[0] else SHORT
        run_failed(probe(MH, *ids, "--device", "cpu", *args), "/proc/", "folder /proc", "another folder")
    for args in (["-o", scratch], ["-o", f"{scratch}/"], ["--save-reference", scratch]):
        run_failed(probe(MH, *(SHORT[:6] if "reference" in args[0] else SHORT), *args), scratch, "file")


@contextlib.contextmanager
def mounted(folder, *options):
    """A tmpfs of its own: what cannot be written even by root."""
    if not ROOT or subprocess.run(["mount", "-t", "tmpfs", *options, "none", folder], capture_output=True).returncode != 0:
        raise Skip("no file system can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def read_only_folder(scratch, option, name):
    place = scratch / "place"
    place.mkdir()
    if ROOT:
        with mounted(place):
            (place / name).write_bytes(b"old")
            if subprocess.run(["mount", "-o", "remount,ro", place], capture_output=True).returncode != 0:
                raise Skip("no file system can be made read-only here")
            run_failed(probe(MH, *SHORT, option, place / name), "place")
            assert listing(place) == [name] and (place / name).read_bytes() == b"old"
        return
    place.chmod(0o500)
    run_failed(probe(MH, *SHORT, option, place / name), "place")
    assert listing(place) == []


def full_disk(scratch, option, name, old):
    """At several sizes, so that the end comes in different parts of the file."""
    place = scratch / "place"
    place.mkdir()
    for kib in (4, 8, 16):
        with mounted(place, "-o", f"size={kib}k"):
            if old:
                (place / name).write_bytes(b"old")
            run_failed(probe(MH, *SHORT, *(["--first-sites", "0"] if option != "-o" else []), option, place / name), name.split(".")[0],
                       table=None if option == "-o" else True)
            assert listing(place) == ([name] if old else []), listing(place)
            assert not old or (place / name).read_bytes() == b"old"


def file_size_limit(scratch, option, name):
    """ulimit -f, which needs no root: the signal that comes with it must not kill the program."""
    (scratch / name).write_bytes(b"old")
    for size in (0, 4096, 10000):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        run_failed(probe(MH, *SHORT, option, scratch / name, preexec_fn=limit), "out", table=None if option == "-o" else True)
        assert listing(scratch) == [name] and (scratch / name).read_bytes() == b"old"


for option, name in OUTPUTS:
    add(f"{name}: folder missing", missing_folder, option, name)
    add(f"{name}: folder is a file", folder_is_a_file, option, name)
    add(f"{name}: name is a folder", name_is_a_folder, option, name)
    add(f"{name}: folder is read-only", read_only_folder, option, name)
    add(f"{name}: disk full", full_disk, option, name, False)
    add(f"{name}: disk full, an old file there", full_disk, option, name, True)
    add(f"{name}: file size limit", file_size_limit, option, name)


@case
def disk_full_while_weights_are_saved(scratch):
    place = scratch / "place"
    place.mkdir()
    with mounted(place, "-o", "size=1m"):
        (place / "out.h5").write_bytes(b"old")
        result = probe(MH, "--tokens", IDS, "--max-tokens", "8000", "--context", "128", "--collinearity", "--device", "cpu",
                       "--save-weights", "-o", place / "out.h5")
        run_failed(result, "out.h5")
        assert listing(place) == ["out.h5"] and (place / "out.h5").read_bytes() == b"old"


@case
def disk_full_when_a_saved_run_is_drawn(scratch):
    place = scratch / "place"
    place.mkdir()
    succeed(MH, *SHORT, "-o", scratch / "run.h5")
    with mounted(place, "-o", "size=4k"):
        run_failed(probe("--from", scratch / "run.h5", "--figure", place / "out.png"), "out", table=True)
        assert listing(place) == []


@case
def a_figure_that_fails_costs_no_table(scratch):
    figure = f" --figure {scratch}/f.png --first-sites 0"
    for more in ([], ["--json"]):
        plain = succeed(MH, *SHORT, *more)
        for size in (0, 20000):
            limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            drawn = probe(MH, *SHORT, *figure.split(), *more, preexec_fn=limit)
            run_failed(drawn, "f.png", table=True)
            assert drawn.out.replace(figure, "") == plain.out, drawn


@case
def a_figure_that_fails_costs_no_file(scratch):
    place = scratch / "place"
    place.mkdir()
    plain = succeed(MH, *SHORT, "-o", scratch / "a.h5")
    with mounted(place, "-o", "size=8k"):
        drawn = probe(MH, *SHORT, "-o", scratch / "b.h5", "--figure", place / "f.png")
    run_failed(drawn, "f.png", table=True)
    assert drawn.out == plain.out == succeed("--from", scratch / "b.h5").out


@case
def old_files_are_replaced_whole(scratch):
    for option, name in OUTPUTS:
        path = scratch / name
        path.write_bytes(b"old" * 100000)
        path.chmod(0o640)
        succeed(MH, *SHORT, option, path)
        assert path.read_bytes()[:4] != b"oldo" and path.stat().st_size < 300000
        assert path.stat().st_mode & 0o777 == 0o640, oct(path.stat().st_mode)
    assert listing(scratch) == sorted(name for _, name in OUTPUTS)


@case
def new_files_obey_the_umask(scratch):
    for option, name in OUTPUTS:
        succeed(MH, *SHORT, option, scratch / name, preexec_fn=lambda: os.umask(0o027))
        assert (scratch / name).stat().st_mode & 0o777 == 0o640, (name, oct((scratch / name).stat().st_mode))


@case
def device_as_output_is_not_replaced(scratch):
    for option, name in OUTPUTS:
        (scratch / name).symlink_to("/dev/null")
        run_failed(probe(MH, *SHORT, option, scratch / name), name, "not a regular file")
        assert stat.S_ISCHR(os.stat("/dev/null").st_mode) and (scratch / name).is_symlink()
        (scratch / name).unlink()
        os.mkfifo(scratch / name)
        run_failed(probe(MH, *SHORT, option, scratch / name, timeout=20), name, "not a regular file")
        assert stat.S_ISFIFO(os.stat(scratch / name).st_mode)
    (scratch / "stdout.png").symlink_to("/dev/stdout")
    run_failed(probe(MH, *SHORT, "--figure", scratch / "stdout.png"), "stdout.png", "not a regular file")


@case
def links_are_written_through(scratch):
    (scratch / "real").mkdir()
    for option, name in OUTPUTS:
        real, link = scratch / "real" / name, scratch / name
        real.write_bytes(b"old")
        real.chmod(0o604)
        link.symlink_to(f"real/{name}")
        succeed(MH, *SHORT, option, link, preexec_fn=lambda: os.umask(0o077))
        assert link.is_symlink() and os.readlink(link) == f"real/{name}" and not real.is_symlink()
        assert real.stat().st_size > 1000 and real.stat().st_mode & 0o777 == 0o604, oct(real.stat().st_mode)
        link.unlink()
        link.symlink_to("nowhere")
        run_failed(probe(MH, *SHORT, option, link), name, "leads nowhere")
    assert listing(scratch / "real") == sorted(name for _, name in OUTPUTS)


@case
def links_of_several_figures(scratch):
    (scratch / "x-2.svg").symlink_to("real.svg")
    (scratch / "real.svg").write_text("old")
    succeed(MH, FULL, *SHORT, "--figure", scratch / "x.svg")
    assert (scratch / "x-2.svg").is_symlink() and (scratch / "real.svg").read_text() != "old"
    (scratch / "x-2.svg").unlink()
    (scratch / "x-2.svg").symlink_to("/dev/null")
    before = (scratch / "x-1.svg").stat().st_ino
    run_failed(probe(MH, FULL, *SHORT, "--figure", scratch / "x.svg"), "x-2.svg", "not a regular file")
    assert (scratch / "x-1.svg").stat().st_ino == before  # refused before anything ran


@case
def a_saved_run_drawn_through_a_link(scratch):
    succeed(MH, *SHORT, "-o", scratch / "run.h5")
    (scratch / "x.pdf").symlink_to("/dev/null")
    run_failed(probe("--from", scratch / "run.h5", "--figure", scratch / "x.pdf"), "x.pdf", "not a regular file")


@case
def old_files_survive_bad_input(scratch):
    for option, name in OUTPUTS:
        (scratch / name).write_bytes(b"old")
    for args in ([scratch / "nowhere", *SHORT], [MH, "--tokens", scratch / "no.u16"], [MH, FULL, scratch, *SHORT]):
        for option, name in OUTPUTS:
            check_refusal(probe(*args, option, scratch / name, "--device", "cpu"), 3)
            assert (scratch / name).read_bytes() == b"old"
    assert listing(scratch) == sorted(name for _, name in OUTPUTS)


# Standard output

EVERYTHING_PRINTED = [["--help"], ["--version"], ["--devices"], ["--info", MH], ["--sites", MH], ["--info", MH, "--json"], [MH, *SHORT],
                      [MH, *SHORT, "--json"], [PLAIN, "--verify", FIXTURES / "authors/mini-baseline.safetensors", "--device", "cpu"]]


@case
def standard_output_full(scratch):
    for args in EVERYTHING_PRINTED:
        with open("/dev/full", "wb") as full:
            run_failed(probe(*args, stdout=full), "standard output")


@case
def standard_output_closed(scratch):
    for args in EVERYTHING_PRINTED:
        run_failed(probe(*args, stdout=None, preexec_fn=lambda: os.close(1)), "standard output")


@case
def standard_output_closed_does_not_write_into_the_results(scratch):
    """The next file opened would get descriptor 1."""
    good, bad = scratch / "good.h5", scratch / "bad.h5"
    succeed(MH, *SHORT, "-o", good)
    run_failed(probe(MH, *SHORT, "-o", bad, "--figure", scratch / "f.svg", stdout=None, preexec_fn=lambda: os.close(1)), "standard output")
    assert succeed("--from", bad).out == succeed("--from", good).out
    assert b"mhar-probe: " not in bad.read_bytes() and b"</svg>" in (scratch / "f.svg").read_bytes()[-20:]


@case
def standard_error_closed(scratch):
    def close():
        os.close(2)
    result = probe(MH, *SHORT, "--device", "auto", "--progress", "always", "-o", scratch / "run.h5", stderr=None, preexec_fn=close)
    assert result.code == 0 and "mini-full_mh" in result.out
    assert b"\x1b" not in succeed("--from", scratch / "run.h5").out.encode()
    assert probe(scratch / "nowhere", stderr=None, preexec_fn=close).code == 3


@case
def all_three_closed(scratch):
    result = probe(MH, *SHORT, "-o", scratch / "run.h5", stdin=None, stdout=None, stderr=None, preexec_fn=lambda: os.closerange(0, 3))
    assert result.code == 1 and listing(scratch) == ["run.h5"]
    succeed("--from", scratch / "run.h5")


@case
def standard_output_is_a_pipe_nobody_reads(scratch):
    for option, name in (("-o", "run.h5"), ("--figure", "f.pdf")):
        reading, writing = os.pipe()
        os.close(reading)
        result = probe(MH, *SHORT, option, scratch / name, stdout=writing)
        os.close(writing)
        run_failed(result, "standard output")
    assert listing(scratch) == ["f.pdf", "run.h5"]


@case
def progress_into_a_pipe_nobody_reads(scratch):
    """No death in the middle, which would leave an unfinished file."""
    reading, writing = os.pipe()
    os.close(reading)
    result = probe(MH, *SHORT, "--batch", "1", "--progress", "always", "-o", scratch / "run.h5", stderr=writing)
    os.close(writing)
    assert result.code == 0 and listing(scratch) == ["run.h5"], result


main()
