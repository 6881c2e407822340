#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Opens a results file with h5py, xarray (h5netcdf and netCDF4) and ncdump, and checks what design.md promises of it.

    test_readers.py FILE                 a file of test-h5file --write or of mhar-probe -o
    test_readers.py --writer PROGRAM     has PROGRAM --write a file first
Prints a TAP line a check; exit 1 where one failed, 77 where a reader is not installed."""
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import h5py
    import netCDF4
    import numpy as np
    import xarray as xr
    import h5netcdf  # noqa: F401  (xarray's engine)
except ImportError as error:
    print(f"1..0 # SKIP {error}")
    sys.exit(77)

count = 0
failures = 0


def check(good, what):
    """One TAP line."""
    global count, failures
    count += 1
    failures += not good
    print(f"{'ok' if good else 'not ok'} {count} {what}")
    return good


def base_name(path):
    return path.rsplit("/", 1)[-1]


def groups_of(file):
    """The root and every group below it."""
    found = [file["/"]]
    file.visititems(lambda _, item: found.append(item) if isinstance(item, h5py.Group) else None)
    return found


def datasets_of(group):
    return {name: item for name, item in group.items() if isinstance(item, h5py.Dataset)}


def is_scale(item):
    return item.attrs.get("CLASS") == b"DIMENSION_SCALE"


def dims_of(item):
    """Names of an item's dimensions; scales are their own."""
    if is_scale(item):
        return [base_name(item.name)]
    return [base_name(axis[0].name) if len(axis) == 1 else None for axis in item.dims]


def is_tracked(plist, links):
    both = h5py.h5p.CRT_ORDER_TRACKED | h5py.h5p.CRT_ORDER_INDEXED
    return plist.get_attr_creation_order() == both and (not links or plist.get_link_creation_order() == both)


# ---- h5py: what the file is made of ----


def check_text(item, where):
    """Text is of variable length and UTF-8. CLASS and NAME are the dimension scale specification's own."""
    wrong = []
    for name in item.attrs:
        if name in ("CLASS", "NAME"):
            continue
        kind = item.attrs.get_id(name).get_type()
        if isinstance(kind, h5py.h5t.TypeStringID):
            if not kind.is_variable_str() or kind.get_cset() != h5py.h5t.CSET_UTF8:
                wrong.append(name)
    if isinstance(item, h5py.Dataset):
        kind = item.id.get_type()
        if isinstance(kind, h5py.h5t.TypeStringID):
            if not kind.is_variable_str() or kind.get_cset() != h5py.h5t.CSET_UTF8:
                wrong.append("values")
    check(not wrong, f"{where}: text is variable-length UTF-8 {wrong or ''}")


def check_dataset(item):
    where = item.name
    check_text(item, where)
    check(isinstance(item.attrs.get("units"), str), f"{where}: units")
    check(bool(item.attrs.get("long_name")), f"{where}: long_name")
    check(is_tracked(item.id.get_create_plist(), False), f"{where}: attribute order")
    dims = dims_of(item)
    own = all(name is not None and is_scale(item.parent[name]) for name in dims)
    check(own and len(dims) == item.ndim, f"{where}: a scale of its own group for every axis {dims}")
    lengths = own and [item.parent[name].shape[0] for name in dims]
    check(own and lengths == list(item.shape), f"{where}: lengths of scales {lengths}")
    if is_scale(item):
        check(item.attrs["NAME"].decode() == base_name(where), f"{where}: scale's name")
        check("_FillValue" not in item.attrs, f"{where}: coordinates have no _FillValue")
    elif item.dtype.kind == "f":
        fill = item.attrs.get("_FillValue")
        good = fill is not None and fill.shape == (1,) and fill.dtype == item.dtype and np.isnan(fill[0])
        check(good and np.isnan(item.fillvalue), f"{where}: _FillValue and fill value are NaN")
    if item.dtype.kind != "O" and item.size * item.dtype.itemsize > 65536:
        deflated = item.compression == "gzip" and item.compression_opts == 4
        check(item.shuffle and deflated, f"{where}: shuffle, deflate 4")


def check_group(group):
    check_text(group, group.name)
    check(is_tracked(group.id.get_create_plist(), True), f"{group.name}: order of links and attributes")
    if group.attrs.get("NX_class") == "NXdata":
        signal = group.attrs.get("signal")
        check(signal in group, f"{group.name}: signal {signal}")
        check(list(group.attrs["axes"]) == dims_of(group[signal]), f"{group.name}: axes {list(group.attrs['axes'])}")
    for item in datasets_of(group).values():
        check_dataset(item)


def check_labels(group):
    """source_label is empty exactly where weight has no value."""
    if "weight" not in group or "source_label" not in group:
        return
    labels = group["source_label"].asstr()[()]
    weight = group["weight"][()]
    check(np.array_equal(labels == "", np.isnan(weight).all(axis=1)), f"{group.name}: labels where there are sources")


def check_with_h5py(file):
    root = file["/"]
    schema = root.attrs.get("mhar_schema")
    check(schema == 1 and np.issubdtype(type(schema), np.integer), "/: mhar_schema is the integer 1")
    check(root.attrs.get("NX_class") == "NXroot", "/: NXroot")
    plottable = [g for g in root.values() if isinstance(g, h5py.Group) and g.attrs.get("NX_class") == "NXdata"]
    if plottable:
        check(root.attrs.get("default") in [base_name(g.name) for g in plottable], "/: default is NXdata")
    with open(file.filename, "rb") as raw:
        check(raw.read(9)[8] == 2, "superblock of HDF5 1.8")
    for group in groups_of(file):
        check_group(group)
        check_labels(group)


# ---- xarray and netCDF4: what they make of it ----


def same(a, b):
    if a.dtype.kind in "OSU":
        return np.array_equal(np.asarray(a, object), np.asarray(b, object))
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def values_of(item):
    return item.asstr()[()] if item.dtype.kind == "O" else item[()]


def check_with_xarray(path, group, engine):
    where = f"{group.name} ({engine})"
    with xr.open_dataset(path, group=group.name, engine=engine) as found:
        items = datasets_of(group)
        check(set(found.variables) == set(items), f"{where}: variables")
        scales = {n for n in items if is_scale(items[n])}
        check(scales == set(found.dims) == set(found.indexes), f"{where}: dimensions are indexes")
        for name, item in items.items():
            seen = found[name]
            check(list(seen.dims) == dims_of(item), f"{where}: {name} dims {list(seen.dims)}")
            values = seen.values if item.dtype.kind == "O" else seen.values.astype(item.dtype)
            check(same(values_of(item), values), f"{where}: {name} values and NaN")
            check(seen.attrs.get("units") == item.attrs["units"], f"{where}: {name} units")
            if item.dtype.kind == "O" and any(set(dims_of(item)) <= set(dims_of(i)) for i in items.values()
                                              if not is_scale(i) and i.dtype.kind != "O"):
                check(name in found.coords, f"{where}: {name} is a coordinate")
        for name in group.attrs:
            if isinstance(group.attrs[name], str):
                check(found.attrs.get(name) == group.attrs[name], f"{where}: attribute {name}")


def check_masked_sum(path, group):
    """What a user does: sums over sources skip what a site does not have."""
    if "weight" not in group or "n_sources" not in group:
        return
    with xr.open_dataset(path, group=group.name, engine="netcdf4") as found:
        total = found["weight"].sum("source").values
        want = np.nansum(group["weight"][()], axis=group["weight"].ndim - 1)
        worst = np.max(np.abs(total - want) / (1e-6 * np.maximum(np.abs(want), 1e-30)))
        check(worst <= 1, f"{group.name}: sum over sources, max error = {100 * worst:.1f} % of the allowance")


def check_with_netcdf4(path, group):
    """All of it through netCDF4 itself, which crashes on text of fixed length."""
    with netCDF4.Dataset(path) as file:
        found = file if group.name == "/" else file[group.name]
        # To netCDF an empty dimension is one that has not grown yet.
        growing = {n for n, item in datasets_of(group).items()
                   if is_scale(item) and (item.maxshape[0] is None or item.size == 0)}
        where = f"{group.name} (netCDF4)"
        check({n for n, d in found.dimensions.items() if d.isunlimited()} == growing, f"{where}: unlimited {growing}")
        check(list(found.variables) == list(datasets_of(group)), f"{where}: order of variables")
        for name in found.ncattrs():
            found.getncattr(name)
        for variable in found.variables.values():
            variable[...]


def check_with_ncdump(path, file):
    done = subprocess.run(["ncdump", "-h", path], capture_output=True, text=True)
    check(done.returncode == 0 and not done.stderr, f"ncdump -h {done.stderr}")
    lines = [line.strip() for line in done.stdout.splitlines()]
    missing = [item.name for group in groups_of(file) for name, item in datasets_of(group).items()
               if item.ndim > 0 and not any(line.endswith(f" {name}({', '.join(dims_of(item))}) ;") for line in lines)]
    check(not missing, f"ncdump names every variable with its dimensions {missing or ''}")


def check_file(path):
    with h5py.File(path, "r") as file:
        check_with_h5py(file)
        check_with_ncdump(path, file)
        for group in groups_of(file):
            check_with_netcdf4(path, group)
            if datasets_of(group):
                check_masked_sum(path, group)
                for engine in ("h5netcdf", "netcdf4"):
                    check_with_xarray(path, group, engine)


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--writer":
        folder = tempfile.mkdtemp(prefix="mhar-readers-")
        try:
            path = os.path.join(folder, "sample.h5")
            subprocess.run([sys.argv[2], "--write", path], check=True)
            check_file(path)
        finally:
            shutil.rmtree(folder)
    elif len(sys.argv) == 2:
        check_file(sys.argv[1])
    else:
        sys.exit(__doc__)
    print(f"1..{count}")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
