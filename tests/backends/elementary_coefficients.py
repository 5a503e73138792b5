"""Derives the coefficients of `srcjax.backends.elementary`; needs mpmath.

    python -m tests.backends.elementary_coefficients > .../elementary/coefficients.py

Each row is a function with nothing left to cancel, the interval its argument is reduced
to, and how many coefficients it takes in float64 and in float32. They are those of its
expansion in Chebyshev polynomials, cut off, which is within a small factor of the best
polynomial; the comment above a list is the largest error on the interval.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from mpmath import mp

mp.dps = 60
#: `erfc` is taken as a function of (x - SHIFT) / (x + SHIFT).
SHIFT = 2
LAST = {np.float64: 28.0, np.float32: 10.5}
END = {np.float64: 6.01, np.float32: 4.01}  # erf is 1 from there on

Function = Callable[[Any], Any]


def odd(f: Function, start: float) -> Function:
    """(f(x) / x - start), of z = x * x."""
    return lambda z: f(mp.sqrt(z)) / mp.sqrt(z) - start


def odd_rest(f: Function) -> Function:
    """(f(x) - x) / x**3, of z = x * x."""
    return lambda z: odd(f, 1)(z) / z


def even_rest(f: Function, second: float) -> Function:
    """(f(x) - 1 - second * x**2) / x**4, of z = x * x."""
    return lambda z: (f(mp.sqrt(z)) - 1 - second * z) / z**2


def scaled_erfc(shift: float) -> Function:
    """exp(x * x) * erfc(x) * (x + shift), of t = (x - shift) / (x + shift)."""

    def f(t: Any) -> Any:
        x = shift * (1 + t) / (1 - t)
        return mp.exp(x * x) * mp.erfc(x) * (x + shift)

    return f


def rows(kind: type) -> list[tuple[str, Function, tuple[Any, Any], int, int]]:
    half_ln2 = mp.mpf("0.3467")
    # Not symmetric: the node in the middle would be 0 / 0.
    about_zero = (-half_ln2, half_ln2 + mp.mpf("1e-5"))
    root = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)
    quarter = (mp.pi / 4 + mp.mpf("1e-4")) ** 2
    c, last, end = SHIFT, LAST[kind], END[kind]
    near_tail = (mp.mpf("0.99") - c) / (mp.mpf("0.99") + c)
    tail = ((mp.mpf("0.49") - c) / (mp.mpf("0.49") + c), (last - c) / (last + c))
    return [
        (
            "exp",
            lambda r: (mp.expm1(r) - r) / r**2,
            about_zero,
            11,
            5,
        ),
        ("exp2", lambda r: mp.expm1(r * mp.ln2) / r, (-0.501, 0.50101), 11, 6),
        ("log", lambda z: 2 * odd_rest(mp.atanh)(z), (0, root**2), 7, 3),
        (
            "log_tail",
            lambda z: (odd(mp.atanh, 1)(z) / z - mp.mpf(1) / 3) / z,
            (0, root**2),
            8,
            4,
        ),
        ("log2", lambda z: 2 / mp.ln2 * odd(mp.atanh, 0)(z), (0, root**2), 5, 5),
        ("sin", odd_rest(mp.sin), (0, quarter), 6, 3),
        ("cos", even_rest(mp.cos, -0.5), (0, quarter), 6, 3),
        ("sinh", odd_rest(mp.sinh), (0, half_ln2**2), 5, 3),
        (
            "cosh",
            lambda z: (mp.cosh(mp.sqrt(z)) - 1 - z / 2) / z**2,
            (0, half_ln2**2),
            5,
            3,
        ),
        ("arctan", odd_rest(mp.atan), (0, 1), 21, 9),
        ("arcsin", odd_rest(mp.asin), (0, 0.25), 12, 5),
        ("erf", odd(mp.erf, 1), (0, 1), 12, 7),
        ("erf_tail", scaled_erfc(c), (near_tail, (end - c) / (end + c)), 16, 6),
        ("erfc", scaled_erfc(c), tail, 24, 10),
        ("cbrt", mp.cbrt, (mp.sqrt(0.5), mp.sqrt(2)), 7, 5),
    ]


def fitted(f: Function, interval: tuple[Any, Any], count: int) -> tuple[list[Any], Any]:
    """Coefficients, the constant one first, and the largest error."""
    coefficients, error = mp.chebyfit(f, list(interval), count, error=True)
    return coefficients[::-1], error


def main() -> None:
    print(
        '"""Made by `tests/backends/elementary_coefficients.py`: not edited by hand."""'
    )
    print()
    for kind in (np.float64, np.float32):
        print(f"{kind.__name__.upper()} = {{")
        for name, f, interval, *counts in rows(kind):
            count = counts[kind is np.float32]
            # At the ends of an interval a function may be 0 / 0.
            a, b = (mp.mpf(v) for v in interval)
            near = (a + (b - a) * mp.mpf("1e-25"), b - (b - a) * mp.mpf("1e-25"))
            coefficients, error = fitted(f, near, count)
            print(f"    # 2**{float(mp.log(error, 2)):.1f}")
            print(f'    "{name}": (')
            # The constants of `pow` in float32 stay in float64.
            cast = np.float64 if name == "log2" else kind
            for value in coefficients:
                print(f"        {float(cast(float(value)))!r},")
            print("    ),")
        print("}")


if __name__ == "__main__":
    main()
