"""Sums, means and spreads of numbers: functions of `math` and `statistics`."""

from __future__ import annotations

import logging
import math
import statistics
import warnings

import numpy as np

from srcjax.ops.record import composite, inert


@composite(math.fsum)
def fsum(seq):
    """The sum, as a float."""
    return sum(seq, 0.0)


@composite(math.dist)
def dist(p, q):
    """The Euclidean distance of two points."""
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(p, q, strict=True)))


@composite(*(f for f in [getattr(math, "sumprod", None)] if f))
def sumprod(p, q):
    """The sum of the products."""
    return sum(a * b for a, b in zip(p, q, strict=True))


@composite(statistics.mean, statistics.fmean)
def mean(data):
    """The sum over the count."""
    values = list(data)
    if not values:
        raise statistics.StatisticsError("mean requires at least one data point")
    return sum(values) / len(values)


@composite(statistics.geometric_mean)
def geometric_mean(data):
    """The exponential of the mean of the logarithms."""
    values = list(data)
    return math.exp(sum(math.log(v) for v in values) / len(values))


@composite(statistics.harmonic_mean)
def harmonic_mean(data):
    """The count over the sum of the inverses."""
    values = list(data)
    return len(values) / sum(1 / v for v in values)


@composite(statistics.pvariance)
def pvariance(data, mu=None):
    """The mean squared distance from the mean."""
    values = list(data)
    centre = sum(values) / len(values) if mu is None else mu
    return sum((v - centre) ** 2 for v in values) / len(values)


@composite(statistics.variance)
def variance(data, xbar=None):
    """The variance of a population, estimated from a sample."""
    values = list(data)
    if len(values) < 2:
        raise statistics.StatisticsError("variance requires at least two data points")
    centre = sum(values) / len(values) if xbar is None else xbar
    return sum((v - centre) ** 2 for v in values) / (len(values) - 1)


@composite(statistics.pstdev)
def pstdev(data, mu=None):
    """The square root of the variance."""
    return math.sqrt(pvariance(data, mu))


@composite(statistics.stdev)
def stdev(data, xbar=None):
    """The square root of the estimated variance."""
    return math.sqrt(variance(data, xbar))


@composite(statistics.median)
def median(data):
    """The middle of the sorted numbers."""
    return np.median(np.array(list(data)))


#: What only writes about values. For a method: that of any object of the class.
LOGS = ("debug", "info", "warning", "warn", "error", "critical", "exception", "log")
for _name in LOGS:
    for _home in (logging, logging.Logger):
        if hasattr(_home, _name):  # `warn` will be gone one day
            inert(getattr(_home, _name), signature="*args, **kwargs")
inert(warnings.warn, signature="*args, **kwargs")
