"""What the elementary functions are compared with, and where.

The references are NumPy's in extended precision, where `long double` has it; `erf` and
its like are summed here. An error is counted in units in the last place (ulps): the
distance to the next float at the exact result.

    python -m tests.backends.elementary_cases            # a table of the largest errors
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from srcjax.backends import elementary

Long = np.longdouble
PI = Long("3.14159265358979323846264338327950288")
EXTENDED = np.finfo(Long).nmant >= 63
DTYPES = (np.float64, np.float32)


def erf_near_zero(a: Any) -> Any:
    """A series without cancellation (Abramowitz and Stegun, 7.1.6)."""
    z = a * a
    term = total = a
    for n in range(1, 90):
        term = term * 2 * z / (2 * n + 1)
        total = total + term
    return total * np.exp(-z) * 2 / np.sqrt(PI)


def erfc_far(a: Any, exponent: Any) -> Any:
    """The continued fraction (7.1.14); `exponent` is exp(-a * a)."""
    f = a
    for n in range(160, 0, -1):
        f = a + (Long(n) / 2) / f
    return exponent / f / np.sqrt(PI)


def exp_of_square(x: Any, factor: float) -> Any:
    """exp(factor * x * x): the square of the leading digits is exact."""
    head = np.floor(x * 2**20) / 2**20
    return np.exp(factor * head * head) * np.exp(factor * (x - head) * (x + head))


def erfc_positive(a: Any, exponent: Any) -> Any:
    far = a > 2
    near = 1 - erf_near_zero(np.where(far, 1, a))
    return np.where(far, erfc_far(np.where(far, a, 3), exponent), near)


def erf(x: Any) -> Any:
    a = np.minimum(np.abs(x), 30)
    y = np.where(a < 1, erf_near_zero(np.minimum(a, 1)), 1 - erfc(a))
    return np.where(np.isnan(x), x, np.copysign(y, x))


def erfc(x: Any) -> Any:
    a = np.minimum(np.abs(x), 120)
    y = erfc_positive(a, exp_of_square(a, -1))
    return np.where(np.isnan(x), x, np.where(x < 0, 2 - y, y))


def ndtr(x: Any) -> Any:
    a = np.minimum(np.abs(x), 150)
    y = erfc_positive(a / np.sqrt(Long(2)), exp_of_square(a, Long(-0.5))) / 2
    return np.where(np.isnan(x), x, np.where(x < 0, y, 1 - y))


def expit(x: Any) -> Any:
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e, 1) / (1 + e)


OTHERS = {"erf": erf, "erfc": erfc, "ndtr": ndtr, "expit": expit}
NAMES = [name for family in elementary._FAMILIES.values() for name in family]
OF_TWO = ("arctan2", "logaddexp", "power")
#: Where a function changes, in float64 and in float32.
RANGES: dict[str, tuple[tuple[float, float], tuple[float, float]]] = {
    "exp": ((-746, 711), (-105, 90)),
    "exp2": ((-1080, 1030), (-155, 130)),
    "expm1": ((-45, 711), (-20, 90)),
    "sinh": ((-711, 711), (-90, 90)),
    "cosh": ((-711, 711), (-90, 90)),
    "tanh": ((-22, 22), (-10, 10)),
    "expit": ((-747, 45), (-105, 20)),
    "log1p": ((-1, 3), (-1, 3)),
    "arcsin": ((-1, 1), (-1, 1)),
    "arccos": ((-1, 1), (-1, 1)),
    "erf": ((-6, 6), (-4, 4)),
    "erfc": ((-6, 27.3), (-4, 10.1)),
    "ndtr": ((-38.6, 9), (-14.5, 6)),
}


def function_of(name: str) -> Any:
    """A function that users write: NumPy's, or SciPy's."""
    if hasattr(np, name):
        return getattr(np, name)
    import scipy.special

    return getattr(scipy.special, name)


def exact(name: str, *arguments: Any) -> Any:
    """In extended precision."""
    function = OTHERS.get(name) or getattr(np, name)
    with np.errstate(all="ignore"):
        return function(*(a.astype(Long) for a in arguments))


@functools.cache
def loop(name: str, dtype: type, kind: str = "compiled") -> Any:
    """A compiled loop over one or two arrays."""
    import numba

    function = getattr(elementary, kind)(function_of(name), dtype)
    f = function[0] if kind == "ordinary" else function

    def one(x, out):
        for i in range(x.size):
            out[i] = f(x[i])

    def two(x, y, out):
        for i in range(x.size):
            out[i] = f(x[i], y[i])

    array = numba.types.Array(numba.from_dtype(np.dtype(dtype)), 1, "C")
    over, count = (two, 3) if name in OF_TWO else (one, 2)
    signature = numba.void(*[array] * count)
    return numba.njit(signature, error_model="numpy")(over)


def found(name: str, *arguments: Any, kind: str = "compiled") -> Any:
    out = np.empty_like(arguments[0])
    loop(name, arguments[0].dtype.type, kind)(*arguments, out)
    return out


def specials(dtype: type) -> Any:
    info = np.finfo(dtype)
    size = [0, info.smallest_subnormal, info.smallest_normal / 8, info.smallest_normal]
    size += [info.eps / 8, info.eps, 2.0**-13, 1 / 3, 0.5, 1 - info.epsneg, 1]
    size += [1 + info.eps, 1.5, 2, 3, 4, 8, 10, 100, 1000, 1024, 2.0**23 - 1, 2.0**24]
    size += [1 / info.eps - 1, 2 / info.eps - 1, 2 / info.eps, info.max, np.inf]
    return np.array([*size, *(-v for v in size), np.nan], dtype)


def any_floats(rng: Any, dtype: type, count: int) -> Any:
    """Every pattern of bits is as likely."""
    integer = np.uint64 if dtype == np.float64 else np.uint32
    return rng.integers(0, np.iinfo(integer).max, count, integer, True).view(dtype)


def points(name: str, dtype: type, count: int, seed: int = 0) -> tuple[Any, ...]:
    """Arguments: special ones, where the function changes, and all kinds of floats."""
    rng = np.random.default_rng(seed)
    if name in OF_TWO:
        return pairs(name, dtype, count, rng)
    low, high = RANGES.get(name, ((-20, 20), (-20, 20)))[dtype == np.float32]
    signs = rng.choice([-1, 1], count)
    parts = [
        rng.uniform(low, high, 2 * count),
        rng.uniform(-2, 2, count),
        np.exp(rng.uniform(-60, 12, count)) * signs,
        1 + np.exp(rng.uniform(-36, 0, count)) * signs,
        rng.integers(1, 1000000, count) * (np.pi / 4),
    ]
    floats = any_floats(rng, dtype, count)
    return (
        np.concatenate([specials(dtype), floats, *(p.astype(dtype) for p in parts)]),
    )


def pairs(name: str, dtype: type, count: int, rng: Any) -> tuple[Any, Any]:
    grid = [v.ravel() for v in np.meshgrid(specials(dtype), specials(dtype))]
    parts = [tuple(grid), tuple(any_floats(rng, dtype, (2 * count)).reshape(2, -1))]
    a = any_floats(rng, dtype, count)
    parts.append((a, rng.uniform(-5, 5, count).astype(dtype)))
    if name == "power":
        parts += powers(dtype, count, rng)
    else:
        b = rng.normal(size=(2, count)) * np.exp(rng.uniform(-9, 9, (2, count)))
        parts.append(tuple(b.astype(dtype)))
        c = rng.normal(size=count).astype(dtype)
        parts.append((c, (c + rng.normal(size=count) * 1e-3).astype(dtype)))
    x, y = (np.concatenate(side) for side in zip(*parts, strict=True))
    return x, y


def powers(dtype: type, count: int, rng: Any) -> Iterator[tuple[Any, Any]]:
    """Results of all sizes, of bases of all sizes and near to 1."""
    most = 1090 if dtype == np.float64 else 152
    wide = 700 if dtype == np.float64 else 87
    near = 1 + rng.normal(size=count) * np.exp(rng.uniform(-36, -2, count))
    for base in (
        np.exp(rng.uniform(-wide, wide, count)),
        rng.uniform(0.3, 3, count),
        np.abs(near),
    ):
        a = base.astype(dtype)
        size = np.log2(np.where(a == 1, 2, a).astype(float))
        yield a, (rng.uniform(-most, most, count) / size).astype(dtype)
    a = rng.uniform(0.01, 100, count).astype(dtype)
    yield a, rng.uniform(-5, 5, count).astype(dtype)
    yield a, rng.choice([0.5, -0.5, 2, 3, -1, 1, 1 / 3, 2.5], count).astype(dtype)
    yield -a, np.round(rng.uniform(-15, 15, count)).astype(dtype)


def largest_term(a: Any, b: Any) -> Any:
    """max(a, b) + log(1 + exp(-|a - b|))"""
    return np.fmax(np.abs(np.maximum(a, b)), np.log1p(np.exp(-np.abs(a - b))))


def ulps(name: str, got: Any, arguments: tuple[Any, ...]) -> Any:
    """Each error; infinite where a special value or the sign of a zero is wrong.

    What `logaddexp` adds may cancel: its errors are measured by the larger term.
    """
    want = exact(name, *arguments)
    dtype = got.dtype.type
    with np.errstate(all="ignore"):
        rounded = want.astype(dtype)
        scale = np.abs(rounded)
        if name == "logaddexp":
            scale = np.fmax(scale, largest_term(*arguments))
        unit = np.spacing(np.minimum(scale, np.finfo(dtype).max)).astype(Long)
        error = np.abs(got.astype(Long) - want) / unit
        finite = np.isfinite(got) & np.isfinite(rounded)
        same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
        error = np.where(finite, error, np.where(same, 0, np.inf))
        # Rounding to infinity is one way to round.
        edge = np.isinf(got) & (np.abs(want) > np.finfo(dtype).max * (1 - 2e-16))
        error = np.where(edge & (np.sign(got) == np.sign(want)), 0, error)
        lost = (got == 0) & (np.signbit(got) != np.signbit(want)) & ~np.isnan(want)
    return np.where(lost, np.inf, error).astype(float)


def largest(name: str, dtype: type, count: int, seed: int = 0, kind="compiled") -> Any:
    """The largest error, and the arguments and results there."""
    arguments = points(name, dtype, count, seed)
    if kind == "ordinary":
        bound = elementary.ordinary(function_of(name), dtype)[1]
        arguments = tuple(a[np.abs(a) <= bound] for a in arguments)
    got = found(name, *arguments, kind=kind)
    errors = ulps(name, got, arguments)
    i = int(np.argmax(errors))
    return errors[i], tuple(a[i] for a in arguments), got[i]


def main(count: int) -> None:
    for name in NAMES:
        errors = [largest(name, dtype, count) for dtype in DTYPES]
        print(f"| {name:10} |" + "".join(f" {e[0]:8.3f} |" for e in errors), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200000)
