"""Indices of kernels: what NumPy says of those that an array has not."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from srcjax.backends.kernels import has_numba

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 2

needs_numba = pytest.mark.skipif(not has_numba(), reason="compiles kernels")


def by_number(x, i):
    total = 0.0
    for k in range(3):
        total += x[i + k] * 2.0
    return total


def in_a_matrix(x, i):
    a = np.outer(x, x)
    total = 0.0
    for k in range(2):
        total += a[k, i - k]
    return total


def stored(x, i):
    y = np.zeros(len(x))
    for k in range(3):
        y[k + i] = x[k] + 1.0
    return y


def stored_in_given(x, i):
    for k in range(3):
        x[k + i] = x[k] + 1.0
    return x * 1.0


def updated(x, i):
    y = np.zeros((2, len(x)))
    for k in range(2):
        y[k, i] += x[k]
    return y


def of_a_row(x, i):
    a = np.outer(x, x) + 1.0
    total = 0.0
    for k in range(2):
        row = a[k + i - 1]
        for j in range(len(row)):
            total += row[j]
    return total


def of_a_column(x, i):
    a = np.outer(x, x[:2]) + 1.0
    return np.sum(np.exp(a[:, i]) * a[:, i])


def of_a_part(x, i):
    part = x[1:]
    total = 0.0
    for k in range(2):
        total += part[i + k]
    return total


def through_another_name(x, i):
    y = x * 1.5
    z = y
    total = 0.0
    for k in range(2):
        total += z[k] + y[i]
    return total


def looked_up(x, i):
    idx = np.array([0, i, 1])
    return np.sum(np.tanh(x[idx] * 2.0) * x[idx])


def looked_up_in_steps(x, i):
    idx = np.array([0, i, 1])
    y = np.zeros(3)
    for k in range(3):
        y[k] = np.exp(x[idx[k]]) + np.tanh(x[idx[k]] * x[k])
    return y


def looked_up_after_stores(x, i):
    idx = np.array([0, i, 1])
    for k in range(3):
        x[k] = np.exp(0.1 * x[idx[k]])
    return x * 1.0


def looked_up_if(x, i):
    idx = np.array([0, i, 1])
    y = np.zeros(3)
    for k in range(3):
        y[k] = np.exp(x[idx[k]]) if idx[k] < len(x) else 0.0
    return y


def looked_up_in_what_is_stored(x, i):
    idx = np.array([0, i, 1])
    y = np.ones(3)
    turned = y[::-1]
    for k in range(3):
        y[k] = np.exp(0.1 * turned[idx[k]]) + x[k]
    return y


def looked_up_by_what_is_stored(x, i):
    idx = np.array([0, i, 1])
    back = idx[::-1]
    y = np.zeros(3)
    for k in range(3):
        y[k] = np.exp(x[back[k]])
        idx[k] = 0
    return y


def stored_where_told(x, i):
    y = np.zeros(len(x))
    idx = np.array([0, i])
    y[idx] = 2.0
    np.add.at(y, idx, 1.0)
    return y * x


def constants(x, i):
    total = 0.0
    for _ in range(i):
        total += x[3] + x[-1]
    return total


FUNCTIONS = [
    by_number,
    in_a_matrix,
    stored,
    stored_in_given,
    updated,
    of_a_row,
    of_a_column,
    of_a_part,
    through_another_name,
    looked_up,
    looked_up_in_steps,
    looked_up_after_stores,
    looked_up_if,
    looked_up_in_what_is_stored,
    looked_up_by_what_is_stored,
    stored_where_told,
    constants,
]


def outcome(function, x, i):
    x = x.copy()
    try:
        found = function(x, i)
    except Exception as error:
        return type(error), str(error), x
    return found, "", x


@pytest.mark.parametrize("dtype", [float, np.float32])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_as_numpy_has_them(function, dtype):
    compiled = srcjax.jit(function)
    for n in (4, 3, 6):
        x = np.linspace(0.5, 2, n).astype(dtype)
        for i in (0, 1, 2, 7, -1, -9, n, n - 1, -n, -n - 1):
            expected = outcome(function, x, i)
            found = outcome(compiled, x, i)
            assert found[1] == expected[1]
            if expected[1]:
                assert found[0] is expected[0]
            else:
                close = 1e-5 if dtype == np.float32 else 1e-13
                np.testing.assert_allclose(found[0], expected[0], rtol=close)
            np.testing.assert_allclose(found[2], expected[2], rtol=1e-6)


def test_gradients():
    for function in (by_number, looked_up, looked_up_in_steps):

        def loss(x, i, function=function):
            return np.sum(function(x, i) * 1.0)

        gradient = srcjax.grad(loss)
        x = np.linspace(0.5, 2, 5)
        np.testing.assert_allclose(
            srcjax.jit(gradient)(x, 2), gradient(x, 2), rtol=1e-13
        )
        with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0"):
            srcjax.jit(gradient)(x, 9)


@needs_numba
def test_only_what_users_index_is_checked():
    def convolved(image, filters):
        out = np.zeros((len(image) - 2, len(image) - 2))
        for i in range(3):
            for j in range(3):
                part = image[i : i + len(out), j : j + len(out)]
                out += filters[i, j] * part
        return out

    text = srcjax.source(srcjax.jit(convolved), np.ones((8, 8)), np.ones((3, 3)))
    assert '@checked_kernel("filters")' in text
    text = srcjax.source(srcjax.jit(by_number), np.ones(4), 1)
    assert '@checked_kernel("x")' in text
    for function in FUNCTIONS:
        text = srcjax.source(srcjax.jit(function), np.ones(5), 1)
        assert "_kernel(" in text, text


@needs_numba
def test_stores_that_nobody_reads_raise():
    def stored(x):
        held = x.copy()
        held[1] = 2.0
        return np.sum(x * x + 1)

    compiled = srcjax.jit(stored)
    assert compiled(np.ones(3)) == 6.0
    with pytest.raises(IndexError, match="index 1 is out of bounds"):
        compiled(np.ones(1))


@needs_numba
def test_indices_of_what_is_turned():
    def element(a, i, j):
        return a.T[i, j] * 2

    def row(a, i):
        return np.sum(a.T[i] * 2 + 1)

    a = np.arange(6.0).reshape(2, 3)
    compiled = srcjax.jit(element)
    assert compiled(a, 2, 1) == element(a, 2, 1) and compiled(a, -3, 0) == 0
    for function, given in [(element, (3, 0)), (element, (0, -3)), (row, (-4,))]:
        with pytest.raises(IndexError, match="is out of bounds for axis"):
            srcjax.jit(function)(a, *given)
    with pytest.raises(IndexError, match="is out of bounds for axis"):
        srcjax.jit(row)(np.ones((0, 0)), -1)


@needs_numba
def test_examples_with_indices_of_their_own():
    def one(x, i):
        total = 0.0
        while i < 9:
            total += x[i]
            i = 2 * i + 1
        return total

    x, i = np.linspace(0, 1, 9), np.array([0, 1, -9, 20])
    each = srcjax.jit(srcjax.vmap(one, in_axes=(None, 0)))
    np.testing.assert_allclose(each(x, i[:2]), [one(x, 0), one(x, 1)])
    mapped = srcjax.vmap(one, in_axes=(None, 0))
    for jitted in (each, mapped):  # the same: all examples go on at once
        with pytest.raises(IndexError, match="index -9 is out of bounds for axis 0"):
            jitted(x[:5], i)


def test_an_array_without_elements():
    with pytest.raises(
        IndexError, match="index 0 is out of bounds for axis 0 with size 0"
    ):
        srcjax.jit(by_number)(np.ones(0), 0)
