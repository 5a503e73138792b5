"""Whole numbers from around decide shapes and axes, unless they change."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest

import srcjax
from srcjax import grad, jit, vmap
from srcjax.analysis.guards import Whole

AXIS = 0
ROWS, COLUMNS = 3, 2
STEP = 1


def summed(x):
    return np.sum(x, AXIS)


def affine(p):
    W = p[: ROWS * COLUMNS].reshape(ROWS, COLUMNS)
    b = p[ROWS * COLUMNS : ROWS * COLUMNS + COLUMNS]
    return np.sum(np.tanh(W * np.ones((ROWS, COLUMNS)) + b) ** 2)


def along(x, axis):
    return np.cumsum(x, axis=axis)


def stepped(x):
    return np.sum(x**STEP) + STEP * x[0]


def test_axis_from_around_is_known(monkeypatch):
    x = np.arange(12.0).reshape(3, 2, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no loop over the examples
        np.testing.assert_array_equal(vmap(summed)(x), np.sum(x, 1))
        found = vmap(functools.partial(along, axis=0))(x)
    np.testing.assert_array_equal(found, np.cumsum(x, axis=1))
    mapped = vmap(summed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # by its type, the axis may be any
        for axis in (0, 1, 0, -1):
            monkeypatch.setitem(globals(), "AXIS", axis)
            expected = np.stack([np.sum(e, axis) for e in x])
            np.testing.assert_array_equal(mapped(x), expected)


def test_sizes_from_around_need_no_helpers():
    text = srcjax.source(grad(affine), np.ones(8))
    assert "unbroadcast" not in text
    assert "db = dtotal.sum(axis=0)" in text


@pytest.mark.parametrize("transform", [grad, lambda f: jit(grad(f))])
def test_sizes_that_change(transform, monkeypatch):
    df = transform(affine)
    p = np.linspace(-1.0, 1.0, 20)
    for rows, columns in [(3, 2), (2, 3), (4, 4), (3, 2), (1, 1)]:
        monkeypatch.setitem(globals(), "ROWS", rows)
        monkeypatch.setitem(globals(), "COLUMNS", columns)
        step = 1e-6
        expected = [
            (affine(p + step * e) - affine(p - step * e)) / (2 * step)
            for e in np.eye(20)
        ]
        np.testing.assert_allclose(df(p), expected, rtol=1e-6, atol=1e-8)


def test_counter_is_written_for_once(monkeypatch):
    written = []
    build = srcjax.versions.callables.Transform.built

    def built(self, *args):
        written.append(self)
        return build(self, *args)

    monkeypatch.setattr(srcjax.versions.callables.Transform, "built", built)
    df = grad(stepped)
    x = np.array([1.5, 2.5])
    for step in range(1, 6):
        monkeypatch.setitem(globals(), "STEP", step)
        expected = step * x ** (step - 1)
        expected[0] += step
        np.testing.assert_allclose(df(x), expected)
    assert len(written) == 2  # for the first value, then for all


def test_whole_numbers_of_functions_made_in_a_loop():
    x = np.array([0.5, 2.0])
    for n in range(1, 5):
        np.testing.assert_allclose(grad(lambda x: np.sum(x**n))(x), n * x ** (n - 1))  # noqa: B023
        inner = vmap(grad(lambda x: x**n * n))  # noqa: B023
        np.testing.assert_allclose(inner(x), n * n * x ** (n - 1))


def test_equal_numbers_of_which_one_changes(monkeypatch):
    df = grad(lambda x: np.sum(x * STEP) + np.sum(x[:ROWS]))
    x = np.ones(4)
    monkeypatch.setitem(globals(), "STEP", 3)
    for step, rows in [(3, 3), (2, 3), (3, 3), (3, 2), (2, 2), (1, 2)]:
        monkeypatch.setitem(globals(), "STEP", step)
        monkeypatch.setitem(globals(), "ROWS", rows)
        np.testing.assert_array_equal(df(x), step + (np.arange(4) < rows))


def test_change_is_noted_by_the_code_and_the_name():
    code = summed.__code__
    assert Whole.may_guard(2, "SOME", code)
    Whole({"SOME": 2}, "SOME", 3, code).holds()
    assert not Whole.may_guard(2, "SOME", code)
    assert Whole.may_guard(2, "OTHER", code)
    assert not Whole.may_guard(2.0, "OTHER", code)
    assert not Whole.may_guard(True, "OTHER", code)
    assert Whole.may_guard((2, 3), "OTHER", code)
    assert not Whole.may_guard((), "OTHER", code)
