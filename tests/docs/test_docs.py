#!/usr/bin/env python3
"""Whether the man page, the completion and what gets installed agree with the program. TAP.

The program is asked: --help for its options and which take a value, a senseless value for the choices and ranges that
it names in its refusal, a short run for the rows of its table and the keys of its JSON. Needs MHAR_BUILD, the build
folder."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import h5py

BUILD = os.environ["MHAR_BUILD"]
PROGRAM = os.environ.get("MHAR_PROBE", os.path.join(BUILD, "app", "cli", "mhar-probe"))
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data")
PAGE = os.path.join(DATA, "mhar-probe.1.rst")
COMPLETION = os.path.join(DATA, "mhar-probe.bash")
DEMO = ["config.json", "model.safetensors", "tokenizer.json"]
SHORT_RUN = "--max-tokens 12 --context 6 --null-draws 2 --match-sources 6 --device cpu -q".split()
TAKES_ANYTHING = {"--config", "--map", "--text", "--prompt", "--tokens", "--output", "--figure", "--verify", "--save-reference", "--from", "--device", "--report"}
# Sites, sources and heads of a checkpoint: what is one of them only the checkpoint can tell.
TAKES_SITES = {"--ablate", "--consensus", "--swap-heads", "--permute-heads", "--null-query", "--uniform", "--top-k", "--regroup", "--reads"}
AFTER_EQUALS = {"--consensus", "--swap-heads", "--permute-heads", "--null-query", "--uniform", "--reads"}  # a value, or none


def run(*words, program=PROGRAM, data=DATA, **more):
    """A finished process; `data` None: the bundled text where the program itself finds it."""
    env = {k: v for k, v in os.environ.items() if k != "MHAR_DATA_DIR"}
    if data is not None:
        env["MHAR_DATA_DIR"] = os.path.realpath(data)
    return subprocess.run([program, *words], capture_output=True, text=True, env=env, **more)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def help_options():
    """Option -> its value's name (None: takes none) and its line's text; short ones too."""
    options = {}
    for line in run("--help").stdout.splitlines():
        found = re.match(r"\s+(?:(-\w), )?(--[\w-]+)(?:=(\S+))?\s+(.*)", line)
        for name in found.groups()[:2] if found else ():
            if name:
                options[name] = (found.group(3), found.group(4))
    return options


def section(title):
    """The text under a title of the page, up to the next title of the same rank."""
    return re.search(rf"^{re.escape(title)}\n=+\n(.*?)(?=^[^\n]+\n=+\n|\Z)", read(PAGE), re.M | re.S).group(1)


def page_options():
    """Option -> the entry's head and text."""
    options = {}
    for head, text in re.findall(r"^(\*\*-.*)\n((?:    .*\n|\n)+)", section("OPTIONS"), re.M):
        for name in re.findall(r"\*\*(--?[\w-]+)\*\*", head):
            options[name] = (head, text)
    return options


def complete(*words, folder=None):
    """What TAB offers after these words; the last one is being written. Parts them at = and : as readline does."""
    typed = [part for word in words for part in (re.split("([=:])", word) if word else [""]) if part or not word]
    word = "" if typed[-1] in "=:" else typed[-1]
    script = ('source "$1"; COMP_LINE=$2; word=$3; shift 3; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
              'COMP_POINT=${#COMP_LINE}; _mhar_probe mhar-probe "$word" "${COMP_WORDS[COMP_CWORD - 1]}"; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    line = " ".join(["mhar-probe", *words])
    result = subprocess.run(["bash", "--norc", "-c", script, "bash", COMPLETION, line, word, "mhar-probe", *typed],
                            capture_output=True, text=True, cwd=folder, check=True)
    return {line for line in result.stdout.splitlines() if line}


def differences(name, want, got):
    lines = [f"{name} lacks {x}" for x in sorted(want - got)]
    return lines + [f"{name} has {x}, which the program has not" for x in sorted(got - want)]


def refusal(option):
    """What the program says to a senseless value."""
    return run(f"{option}=?", "nowhere").stderr


# ---------------------------------------------------------------- checks: each gives a list of complaints

def check_page_options():
    ours, page = help_options(), page_options()
    bad = differences("the man page", set(ours), set(page))
    for name in sorted(set(ours) & set(page)):
        shown = re.search(r"(?<!\*)\*(?!\*)", page[name][0]) is not None  # *VALUE* beside **--option**
        if (ours[name][0] is not None) != shown:
            bad.append(f"the man page is wrong about whether {name} takes a value")
    return bad if len(ours) > 40 else bad + [f"only {len(ours)} options in --help"]


def check_completion_options():
    ours = help_options()
    bad = differences("the completion", set(ours), complete("-"))
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "checkpoint"))
        for name, (value, _) in sorted(ours.items()):
            after = complete(name, "", folder=folder)
            if name in AFTER_EQUALS:
                if after != {"checkpoint"} or complete(f"{name}=", folder=folder):
                    bad.append(f"the completion takes what follows {name} for its value, or offers something after {name}=")
                continue
            if value is None and after != {"checkpoint"}:
                bad.append(f"after {name}, which takes no value, the completion offers {sorted(after)}")
            if value is not None and not value.startswith(("FILE", "DIR")) and "checkpoint" in after:
                bad.append(f"the completion does not know that {name} takes a value")
    return bad


def check_choices():
    """Choices and ranges as the program's refusals name them, and defaults as its help does."""
    page, bad, counted = page_options(), [], 0
    for name, (value, text) in sorted(help_options().items()):
        if value is None or len(name) == 2 or name in TAKES_ANYTHING | TAKES_SITES or name not in page:
            continue
        said, entry = refusal(name), page[name][1]
        choices = re.search(r"(?:takes|is not) one of (.*?)(?:, not “|$)", said.strip())
        limits = re.search(r"from (\d+) to (\d+)", said)
        default = re.search(r"\((\d[\d.e-]*)[),]", text)
        counted += 1
        if choices:
            want = set(choices.group(1).split(", "))
            bad += differences(f"the completion of {name}", want, complete(name, "") | complete(f"{name}="))
            told = entry + page[name][0]
            bad += [f"the man page's {name} lacks the value {x}" for x in sorted(want) if f"*{x}*" not in told]
        elif limits:
            bad += [f"the man page's {name} lacks its limit {x}" for x in limits.groups()
                    if not re.search(rf"\b{x}\b", entry)]
        elif name not in ("--tolerance", "--max-memory"):
            bad.append(f"{name} was not refused as expected: {said}")
        if default and f"Default: {default.group(1)}" not in entry.replace("\n    ", " "):
            bad.append(f"the man page's {name} does not give the default {default.group(1)}")
    return bad if counted >= 20 else bad + [f"only {counted} options with choices or limits"]


def check_completion_files():
    checkpoints = {"a.pt", "a.pth", "a.bin"}
    kinds = {"--tokens": {"a.u16", "a.u32", "a.npy"}, "--output": {"a.h5"}, "-o": {"a.h5"}, "--from": {"a.h5"},
             "--figure": {"a.pdf", "a.svg", "a.png"}, "-f": {"a.pdf", "a.svg", "a.png"},
             "--verify": {"a.safetensors"}, "--save-reference": {"a.safetensors"}, "--config": {"a.json"}, "--map": {"a.json"}}
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        everything = set().union(*kinds.values()) | checkpoints | {"a.txt", "with space.u16"}
        for name in everything:
            open(os.path.join(folder, name), "w", encoding="utf-8").close()
        os.mkdir(os.path.join(folder, "dir"))
        kinds["--tokens"].add("with space.u16")
        kinds["--text"] = kinds["-t"] = everything
        for name, want in kinds.items():
            for words in [(name, "")] + ([(f"{name}=",)] if name.startswith("--") else []):
                found = complete(*words, folder=folder)
                bad += differences(f"the completion of {' '.join(words)}", want | {"dir"}, found)
        bad += differences("the completion of checkpoints", checkpoints | {"dir"}, complete("-q", "", folder=folder))
        bad += differences("the completion of files to merge", {"a.h5", "dir"}, complete("--merge", "a.h5", "", folder=folder))
        bad += differences("the completion after --", {"dir"}, complete("--", "d", folder=folder))
    bad += differences("the completion of --device", {"auto", "cpu", "cuda"}, complete("-d", ""))
    offered = complete("-d", "cuda:a") & complete("--device=cuda:")
    return bad + ([] if "all" in offered else ["the completion of cuda: does not offer all"])


def keys_of(value):
    if isinstance(value, dict):
        return set(value).union(*[keys_of(v) for v in value.values()])
    return set().union(*[keys_of(v) for v in value]) if isinstance(value, list) else set()


def check_together(folders):
    """Complaints about rows of --compare, and the keys that --compare and --series add but for intervals and numbers of checkpoints."""
    page = section("COMPARING")
    rows = run("--compare", *[folders[1]] * 2, *SHORT_RUN, "--kl", "--depth-maps", "--table", "markdown").stdout.split("\n\n")
    labels = {re.sub(r" \(nat\)$", "", line.split("|")[1].strip()) for line in rows[1].splitlines()[2:]} if len(rows) > 2 else set()
    bad = [f"the man page does not explain the row “{x}” of a comparison" for x in sorted(labels) if f"**{x}**" not in page]
    answers = [json.loads(run("--compare", *[folders[1]] * 2, *SHORT_RUN, "--kl", "--depth-maps", "--json").stdout)["compare"],
               json.loads(run("--compare", *folders, *SHORT_RUN, "--kl", "--depth-maps", "--json").stdout)["compare"]]
    keys = {key for key in keys_of(answers) if not key.endswith("_interval")} | {"js_matched_interval"}
    return bad + ([] if len(labels) > 8 else ["a comparison has hardly any rows"]), keys


def check_output_words():
    """Every row of the table and every key of the JSON is explained."""
    folders = [os.path.join(DATA, "demo", name) for name in ("single", "mhar")]
    table, answer = (run(*folders, *SHORT_RUN, *how) for how in (["--table", "csv"], ["--json"]))
    first = lambda answer: answer.stdout.split("\n\n")[0].splitlines()[2:]  # of the tables
    rows = first(run(*folders, *SHORT_RUN, "--table", "markdown"))
    weights, answered = (run("--weights-only", *folders, "-q", *how) for how in (["--table", "markdown"], ["--json"]))
    rows += first(weights)
    edited = [run(folders[1], *SHORT_RUN, "--kl", "--ablation-map", "--reads", *how)
              for how in (["--table", "markdown"], ["--json", "--uniform"], ["--table", "csv", "--slices", "4,2", "--uniform"])]
    rows += first(edited[0])
    if edited[0].returncode or edited[1].returncode:
        return ["interventions and reads cannot be run: " + edited[0].stderr + edited[1].stderr]
    if table.returncode or answer.returncode or weights.returncode or answered.returncode or len(rows) < 30:
        return ["the demo checkpoints cannot be run: " + table.stderr]
    labels = {row.replace("\\|", "¦").split("|")[1].strip().replace("¦", "\\|") for row in rows}
    titles = {re.sub(r" \(nat(/token)?\)$", "", label.strip("*")) for label in labels if label.startswith("**")}
    labels = {re.sub(r" \(nat/token\)$", "", label) for label in labels if not label.startswith("**")}
    page, keys = section("THE TABLE"), section("JSON")
    together, compared = check_together(folders)
    bad = together + [f"the man page does not explain the key {x}" for x in sorted(compared) if f"``{x}``" not in keys]
    bad += [f"the man page does not explain the row “{x}”" for x in sorted(labels) if f"**{x}**" not in page]
    lines = [edited[2].stdout, run("--weights-only", folders[1], "-q", "--table", "csv").stdout,
             run("--compare", *folders, *SHORT_RUN, "--heads", "4", "--table", "csv").stdout.split("against", 1)[1]]
    names = {re.sub("_(low|high)$", "", row.split(",")[1].split("[")[0]) for text in lines for row in text.splitlines() if "[" in row}
    names = {re.sub("^control_.*", "control_", name) for name in names}
    bad += [f"the man page does not name {x} of the CSV" for x in sorted(names) if f"``{x}" not in section("CSV") and f"``{x}``" not in keys]
    bad += [f"the man page does not name the heading “{x}”" for x in sorted(titles) if f"*{x}*" not in page]
    return bad + [f"the man page does not explain the key {x}" for x in sorted(keys_of([json.loads(x.stdout) for x in (answer, answered, edited[1])]))
                  if f"``{x}``" not in keys]


def check_schema():
    """Every variable and attribute of a file of --weights-only, and every variable of interventions, of reads and of a comparison, is in the
    schema."""
    text, bad = read(os.path.join(DATA, "hdf5-schema.md")), []
    demo = os.path.join(DATA, "demo", "mhar")
    with tempfile.TemporaryDirectory() as folder:
        weights, apart, out = (os.path.join(folder, name) for name in ("w.h5", "c.h5", "out.h5"))
        run("--weights-only", demo, "-q", "-o", weights)
        run("--compare", demo, demo, *SHORT_RUN, "--kl", "--depth-maps", "-o", apart)
        with h5py.File(weights) as f, h5py.File(apart) as g:
            for name, field in [*f["checkpoint_0"].items(), *g["compare"].items()]:
                if name.endswith(("_low", "_high")):
                    continue
                dims = ", ".join(scale.values()[0].name.split("/")[-1] for scale in field.dims if len(scale))
                row = re.search(rf"^\|[^|]*`{name}`[^|]*\|[^|]*\|([^|]*)\|", text, re.M)
                if row is None:
                    bad.append(f"the schema lacks {name}")
                elif field.attrs.get("CLASS") != b"DIMENSION_SCALE" and dims not in row.group(1) and name not in ("site_label", "n_sources", "n_heads"):
                    bad.append(f"the schema gives {name} the dimensions {row.group(1).strip()}, the file {dims}")
        run(os.path.join(DATA, "demo", "mhar"), *SHORT_RUN, "--kl", "--ablation-map", "--uniform", "--reads", "-o", out)
        with h5py.File(out) as f:
            for group in ("interventions", "ablation_map", "reads"):
                about = " ".join(row for row in text.splitlines() if row.startswith(f"| `{group}/"))
                scales = {name for name, field in f["checkpoint_0"][group].items() if field.attrs.get("CLASS") == b"DIMENSION_SCALE"}
                scales |= {"site_label", "n_sources", "n_heads", "source_label"} if group == "reads" else set()
                bad += [f"the schema lacks {group}/{name}" for name in f["checkpoint_0"][group]
                        if name not in scales and f"`{group}/{name}`" not in about and f", `{name}`" not in about]
            bad += [f"the schema lacks sums/{name}" for name in ("intervention_loss", "ablation_loss", "mass")
                    if name not in f["checkpoint_0/sums"] or f"`{name}` [window" not in text]
    return bad


def check_rst():
    tool = shutil.which("rst2man", path="/usr/bin") or shutil.which("rst2man") or shutil.which("rst2man.py")
    if tool is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "mhar-probe.1")
        result = subprocess.run([tool, "--report=info", "--halt=5", PAGE, out], capture_output=True, text=True)
        bad = (result.stdout + result.stderr).splitlines() + (["rst2man failed"] if result.returncode else [])
        groff = shutil.which("groff")
        if groff and not bad:
            typeset = [groff, "-man", "-Tutf8", "-Kutf8", "-ww", "-z", out]
            result = subprocess.run(typeset, capture_output=True, text=True)
            bad += result.stderr.splitlines()
    return bad


def check_demo_readme():
    text, bad = read(os.path.join(DATA, "demo", "README.md")), []
    for name in ("single", "mhar"):
        about = json.loads(run("--info", "--json", os.path.join(DATA, "demo", name)).stdout)[0]
        said = [f"`{about['mode']}`", f"{about['sites']}, of 1 to {about['sites']} sources",
                f"{about['layers']} layers", f"width {about['width']}", f"{about['parameters']:,} parameters",
                f"{about['vocab']:,} entries", f"context {about['context']}",
                f"feed-forward width {about['ffn']}", f"| {about['heads']} |"]
        bad += [f"README.md of the demo does not say “{x}”, as {name} has it" for x in said
                if x not in text.replace("\n  ", " ") and x not in text]
    excerpts = read(os.path.join(DATA, "demo", "text.txt")).split("<|endoftext|>")
    listed = re.findall(r"^\d+\. ", text, re.M)
    if len(excerpts) != len(listed):
        bad.append(f"{len(listed)} excerpts are listed, there are {len(excerpts)}")
    return bad


def build_options():
    ask = ["meson", "introspect", "--buildoptions", BUILD]
    answer = subprocess.run(ask, capture_output=True, text=True, check=True).stdout
    return {option["name"]: option["value"] for option in json.loads(answer)}


def install(folder):
    """DESTDIR install; returns the installed prefix and the build's options."""
    command = ["meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", folder]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        last = (done.stdout + done.stderr).strip().splitlines()[-1:]
        sys.exit(f"Bail out! {BUILD} cannot be installed: {''.join(last)}")
    options = build_options()
    return os.path.join(folder, options["prefix"].lstrip("/")), options


def check_installed(prefix, options):
    share = os.path.join(prefix, options["datadir"])
    man = os.path.join(prefix, options["mandir"], "man1", "mhar-probe.1")
    want = [os.path.join(prefix, options["bindir"], "mhar-probe"),
            os.path.join(share, "bash-completion", "completions", "mhar-probe"),
            os.path.join(share, "doc", "mhar-probe", "hdf5-schema.md"),
            os.path.join(share, "doc", "mhar-probe", "name-map.md")]
    want += [os.path.join(share, "mhar-probe", "demo", name) for name in ("README.md", "text.txt")]
    want += [os.path.join(share, "mhar-probe", "demo", model, name) for model in ("single", "mhar") for name in DEMO]
    if os.path.exists(os.path.join(BUILD, "data", "mhar-probe.1.rst")):  # made where rst2man is there
        want.append(man)
    bad = [f"not installed: {x}" for x in want if not os.path.isfile(x)]
    if os.path.isfile(man):
        page, version = read(man).replace("\\-", "-"), run("--version").stdout.strip()
        bad += [f"the installed man page holds {x}" for x in re.findall(r"@\w+@", page)]
        text = os.path.join(options["prefix"], options["datadir"], "mhar-probe/demo/text.txt")
        bad += [f"the installed man page does not say {x}" for x in (version, text) if x not in page]
    return bad


def check_moved(prefix, options):
    """The program finds the text beside it: one that stands nowhere else, so that no other copy can pass for it."""
    words = "The river rose at night, and nobody had seen it."
    program = os.path.join(prefix, options["bindir"], "mhar-probe")
    text = os.path.join(prefix, options["datadir"], "mhar-probe", "demo", "text.txt")
    model = os.path.join(os.path.dirname(text), "single")
    with open(text, "w", encoding="utf-8") as f:
        f.write(words)
    how = [model, "--json", "-q", "--collinearity", "--device", "cpu"]
    found = run(*how, program=program, data=None)
    if found.returncode:
        return ["the moved program fails: " + found.stderr]
    given = run(*how, "--prompt", words, program=program, data=None)
    loss = [json.loads(x.stdout)["checkpoints"][0]["loss"] for x in (found, given)]
    return [] if loss[0] == loss[1] else ["the moved program read another text than the one beside it"]


def main():
    with tempfile.TemporaryDirectory() as folder:
        prefix, options = install(os.path.join(folder, "root"))
        moved = os.path.join(folder, "moved here")
        checks = [
            ("every option is in the man page", check_page_options),
            ("every option is in the completion", check_completion_options),
            ("choices, limits and defaults are right", check_choices),
            ("the completion offers files by their ending", check_completion_files),
            ("the man page explains what is printed", check_output_words),
            ("the schema has what --weights-only and --compare write", check_schema),
            ("rst2man and groff have no complaints", check_rst),
            ("README.md describes the demo checkpoints", check_demo_readme),
            ("everything is installed", lambda: check_installed(prefix, options)),
            ("a moved installation finds its text", lambda: shutil.move(prefix, moved) and check_moved(moved, options)),
        ]
        failed = 0
        print(f"1..{len(checks)}")
        for number, (name, check) in enumerate(checks, 1):
            bad = check()
            for line in bad or []:
                print(f"# {line}")
            skipped = " # SKIP no rst2man" if bad is None else ""
            print(f"{'not ok' if bad else 'ok'} {number} - {name}{skipped}", flush=True)
            failed += bool(bad)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
