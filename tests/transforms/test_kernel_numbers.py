"""Numbers from around a function are arguments of its kernels."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from srcjax import explain, grad, jit, vmap

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
