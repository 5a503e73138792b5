"""Calls of NumPy functions with keywords drawn from their signatures.

`draw_calls(name, n, seed)` gives the bodies of functions of `(x, y)`: an array and a
number, in which the function gets a draw of what its parameters may be, by the names
that NumPy gives them. A draw that NumPy itself refuses, or whose result is no finite
real number, is thrown away.
"""

from __future__ import annotations

import inspect
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.special

from srcjax.backends.load import load

SHAPES = [(3, 4), (4,), (2, 3, 4), (3, 3), (1, 4), (), (2, 2, 2), (2, 3, 3), (0, 3)]

#: The array and what else may stand for one.
ARRAY = ["x"] * 5 + ["x * y", "x + 1.0", "x.T", "x[..., ::-1]"]
OTHER = ["x", "y", "x[..., :1]", "x[..., ::-1]", "0.6", "x[:1]", "x.T", "x * y", "x[0]"]
#: Lists of arrays.
ARRAYS = ["[x, x * y]", "(x, 2 * x, x ** 2)", "[x]", "[x, K]", "[x[0], x[1]]"]
AXIS = ["None", "0", "-1", "1", "2", "-2", "(0, 1)", "(0,)", "()", "(-1, 0)", "(0, 2)"]
FLAG = ["True", "False"]

MODES = [
    repr(mode)
    for mode in """
    full same valid clip wrap raise constant edge reflect symmetric linear_ramp mean
    maximum minimum median reduced complete r
    """.split()  # noqa: SIM905
]
METHODS = [
    repr(method)
    for method in """
    linear lower higher nearest midpoint inverted_cdf hazen averaged_inverted_cdf
    closest_observation weibull median_unbiased interpolated_inverted_cdf
    normal_unbiased svd eigh
    """.split()  # noqa: SIM905
]

#: What a parameter may be, by name: expressions of `x`, `y`, `M` (a mask of the shape
#: of `x`), `K` (numbers of that shape).
VALUES: dict[str, list[str]] = {
    **dict.fromkeys(["a", "x", "arr", "m", "ary", "array", "v", "p", "z", "f"], ARRAY),
    **dict.fromkeys(["x1", "a1", "ar1", "filt", "y1", "X"], ARRAY),
    **dict.fromkeys(["b", "x2", "y", "to_match", "a2", "ar2", "values"], OTHER),
    **dict.fromkeys(["arrays", "tup"], ARRAYS),
    "axis": AXIS,
    "axes": [
        "None",
        "(1, 0)",
        "(0, 1)",
        "(-1,)",
        "(0, 2, 1)",
        "1",
        "0",
        "((0,), (0,))",
    ],
    "axis1": ["0", "1", "-1"],
    "axis2": ["1", "0", "-1", "2"],
    "axisa": ["0", "-1"],
    "axisb": ["0", "-1"],
    "axisc": ["0", "-1"],
    "source": ["0", "-1", "(0, 1)"],
    "destination": ["1", "0", "(1, 0)"],
    "start": ["0", "1", "-1"],
    "keepdims": FLAG,
    "where": ["M", "M[..., :1]", "M[:1]", "True"],
    "initial": ["0.5", "2.0", "y"],
    "dtype": ["np.float64", "None", "float", "np.float32"],
    "casting": ["'same_kind'", "'unsafe'"],
    "order": ["'C'", "'F'", "'A'", "'K'", "None"],
    "subok": FLAG,
    "copy": FLAG,
    "ddof": ["0", "1", "2"],
    "correction": ["0", "1"],
    "mean": ["x.mean(axis=0, keepdims=True)", "x.mean(axis=-1, keepdims=True)", "y"],
    "mode": MODES,
    "method": METHODS,
    "q": ["0.3", "[0.23, 0.71]", "y", "37.0", "np.array([[0.1], [0.62]])"],
    "weights": ["None", "K", "x", "np.ones_like(x)", "K[..., 0]", "K[0]"],
    "aweights": ["None", "[0.4, 1.0, 0.7]", "[0.4, 1.0, 0.7, 0.3]", "x[0]"],
    "fweights": ["None", "[1, 2, 1]", "[1, 2, 1, 3]"],
    "rowvar": FLAG,
    "bias": FLAG,
    "left": ["None", "0.2", "y"],
    "right": ["None", "0.2", "y"],
    "period": ["None", "0.77"],
    "n": ["1", "2", "3", "5", "None", "0"],
    "s": ["None", "(2, 3)", "(4, 4)", "(3,)"],
    "norm": ["None", "'ortho'", "'forward'", "'backward'"],
    "prepend": ["0.2", "y", "x", "x[..., :1]"],
    "append": ["0.2", "y", "x", "x[..., :1]"],
    "nan": ["0.0", "0.3"],
    "posinf": ["None", "2.0"],
    "neginf": ["None", "-2.0"],
    "num": ["4", "5", "1"],
    "stop": ["y", "x", "2.0"],
    "endpoint": FLAG,
    "base": ["10.0", "2.0", "y"],
    "indexing": ["'xy'", "'ij'"],
    "sparse": FLAG,
    "k": ["0", "1", "-1", "2"],
    "offset": ["0", "1", "-1"],
    "a_min": ["0.4", "None", "y - 0.2", "x * 0.9"],
    "a_max": ["0.7", "None", "y", "x * 1.1"],
    "min": ["0.4", "None", "y - 0.2"],
    "max": ["0.7", "None", "y"],
    "shift": ["1", "-1", "2", "(1, 2)"],
    "repeats": ["2", "3", "[1, 2, 0]", "[2, 1, 1, 3]", "1"],
    "reps": ["2", "(2, 1)", "(1, 3, 2)", "1"],
    "shape": ["-1", "(-1,)", "(4, 3)", "(2, -1)", "(2, 3, 4)", "(1, -1)", "(3, 4)"],
    "indices": ["0", "[0, 2]", "[[0, 1], [1, 1]]", "-1", "np.array([1, 0, 1])"],
    "indices_or_sections": ["2", "[1, 2]", "3", "4"],
    "obj": ["0", "1", "[0, 1]", "-1", "slice(0, 2)"],
    "condition": ["M", "[True, False, True]", "x > 0.6"],
    "full_matrices": ["False"],
    "hermitian": FLAG,
    "UPLO": ["'L'", "'U'"],
    "upper": FLAG,
    "ord": ["None", "2", "1", "np.inf", "-np.inf", "'fro'", "'nuc'", "-1", "-2", "3"],
    "rcond": ["None", "1e-10"],
    "rtol": ["None", "1e-10"],
    "returned": ["False"],
    "overwrite_input": ["False"],
    "kth": ["0", "1", "(0, 2)"],
    "kind": ["None", "'stable'"],
    "descending": FLAG,
    "stable": FLAG,
    "pad_width": ["1", "(1, 2)", "((1, 0), (0, 2))", "0"],
    "constant_values": ["0.3", "(0.1, 0.2)", "y"],
    "end_values": ["0.3", "(0.1, 0.2)"],
    "stat_length": ["None", "2", "1"],
    "reflect_type": ["'even'", "'odd'"],
    "dx": ["1.0", "0.5", "y"],
    "deg": ["1", "2"],
    "N": ["3", "4", "None"],
    "increasing": FLAG,
    "discont": ["None"],
    "wrap": FLAG,
    "edge_order": ["1", "2"],
    "include_initial": FLAG,
    "trim": ["'fb'", "'f'"],
    "object": ["x", "[y, 2 * y]", "y", "[x, x]"],
    "ndmin": ["0", "2", "3"],
    "fill_value": ["y", "0.5", "x"],
    "to_end": ["None", "0.3", "y"],
    "to_begin": ["None", "0.3", "y"],
    "repeat": ["2"],
    "scale": ["2.0"],
    "varargs": ["0.5", "y"],
    "compute_uv": ["False"],
    "decimals": ["1"],
}
SYMMETRIC = "x @ np.swapaxes(x, -1, -2)"
#: What another function means by the same name.
OF_FUNCTION: dict[str, dict[str, list[str]]] = {
    "linspace": {"start": ["y", "0.2", "x"]},
    "geomspace": {"start": ["y", "0.2", "x"], "stop": ["2.0", "x + 1"]},
    "logspace": {"start": ["y", "0.2", "x"]},
    "arange": {"start": ["0.0"], "stop": ["y"]},
    "interp": {
        "x": ["x", "y"],
        "xp": ["[0.35, 0.52, 0.71, 0.83]", "np.sort(K.ravel())"],
        "fp": ["[0.3, 0.9, 0.4, 0.5]", "x.ravel()", "np.sin(K.ravel()) * y"],
    },
    "percentile": {"q": ["31.0", "[12.0, 77.0]", "100 * y"]},
    "nanpercentile": {"q": ["31.0", "[12.0, 77.0]", "100 * y"]},
    "where": {"x": ["x", "y"], "y": ["x", "y", "0.0"]},
    "polyval": {"p": ["x", "x[0]", "[y, 1.0, 0.3]"], "x": ["y", "x", "0.4"]},
    "fft.hfft": {"out": []},  # NumPy leaves it as it is
    "fft.irfft2": {"out": []},
    "unstack": {"axis": ["0", "-1", "1"]},
    "linalg.multi_dot": {"arrays": ["[x, x.T]", "[x, x.T, x]"]},
    "linalg.svd": {"hermitian": []},
    "linalg.pinv": {"hermitian": []},
    "polyint": {"m": ["1", "2"], "k": ["None", "y"]},
    "polyder": {"m": ["1", "2"]},
    "linalg.matrix_power": {"n": ["0", "1", "2", "3", "5", "-1", "-2"]},
    "vander": {"x": ["x", "x[0]"]},
    "trapezoid": {"y": ARRAY, "x": ["None", "np.cumsum(K, -1)", "x"]},
    "unwrap": {"p": ["4 * x", "9 * x"], "period": ["6.0", "2.5"]},
    "diagflat": {"v": ARRAY},
    "tensordot": {"axes": ["1", "0", "2", "((0,), (0,))", "([-1], [-1])", "(0, 0)"]},
    "ldexp": {"x2": ["2", "-1"]},
    "full": {"shape": ["(3, 4)", "3", "()"]},
    "sum": {"a": [*ARRAY, "[y, 2 * y, 0.5]"]},
    "choose": {"a": ["[0, 1, 1]"], "choices": ["[x[:3], 2 * x[:3]]"]},
    "put_along_axis": {"indices": ["[[0, 1, 0, 2]]"]},
    "broadcast_to": {"shape": ["(2, 3, 4)", "(3, 4)", "(2, 4)", "(2, 2, 3, 3)"]},
    "resize": {"new_shape": ["(2, 3)", "7", "(5, 3)"]},
    "rot90": {"k": ["1", "2", "3", "-1"], "axes": ["(0, 1)", "(1, 0)", "(-1, 0)"]},
    **dict.fromkeys(["linalg.eigh", "linalg.eigvalsh"], {"a": [SYMMETRIC]}),
    "linalg.cholesky": {"a": [SYMMETRIC + " + 2 * np.eye(x.shape[-2])"]},
    "linalg.inv": {"a": ["x + 2 * np.eye(x.shape[-1])"]},
    "convolve": {"a": ["x", "x[0]", "x.ravel()"], "v": ["x", "[y, 0.3]", "x[::-1]"]},
    "correlate": {"a": ["x", "x[0]", "x.ravel()"], "v": ["x", "[y, 0.3]", "x[::-1]"]},
}
#: The part of the result that has a derivative.
PART = {"linalg.lstsq": "[0]"}
#: Made from what is random, printed, read; with functions or iterators as arguments.
LEFT_OUT = {
    "frompyfunc",
    "fromfunction",
    "fromiter",
    "piecewise",
    "vectorize",
    "select",
}


@dataclass(frozen=True)
class Call:
    """A function of `(x, y)`: its lines, its value, and an array for `x`."""

    body: str
    shape: tuple[int, ...]

    def function(self) -> Any:
        return written_out(self.body, scope_of(self.shape))


def written_out(body: str, scope: dict[str, Any]) -> Any:
    """`def f(x, y)` of the lines."""
    text = "def f(x, y):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    return load(text, "f", scope).f


def numbers(shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Distinct numbers between 0.3 and 0.9, in no order."""
    n = int(np.prod(shape))
    rng = np.random.default_rng(seed)
    even = np.linspace(0.3, 0.9, n) + rng.uniform(-0.1, 0.1, n) / max(n, 1)
    return even[rng.permutation(n)].reshape(shape)


def scope_of(shape: tuple[int, ...]) -> dict[str, Any]:
    mask = np.arange(int(np.prod(shape))).reshape(shape) % 3 != 1
    return {"np": np, "scipy": scipy, "M": mask, "K": numbers(shape, 7)}


def parameters_of(function: Any) -> list[inspect.Parameter] | None:
    """Those of the signature; of a ufunc, those that calls are made with."""
    if isinstance(function, np.ufunc) and function.signature is None:
        names = ["x1", "x2", "x3"] if function.nin > 1 else ["x"]
        kinds = inspect.Parameter
        return [
            *[kinds(n, kinds.POSITIONAL_ONLY) for n in names[: function.nin]],
            kinds("out", kinds.KEYWORD_ONLY, default=None),
            kinds("where", kinds.KEYWORD_ONLY, default=True),
            kinds("dtype", kinds.KEYWORD_ONLY, default=None),
        ]
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


def resolve(name: str) -> Any:
    found: Any = np
    for part in name.split("."):
        found = getattr(found, part)
    return found


def draw_calls(name: str, n: int, tries: int = 12) -> Iterator[Call]:
    """Up to `n` different calls of a function of NumPy, the same in each run."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    parameters = parameters_of(resolve(name))
    if parameters is None or name in LEFT_OUT:
        return
    seen: set[Call] = set()
    for _ in range(n * tries):
        call = draw_call(name, parameters, rng)
        if call is not None and call not in seen and runs(call):
            seen.add(call)
            yield call
        if len(seen) == n:
            return


def draw_call(name: str, parameters: list, rng: np.random.Generator) -> Call | None:
    """One draw, which may be one that NumPy refuses."""
    shape = SHAPES[min(rng.geometric(0.25) - 1, len(SHAPES) - 1)]
    own = OF_FUNCTION.get(name, {})
    positional, keywords, out = [], [], False
    for parameter in parameters:
        values = own.get(parameter.name, VALUES.get(parameter.name, []))
        required = parameter.default is parameter.empty
        if parameter.name == "out":
            out = "out" not in own and rng.random() < 0.15
            continue
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional += [str(rng.choice(ARRAY))] * int(rng.integers(1, 3))
            continue
        if not values and required:
            return None
        if not values or (not required and rng.random() < 0.6):
            continue
        value = str(rng.choice(values))
        by_name = parameter.kind is parameter.KEYWORD_ONLY or not required
        if by_name:
            keywords.append(f"{parameter.name}={value}")
        else:
            positional.append(value)
    if name.startswith("nan") and positional:
        positional[0] = f"np.where(M, {positional[0]}, np.nan)"
    return spelled(name, positional, keywords, out, shape, rng)


def spelled(
    name: str,
    positional: list[str],
    keywords: list[str],
    out: bool,
    shape: tuple[int, ...],
    rng: np.random.Generator,
) -> Call | None:
    """The call as text: as a method now and then, with an array to write to."""
    method = hasattr(np.ndarray, name) and positional[:1] == ["x"]
    if method and rng.random() < 0.3:
        spelling = f"x.{name}({', '.join([*positional[1:], *keywords])})"
    else:
        spelling = f"np.{name}({', '.join([*positional, *keywords])})"
    spelling += PART.get(name, "")
    where = [k for k in keywords if k.startswith("where=")]
    masked = isinstance(resolve(name), np.ufunc) and where
    if not out and not masked:  # what a mask leaves out would be what was in memory
        return Call(f"return {spelling}", shape)
    without = spelling.replace(where[0], "where=True") if where else spelling
    try:
        result = value_of(Call(f"return {without}", shape))
    except Exception:  # whatever NumPy says of a senseless call
        return None
    if not isinstance(result, np.ndarray) or result.dtype.kind != "f":
        return None
    dtype = "" if result.dtype == float else f", np.{result.dtype}"
    lines = [f"o = np.full({result.shape}, 0.4{dtype})"]
    lines += [f"z = {spelling[:-1]}, out=o)", "return z * o"]
    return Call("\n".join(lines), shape)


X, Y = 5, 0.65


def arguments(call: Call) -> tuple[np.ndarray, float]:
    return numbers(call.shape, X), Y


def value_of(call: Call) -> Any:
    return call.function()(*arguments(call))


def runs(call: Call) -> bool:
    """NumPy takes the call, and it gives numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            first, second = leaves(value_of(call)), leaves(value_of(call))
        except Exception:  # whatever NumPy says of a senseless call
            return False
    return (
        any(v.size and v.dtype.kind in "fc" for v in first)
        and all(v.dtype.kind in "fciub" and np.all(np.isfinite(v)) for v in first)
        and all(map(np.array_equal, first, second))
    )


def leaves(value: Any) -> list[np.ndarray]:
    if isinstance(value, (tuple, list)):
        return [leaf for each in value for leaf in leaves(each)]
    return [np.asarray(value)]
