"""sin, cos, tan, and arcsin, arccos, arctan, arctan2.

Polynomials on [-pi / 4, pi / 4], after Cody and Waite (1980) as in fdlibm (Sun
Microsystems, 1993): the reduced argument is a float and what it was rounded by, so that
the result is right beside a multiple of pi / 2 too (see `reduction`).

arctan2 has the smaller of both arguments above the larger one, and one polynomial on
[0, 1]. Beyond 1 / 2, arcsin(x) = pi / 2 - 2 * arcsin(s) with s * s = (1 - x) / 2.
"""

from __future__ import annotations

from typing import Any

from srcjax.backends.elementary.parts import exact_sums, quotients
from srcjax.backends.elementary.precision import PI, Precision
from srcjax.backends.elementary.reduction import ORDINARY, reductions
from srcjax.backends.elementary.words import (
    absolute,
    masked,
    pick,
    root,
    with_sign_of,
)


def functions(p: Precision) -> dict[str, Any]:
    return {**_direct(p), **_inverse(p), "bound": ORDINARY}


def _direct(p: Precision) -> dict[str, Any]:
    reduced = reductions(p)
    found = _from_quadrants(p, reduced.everywhere)
    within = _from_quadrants(p, reduced.ordinary)
    return found | {f"{name}_ordinary": f for name, f in within.items()}


def _from_quadrants(p: Precision, reduced: Any) -> dict[str, Any]:
    """`reduced` gives the quadrant (its last two bits count), and r in two parts."""
    SIN, COS = p.polynomial("sin"), p.polynomial("cos")
    ordered_sum, quotient = exact_sums(p).ordered_sum, quotients(p)
    INFINITY, NAN = p.infinity, p.nan
    TINY = p.choose(2.0**-30, 2.0**-14)

    @p.kernel
    def sin_and_cos(r: Any, rest: Any) -> Any:
        """Each as a sum of a leading part and what is small beside it."""
        z = r * r
        s = r * z * SIN(z) + rest
        h = 0.5 * z
        c, missing = ordered_sum(1.0, -h)
        return r, s, c, missing + (z * z * COS(z) - r * rest)

    @p.kernel
    def sin(x: Any) -> Any:
        quadrant, r, rest = reduced(x)
        s, s_rest, c, c_rest = sin_and_cos(r, rest)
        odd = masked(quadrant, 1) != 0
        y = pick(odd, c, s) + pick(odd, c_rest, s_rest)
        y = pick(masked(quadrant, 2) != 0, -y, y)
        a = absolute(x)
        return pick(a < TINY, x, pick(a < INFINITY, y, NAN))

    @p.kernel
    def cos(x: Any) -> Any:
        quadrant, r, rest = reduced(x)
        s, s_rest, c, c_rest = sin_and_cos(r, rest)
        odd = masked(quadrant, 1) != 0
        y = pick(odd, s, c) + pick(odd, s_rest, c_rest)
        y = pick((masked(quadrant, 2) != 0) != odd, -y, y)
        return pick(absolute(x) < INFINITY, y, NAN)

    @p.kernel
    def tan(x: Any) -> Any:
        quadrant, r, rest = reduced(x)
        s, s_rest, c, c_rest = sin_and_cos(r, rest)
        s, s_rest = ordered_sum(s, s_rest)
        odd = masked(quadrant, 1) != 0
        c, c_rest = ordered_sum(c, c_rest)
        y = quotient(
            pick(odd, -c, s),
            pick(odd, -c_rest, s_rest),
            pick(odd, s, c),
            pick(odd, s_rest, c_rest),
        )
        a = absolute(x)
        return pick(a < TINY, x, pick(a < INFINITY, y, NAN))

    return {f.__name__: f for f in (sin, cos, tan)}


def _inverse(p: Precision) -> dict[str, Any]:
    ARCTAN, ARCSIN = p.polynomial("arctan"), p.polynomial("arcsin")
    PI_HIGH, PI_LOW = p.pair(PI)
    HALF_HIGH, HALF_LOW = p.pair(PI / 2)
    INFINITY = p.infinity
    ordered_sum = exact_sums(p).ordered_sum

    @p.kernel
    def arctan_of_fraction(w: Any) -> Any:
        z = w * w
        return w + w * z * ARCTAN(z)

    @p.kernel
    def arctan(x: Any) -> Any:
        a = absolute(x)
        large = a > 1.0
        t = arctan_of_fraction(pick(large, 1.0, a) / pick(large, a, 1.0))
        return with_sign_of(pick(large, HALF_HIGH - (t - HALF_LOW), t), x)

    @p.kernel
    def arctan2(y: Any, x: Any) -> Any:
        """One of t, pi / 2 - t, pi / 2 + t, pi - t, with the sign of `y`."""
        a, b = absolute(y), absolute(x)
        steep = a > b
        small, large = pick(steep, b, a), pick(steep, a, b)
        both = (small == INFINITY) & (large == INFINITY)
        w = pick(both, 1.0, small) / pick(both, 1.0, large)
        t = arctan_of_fraction(pick(large == 0.0, small, w))
        left = with_sign_of(1.0, x) < 0.0
        t = pick(steep != left, -t, t)
        low = pick(steep, HALF_LOW, pick(left, PI_LOW, 0.0))
        high = pick(steep, HALF_HIGH, pick(left, PI_HIGH, 0.0))
        return with_sign_of(high + (t + low), y)

    @p.kernel
    def arcsin_parts(x: Any) -> Any:
        """Whether |x| > 1 / 2, the sine of the smaller angle, and the rest of that."""
        a = absolute(x)
        large = a > 0.5
        z = pick(large, 0.5 - 0.5 * a, a * a)
        s = pick(large, root(z), a)
        return large, s, s * z * ARCSIN(z)

    @p.kernel
    def arcsin(x: Any) -> Any:
        large, s, rest = arcsin_parts(x)
        y, missing = ordered_sum(HALF_HIGH, -2.0 * s)
        y = y + ((missing + HALF_LOW) - 2.0 * rest)
        return with_sign_of(pick(large, y, s + rest), x)

    @p.kernel
    def arccos(x: Any) -> Any:
        large, s, rest = arcsin_parts(x)
        twice = 2.0 * (s + rest)
        far = pick(x < 0.0, PI_HIGH - (twice - PI_LOW), twice)
        s, rest = with_sign_of(s, x), with_sign_of(rest, x)
        return pick(large, far, HALF_HIGH - (s - (HALF_LOW - rest)))

    return {f.__name__: f for f in (arctan, arctan2, arcsin, arccos)}
