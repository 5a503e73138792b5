"""What several families of functions are made of."""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import Any

import numpy as np

from srcjax.backends.elementary.precision import LN2, LOG2_E, SQRT_2, Precision
from srcjax.backends.elementary.words import (
    bits,
    floating,
    masked,
    minus,
    pick,
    plus,
    product_error,
    shifted_left,
    shifted_right,
)


@functools.cache
def rounding(p: Precision) -> Any:
    """The nearest integer of floats below 2**51 (2**22): ties go to the even one."""
    MAGIC = p.magic

    @p.kernel
    def nearest(x: Any) -> Any:
        return (x + MAGIC) - MAGIC

    return nearest


@functools.cache
def powers_of_two(p: Precision) -> Any:
    """2**k of an integer that is held by a float, where that is a normal number."""
    MAGIC = p.scalar(p.magic + p.bias)
    DIGITS = p.digits

    @p.kernel
    def power_of_two(k: Any) -> Any:
        return floating(shifted_left(bits(k + MAGIC), DIGITS))

    return power_of_two


@functools.cache
def exponential_parts(p: Precision) -> SimpleNamespace:
    """x = k * log(2) + r, where |r| <= log(2) / 2 (Cody and Waite, 1980).

    The leading part of log(2) is so short that its product with `k` is exact.
    """
    nearest = rounding(p)
    ordered_sum = exact_sums(p).ordered_sum
    LN2_HIGH, LN2_LOW = p.parts(LN2, p.digits - 11 if p.double else p.digits - 9)
    INVERSE = p.scalar(float(LOG2_E))
    EXP = p.polynomial("exp")

    @p.kernel
    def reduced(x: Any) -> Any:
        k = nearest(x * INVERSE)
        return k, (x - k * LN2_HIGH) - k * LN2_LOW

    @p.kernel
    def expm1_near_zero(r: Any) -> Any:
        return r + (r * r) * EXP(r)

    @p.kernel
    def expm1_parts(x: Any) -> Any:
        """`k`, and exp(r) - 1 with what it was rounded by."""
        k = nearest(x * INVERSE)
        high, low = x - k * LN2_HIGH, k * LN2_LOW
        r = high - low
        missing = (high - r) - low
        more = (r * r) * EXP(r) + missing
        q, rest = ordered_sum(r, more)
        return k, q, rest

    return SimpleNamespace(
        reduced=reduced,
        expm1_near_zero=expm1_near_zero,
        expm1_parts=expm1_parts,
        LN2_HIGH=LN2_HIGH,
        LN2_LOW=LN2_LOW,
    )


@functools.cache
def scaling(p: Precision) -> Any:
    """y * 2**k, for all `k` for which it may be a number, rounded once."""
    nearest, power_of_two = rounding(p), powers_of_two(p)

    @p.kernel
    def scaled(y: Any, k: Any) -> Any:
        half = nearest(k * 0.5)
        return y * power_of_two(half) * power_of_two(k - half)

    return scaled


@functools.cache
def splitting(p: Precision) -> Any:
    """x = m * 2**k, where m is between the roots of 1/2 and of 2, for x > 0."""
    MAGIC_BITS = p.bits_of(p.magic)
    MAGIC = p.magic
    LOWEST = p.bits_of(float(SQRT_2) / 2)
    FRACTION = p.integer((1 << p.digits) - 1)
    DIGITS = p.digits
    SMALLEST = p.smallest_normal
    RAISE = p.scalar(2.0**54)

    @p.kernel
    def split(x: Any) -> Any:
        small = x < SMALLEST
        above = minus(bits(pick(small, x * RAISE, x)), LOWEST)
        k = floating(plus(shifted_right(above, DIGITS), MAGIC_BITS)) - MAGIC
        m = floating(plus(masked(above, FRACTION), LOWEST))
        return k - pick(small, 54.0, 0.0), m

    return split


@functools.cache
def exact_sums(p: Precision) -> SimpleNamespace:
    """A sum and what it was rounded by (Dekker 1971, Knuth 1969)."""

    @p.kernel
    def ordered_sum(a: Any, b: Any) -> Any:
        """For |a| >= |b|, or a == 0."""
        total = a + b
        return total, b - (total - a)

    @p.kernel
    def exact_sum(a: Any, b: Any) -> Any:
        total = a + b
        other = total - a
        return total, (a - (total - other)) + (b - other)

    return SimpleNamespace(ordered_sum=ordered_sum, exact_sum=exact_sum)


@functools.cache
def quotients(p: Precision) -> Any:
    """The quotient of two numbers that are given with what they were rounded by."""

    @p.kernel
    def quotient(a: Any, a_low: Any, b: Any, b_low: Any) -> Any:
        inverse = 1.0 / b
        q = a * inverse
        product = q * b
        rest = (a - product) - product_error(q, b, product)
        return q + (rest + (a_low - q * b_low)) * inverse

    return quotient


@functools.cache
def precision_of(dtype: np.dtype) -> Precision:
    return Precision(dtype)
