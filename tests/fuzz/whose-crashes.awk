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
# The first frame that is not a sanitizer's own.
open && whose == "" && $1 ~ /^#[0-9]+$/ && !/ in _*(interceptor|asan|sanitizer|ubsan|lsan)|[ (]operator / { whose = /libhdf5/ ? "hdf5" : "ours" }
/SUMMARY:/ { close_report() }
END {
  close_report()
  printf "crashes: %d within HDF5, %d elsewhere\n", theirs, ours
  exit ours > 0
}
