"""Difference quotients, and how far they are to be believed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

#: Differences are believed to this part of the size of the derivative, at best.
RTOL = {8: 1e-4, 4: 2e-2, 2: 2e-1}
#: The step of differences, relative to the size of each leaf.
STEP = 1e-4


@dataclass(frozen=True)
class Quotient:
    """A difference quotient, and how far off it may be."""

    value: float
    error: float
    #: The part of the error that comes of rounding.
    noise: float = 0.0


def quotient_of(
    at: Callable[[float], float],
    here: float,
    size: float,
    h: float = STEP,
    unit: float = 1e-15,
) -> Quotient:
    """The derivative at 0 of what `at` gives, from five points.

    `here` is `at(0)`, `size` that of the terms that it is a sum of, and `unit` how far
    rounding is off, relative to them. At a kink, and beside a jump, the error is large.
    """
    right, left, far_right, far_left = map(at, (h, -h, 2 * h, -2 * h))
    near = (right - left) / (2 * h)
    far = (far_right - far_left) / (4 * h)
    bend = abs(right - 2 * here + left) / h
    wide_bend = abs(far_right - 2 * here + far_left) / (2 * h)
    noise = unit * size / h
    # A smooth bend grows with the step; a kink does not, nor does a jump.
    kink = bend if bend > 0.75 * wide_bend else 0.0
    error = abs(near - far) + kink + 1e-2 * bend * h + noise
    return Quotient((4 * near - far) / 3, error, noise)
