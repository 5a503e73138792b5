"""Loops over the keys of a mapping whose type is not known."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from srcjax.backends.load import load

WEIGHTS = {"a": 2.0, "b": 3.0, "c": [1.0, 4.0], "d": {"e": 5.0}}


def weighted(weights, value):
    """A recursive function: what `value` is, is only known when it runs."""
    if isinstance(value, dict):
        total = 0.0
        for key in value:
            total = total + weighted(weights[key], value[key])
        return total
    if isinstance(value, list):
        total = 0.0
        for weight, each in zip(weights, value, strict=True):
            total = total + weighted(weight, each)
        return total
    return weights * value**2


def of_items(weights, value):
    if isinstance(value, dict):
        total = 0.0
        for key, each in value.items():
            total = total + of_items(weights[key], each)
        return total
    return np.sum(weights * value**2)


def by_key(value):
    total = 0.0
    for key in value:
        total += value[key] ** 2
    return total


def keys_or_items(value, mapping):
    """Items that are used in another way carry a derivative."""
    total = 0.0
    for item in value:
        if mapping:
            total += value[item] ** 2
        else:
            total += item**2
    return total


def nested(x):
    made = {"a": x, "b": x * x, "c": [x, x**3], "d": {"e": 1.0 / x}}
    return weighted(WEIGHTS, made)


def nested_items(x):
    return of_items(WEIGHTS, {"a": x, "b": x * x, "d": {"e": 1.0 / x}})


@pytest.mark.parametrize("function", [nested, nested_items])
def test_of_a_recursive_function(function):
    wanted = (function(1.3 + 1e-6) - function(1.3 - 1e-6)) / 2e-6
    value, found = srcjax.value_and_grad(function)(1.3)
    assert value == pytest.approx(function(1.3))
    assert found == pytest.approx(wanted)
    _, tangent = srcjax.jvp(function, (1.3,), (1.0,))
    assert tangent == pytest.approx(wanted)


def loaded(function):
    """The gradient whose text was written without types."""
    text = srcjax.source(srcjax.grad(function))
    return getattr(load(text, "of_" + function.__name__), f"grad_{function.__name__}")


def test_without_types():
    assert loaded(by_key)({"a": 2.0, "b": 3.0}) == {"a": 4.0, "b": 6.0}


def test_items_are_no_keys_everywhere():
    np.testing.assert_allclose(srcjax.grad(keys_or_items)([2.0, 3.0], False), [4, 6])
