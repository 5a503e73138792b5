"""exp, exp2, expm1, sinh, cosh, tanh, expit.

All from exp(x) = 2**k * exp(r) and a polynomial for exp(r) - 1 - r. The hyperbolic
functions are made of expm1, as in fdlibm (Sun Microsystems, 1993): nothing cancels.
"""

from __future__ import annotations

from typing import Any

from srcjax.backends.elementary.parts import (
    exact_sums,
    exponential_parts,
    powers_of_two,
    quotients,
    rounding,
    scaling,
)
from srcjax.backends.elementary.precision import Precision
from srcjax.backends.elementary.words import absolute, pick, with_sign_of


def functions(p: Precision) -> dict[str, Any]:
    parts = exponential_parts(p)
    reduced, expm1_near_zero = parts.reduced, parts.expm1_near_zero
    expm1_parts, ordered_sum = parts.expm1_parts, exact_sums(p).ordered_sum
    quotient = quotients(p)
    nearest, power_of_two, scaled = rounding(p), powers_of_two(p), scaling(p)
    EXP2 = p.polynomial("exp2")
    SINH, COSH = p.polynomial("sinh"), p.polynomial("cosh")
    # Beyond these the result is infinite, or zero.
    EXP_MOST, EXP_LEAST = p.choose(710, 89), p.choose(-746, -104)
    EXP2_MOST, EXP2_LEAST = p.choose(1025, 129), p.choose(-1076, -151)
    EXPM1_LEAST = p.choose(-60, -30)  # -1 from here on
    SINH_MOST = p.choose(710.5, 89.5)
    TANH_MOST = p.choose(20, 10)  # 1 from here on
    # Below this a function that starts with x is x.
    TINY = p.choose(2.0**-60, 2.0**-30)
    LARGE = p.choose(40, 20)  # 2**-LARGE is nothing beside 2**LARGE

    @p.kernel
    def exp(x: Any) -> Any:
        x = pick(x > EXP_MOST, EXP_MOST, pick(x < EXP_LEAST, EXP_LEAST, x))
        k, r = reduced(x)
        return scaled(1.0 + expm1_near_zero(r), k)

    @p.kernel
    def exp2(x: Any) -> Any:
        x = pick(x > EXP2_MOST, EXP2_MOST, pick(x < EXP2_LEAST, EXP2_LEAST, x))
        k = nearest(x)
        r = x - k
        return scaled(1.0 + r * EXP2(r), k)

    @p.kernel
    def expm1(x: Any) -> Any:
        """(2**k - 1) + 2**k * (exp(r) - 1), by halves: 2**k may be too large."""
        held = pick(x > EXP_MOST, EXP_MOST, pick(x < EXPM1_LEAST, EXPM1_LEAST, x))
        k, q, rest = expm1_parts(held)
        s = power_of_two(k - 1.0)
        y, missing = ordered_sum(s - 0.5, s * q)
        return pick(absolute(x) < TINY, x, 2.0 * (y + (missing + s * rest)))

    @p.kernel
    def hyperbolic_parts(x: Any) -> Any:
        """Half of sinh and cosh of k * log(2), r, sinh(r) - r and cosh(r) - 1."""
        a = absolute(x)
        k, r = reduced(pick(a > SINH_MOST, SINH_MOST, a))
        s = power_of_two(k - 2.0)
        t = power_of_two(-2.0 - pick(k > LARGE, LARGE, k))
        z = r * r
        return s - t, s + t, r, r * z * SINH(z), z * (0.5 + z * COSH(z))

    @p.kernel
    def sinh(x: Any) -> Any:
        s, c, r, s_rest, c_rest = hyperbolic_parts(x)
        y, missing = ordered_sum(s, c * r)
        y = 2.0 * (y + (missing + (s * c_rest + c * s_rest)))
        return with_sign_of(pick(absolute(x) < TINY, x, y), x)

    @p.kernel
    def cosh(x: Any) -> Any:
        s, c, r, s_rest, c_rest = hyperbolic_parts(x)
        return 2.0 * (c + (c * c_rest + s * (r + s_rest)))

    @p.kernel
    def tanh(x: Any) -> Any:
        """t / (t + 2), or 1 - 2 / (t + 2) where t = exp(2 * |x|) - 1 is large."""
        a = absolute(x)
        k, q, rest = expm1_parts(2.0 * pick(a > TANH_MOST, TANH_MOST, a))
        s = power_of_two(k)
        t, missing = ordered_sum(s - 1.0, s * q)
        t_low = missing + s * rest
        b, b_low = ordered_sum(2.0, t)
        large = t > 1.0
        y = quotient(pick(large, -2.0, t), pick(large, 0.0, t_low), b, b_low + t_low)
        y = pick(large, 1.0, 0.0) + y
        return with_sign_of(pick(a < TINY, a, y), x)

    @p.kernel
    def exp_in_parts(x: Any) -> Any:
        """exp(x) for x <= 0, and what it was rounded by."""
        k, q, rest = expm1_parts(pick(x < EXP_LEAST, EXP_LEAST, x))
        e, e_low = ordered_sum(1.0, q)
        return scaled(e, k), scaled(e_low + rest, k)

    @p.kernel
    def expit(x: Any) -> Any:
        """e / (1 + e) or 1 / (1 + e), and what both sides were rounded by."""
        e, e_low = exp_in_parts(-absolute(x))
        b, b_low = ordered_sum(1.0, e)
        left = x < 0.0
        y = pick(left, e, 1.0) / b
        rest = pick(left, e_low, 0.0) - y * (b_low + e_low)
        return y + rest * pick(left, 1.0 - y, y)

    found = (exp, exp2, expm1, sinh, cosh, tanh, expit, exp_in_parts)
    return {f.__name__: f for f in found}
