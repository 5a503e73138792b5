"""power (float ** float), cbrt.

power: log2(x) as a sum of two floats, from the series of atanh, of which the first
terms are summed exactly (by Dekker's sums and products, 1971); times y; then exp2. In
float32 the same is counted in float64, with fewer terms.

cbrt: a polynomial, then one step of Halley's method on a value of half the digits, the
square of which is exact (as in fdlibm, Sun Microsystems, 1993).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from srcjax.backends.elementary.parts import (
    exact_sums,
    powers_of_two,
    precision_of,
    rounding,
    scaling,
    splitting,
)
from srcjax.backends.elementary.precision import CBRT_2, LN2, Precision
from srcjax.backends.elementary.words import (
    absolute,
    bits,
    double,
    floating,
    masked,
    pick,
    product_error,
    single,
    with_sign_of,
)


def functions(p: Precision) -> dict[str, Any]:
    raised = _raised_double(p) if p.double else _raised_single(p)
    return {"power": _power(p, raised), "cbrt": _cbrt(p)}


def _power(p: Precision, raised: Any) -> Any:
    """What C99 says of zeros, infinities and negative bases; `raised` is |x| ** y."""
    INFINITY, NAN = p.infinity, p.nan
    INTEGERS = p.scalar(2.0**p.digits)  # floats beyond are integers

    @p.kernel
    def is_integer(a: Any) -> Any:
        return (a >= INTEGERS) | ((a + INTEGERS) - INTEGERS == a)

    @p.kernel
    def power(x: Any, y: Any) -> Any:
        a, b = absolute(x), absolute(y)
        result = raised(a, y)
        endless = pick((a > 1.0) == (y > 0.0), INFINITY, 0.0)
        result = pick((a == 0.0) | (a == INFINITY), endless, result)
        whole = is_integer(b)
        odd = whole & (b < 2.0 * INTEGERS) & (not is_integer(0.5 * b))
        negative = with_sign_of(1.0, x) < 0.0
        result = pick(negative & odd, -result, result)
        unreal = negative & (not whole) & (a != 0.0) & (a != INFINITY)
        result = pick(unreal, NAN, result)
        result = pick((x != x) | (y != y), x + y, result)
        return pick((y == 0.0) | (x == 1.0), 1.0, result)

    return power


def _raised_double(p: Precision) -> Any:
    split, nearest, scaled = splitting(p), rounding(p), scaling(p)
    ordered_sum = exact_sums(p).ordered_sum
    REST, EXP2 = p.polynomial("log_tail"), p.polynomial("exp2")
    THIRD, THIRD_LOW = p.pair(Fraction(1, 3))
    SCALE, SCALE_LOW = p.pair(2 / LN2)
    MOST = p.scalar(2.0**70)  # any base but 1 to this power is infinite, or zero
    BOUND = p.scalar(1100.0)

    @p.kernel
    def log2_in_parts(x: Any) -> Any:
        """2 / log(2) * s * (1 + z / 3 + z**2 * (1 / 5 + ...)), z = s * s."""
        k, m = split(x)
        f = m - 1.0
        b, b_low = ordered_sum(2.0, f)
        inverse = 1.0 / b
        s = f * inverse
        product = s * b
        error = (f - product) - product_error(s, b, product)
        s_low = (error - s * b_low) * inverse
        z = s * s
        z_low = product_error(s, s, z) + 2.0 * s * s_low
        third = z * THIRD
        third_low = product_error(z, THIRD, third) + (z * THIRD_LOW + z_low * THIRD)
        u, u_low = ordered_sum(third, z * z * REST(z))
        u_low = u_low + third_low
        w = s * u
        w_low = product_error(s, u, w) + (s * u_low + s_low * u)
        g, g_low = ordered_sum(s, w)
        g_low = g_low + (w_low + s_low)
        t = g * SCALE
        t_low = product_error(g, SCALE, t) + (g * SCALE_LOW + g_low * SCALE)
        high, low = ordered_sum(k, t)
        return high, low + t_low

    @p.kernel
    def raised(x: Any, y: Any) -> Any:
        high, low = log2_in_parts(x)
        y = pick(y > MOST, MOST, pick(y < -MOST, -MOST, y))
        t = y * high
        t_low = product_error(y, high, t) + y * low
        t_low = pick(absolute(t) < BOUND, t_low, 0.0)
        t = pick(t > BOUND, BOUND, pick(t < -BOUND, -BOUND, t))
        n = nearest(t)
        r = (t - n) + t_low
        return scaled(1.0 + r * EXP2(r), n)

    return raised


def _raised_single(p: Precision) -> Any:
    wide = precision_of(np.dtype(np.float64))
    split, nearest, scaled = splitting(wide), rounding(wide), scaling(p)
    LOG2, EXP2 = wide.polynomial("log2"), p.polynomial("exp2")
    MOST, BOUND = wide.scalar(2.0**70), wide.scalar(160.0)

    @wide.kernel
    def log2_times(x: Any, y: Any) -> Any:
        """y * log2(x) as an integer and the rest."""
        k, m = split(double(x))
        f = m - 1.0
        s = f / (2.0 + f)
        y = double(y)
        y = pick(y > MOST, MOST, pick(y < -MOST, -MOST, y))
        t = y * (k + s * LOG2(s * s))
        t = pick(t > BOUND, BOUND, pick(t < -BOUND, -BOUND, t))
        n = nearest(t)
        return single(n), single(t - n)

    @p.kernel
    def raised(x: Any, y: Any) -> Any:
        n, r = log2_times(x, y)
        return scaled(1.0 + r * EXP2(r), n)

    return raised


def _cbrt(p: Precision) -> Any:
    split, nearest, scaled = splitting(p), rounding(p), scaling(p)
    power_of_two = powers_of_two(p)
    START = p.polynomial("cbrt")
    UP, DOWN = p.scalar(float(CBRT_2)), p.scalar(float(1 / CBRT_2))
    INFINITY = p.infinity
    LEADING = p.integer(-1 << (p.digits - p.digits // 2 + 1))

    @p.kernel
    def cbrt(x: Any) -> Any:
        a = absolute(x)
        k, m = split(a)
        third = nearest(k * 0.3333333333333333)
        j = k - 3.0 * third
        t = START(m) * pick(j > 0.0, UP, pick(j < 0.0, DOWN, 1.0))
        t = floating(masked(bits(t), LEADING))
        m = m * power_of_two(j)
        r = m / (t * t)
        y = scaled(t + t * ((r - t) / (2.0 * t + r)), third)
        special = (a == 0.0) | (not (a < INFINITY))
        return pick(special, x, with_sign_of(y, x))

    return cbrt
