"""Functions with a batched form of their own: `custom_vmap`."""

import numpy as np
import pytest

import srcjax
from srcjax.custom_batching import custom_vmap

X = np.array([0.3, -1.0, 2.0])
TOLD = []


@custom_vmap
def wave(x):
    return np.sin(x)


@wave.def_vmap
def wave_of_all(axis_size, in_batched, x):
    return np.cos(x), True


@custom_vmap
def line(x, p):
    return x * p["a"] + p["b"], x


@line.def_vmap
def line_of_all(axis_size, in_batched, x, p):
    TOLD.append((axis_size, in_batched))
    return (x * p["a"] + p["b"], 2 * x), (True, in_batched[0])


@custom_vmap
def without_rule(x):
    return x


@custom_vmap
def of_another_size(x):
    return x


@of_another_size.def_vmap
def too_few(axis_size, in_batched, x):
    return x[1:], True


def in_a_branch(x):
    y = x
    if x > 0:
        y = wave(x)
    return 2 * y


def line_of_one(x):
    y, _ = line(p={"a": x, "b": 2.0}, x=3.0)
    return y


def test_vmap_calls_the_rule_and_nothing_else_does():
    mapped = srcjax.vmap(wave)

    def total(x):
        return mapped(x).sum()

    assert wave(0.3) == np.sin(0.3)
    assert np.allclose(srcjax.grad(wave)(0.3), np.cos(0.3))
    assert np.allclose(mapped(X), np.cos(X))
    assert np.allclose(srcjax.grad(total)(X), -np.sin(X))
    want = 2 * np.where(X > 0, np.cos(X), X)
    assert np.allclose(srcjax.vmap(in_a_branch)(X), want)


def test_the_rule_is_told_what_is_batched():
    TOLD.clear()
    y, x = srcjax.vmap(line, in_axes=(None, {"a": 0, "b": None}))(
        2.0, {"a": X, "b": 1.0}
    )
    assert np.allclose(y, 2 * X + 1)
    assert np.allclose(x, [4.0] * 3)
    assert np.allclose(srcjax.vmap(line_of_one)(X), 3 * X + 2)
    assert TOLD == [(3, [False, {"a": True, "b": False}])] * 2


def test_mistakes_are_named():
    with pytest.raises(srcjax.errors.ArgumentError, match="without_rule.*has no rule"):
        srcjax.vmap(without_rule)(X)
    with pytest.raises(ValueError, match="for 3 examples gave an array of shape"):
        srcjax.vmap(of_another_size)(X)


def test_one_example_after_the_other():
    @srcjax.custom_batching.sequential_vmap
    def scaled(a, p):
        return {"w": a * p["w"], "b": (p["b"],)}

    x = np.arange(3.0)
    found = srcjax.vmap(scaled, (0, {"w": 0, "b": None}))(x, {"w": x, "b": 2.0})
    np.testing.assert_array_equal(found["w"], x * x)
    np.testing.assert_array_equal(found["b"][0], [2.0, 2.0, 2.0])
