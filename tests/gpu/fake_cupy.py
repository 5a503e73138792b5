"""A `cupy` without a GPU: arrays in NumPy's memory, kernels that run by the shim.

`installed()` puts it in the place of `cupy`, and gives the texts that were launched.
"""

import contextlib
import sys
import types

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from tests.gpu import shim


def inside(x):
    """NumPy's array of one of ours; other arrays are refused, as CuPy refuses them."""
    if isinstance(x, (list, tuple)):
        return type(x)(map(inside, x))
    if isinstance(x, np.ndarray) and x.ndim:
        raise TypeError(f"Unsupported type {type(x)}")
    return x._array if isinstance(x, ndarray) else x


def as_tuple(index):
    return index if isinstance(index, tuple) else (index,)


def outside(x):
    if isinstance(x, (list, tuple)):
        return type(x)(map(outside, x))
    if isinstance(x, (np.ndarray, np.generic)):
        return ndarray(np.asarray(x))
    return x


class ndarray(NDArrayOperatorsMixin):
    """What of `cupy.ndarray` the tests need."""

    __slots__ = ("_array",)
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
    def dtype(self):
        return self._array.dtype

    @property
    def data(self):
        return types.SimpleNamespace(ptr=self._array.ctypes.data)

    @property
    def __cuda_array_interface__(self):
        raise AttributeError("no device")

    def __array_namespace__(self):
        return sys.modules["cupy"]

    def __getitem__(self, index):
        index = inside(as_tuple(index))
        if not any(item is Ellipsis for item in index):
            index = (*index, ...)  # an element is an array without axes, in its memory
        return ndarray(self._array[index])

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
                assert isinstance(arg, np.void)
                raw.append(np.frombuffer(arg.tobytes(), np.uint8))
        shim.run(text, self.name, grid, block, raw)


class ElementwiseKernel:
    """CuPy's kernels of broadcast elements, as loops of one thread."""

    def __init__(self, in_params, out_params, operation, name="kernel", **kwargs):
        assert set(kwargs) <= {"preamble", "no_return"}
        self.takes, self.gives = _parameters(in_params), _parameters(out_params)
        names = [name for _, name in (*self.takes, *self.gives)]
        assert not {"i", "n"} & set(names) and len(set(names)) == len(names)
        assert not any(name.startswith("_") for name in names)
        self.name, self.preamble = name, kwargs.get("preamble", "")
        self.operation = operation

    def __call__(self, *args):
        *values, shape = self.broadcast(args)
        kept = [np.array(v, order="C") for v in values]
        loads = self.pointers(self.takes, "const ") + self.pointers(self.gives, "")
        text = self.text(loads, f"{self.elements()}\n{self.operation};")
        _run(text, self.name, [*kept, np.array([int(np.prod(shape))])])
        for k in range(len(self.takes), len(values)):
            values[k][...] = kept[k]

    def broadcast(self, args):
        """Arrays of one shape, and the shape; dtypes have to be those declared."""
        values = []
        for (of, name), arg in zip((*self.takes, *self.gives), args, strict=True):
            assert isinstance(arg, (ndarray, np.generic)) and arg.dtype == of, name
            values.append(arg._array if isinstance(arg, ndarray) else arg)
        shape = np.broadcast_shapes(*(np.shape(v) for v in values))
        for value in values[len(self.takes) :]:
            assert value.shape == shape
        count = len(self.takes)
        taken = [np.broadcast_to(v, shape) for v in values[:count]]
        return *taken, *values[count:], shape

    def pointers(self, parameters, const):
        return [f"{const}{_C_TYPES[of]}* {name}_" for of, name in parameters]

    def elements(self):
        lines = [f"const {_C_TYPES[of]} {n} = {n}_[at_];" for of, n in self.takes]
        gives = [f"{_C_TYPES[of]}& {n} = {n}_[at_];" for of, n in self.gives]
        return "\n".join([*lines, *gives])

    def text(self, loads, body):
        parameters = ", ".join([*loads, "const long long* n_"])
        return (
            f'{self.preamble}\nextern "C" __global__ void {self.name}({parameters}) {{'
            f"\nfor (long long at_ = 0; at_ < *n_; ++at_) {{\n{body}\n}}\n}}\n"
        )


_C_TYPES = {"float64": "double", "float32": "float", "int64": "long long"}
_C_TYPES["bool"] = "bool"


def _parameters(text):
    return [tuple(p.split()) for p in text.split(",") if p.strip()]


def _run(text, name, arrays):
    launched.append((text, name, ()))
    raw = [np.array([a.ctypes.data], np.int64) for a in arrays]
    shim.run(text, name, (1,), (1, 1), raw)


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
    found.ElementwiseKernel = ElementwiseKernel
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
