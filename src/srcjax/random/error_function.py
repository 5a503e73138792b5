"""The error function and its inverse, for float32 and float64, with NumPy alone.

The inverse is that of M. Giles, "Approximating the erfinv function" (GPU Computing
Gems, 2011): polynomials of w = -log(1 - x**2), or of its root where x is near 1. JAX
has the same ones, so that normal numbers of the same key are the same but for rounding.
SciPy's has other last digits, and many more of them at the ends, where the rounding of
x**2 counts.
"""

from __future__ import annotations

import math

import numpy as np

#: For float32: coefficients of w - 2.5 for w < 5, and of sqrt(w) - 3 beyond.
SINGLE = (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
    -0.00125372503, -0.00417768164, 0.246640727, 1.50140941,
)  # fmt: skip
SINGLE_TAIL = (
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
    -0.0076224613, 0.00943887047, 1.00167406, 2.83297682,
)  # fmt: skip
#: For float64: of w - 3.125 for w < 6.25, of sqrt(w) - 3.25 for w < 16, and of
#: sqrt(w) - 5 beyond.
DOUBLE = (
    -3.6444120640178196996e-21, -1.685059138182016589e-19, 1.2858480715256400167e-18,
    1.115787767802518096e-17, -1.333171662854620906e-16, 2.0972767875968561637e-17,
    6.6376381343583238325e-15, -4.0545662729752068639e-14, -8.1519341976054721522e-14,
    2.6335093153082322977e-12, -1.2975133253453532498e-11, -5.4154120542946279317e-11,
    1.051212273321532285e-09, -4.1126339803469836976e-09, -2.9070369957882005086e-08,
    4.2347877827932403518e-07, -1.3654692000834678645e-06, -1.3882523362786468719e-05,
    0.0001867342080340571352, -0.00074070253416626697512, -0.0060336708714301490533,
    0.24015818242558961693, 1.6536545626831027356,
)  # fmt: skip
DOUBLE_MIDDLE = (
    2.2137376921775787049e-09, 9.0756561938885390979e-08, -2.7517406297064545428e-07,
    1.8239629214389227755e-08, 1.5027403968909827627e-06, -4.013867526981545969e-06,
    2.9234449089955446044e-06, 1.2475304481671778723e-05, -4.7318229009055733981e-05,
    6.8284851459573175448e-05, 2.4031110387097893999e-05, -0.0003550375203628474796,
    0.00095328937973738049703, -0.0016882755560235047313, 0.0024914420961078508066,
    -0.0037512085075692412107, 0.005370914553590063617, 1.0052589676941592334,
    3.0838856104922207635,
)  # fmt: skip
DOUBLE_TAIL = (
    -2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09,
    -3.7894654401267369937e-09, 7.6157012080783393804e-09, -1.4960026627149240478e-08,
    2.9147953450901080826e-08, -6.7711997758452339498e-08, 2.2900482228026654717e-07,
    -9.9298272942317002539e-07, 4.5260625972231537039e-06, -1.9681778105531670567e-05,
    7.5995277030017761139e-05, -0.00021503011930044477347, -0.00013871931833623122026,
    1.0103004648645343977, 4.8499064014085844221,
)  # fmt: skip
#: Where the ranges of w end, with what is taken off w or its root, and the polynomial.
RANGES = {
    np.dtype(np.float32): (5.0, 2.5, SINGLE, ((np.inf, 3.0, SINGLE_TAIL),)),
    np.dtype(np.float64): (
        6.25,
        3.125,
        DOUBLE,
        ((16.0, 3.25, DOUBLE_MIDDLE), (np.inf, 5.0, DOUBLE_TAIL)),
    ),
}


def erf_inv_in_place(x: np.ndarray) -> None:
    """Replace numbers between -1 and 1 by those whose error function they are.

    In float32 or float64; float16 numbers are computed in float32, and rounded.
    """
    if x.dtype == np.float16:
        wide = x.astype(np.float32)
        erf_inv_in_place(wide)
        x[...] = wide
        return
    end, centre, polynomial, tails = RANGES[x.dtype]
    with np.errstate(divide="ignore"):
        w = np.multiply(x, x, out=np.empty_like(x))
        np.subtract(1, w, out=w)
        np.log(w, out=w)
        np.negative(w, out=w)
    far = np.flatnonzero(w >= end)
    rest = np.take(w, far)
    w -= x.dtype.type(centre)
    p = _polynomial(polynomial, w)
    if far.size:
        start, values = end, np.empty_like(rest)
        for end, centre, polynomial in tails:
            here = (start <= rest) & (rest <= end)
            root = np.sqrt(rest[here]) - x.dtype.type(centre)
            # The last point's w is infinite, and so is what becomes of it.
            values[here] = np.where(
                np.isinf(root), np.inf, _polynomial(polynomial, root)
            )
            start = end
        np.put(p, far, values)
    x *= p


def _polynomial(coefficients: tuple[float, ...], w: np.ndarray) -> np.ndarray:
    """The polynomial, the highest power's coefficient first, by Horner's scheme."""
    first, *others = coefficients
    p = np.full_like(w, first)
    with np.errstate(invalid="ignore"):  # far out, where it is replaced
        for c in others:
            p *= w
            p += w.dtype.type(c)
    return p


#: erf(x) = x * (polynomial of x**2) / (another) for float32, with |x| up to LIMIT.
LIMIT = 3.7439211627767994
OVER = (
    0.00022905065861350646, 0.0034082910107109506, 0.050955695062380861,
    0.18520832239976145, 1.128379143519084,
)  # fmt: skip
UNDER = (
    -1.1791602954361697e-7, 0.000023547966471313185, 0.0010179625278914885,
    0.014070470171167667, 0.11098505178285362, 0.49746925110067538, 1.0,
)  # fmt: skip

_erf_of_each = np.frompyfunc(math.erf, 1, 1)


def erf(x: np.ndarray) -> np.ndarray:
    """The error function of an array, in its dtype.

    In float32 it is the quotient of polynomials that JAX's compiler has; in float64,
    Python's own, number by number.
    """
    if x.dtype == np.float64:
        return np.asarray(_erf_of_each(x)).astype(np.float64)
    inside = np.clip(x.astype(np.float32), -LIMIT, LIMIT)
    square = inside * inside
    found = inside * _polynomial(OVER, square) / _polynomial(UNDER, square)
    return np.asarray(found).astype(x.dtype)
