"""Kernels of one loop, shared by threads."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from srcjax.backends import threads
from srcjax.backends.kernel_threads import split
from srcjax.backends.kernels import Kernel

RNG = np.random.default_rng(8)


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(threads, "STEP", 8)
    yield
    srcjax.config.threads = None


def kernel_of(compiled, *args):
    module = compiled.__srcjax_transform__.module_for(args, {}).load()
    (found,) = (v for v in vars(module).values() if isinstance(v, Kernel))
    return found


def mean_of_logistic(w, x, y):
    return np.mean(np.log(1 + np.exp(-(y * (x * w)))))


def two(w, x, y):
    e = np.exp(-(w**2))
    return np.where(x > y, e, w) / (1 + e), (e > 0.5) & (x > 0)


@pytest.mark.parametrize("f", [srcjax.grad(mean_of_logistic), two])
def test_the_numbers_are_the_same(f, short, monkeypatch):
    pytest.importorskip("numba")
    called = []
    run = threads.Parts.run
    monkeypatch.setattr(
        threads.Parts, "run", lambda self: (called.append(1), run(self))
    )
    for dtype in (np.float64, np.float32):
        args = RNG.normal(size=(3, 1001)).astype(dtype)
        found = []
        for count in (1, 2, 5):
            srcjax.config.threads = count
            found.append(srcjax.jit(f)(*args))
            assert bool(called) == (count > 1)
        called.clear()
        for other in found[1:]:
            np.testing.assert_array_equal(np.asarray(other), np.asarray(found[0]))
        assert type(found[1]) is type(f(*args))
        short_ones = args[:, :50]
        np.testing.assert_allclose(
            srcjax.jit(f)(*short_ones), f(*short_ones), rtol=1e-5
        )
        called.clear()


def test_what_leaves_a_kernel_is_left_in_threads(short):
    pytest.importorskip("numba")
    srcjax.config.threads = 3
    compiled = srcjax.jit(lambda x, n: np.exp(x * 2) / (1 / n) + 1)
    x = RNG.normal(size=1000)
    np.testing.assert_allclose(compiled(x, 2), np.exp(x * 2) / (1 / 2) + 1)
    with pytest.raises(ZeroDivisionError):
        compiled(x, 0)


HEAD = "def f_kernel(x, y):\n"
APART = """    s = 2.0 * y
    z = np.empty(len(x))
    for i in range(len(x)):
        x_i = x[i]
        z[i] = x_i * s
    return z
"""


def test_loops_that_are_apart():
    found = split("@kernel\n" + HEAD + APART)
    assert found is not None and not found.many
    assert found.text == (
        "def f_kernel_part(first, last, step, x, y, z):\n"
        "    s = 2.0 * y\n"
        "    for i in range(first, last):\n"
        "        x_i = x[i]\n"
        "        z[i] = x_i * s"
    )
    (z,) = found.made(np.ones(5), 1.0)
    assert z.shape == (5,)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        z[i] = x_i * s", "        z[i] = x_i * s\n        x[i] = 1.0"),
        ("        z[i] = x_i * s", "        z[i - 1] = x_i * s"),
        ("        z[i] = x_i * s", "        z[i] = z[i - 1] * s"),
        ("        z[i] = x_i * s", "        z[i] = z.sum()"),
        ("        z[i] = x_i * s", "        z[i] = y.pop()"),
        ("        z[i] = x_i * s", "        s = s + x_i\n        z[i] = s"),
        ("        z[i] = x_i * s", "        s = added(s, x_i)"),
        ("        z[i] = x_i * s", "        z[i] = x_i\n        i = i + 1"),
        ("        z[i] = x_i * s", "        if x_i > 0:\n            z[i] = x_i"),
        ("    return z", "    return z, s"),
        ("    return z", "    z[0] = 1.0\n    return z"),
        ("    return z", "    return x"),
        ("    s = 2.0 * y", "    x[0] = y\n    s = 2.0"),
        ("np.empty(len(x))", "np.empty(s)"),
        ("np.empty(len(x))", "np.zeros(len(x))"),
        ("range(len(x))", "range(1, len(x))"),
        ("range(len(x))", "range(len(z))"),
    ],
)
def test_loops_that_are_not(old, new):
    assert old in APART
    assert split(HEAD + APART.replace(old, new)) is None
