"""x = n * (pi / 2) + r: the last bits of n, and r in two parts, for all floats x.

Two ways for each precision. `ordinary` (Cody and Waite, 1980) subtracts n times the
parts of pi / 2; it holds up to |x| = ORDINARY. `everywhere` (Payne and Hanek, 1983)
multiplies by those of the bits of 2 / pi that are of use: a table has, for each
exponent e, 2**e * 2 / pi less what gives multiples of 4 with any float of this
exponent. Both are without branches. In float32 both count in float64.
"""

from __future__ import annotations

import functools
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from srcjax.backends.elementary.parts import (
    exact_sums,
    precision_of,
    rounding,
)
from srcjax.backends.elementary.precision import PI, Precision
from srcjax.backends.elementary.words import (
    absolute,
    bits,
    double,
    filled_right,
    floating,
    masked,
    minus,
    pick,
    plus,
    product_error,
    single,
    table,
    with_sign_of,
)

#: How far `ordinary` holds.
ORDINARY = 1e6
#: The exponent of the first row of the tables: below, nothing is to be reduced.
FIRST = -1


@functools.cache
def two_over_pi(bits_wanted: int) -> Fraction:
    """2 / pi, by Machin's formula: pi / 4 = 4 * arctan(1 / 5) - arctan(1 / 239)."""
    one = 1 << (bits_wanted + 64)

    def arctan_of_inverse(n: int) -> int:
        total, term, k = 0, one // n, 0
        while term:
            total += (-1) ** k * (term // (2 * k + 1))
            term //= n * n
            k += 1
        return total

    quarter = 4 * arctan_of_inverse(5) - arctan_of_inverse(239)
    return Fraction(one, 2 * quarter)


def useful_bits(exponent: int, digits: int) -> Fraction:
    """2**e * 2 / pi, less what gives multiples of 4 with any float of `digits`."""
    period = Fraction(2) ** (digits + 2)
    value = two_over_pi(1400) * Fraction(2) ** exponent
    return value - period * round(value / period)


@functools.cache
def tables(digits: int, exponents: tuple[int, int], *parts: int) -> list[Any]:
    """The useful bits for each exponent, in parts of so many bits."""
    columns: list[list[float]] = [[] for _ in parts]
    for exponent in range(*exponents):
        value = useful_bits(exponent, digits)
        for column, count in zip(columns, parts, strict=True):
            size = abs(value)
            order = size.numerator.bit_length() - size.denominator.bit_length()
            unit = Fraction(2) ** (order - count + 1)
            part = round(value / unit) * unit if value else Fraction(0)
            column.append(float(part))
            value -= part
    return [table(column) for column in columns]


def rows(p: Precision) -> Any:
    """The row of the table for `x`, and its fraction: between 1 and 2, signed."""
    DIGITS = p.digits
    FIRST_ROW = p.integer(p.bias + FIRST)
    LAST_ROW = p.integer(p.bias - FIRST)
    FRACTION = p.integer((1 << p.digits) - 1)
    ONE = p.bits_of(1.0)
    ZERO = p.integer(0)

    @p.kernel
    def row_of(x: Any) -> Any:
        i = bits(absolute(x))
        row = minus(filled_right(i, DIGITS), FIRST_ROW)
        row = pick(row < ZERO, ZERO, pick(row > LAST_ROW, LAST_ROW, row))
        return row, with_sign_of(floating(plus(masked(i, FRACTION), ONE)), x)

    return row_of


def reductions(p: Precision) -> SimpleNamespace:
    return _of_double(p) if p.double else _of_single(p)


def _of_double(p: Precision) -> SimpleNamespace:
    nearest = rounding(p)
    exact_sum, ordered_sum = exact_sums(p).exact_sum, exact_sums(p).ordered_sum
    HALF_1, HALF_2, HALF_3 = p.parts(PI / 2, 33, 33)
    HALF_HIGH, HALF_LOW = p.pair(PI / 2)
    INVERSE = p.scalar(float(two_over_pi(200)))
    MAGIC = p.magic
    SIXTEENS = p.scalar(16 * p.magic)  # adding it rounds to a multiple of 16
    row_of = rows(p)
    B1, B2, B3, B4 = tables(p.digits, (FIRST, p.bias + 1), 53, 53, 53, 53)

    @p.kernel
    def ordinary(x: Any) -> Any:
        """Products with the first two parts are exact, for n below 2**20."""
        n = nearest(x * INVERSE)
        a = x - n * HALF_1
        b, missing = exact_sum(a, -(n * HALF_2))
        last = n * HALF_3
        r = b - last
        return bits(n + MAGIC), r, ((b - r) - last) + missing

    @p.kernel
    def everywhere(x: Any) -> Any:
        """n + h = x * 2 / pi, of which `h` is summed with what it is rounded by."""
        row, m = row_of(x)
        b = B1(row)
        first = m * b
        first_rest = product_error(m, b, first)
        first = first - ((first + SIXTEENS) - SIXTEENS)
        a, a_rest = exact_sum(first, first_rest)
        n = nearest(a)
        b = B2(row)
        second = m * b
        second_rest = product_error(m, b, second)
        h, rest = exact_sum(a - n, second)
        again = nearest(h)
        b = B3(row)
        third = m * b
        tail = product_error(m, b, third) + m * B4(row)
        h, rest_1 = exact_sum(h - again, a_rest)
        h, rest_2 = exact_sum(h, second_rest)
        h, rest_3 = exact_sum(h, third)
        h, low = ordered_sum(h, (rest + rest_1) + ((rest_2 + rest_3) + tail))
        r = h * HALF_HIGH
        rest = product_error(h, HALF_HIGH, r) + (h * HALF_LOW + low * HALF_HIGH)
        small = absolute(x) < 0.5
        n = pick(small, 0.0, n + again)
        return bits(n + MAGIC), pick(small, x, r), pick(small, 0.0, rest)

    return SimpleNamespace(ordinary=ordinary, everywhere=everywhere)


def _of_single(p: Precision) -> SimpleNamespace:
    wide = precision_of(np.dtype(np.float64))
    nearest = rounding(wide)
    HALF_1, HALF_2 = wide.parts(PI / 2, 33)
    HALF = wide.scalar(float(PI / 2))
    INVERSE = wide.scalar(float(two_over_pi(200)))
    MAGIC = wide.magic
    HALF_SINGLE = p.scalar(0.5)
    row_of = rows(p)
    B1, B2 = tables(p.digits, (FIRST, p.bias + 1), 29, 53)

    @wide.kernel
    def in_two(r: Any) -> Any:
        high = single(r)
        return high, single(r - double(high))

    @wide.kernel
    def ordinary(x: Any) -> Any:
        wide_x = double(x)
        n = nearest(wide_x * INVERSE)
        r, rest = in_two((wide_x - n * HALF_1) - n * HALF_2)
        return bits(n + MAGIC), r, rest

    @wide.kernel
    def everywhere(x: Any) -> Any:
        """The product with the first part is exact in float64."""
        row, m = row_of(x)
        wide_m = double(m)
        first = wide_m * B1(row)
        second = wide_m * B2(row)
        n = nearest(first + second)
        r = ((first - n) + second) * HALF
        small = absolute(x) < HALF_SINGLE
        n = pick(small, 0.0, n)
        r, rest = in_two(pick(small, double(x), r))
        return bits(n + MAGIC), r, rest

    return SimpleNamespace(ordinary=ordinary, everywhere=everywhere)
