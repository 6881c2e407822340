#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Interventions on the command line: what is refused and how, what a run prints, saves and draws, and what --from makes of
it. That the numbers are right is tests/numeric/test_interventions.py's."""
import signal
import time

import h5py
import numpy as np

from harness import *

HERE = {"cwd": str(FIXTURES)}
TEXT = ["--tokens", "public-domain.u16", "--max-tokens", "150", "--context", "32", "--device", "cpu"]
HW, BLOCK = FIXTURES / "mini-full_hw", FIXTURES / "mini-block"

for title, words, args in [
    ("a source left out of nowhere", ["--ablate", "SITE:SOURCE", "“L3.mlp”"], [MH, "--ablate", "L3.mlp"]),
    ("nothing in a list", ["--ablate", "SITE:SOURCE"], [MH, "--ablate", "1:0,,2:0"]),
    ("a head with itself", ["--swap-heads", "1-1"], [MH, "--swap-heads=1-1"]),
    ("no weight kept", ["--top-k", "from 1 on"], [MH, "--top-k", "0"]),
    ("no head", ["--regroup", "from 1 on"], [MH, "--regroup=0"]),
    ("with --info", ["--consensus", "--info"], [MH, "--info", "--consensus"]),
    ("with --from", ["--ablation-map", "--from"], ["--from", "x.h5", "--ablation-map"]),
    ("with --weights-only", ["--top-k", "--weights-only"], [MH, "--weights-only", "--top-k", "1"]),
    ("unknown site", ["mini-full_mh", "“L3.mpl”", "L3.mlp"], [MH, "--ablate", "L3.mpl:embed"]),
    ("unknown site number", ["“77”"], [MH, "--uniform=77"]),
    ("unknown source", ["“embd”", "embed"], [MH, "--ablate", "L3.mlp:embd"]),
    ("unknown source anywhere", ["“block 1”"], [MH, "--ablate", "*:block 1"]),
    ("a source later than the site", ["“L3.mlp”"], [MH, "--ablate", "L1.mlp:L3.mlp"]),
    ("a place beyond the list", ["number 4", "its 4"], [MH, "--ablate", "L1.mlp:4"]),
    ("the only source", ["L0.attn", "no source"], [MH, "--ablate", "L0.attn:embed"]),
    ("a family without a member", ["“middle”"], [MH, "--ablate", "L0.mlp:middle"]),
    ("consensus of one source", ["nothing", "L0.attn"], [MH, "--consensus=L0.attn"]),
    ("consensus of one head", ["nothing", "two heads"], [FULL, "--consensus"]),
    ("heads that are not there", ["nothing", "both of the heads"], [MH, "--swap-heads=2-4"]),
    ("more kept than there are", ["nothing"], [MH, "--top-k", "9"]),
    ("as many heads as there are", ["nothing"], [MH, "--regroup", "4"]),
    ("whole rows regrouped", ["nothing", "slice"], [HW, "--regroup=L1.attn:4"]),
    ("heads that do not divide", ["7 heads", "64"], [MH, "--regroup", "7"]),
    ("nothing read over depth", ["nothing over depth"], [PLAIN, "--uniform"]),
    ("a map of nothing", ["--ablation-map"], [PLAIN, "--ablation-map"]),
    ("a map that was not asked for", ["--ablation-map"], [MH, "--ablate", "*:0", "--figure", "x.pdf", "--figure-kind", "ablation"]),
]:
    def refused(scratch, words, *args):
        refuse(scratch, 2, words, *args, outputs=False)
    add(f"refused: {title}", refused, words, *args)


@case
def the_words_of_one_intervention_are_many(scratch):
    """Labels, numbers and families name the same; one option may come several times, or take several."""
    named = report(MH, *SHORT, "--ablate", "L1.mlp:embed,3:0", "--ablate=3:embedding,L1.mlp:L0.attn,L1.mlp:oldest",
                   "--ablate", "L1.mlp:newest", "--ablate", "L1.mlp:3", "--consensus", "--consensus=0+")["checkpoints"][0]
    got = {x["spec"]: x["delta_loss"] for x in named["interventions"]}
    assert list(got) == ["L1.mlp:embed", "3:0", "3:embedding", "L1.mlp:L0.attn", "L1.mlp:oldest", "L1.mlp:newest", "L1.mlp:3",
                         "consensus=*", "consensus=0+"], got
    assert got["L1.mlp:embed"] == got["3:0"] == got["3:embedding"]
    assert got["L1.mlp:L0.attn"] == got["L1.mlp:oldest"] and got["L1.mlp:newest"] == got["L1.mlp:3"]
    assert got["consensus=*"] == got["consensus=0+"]
    assert len(set(got.values())) == 4
    assert "slice_kl" not in named and "head_js" not in named and "ablation_map" not in named


@case
def an_option_alone_takes_no_word_after_it(scratch):
    one = report("--uniform", MH, *SHORT)["checkpoints"][0]
    assert [x["spec"] for x in one["interventions"]] == ["uniform=*"]


@case
def windows_too_few_for_an_interval(scratch):
    one = report(MH, "--tokens", IDS, "--max-tokens", "64", "--context", "32", "--uniform")["checkpoints"][0]
    assert one["interventions"][0]["delta_loss_interval"] is None
    table = succeed(MH, "--tokens", IDS, "--max-tokens", "64", "--context", "32", "--uniform", "-q").out
    assert "uniform=*" in table and "[" not in table


@case
def the_map_is_the_ablations_of_its_cells(scratch):
    one = report(MH, *SHORT, "--ablation-map", "--ablate", "L1.mlp:2,final:0,L2.attn:newest")["checkpoints"][0]
    cells = one["ablation_map"]
    by_name = {(s, n): d for s, row, names in zip(cells["label"], cells["delta_loss"], cells["source_labels"])
               for n, d in zip(names, row)}
    asked = [x["delta_loss"] for x in one["interventions"]]
    assert asked == [by_name["L1.mlp", "L0.mlp"], by_name["final", "embed"], by_name["L2.attn", "L1.mlp"]]
    assert all(abs(sum(row) - 1) < 1e-6 for row in cells["mass"])
    assert [len(row) for row in cells["mass"]] == list(range(2, 10)) and "L0.attn" not in cells["label"]


@case
def probes_are_not_disturbed(scratch):
    """The same numbers with interventions and without, saved weights too."""
    for more in ([], ["--batch", "2"], ["--routing", "plain"]):
        with_them, without = scratch / "with.h5", scratch / "without.h5"
        succeed("mini-full_mh", *TEXT, "--all", "--null-draws", "3", "--save-weights", *more, "-o", without, **HERE)
        succeed("mini-full_mh", *TEXT, "--all", "--null-draws", "3", "--save-weights", *more, "-o", with_them, "--uniform",
                "--ablate", "L1.mlp:0", **HERE)
        with h5py.File(with_them) as a, h5py.File(without) as b:
            for name in ("weight", "head_js", "head_js_null", "cosine", "capture/weight", "sums/loss"):
                assert np.array_equal(a["checkpoint_0"][name][:], b["checkpoint_0"][name][:], equal_nan=True), (name, more)


@case
def batches_move_rounding_only(scratch):
    ask = ["mini-full_mh", *TEXT, "--ablation-map", "--uniform"]
    one, many = report(*ask, "--batch", "1", **HERE), report(*ask, "--batch", "4", **HERE)
    a, b = (np.concatenate([np.concatenate(r["checkpoints"][0]["ablation_map"]["delta_loss"]),
                            [r["checkpoints"][0]["interventions"][0]["delta_loss"]]]) for r in (one, many))
    print(f"# largest difference {np.abs(a - b).max() / 1e-6:.1%} of the allowance")
    assert np.abs(a - b).max() <= 1e-6 and report(*ask, "--batch", "4", **HERE)["checkpoints"] == many["checkpoints"]


@case
def from_is_the_run_again(scratch):
    file = scratch / "run.h5"
    for names in (["mini-full_mh"], ["mini-full", "mini-block"]):
        ask = [*names, *TEXT, "--ablation-map", "--ablate", "*:embed,final:newest", "--uniform=L1.mlp+"]
        printed = succeed(*ask, "-o", file, **HERE)
        assert printed.out == succeed("--from", file).out
        for style in ("markdown", "csv", "latex"):
            assert succeed(*ask, "--table", style, **HERE).out == succeed("--from", file, "--table", style).out
        run, again = report(*ask, **HERE), report("--from", file)
        assert run["checkpoints"] == again["checkpoints"]
        for ending in ("pdf", "svg", "png"):
            there, here = scratch / "there", scratch / "here"
            for place in (there, here):
                place.mkdir()
            succeed(*ask, "--figure", there / f"f.{ending}", "--figure-kind", "ablation", **HERE)
            succeed("--from", file, "--figure", here / f"f.{ending}", "--figure-kind", "ablation")
            made = sorted(p.name for p in there.iterdir())
            assert made and made == sorted(p.name for p in here.iterdir())
            assert all((there / name).read_bytes() == (here / name).read_bytes() for name in made)
            for place in (there, here):
                shutil.rmtree(place)


@case
def the_table_says_it_in_every_style(scratch):
    ask = ["mini-full_mh", *TEXT, "--ablation-map", "--ablate", "*:embed", "-q"]
    one = report(*ask, **HERE)["checkpoints"][0]
    text = succeed(*ask, **HERE).out
    value = one["interventions"][0]["delta_loss"]
    assert f"{value:+.4f} [" in text and "rank correlation with the mass" in text
    for style in ("markdown", "latex"):
        assert f"{value:+.4f} [" in succeed(*ask, "--table", style, **HERE).out
    lines = dict(line.split(",")[1:] for line in succeed(*ask, "--table", "csv", **HERE).out.splitlines())
    assert float(lines["delta_loss[*:embed]"]) == value
    assert float(lines["delta_loss_low[*:embed]"]) == one["interventions"][0]["delta_loss_interval"][0]
    cells = one["ablation_map"]
    assert float(lines["ablation_delta_loss[final:embed]"]) == cells["delta_loss"][-1][0]
    assert float(lines["ablation_mass[final:embed]"]) == cells["mass"][-1][0]
    assert float(lines["ablation_rank_correlation"]) == cells["rank_correlation"]


@case
def the_file_holds_what_the_numbers_were_made_of(scratch):
    file = scratch / "run.h5"
    succeed("mini-full_mh", *TEXT, "--ablation-map", "--ablate", "*:embed,final:newest", "-o", file, **HERE)
    one = report("--from", file)["checkpoints"][0]
    with h5py.File(file) as f:
        top = f["checkpoint_0"]
        asked, cells, sums = top["interventions"], top["ablation_map"], top["sums"]
        pairs, loss = sums["pairs"][:], sums["loss"][:]
        assert [s.decode() for s in asked["spec"][:]] == ["*:embed", "final:newest"]
        with_them = sums["intervention_loss"][:]
        assert with_them.shape == (5, 2)
        assert np.allclose((with_them - loss[:, None]).sum(0) / pairs.sum(), asked["delta_loss"][:], rtol=0, atol=1e-12)
        dropped = sums["ablation_loss"][:]
        assert np.isnan(dropped[:, 0]).all() and dropped.shape == (5, 9, 9)
        mean = (dropped - loss[:, None, None]).sum(0) / pairs.sum()
        assert np.allclose(mean[1:], cells["delta_loss"][:], rtol=0, atol=1e-12, equal_nan=True)
        assert np.allclose(sums["mass"][:].sum(0)[1:] / sums["count"][:].sum(), cells["mass"][:], rtol=0, atol=1e-12, equal_nan=True)
        for group, name, dims in ((cells, "delta_loss", ["site", "source"]), (cells, "delta_loss_interval", ["site", "source", "bound"]),
                                  (asked, "delta_loss_interval", ["intervention", "bound"]),
                                  (sums, "ablation_loss", ["window", "site", "source"])):
            assert [d[0].name.rsplit("/", 1)[-1] for d in group[name].dims] == dims, name
            assert all(d[0].parent == group for d in group[name].dims), name
            assert group[name].attrs["units"] in ("nat", b"nat")
        assert cells.attrs["signal"] == "delta_loss" and cells.attrs["rank_correlation"] == one["ablation_map"]["rank_correlation"]


@case
def a_damaged_file_is_refused(scratch):
    file, broken = scratch / "run.h5", scratch / "broken.h5"
    succeed("mini-full_mh", *TEXT, "--ablation-map", "--uniform", "-o", file, **HERE)

    def damage(change):
        shutil.copy(file, broken)
        with h5py.File(broken, "r+") as f:
            change(f["checkpoint_0"])
        for job in ([], ["--json"], ["--table", "csv"], ["--figure", scratch / "x.pdf", "--figure-kind", "ablation"]):
            check_refusal(probe("--from", broken, *job), 3, "broken.h5")
        assert not (scratch / "x.pdf").exists()

    def many_sources(c):
        c["ablation_map/n_sources"][3] = 99
    for group, names in (("interventions", ["spec", "n_edited", "loss", "delta_loss", "delta_loss_interval"]),
                         ("ablation_map", ["site_label", "n_sources", "source_label", "delta_loss", "delta_loss_interval", "mass"])):
        for name in names:
            damage(lambda c, where=f"{group}/{name}": c.__delitem__(where))
    damage(many_sources)


@case
def a_file_of_nothing_but_holes_is_printed(scratch):
    """Every number NaN: null, n/a or nothing, and a figure or one sentence; never a crash."""
    file = scratch / "run.h5"
    succeed("mini-full_mh", *TEXT, "--ablation-map", "--uniform", "-o", file, **HERE)
    with h5py.File(file, "r+") as f:
        for name in ("interventions/delta_loss", "interventions/delta_loss_interval", "ablation_map/delta_loss",
                     "ablation_map/delta_loss_interval", "ablation_map/mass"):
            f["checkpoint_0"][name][...] = np.nan
    assert report("--from", file)["checkpoints"][0]["interventions"][0]["delta_loss"] is None
    succeed("--from", file)
    succeed("--from", file, "--table", "csv")
    check_refusal(probe("--from", file, "--figure", scratch / "x.pdf", "--figure-kind", "ablation"), 3, "ablation")


@case
def a_figure_of_a_run_without_a_map_is_refused(scratch):
    succeed("mini-full_mh", *TEXT, "--uniform", "-o", scratch / "run.h5", **HERE)
    check_refusal(probe("--from", scratch / "run.h5", "--figure", scratch / "x.pdf", "--figure-kind", "ablation"), 3,
                  "--ablation-map")


@case
def an_interrupted_map_leaves_nothing(scratch):
    process = start(MH, "--tokens", IDS, "--max-tokens", "28000", "--context", "1024", "--batch", "16", "--ablation-map", "-o",
                    scratch / "x.h5", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"") and err.endswith(b"mhar-probe: interrupted; nothing was written\n"), err
    assert not list(scratch.iterdir())


main()
