#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the window draws, pixel by pixel, against golden/NAME.png; where they differ NAME.out.png and NAME.diff.png lie beside the
build's logs. Letters are drawn a little differently by every FreeType, so a few pixels may differ. With MHAR_UPDATE_GOLDEN set the
golden pictures are written instead."""
import os
import re
import shutil
import subprocess
from pathlib import Path

from desk import BUILD, DEMO, PROBE, Missing, case, main, wait_for

GOLDEN = Path(__file__).resolve().parent / "golden"
ALLOWED = 0.015  # share of the pixels
FUZZ = "12%"     # what counts as another colour


def picture(v, name, there):
    """The drawn part of the window."""
    box = v.box(v.find("image", name))
    subprocess.run(["import", "-window", "root", "-crop", f"{box.width}x{box.height}+{box.x}+{box.y}", "+repage", there], check=True)


def compare(v, page, name):
    golden, out = GOLDEN / f"{page}.png", BUILD / "meson-logs" / f"{page}.out.png"
    diff = out.with_name(f"{page}.diff.png")
    out.parent.mkdir(parents=True, exist_ok=True)
    if os.environ.get("MHAR_UPDATE_GOLDEN"):
        GOLDEN.mkdir(exist_ok=True)
        picture(v, name, out)
        subprocess.run(["convert", out, "+dither", "-colors", "64", f"PNG8:{golden}"], check=True)
        return

    def alike():
        picture(v, name, out)
        done = subprocess.run(["compare", "-metric", "AE", "-fuzz", FUZZ, golden, out, diff], capture_output=True, text=True)
        size = subprocess.run(["identify", "-format", "%w %h", out], capture_output=True, text=True, check=True).stdout.split()
        alike.share = float(re.match(r"[\d.e+]+", done.stderr).group()) / (int(size[0]) * int(size[1])) if done.returncode < 2 else 1
        return alike.share <= ALLOWED
    try:
        wait_for(alike, 20)
    except AssertionError:
        raise AssertionError(f"{page}: {100 * alike.share:.2f} % of the pixels differ; see {out} and {diff}") from None
    print(f"# {page}: {100 * alike.share / ALLOWED:.0f} % of the allowance", flush=True)
    out.unlink()
    diff.unlink()


@case
def pages_as_they_were(start, folder):
    for tool in ("import", "compare", "convert"):
        if shutil.which(tool) is None:
            raise Missing("ImageMagick is not installed")
    saved = folder / "run.h5"
    subprocess.run([PROBE, "--quiet", "--device", "cpu", "--max-tokens", "512", "--context", "256", DEMO / "mhar", "-o", saved],
                   check=True, stdout=subprocess.DEVNULL)
    v = start(saved, settings="width=1100\nheight=640\nappearance=light\n")
    subprocess.run(["xdotool", "mousemove", "--sync", "1278", "798"], check=True)
    for key, page, name in (("alt+1", "maps", "^Depth maps$"), ("alt+2", "disagreement", "Disagreement by site"),
                            ("alt+3", "collinearity", "Collinearity of")):
        v.key(key)
        compare(v, page, name)
    v.close()


if __name__ == "__main__":
    main()
