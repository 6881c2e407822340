#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The file of a real run of both demo checkpoints, with every token's weights, through test_readers.py, and what a reader
computes from it: the means from the captured weights, and from the sums of each window. TAP; 77 where a reader is missing."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_readers  # noqa: E402
from test_readers import check, np, xr  # noqa: E402

DATA = os.path.join(os.environ["MHAR_TEST_DATA"], "..", "data", "demo")


def check_means(path, index):
    """Capture and sums both average to what the checkpoint's group holds."""
    name = f"checkpoint_{index}"
    run = xr.open_dataset(path, group=name, engine="h5netcdf")
    sums = xr.open_dataset(path, group=f"{name}/sums", engine="h5netcdf")
    capture = xr.open_dataset(path, group=f"{name}/capture", engine="h5netcdf")
    tokens = int(run.attrs["tokens"])
    check(capture.weight.shape[0] == tokens, f"{name}: a captured row a token")
    check(np.array_equal(capture.token.values, np.arange(tokens)), f"{name}: tokens are counted through")
    want = run.weight.values
    check(np.allclose(capture.weight.mean("token").values, want, atol=1e-6, equal_nan=True),
          f"{name}: the captured weights average to the depth map")
    check(np.allclose((sums.weight.sum("window", skipna=False) / sums["count"].sum()).values, want, atol=1e-7, equal_nan=True),
          f"{name}: the windows' sums average to the depth map")
    check(abs(float(sums.loss.sum() / sums.pairs.sum()) - run.attrs["loss"]) < 1e-12, f"{name}: so does the loss")
    check(abs(float(run.weight.isel(site=-1, head=0).sum()) - 1) < 1e-6, f"{name}: weights of a site sum to one")


def check_interventions(path):
    """Their groups open by themselves, and the map lies on labelled axes."""
    fixtures = os.path.join(os.environ["MHAR_TEST_DATA"], "fixtures")
    subprocess.run([os.environ["MHAR_PROBE"], "--quiet", "--device", "cpu", "--tokens", os.path.join(fixtures, "public-domain.u16"),
                    "--max-tokens", "150", "--context", "32", "--ablation-map", "--uniform", "--ablate", "*:embed", "-o", path,
                    os.path.join(fixtures, "mini-full_mh")], check=True, stdout=subprocess.DEVNULL)
    test_readers.check_file(path)
    asked = xr.open_dataset(path, group="checkpoint_0/interventions", engine="h5netcdf")
    cells = xr.open_dataset(path, group="checkpoint_0/ablation_map", engine="h5netcdf")
    check(list(asked.spec.values) == ["uniform=*", "*:embed"], "interventions: named in the order asked for")
    check((asked.delta_loss_interval[:, 0] <= asked.delta_loss_interval[:, 1]).all(), "interventions: intervals are in order")
    check(int(cells.delta_loss.sel(site=8).notnull().sum()) == 9 and cells.delta_loss.dims == ("site", "source"),
          "ablation_map: the final read has nine sources, found by its number")
    check(np.allclose(cells.mass.sum("source").values, 1, atol=1e-6), "ablation_map: the mass of a site is one")


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "demo.h5")
        subprocess.run([os.environ["MHAR_PROBE"], "--quiet", "--device", "cpu", "--max-tokens", "300", "--context", "128",
                        "--null-draws", "3", "--match-sources", "4", "-o", path, "--save-weights=f32",
                        os.path.join(DATA, "single"), os.path.join(DATA, "mhar")], check=True, stdout=subprocess.DEVNULL)
        test_readers.check_file(path)
        for index in range(2):
            check_means(path, index)
        check_interventions(os.path.join(folder, "edited.h5"))
    print(f"1..{test_readers.count}")
    return 1 if test_readers.failures else 0


if __name__ == "__main__":
    sys.exit(main())
