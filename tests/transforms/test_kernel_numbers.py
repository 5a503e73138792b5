"""Numbers from around a function are arguments of its kernels."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from srcjax import explain, grad, jit, vmap
from tests.plain_kernels import kernels_as_python

pytest.importorskip("numba")

gravity = 9.81
count = 3
step = np.float64(0.1)
half = np.float32(0.5)
factors = np.array([1.0, 2.0, 3.0])


def fall(x):
    v = np.sin(x) * gravity + step
    for i in range(count):
        v = v * 0.5 + factors[i] * x**2
    return np.sum(v * gravity)


def halvings(x):
    t = x
    while t > 1.0 / gravity:
        t = t * step
    return t * count


def bell(x):
    return np.exp(-gravity * x**2) * count + half


x = np.linspace(0.1, 1.0, 5)


@pytest.mark.parametrize(
    ("compiled", "plain", "at"),
    [
        (jit(fall), fall, x),
        (jit(grad(fall)), grad(fall), x),
        (jit(halvings), halvings, 0.9),
        (jit(vmap(halvings)), vmap(halvings), x),
        (jit(vmap(grad(halvings))), vmap(grad(halvings)), x),
        (jit(bell), bell, x),
        (jit(bell), bell, x.astype(np.float32)),
    ],
)
def test_numbers_from_around(compiled, plain, at, monkeypatch):
    here = sys.modules[__name__]
    for name, value in (("gravity", 9.81), ("gravity", 2.0), ("count", 2)):
        monkeypatch.setattr(here, name, value)
        found, expected = compiled(at), plain(at)
        assert type(found) is type(expected)
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        if isinstance(found, np.ndarray):
            assert found.dtype == expected.dtype
    kernels = [s for s in explain(compiled, at).splitlines() if s.endswith("compiled")]
    assert any("gravity" in s for s in kernels)


def wide(n, m):
    s = n * n * 3 - m
    for k in range(n, n + 2):
        s += k * k
    return s, n + 1, n << 3, 5 << m, n >> m, s % 7


@pytest.mark.parametrize("m", [3, 64])
@pytest.mark.parametrize("n", [3, 2**31, 2**40, 2**62, 2**63 + 1, -(2**63) - 1, 2**400])
def test_ints_of_python_are_of_any_size(n, m):
    found = jitted_wide(n, m)
    assert found == wide(n, m)
    assert all(type(part) is int for part in found)


jitted_wide = jit(wide)


def test_shifts_of_no_bits():
    with pytest.raises(ValueError, match="negative shift count"):
        jitted_wide(3, -1)


def shifted(x, n):
    return x << n, x >> n, 1 << x


@pytest.mark.parametrize("n", [0, 3, 64, 99, -1])
def test_shifts_of_arrays(n):
    x = np.array([-5, 0, 3, 70])
    for found, expected in zip(jitted_shifted(x, n), shifted(x, n), strict=True):
        np.testing.assert_array_equal(found, expected)


jitted_shifted = jit(shifted)


smallest = np.array([-(2**63), 7])
halves = np.array([-np.inf, -0.0, 2.0])
singles = np.array([0.1, 0.7], np.float32)


def edges(n, x, zeros, p):
    roots = x**p, np.power(x[0], p), x[1] ** p
    return n // (n[1] - 8), *roots, np.maximum(zeros, 0.0), np.sign(zeros), x[0] ** 0.5


def in_double(x):
    wide = np.exp(x.astype(float)), np.float_power(x, x), np.log(float(x[0]))
    return *wide, math.sin(x[0]), np.exp(np.arange(2).astype(float))


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (edges, (smallest, halves, np.array([-0.0, 0.0]), 0.5)),
        (in_double, (singles,)),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numbers_at_the_edges_are_numpys(f, args):
    with np.errstate(all="ignore"):
        pairs = zip(jit(f)(*args), f(*args), strict=True)
    for found, wanted in pairs:
        assert np.result_type(found) == np.result_type(wanted)
        np.testing.assert_allclose(found, wanted, rtol=1e-15)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


def taylor(x, n):
    return np.sum(x) ** n / math.factorial(n)


def test_a_function_of_any_number_of_arguments_stays_python():
    x = np.array([0.5, 1.5])
    np.testing.assert_allclose(jit(taylor)(x, 3), taylor(x, 3))


def test_an_axis_of_a_number_is_left_to_numpy():
    def f(x, s):
        return np.sum(np.expand_dims(s, 0)) + x[0]

    x = np.array([0.3, 0.7])
    with kernels_as_python():
        assert jit(f)(x, 0.6) == f(x, 0.6)
