#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""on_display.py PROGRAM [ARG…]: runs it on a display of its own; its exit status, or 77 where there is no Xvfb."""
import os
import shutil
import subprocess
import sys
import tempfile

from desk import start_display, stop_desktop


def main():
    if shutil.which("Xvfb") is None:
        print("1..0 # SKIP Xvfb is not installed")
        return 77
    start_display()
    with tempfile.TemporaryDirectory(prefix="display-", ignore_cleanup_errors=True) as folder:
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
            os.environ[name] = folder
        os.environ.update(GTK_A11Y="none", DBUS_SESSION_BUS_ADDRESS="disabled:")
        try:
            return subprocess.call(sys.argv[1:])
        finally:
            stop_desktop()


if __name__ == "__main__":
    sys.exit(main())
