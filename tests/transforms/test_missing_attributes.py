"""Attributes that arrays and numbers do not have, and programs that ask for them.

hasattr(x, "magnitude")     try: x = x.magnitude        getattr(x, "values", x)
                            except AttributeError: pass
"""

import logging

import numpy as np
import pytest

import srcjax
from srcjax.errors import NoRuleError, SrcjaxError
from tests.corpus.harness import assert_close, differences

X = np.array([0.3, 0.5, 0.9])
LOG = logging.getLogger("srcjax.tests")


def magnitude(x):
    try:
        return x.magnitude
    except AttributeError:
        return x


def asked_first(x):
    if hasattr(x, "magnitude"):
        x = x.magnitude * 2.0
    return np.sum(x**2)


def asked_in_an_expression(x):
    return np.sum(x.values if hasattr(x, "values") and x.ndim else x**3)


def tried(x):
    return np.sum(magnitude(x) ** 2) + magnitude(x[0]) + magnitude(2.0)


def tried_among_others(x):
    scale = 3.0
    try:
        y = x * 2.0
        scale = y.scale
        y = y * 5.0
    except (TypeError, AttributeError):
        scale = scale * y[0]
    return np.sum(y) * scale


def any_error(x):
    try:
        place = x.__geo_interface__
        x = place["coordinates"]
    except Exception:
        pass
    return np.sum(x**2)


def an_attribute_is_set(x):
    y = x * 2.0
    try:
        y.name = "y"
    except AttributeError:
        y = y * 3.0
    return np.sum(y)


def with_a_default(x):
    scale = getattr(x, "scale", 3.0 * x[0])
    return np.sum(getattr(x, "values", x) ** 2) * scale * getattr(x, "ndim", 7)


def lists_too(x):
    parts = [x[0], x[1]]
    try:
        parts = parts.tolist()
    except AttributeError:
        parts = parts + [x[2] * 2.0]
    return sum(parts)


PROGRAMS = [
    asked_first,
    asked_in_an_expression,
    tried,
    tried_among_others,
    any_error,
    an_attribute_is_set,
    with_a_default,
    lists_too,
]


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_numbers(f):
    (expected,) = differences(f, (X,), (0,))
    gradient = srcjax.grad(f)
    assert_close((gradient(X),), (expected,), rtol=1e-6, atol=1e-7)
    value, moved = srcjax.jvp(f, (X,), (np.ones(3),))
    assert_close((value, moved), (f(X), np.sum(expected)), rtol=1e-6, atol=1e-7)
    several = np.stack([X, 2.0 * X])
    assert_close(srcjax.vmap(f)(several), np.array([f(X), f(2.0 * X)]))


def test_the_way_that_is_not_taken_is_gone():
    assert "try" not in srcjax.source(srcjax.grad(tried), X)
    assert "hasattr" not in srcjax.source(srcjax.grad(asked_first), X)


def no_attempt(x):
    return np.sum(x.magnitude**2)


def another_error(x):
    try:
        x = x.magnitude
    except TypeError:
        x = 2.0 * x
    return np.sum(x)


def test_an_error_that_nobody_catches():
    with pytest.raises(NoRuleError, match="magnitude"):
        srcjax.grad(no_attempt)(X)
    with pytest.raises((SrcjaxError, AttributeError)):
        srcjax.grad(another_error)(X)


def warned(x):
    if x.shape[0] > 2:
        LOG.warning("%d of %s", x.shape[0], x)
        logging.warn("%d", x.shape[0])
    return np.sum(x**2)


@pytest.mark.skipif(not hasattr(logging, "warn"), reason="removed")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_only_writes_about_values():
    assert_close(srcjax.grad(warned)(X), 2.0 * X)
