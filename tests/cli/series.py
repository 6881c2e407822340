#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""--series: the steps of a training run in their order, their scalars as curves, and steps that cannot be read."""
import csv
import io

import h5py
import numpy as np

from harness import *

sys.path.insert(0, str(ORACLE))
import make_checkpoint  # noqa: E402

RUN = [*SHORT[:4], "--context", "32", "--null-draws", "2", "--device", "cpu"]
SMALL = "--layers 2 --width 32 --vocab 4096 --ffn 64".split()


def made(folder, *words, seed=1):
    sys.argv = ["make_checkpoint.py", str(folder), *SMALL, *map(str, words), "--seed", str(seed)]
    make_checkpoint.main()
    return folder


def a_run(scratch, steps=(9, 10, 100), stem="step-", words=()):
    for i, step in enumerate(steps):
        made(scratch / "run" / f"{stem}{step}", *words, seed=i)
    return scratch / "run"


@case
def steps_in_their_order(scratch):
    for stem in ("step-", "step_", "step", "checkpoint-", "iter-", "global_step"):
        place = scratch / stem
        whole = report("--series", a_run(place, stem=stem), *RUN, "--collinearity")
        assert whole["series"]["step"] == [9, 10, 100] and whole["series"]["skipped"] == []
        assert [os.path.basename(x["path"]) for x in whole["checkpoints"]] == [f"{stem}{n}" for n in (9, 10, 100)]
        assert whole["series"]["path"] == [x["path"] for x in whole["checkpoints"]]


@case
def every_scalar_is_that_of_its_checkpoint(scratch):
    whole = report("--series", a_run(scratch), *RUN)
    series, sets = whole["series"], whole["checkpoints"]
    groups = {"loss": ["loss"], "head_js_trained": ["head_js", "trained"], "head_js_median": ["head_js", "median"],
              "head_js_null": ["head_js", "null"], "head_js_excess": ["head_js", "excess"], "head_js_p_value": ["head_js", "p_value"],
              "max_deviation": ["depth_map", "max_deviation"], "null_max_deviation": ["depth_map", "null_max_deviation"],
              "replication_r": ["depth_map", "replication_r"], "head_correlation": ["depth_map", "head_correlation"],
              "collinearity_mean": ["collinearity", "mean"], "collinearity_mean_abs": ["collinearity", "mean_abs"]}
    for name, where in groups.items():
        for i, one in enumerate(sets):
            for key in where[:-1]:
                one = one[key]
            assert series[name][i] == one[where[-1]], name
            assert series.get(f"{name}_interval", [None] * 3)[i] == one.get(f"{where[-1]}_interval"), name
    assert not {"rope_theta", "rms_norm_eps"} & set(series) and len(set(series["loss"])) == 3


@case
def one_by_one_in_any_order(scratch):
    run = a_run(scratch)
    names = [run / "step-100", run / "step-9", run / "step-10"]
    assert report("--series", *names, *RUN)["series"] == report("--series", run, *RUN)["series"]
    assert report("--series", run / "step-10/", *RUN)["series"]["step"] == [10]


@case
def one_head_and_none(scratch):
    series = report("--series", a_run(scratch / "one", words=["--mode", "full"]), *RUN)["series"]
    assert len(series["slice_kl_trained"]) == 3 and "head_js_trained" not in series and "max_deviation" not in series
    series = report("--series", a_run(scratch / "none", words=["--mode", "baseline"]), *RUN)["series"]
    assert set(series) == {"step", "path", "skipped", "loss", "loss_interval", "collinearity_mean", "collinearity_mean_interval",
                           "collinearity_mean_abs", "collinearity_mean_abs_interval"}


# Steps that cannot be read

def broken(scratch):
    run = a_run(scratch, (9, 10, 100, 101, 102))
    data = (run / "step-101" / "model.safetensors").read_bytes()
    (run / "step-101" / "model.safetensors").write_bytes(data[:len(data) // 2])
    (run / "step-102" / "model.safetensors").unlink()
    (run / "step-200").mkdir()
    (run / "step-300.tmp").mkdir()  # not a step
    (run / "notes").mkdir()
    return run


@case
def a_step_that_is_still_being_written_is_skipped(scratch):
    run = broken(scratch)
    result = succeed("--series", run, *RUN, "--collinearity", "-o", scratch / "run.h5", "--json")
    said = result.err.splitlines()
    assert len(said) == 3 and all(line.startswith("mhar-probe: warning: skipped step-") for line in said), result.err
    assert [line.split("skipped ")[1].split(":")[0] for line in said] == ["step-101", "step-102", "step-200"]
    series = json.loads(result.out)["series"]
    assert series["step"] == [9, 10, 100] and [x.split(":")[0] for x in series["skipped"]] == ["step-101", "step-102", "step-200"]
    assert report("--from", scratch / "run.h5")["series"] == series
    assert succeed("--from", scratch / "run.h5").err == result.err
    assert probe("--series", run, *RUN, "--collinearity", "-q").err == ""


@case
def a_step_without_its_tokenizer_is_skipped(scratch):
    run = a_run(scratch)
    for step in (9, 100):
        shutil.copy(DEMO / "single" / "tokenizer.json", run / f"step-{step}")
    words = ["--prompt", "The river rose at night, and nobody had seen it.", "--collinearity", "--device", "cpu"]
    result = succeed("--series", run, *words, "-o", scratch / "run.h5", "--json")
    assert "skipped step-10: " in result.err and "tokenizer" in result.err
    assert json.loads(result.out)["series"]["step"] == [9, 100]
    with h5py.File(scratch / "run.h5") as f:
        assert "checkpoint_1" in f and "checkpoint_2" not in f and f["checkpoint_1"].attrs["path"].endswith("step-100")
        assert f["checkpoint_1/sums/count"].shape[0] == 1
    for step in (9, 100):
        (run / f"step-{step}" / "tokenizer.json").unlink()
    result = probe("--series", run, *words, "-q", "-o", scratch / "no.h5")
    check_refusal(result, 3, "step-9", "tokenizer")
    assert not (scratch / "no.h5").exists()


@case
def all_broken(scratch):
    run = broken(scratch)
    for step in (9, 10, 100):
        shutil.rmtree(run / f"step-{step}")
    result = probe("--series", run, *RUN, "-q", "-o", scratch / "no.h5")
    check_refusal(result, 3, "none of the 3 steps", "step-101")
    assert not (scratch / "no.h5").exists()


@case
def what_is_no_series(scratch):
    run = a_run(scratch)
    (scratch / "empty").mkdir()
    refuse(scratch, 3, ["empty", "step-N"], "--series", scratch / "empty", *RUN)
    refuse(scratch, 2, [str(MH), "step"], "--series", MH, *RUN)
    refuse(scratch, 2, ["nowhere", "step"], "--series", scratch / "nowhere", *RUN)
    refuse(scratch, 2, ["step-9", "step 9"], "--series", run, run / "step-9", *RUN)
    made(run / "step-5", "--layers", 3)
    refuse(scratch, 3, ["step-5", "step-9", "3 layers", "2"], "--series", run, *RUN)
    shutil.rmtree(run / "step-5")
    made(run / "step-5", "--mode", "full")
    refuse(scratch, 3, ["step-5", "full_mh", "one run"], "--series", run, *RUN)
    refuse(scratch, 2, "--series", run / "step-9", *RUN, "--figure-kind", "series")
    refuse(scratch, 2, "no checkpoint", "--series", *RUN)
    refuse(scratch, 2, "--series", "--series", "--sites", run, outputs=False)


@case
def outputs_do_not_overwrite_a_step(scratch):
    run = a_run(scratch, (9,))
    before = (run / "step-9" / "model.safetensors").read_bytes()
    check_refusal(probe("--series", run, *RUN, "-o", run / "step-9" / "model.safetensors"), 2, "overwritten")
    assert (run / "step-9" / "model.safetensors").read_bytes() == before


# What is printed, saved and drawn

@case
def tables_in_every_style(scratch):
    run = a_run(scratch)
    series = report("--series", run, *RUN)["series"]
    rows = list(csv.DictReader(io.StringIO(succeed("--series", run, *RUN, "--table", "csv").out)))
    assert [int(row["step"]) for row in rows] == [9, 10, 100] and [row["checkpoint"] for row in rows] == series["path"]
    assert not any(None in row or None in row.values() for row in rows)
    for name in ("loss", "head_js_trained", "head_js_null_sd", "max_deviation_p_value"):
        assert [float(row[name]) for row in rows] == series[name], name
    assert [[float(row["loss_low"]), float(row["loss_high"])] for row in rows] == series["loss_interval"]
    text = succeed("--series", run, *RUN).out
    assert text.count("step 100") == len(text.split("\n\n")) > 1 and max(map(len, text.splitlines())) <= 110
    for name in ("loss", "head JS", "replication r", "mean cosine"):
        assert text.count(name) >= 1, name
    lines = succeed("--series", run, *RUN, "--table", "markdown").out.splitlines()
    assert len(lines) == 5 and len({line.count("|") - line.count("\\|") for line in lines}) == 1
    assert succeed("--series", run, *RUN, "--table", "latex").out.count("\\\\\n") == 4


@case
def from_is_the_run_again(scratch):
    run, file = a_run(scratch), scratch / "run.h5"
    succeed("--series", run, *RUN, "-o", file)
    for how in ([], ["--table", "markdown"], ["--table", "csv"], ["--table", "latex"]):
        assert succeed("--series", run, *RUN, *how).out == succeed("--from", file, *how).out
    assert report("--series", run, *RUN)["series"] == report("--from", file)["series"]
    for ending in ("pdf", "svg", "png"):
        for look in ([], ["--theme", "dark"]):
            succeed("--series", run, *RUN, "--figure", scratch / f"run.{ending}", *look)
            succeed("--from", file, "--figure", scratch / f"from.{ending}", "--figure-kind", "series", *look)
            assert (scratch / f"run.{ending}").read_bytes() == (scratch / f"from.{ending}").read_bytes()
    succeed("--from", file, "--figure", scratch / "k.png", "--figure-kind", "kl")
    assert (scratch / "k-3.png").exists() and not (scratch / "k.png").exists()
    with h5py.File(file) as f:
        group = f["series"]
        assert group["step"].attrs["CLASS"] == b"DIMENSION_SCALE" and list(group["step"]) == [9, 10, 100] and group["loss"].dims[0][0].name == "/series/step"
        assert group["loss"].attrs["units"] in ("nat", b"nat") and "checkpoint_2" in f
    import xarray
    opened = xarray.open_dataset(file, group="series", engine="h5netcdf")
    assert list(opened.loss.sel(step=10).dims) == [] and float(opened.loss_low.sel(step=10)) < float(opened.loss.sel(step=10))


@case
def a_figure_of_one_step(scratch):
    run = a_run(scratch, (7,))
    succeed("--series", run, *RUN, "--figure", scratch / "one.svg")
    text = (scratch / "one.svg").read_text()
    assert "nan" not in text.lower().replace("provenance", "") and "<svg" in text


def damaged(scratch, change):
    succeed("--series", a_run(scratch), *RUN, "--collinearity", "-o", scratch / "run.h5")
    with h5py.File(scratch / "run.h5", "r+") as f:
        change(f["series"])
    for how in ([], ["--json"], ["--table", "csv"], ["--figure", scratch / "x.png"]):
        check_refusal(probe("--from", scratch / "run.h5", *how), 3, "run.h5", "series")
    assert not (scratch / "x.png").exists()


def turn_round(group):
    group["step"][:] = [100, 10, 9]


def drop_path(group):
    del group["path"]


def drop_curves(group):
    for name in list(group):
        if name not in ("step", "path"):
            del group[name]


add("steps that are not in order", damaged, turn_round)
add("a file that lacks the paths", damaged, drop_path)
add("a file that lacks every curve", damaged, drop_curves)

main()
