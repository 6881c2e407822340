# SPDX-License-Identifier: MIT
# What libFuzzer's log of target h5 says of crashes: how many were within HDF5, which is the system's and not safe, and
# the stacks of the others. Exit 1 where there are others.
function close_report() {
  if (!open)
    return
  open = 0
  if (whose == "hdf5") {
    theirs++
    return
  }
  ours++
  printf "%s", report
}
/ERROR: (AddressSanitizer|LeakSanitizer|libFuzzer)|runtime error:/ { close_report(); open = 1; whose = ""; report = "" }
open { report = report $0 "\n" }
# The innermost frame in HDF5 or in a source file of ours: those of allocators and of the C library are nobody's. Where
# nothing is named there are no source files, and any frame in HDF5 makes it HDF5's.
open && $1 ~ /^#[0-9]+$/ && whose == "" && /libhdf5/ { whose = "hdf5" }
open && $1 ~ /^#[0-9]+$/ && whose == "" && /\/(app|core|kernels|probes)\/[^ ]*\.c:[0-9]/ { whose = "ours" }
/SUMMARY:/ { close_report() }
END {
  close_report()
  printf "crashes: %d within HDF5, %d elsewhere\n", theirs, ours
  exit ours > 0
}
