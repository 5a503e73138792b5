"""What generated Python calls: kernels on the device, with CuPy.

    @cuda
    def f_y(x, y):
        \"\"\"
        extern "C" __global__ void f_y(...) { ... }
        \"\"\"

is a kernel of that text. `f_y[n](x, y)` launches it for `n` elements, `f_y[n, m](x, y)`
for `n` rows of `m` columns. It is compiled when it is first launched; CuPy keeps what
was compiled, in memory and on disk. Numbers are given by value, or stay on the device.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import re
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import optree

from srcjax.backends.kernels import Differs
from srcjax.backends.on_device import is_on_device
from srcjax.errors import ArgumentError

#: Threads of a block, the most blocks of a grid, and the most threads of a row.
BLOCK, BLOCKS, ROW = 256, 1024, 256
#: Bits of the first word of `status`, as in `srcjax.cuh`.
DIFFERS, OUT_OF_BOUNDS, TAPE_IS_FULL = 1, 2, 4
#: Sizes from which on indices have 64 bits.
LARGE = 2**30
#: NumPy's types by those of C++.
DTYPES: dict[str, Any] = {
    "double": np.dtype(np.float64),
    "float": np.dtype(np.float32),
    "long long": np.dtype(np.int64),
    "bool": np.dtype(np.bool_),
}
_PARAMETER = re.compile(r"(array|number)<(?:const )?([a-z ]+?)(?:, (\d))?> \w+|int\*")
At = int | tuple[int, int]


@functools.cache
def words() -> str:
    """What kernels are written with."""
    return Path(__file__).with_name("srcjax.cuh").read_text()


class CudaKernel:
    """A kernel for the device, compiled when it is first launched."""

    def __init__(self, function: Callable) -> None:
        self.__name__: str = function.__name__
        self.function = function
        #: The text, without the margin of the docstring.
        self.text = textwrap.dedent(inspect.getdoc(function) or "").strip()
        self.parameters = [
            (m[1] or "status", m[2] or "", int(m[3] or 0))
            for m in _PARAMETER.finditer(self.text.partition(") {")[0])
        ]
        #: Whether the threads of a block wait for each other.
        self.meets = "of_block" in self.text or "of_row" in self.text
        self._compiled: dict[bool, Any] = {}

    def __getitem__(self, at: At) -> Callable:
        return functools.partial(self.launch, at)

    def launch(self, at: At, *args: Any) -> Any:
        """Run the kernel; what it gives are numbers on the device."""
        cupy = the_cupy()
        given = iter(args)
        packed: list[Any] = []
        results = []
        large = (at if isinstance(at, int) else at[0]) >= LARGE
        for kind, of, rank in self.parameters:
            if kind == "array" and not rank:
                result = cupy.empty((), DTYPES[of])
                results.append(result)
                packed.append(packed_array(result, of, 0))
                continue
            value = next(given)
            if kind == "status":
                packed.append(value)
            elif kind == "number":
                packed.append(packed_number(value, of))
            else:
                packed.append(packed_array(value, of, rank))
                large = large or extent(value) >= LARGE
        grid, block = self.shape_of(at)
        self.compiled(large)(grid, block, tuple(packed))
        return results[0] if len(results) == 1 else tuple(results)

    def shape_of(self, at: At) -> tuple[tuple[int], tuple[int, int]]:
        """The blocks of the grid, and the threads of a block."""
        if isinstance(at, tuple):
            return (blocks_of_rows(*at),), threads_of_row(at[1])
        if at == 1 and not self.meets:
            return (1,), (1, 1)
        few = BLOCK if self.meets else min(BLOCK, -(-max(at, 1) // 32) * 32)
        return (blocks(at),), (few, 1)

    def compiled(self, large: bool) -> Any:
        """CuPy's kernel, with indices of 64 bits where arrays are large."""
        found = self._compiled.get(large)
        if found is None:
            options = ("--std=c++17",) + ("-DLARGE_ARRAYS",) * large
            text = f"{words()}\n{self.text}\n"
            found = the_cupy().RawKernel(text, self.__name__, options=options)
            self._compiled[large] = found
        return found


def cuda(function: Callable) -> CudaKernel:
    """Decorator: the kernel whose text is the docstring."""
    return CudaKernel(function)


# -- arguments -----------------------------------------------------------------------


@functools.cache
def _words_of(count: int) -> Any:
    """A struct of so many words, which CuPy passes by value."""
    return np.dtype([("words", np.int64, (count,))])


def packed_array(x: Any, of: str, rank: int) -> np.ndarray:
    """`array<of, rank>`: where it is, its sizes, and its strides in elements."""
    dtype = checked_array(x, of, rank)
    steps = [s // dtype.itemsize for s in x.strides]
    if not rank:
        return np.array([x.data.ptr, 0, 0], np.int64).view(_words_of(3))
    return np.array([x.data.ptr, *x.shape, *steps], np.int64).view(
        _words_of(1 + 2 * rank)
    )


def checked_array(x: Any, of: str, rank: int) -> np.dtype:
    """The dtype of an array, which has to be on the device, and as it is meant."""
    if not is_on_device(x):
        raise ArgumentError(
            f"a {type(x).__name__} meets arrays of the device",
            instead="all arrays on one device: `srcjax.device_put(x)`",
        )
    dtype: np.dtype = DTYPES[of]
    if x.dtype != dtype or x.ndim != rank:
        raise TypeError(
            f"an array of {x.dtype} with {x.ndim} axes, for {dtype}, {rank}"
        )
    return dtype


def packed_number(x: Any, of: str) -> np.ndarray:
    """`number<of>`: a value, or where it is."""
    raw = np.zeros(2, np.int64)
    if is_on_device(x):
        if x.dtype != DTYPES[of]:
            x = x.astype(DTYPES[of])
        raw[1] = x.data.ptr
    else:
        raw[:1].view(DTYPES[of])[0] = x
    return raw.view(_words_of(2))


def extent(x: Any) -> int:
    """How far the elements of an array lie apart."""
    size = x.dtype.itemsize
    return sum(
        (n - 1) * abs(s) // size for n, s in zip(x.shape, x.strides, strict=True) if n
    )


# -- launches ------------------------------------------------------------------------


def blocks(n: int) -> int:
    """How many blocks a grid for `n` elements has; folds leave a value of each."""
    return max(1, min(-(-n // BLOCK), BLOCKS))


def threads_of_row(width: int) -> tuple[int, int]:
    """How many threads compute a row, and how many rows a block has."""
    if width > 1024:
        return ROW, 1
    threads = 1
    while threads < min(width, 32):
        threads *= 2
    return threads, BLOCK // threads


def blocks_of_rows(n: int, width: int) -> int:
    """How many blocks a grid for `n` rows of `width` columns has."""
    return max(1, min(-(-n // threads_of_row(width)[1]), 4 * BLOCKS))


def lanes(n: int) -> int:
    """How many threads a grid for `n` elements has."""
    return 1 if n == 1 else blocks(n) * min(BLOCK, -(-max(n, 1) // 32) * 32)


def shares(n: int, rows: int) -> int:
    """Among how many threads `rows` places are divided that end in each of `n`."""
    return max(1, min(-(-rows // 8), BLOCK * BLOCKS // 2 // max(n, 1), BLOCKS))


def apart(x: Any, *others: Any) -> bool:
    """Whether an array has no memory in common with others."""
    low, high = limits(x)
    return not any(a < high and low < b for a, b in map(limits, others))


def limits(x: Any) -> tuple[int, int]:
    """Where the memory of an array begins and ends."""
    low = high = x.data.ptr
    for n, step in zip(x.shape, x.strides, strict=True):
        if n == 0:
            return low, low
        if step < 0:
            low += (n - 1) * step
        else:
            high += (n - 1) * step
    return low, high + x.dtype.itemsize


def settle(status: Any) -> None:
    """Raise what kernels found to be wrong.

    Raises:
        IndexError: an index is out of bounds.
        Differs: Python's own numbers do there what machine numbers do not.
    """
    found = int(status[0])
    if found & DIFFERS:
        raise Differs
    if found & OUT_OF_BOUNDS:
        raise IndexError("an index is out of bounds for an axis of its array")


def is_full(status: Any) -> bool:
    """Whether lists of threads had too little room; says so once."""
    found = int(status[0])
    if found & TAPE_IS_FULL:
        status[0] = 0
    return bool(found & TAPE_IS_FULL)


def item(x: Any) -> Any:
    """A number, from the device if it is there."""
    return x.item() if is_on_device(x) else x


def by_cupy(function: Callable) -> Callable:
    """What CuPy has in the place of a function that does not ask its arguments.

    What CuPy does not have runs on the host. Arrays that it gives are on the device.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given: Any = (args, kwargs)
        if any(map(is_on_device, optree.tree_leaves(given, none_is_leaf=True))):
            there = of_cupy(function)
            if there is not None:
                return there(*args, **kwargs)
            given = optree.tree_map(on_host, given, none_is_leaf=True)
        found = function(*given[0], **given[1])
        return optree.tree_map(moved, found, none_is_leaf=True)

    return call


def on_host(x: Any) -> Any:
    """An array of the device in NumPy's memory; anything else as it is."""
    return x.get() if is_on_device(x) else x


def moved(x: Any) -> Any:
    """An array of numbers, on the device; anything else as it is."""
    numbers = isinstance(x, np.ndarray) and x.dtype.kind in "fiubc"
    return the_cupy().asarray(x) if numbers else x


def of_cupy(function: Any) -> Callable | None:
    """The function of CuPy under the same public name; None if there is none."""
    name = getattr(function, "__name__", "")
    if getattr(np, name, None) is function:
        return getattr(the_cupy(), name, None)
    for path, module in list(sys.modules.items()):
        public = path.startswith("scipy.") and "._" not in path
        if public and vars(module).get(name) is function:
            try:
                return getattr(importlib.import_module(f"cupyx.{path}"), name, None)
            except ImportError:
                continue
    return None


def has_cupy() -> bool:
    """Whether CuPy is there."""
    return "cupy" in sys.modules or importlib.util.find_spec("cupy") is not None


@functools.cache
def the_cupy() -> Any:
    """The module `cupy`. Raises ArgumentError where there is none."""
    try:
        import cupy
    except ImportError:
        raise ArgumentError(
            "there is no CuPy, which arrays of a GPU need",
            instead="`pip install srcjax[cuda13]` (or `srcjax[cuda12]`)",
        ) from None
    return cupy
