#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The window as a person uses it: opened, run, looked at, changed, exported, broken, closed; by AT-SPI and by keys."""
import csv
import json
import re
import shutil
import subprocess
import sys
import time

import h5py
import numpy as np

from desk import BUILD, DEMO, PROBE, TESTS, Missing, case, main, wait_for

sys.path.append(str(TESTS / "cli"))
import torchfile  # noqa: E402
from harness import read_tensors  # noqa: E402

# What the desk's settings ask for, as the command line says it.
SAME_RUN = ["--quiet", "--device", "cpu", "--context", "256", "--batch", "1", "--null-draws", "8"]
READS = ["--all", "--reads=*:*:*"]  # what the window asks for


def probe(*args):
    return subprocess.run([PROBE, *map(str, args)], capture_output=True, text=True, check=True).stdout


def alike(one, two, where=""):
    """Equal but for rounding: eight draws are eight columns of one product, three are three, and OpenBLAS may sum them in
    another order."""
    if isinstance(one, dict):
        assert one.keys() == two.keys(), (where, one.keys() ^ two.keys())
        for key in one:
            alike(one[key], two[key], f"{where}.{key}")
    elif isinstance(one, list):
        assert len(one) == len(two), where
        for i, (a, b) in enumerate(zip(one, two)):
            alike(a, b, f"{where}[{i}]")
    elif isinstance(one, float):
        assert abs(one - two) <= 1e-6 * max(abs(one), abs(two), 1e-3), (where, one, two)
    else:
        assert one == two, (where, one, two)


@case
def path_of_a_stranger(start, folder):
    """From the start page, by what can be seen and pressed alone: who reads the embedding most, whether the heads differ by more
    than chance, and the paper's Figure 4 as a file."""
    v = start()
    v.press("push button", "Four heads")
    wait_for(lambda: v.title() == "mhar")
    v.notice("13 sites of 1–13 sources")
    v.find("label", "^Press Run")
    v.press("push button", "^Run$")
    v.find("label", "tokens run", 2 * 60)
    run = json.loads(probe("--json", "--max-tokens", 1024, *SAME_RUN, DEMO / "mhar"))["checkpoints"][0]
    largest = max((w, s["label"], h) for s in run["per_site"] if s["sources"] > 1 for h, row in enumerate(s["weight"]) for w in row)
    said = v.says(rf"^{largest[1]}, head {largest[2]} reads {100 * largest[0]:.1f} % of .*its null")
    assert re.search(r"the deviation: too few draws to tell from its null \(p = 0\.\d\d\)$", said), said  # eight of them
    weight, site, head = max((row[0], s["label"], h) for s in run["per_site"] if s["sources"] > 1 for h, row in enumerate(s["weight"]))
    answer = f"^embed is read most by {site}, head {head}: {100 * weight:.1f}.%$"
    v.notice(answer)
    v.click(v.cell("Sites", "^L3.attn$"))
    v.says("^L3.attn")
    v.press("push button", answer)
    v.says(f"^{site}, head {head} reads {100 * weight:.1f} % of embed")
    v.click(v.find("page tab", "^Disagreement$"))
    v.says(r"its heads disagree by .*, its null \(random queries\) by .* — too few draws to tell from its null \(p = ")
    v.notice(r"heads disagree by 0\.\d+ .*: too few draws to tell from its null \(p = ")
    v.click(v.find("page tab", "^Maps$"))
    v.click(v.find("push button", "^Export$"))
    v.press("menu item", "Picture")
    dialog = wait_for(lambda: len(list(v.app)) > 1 and list(v.app)[1])
    v.find("label", "Figure 4", root=dialog)
    v.choose(dialog, folder / "figure4.pdf", "Save$")
    v.undialog()
    v.notice("Saved figure4.pdf")
    probe("--max-tokens", 1024, *SAME_RUN, DEMO / "mhar", "--figure", folder / "cli.pdf")
    assert (folder / "figure4.pdf").read_bytes() == (folder / "cli.pdf").read_bytes()
    v.close()


@case
def pages_and_selection(start, folder):
    v = start(DEMO / "mhar")
    v.run()
    v.key("alt+2")
    v.says("its heads disagree by")
    v.key("Next")
    v.says("^L1.attn: its heads disagree")
    v.key("alt+5")
    v.says("as if they were")
    v.key("alt+3")
    v.says("cosine")
    v.key("alt+1", "2")
    v.says("^L1.attn, head 1 reads")
    v.key("0")
    v.says("^L1.attn, mean of 4 heads")
    v.click(v.cell("Sites", "^L3.attn$"))
    v.says("^L3.attn, mean of 4 heads")
    v.click(v.cell("Sites", "^excess$"))  # sorted by excess: the largest, L3.attn, goes last
    v.click(v.cell("Sites", "^excess$"))
    wait_for(lambda: v.cell("Sites", r"^(L\d\.(attn|mlp)|final)$").name == "L3.attn")
    v.key("alt+6")
    v.says("Choose a second checkpoint")
    v.key("alt+4", "ctrl+t")
    v.cell("Numbers shown", "^head_0$")
    v.key("alt+3")
    v.cell("Numbers shown", "^output_b$")
    v.key("ctrl+t", "alt+1", "F6", "ctrl+t")
    v.cell("Numbers shown", "^weight_sd$")

    def focused():
        return [b.name for b in v.all("push button") if b.getState().contains(v.pyatspi.STATE_FOCUSED)]
    assert not focused(), focused()  # nothing beside the table comes into the way of the keys
    v.close()


def what_a_head_reads(v, folder):
    """On the page of reads, and saved from it."""
    v.key("alt+7", "2")
    run = json.loads(probe("--json", "--max-tokens", 1024, *SAME_RUN, "--reads=L0.mlp:1:*", DEMO / "mhar"))["checkpoints"][0]
    v.says("^L0.mlp, head 1 reads [0-9.]+ % of embed")
    embed, other = run["reads"]["cells"]

    def lines(name):
        return [re.search(r"^Token (\d+), .*: (0\.\d+)$", i.name).groups()
                for i in v.all("list item", "^Token", root=v.find("list", name))]

    def same(cell):
        for name, which in (("^Most weight", "most"), ("^Least weight", "least")):
            wanted = [(str(t["token"]), f"{t['weight']:.4f}") for t in cell[which]]
            wait_for(lambda: lines(name) == wanted)

    same(embed)
    v.key("period")
    same(other)
    v.key("0")
    v.find("label", "^Select one head")
    v.key("2", "comma")
    v.save_as("ctrl+shift+e", folder / "reads.csv")
    v.save_as("ctrl+e", folder / "reads.pdf")
    v.notice("Saved reads.pdf")
    rows = list(csv.DictReader((folder / "reads.csv").read_text("utf-8").splitlines()))
    by_class = next(s for s in run["reads"]["per_site"] if s["label"] == "L0.mlp")["weight_by_class"][1][0]
    letter = next(r for r in rows if (r["by"], r["which"]) == ("class", "letter"))
    assert (letter["site"], letter["head"], letter["source"]) == ("L0.mlp", "1", "embed"), letter
    assert abs(float(letter["weight"]) - by_class[0]) < 1e-6 and int(letter["tokens"]) == run["reads"]["class"]["tokens"][0]
    assert [r["token"] for r in rows if r["by"] == "most"] == [str(t["token"]) for t in embed["most"]]
    probe("--max-tokens", 1024, *SAME_RUN, "--reads=L0.mlp:1:embed", DEMO / "mhar", "--figure", folder / "cli.pdf", "--figure-kind", "reads")
    assert (folder / "reads.pdf").read_bytes() == (folder / "cli.pdf").read_bytes()


@case
def what_is_exported_is_what_the_command_line_makes(start, folder):
    v = start(DEMO / "mhar")
    v.run()
    v.save_as("ctrl+e", folder / "window.pdf")
    v.notice("Saved window.pdf")
    v.key("alt+2")
    v.save_as("ctrl+e", folder / "kl.svg")
    v.save_as("ctrl+shift+e", folder / "kl.csv")
    v.key("alt+3")
    v.says("cosine")
    v.save_as("ctrl+e", folder / "collinearity.pdf")
    v.key("alt+1", "ctrl+d")
    v.save_as("ctrl+e", folder / "depth-map.pdf")
    v.notice("Saved depth-map.pdf")
    v.save_as("ctrl+s", folder / "run.h5")
    v.notice("Saved run.h5")
    probe("--max-tokens", 1024, *SAME_RUN, *READS, DEMO / "mhar", "-o", folder / "cli.h5", "--figure", folder / "cli.pdf")
    probe("--quiet", "--from", folder / "cli.h5", "--figure", folder / "cli.svg", "--figure-kind", "kl")
    assert (folder / "window.pdf").read_bytes() == (folder / "cli.pdf").read_bytes()
    assert (folder / "kl.svg").read_bytes() == (folder / "cli.svg").read_bytes()
    for kind in ("collinearity", "depth-map"):
        probe("--quiet", "--from", folder / "cli.h5", "--figure", folder / "cli.pdf", "--figure-kind", kind)
        assert (folder / f"{kind}.pdf").read_bytes() == (folder / "cli.pdf").read_bytes(), kind
    one, two = (json.loads(probe("--json", "--from", folder / n))["checkpoints"] for n in ("run.h5", "cli.h5"))
    for run in one + two:
        run.pop("path")
    assert one == two
    rows = (folder / "kl.csv").read_text().splitlines()
    assert rows[0] == "site,sources,heads,trained,low,high,null,null_sd,excess,p_value" and len(rows) == 14, rows
    site = two[0]["head_js"]["per_site"][0]
    cells = rows[2].split(",")
    assert cells[0] == site["label"] and abs(float(cells[3]) - site["trained"]) < 1e-6 * site["trained"], (cells, site)
    what_a_head_reads(v, folder)
    v.close()


@case
def what_leaving_sources_out_does(start, folder):
    v = start(DEMO / "single")
    wait_for(lambda: v.title() == "single")
    v.key("alt+8")
    tokens = v.find("spin button", "tokens, at most")
    v.click(tokens, 0.2)
    v.key("ctrl+a")
    v.type("512")
    v.key("Tab")
    v.press("push button", "^Measure$")
    v.notice("512 tokens in 2 windows; rank correlation")
    v.find("push button", "^Run$")
    v.key("Next", "F6")
    said = v.says(r"^L0.mlp without embed, which has [\d.]+ % of its weight: loss \+[\d.]+ nat a token$")
    v.save_as("ctrl+e", folder / "window.pdf")
    v.save_as("ctrl+shift+e", folder / "map.csv")
    v.save_as("ctrl+s", folder / "run.h5")
    v.notice("Saved run.h5")
    probe("--max-tokens", 512, *SAME_RUN, "--ablation-map", DEMO / "single", "-o", folder / "cli.h5", "--figure", folder / "cli.pdf",
          "--figure-kind", "ablation")
    assert (folder / "window.pdf").read_bytes() == (folder / "cli.pdf").read_bytes()
    one, two = (json.loads(probe("--json", "--from", folder / n))["checkpoints"][0] for n in ("run.h5", "cli.h5"))
    one.pop("path"), two.pop("path")
    assert one == two
    rows = list(csv.DictReader((folder / "map.csv").read_text("utf-8").splitlines()))
    assert len(rows) == 90 and (rows[0]["site"], rows[0]["source"]) == ("L0.mlp", "embed"), rows[:2]
    assert f"{100 * float(rows[0]['mass']):.1f} %" in said and f"+{float(rows[0]['delta_loss']):.3f}" in said, (rows[0], said)
    v.key("ctrl+Return")
    v.find("label", "tokens run")
    v.open_by_dialog("ctrl+shift+o", folder / "run.h5")
    wait_for(lambda: v.title() == "run.h5")
    v.key("alt+8", "F6")
    assert v.says("^L0.mlp without embed") == said
    v.close()


@case
def measuring_is_left_at_any_time(start, folder):
    """Stopped, another checkpoint opened meanwhile, closed meanwhile."""
    v = start(DEMO / "mhar", tokens=0, settings="page=ablation\n")
    v.press("push button", "^Measure$")
    v.find("label", r"[1-9]\d? % · ")
    v.press("push button", "^Stop$")
    v.notice(r"^stopped after \d of 4 windows")  # 1,024 tokens of 256
    v.find("push button", "^Run again$")
    v.press("push button", "^Measure$")
    v.find("push button", "^Stop$")
    v.open_by_dialog("ctrl+shift+o", DEMO / "single" / "config.json")
    wait_for(lambda: v.title() == "single")
    v.find("push button", "^Run$")
    v.press("push button", "^Measure$")
    v.find("push button", "^Stop$")
    v.close()


@case
def another_null(start, folder):
    v = start(DEMO / "mhar", settings="null=1\nnull-norm=1\n")
    v.run()
    v.key("alt+2")
    v.says(r"its null \(shuffled queries\) by")
    v.save_as("ctrl+s", folder / "run.h5")
    probe("--max-tokens", 1024, *SAME_RUN, "--null-kind", "shuffled", "--null-norm", "slice", *READS, DEMO / "mhar", "-o", folder / "cli.h5")
    one, two = (json.loads(probe("--json", "--from", folder / n))["checkpoints"][0] for n in ("run.h5", "cli.h5"))
    one.pop("path"), two.pop("path")
    assert one == two and one["head_js"]["null_kind"] == "shuffled", one["head_js"]
    v.close()


@case
def steps_of_a_training_run(start, folder):
    (folder / "run").mkdir()
    for name in ("step-10", "step-20", "step-30"):
        (folder / "run" / name).symlink_to(DEMO / "mhar")
    probe("--max-tokens", 512, *SAME_RUN, "--collinearity", "--series", folder / "run", "-o", folder / "series.h5", "--figure",
          folder / "cli.pdf")
    v = start(folder / "series.h5")
    wait_for(lambda: v.title() == "series.h5")
    v.says("^3 checkpoints of one training run, steps 10 to 30")
    v.save_as("ctrl+e", folder / "window.pdf")
    assert (folder / "window.pdf").read_bytes() == (folder / "cli.pdf").read_bytes()
    v.save_as("ctrl+shift+e", folder / "series.csv")
    assert [r["step"] for r in csv.DictReader((folder / "series.csv").read_text("utf-8").splitlines())] == ["10", "20", "30"]
    v.open_by_dialog("ctrl+shift+o", DEMO / "mhar" / "config.json")
    wait_for(lambda: v.title() == "mhar")
    wait_for(lambda: not v.all("page tab", "^Series$"))
    v.close()


@case
def comparison_of_the_command_line(start, folder):
    """A file of mhar-probe --compare opens on its comparison, heads matched as there."""
    for name, seed in (("a", 1), ("b", 2)):
        subprocess.run([sys.executable, TESTS / "oracle/make_checkpoint.py", folder / name, "--layers", "2", "--width", "32", "--vocab",
                        "4096", "--ffn", "64", "--seed", str(seed)], check=True)
    probe("--max-tokens", 512, "--quiet", "--device", "cpu", "--context", 32, "--null-draws", 2, "--tokens",
          TESTS / "fixtures/public-domain.u16", "--compare", folder / "a", folder / "b", "-o", folder / "both.h5", "--figure", folder / "cli.svg")
    compared = json.loads(probe("--json", "--from", folder / "both.h5"))["compare"]
    assert compared["matching"] != sorted(compared["matching"]), compared["matching"]
    v = start(folder / "both.h5")
    wait_for(lambda: v.title() == "both.h5")
    pairs = ", ".join(f"{a}→{b}" for a, b in enumerate(compared["matching"]))
    v.notice(f"^Each head of A stands beside the head of B that reads most like it: {pairs}. They lie .* two halves of the text")
    v.key("0", "F6")
    v.says("difference of")
    v.save_as("ctrl+e", folder / "mean.svg")
    v.key("1")
    v.says(", head 0 reads .*difference of")
    v.save_as("ctrl+e", folder / "head.svg")
    assert (folder / "mean.svg").read_bytes() == (folder / "cli-1.svg").read_bytes()
    assert (folder / "head.svg").read_bytes() == (folder / "cli-2.svg").read_bytes()
    v.save_as("ctrl+shift+e", folder / "numbers.csv")
    rows = list(csv.DictReader((folder / "numbers.csv").read_text("utf-8").splitlines()))
    site = compared["per_site"][-1]
    there = [float(r["difference"]) for r in rows if r["site"] == site["label"]]
    assert np.allclose(there, np.ravel(site["difference"]), atol=1e-6), (there, site)
    v.close()


@case
def fixed_coefficients(start, folder):
    probe("--max-tokens", 128, "--quiet", "--device", "cpu", "--context", 64, "--tokens", TESTS / "fixtures/public-domain.u16",
          TESTS / "fixtures/mini-hyper", "-o", folder / "hyper.h5", "--figure", folder / "cli.pdf", "--figure-kind", "coefficients")
    v = start(folder / "hyper.h5")
    wait_for(lambda: v.title() == "hyper.h5")
    v.key("F6")
    v.says(r"^The input of L0.attn takes the output of embed [\d.]+ times")
    v.key("Down")
    v.says("^The input of L0.mlp takes")
    v.save_as("ctrl+e", folder / "window.pdf")
    assert (folder / "window.pdf").read_bytes() == (folder / "cli.pdf").read_bytes()
    v.key("alt+2")
    v.notice("^A hyper-connected model: it reads with fixed coefficients")
    v.close()


@case
def saved_run_without_its_checkpoint(start, folder):
    probe("--max-tokens", 512, *SAME_RUN, DEMO / "single", DEMO / "mhar", "-o", folder / "both.h5", "--figure", folder / "cli.pdf")
    v = start(folder / "both.h5")
    wait_for(lambda: v.title() == "both.h5")
    v.notice("Saved run of single")
    assert not v.all("push button", "^Run$")
    v.key("alt+6")
    v.says("difference of|counterpart")
    v.key("alt+1")
    v.save_as("ctrl+s", folder / "copy.h5")
    assert (folder / "copy.h5").read_bytes() == (folder / "both.h5").read_bytes()
    v.open_by_dialog("ctrl+shift+o", folder / "copy.h5")
    wait_for(lambda: v.title() == "copy.h5")
    v.close()


@case
def what_is_open_is_not_written_over(start, folder):
    there = folder / "copy"
    shutil.copytree(DEMO / "mhar", there)
    (folder / "read.txt").write_text("The same words, said again and again: the same words.")
    before = {p: p.read_bytes() for p in [*there.iterdir(), folder / "read.txt"]}
    v = start(there, tokens=64)
    wait_for(lambda: v.title() == "copy")
    v.open_by_dialog("ctrl+shift+t", folder / "read.txt")
    v.run()
    for keys, target in (("ctrl+shift+e", there / "config.json"), ("ctrl+s", there / "model.safetensors"),
                         ("ctrl+s", folder / "read.txt")):
        v.choose(v.dialog(keys), target, "Save$")
        wait_for(lambda: len(list(v.app)) == 3)  # whether to replace it
        wait_for(lambda: len(list(v.app)) == 1 or v.key("alt+r"), every=0.5)
        v.notice(f"^{target.name} is open here and would be lost")
    assert before == {p: p.read_bytes() for p in before}
    v.save_as("ctrl+s", folder / "run.h5")
    with h5py.File(folder / "run.h5") as f:
        assert f"--text '{folder}/read.txt'" in f["provenance"].attrs["command"]
    v.save_as("ctrl+shift+e", folder / "maps.csv")
    v.notice("Saved maps.csv")
    v.close()


@case
def checkpoint_in_one_file(start, folder):
    torchfile.save(folder / "step.pt", read_tensors(DEMO / "mhar" / "model.safetensors"))
    for name in ("config.json", "tokenizer.json"):
        shutil.copy(DEMO / "mhar" / name, folder / name)
    v = start(folder / "step.pt", tokens=256)
    wait_for(lambda: v.title() == "step.pt")
    v.notice("13 sites of 1–13 sources")
    v.run()
    said = v.says("reads")
    v.save_as("ctrl+s", folder / "run.h5")
    run = json.loads(probe("--json", "--max-tokens", 256, *SAME_RUN, DEMO / "mhar"))["checkpoints"][0]
    same = json.loads(probe("--json", "--quiet", "--from", folder / "run.h5"))["checkpoints"][0]
    assert same["per_site"] == run["per_site"], said
    v.close()


@case
def stopped_half_way(start, folder):
    v = start(DEMO / "single", tokens=0)
    v.key("ctrl+Return")
    v.find("label", "[1-9]\\d? % · ")
    v.key("Escape")
    said = v.notice(r"stopped after \d+ of 112 windows")
    v.says("reads")
    v.save_as("ctrl+s", folder / "part.h5")
    run = json.loads(probe("--json", "--quiet", "--from", folder / "part.h5"))["checkpoints"][0]
    assert 0 < run["windows"] < 112 and f"after {run['windows']} of" in said, (run["windows"], said)
    assert any("stopped after" in w for w in run["warnings"])
    v.close()


@case
def broken_checkpoint(start, folder):
    broken = folder / "broken"
    broken.mkdir()
    (broken / "config.json").write_text("{\"model_type\": \"qwen3\"}")
    v = start(DEMO / "mhar")
    wait_for(lambda: v.title() == "mhar")
    v.open_by_dialog("ctrl+shift+o", broken / "config.json")
    said = v.notice("config.json")
    cli = subprocess.run([PROBE, broken], capture_output=True, text=True)
    assert cli.returncode == 3 and cli.stderr.strip().removeprefix("mhar-probe: ") == said, (said, cli.stderr)
    v.find("push button", "Choose another")
    garbage = folder / "garbage.h5"
    garbage.write_bytes(bytes(range(256)) * 64)
    v.open_by_dialog("ctrl+shift+o", garbage)
    v.notice("garbage.h5")
    assert v.title() == "mhar"
    assert v.title() == "mhar"
    v.run()
    assert not v.all("label", "config.json")
    v.close()


@case
def keyboard_alone(start, folder):
    v = start()

    def focused():
        """something that has the focus"""
        return next(((at.getRoleName(), at.name) for at in v.walk() if at.getState().contains(v.pyatspi.STATE_FOCUSED)), None)

    for _ in range(12):
        before = focused()
        if before is not None and "heads a read" in before[1]:
            break
        v.key("Tab")
        wait_for(lambda: focused() not in (None, before))
    v.key("Return")
    wait_for(lambda: v.title() == "mhar")
    v.run()
    first = v.says("reads [0-9.]+ % of embed")
    v.key("Right")
    moved = v.says("of L0.attn")
    assert moved != first
    v.key("Down", "Down")
    v.says("^L1.mlp")
    v.key("ctrl+d")
    v.key("F11")
    v.key("ctrl+l", "ctrl+a")
    v.type("The same words, said again and again: the same words.")
    v.key("ctrl+Return")
    v.notice(r"^\d\d tokens run\.")
    v.key("ctrl+question")
    wait_for(lambda: len(list(v.app)) > 1)
    wait_for(lambda: v.key("Escape") or len(list(v.app)) == 1, every=0.5)
    v.close()


@case
def odd_texts(start, folder):
    v = start(DEMO / "mhar", tokens=64)
    v.run()
    said = {"one.txt": (b"a", "one.txt with mhar: too few tokens \\(1\\)[^-]*$"), "empty.txt": (b"", "^.*empty.txt"),
            "latin.txt": (b"caf\xe9 au lait", "^latin.txt is not UTF-8"),
            "long.txt": (b"The quick brown fox jumps over the lazy dog. " * 110000, "^64 of [0-9]* tokens run|only its beginning")}
    for name, (content, pattern) in said.items():
        (folder / name).write_bytes(content)
        v.open_by_dialog("ctrl+shift+t", folder / name)
        if name in ("one.txt", "long.txt"):  # the others leave the text that was there before
            v.key("ctrl+Return")
        print("#", name, "-", v.notice(pattern), flush=True)
    v.notice("^long.txt, 5")
    v.find("push button", "^Run$", 2 * 60)
    v.close()


@case
def checkpoint_taken_away(start, folder):
    there = folder / "copy"
    shutil.copytree(DEMO / "mhar", there)
    v = start(there, tokens=512)
    v.run()
    shutil.rmtree(there)
    v.key("ctrl+l", "ctrl+a")
    v.type("What is open stays open: it is mapped.")
    v.key("ctrl+Return")
    v.notice(r"^\d\d tokens run\.")
    v.key("alt+2", "alt+3", "alt+4", "alt+5", "alt+6", "alt+1")
    v.says("reads")
    v.save_as("ctrl+s", folder / "after.h5")
    v.close()


@case
def comparing_two(start, folder):
    """Four heads against one, of which only the means can be compared, and two runs of as many heads but of other texts."""
    probe("--prompt", "All happy families are alike.", *SAME_RUN, DEMO / "mhar", "-o", folder / "other.h5")
    v = start(DEMO / "mhar")
    wait_for(lambda: v.title() == "mhar")
    v.open_by_dialog("ctrl+m", DEMO / "single")
    wait_for(lambda: v.title() == "mhar against single")
    v.find("label", "tokens run")
    said = v.says(r"^\S+, mean over heads \(4 in A, 1 in B\), reads .* in A and .* points$")
    deviation, weight = (v.find("push button", f"^{name}$") for name in ("Deviation", "Weight"))
    wait_for(lambda: not deviation.getState().contains(v.pyatspi.STATE_SENSITIVE))
    wait_for(lambda: weight.getState().contains(v.pyatspi.STATE_PRESSED))
    v.key("F6", "4")
    v.save_as("ctrl+shift+e", folder / "numbers.csv")
    assert v.sentence() == said
    rows = list(csv.DictReader((folder / "numbers.csv").read_text("utf-8").splitlines()))
    assert {r["head"] for r in rows} == {"mean"} and len(rows) == 91, rows[:3]
    site, a, source, b = re.search(r"^(\S+), .* reads ([\d.]+) % of (\S+) in A and ([\d.]+) %", said).groups()
    row = next(r for r in rows if (r["site"], r["source"]) == (site, source))
    assert (f"{100 * float(row['weight_a']):.1f}", f"{100 * float(row['weight_b']):.1f}") == (a, b), (row, said)
    v.key("ctrl+alt+m", "ctrl+t")
    wait_for(lambda: v.title() == "mhar")
    v.says("Choose a second checkpoint")
    v.find("push button", "^Compare with a saved run…$")
    v.key("ctrl+t")
    v.open_by_dialog("ctrl+shift+m", folder / "other.h5")
    v.notice(r"^B ran another text: \d+ tokens of .*, A 1024 tokens of bundled text")
    v.key("F6", "4")
    v.says(r", head 3 reads \S+ [+−]?[\d.]+ points off the head mean in A and [+−]?[\d.]+ in B")
    wait_for(lambda: v.find("push button", "^Deviation$").getState().contains(v.pyatspi.STATE_PRESSED))
    v.key("ctrl+d")
    v.says(", head 3 reads .* % in B: a difference of")
    v.close()


@case
def closing_in_mid_run_leaves_nothing(start, folder):
    v = start(DEMO / "mhar", tokens=0)
    v.key("ctrl+Return")
    v.find("label", "[1-9]\\d? % · ")
    v.close()
    left = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()} - {"stderr"}
    assert all(name.startswith(("config/mhar-probe/settings.ini", "cache/", "data/recently", "config/gtk-4.0")) or "fontconfig" in name
               for name in left), left


@case
def fewer_draws_without_a_run(start, folder):
    v = start(DEMO / "mhar")
    v.run()
    draws = v.find("spin button", "^draws$")
    v.click(draws, 0.2)
    v.key("ctrl+a")
    v.type("3")
    v.key("Tab")
    wait_for(lambda: draws.queryValue().currentValue == 3)
    v.press("push button", "^Recompute$")
    v.find("label", "Computed anew from the last run")
    v.save_as("ctrl+s", folder / "run.h5")
    probe("--max-tokens", 1024, *SAME_RUN[:-1], 3, *READS, DEMO / "mhar", "-o", folder / "cli.h5")
    one, two = (json.loads(probe("--json", "--from", folder / n))["checkpoints"] for n in ("run.h5", "cli.h5"))
    for run in one + two:
        run.pop("path")
    assert one[0]["head_js"]["draws"] == 3, one[0]["head_js"]
    alike(one, two)
    v.close()


def need_other_program():
    """Where PyGObject has no GTK 4, there is no other program to drag from."""
    if subprocess.run([sys.executable, "-c", "import gi; gi.require_version('Gtk', '4.0')"], capture_output=True).returncode != 0:
        raise Missing("PyGObject or gir1.2-gtk-4.0 is not installed")


def german(folder):
    """A German locale that the program can use, made if need be."""
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", folder / "de_DE.UTF-8"], capture_output=True)
    if not (folder / "de_DE.UTF-8").is_dir():
        raise Missing(f"no locale de_DE.UTF-8 can be made: {made.stderr[:80]}")
    return {"locale": "de_DE.UTF-8", "env": {"LOCPATH": str(folder)}}


@case
def another_locale(start, folder):
    v = start(DEMO / "mhar", **german(folder))
    v.run()
    v.says(r"reads \d+,\d % of")
    v.save_as("ctrl+e", folder / "window.pdf")
    v.save_as("ctrl+shift+e", folder / "maps.csv")
    probe("--max-tokens", 1024, *SAME_RUN, DEMO / "mhar", "--figure", folder / "cli.pdf")
    assert (folder / "window.pdf").read_bytes() == (folder / "cli.pdf").read_bytes()
    assert all(line.count(",") == 6 for line in (folder / "maps.csv").read_text().splitlines())
    v.close()


@case
def what_the_text_was_run_as(start, folder):
    """The line under the text goes with an edit and with the checkpoint; the place in the text stays when pages are turned."""
    v = start(DEMO / "mhar", tokens=2048)
    v.run()
    v.key("alt+4")
    v.find("label", "Point at a token")

    def seen():
        """a part of the page, nothing pointed at"""
        subprocess.run(["xdotool", "mousemove", "5", "5"], check=True)
        time.sleep(0.5)
        return subprocess.run(["import", "-window", "root", "-crop", "500x200+340+150", "+repage", "rgb:-"], check=True,
                              capture_output=True).stdout

    top = seen()
    subprocess.run(["xdotool", "mousemove", "600", "250", "click", "--repeat", "20", "5"], check=True)
    wait_for(lambda: seen() != top)
    there = seen()
    for page in ("alt+1", "alt+2"):
        v.key(page)
        wait_for(lambda: seen() not in (there, top))
        v.key("alt+4")
        wait_for(lambda: seen() == there)
    v.open_by_dialog("ctrl+shift+o", DEMO / "single" / "config.json")
    wait_for(lambda: v.title() == "single" and not v.all("label", "tokens run"))
    v.run()
    v.key("ctrl+l")
    v.type("More words. ")
    v.find("label", "^edited since it was run")
    v.close()


@case
def ends_of_a_fixed_scale(start, folder):
    """Weights, deviations and cosines have ends of their own, which stay, and what is drawn has them."""
    v = start(DEMO / "mhar", settings="scale=fixed\n")
    v.run()

    def ends():
        return tuple(v.find("spin button", f"{end} end of the colour scale").queryValue().currentValue for end in ("Low", "High"))

    wait_for(lambda: ends() == (-0.1, 0.1))
    v.key("ctrl+d")
    wait_for(lambda: ends() == (0, 1))
    v.key("alt+3")
    wait_for(lambda: ends() == (-1, 1))
    v.save_as("ctrl+e", folder / "wide.png")
    v.click(v.find("spin button", "High end of the colour scale"), 0.2)
    v.key("ctrl+a")
    v.type("0.5")
    v.key("Tab")
    wait_for(lambda: ends() == (-1, 0.5))
    v.save_as("ctrl+e", folder / "narrow.png")
    assert (folder / "wide.png").read_bytes() != (folder / "narrow.png").read_bytes()
    v.key("alt+1")
    wait_for(lambda: ends() == (0, 1))
    v.find("label", "^Selection$")  # the fields push no column out
    v.close()
    settings = (folder / "config/mhar-probe/settings.ini").read_text()
    assert "cosine-high=0.5" in settings and "weight-high=1" in settings, settings


@case
def decimal_comma_typed(start, folder):
    v = start(DEMO / "mhar", settings="scale=fixed\nlow=0\nhigh=1\n", **german(folder))
    v.run()
    low = v.find("spin button", "Low end of the colour scale")
    v.click(low, 0.2)
    v.key("ctrl+a")
    v.type("0,25")
    v.key("Tab")
    wait_for(lambda: abs(low.queryValue().currentValue - 0.25) < 1e-9)
    v.close()
    assert "low=0.25" in (folder / "config/mhar-probe/settings.ini").read_text()


@case
def in_german(start, folder):
    there = german(folder)
    there["env"].update(LANGUAGE="de", MHAR_LOCALE_DIR=str(BUILD / "po"))
    v = start(DEMO / "mhar", **there)
    v.find("push button", "^Ausführen$")
    v.key("ctrl+Return")
    v.notice("Token verarbeitet")
    v.says(r"liest \d+,\d % von")
    v.close()


@case
def names_that_are_not_ascii(start, folder):
    there = folder / "Prüfstände 模型"
    there.symlink_to(DEMO / "mhar")
    v = start(there)
    wait_for(lambda: v.title() == "Prüfstände 模型")
    v.run()
    v.save_as("ctrl+s", folder / "läuft.h5")
    v.notice("Saved läuft.h5")
    v.close()
    v = start()
    v.find("push button", "Prüfstände|läuft")
    v.close()


@case
def dropped(start, folder):
    """What is let go over the window, and what is pasted into it."""
    need_other_program()
    words = "The same words, said again and again."
    for name in ("a.txt", "notes"):
        (folder / name).write_text(words)
    (folder / "nothing").mkdir()
    (folder / "broken").symlink_to(folder / "gone")
    (folder / "x.h5").write_bytes(b"no HDF5 file at all")
    v = start(tokens=64)
    card = v.find("push button", "Four heads")
    for uris, said in (([(folder / "a.txt").as_uri()], "^a.txt is the text to run; open a checkpoint to run it with$"),
                       ([(folder / "nothing").as_uri()], "nothing: has no config.json"),
                       (["https://example.org/model"], "^https://example.org/model is not on this computer"),
                       ([(folder / "broken").as_uri()], "broken: there is no such"),
                       ([(folder / "x.h5").as_uri()], "x.h5 is not an HDF5 file"),
                       ([(DEMO / n).as_uri() for n in ("mhar", "single")], "^Drop one checkpoint, saved run or text at a time$")):
        assert v.drop(card, *uris)
        v.notice(said)
        assert v.title() == "Depth routing", uris
    assert v.drop(card, (DEMO / "mhar").as_uri())
    wait_for(lambda: v.title() == "mhar")
    text = v.find("text", "^Text to run$")
    wait_for(lambda: v.text(text) == words)  # kept for the checkpoint that came
    v.key("ctrl+l", "ctrl+a")
    v.type("mine")
    assert v.drop(text, (folder / "notes").as_uri())  # and not its name among the words
    wait_for(lambda: v.text(text) == words)
    assert v.drop(text, (DEMO / "single").as_uri())
    wait_for(lambda: v.title() == "single")
    long = words * 28000
    v.key("ctrl+l", "ctrl+a")
    v.paste(long)
    v.notice("^Long text: only its beginning is shown")
    v.notice("^prompt, 1.0.MB$")
    wait_for(lambda: long.startswith(v.text(text)))
    v.run()
    v.notice(r"^64 of \d{6} tokens run")
    v.key("ctrl+l")
    v.paste(words)
    wait_for(lambda: v.text(text) == words)
    v.close()


@case
def nowhere_to_write(start, folder):
    """A full disk, then a folder that cannot be written: one sentence, and nothing half written."""
    place = folder / "place"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12k", "none", place], capture_output=True).returncode != 0:
        raise Missing("no file system can be mounted here")
    try:
        v = start(DEMO / "mhar", tokens=256)
        v.run()
        (place / "old.csv").write_text("kept")
        for mode, said in (("rw", "No space left on device; free some space or choose another folder"), ("ro", "Read-only file system")):
            subprocess.run(["mount", "-o", f"remount,{mode}", place], check=True)
            for keys, name in (("ctrl+e", "a.pdf"), ("ctrl+shift+e", "a.csv"), ("ctrl+s", "a.h5")):
                v.choose(v.dialog(keys), place / name, "Save$")
                v.undialog()
                v.notice(f"^cannot write {place / name}: .*{said}")
                v.find("push button", "^Choose another place")
                assert [p.name for p in place.iterdir()] == ["old.csv"], (name, list(place.iterdir()))
        assert (place / "old.csv").read_text() == "kept"
        v.close()
    finally:
        subprocess.run(["umount", "-l", place], check=True)


if __name__ == "__main__":
    main()
