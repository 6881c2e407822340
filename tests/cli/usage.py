#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A command line that makes no sense: exit 2 and one sentence, before any file is looked at. And what --help says."""
import re

from harness import *


def misuse(scratch, words, *args, outputs=False):
    refuse(scratch, 2, words, *args, outputs=outputs)


for title, words, args in [
    ("nothing", "mhar-probe --help", []),
    ("no checkpoint", "no checkpoint", ["--kl"]),
    ("unknown option", "--frobnicate", [MH, "--frobnicate"]),
    ("unknown letter", "-x", [MH, "-x"]),
    ("abbreviated option", "--collin", [MH, "--collin"]),
    ("argument missing", "--context", [MH, "--context"]),
    ("two inputs: text and prompt", "choose one", [MH, "--text", "a", "--prompt", "b"]),
    ("two inputs: text and tokens", "choose one", [MH, "--text", "a", "--tokens", "b.u16"]),
    ("two inputs: prompt and tokens", "choose one", [MH, "--prompt", "a", "--tokens", "b.u16"]),
    ("two jobs: info and sites", "choose one", [MH, "--info", "--sites"]),
    ("two jobs: verify and from", "choose one", [MH, "--verify", "r", "--from", "x.h5"]),
    ("two jobs: devices and info", "choose one", [MH, "--info", "--devices"]),
    ("--from and a checkpoint", "no checkpoint", [MH, "--from", "x.h5"]),
    ("--devices and a checkpoint", "no checkpoint", [MH, "--devices"]),
    ("--verify without a checkpoint", "no checkpoint", ["--verify", "r"]),
    ("--verify and two checkpoints", "one checkpoint", [MH, FULL, "--verify", "r"]),
    ("--save-weights without -o", "-o FILE.h5", [MH, "--save-weights"]),
    ("--save-weights without a value takes no word after it", "-o FILE.h5", ["--save-weights", MH]),
    ("--save-weights of another width", "f32, f16", [MH, "--save-weights=f64", "-o", "x.h5"]),
    ("figure without an ending", ".pdf, .svg or .png", [MH, "--figure", "x"]),
    ("figure of another ending", ".pdf, .svg or .png", [MH, "--figure", "x.jpeg"]),
    ("figure of an ending in the folder's name", ".pdf, .svg or .png", [MH, "--figure", "x.pdf/y"]),
    ("figure and file of one name", "same file", [MH, "--figure", "x.png", "-o", "x.png"]),
    ("figure kind", "deviation, depth-map, kl, collinearity, coefficients, ablation", [MH, "--figure", "x.png", "--figure-kind", "pie"]),
    ("theme", "light, dark", [MH, "--theme", "blue"]),
    ("style", "default, authors", [MH, "--style", "jet"]),
    ("table", "text, markdown, csv, latex", [MH, "--table", "html"]),
    ("progress", "auto, always, never", [MH, "--progress", "often"]),
    ("precision", "fp32, bf16", [MH, "--precision", "fp8"]),
    ("slicing", "contiguous, interleaved", [MH, "--slicing", "random"]),
    ("null norm", "query, slice", [MH, "--null-norm", "none"]),
    ("routing", "lookahead, plain", [MH, "--routing", "x"]),
    ("device", "gpu7", [MH, *SHORT, "--device", "gpu7"]),
    ("device number", "cuda:x", [MH, *SHORT, "--device", "cuda:x"]),
    ("-o with --info", "-o", [MH, "--info", "-o", "x.h5"]),
    ("-o with --from", "-o", ["--from", "x.h5", "-o", "y.h5"]),
    ("-o with --verify", "-o", [MH, "--verify", "r", "-o", "y.h5"]),
    ("--figure with --sites", "--figure", [MH, "--sites", "--figure", "x.pdf"]),
    ("--text with --sites", "--sites", [MH, "--sites", "--text", "x"]),
    ("--tokens with --verify", "--verify", [MH, "--verify", "r", "--tokens", "x.u16"]),
    ("--prompt with --from", "--from", ["--from", "x.h5", "--prompt", "x"]),
    ("--save-reference and two checkpoints", "one checkpoint", [MH, FULL, "--save-reference", "r"]),
    ("--json with --devices", "--json", ["--devices", "--json"]),
    ("deviation of one head", "one routing head", [FULL, *SHORT, "--figure", "x.pdf", "--figure-kind", "deviation"]),
    ("depth map of a plain Transformer", "collinearity", [PLAIN, *SHORT, "--figure", "x.pdf", "--figure-kind", "depth-map"]),
    ("coefficients of a model without hyper-connections", "choose deviation, kl, collinearity or depth-map", [MH, *SHORT, "--figure", "x.pdf", "--figure-kind", "coefficients"]),
    ("coefficients of a plain Transformer", "choose collinearity", [PLAIN, *SHORT, "--figure", "x.pdf", "--figure-kind", "coefficients"]),
    ("disagreement of a hyper-connected model", "coefficients or collinearity", [FIXTURES / "mini-hyper", *SHORT, "--figure", "x.pdf", "--figure-kind", "kl"]),
    ("coefficients without their probe", "--depth-maps", [FIXTURES / "mini-hyper", *SHORT, "--kl", "--figure", "x.pdf", "--figure-kind", "coefficients"]),
    ("figure of a probe that was not asked for", "--kl", [MH, *SHORT, "--collinearity", "--figure", "x.pdf", "--figure-kind", "kl"]),
    ("figure of interventions alone", "--depth-maps", [MH, *SHORT, "--consensus", "--figure", "x.pdf"]),
    ("figure of an ablation map without its kind", "choose ablation", [MH, *SHORT, "--ablation-map", "--figure", "x.pdf"]),
    ("figure of a depth map of one head without its kind", "choose depth-map", [FULL, *SHORT, "--depth-maps", "--figure", "x.pdf"]),
    ("figure of disagreement of a plain Transformer", "--collinearity", [PLAIN, *SHORT, "--kl", "--figure", "x.pdf"]),
    ("ablation without its map", "--ablation-map", [MH, *SHORT, "--consensus", "--figure", "x.pdf", "--figure-kind", "ablation"]),
    ("reads without their probe", "--reads", [MH, *SHORT, "--figure", "x.pdf", "--figure-kind", "reads"]),
    ("ablation of a report without its map", "--ablation-map", [MH, *SHORT, "--report", "r", "--figure", "x.pdf", "--figure-kind", "ablation"]),
    ("one of two cannot be drawn", "mini-baseline reads nothing", [MH, PLAIN, *SHORT, "--figure", "x.pdf", "--figure-kind", "kl"]),
    ("--digest without -o", "-o FILE.h5", [MH, *SHORT, "--digest"]),
    ("--digest of weights alone without -o", "-o FILE.h5", [MH, "--weights-only", "--digest"]),
    ("kind of a null of no draws", "--null-draws 0", [MH, "--null-draws", "0", "--null-kind", "random"]),
    ("norm of a null of no draws", "--null-draws 0", [MH, "--null-draws", "0", "--null-norm", "slice"]),
    ("tokens of a null of no draws", "--null-draws 0", [MH, "--null-draws", "0", "--null-tokens", "5"]),
    ("null of collinearity", "--kl and --depth-maps", [MH, "--collinearity", "--null-kind", "swapped"]),
    ("slices without their probe", "--slices is about --kl", [FULL, "--depth-maps", "--slices", "8"]),
    ("slicing without its probe", "--slicing is about --kl", [FULL, "--collinearity", "--slicing", "both"]),
    ("matched sources without their probe", "--match-sources is about --kl", [FULL, "--depth-maps", "--match-sources", "3"]),
    ("first sites of a plot", "the kind kl is none", [MH, "--figure", "x.pdf", "--figure-kind", "kl", "--first-sites", "3"]),
    ("first sites of a series", "the kind series is none", ["--series", "x", "--figure", "x.pdf", "--first-sites", "3"]),
    ("an intervention twice", "asks for L3.mlp:embed twice", [MH, "--ablate", "L3.mlp:embed,*:oldest", "--ablate", "L3.mlp:embed"]),
    ("a cell twice", "asks for final:0:embed twice", [MH, "--reads=final:0:embed", "--reads=final:1:embed,final:0:embed"]),
    ("an intervention twice in one", "asks for consensus=* twice", [MH, "--consensus", "--consensus=*"]),
    *((f"two of {o}", f"{o} is given twice", [MH, o, "a.u16", f"{o}=a.u16"]) for o in ("--text", "--tokens", "--config", "--map", "--output", "--verify", "--report")),
    ("two figures", "--figure is given twice", [MH, "-f", "a.pdf", "--figure", "b.pdf"]),
    ("two prompts", "--prompt is given twice", [MH, "-p", "a", "-p", "b"]),
    ("a value that stands apart: consensus", "--consensus=L3.mlp", [MH, *SHORT, "--consensus", "L3.mlp"]),
    ("a value that stands apart: reads", "--reads=L3.mlp:2:embed", ["--reads", "L3.mlp:2:embed", MH, *SHORT]),
    ("a value that stands apart: swap-heads", "--swap-heads=0-1", ["--compare", MH, MH, "--swap-heads", "0-1"]),
    ("near: drop", "--ablate may be meant", [MH, "--drop", "L3.mlp:embed"]),
    ("near: a slip", "--figure may be meant", [MH, "--figrue", "x.pdf"]),
    ("near: with its value", "--max-tokens may be meant", [MH, "--max-token=5"]),
    ("near: the beginning", "--collinearity may be meant", [MH, "--collin"]),
    ("near: another writing", "--null_draws; --null-draws may be meant", [MH, "--null_draws"]),
    ("near: one dash", "--consensus may be meant", [MH, "-consensus"]),
    ("near: nothing", "Unknown option --zebra-crossing; see", [MH, "--zebra-crossing"]),
    ("a kind of null that is none", "random, shuffled, swapped", [MH, "--null-kind", "random,blue"]),
    ("a kind of null twice", "each once", [MH, "--null-kind", "random,random"]),
    ("a slicing that is none", "contiguous, interleaved", [MH, "--slicing", "odd"]),
    ("slices twice", "each once", [MH, "--slices", "4,4"]),
    ("nine slices", "up to 8", [MH, "--slices", "2,3,4,5,6,7,8,9,10"]),
    ("several slices of weights alone", "--weights-only", [FULL, "--weights-only", "--slices", "2,4"]),
    ("5 slices of 64 as a control", "64", [FULL, *SHORT, "--slices", "4,5"]),
    ("5 slices of 64", "64", [FULL, *SHORT, "--slices", "5"]),
    ("128 slices of 64", "64", [FULL, *SHORT, "--slices", "128"]),
    ("norm by 5 slices of 64", "64", [MH, *SHORT, "--slices", "5", "--null-norm", "slice"]),
]:
    add(f"usage: {title}", misuse, words, *args)

# What would be ignored is refused.
PROBES = ["--kl", "--depth-maps", "--collinearity", "--all", "--slices=4", "--slicing=interleaved", "--null-draws=4", "--null-norm=slice",
          "--null-tokens=9", "--match-sources=3", "--seed=1", "--reads", "--top-tokens=3"]
RUNS = ["--context=8", "--max-tokens=8", "--skip-first=1", "--batch=1", "--max-memory=1G"]
MODEL = ["--device=cpu", "--precision=fp32", "--config=c.json", "--map=m.json", "--heads=2", "--block-delta=true", "--strict", "--routing=plain"]
OUTPUT = ["--digest", "--table=csv", "--json", "--figure-kind=kl", "--first-sites=3", "--theme=dark", "--style=authors", "--private"]
for job, args, heeded in [
    ("--from", ["--from", "x.h5"], ["--table=csv", "--json", "--private"]),
    ("--merge", ["--merge", "x.h5", "y.h5"], ["--table=csv", "--json", "--private"]),
    ("--info", ["--info", MH], ["--config=c.json", "--map=m.json", "--heads=2", "--block-delta=true", "--strict", "--json", "--private"]),
    ("--sites", ["--sites", MH], ["--config=c.json", "--map=m.json", "--heads=2", "--block-delta=true", "--strict", "--json", "--private"]),
    ("--weights-only", ["--weights-only", MH], ["--config=c.json", "--map=m.json", "--heads=2", "--slices=4", "--slicing=interleaved", "--digest",
                                                "--table=csv", "--json", "--private"]),
    ("--verify", ["--verify", "r", MH], [*MODEL, "--json", "--private"]),
    ("--save-reference", ["--save-reference", "r", MH], [*MODEL, "--context=8", "--max-tokens=8"]),
    ("--devices", ["--devices"], []),
]:
    def ignored(scratch, job, args, heeded):
        for option in [*PROBES, *RUNS, *MODEL, *OUTPUT, "--tolerance=1e-3"]:
            name = option.partition("=")[0]
            if option in heeded or (job, name) == ("--verify", "--tolerance"):
                continue
            if (job, name) in (("--devices", "--json"), ("--devices", "--config"), ("--devices", "--map"),
                               ("--from", "--config"), ("--from", "--map")):
                misuse(scratch, [name], *args, option)  # which has a sentence of its own
            elif job in ("--from", "--merge") and name in ("--figure-kind", "--first-sites", "--theme", "--style"):
                misuse(scratch, [name, "name it with --figure"], *args, option)
            else:
                misuse(scratch, [name, job, "nothing"], *args, option)
    add(f"ignored with {job}", ignored, job, args, heeded)
for name in ("--figure-kind=kl", "--first-sites=3", "--theme=dark", "--style=authors"):
    add(f"usage: {name} without --figure", misuse, [name.partition("=")[0], "name it with --figure"], MH, *SHORT, name)
add("usage: --tolerance without --verify", misuse, ["--tolerance", "--verify"], MH, *SHORT, "--tolerance", "1")
add("usage: --top-tokens without --reads", misuse, ["--top-tokens", "--reads"], MH, *SHORT, "--top-tokens", "3")
for job in ([], ["--weights-only"]):
    add(f"usage: --json and --table {job}", misuse, ["--json and --table", "choose one"], MH, *job, "--json", "--table", "csv")
add("usage: --json and --table of a saved run", misuse, ["--json and --table", "choose one"], "--from", "x.h5", "--table", "text", "--json")
add("usage: an empty checkpoint", misuse, ["name of a checkpoint is empty"], "")
add("usage: an empty checkpoint among others", misuse, ["name of a checkpoint is empty"], MH, "", FULL)
for option in ("--text", "--tokens", "--config", "--map", "-o", "--figure", "--verify", "--save-reference", "--from"):
    add(f"usage: an empty name: {option}", misuse, ["--output" if option == "-o" else option, "is empty"], MH, option, "")


@case
def what_is_heeded_is_not_refused(scratch):
    succeed("--info", MH, "--heads", "2", "--strict", "--json", "--quiet", "--progress", "never")
    succeed("--weights-only", MH, "--slices", "8", "--slicing", "interleaved", "--heads", "1", "--digest", "--table", "csv", "-q", "-o", scratch / "w.h5")
    succeed(MH, *SHORT, "-o", scratch / "run.h5")
    succeed("--from", scratch / "run.h5", "--figure", scratch / "x.svg", "--figure-kind", "depth-map", "--first-sites", "0", "--theme", "dark",
            "--style", "authors", "--json", "-q", "--progress", "never")


@case
def save_weights_and_its_value(scratch):
    """Bare, with "=" and apart, before and after the checkpoint: never the checkpoint for the value."""
    import h5py
    for words, dtype in (([MH, "--save-weights"], "f4"), (["--save-weights", MH], "f4"), (["--save-weights=f16", MH], "f2"), (["--save-weights", "f16", MH], "f2"),
                         ([MH, "--save-weights", "f32"], "f4"), ([MH, "--save-weights", "no"], None), (["--save-weights", "--", MH], "f4")):
        at = words.index("--") if "--" in words else len(words)
        succeed(*words[:at], *SHORT, "-o", scratch / "run.h5", *words[at:])
        with h5py.File(scratch / "run.h5") as f:
            capture = f["checkpoint_0"].get("capture")
            assert (capture["weight"].dtype if capture else None) == dtype, words
    folder = copy_checkpoint(MH, scratch / "f16")
    succeed("--save-weights", "./f16", *SHORT, "-o", scratch / "run.h5", cwd=scratch)
    assert folder.is_dir()


@case
def what_only_the_checkpoint_tells(scratch):
    """A warning, or with --strict a refusal, where no checkpoint of the line heeds an option."""
    def told(words, *args):
        found = succeed(*args)
        lines = [l for l in found.err.splitlines() if "changes nothing" in l]
        assert len(lines) == 1 and lines[0].startswith(f"mhar-probe: warning: {words}"), found
        assert found.out == succeed(*args, "-q").out and succeed(*args, "-q").err == ""
        if "--weights-only" not in args:
            check_refusal(probe(*args, "--strict"), 2, words, "changes nothing", "--strict")
    hyper = FIXTURES / "mini-hyper"
    quick = ["--tokens", IDS, "--max-tokens", "40", "--context", "20", "--device", "cpu"]
    told("--block-delta", MH, *quick, "--block-delta", "true")
    told("--block-delta", "--info", MH, FULL, "--block-delta", "recursive")
    told("--block-delta", "--sites", MH, "--json", "--block-delta", "recursive")
    told("--slices", MH, *quick, "--slices", "8")
    told("--slicing", MH, hyper, *quick, "--slicing", "interleaved")
    told("--match-sources", MH, *quick, "--match-sources", "3")
    told("--null-kind", PLAIN, *quick, "--null-kind", "shuffled")
    told("--null-tokens", FULL, *quick, "--depth-maps", "--null-tokens", "9")
    told("--slices", MH, "--weights-only", "--slices", "8")
    reference = FIXTURES / "authors" / "mini-full_mh.safetensors"
    told("--block-delta", MH, "--verify", reference, "--device", "cpu", "--block-delta", "true")
    check_refusal(probe(MH, *quick[:4], "--save-reference", scratch / "r", "--device", "cpu", "--block-delta", "true", "--strict"), 2, "--block-delta")
    assert not (scratch / "r").exists()
    for args in (["--info", FIXTURES / "mini-delta_block", "--block-delta", "true"], [FULL, MH, *quick, "--slices", "8", "--match-sources", "3"],
                 [MH, *quick, "--slices", "8", "--null-norm", "slice"], [MH, *quick, "--depth-maps", "--null-tokens", "9"],
                 [PLAIN, MH, *quick, "--null-kind", "shuffled"], [MH, *quick, "--null-query", "--null-norm", "slice", "--slices", "8"],
                 [FULL, "--weights-only", "--slices", "8"]):
        assert "changes nothing" not in succeed(*args).err, args


# Every option that takes a number, against what is none or out of its range.
RANGES = {
    "--slices": (2, 65536), "--checkpoint-every": (1, 2**31 - 1), "--null-draws": (0, 1000000), "--null-tokens": (1, 2**31 - 1), "--match-sources": (2, 65536),
    "--seed": (0, 2**64 - 1), "--context": (2, 2**24), "--max-tokens": (2, 2**31 - 1), "--skip-first": (0, 2**24),
    "--batch": (1, 2**20), "--heads": (1, 65536), "--first-sites": (0, 2**20),
}
for option, (low, high) in RANGES.items():
    def numbers(scratch, option, low, high):
        for bad in ("", " ", "x", "1.5", "-1", "+5", "0x10", "1e3", "5 ", " 5", "5,0", "٥", "NaN", "inf", str(high + 1), str(10**30),
                    *([str(low - 1)] if low > 0 else [])):
            misuse(scratch, [option, f"from {low} to {high}"], MH, f"{option}={bad}")
    add(f"numbers: {option}", numbers, option, low, high)


@case
def numbers_tolerance(scratch):
    for bad in ("", "x", "0", "-1", "1e-5x", "nan", "inf", "1,5", "-0"):
        misuse(scratch, "--tolerance", MH, "--verify", "r", f"--tolerance={bad}")


@case
def bytes_in_no_encoding_stay_in_one_line(scratch):
    for locale in ("C", "C.UTF-8"):
        for bad in (b"--table=\xff\xfe", b"--seed=a\nb", b"--theme=\x1b[31m", b"--frob\xff", b"--x\ny"):
            check_refusal(probe(MH, bad, locale=locale), 2)


@case
def the_last_of_two_values_counts(scratch):
    assert report(MH, *SHORT, "--seed", "5", "--seed", "7")["seed"] == 7


@case
def names_that_look_like_options(scratch):
    refuse(scratch, 3, ["--info"], "--device", "cpu", "--", "--info", outputs=False)


@case
def help_shows_every_option_once_and_in_order(scratch):
    text = succeed("--help").out
    assert text == succeed("-h").out
    groups = re.findall(r"^(\w+(?: \w+)?)$", text, re.M)
    assert groups == ["Probes", "Interventions", "Input", "Model", "Output", "Long runs", "Other"], groups
    options = re.findall(r"^  (?:-\w, )?--([a-z0-9-]+)", text, re.M)
    assert len(options) == len(set(options)), options
    want = """kl depth-maps collinearity all compare series slices slicing null-draws null-norm null-tokens match-sources seed
        ablate consensus swap-heads permute-heads null-query uniform top-k regroup ablation-map text prompt tokens context max-tokens skip-first batch device precision heads block-delta strict routing
        output save-weights digest table report json figure figure-kind first-sites theme style private quiet progress
        checkpoint-every resume max-memory info sites verify save-reference tolerance from merge devices version help""".split()
    missing = set(want) - set(options)
    assert not missing, f"not in --help: {missing}"
    assert [o for o in options if o in want] == want, "not in this order"
    assert all(len(line) <= 105 for line in text.splitlines()), max(text.splitlines(), key=len)
    for code in ("0", "1", "2", "3", "130"):
        assert re.search(rf"Exit status:.*\b{code} ", text)


@case
def help_and_version_need_nothing_else(scratch):
    for option in ("--help", "--version"):
        result = succeed(option, scratch / "nowhere", "--figure", "x")
        assert result.err == ""
    assert re.fullmatch(r"mhar-probe \d+\.\d+\.\d+\n", succeed("--version").out)


@case
def devices(scratch):
    text = succeed("--devices").out
    assert re.match(r"cpu +\S", text) and re.search(r"^cuda", text, re.M), text


# Files that meet: each is looked for by what it is, not by how it is spelled.

def clash(scratch, words, *args, **kw):
    """Refused with every byte as it was."""
    before = {p: p.read_bytes() for p in scratch.rglob("*") if p.is_file()}
    listed = sorted(scratch.rglob("*"))
    check_refusal(probe(*args, cwd=scratch, **kw), 2, *([words] if isinstance(words, str) else words))
    assert sorted(scratch.rglob("*")) == listed and {p: p.read_bytes() for p in before} == before


@case
def an_input_is_never_the_output(scratch):
    copy_checkpoint(MH, scratch / "run-a")
    (scratch / "text.txt").write_text("some words of text")
    shutil.copy(IDS, scratch / "ids.u16")
    shutil.copy(scratch / "run-a" / "config.json", scratch / "other.json")
    shutil.copy(DEMO / "text.txt", scratch / "x.h5")
    os.link(scratch / "text.txt", scratch / "hard.h5")
    os.link(scratch / "text.txt", scratch / "hard.pdf")
    for name, to in (("soft.h5", "text.txt"), ("soft.svg", "ids.u16"), ("model.h5", "run-a/model.safetensors")):
        (scratch / name).symlink_to(to)
    (scratch / "here").symlink_to(".")
    run = ["run-a", "--tokens", "ids.u16"]
    for output in (["-o", "run-a/model.safetensors"], ["-o", "run-a/config.json"], ["-o", "model.h5"], ["-o", "./ids.u16"],
                   ["-o", "here/ids.u16"], ["--figure", "soft.svg"], ["-o", "other.json", "--config", "other.json"]):
        clash(scratch, [output[1], "overwritten", "another name"], *run, *output)
    text = ["run-a", "--text", "text.txt"]
    for output in (["-o", "text.txt"], ["-o", "hard.h5"], ["-o", "soft.h5"], ["--figure", "hard.pdf"], ["-o", scratch / "text.txt"]):
        clash(scratch, ["is --text text.txt"], *text, *output)
    clash(scratch, ["--save-reference", "run-a/model.safetensors"], *run, "--save-reference", "run-a/model.safetensors")
    clash(scratch, ["--save-reference", "--text"], *text, "--save-reference", "hard.h5")
    clash(scratch, ["-o", "the checkpoint's"], "--weights-only", "run-a", "-o", "model.h5")
    with open(scratch / "text.txt", "rb") as text:
        clash(scratch, ["hard.h5", "standard input"], "run-a", "--text", "-", "-o", "hard.h5", stdin=text)
    with open(scratch / "x.h5", "ab") as out:  # >> of a shell
        result = probe(*run, "-o", "x.h5", stdout=out, cwd=scratch)
    assert result.code == 2 and "standard output" in result.err and "same file" in result.err, result
    clash(scratch, ["overwritten", "bundled"], "run-a", "-o", DEMO / "text.txt")


@case
def a_series_and_an_archive_are_inputs_too(scratch):
    copy_checkpoint(MH, scratch / "steps-10")
    (scratch / "steps").mkdir()
    (scratch / "steps-10").rename(scratch / "steps" / "step-10")
    clash(scratch, "steps/step-10/model.safetensors", "--series", "steps", "--tokens", IDS, "-o", "steps/step-10/model.safetensors")
    (scratch / "x.pt").write_bytes(b"x")
    (scratch / "config.json").write_text("{}")
    for output in ("x.pt", "./config.json"):
        clash(scratch, [output, "the checkpoint"], "x.pt", "--tokens", IDS, "-o", output)


@case
def no_two_outputs_are_one_file(scratch):
    (scratch / "rep").mkdir()
    (scratch / "link.png").symlink_to("x.png")
    (scratch / "x-2.svg").write_text("old")
    os.link(scratch / "x-2.svg", scratch / "x.h5")
    (scratch / "x.png").write_text("old")
    (scratch / "rep" / "report.html").symlink_to("../x.png")
    (scratch / "here").symlink_to("rep")
    run = [MH, *SHORT]
    for args in (["-o", "y.png", "--figure", "y.png"], ["-o", "y.png", "--figure", "./y.png"], ["-o", "x.png", "--figure", "link.png"],
                 ["-o", "new/../y.png", "--figure", "y.png"], [FULL, "-o", "x.h5", "--figure", "x.svg"], [FULL, "-o", "y-1.svg", "--figure", "y.svg"],
                 ["--compare", MH, "-o", "y-3.svg", "--figure", "y.svg"], ["--report", "rep", "--figure", "rep/report.pdf"],
                 ["--report", "rep", "--figure", "here/report.pdf"], ["--report", "new", "--figure", "new/report.pdf"],
                 ["--report", "rep", "--figure", "link.png"]):
        clash(scratch, "name the same file", *run, *args)


@case
def what_a_saved_run_is_drawn_from_stays(scratch):
    (scratch / "rep").mkdir()
    for name in ("a.h5", "b.h5"):
        shutil.copy(IDS, scratch / "ids.u16")
        succeed(MH, *SHORT, *(["--max-tokens", "100"] if name == "a.h5" else []), "-o", name, cwd=scratch)
    (scratch / "rep" / "report.html").symlink_to("../a.h5")
    (scratch / "a.svg").symlink_to("a.h5")
    clash(scratch, "is --from a.h5", "--from", "a.h5", "--figure", "a.svg")
    clash(scratch, "is --from a.h5", "--from", "a.h5", "--report", "rep")
    for output in (["-o", "b.h5"], ["--figure", "a.svg"]):
        clash(scratch, [output[1], "is --merge"], "--merge", "a.h5", "b.h5", *output)
    (scratch / "rep" / "report.html").unlink()
    shutil.move(scratch / "b.h5", scratch / "rep" / "report.h5")
    before = (scratch / "rep" / "report.h5").read_bytes()
    succeed("--from", "rep/report.h5", "--report", "rep", cwd=scratch)  # which writes no report.h5
    assert (scratch / "rep" / "report.h5").read_bytes() == before


@case
def the_folder_of_an_unfinished_run_has_nothing_else(scratch):
    (scratch / "run.h5.part").mkdir()
    shutil.copy(IDS, scratch / "run.h5.part" / "ids.u16")
    args = [MH, *SHORT, "--checkpoint-every", "1", "-o", "run.h5"]
    clash(scratch, ["run.h5.part/f.pdf lies in", "another name"], *args, "--figure", "run.h5.part/f.pdf")
    clash(scratch, ["ids.u16 lies in", "with -o"], MH, "--tokens", "run.h5.part/ids.u16", "--checkpoint-every", "1", "-o", "run.h5")


@case
def a_dash_is_no_name(scratch):
    for args in (["-o", "-"], ["--figure", "-"], ["--report", "-"], ["--save-reference", "-"], ["--tokens", "-"], ["--config", "-"], ["--map", "-"]):
        clash(scratch, [args[0], "“-”"], MH, *args)
    clash(scratch, ["--from", "“-”"], "--from", "-")
    clash(scratch, ["--verify", "“-”"], MH, "--verify", "-")


main()
