"""Elementary functions in a compiled loop: time per element of arrays of 1e5."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from srcjax.backends.elementary import compiled, ordinary

from .timing import interleaved, table

SIZE = 100_000
NUMPY, NUMBA, OURS = "NumPy, SciPy", "Numba's own", "srcjax"
NEAR = "within the bound"
NAMES = (
    *("exp", "exp2", "expm1", "sinh", "cosh", "tanh", "expit"),
    *("log", "log2", "log10", "log1p", "logaddexp"),
    *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2"),
    *("erf", "erfc", "ndtr", "power", "cbrt"),
)
OF_TWO = ("logaddexp", "arctan2", "power")
#: Functions of SciPy's that Numba knows from `math`, or not at all.
IN_MATH = ("erf", "erfc")
NOT_IN_NUMBA = ("expit", "ndtr")


def compare(dtype: Any, rounds: int) -> str:
    """One row per function: nanoseconds per element, and NumPy's time by ours."""
    columns = [NUMPY, NUMBA, OURS, NEAR]
    rows = []
    for name in NAMES:
        times = interleaved(calls(name, dtype), rounds)
        each = [nanoseconds(times.get(column)) for column in columns]
        rows.append([name, *each, f"{times[NUMPY] / times[OURS]:.1f}x"])
    return table(["ns per element", *columns, f"{NUMPY} / {OURS}"], rows)


def nanoseconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds / SIZE * 1e9:.2f}"


def calls(name: str, dtype: Any) -> dict[str, Callable[[], Any]]:
    """What is timed: all write to the same array."""
    arguments = arrays(name, dtype)
    out = np.empty_like(arguments[0])
    function = numpy_function(name)
    functions = {OURS: compiled(function, dtype)}
    if name not in NOT_IN_NUMBA:
        functions[NUMBA] = numbas_own(name)
    near = ordinary(function, dtype)
    if near is not None:
        functions[NEAR] = near[0]
    found: dict[str, Callable[[], Any]] = {NUMPY: lambda: function(*arguments, out)}
    for peer, f in functions.items():
        found[peer] = functools.partial(loop(f, name), *arguments, out)
    return found


def arrays(name: str, dtype: Any) -> tuple[Any, ...]:
    """Arguments of ordinary size."""
    rng = np.random.default_rng(0)
    low = 0.1 if name.startswith("log") or name == "power" else -5
    bounds = (-1, 1) if name in ("arcsin", "arccos") else (low, 5)
    count = 2 if name in OF_TWO else 1
    return tuple(rng.uniform(*bounds, SIZE).astype(dtype) for _ in range(count))


def numpy_function(name: str) -> Any:
    if hasattr(np, name):
        return getattr(np, name)
    import scipy.special

    return getattr(scipy.special, name)


def numbas_own(name: str) -> Any:
    """What a kernel calls without this library."""
    known = getattr(math if name in IN_MATH else np, name)
    if name in OF_TWO:
        return numba.njit(lambda x, y: known(x, y))
    return numba.njit(lambda x: known(x))


def loop(f: Any, name: str) -> Any:
    def one(x, out):
        for i in range(x.size):
            out[i] = f(x[i])

    def two(x, y, out):
        for i in range(x.size):
            out[i] = f(x[i], y[i])

    return numba.njit(two if name in OF_TWO else one, error_model="numpy")
