#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a command and adds a line "NAME SECONDS", its processor time, to a file: cpu-time.py FILE NAME COMMAND …"""
import resource
import subprocess
import sys

status = subprocess.call(sys.argv[3:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "a", encoding="utf-8") as ledger:
    ledger.write(f"{sys.argv[2]} {used.ru_utime + used.ru_stime:.0f}\n")
sys.exit(status if status >= 0 else 128 - status)
