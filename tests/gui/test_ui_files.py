#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every .ui file of the window is one that GTK's own validator accepts; every shortcut of the program is in the shortcuts window,
and every action that window names has a shortcut."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

ui = Path(sys.argv[1])
validator = shutil.which("gtk4-builder-tool")
display = [sys.executable, Path(__file__).with_name("on_display.py")]
files = sorted(ui.glob("*.ui"))
assert files
print(f"1..{len(files) + 2}")
for number, path in enumerate(files, 1):
    if validator is None or shutil.which("Xvfb") is None:
        print(f"ok {number} - {path.name} # SKIP gtk4-builder-tool or Xvfb is not installed")
        continue
    done = subprocess.run([*display, validator, "validate", path], capture_output=True, text=True)
    print(f"{'ok' if done.returncode == 0 else 'not ok'} {number} - {path.name}")
    for line in (done.stdout + done.stderr).splitlines():
        print("#", line)

source = (ui.parent / "application.c").read_text("utf-8")
keys = set(re.findall(r'\{ "((?:win|app|window)\.[a-z:-]+)", \{', source))
shown = set(re.findall(r'"action-name">([^<]*)<', (ui / "shortcuts.ui").read_text("utf-8")))
print("ok" if keys and keys == shown else "not ok", len(files) + 1, "- shortcuts window")
for name in sorted(keys ^ shown):
    print("#", name, "is only in", "application.c" if name in keys else "shortcuts.ui")

# Every file with a sentence in it is one that translators see.
root = ui.parent.parent.parent
listed = {line for line in (root / "po/POTFILES").read_text("utf-8").split("\n") if line and not line.startswith("#")}
speaking = {str(p.relative_to(root)) for p in ui.parent.rglob("*")
            if (p.suffix == ".c" and re.search(r"\b(?:N_|_|ngettext) \(", p.read_text("utf-8")))
            or (p.suffix == ".ui" and 'translatable="yes"' in p.read_text("utf-8"))}
print("ok" if speaking <= listed else "not ok", len(files) + 2, "- POTFILES")
for name in sorted(speaking - listed):
    print("#", name, "is not in po/POTFILES")
