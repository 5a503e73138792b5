"""log, log2, log10, log1p, logaddexp.

x = m * 2**k, and log(m) from s = (m - 1) / (m + 1) as 2 * atanh(s), summed as in fdlibm
(Sun Microsystems, 1993). log2 and log10 multiply the leading half of its digits apart.
"""

from __future__ import annotations

from typing import Any

from srcjax.backends.elementary.exponentials import functions as exponentials
from srcjax.backends.elementary.parts import (
    exact_sums,
    exponential_parts,
    powers_of_two,
    splitting,
)
from srcjax.backends.elementary.precision import (
    LN2,
    LOG2_E,
    LOG10_2,
    LOG10_E,
    Precision,
)
from srcjax.backends.elementary.words import absolute, bits, floating, masked, pick


def functions(p: Precision) -> dict[str, Any]:
    exp_in_parts = exponentials(p)["exp_in_parts"]
    split, power_of_two = splitting(p), powers_of_two(p)
    sums = exact_sums(p)
    exact_sum, ordered_sum = sums.exact_sum, sums.ordered_sum
    LN2_HIGH, LN2_LOW = (
        getattr(exponential_parts(p), n) for n in ("LN2_HIGH", "LN2_LOW")
    )
    LN2_WHOLE = p.scalar(float(LN2))
    LOG = p.polynomial("log")
    INFINITY, NAN = p.infinity, p.nan
    HALF = (p.digits + 1) // 2
    #: Keeps half of the digits.
    LEADING = p.integer(-1 << (p.digits - HALF + 1))
    LOG2_E_HIGH, LOG2_E_LOW = p.parts(LOG2_E, HALF)
    LOG10_E_HIGH, LOG10_E_LOW = p.parts(LOG10_E, HALF)
    LOG10_2_HIGH, LOG10_2_LOW = p.parts(LOG10_2, p.digits - (11 if p.double else 8))
    TINY = p.choose(2.0**-60, 2.0**-30)
    LARGE = p.choose(2.0**60, 2.0**30)  # 1 is nothing beside it

    @p.kernel
    def atanh_rest(f: Any) -> Any:
        """log(1 + f) = f - (h - s * (h + rest)), where h = f * f / 2."""
        s = f / (2.0 + f)
        z = s * s
        return s, z * LOG(z)

    @p.kernel
    def or_special(x: Any, y: Any) -> Any:
        """`y` where the logarithm of `x` is a number."""
        other = pick(x == 0.0, -INFINITY, pick(x > 0.0, x, NAN))
        return pick((x > 0.0) & (x < INFINITY), y, other)

    @p.kernel
    def log_of_parts(k: Any, f: Any, low: Any) -> Any:
        """k * log(2) + log(1 + f) + low, of which `low` has the end of k * log(2)."""
        s, rest = atanh_rest(f)
        h = 0.5 * f * f
        return k * LN2_HIGH - ((h - (s * (h + rest) + low)) - f)

    @p.kernel
    def log(x: Any) -> Any:
        k, m = split(x)
        return or_special(x, log_of_parts(k, m - 1.0, k * LN2_LOW))

    @p.kernel
    def log_halves(f: Any) -> Any:
        """log(1 + f) as half of its digits and the rest."""
        s, rest = atanh_rest(f)
        h = 0.5 * f * f
        high = floating(masked(bits(f - h), LEADING))
        return high, ((f - high) - h) + s * (h + rest)

    @p.kernel
    def log2(x: Any) -> Any:
        k, m = split(x)
        high, low = log_halves(m - 1.0)
        product = high * LOG2_E_HIGH
        y, missing = exact_sum(k, product)
        rest = (low + high) * LOG2_E_LOW + low * LOG2_E_HIGH
        return or_special(x, y + (missing + rest))

    @p.kernel
    def log10(x: Any) -> Any:
        k, m = split(x)
        high, low = log_halves(m - 1.0)
        y, missing = exact_sum(k * LOG10_2_HIGH, high * LOG10_E_HIGH)
        rest = (low + high) * LOG10_E_LOW + low * LOG10_E_HIGH
        return or_special(x, y + (missing + (rest + k * LOG10_2_LOW)))

    @p.kernel
    def log1p(x: Any) -> Any:
        """log(u) with u = 1 + x, and what `u` was rounded by put back."""
        u, missing = exact_sum(1.0, x)
        k, m = split(u)
        scale = power_of_two(-pick(x > LARGE, 0.0, k))
        f, f_low = ordered_sum(m - 1.0, pick(x > LARGE, 0.0, missing) * scale)
        y = log_of_parts(k, f, k * LN2_LOW + f_low * (1.0 - f))
        return pick(absolute(x) < TINY, x, or_special(u, y))

    @p.kernel
    def logaddexp(a: Any, b: Any) -> Any:
        """The larger one and log(1 + exp(-d)), where d = |a - b|.

        What `d` and the exponential were rounded by counts where the larger one is
        near zero. The slope of the logarithm is nearly enough 1 - e / 2. Infinities
        may be equal.
        """
        least, most = pick(a > b, b, a), pick(a > b, a, b)
        d, missing = exact_sum(most, -least)
        e, e_low = exp_in_parts(-d)
        rest = e_low - pick(d < LARGE, missing, 0.0) * e
        more = log1p(e) + rest * (1.0 - 0.5 * e)
        return most + pick(a == b, LN2_WHOLE, more)

    return {f.__name__: f for f in (log, log2, log10, log1p, logaddexp)}
