"""Under `vmap`, names that are None for all examples at a time, or for some of them."""

import warnings

import numpy as np
import pytest

import srcjax

X = np.array([[1.0, 2.0], [-0.5, 0.3], [2.0, -1.0]])


def added(x):
    total = None
    for v in x:
        total = v if total is None else total + v
    return total


def spread(x):
    low = high = None
    for v in x:
        low = v if low is None else min(low, v)
        high = v if high is None else max(high, v)
    return (high - low) * low


def given(x, y):
    if x is None:
        return y.sum()
    return (x * y).sum()


def one_or_many(x):
    return x if np.isscalar(x) else x.sum()


def for_some(x):
    y = x if x[0] > 0 else None
    return 0.0 if y is None else y.sum()


def by_another_name(x):
    y = None
    if x[0] > 0:
        y = x[1]
    z = y
    return x[0] if z is None else z * x[1]


def left_early(x):
    found = None
    for v in x:
        if v < 0:
            break
        found = v * v
    return x[1] if found is None else found


def best(x):
    found = None
    for v in x:
        if found is None or v > found:
            found = v
    return found * x[0]


def check(f, *args):
    for of in (lambda f: f, srcjax.grad):
        got = srcjax.vmap(of(f))(*args)
        assert np.allclose(got, [of(f)(*each) for each in zip(*args, strict=True)])


@pytest.mark.parametrize("f", [added, spread, one_or_many])
def test_one_text_for_all(f):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(f, X)


def test_an_argument_that_is_given():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(given, X, X)


@pytest.mark.parametrize("f", [for_some, by_another_name, left_early, best])
def test_examples_that_differ_in_it(f):
    with pytest.warns(srcjax.PerformanceWarning, match="runs in a loop"):
        check(f, X)


def test_the_text_asks_once_for_all():
    text = srcjax.source(srcjax.vmap(spread), X)
    assert "if low is None:\n            low = v\n" in text
    assert "low = np.minimum(low, v)\n" in text
