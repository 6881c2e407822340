#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""--report: one HTML file, one PDF and one HDF5 file that say what the results say, whole or not at all."""
import contextlib
import html.parser
import os
import re
import resource
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree

import h5py

from harness import *

HERE = {"cwd": str(FIXTURES)}
TEXT = ["--tokens", "public-domain.u16", "--max-tokens", "330", "--context", "32", "--device", "cpu", "-q"]
QUICK = ["--tokens", "public-domain.u16", "--max-tokens", "150", "--context", "32", "--device", "cpu", "-q", "--null-draws", "3"]
FILES = ["report.h5", "report.html", "report.pdf"]
ROOT = os.geteuid() == 0
_made = {}


def made(*names, more=TEXT):
    """A folder with the report of these checkpoints, made once."""
    key = (*names, *more)
    if key not in _made:
        folder = Path(tempfile.mkdtemp(prefix="mhar-report-"))
        succeed(*names, *more, "--report", folder / "r", **HERE)
        _made[key] = folder
    return _made[key] / "r"


class Page(html.parser.HTMLParser):
    """What there is to check in a page: that tags are nested, ids, addresses, tables as rows of text, all text."""

    VOID = {"meta", "br", "img", "link", "hr", "input"}

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.addresses, self.tags, self.tables, self.cell, self.words = [], [], [], [], [], None, []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            if name in ("src", "href", "xlink:href", "action", "data"):
                self.addresses.append(value)
            self.addresses += re.findall(r"url\(([^)]*)\)", value or "")
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.cell = ""

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> does not close what is open"
        if tag in ("td", "th"):
            self.tables[-1][-1].append(self.cell)
            self.cell = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data
        if "style" not in self.open and "svg" not in self.open:
            self.words.append(data)

    def text(self):
        return " ".join(" ".join(self.words).split())


def page(folder):
    return Page((folder / "report.html").read_text(encoding="utf-8"))


def pdf_text(folder, *options):
    if shutil.which("pdftotext") is None:
        raise Skip("pdftotext is not installed")
    return subprocess.run(["pdftotext", *options, folder / "report.pdf", "-"], capture_output=True, text=True, check=True).stdout


def shown(value):
    """A number as tables have it."""
    decimals = 4
    while decimals < 7 and value != 0 and abs(value) < 10.0 ** (2 - decimals):
        decimals += 1
    text = f"{value:.2e}" if value != 0 and abs(value) < 1e-5 else f"{value:.{decimals}f}"
    return text.replace("-", "−")


@case
def html_stands_alone(scratch):
    folder = made("mini-full", "mini-full_mh", "mini-baseline", "mini-hyper")
    assert sorted(p.name for p in folder.iterdir()) == FILES
    text = (folder / "report.html").read_text(encoding="utf-8")
    xml.etree.ElementTree.fromstring(text.split("\n", 1)[1])  # well-formed
    doc = Page(text)
    assert len(doc.ids) == len(set(doc.ids)), [i for i in doc.ids if doc.ids.count(i) > 1][:5]
    assert all(a.startswith("#") and a[1:] in doc.ids or a.startswith("data:image/png;") for a in doc.addresses), doc.addresses
    assert not {"script", "link", "iframe", "img", "object", "form"} & set(doc.tags), set(doc.tags)
    assert doc.tags.count("figure") == doc.tags.count("svg") == doc.tags.count("figcaption") >= 12, doc.tags.count("svg")
    assert re.search(r"prefers-color-scheme:\s*dark", text) and "@import" not in text
    for n, title in enumerate(["Summary", "Setup", "Results", "Figures", "Controls", "Interventions", "Replication", "Definitions", "Read by read",
                               "How to reproduce"], 1):
        assert re.search(rf'<h2 id="section-{n}"><span class="number">{n}</span>{title}', text), title
        assert f'href="#section-{n}"' in text
    for table in doc.tables:
        assert all(len(row) in (1, len(table[0])) for row in table) and len(table) > 1, table[:3]


@case
def html_and_pdf_say_the_same(scratch):
    """Word for word, figures and page breaks apart: everything that stands in the one is in the other."""
    folder = made("mini-full", "mini-full_mh")
    words = re.findall(r"[\w.−]+", page(folder).text())
    printed = set(re.findall(r"[\w.−]+", re.sub(r"-\n", "-", pdf_text(folder))))
    joined = re.sub(r"\s+", "", pdf_text(folder))
    missing = [w for w in words if w not in printed and w not in joined]
    assert len(words) > 2500 and not missing, missing[:20]


@case
def verdicts_in_words(scratch):
    folder = made("mini-full", "mini-full_mh")
    full, mh = json.loads(succeed("--from", folder / "report.h5", "--json").out)["checkpoints"]
    assert full["slice_kl"]["p_value"] <= 0.05 < mh["depth_map"]["p_value"] and len(full["controls"]) == 24 and len(mh["controls"]) == 4
    says = [f"The disagreement of mini-full is distinguishable from its null (p = {shown(full['slice_kl']['p_value'])}, 99 draws)",
            f"The deviation of mini-full_mh is not distinguishable from its null at this size (p = {shown(mh['depth_map']['p_value'])}, 99 draws)",
            "Mass is not importance"]
    bare = lambda text: re.sub(r"[\s-]", "", text)  # lines may break at a hyphen
    for text in (page(folder).text(), pdf_text(folder)):
        for sentence in says:
            assert bare(sentence) in bare(text), sentence


def numbers_of(checkpoint, folder):
    """Every number of the report's tables that the JSON has."""
    for name in ("slice_kl", "head_js"):
        part = checkpoint.get(name)
        if part:
            yield from (part[k] for k in ("trained", "median", "null", "excess", "p_value"))
            yield from (s[k] for s in part["per_site"] for k in ("trained", "null", "p_value"))
    if "slice_kl" in checkpoint:
        yield from (checkpoint["slice_kl"]["matched"][k] for k in ("trained", "median", "null", "excess", "p_value"))
    for control in checkpoint.get("controls", []):
        yield from (control[k] for k in ("trained", "null", "excess", "p_value"))
    if checkpoint.get("depth_map"):
        yield from (checkpoint["depth_map"][k] for k in ("max_deviation", "null_max_deviation", "p_value", "head_correlation", "replication_r"))
        yield from (s[k] for s in checkpoint["depth_map"]["per_site"] for k in ("max_deviation", "null_max_deviation", "p_value", "p_value_corrected"))
    yield from (checkpoint["collinearity"]["mean"], checkpoint["collinearity"]["mean_abs"], checkpoint["loss"])
    yield from (i["loss"] for i in checkpoint.get("interventions", []))
    yield from (abs(i["delta_loss"]) for i in checkpoint.get("interventions", []))


@case
def every_number_of_the_tables(scratch):
    folder = made("mini-full", "mini-full_mh")
    checkpoints = json.loads(succeed("--from", folder / "report.h5", "--json").out)["checkpoints"]
    pattern = r"−?\d[\d.]*(?:e−?\d+)?"
    cells = {n for table in page(folder).tables for row in table for c in row for n in re.findall(pattern, c)}
    printed = set(re.findall(pattern, pdf_text(folder, "-layout")))
    counted = 0
    for checkpoint in checkpoints:
        for value in numbers_of(checkpoint, folder):
            decimals = {shown(value), *(f"{value:.{d}f}".replace("-", "−") for d in range(5, 8))}  # more where an interval needs them
            assert decimals & cells and decimals & printed, (checkpoint["path"], value, shown(value))
            counted += 1
    assert counted > 150, counted


@case
def table_rows_are_the_json(scratch):
    """The controls, row by row."""
    folder = made("mini-full", "mini-full_mh")
    checkpoints = json.loads(succeed("--from", folder / "report.h5", "--json").out)["checkpoints"]
    tables = [t for t in page(folder).tables if t[0][:2] == ["S", "slicing"]]
    assert len(tables) == 2
    for checkpoint, table in zip(checkpoints, tables):
        assert len(table) == len(checkpoint["controls"]) + 1
        for control, row in zip(checkpoint["controls"], table[1:]):
            assert row[:2] == ([str(control["slices"]), control["slicing"]] if "slices" in control else ["heads", "–"])
            assert row[2] == {"random": "random", "shuffled": "shuffled", "swapped": "other reads’"}[control["null_kind"]]
            assert row[3] == control["null_norm"] and row[4] == shown(control["trained"]) and row[7] == shown(control["p_value"])
            assert row[5].startswith(shown(control["null"]) + "\u00a0±"), row
            assert row[8] == ("above its null" if control["p_value"] <= 0.05 else "not distinguishable" if control["p_value"] <= 0.95 else "below its null")


@case
def pages_have_margins(scratch):
    """Nothing is cut off: the outer border of every page is white, and there is text on each."""
    if shutil.which("pdftoppm") is None:
        raise Skip("pdftoppm is not installed")
    for names in (["mini-full", "mini-full_mh"], ["mini-full", "mini-full_mh", "mini-baseline", "mini-hyper"]):
        folder = made(*names)
        subprocess.run(["pdftoppm", "-r", "50", "-gray", folder / "report.pdf", scratch / "p"], check=True)
        pages = sorted(scratch.glob("p*.pgm"))
        assert len(pages) > 8
        for path in pages:
            data = path.read_bytes()
            width, height = map(int, re.match(rb"P5\s+(\d+)\s+(\d+)\s+255\s", data).groups())
            rows = [data[len(data) - width * height + r * width :][:width] for r in range(height)]
            edge = 24  # of 54 points
            assert all(min(r) == 255 for r in rows[:edge] + rows[-18:]), path
            assert all(min(r[:edge]) == 255 and min(r[-edge:]) == 255 for r in rows), path
            assert sum(min(r) < 128 for r in rows) > 20, path
            path.unlink()


@case
def pdf_has_outline_and_metadata(scratch):
    folder = made("mini-full", "mini-full_mh")
    data = (folder / "report.pdf").read_bytes()
    assert data.startswith(b"%PDF-") and b"/Outlines" in data and b"/URI" not in data
    if shutil.which("pdfinfo") is not None:
        info = subprocess.run(["pdfinfo", folder / "report.pdf"], capture_output=True, text=True, check=True).stdout
        assert re.search(r"Title: +Routing over depth: mini-full, mini-full_mh", info) and "A4" in info, info


@case
def from_gives_the_same_bytes(scratch):
    for names in (["mini-full", "mini-full_mh"], ["mini-full", "mini-full_mh", "mini-baseline", "mini-hyper"]):
        folder = made(*names)
        succeed("--from", folder / "report.h5", "--report", scratch / "again", "-q")
        assert sorted(p.name for p in (scratch / "again").iterdir()) == ["report.html", "report.pdf"]
        for name in ("report.html", "report.pdf"):
            assert (scratch / "again" / name).read_bytes() == (folder / name).read_bytes(), name
        shutil.rmtree(scratch / "again")


@case
def a_saved_run_of_any_kind(scratch):
    """Without controls, without a null, with one probe, of one window."""
    for more in ([], ["--null-draws", "0"], ["--collinearity"], ["--kl"], ["--depth-maps"], ["--context", "512"], ["--consensus"], ["--ablation-map"]):
        names = ["mini-full_mh"] if "--consensus" in more else ["mini-full", "mini-full_mh", "mini-baseline"]
        if "--ablation-map" in more:
            names = names[:2]
        succeed(*names, *QUICK, *more, "-o", scratch / "run.h5", **HERE)
        succeed("--from", scratch / "run.h5", "--report", scratch / "r", "-q")
        text = page(scratch / "r").text()
        assert "nan" not in text.lower().split() and "(null)" not in text and "Summary" in text, more
        if "0" in more:
            assert "No null was drawn" in text and "distinguishable from its null" not in re.sub(r"p: .*|Definitions.*", "", text)
    succeed("mini-full", "--weights-only", "-o", scratch / "w.h5", **HERE)
    check_refusal(probe("--from", scratch / "w.h5", "--report", scratch / "w"), 3, "--weights-only")
    assert not (scratch / "w").exists()


def captions(folder):
    """Of a report's figures, as text, by what they begin with behind the number."""
    text = (folder / "report.html").read_text(encoding="utf-8")
    return [Page(c).text() for c in re.findall(r"<figcaption>(.*?)</figcaption>", text, re.S)]


@case
def captions_explain_the_marks(scratch):
    """What the figure says by itself of its marks stands under it in a report too; and one head is no mean over heads."""
    full, mh = made("mini-full", more=QUICK), made("mini-full_mh", more=QUICK)
    absent, beyond = "hatched: no such source yet.", "Values above the scale have the colour of its end."
    for folder in (full, mh):
        found = captions(folder)
        depth = [c for c in found if "depth map" in c]
        ablation = [c for c in found if "leaving one source" in c]
        assert len(depth) == len(ablation) == 1, found
        assert absent in depth[0] and beyond in depth[0] and absent in ablation[0], found
        assert "interval of the change holds 0." in ablation[0], ablation
    assert any("grey: no such source yet." in c for c in captions(mh) if "how far each head" in c)
    succeed("mini-hyper", *QUICK, "--report", scratch / "hyper", **HERE)
    assert any("grey: no such output yet." in c for c in captions(scratch / "hyper"))
    for folder, several in ((full, False), (mh, True)):
        assert any("single heads" in c for c in captions(folder)) == several and ("both are means over heads" in page(folder).text()) == several


@case
def reads_have_tables(scratch):
    """The cells of --reads as they are printed, the figure's named under it, and what it all means."""
    succeed(DEMO / "mhar", "--text", DEMO / "text.txt", *QUICK[2:], "--kl", "--slices", "4", "--reads=final:1:*,L5.mlp:0:top", "--report", scratch / "r")
    (mhar,) = json.loads(succeed("--from", scratch / "r" / "report.h5", "--json").out)["checkpoints"]
    doc, cells = page(scratch / "r"), mhar["reads"]["cells"]
    means, tokens = ([t for t in doc.tables if t[0][:2] == head] for head in (["tokens", "mean weight"], ["", "weight"]))
    assert len(means) == len(tokens) == len(cells) == 14
    for cell, table in zip(cells, tokens):
        rows = [row for row in table[1:] if len(row) == 4]
        assert [row[2] for row in rows] == [str(t["token"]) for t in cell["most"] + cell["least"]]
        assert [row[1] for row in rows] == [shown(t["weight"]) for t in cell["most"] + cell["least"]]
        assert all(f"«{t['text']}»" in row[3] for t, row in zip(cell["most"], rows) if t["text"].isprintable())
    (caption,) = [c for c in captions(scratch / "r") if "asked for" in c]
    assert f"final, head 1, reads {cells[0]['source_label']}: " in caption and "dashed line: the mean over all tokens, 0." in caption and "hollow: fewer" in caption
    for text in (doc.text(), pdf_text(scratch / "r")):
        assert "A cell is a head of a read and one of its sources" in " ".join(text.split())
    assert "What heads read" not in page(made("mini-full", "mini-full_mh")).text()
    succeed("mini-full_mh", *QUICK, "--reads=*:0:*", "--report", scratch / "all", **HERE)
    assert re.search(r"the first 16 of the \d+ cells of mini-full_mh", page(scratch / "all").text())


@case
def one_window(scratch):
    """No plural, and no word of intervals that are not there."""
    more = ["--tokens", "public-domain.u16", "--max-tokens", "64", "--context", "64", "--device", "cpu", "-q", "--null-draws", "3"]
    text = page(made("mini-full_mh", more=more)).text()
    assert "over 64 tokens in 1 window;" in text and "over 64 tokens in 1 window." in text and "1 windows" not in text
    before = text.partition("Definitions T tokens")[0]
    assert "There are no intervals with fewer than three windows" in before and "fewer than three windows." in before
    assert not re.search(r"[Bb]rackets hold|Lines through marks", before)
    text = page(made("mini-full_mh", more=QUICK)).text()
    assert text.count("Brackets hold 95") == 2 and "brackets hold 95" in text and "Lines through marks" in text


@case
def without_a_null(scratch):
    """Nothing is said of what exceeds it, and no table is of dashes."""
    more = [*QUICK[:-1], "0"]
    for name in ("mini-full", "mini-full_mh"):
        doc = page(made(name, more=more))
        assert "5 Controls No null was drawn, so there is nothing that a disagreement could exceed." in doc.text(), name
        assert not [t for t in doc.tables if t[0][:2] == ["S", "slicing"] or t[0][-1] == "verdict" and all(row[-1] == "–" for row in t[1:]) and t[0][1] != "sources"]
        assert "random queries" not in " ".join(captions(made(name, more=more))) and "what it exceeds" not in doc.text() and "± the" not in doc.text().partition("Definitions T")[0]


@case
def what_interventions_leave(scratch):
    """One weight is one, and more are counted."""
    (table,) = [t for t in page(made("mini-full_mh", more=QUICK)).tables if t[0][0] == "intervention"]
    words = {row[0]: row[1] for row in table[1:]}
    assert words["top-k=*:1"] == "only the largest weight, which becomes 1" and words["top-k=*:2"] == "only the two largest weights, renormalised", words


@case
def the_file_is_that_of_the_command(scratch):
    """Section 10 names what the recorded command writes; what that does not name is called as it was opened."""
    def end(run, folder="r"):
        succeed("--from", scratch / run, "--report", scratch / folder, "-q")
        return page(scratch / folder).text().rpartition("How to reproduce")[2]
    succeed("mini-full", *QUICK, "-o", scratch / "a b.h5", **HERE)
    text = end("a b.h5")
    assert "The file a b.h5 that the command writes" in text and "mhar-probe --from 'a b.h5' --json" in text and 'open_dataset("a b.h5", ' in text, text
    assert "report.h5" not in text
    shutil.copy(scratch / "a b.h5", scratch / "other.h5")
    assert end("other.h5") == text
    with h5py.File(scratch / "other.h5", "r+") as f:
        f["provenance"].attrs["command"] = "mhar-probe mini-full"
    text = end("other.h5")
    assert "The file other.h5 holds" in text and "--from other.h5 --report again" in text, text
    (scratch / "more.u16").write_bytes((FIXTURES / QUICK[1]).read_bytes()[4000:6000])
    succeed("mini-full", "--tokens", scratch / "more.u16", *QUICK[2:], "-o", scratch / "b.h5", **HERE)
    succeed("--merge", scratch / "a b.h5", scratch / "b.h5", "-o", scratch / "whole.h5", "-q")
    text = end("whole.h5")
    assert "The file whole.h5 that the command writes" in text and "the saved runs of the checkpoints" in text, text


@case
def who_counted_the_tokens(scratch):
    (scratch / "t.txt").write_bytes((DEMO / "text.txt").read_bytes()[:2000])
    for more, by in ((QUICK[:2], False), (["--text", scratch / "t.txt"], True)):
        succeed(DEMO / "mhar", *more, *QUICK[2:], "-o", scratch / "run.h5", **HERE)
        succeed("--from", scratch / "run.h5", "--report", scratch / "r", "-q")
        assert ("tokens in all by the first checkpoint’s tokenizer, SHA-256" if by else "tokens in all, SHA-256") in page(scratch / "r").text(), by


@case
def every_mode(scratch):
    for folder in sorted(FIXTURES.glob("mini-*")):
        succeed(folder.name, *QUICK, "--report", scratch / folder.name, **HERE)
        doc = page(scratch / folder.name)
        assert len(doc.ids) == len(set(doc.ids)) and folder.name in doc.text()
        shown_kinds = {"mini-baseline": 1, "mini-llama": 1, "mini-hyper": 2}.get(folder.name, 4)
        assert doc.tags.count("svg") >= shown_kinds, (folder.name, doc.tags.count("svg"))


@case
def options_overrule(scratch):
    folder = made("mini-full", "mini-full_mh", more=[*TEXT, "--slices", "8", "--slicing", "interleaved", "--null-kind", "random", "--null-norm", "slice",
                                                     "--null-draws", "21", "--match-sources", "3", "--seed", "5", "--regroup", "2", "--save-weights", "--reads=final:0:embed"])
    full, mh = json.loads(succeed("--from", folder / "report.h5", "--json").out)["checkpoints"]
    assert "reads" in full and "reads" in mh
    assert "controls" not in full and (full["slice_kl"]["slices"], full["slice_kl"]["slicing"], full["slice_kl"]["draws"]) == (8, "interleaved", 21)
    assert full["slice_kl"]["matched"]["count"] == 3 and [i["spec"] for i in full["interventions"]] == ["regroup=*:2"]
    with h5py.File(folder / "report.h5") as f:
        assert f["provenance"].attrs["seed"] == "5" and f["checkpoint_0"].attrs["null_norm"] == "slice" and f["checkpoint_0/capture/weight"].shape[0] == 330


@case
def numbers_are_those_of_a_plain_run(scratch):
    """The report's passes are runs like others."""
    folder = made("mini-full_mh", more=TEXT)
    again = report("mini-full_mh", *TEXT[:-1], "--null-draws", "99", **HERE)["checkpoints"][0]
    (mh,) = json.loads(succeed("--from", folder / "report.h5", "--json").out)["checkpoints"]
    for key in ("loss", "head_js", "depth_map", "collinearity", "per_site"):
        assert mh[key] == again[key], key
    edited = report("mini-full_mh", *TEXT[:-1], "--null-draws", "99", "--consensus", "--ablation-map", **HERE)["checkpoints"][0]
    assert [i for i in mh["interventions"] if i["spec"] == "consensus=*"] == edited["interventions"] and mh["ablation_map"] == edited["ablation_map"]


@case
def less_text_for_interventions_is_said(scratch):
    more = ["--tokens", "public-domain.u16", "--max-tokens", "6000", "--context", "1024", "--device", "cpu", "-q", "--null-draws", "3", "--slices", "4",
            "--slicing", "contiguous", "--null-kind", "random", "--null-norm", "query"]
    folder = made("mini-full_mh", more=more)
    with h5py.File(folder / "report.h5") as f:
        one = f["checkpoint_0"]
        assert one.attrs["tokens"] == 6000 and one["interventions"].attrs["tokens"] == 4096 and one["ablation_map"].attrs["tokens"] == 4096
    text = page(folder).text()
    assert "over 4096 tokens in 4 windows" in text and "over 6000 tokens of the text" in text


@case
def widths_side_by_side(scratch):
    """Slices of 32 coordinates: 8 of the width of 256, 2 of 64."""
    folder = made(str(DEMO / "single"), "mini-full", "mini-full_mh", more=[*TEXT, "--null-draws", "19"])
    table = next(t for t in page(folder).tables if "width d" in t[0])
    wide, narrow, _ = json.loads(succeed("--from", folder / "report.h5", "--json").out)["checkpoints"]
    common = [[c for c in one["controls"] if c["slice_width"] == 32] for one in (wide, narrow)]
    assert len(common[0]) == len(common[1]) == 8 and len(table) == 1 + 8 * 3
    for a, b, at in zip(*common, range(1, 25, 3)):
        assert table[at][0].startswith(f"32 coordinates a slice, {a['slicing']}") and len(table[at]) == 1
        assert table[at + 1][:4] == ["single", "256", "8", shown(a["trained"])] and table[at + 2][:4] == ["mini-full", "64", "2", shown(b["trained"])]
    succeed(DEMO / "single", "mini-full", *QUICK, "--slices", "4", "--report", scratch / "apart", **HERE)
    assert "so there is nothing to compare" in page(scratch / "apart").text()
    for names in (["mini-full"], ["mini-full", "mini-full_mh"]):  # of one width
        assert not re.search(r"5\.\d Width", page(made(*names, more=QUICK)).text()), names


@case
def names_are_escaped(scratch):
    name = 'a<b>&"x\x02y'
    shutil.copytree(MH, scratch / name)
    succeed(name, "--tokens", IDS, *QUICK[2:], "--report", "r", cwd=str(scratch))
    doc = page(scratch / "r")
    assert 'a<b>&"x?y' in doc.text() and "b" not in doc.tags[:5] and "\x02" not in (scratch / "r/report.html").read_text()
    xml.etree.ElementTree.fromstring((scratch / "r/report.html").read_text().split("\n", 1)[1])


# What cannot be written


def fails(result, code, *words, table=False):
    """Exit `code` and one sentence; the table with it where what fails is found out at the end."""
    assert not table or "routing heads" in result.out, result
    check_refusal(Result(result.code, "", result.err) if table else result, code, *words)


@case
def bad_folders(scratch):
    (scratch / "file").write_text("x")
    for where, words in ((scratch / "file", "not a folder"), (scratch / "nowhere" / "r", "nowhere"), (scratch / "file" / "r", "file")):
        fails(probe(MH, *SHORT, "--report", where), 1, words)
    fails(probe(MH, *SHORT, "--report", scratch / "nowhere" / "r"), 1, "nowhere; make it first")
    for inside in FILES:
        (scratch / "r" / inside).mkdir(parents=True)
        fails(probe(MH, *SHORT, "--report", scratch / "r"), 1, inside, "folder")
        assert [p.name for p in (scratch / "r").iterdir()] == [inside]
        shutil.rmtree(scratch / "r")
    assert [p.name for p in scratch.iterdir()] == ["file"] and (scratch / "file").read_text() == "x"


@case
def bad_input_leaves_no_folder(scratch):
    (scratch / "empty").mkdir()
    for args in ([scratch / "none"], [scratch / "empty"], [MH, "--tokens", scratch / "no.u16"], [FULL, *SHORT, "--slices", "5"]):
        result = probe(*args, "--device", "cpu", "--report", scratch / "r")
        assert result.code in (2, 3), result
        fails(result, result.code)
        assert not (scratch / "r").exists()
    check_refusal(probe("--from", scratch / "no.h5", "--report", scratch / "r"), 3, "no.h5")
    assert not (scratch / "r").exists()


@case
def read_only_folder(scratch):
    place = scratch / "place"
    place.mkdir()
    if ROOT:
        with mounted(place, "size=1m"):
            subprocess.run(["mount", "-o", "remount,ro", place], check=True)
            fails(probe(MH, *SHORT, "--report", place), 1, "place")
            fails(probe(MH, *SHORT, "--report", place / "r"), 1, "place", "; choose another folder")
            assert not any(place.iterdir())
        return
    place.chmod(0o500)
    fails(probe(MH, *SHORT, "--report", place), 1, "place")
    fails(probe(MH, *SHORT, "--report", place / "r"), 1, "place")


@contextlib.contextmanager
def mounted(folder, options):
    if not ROOT or subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", folder], capture_output=True).returncode != 0:
        raise Skip("no file system can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


@case
def full_disk(scratch):
    """Wherever the end comes, all three files are the old ones."""
    whole = made("mini-full_mh", more=QUICK)
    total = sum(p.stat().st_size for p in whole.iterdir()) // 1024
    for share in (0.02, 0.3, 0.6, 0.9):
        place = scratch / "place"
        place.mkdir(exist_ok=True)
        with mounted(place, f"size={int(total * share) // 4 * 4 + 4}k"):
            for name in FILES:
                (place / name).write_bytes(b"old")
            result = probe("mini-full_mh", *QUICK, "--report", place, **HERE)
            fails(result, 1, "place", "; free some space or choose another folder", table=True)
            assert {p.name: p.read_bytes() for p in place.iterdir()} == dict.fromkeys(FILES, b"old"), share


@case
def file_size_limit(scratch):
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
    fails(probe("mini-full_mh", *QUICK, "--report", scratch / "r", preexec_fn=limit, **HERE), 1, "report.", "; raise the file size limit", table=True)
    assert not (scratch / "r").exists()


@case
def other_files_stay_and_old_ones_are_replaced(scratch):
    folder = scratch / "r"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    (folder / "report.pdf").write_bytes(b"old")
    (folder / "report.pdf").chmod(0o640)
    (scratch / "real.html").write_text("old")
    (folder / "report.html").symlink_to("../real.html")
    succeed("mini-full_mh", *QUICK, "--report", folder, **HERE)
    assert sorted(p.name for p in folder.iterdir()) == ["notes.txt", *FILES]
    assert (folder / "notes.txt").read_text() == "mine" and (folder / "report.pdf").stat().st_mode & 0o777 == 0o640
    assert (folder / "report.html").is_symlink() and "</html>" in (scratch / "real.html").read_text()


@case
def new_files_obey_the_umask(scratch):
    succeed("mini-full_mh", *QUICK, "--report", scratch / "r", preexec_fn=lambda: os.umask(0o027), **HERE)
    assert {p.stat().st_mode & 0o777 for p in (scratch / "r").iterdir()} == {0o640}


@case
def misuse(scratch):
    for args, words in (([MH, *SHORT, "-o", "x.h5"], "leave out -o"), ([MH, "--info"], "--info"), ([MH, "--sites"], "--sites"), (["--devices"], "--devices"),
                        ([MH, FULL, "--compare"], "leave out --compare"), ([MH, "--series"], "leave out --series"),
                        ([MH, "--weights-only"], "--weights-only"), ([MH, "--verify", "r"], "--verify")):
        check_refusal(probe(*args, "--report", scratch / "r"), 2, words)
    check_refusal(probe(MH, *SHORT, "--report", ""), 2, "--report is empty")
    assert not (scratch / "r").exists()


@case
def quiet_and_not(scratch):
    result = probe("mini-full_mh", *[a for a in QUICK if a != "-q"], "--report", scratch / "r", **HERE)
    assert result.code == 0 and re.search(r"wrote .*r/report.html, report.pdf and report.h5", result.err), result
    assert succeed("mini-full_mh", *QUICK, "--report", scratch / "r", **HERE).err == ""


main()
