"""What distributions share: where their arguments and parameters make sense.

SciPy's answer to a parameter that makes no sense is nan, and so it is here.
"""

from __future__ import annotations

import numpy as np


def positive(v):
    """`v` where it is above zero, else nan."""
    return np.where(v > 0, v, np.nan)


def not_negative(v):
    """`v` where it is not below zero, else nan."""
    return np.where(v >= 0, v, np.nan)


def probability(q):
    """`q` where it is from 0 to 1, else nan."""
    return np.where((q >= 0) & (q <= 1), q, np.nan)


def count(n):
    """`n` where it is a number of trials, else nan."""
    return np.where((n >= 0) & (n == np.floor(n)), n, np.nan)


def standardised(x, loc, scale):
    """Where `x` is in a distribution of the location 0 and the scale 1."""
    return (
        x - loc
        if isinstance(scale, int) and scale == 1
        else (x - loc) / positive(scale)
    )


def log1mexp(v):
    """`log(1 - exp(-v))`, precise for small and for large `v`; -inf for `v <= 0`."""
    small = v < np.log(2)
    near = np.where(small & (v > 0), v, 1)
    far = np.where(small, 1, v)
    below = np.where(v <= 0, -np.inf, np.log(-np.expm1(-near)))
    return np.where(small, below, np.log1p(-np.exp(-far)))


def log_probability(p, rest):
    """`log(p)`, by `rest`, which is `1 - p`, where `p` is almost 1."""
    rare = p < 0.5
    frequent = np.log1p(-np.where(rare, 0, rest))
    return np.where(rare, np.log(np.where(rare, p, 1)), frequent)
