"""A `cupy` without a GPU: arrays in NumPy's memory, kernels that run by the shim.

`installed()` puts it in the place of `cupy`, and gives the texts that were launched.
"""

import contextlib
import sys
import types

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from tests.cuda import shim


def inside(x):
    """NumPy's array of one of ours; other arrays are refused, as CuPy refuses them."""
    if isinstance(x, (list, tuple)):
        return type(x)(map(inside, x))
    if isinstance(x, np.ndarray) and x.ndim:
        raise TypeError(f"Unsupported type {type(x)}")
    return x._array if isinstance(x, ndarray) else x


def outside(x):
    if isinstance(x, (list, tuple)):
        return type(x)(map(outside, x))
    if isinstance(x, (np.ndarray, np.generic)):
        return ndarray(np.asarray(x))
    return x


class ndarray(NDArrayOperatorsMixin):
    """What of `cupy.ndarray` the tests need."""

    __array_priority__ = 100

    def __init__(self, array):
        self._array = array

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        kwargs = {k: inside(v) for k, v in kwargs.items()}
        found = getattr(ufunc, method)(*map(inside, inputs), **kwargs)
        if kwargs.get("out") is not None:
            return self
        return outside(found)

    def __array_function__(self, function, kinds, args, kwargs):
        kwargs = {k: inside(v) for k, v in kwargs.items()}
        return outside(function(*inside(args), **kwargs))

    def __array__(self, *args, **kwargs):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    @property
    def data(self):
        return types.SimpleNamespace(ptr=self._array.ctypes.data)

    @property
    def __cuda_array_interface__(self):
        raise AttributeError("no device")

    def __array_namespace__(self):
        return sys.modules["cupy"]

    def __getitem__(self, index):
        index = inside(index) if not isinstance(index, tuple) else inside(index)
        return ndarray(np.asarray(self._array[index]))

    def __setitem__(self, index, value):
        self._array[inside(index)] = inside(value)

    def __len__(self):
        return len(self._array)

    def __bool__(self):
        return bool(self._array)

    def __float__(self):
        return float(self._array)

    def __int__(self):
        return int(self._array)

    def __index__(self):
        return self._array.__index__()

    def __iter__(self):
        return (self[k] for k in range(len(self)))

    def __repr__(self):
        return f"cupy.{self._array!r}"

    def get(self):
        return self._array.copy()

    def item(self, *args):
        return self._array.item(*args)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self._array, name)
        if name in ("shape", "strides", "dtype", "ndim", "size", "itemsize", "nbytes"):
            return found
        if callable(found):
            return lambda *a, **k: outside(
                found(*map(inside, a), **{n: inside(v) for n, v in k.items()})
            )
        return outside(found)


ndarray.__module__ = "cupy"

#: Kernels that were launched: (text, name, options).
launched = []


class RawKernel:
    """Runs a kernel by the shim."""

    def __init__(self, code, name, options=()):
        self.code, self.name, self.options = code, name, options

    def __call__(self, grid, block, args):
        launched.append((self.code, self.name, self.options))
        text = self.code
        if "-DLARGE_ARRAYS" in self.options:
            text = "#define LARGE_ARRAYS\n" + text
        raw = []
        for arg in args:
            if isinstance(arg, ndarray):
                assert arg._array.flags.c_contiguous
                raw.append(np.array([arg.data.ptr], np.int64))
            else:
                assert isinstance(arg, np.ndarray) and arg.size == 1
                raw.append(arg)
        shim.run(text, self.name, grid, block, raw)


def _made(name):
    def make(*args, **kwargs):
        if args and isinstance(args[0], ndarray):
            raise TypeError("a size that is on the device")
        return ndarray(getattr(np, name)(*map(inside, args), **kwargs))

    return make


def _of_arrays(name):
    def make(x, *args, **kwargs):
        return ndarray(getattr(np, name)(inside(x), *args, **kwargs))

    return make


def module():
    """The module."""
    found = types.ModuleType("cupy")
    found.ndarray, found.RawKernel = ndarray, RawKernel
    for name in ("empty", "zeros", "ones", "full", "arange", "eye", "linspace"):
        setattr(found, name, _made(name))
    for name in ("identity", "logspace", "tri"):
        setattr(found, name, _made(name))
    for name in ("array", "asanyarray", "ascontiguousarray", "asfortranarray", "copy"):
        setattr(found, name, _of_arrays(name))
    found.asarray = lambda x: x if isinstance(x, ndarray) else ndarray(np.array(x))
    found.asnumpy = lambda x: x.get() if isinstance(x, ndarray) else np.asarray(x)
    runtime = types.SimpleNamespace(getDeviceCount=lambda: 1)
    found.cuda = types.SimpleNamespace(
        runtime=runtime, Device=lambda k: contextlib.nullcontext()
    )
    return found


@contextlib.contextmanager
def installed():
    """`import cupy` gives the module above."""
    from srcjax.backends.cuda.run import the_cupy

    before = sys.modules.get("cupy")
    found = sys.modules["cupy"] = module()
    the_cupy.cache_clear()
    launched.clear()
    try:
        yield found
    finally:
        the_cupy.cache_clear()
        del sys.modules["cupy"]
        if before is not None:
            sys.modules["cupy"] = before
