"""Objects of libraries that stand for a function in Python."""

import functools

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

numba = pytest.importorskip("numba")


@numba.njit
def damped(x, k):
    if x > 0:
        return np.sin(k * x) * x
    return k * x


@numba.njit
def filled(x, n):
    out = np.zeros(n)
    for i in range(n):
        out[i] = damped(x[i % x.size], float(i))
    return out


def of_a_number(x):
    return damped(x, 3.0) + x


def of_an_array(x):
    return np.sum(filled(x, 5) ** 2)


@functools.lru_cache
def squared(x):
    return damped(x, 2.0) ** 2


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
@pytest.mark.parametrize(
    ("f", "x"),
    [(of_a_number, 0.7), (of_a_number, -0.7), (of_an_array, np.array([0.4, -0.3]))],
)
def test_what_numba_compiles_is_differentiated(f, x):
    check_grads(f, (x,), order=2, modes=("rev", "fwd"))
    batch = np.stack([x, x * 1.1])
    gradient = srcjax.grad(f)
    expected = [gradient(row) for row in batch]
    np.testing.assert_allclose(srcjax.vmap(gradient)(batch), expected)
    np.testing.assert_allclose(srcjax.jit(gradient)(x), expected[0])


def test_one_wrapper_in_another():
    check_grads(lambda x: squared(x) * x, (0.7,), order=2, modes=("rev", "fwd"))


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
def test_what_only_runs_stays_compiled():
    text = srcjax.source(srcjax.vmap(of_a_number), np.ones(2))
    assert "damped(" in text
    np.testing.assert_allclose(
        srcjax.vmap(of_a_number)(np.array([0.7, -0.7])),
        [of_a_number(0.7), of_a_number(-0.7)],
    )


@numba.njit
def same(x):
    return x


@numba.njit
def first_and_double(x):
    return x[0], x * 2


def writes_to_what_it_got(x):
    y = x * 1
    same(y)[0] = 0.0
    return y.sum() + x


def of_two_results(x):
    a, b = first_and_double(x)
    return a * b


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
@pytest.mark.parametrize("f", [writes_to_what_it_got, of_two_results])
def test_what_stays_compiled_is_known(f):
    x = np.array([[0.4, -0.3], [1.5, 0.2]])
    np.testing.assert_allclose(srcjax.vmap(f)(x), [f(row) for row in x])
