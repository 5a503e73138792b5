"""`scipy.integrate.quad` and its kin, by sums that derivatives go through.

QUADPACK is no Python. Where a derivative is asked for, the range is halved where the
error is largest until the sum of the errors is within quad's own tolerances, as its
QAGS does it (R. Piessens and others, QUADPACK, 1983), without its extrapolation. The
derivative is that of the sum: to what `func` takes from around it, to `args`, and to
the limits. Where the pieces end is constant, relative to the limits.

An integral that does not settle raises; SciPy's own warns.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.integrate

from srcjax.analysis.types import Array, Scalar, Tuple, Type
from srcjax.ops.record import composite, inert

#: Places on [0, 1] in which the rule of Gauss and Kronrod with 21 places asks, from the
#: ends to the middle of [-1, 1]; their weights; and those of Gauss's rule with 10 of
#: them, 0 where it does not ask.
_HALF = (
    (0.9956571630258081, 0.011694638867371874, 0.0),
    (0.9739065285171717, 0.032558162307964727, 0.06667134430868814),
    (0.9301574913557082, 0.054755896574351996, 0.0),
    (0.8650633666889845, 0.07503967481091995, 0.1494513491505806),
    (0.7808177265864169, 0.0931254545836976, 0.0),
    (0.6794095682990244, 0.10938715880229764, 0.21908636251598204),
    (0.5627571346686047, 0.12349197626206585, 0.0),
    (0.4333953941292472, 0.13470921731147333, 0.26926671930999635),
    (0.2943928627014602, 0.1427759385770601, 0.0),
    (0.14887433898163122, 0.14773910490133849, 0.29552422471475287),
)
PLACES, WEIGHTS, WEIGHTS_OF_FEWER = (
    np.array([*column, middle, *column[::-1]]) / 2
    for column, middle in zip(
        zip(*_HALF, strict=True), (0.0, 0.14944555400291691, 0.0), strict=True
    )
)
PLACES[:10] *= -1
PLACES += 0.5


def piece(func, start, end):
    """The integral over a piece of [0, 1], and by how much fewer places miss it."""
    values = [func(u) for u in start + (end - start) * PLACES]
    total = (end - start) * (WEIGHTS @ values)
    return total, abs(total - (end - start) * (WEIGHTS_OF_FEWER @ values))


def pieces(func, epsabs, epsrel, limit):
    """Where the pieces of [0, 1] start and end, and the estimated error of the sum."""
    found = [(0.0, 1.0, *piece(func, 0.0, 1.0))]
    while True:
        error = sum(each[3] for each in found)
        if error <= max(epsabs, epsrel * abs(sum(each[2] for each in found))):
            return [each[:2] for each in found], error
        if len(found) >= limit or not np.isfinite(error):
            raise RuntimeError("quad: the integral does not settle, it may diverge")
        start, end, *_ = found.pop(max(range(len(found)), key=lambda k: found[k][3]))
        middle = (start + end) / 2
        found.append((start, middle, *piece(func, start, middle)))
        found.append((middle, end, *piece(func, middle, end)))


def quadrature(func, a, b, args=(), epsabs=1.49e-8, epsrel=1.49e-8, limit=50):
    """Places `u` and weights of a rule for the integral from `a` to `b`, and its error.

    Of a finite range, `u` is the part of the way from `a` to `b`; of an infinite one,
    how far it is from the limit that is finite, or from 0. An infinite range is mapped
    to [0, 1], as QAGI does it.
    """
    start, scale, sign = 0.0, 1.0, 1.0
    if np.isfinite(a):
        start, scale = a, b - a if np.isfinite(b) else 1.0
    elif np.isfinite(b):
        start = b
    if np.isinf(a) and np.isinf(b):
        sign = 1.0 if a < b else -1.0

        def place(s):
            return (s - 0.5) / (s * (1 - s))

        def slope(s):
            return (s * s - s + 0.5) / (s * (1 - s)) ** 2

    elif np.isinf(a) or np.isinf(b):
        ahead = b if np.isinf(b) else a
        sign = np.sign(ahead) if np.isinf(b) else -np.sign(ahead)

        def place(s):
            return np.sign(ahead) * (1 - s) / s

        def slope(s):
            return 1 / (s * s)

    else:

        def place(s):
            return s

        def slope(s):
            return 1.0

    def integrand(s):
        return scale * sign * slope(s) * func(start + scale * place(s), *args)

    found, error = pieces(integrand, epsabs, epsrel, limit)
    s = np.concatenate([p + (q - p) * PLACES for p, q in found])
    sizes = np.repeat([q - p for p, q in found], len(PLACES))
    weights = sign * slope(s) * sizes * np.tile(WEIGHTS, len(found))
    return place(s), weights, error


def infer_quadrature(**_: Type) -> Type:
    numbers = Array(dtype=np.dtype(float), shape=(None,))
    return Tuple(items=(numbers, numbers, Scalar(dtype=np.dtype(float))))


inert(quadrature, infer=infer_quadrature)


@composite(
    scipy.integrate.quad,
    refuses=["full_output", "points", "weight", "wvar", "wopts", "complex_func"],
)
def quad(
    func,
    a,
    b,
    args=(),
    full_output=0,
    epsabs=1.49e-8,
    epsrel=1.49e-8,
    limit=50,
    points=None,
    weight=None,
    wvar=None,
    wopts=None,
    maxp1=50,
    limlst=50,
    complex_func=False,
):
    if not isinstance(args, tuple):
        args = (args,)
    places, weights, error = quadrature(func, a, b, args, epsabs, epsrel, 4 * limit)
    if math.isfinite(a) and math.isfinite(b):
        x, weights = a + (b - a) * places, (b - a) * weights
    elif math.isfinite(a):
        x = a + places
    elif math.isfinite(b):
        x = b + places
    else:
        x = places
    total = 0.0
    for each, weight in zip(x, weights, strict=False):
        total += weight * func(each, *args)
    return total, error


def limit_at(limit, x):
    return limit(x) if callable(limit) else limit


@composite(scipy.integrate.dblquad)
def dblquad(func, a, b, gfun, hfun, args=(), epsabs=1.49e-8, epsrel=1.49e-8):
    """An integral of integrals: `func` takes `y` first, from `gfun(x)` to `hfun(x)`."""

    def inner(x):
        low, high = limit_at(gfun, x), limit_at(hfun, x)
        return quad(lambda y: func(y, x, *args), low, high, (), 0, epsabs, epsrel)[0]

    return quad(inner, a, b, (), 0, epsabs, epsrel)


@composite(scipy.integrate.fixed_quad)
def fixed_quad(func, a, b, args=(), n=5):
    """Gauss's rule with `n` places; `func` gets them as an array."""
    places, weights = np.polynomial.legendre.leggauss(n)
    x = (b - a) * (places + 1) / 2 + a
    return (b - a) / 2 * np.sum(weights * func(x, *args), axis=-1), None
