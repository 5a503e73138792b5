"""erf, erfc, ndtr.

Near zero a polynomial of x * x. Beyond, exp(x * x) * erfc(x) * (x + 2) as a polynomial
of (x - 2) / (x + 2), which is between -1 and 1 for all x > 0 (Shepherd and Laframboise,
Mathematics of Computation 36, 1981, have such a one). x * x is kept in two parts: exp
makes an error of it as many times larger as it is large.
"""

from __future__ import annotations

from typing import Any

from srcjax.backends.elementary.parts import (
    exact_sums,
    exponential_parts,
    powers_of_two,
    rounding,
    scaling,
)
from srcjax.backends.elementary.precision import LN2, SQRT_2, Precision
from srcjax.backends.elementary.words import (
    absolute,
    pick,
    product_error,
    with_sign_of,
)


def functions(p: Precision) -> dict[str, Any]:
    ERF, EXP = p.polynomial("erf"), p.polynomial("exp")
    ERF_TAIL = p.polynomial("erf_tail")
    START, SLOPE, ERFC = p.starting("erfc", 2)
    parts, scaled = exponential_parts(p), scaling(p)
    reduced, expm1_near_zero = parts.reduced, parts.expm1_near_zero
    power_of_two = powers_of_two(p)
    LN2_HIGH, LN2_LOW = parts.LN2_HIGH, parts.LN2_LOW
    nearest, sums = rounding(p), exact_sums(p)
    ordered_sum, exact_sum = sums.ordered_sum, sums.exact_sum
    INVERSE = p.scalar(float(1 / LN2))
    LAST = p.choose(28, 10.5)  # erfc(LAST) is zero
    END = p.choose(6, 4)  # erf(END) is one
    LAST_NDTR = p.choose(39.5, 14.8)  # ndtr(-LAST_NDTR) is zero
    ROOT, ROOT_LOW = p.pair(1 / SQRT_2)

    @p.kernel
    def tail(a: Any, a_low: Any, square: Any, square_low: Any) -> Any:
        """erfc(a + a_low), a >= 1 / 2, the square of which is square + square_low."""
        k = nearest(-square * INVERSE)
        high, low = -square - k * LN2_HIGH, k * LN2_LOW + square_low
        r = high - low
        q, q_low = ordered_sum(r, (r * r) * EXP(r) + ((high - r) - low))
        b, b_low = exact_sum(2.0, a)
        b_low = b_low + a_low
        inverse = 1.0 / b
        product = b * inverse
        # What is missing of 1 / (a + 2).
        error = ((1.0 - product) - product_error(b, inverse, product)) - inverse * b_low
        t = (1.0 - 4.0 * inverse) - 4.0 * inverse * error
        slope, slope_low = ordered_sum(SLOPE, t * ERFC(t))
        more = slope * t
        g, g_low = ordered_sum(START, more)
        g_low = g_low + (product_error(slope, t, more) + slope_low * t)
        y = g * inverse
        y_low = product_error(g, inverse, y) + g_low * inverse
        more = y * q
        y_low = y_low + (product_error(y, q, more) + y * (q_low + (1.0 + q) * error))
        y, rest = ordered_sum(y, more)
        return scaled(y + (rest + y_low), k)

    @p.kernel
    def erf_rest(a: Any) -> Any:
        return a * ERF(a * a)

    @p.kernel
    def tail_of(a: Any) -> Any:
        a = pick(a > LAST, LAST, a)
        square = a * a
        return tail(a, 0.0, square, product_error(a, a, square))

    @p.kernel
    def erf(x: Any) -> Any:
        """1 - erfc(|x|) from 1 on, where that is small and need not be as good."""
        a = absolute(x)
        held = pick(a > END, END, a)
        k, r = reduced(-held * held)
        inverse = 1.0 / (2.0 + held)
        e = (1.0 + expm1_near_zero(r)) * power_of_two(k)
        tail = ERF_TAIL(1.0 - 4.0 * inverse) * inverse * e
        return with_sign_of(pick(a < 1.0, a + erf_rest(a), 1.0 - tail), x)

    @p.kernel
    def erfc(x: Any) -> Any:
        a = absolute(x)
        y = tail_of(a)
        y = pick(x < 0.0, 2.0 - y, y)
        return pick(a < 0.5, 1.0 - (x + with_sign_of(1.0, x) * erf_rest(a)), y)

    @p.kernel
    def ndtr(x: Any) -> Any:
        """erfc(-x / sqrt(2)) / 2, where the square is that of x, not of a quotient."""
        a = absolute(x)
        w = a * ROOT
        center = 0.5 + 0.5 * with_sign_of(w + erf_rest(w), x)
        a = pick(a > LAST_NDTR, LAST_NDTR, a)
        w = a * ROOT
        w_low = product_error(a, ROOT, w) + a * ROOT_LOW
        square = a * a
        y = tail(w, w_low, 0.5 * square, 0.5 * product_error(a, a, square))
        y = 0.5 * pick(x < 0.0, y, 2.0 - y)
        return pick(absolute(x) < 0.7, center, y)

    return {f.__name__: f for f in (erf, erfc, ndtr)}
