#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What a good run leaves behind: figures, the HDF5 file, and what --from makes of that file."""
import h5py
import numpy as np

from harness import *

# Paths in outputs are as given, so runs start from the fixtures' folder.
HERE = {"cwd": str(FIXTURES)}
TEXT = ["--tokens", "public-domain.u16", "--max-tokens", "150", "--context", "64", "--null-draws", "4", "--device", "cpu"]
THREE = ["mini-full", "mini-full_mh", "mini-baseline"]


# A saved run printed and drawn again

@case
def from_is_the_run_again(scratch):
    for names, kinds in ((THREE, [None, "collinearity"]), (["mini-full_mh"], ["deviation", "depth-map", "kl", "collinearity"]),
                         (["mini-full"], ["depth-map", "kl"]), (["mini-hyper"], [None, "coefficients"]),
                         (["mini-full_mh", "mini-block"], [None, "reads"]), ([str(DEMO / "mhar")], ["reads"])):
        file = scratch / "run.h5"
        more = ["--match-sources", "6", "--slices", "4,2", "--null-kind", "shuffled,random"] if names is THREE else ["--reads"] if "reads" in kinds else []
        printed = succeed(*names, *TEXT, *more, "-o", file, **HERE)
        assert printed.out == succeed("--from", file).out
        for style in ("markdown", "csv", "latex"):
            assert succeed(*names, *TEXT, *more, "--table", style, **HERE).out == succeed("--from", file, "--table", style).out
        run, again = report(*names, *TEXT, *more, **HERE), report("--from", file)
        assert run["checkpoints"] == again["checkpoints"]
        assert {k: v for k, v in run.items() if k != "command"} == {k: v for k, v in again.items() if k != "command"}
        for kind in kinds:
            chosen = ["--figure-kind", kind] if kind else []
            for ending in ("pdf", "svg", "png"):
                for look in ([], ["--theme", "dark", *([] if kind in ("kl", "reads") else ["--first-sites", "0"]), "--style", "authors"]):
                    if look and (ending == "png" or kind == "collinearity"):
                        continue
                    there, here = scratch / "there", scratch / "here"
                    for place in (there, here):
                        place.mkdir()
                    succeed(*names, *TEXT, *more, "--figure", there / f"f.{ending}", *chosen, *look, **HERE)
                    succeed("--from", file, "--figure", here / f"f.{ending}", *chosen, *look)
                    made = sorted(p.name for p in there.iterdir())
                    several = len(names) > 1 and ending != "pdf"
                    assert made == ([f"f-{i + 1}.{ending}" for i in range(len(names))] if several else [f"f.{ending}"]), made
                    for name in made:
                        data = (there / name).read_bytes()
                        assert data == (here / name).read_bytes(), (names, kind, name)
                        assert data.startswith({"pdf": b"%PDF", "svg": b"<?xml", "png": b"\x89PNG"}[ending])
                    for place in (there, here):
                        shutil.rmtree(place)


@case
def from_names_what_it_cannot_draw(scratch):
    succeed("mini-full", *TEXT, "-o", scratch / "run.h5", **HERE)
    refusal = probe("--from", scratch / "run.h5", "--figure", scratch / "x.pdf", "--figure-kind", "deviation")
    check_refusal(refusal, 3, "mini-full")
    assert not (scratch / "x.pdf").exists()


# The HDF5 file as others see it; its layout has tests of its own.

@case
def file_says_where_it_came_from(scratch):
    succeed("mini-full", "mini-full_mh", *TEXT, "--seed", "7", "-o", scratch / "run.h5", **HERE)
    with h5py.File(scratch / "run.h5") as f:
        about = f["provenance"].attrs
        assert about["command"].startswith("mhar-probe mini-full mini-full_mh --tokens public-domain.u16")
        assert (about["text"], about["device"], about["seed"], about["context"]) == ("public-domain.u16", "cpu", "7", 64)
        assert about["text_tokens"] == 28505
        assert f["checkpoint_1"].attrs["path"] == "mini-full_mh" and "checkpoint_2" not in f


@case
def file_names_the_default_context(scratch):
    succeed("mini-full", "--tokens", "public-domain.u16", "--max-tokens", "50", "--collinearity", "-o", scratch / "run.h5", **HERE)
    with h5py.File(scratch / "run.h5") as f:
        assert f["provenance"].attrs["context"] == 1024


def saved_weights(scratch, width):
    file = scratch / "run.h5"
    succeed("mini-full_mh", *TEXT, "--batch", "2", f"--save-weights={width}" if width else "--save-weights", "-o", file, **HERE)
    with h5py.File(file) as f:
        one = f["checkpoint_0"]
        captured, mean = one["capture/weight"], one["weight"][:]
        assert captured.dtype == (np.float16 if width == "f16" else np.float32) and captured.shape == (150, *mean.shape)
        assert np.array_equal(one["capture/token"][:], np.arange(150))
        every = captured[:].astype(np.float64)
        assert np.array_equal(np.isnan(every[0]), np.isnan(mean)) and np.array_equal(np.isnan(every).any(0), np.isnan(every).all(0))
        tolerance = 5e-4 if width == "f16" else 1e-6
        assert np.allclose(np.nansum(every, axis=-1), 1, atol=4 * tolerance)
        error = np.nanmax(np.abs(every.mean(0) - mean))
        print(f"# largest |mean of the saved − depth map|: {error / tolerance:.1%} of the allowance")
        assert error <= tolerance


for width in ("", "f32", "f16"):
    add(f"saved weights average to the depth map: {width or 'no width given'}", saved_weights, width)


@case
def saved_weights_of_several_checkpoints(scratch):
    succeed(*THREE, *TEXT, "--save-weights", "-o", scratch / "run.h5", **HERE)
    with h5py.File(scratch / "run.h5") as f:
        shapes = [f[f"checkpoint_{i}"].get("capture/weight") for i in range(3)]
        assert shapes[0].shape == (150, 9, 1, 9) and shapes[1].shape == (150, 9, 4, 9) and shapes[2] is None


@case
def skipped_positions_are_left_out_of_saved_weights_or_said_to_be(scratch):
    """The mean over what is saved, less the skipped positions, is still the depth map."""
    succeed("mini-full_mh", *TEXT, "--skip-first", "8", "--save-weights", "-o", scratch / "run.h5", **HERE)
    with h5py.File(scratch / "run.h5") as f:
        one = f["checkpoint_0"]
        token, every = one["capture/token"][:], one["capture/weight"][:].astype(np.float64)
        counted = token % 64 >= 8
        assert counted.sum() == one.attrs["tokens"] == 150 - 3 * 8
        assert np.nanmax(np.abs(every[counted].mean(0) - one["weight"][:])) < 1e-6


@case
def file_through_a_symbolic_link(scratch):
    (scratch / "real").mkdir()
    (scratch / "link.h5").symlink_to("real/run.h5")
    (scratch / "real" / "run.h5").write_bytes(b"old")
    succeed("mini-full", *TEXT, "-o", scratch / "link.h5", **HERE)
    assert (scratch / "link.h5").is_symlink() and h5py.is_hdf5(scratch / "real" / "run.h5")


main()
