"""Elementary functions for kernels that Numba compiles, in loops that vectorise.

Numba calls a library for `exp`, one number at a time. These are polynomials without
branches, which LLVM makes vectors of where they stand in a loop, in float32 and in
float64, each at most 2 units in the last place from the exact result, and right at
zeros, infinities, NaN and denormal numbers: NumPy's result, and no exceptions.

    exp = compiled(np.exp, np.dtype("float32"))

    @numba.njit(error_model="numpy")
    def kernel(x, out):
        for i in range(x.size):
            out[i] = exp(x[i])

sin, cos and tan are right for arguments of any size, for which they look up the bits of
2 / pi. Where all arguments are within `ordinary`'s bound, its functions are three times
faster; a kernel finds out by the way, and computes again what it has to:

    for i in range(start, stop):
        out[i] = near_sin(x[i])
        far |= not (abs(x[i]) <= bound)  # NaN too

Nothing here imports Numba before `compiled` is called.
"""

from __future__ import annotations

import functools
import importlib
import math
import operator
import sys
from typing import Any

import numpy as np

__all__ = ["compiled", "name_of", "ordinary"]

#: The functions of each module.
_FAMILIES = {
    "exponentials": ("exp", "exp2", "expm1", "sinh", "cosh", "tanh", "expit"),
    "logarithms": ("log", "log2", "log10", "log1p", "logaddexp"),
    "circular": ("sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2"),
    "error_functions": ("erf", "erfc", "ndtr"),
    "powers": ("power", "cbrt"),
}
_FAMILY_OF = {name: family for family, names in _FAMILIES.items() for name in names}
#: What `math` calls otherwise.
_IN_MATH = {
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arctan2": "atan2",
    "power": "pow",
}
_PRECISIONS = (np.dtype(np.float32), np.dtype(np.float64))


def name_of(function: Any) -> str | None:
    """What the function is called in generated text, or None where it is not here."""
    try:
        name = _names().get(function)
    except TypeError:  # not to be hashed
        return None
    return _names_of_scipy().get(function) if name is None else name


def compiled(function: Any, dtype: Any) -> Any:
    """The function of scalars for Numba's kernels, or None where there is none.

    For functions of NumPy, `math` and `scipy.special`. Called in a kernel with numbers
    of the dtype, which has to be float32 or float64, it gives one of that dtype.
    """
    name = name_of(function)
    if name is None or np.dtype(dtype) not in _PRECISIONS:
        return None
    return _functions(_FAMILY_OF[name], np.dtype(dtype))[name]


def ordinary(function: Any, dtype: Any) -> tuple[Any, float] | None:
    """A faster one for arguments up to a bound, and the bound: sin, cos and tan."""
    found = compiled(function, dtype)
    if found is None:
        return None
    name = name_of(function)
    family = _functions(_FAMILY_OF[str(name)], np.dtype(dtype))
    faster = family.get(f"{name}_ordinary")
    return None if faster is None else (faster, family["bound"])


@functools.cache
def _names() -> dict[Any, str]:
    """By NumPy's function and by that of `math`."""
    found: dict[Any, str] = {operator.pow: "power", pow: "power"}
    for name in _FAMILY_OF:
        for module, known in ((np, name), (math, _IN_MATH.get(name, name))):
            function = getattr(module, known, None)
            if function is not None:
                found[function] = name
    return found


def _names_of_scipy() -> dict[Any, str]:
    """Empty as long as nobody has imported SciPy: then no function can be its."""
    special = sys.modules.get("scipy.special")
    return {} if special is None else _names_in(special)


@functools.cache
def _names_in(module: Any) -> dict[Any, str]:
    found = {getattr(module, name, None): name for name in _FAMILY_OF}
    found.pop(None, None)
    return found


@functools.cache
def _functions(family: str, dtype: np.dtype) -> dict[str, Any]:
    module = importlib.import_module(f"{__name__}.{family}")
    parts = importlib.import_module(f"{__name__}.parts")
    return module.functions(parts.precision_of(dtype))
