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
import operator
import re
import struct
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
BLOCK, BLOCKS, ROW = 256, 1024, 512
#: The most blocks of a grid in which each computes a row.
ROWS = 2**20
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
        reach = at if isinstance(at, int) else at[0]
        for kind, of, rank in self.parameters:
            if kind == "array" and not rank:
                result = cupy.empty((), DTYPES[of])
                results.append(result)
                packed.append(np.void(_ARRAYS[0].pack(result.data.ptr, 0, 0)))
                continue
            value = next(given)
            if kind == "array":
                there, far = packed_array(value, of, rank)
                packed.append(there)
                reach = max(reach, far)
            else:
                packed.append(value if kind == "status" else packed_number(value, of))
        grid, block = launch_shape(at, self.meets)
        self.compiled(reach >= LARGE)(grid, block, tuple(packed))
        return results[0] if len(results) == 1 else tuple(results)

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

# CuPy passes `np.void` by value as it is: other structures take three times as long.
_ARRAYS = [struct.Struct(f"{1 + 2 * max(rank, 1)}q") for rank in range(8)]
_NUMBER = {
    "double": struct.Struct("dq"),
    "float": struct.Struct("f4xq"),
    "long long": struct.Struct("qq"),
    "bool": struct.Struct("?7xq"),
}


def packed_array(x: Any, of: str, rank: int) -> tuple[np.void, int]:
    """`array<of, rank>`: where it is, its sizes, and its strides in elements.

    Also how far its elements lie apart.
    """
    size = checked_array(x, of, rank).itemsize
    shape, steps = x.shape, [s // size for s in x.strides]
    far = sum(map(operator.mul, shape, map(abs, steps)))
    return np.void(_ARRAYS[rank].pack(x.data.ptr, *shape, *steps)), far


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


def packed_number(x: Any, of: str) -> np.void:
    """`number<of>`: a value, or where it is."""
    if not is_on_device(x):
        if of == "float":
            x = float(np.float32(x))  # what is too large for it is infinite
        return np.void(_NUMBER[of].pack(x, 0))
    if x.dtype != DTYPES[of]:
        x = x.astype(DTYPES[of])
    return np.void(_NUMBER[of].pack(0, x.data.ptr))


# -- launches ------------------------------------------------------------------------


def blocks(n: int) -> int:
    """How many blocks a grid for `n` elements has; folds leave a value of each."""
    return max(1, min(-(-n // BLOCK), BLOCKS))


@functools.lru_cache(1024)
def launch_shape(at: At, meets: bool) -> tuple[tuple[int], tuple[int, int]]:
    """The blocks of the grid, and the threads of a block.

    Args:
        meets: whether the threads of a block wait for each other.
    """
    if isinstance(at, tuple):
        return (blocks_of_rows(*at),), threads_of_row(at[1])
    if at == 1 and not meets:
        return (1,), (1, 1)
    few = BLOCK if meets else min(BLOCK, -(-max(at, 1) // 32) * 32)
    return (blocks(at),), (few, 1)


def threads_of_row(width: int) -> tuple[int, int]:
    """How many threads compute a row, and how many rows a block has.

    Short rows are those of parts of a warp; of long ones a thread has some 8 elements.
    """
    threads = min(ROW, power_of_two(width // 8))
    if threads > 32:
        return threads, 1
    threads = min(32, power_of_two(width))
    return threads, BLOCK // threads


def power_of_two(n: int) -> int:
    """The least one that is no less."""
    return 1 << max(n - 1, 0).bit_length()


def blocks_of_rows(n: int, width: int) -> int:
    """How many blocks a grid for `n` rows of `width` columns has."""
    rows = threads_of_row(width)[1]
    return max(1, min(-(-n // rows), 4 * BLOCKS if rows > 1 else ROWS))


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


def element(x: Any) -> Any:
    """A number out of an array, as NumPy gives it: later writes do not reach it."""
    return x.copy() if is_on_device(x) and not x.ndim else x


def elements(x: Any) -> Any:
    """What is gone through, with numbers that later writes do not reach."""
    return [v.copy() for v in x] if is_on_device(x) and x.ndim == 1 else x


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
