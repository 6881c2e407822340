#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Saved pictures as programs that are not Cairo show them: no hairlines between cells, none blurred, nothing outside its panel.

PDF through Poppler and MuPDF, SVG through librsvg and MuPDF, each against the program's own PNG, whose cells are whole
pixels. Looked at are the insides and common edges of cells and the empty page; text and lines are smoothed as each pleases."""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))
from harness import DEMO, Skip, add, case, main, succeed  # noqa: E402

DPI = 216  # of the PNG: three pixels a point
SLACK = 3  # of 255: rounding of colours
CORNERS = 1e-4  # share of pixels that may be a mixture of three colours, where four cells meet; one hairline is far more


def read_ppm(path):
    data = Path(path).read_bytes()
    kind, size, depth, pixels = data.split(b"\n", 3)
    assert kind == b"P6" and depth == b"255", path
    width, height = map(int, size.split())
    return np.frombuffer(pixels, np.uint8, width * height * 3).reshape(height, width, 3).astype(np.int16)


def run(*args):
    subprocess.run([str(a) for a in args], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def from_png(path):
    run("convert", path, "-background", "white", "-flatten", "-depth", "8", f"{path}.ppm")
    return read_ppm(f"{path}.ppm")


def poppler(path, to):
    run("pdftoppm", "-r", DPI, "-singlefile", path, to)
    return read_ppm(f"{to}.ppm")


def mupdf(path, to):
    run("mutool", "draw", "-q", "-r", DPI, "-o", f"{to}.ppm", path)
    return read_ppm(f"{to}.ppm")


def rsvg(path, to):
    run("rsvg-convert", "-z", DPI / 72, "-d", "72", "-p", "72", path, "-o", f"{to}.png")
    return from_png(f"{to}.png")


RENDERERS = [("pdf", "pdftoppm", poppler), ("pdf", "mutool", mupdf), ("svg", "rsvg-convert", rsvg), ("svg", "mutool", mupdf)]


def neighbours(picture, reach):
    """[(2 reach + 1)², height, width, …]: every pixel's neighbourhood."""
    pad = [(reach, reach)] * 2 + [(0, 0)] * (picture.ndim - 2)
    padded, (height, width) = np.pad(picture, pad, mode="edge"), picture.shape[:2]
    side = range(2 * reach + 1)
    return np.stack([padded[i : i + height, j : j + width] for i in side for j in side])


def masks(png):
    """Where the PNG shows cells and their common edges, and where the empty page: bool [height, width] each.

    A colour is a cell's where it fills a square that no line or letter fills; a pixel counts where all around it is such."""
    colour = png[..., 0].astype(np.int32) << 16 | png[..., 1].astype(np.int32) << 8 | png[..., 2]
    solid = (neighbours(colour, 3) == colour).all(axis=0)
    cells = np.isin(colour, np.setdiff1d(colour[solid], [0xFFFFFF]))
    return neighbours(cells, 3).all(axis=0), neighbours(colour == 0xFFFFFF, 5).all(axis=0)


def compare(png, seen, what):
    height, width = (min(a, b) for a, b in zip(png.shape[:2], seen.shape[:2]))
    assert abs(png.shape[0] - seen.shape[0]) <= 2 and abs(png.shape[1] - seen.shape[1]) <= 2, (what, png.shape, seen.shape)
    png, seen = png[:height, :width], seen[:height, :width]
    cells, page = masks(png)
    around = neighbours(png, 1)
    out = ((seen < around.min(axis=0) - SLACK) | (seen > around.max(axis=0) + SLACK)).any(axis=2)
    assert cells.mean() > 0.1 and page.mean() > 0.1, (what, cells.mean(), page.mean())
    print(f"# {what}: {(out & cells).sum()} of {cells.sum()} pixels of cells, {(out & page).sum()} of {page.sum()} of the page")
    assert (out & cells).sum() <= CORNERS * cells.sum(), f"{what}: pixels of cells in no colour of theirs or their neighbours"
    assert not (out & page).any(), f"{what}: {(out & page).sum()} pixels drawn outside the panels"


_saved = tempfile.TemporaryDirectory(prefix="mhar-renderers-")


def saved_run():
    """A short run of a checkpoint of the demo, made once."""
    path = Path(_saved.name) / "run.h5"
    if not path.exists():
        succeed(DEMO / "mhar", "--all", "--max-tokens", "512", "--null-draws", "4", "--device", "cpu", "-q", "-o", path)
    return path


def figure(scratch, kind, *all_sites):
    def save(extension):
        path = scratch / f"{kind}.{extension}"
        succeed("--from", saved_run(), "--figure", path, "--figure-kind", kind, *all_sites, "-q")
        return path

    missing = [name for _, name, _ in RENDERERS if shutil.which(name) is None]
    if missing:
        raise Skip(f"{', '.join(missing)}: not installed")
    png = from_png(save("png"))
    for extension, name, render in RENDERERS:
        compare(png, render(save(extension), scratch / name), f"{kind}, {extension} by {name}")


for kind in "depth-map", "deviation":
    add(kind, figure, kind, "--first-sites", "0")
add("collinearity", figure, "collinearity")


if __name__ == "__main__":
    main()
