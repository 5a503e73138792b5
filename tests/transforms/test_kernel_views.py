"""Kernels that read and write views: strided, overlapping, turned."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from srcjax.backends.kernels import has_numba

SAMPLE = {"test_views_that_are_read_again": 3, "test_stores_in_memory_that_is_read": 3}

needs_numba = pytest.mark.skipif(not has_numba(), reason="compiles kernels")


def distances(pos, mass):
    dx = pos[:, 0:1].T - pos[:, 0:1]
    dy = pos[:, 1:2].T - pos[:, 1:2]
    return np.sum(mass[:, None] * mass[None, :] * np.sqrt(dx**2 + dy**2 + 0.5))


def by_column(a, b):
    column = a[:, 1]
    return np.sum(b * column + b.T * a[:, 0], axis=1)


def every_other(a, b):
    return b[:, ::2] * a[::2, 0] + 1


def turned(a, b):
    row = a[:, 0:1].T
    return np.sum(b * row - row * 2, axis=0)


def written_to(a, b):
    a = a.copy()
    column = a[:, 0]
    for _ in range(2):
        b = b * column + column
        a[:] = a + b[:, : a.shape[1]]
        b += column
    return np.sum(b) + np.sum(a)


def in_the_loop(a, b):
    b = b.copy()
    row = b.T[0]
    b[:] = b * row + a[:, 0]
    return b


READ = [distances, by_column, every_other, turned, written_to, in_the_loop]


def arrays(n, dtype, columns=3):
    rng = np.random.default_rng(0)
    a = (10 * rng.normal(size=(n, columns))).astype(dtype)
    b = (10 * rng.normal(size=(n, n + n % 2))).astype(dtype)
    return a, b[:, :n]


COMPILED = {function: srcjax.jit(function) for function in READ}


@pytest.mark.parametrize("dtype", [float, np.float32, int])
@pytest.mark.parametrize("function", READ)
def test_views_that_are_read_again(function, dtype):
    for n in (3, 0, 1, 2, 33):
        a, b = arrays(n, dtype)
        if function is distances:
            b = np.linspace(0, 1, n)
        if n == 0 and function in (written_to, in_the_loop):
            continue  # there is no first column, or row
        if function is written_to:
            a = a[:, :n]
        for given in (
            (a, b),
            (a[::-1], b[::-1]),
            tuple(map(np.asfortranarray, (a, b))),
        ):
            expected, found = function(*given), COMPILED[function](*given)
            assert np.asarray(found).dtype == np.asarray(expected).dtype
            close = 1e-4 if dtype == np.float32 else 1e-12
            np.testing.assert_allclose(found, expected, rtol=close, atol=close)


@needs_numba
def test_copies_only_of_what_is_read_again():
    a, b = arrays(9, float)
    text = srcjax.source(srcjax.jit(distances), a, b[0])
    assert text.count("np.ascontiguousarray(") == 2
    text = srcjax.source(srcjax.jit(in_the_loop), a, b)
    assert "_kernel(" in text
    assert "ascontiguousarray(row" not in text

    def once(a, b):
        return np.sum(a[:, 0] * b[0] + a[:, 1])

    assert "ascontiguous" not in srcjax.source(srcjax.jit(once), a, b)


def test_a_gradient_of_differences_of_columns():
    a, b = arrays(17, float)
    gradient = srcjax.grad(distances)
    found = srcjax.jit(gradient)(a, b[0])
    np.testing.assert_allclose(found, gradient(a, b[0]), rtol=1e-12)


# -- stores in memory that is read -------------------------------------------------


def row_of_column(a):
    a[1] = a[:, 2]


def row_of_named_column(a):
    column = a[:, 2]
    a[1] = column
    return a.sum()


def column_of_row(a):
    a = a.copy()
    a[:, 0] = a[1]
    return a


def through_a_row(a):
    a = a.copy()
    row = a[1]
    row[:] = a[:, 2]
    return a


def through_the_turned(a):
    a = a.copy()
    a.T[1] = a[1]
    return a


def diagonal_of_steps(a):
    flat = a[0]
    half = flat[: len(flat) // 2]
    half[:] = flat[: 2 * len(half) : 2]


def spread(a):
    flat = a[0]
    n = len(flat) // 2
    flat[: 2 * n : 2] = flat[:n]


def updated_by_column(a):
    a = a.copy()
    a[1] += a[:, 2]
    return a


def computed_of_column(a):
    a[1] = a[:, 2] * 1
    return a * 1


def rows_change_places(a):
    a[0], a[1] = a[1].copy(), a[0].copy()


def row_of_row(a):
    a[1] = a[0]
    a[:, 1] = a[:, 0]


def shifted(a):
    flat = a[0]
    flat[1:] = flat[:-1]


def shifted_back(a):
    flat = a[0]
    flat[:-1] = flat[1:]


def shifted_from_behind(a):
    flat = a[0]
    flat[:-1][::-1] = flat[1:][::-1]


def turned_around(a):
    flat = a[0]
    flat[::-1] = flat


def transposed(a):
    a[:] = a.T


def rest_of_the_row(a):
    for i in range(len(a) - 1):
        a[i, i + 1 :] = a[i + 1 :, i]


def rest_by_name(a):
    for i in reversed(range(1, len(a))):
        part = a[:i, i]
        a[i, :i] = part


def from_the_end(a):
    for i in range(-1, 1):
        a[i, i + 1 : i + 3] = a[i + 1 : i + 3, i]


def taken_before(a):
    part = a[1:3, 0]
    for i in range(len(a) - 2):
        a[i, i + 1 : i + 3] = part
        part = a[i + 1 : i + 3, i]


STORES = [
    rest_of_the_row,
    rest_by_name,
    from_the_end,
    taken_before,
    row_of_column,
    row_of_named_column,
    column_of_row,
    through_a_row,
    through_the_turned,
    diagonal_of_steps,
    spread,
    updated_by_column,
    computed_of_column,
    rows_change_places,
    row_of_row,
    shifted,
    shifted_back,
    shifted_from_behind,
    turned_around,
    transposed,
]


@pytest.mark.parametrize("dtype", [float, int])
@pytest.mark.parametrize("function", STORES)
def test_stores_in_memory_that_is_read(function, dtype):
    compiled = srcjax.jit(function)
    for n in (3, 5, 8):
        for how in (lambda a: a, lambda a: a[::-1].T):
            results = []
            for each in (function, compiled):
                a = how((np.arange(n * n).reshape(n, n) ** 2).astype(dtype))
                results.append((each(a), a))
            assert repr(results[0]) == repr(results[1])


@needs_numba
@pytest.mark.parametrize(
    "function",
    [
        rest_of_the_row,
        rest_by_name,
        row_of_row,
        shifted,
        shifted_from_behind,
        turned_around,
        transposed,
    ],
)
def test_stores_that_are_compiled(function):
    a = np.ones((4, 4))
    assert "_kernel(" in srcjax.source(srcjax.jit(function), a)
