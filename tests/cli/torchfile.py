# SPDX-License-Identifier: MIT
"""torch.save without torch: the zip archive, and in it the pickle by Python's own pickler, which writes torch's names for
stand-ins. save (FILE, {"w": ("F32", [2, 3], bytes), "step": 7}) makes what torch.save ({"w": tensor, …}) does."""
import collections
import io
import pickle
import zipfile

STORAGES = {"BF16": "BFloat16Storage", "F16": "HalfStorage", "F32": "FloatStorage", "F64": "DoubleStorage", "I64": "LongStorage"}
BYTES = {"BF16": 2, "F16": 2, "F32": 4, "F64": 8, "I64": 8}


class Named:
    """Pickles as the global module.name."""
    def __init__(self, module, name):
        self.module, self.name = module, name

    def __call__(self):
        raise TypeError("a name only")


_named = {}


def named(module, name):
    """The same object for the same name, so that the pickler can refer back to it."""
    return _named.setdefault((module, name), Named(module, name))


class Call:
    """Pickles as function (*arguments)."""
    def __init__(self, function, *arguments):
        self.how = (function, arguments)

    def __reduce__(self):
        return self.how


class Storage:
    def __init__(self, dtype, data):
        self.dtype, self.data = dtype, data


def tensor(dtype, shape, data, stride=None, offset=0, storage=None):
    """A tensor of a storage of its own, or of the one given."""
    storage = storage or Storage(dtype, data)
    steps, step = [], 1
    for n in reversed(shape):
        steps.insert(0, step)
        step *= n
    return Call(named("torch._utils", "_rebuild_tensor_v2"), storage, offset, tuple(shape), tuple(stride or steps), False,
                collections.OrderedDict())


def parameter(value):
    return Call(named("torch._utils", "_rebuild_parameter"), value, True, collections.OrderedDict())


class _Pickler(pickle._Pickler):  # the one in Python, which lets its save be changed
    def __init__(self, file, protocol, storages):
        super().__init__(file, protocol)
        self.storages = storages

    def save(self, obj, save_persistent_id=True):
        if not isinstance(obj, Named):
            super().save(obj, save_persistent_id)
        elif id(obj) in self.memo:
            self.write(self.get(self.memo[id(obj)][0]))
        else:
            if self.proto >= 4:
                self.save(obj.module)
                self.save(obj.name)
                self.write(pickle.STACK_GLOBAL)
            else:
                self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
            self.memoize(obj)

    def persistent_id(self, thing):
        if not isinstance(thing, Storage):
            return None
        if thing not in self.storages:
            self.storages.append(thing)
        key = str(self.storages.index(thing))
        return ("storage", named("torch", STORAGES[thing.dtype]), key, "cpu", len(thing.data) // BYTES[thing.dtype])


def pickled(value, protocol=2):
    """(data.pkl, storages) of a value whose tensors are those of `tensor`."""
    storages, out = [], io.BytesIO()
    _Pickler(out, protocol, storages).dump(value)
    return out.getvalue(), storages


def save(path, value, protocol=2, compression=zipfile.ZIP_STORED, root="archive", byteorder="little"):
    """Tuples (dtype, shape, bytes) in dicts at any depth become tensors."""
    def convert(x):
        if isinstance(x, dict):
            return type(x)((k, convert(v)) for k, v in x.items())
        if isinstance(x, tuple) and len(x) == 3 and x[0] in STORAGES:
            return tensor(*x)
        return x
    data, storages = pickled(convert(value), protocol)
    with zipfile.ZipFile(path, "w", compression) as z:
        z.writestr(f"{root}/data.pkl", data)
        z.writestr(f"{root}/byteorder", byteorder)
        for i, storage in enumerate(storages):
            z.writestr(f"{root}/data/{i}", storage.data)
        z.writestr(f"{root}/version", "3\n")
