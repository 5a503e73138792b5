"""Transforms of arrays of the device, not compiled: what NumPy's arrays give."""

import itertools

import numpy as np
import pytest

import srcjax
from tests.gpu import fake_cupy
from tests.gpu.test_cuda import compare, on_host


@pytest.fixture
def cupy():
    with fake_cupy.installed() as found:
        yield found


def overwritten(x):
    y = x.copy()
    y[2] = y[0] * y[1]
    y[0] = y[2] * y[2]
    return np.sum(y * y)


def swapped(x):
    y = x.copy()
    y[0], y[1] = y[1], y[0]
    y[0] *= y[2]
    return y[0] * y[1] ** 2


def gone_through(x):
    y = x * 1.0
    first, *others = y
    kept = [first]
    for k, v in enumerate(y):
        kept.append(v)
        y[k] = v * v
    pairs = list(zip(y, y[1:], strict=False))
    y[:] = 0.0
    y += 1.0
    return sum(kept) * sum(a * b for a, b in pairs) * others[0] + np.sum(y)


def totals(x):
    running = [*itertools.accumulate(x * x)]
    x = x * 2
    x[0] = running[1]
    return x[0] * running[-1]


def updated(x):
    s = x[0]
    t = s
    s += x[1]
    x = x.copy()
    x[0] = 3.0
    return s * t * x[1]


def kept_by_a_callee(x):
    y = x.copy()
    held = held_in(y[0])
    y[0] = 5.0
    return held["v"] * np.sum(y)


def held_in(v):
    return {"v": v}


FUNCTIONS = (overwritten, swapped, gone_through, totals, updated, kept_by_a_callee)
X = np.array([0.5, -1.5, 2.0])


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("how", ["grad", "jit", "jvp", "vmap"])
def test_numbers_stay_what_they_are(cupy, f, how):
    transforms = {
        "grad": (srcjax.grad(f), [X]),
        "jit": (srcjax.jit(srcjax.grad(f)), [X]),
        "jvp": (lambda x, v: srcjax.jvp(f, (x,), (v,)), [X, np.ones(3)]),
        "vmap": (srcjax.vmap(srcjax.grad(f)), [np.stack([X, X * 1.1])]),
    }
    transformed, args = transforms[how]
    wanted = transformed(*(a.copy() for a in args))
    got = transformed(*map(cupy.asarray, args))
    compare(on_host(got), wanted)


def test_text_says_what_is_copied(cupy):
    gradient = srcjax.grad(overwritten)
    text = srcjax.source(gradient, cupy.asarray(X))
    assert "element(y[0])" in text and "from srcjax.backends.cuda.run import" in text
    assert "element" not in srcjax.source(gradient, X)


def test_nothing_is_copied_where_nothing_is_written(cupy):
    text = srcjax.source(srcjax.grad(lambda x: x[0] * np.sin(x[1])), cupy.asarray(X))
    assert "element(" not in text.replace("element(dx[", "")


def of_sizes(x):
    return np.sum(np.linspace(0, 1, len(x)) * x * np.arange(len(x)))


def test_what_is_made_is_made_on_the_device(cupy):
    gradient = srcjax.grad(of_sizes)
    compare(on_host(gradient(cupy.asarray(X))), gradient(X))
    assert type(gradient(X)) is np.ndarray


def test_versions_of_both_are_kept_apart(cupy):
    gradient = srcjax.grad(overwritten)
    for _ in range(3):
        compare(on_host(gradient(cupy.asarray(X))), gradient(X))
