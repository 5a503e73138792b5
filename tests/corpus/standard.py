"""Python's standard library: sums, iterators and means of numbers, logs, clocks."""

import functools
import itertools
import logging
import math
import operator
import random
import statistics
import time
import warnings

import numpy as np

from .registry import normal, positive, program

LOG = logging.getLogger(__name__)


@program(positive(4), jax=False)
def means_and_spreads(x):
    squares = [v * v for v in x]
    centre = statistics.mean(squares)
    spread = statistics.stdev(squares) / statistics.pvariance(squares)
    return statistics.fmean(squares) * centre + spread + statistics.median(squares)


@program(positive(4), jax=False)
def means_of_other_kinds(x):
    return statistics.geometric_mean(x) * statistics.harmonic_mean(list(x))


@program(normal(4), jax=False)
def exact_sums(x):
    flat = math.fsum(x) * math.fsum(v * v for v in x)
    return flat + math.dist(x, [0.0, 1.0, 2.0, 3.0]) * math.prod(x)


@program(normal(3), jax=False)
def hypotenuse_in_space(x):
    return math.hypot(x[0], x[1], x[2]) * math.hypot(x[0], x[1])


@program(normal(4), jax=False, order=1)
def running_totals(x):
    totals = list(itertools.accumulate(x))
    products = itertools.accumulate(x, operator.mul, initial=2.0)
    return sum(t * p for t, p in zip(totals, products))  # noqa: B905


@program(normal(4), jax=False)
def discounted_by_accumulate(x):
    return list(itertools.accumulate(x, lambda total, r: 0.9 * total + r))[-1]


@program(normal(4), jax=False, order=1)
def pairs_triples_and_products(x):
    close = sum((b - a) ** 2 for a, b in itertools.pairwise(x))
    triples = sum(a * b * c for a, b, c in itertools.combinations(x, 3))
    table = sum(a * b for a, b in itertools.product(x, x[:2]))
    return close + triples * table


@program(normal(4), jax=False)
def iterators_chained_and_cut(x):
    first = sum(v**2 for v in itertools.chain(x, x[:2]))
    middle = sum(v**3 for v in itertools.islice(x, 1, 3))
    folded = sum(itertools.starmap(lambda a, b: a * b, zip(x, x[1:])))  # noqa: B905
    return first + middle * folded


@program(normal(4), jax=False, order=1)
def iterators_that_stop(x):
    head = itertools.takewhile(lambda pair: pair[0] < 2, enumerate(x))
    tail = itertools.dropwhile(lambda pair: pair[0] < 2, enumerate(x))
    picked = itertools.compress(x, [1, 0, 1, 1])
    return sum(v for _, v in head) * sum(v * v for _, v in tail) + sum(picked)


@program(normal(3), jax=False)
def loop_without_an_end(x):
    total = 0.0
    for i in itertools.count():
        if i >= len(x):
            break
        total = total * 0.5 + x[i] ** 2
    return total


@program(normal(3), jax=False)
def folded_by_an_operator(x):
    squares = [v * v for v in x]
    return functools.reduce(operator.add, squares) * functools.reduce(operator.mul, x)


@program(normal(3), jax=False, order=1)
def local_names_like_helpers(x):
    summed = [v * v for v in x]
    add = functools.reduce(operator.add, summed)
    zeros_like = np.zeros_like(x)
    return add * np.sum(zeros_like + x)


@program(normal(3), jax=False)
def logs_and_clocks(x):
    start = time.perf_counter()
    y = np.sum(x**2)
    logging.debug(f"{y}")
    LOG.debug("value %s of %s", y, x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn(f"{y:.2f}", stacklevel=1)
    assert time.perf_counter() >= start
    return y * x[0]


@program(normal(3), jax=False)
def random_but_seeded(x):
    rng = random.Random(3)
    return sum(rng.gauss(0, 1) * v for v in x**2)
