"""What one example takes from an iterator or from random numbers, others go without."""

import warnings

import numpy as np
import pytest

import srcjax

S = np.array([1.0, -1.0, 0.3])


def next_in_a_branch(s):
    it = iter([0.4, 0.7, 0.9])
    y = 0.0
    if s > 0:
        y = next(it)
    return next(it) + s + y


def next_of_a_generator_expression(s):
    it = (v for v in [1.0, 2.0])
    y = s if s > 0 else next(it)
    return next(it) + y


def next_after_or(s):
    it = iter([0.4, 0.7, 0.9])
    if s > 0 or next(it) > 0.3:
        s = 2 * s
    return next(it) + s


def pulled(it):
    return next(it)


def next_in_a_helper(s):
    it = iter([0.4, 0.7, 0.9])
    if s > 0:
        s = s + pulled(it)
    return next(it) + s


def looked_for(s):
    it = iter([0.4, 0.7, 0.9])
    if s > 0 and 0.4 in it:
        s = 2 * s
    return next(it) + s


def summed(s):
    it = iter([0.4, 0.7, 0.9])
    y = sum(it) if s > 0 else 1.0
    return next(it, -1.0) + y * s


def next_in_a_while(s):
    it = iter([0.4, 0.7, 0.9, 0.5, 0.6])
    while s < 1.2:
        s = s + next(it)
    return next(it) + s


def drawn(s):
    rng = np.random.default_rng(0)
    y = s if s > 0 else rng.normal()
    return rng.normal() + y


@pytest.mark.parametrize(
    "f",
    [
        next_in_a_branch,
        next_of_a_generator_expression,
        next_after_or,
        next_in_a_helper,
        looked_for,
        summed,
        next_in_a_while,
        drawn,
    ],
)
def test_examples_that_go_another_way_do_not_feel_it(f):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", srcjax.PerformanceWarning)
        found = srcjax.vmap(f)(S)
    np.testing.assert_allclose(found, [f(s) for s in S])
