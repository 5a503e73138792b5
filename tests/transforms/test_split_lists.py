"""Lists of containers in what is put in place of calls, and what they are read for."""

import numpy as np
import pytest

import srcjax
from tests.corpus.harness import assert_close, differences


def paired(x):
    pairs = []
    for i in range(3):
        pairs.append((x * (i + 1), x**2))  # noqa: PERF401
    total = 0.0
    for j in range(len(pairs)):
        first, second = pairs[j]
        total = total + first * np.sin(second)
    return total


def changed_after(x):
    held = []
    for i in range(2):
        d = {"a": x * (i + 1)}
        held.append(d)
        d["a"] = 2 * x * x
    return held[0]["a"] + held[1]["a"]


def changed_inside(x):
    held = []
    for i in range(3):
        held.append({"a": x * (i + 1), "b": x**2})  # noqa: PERF401
    for j in range(3):
        d = held[j]
        d["a"] = d["a"] * x
    return held[0]["a"] + held[2]["a"] * held[1]["b"]


def a_part(x, where=slice(1, 3)):
    pairs = []
    for i in range(3):
        pairs.append((x * (i + 1), x**2))  # noqa: PERF401
    rest = pairs[where]
    return 3 * rest[0][1] + rest[1][0]


def left_and_taken(x):
    pairs = []
    for i in range(3):
        pairs.append((x * (i + 1), x**2))  # noqa: PERF401
    pairs.pop(0)
    pairs[0] = (x, x)
    return sum(p[0] for p in pairs)


FUNCTIONS = [paired, changed_after, changed_inside, a_part, left_and_taken]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_derivatives(f):
    def called(x):
        return f(x) + 0.0

    expected = differences(called, (0.7,), (0,))[0]
    assert_close(srcjax.jvp(called, (0.7,), (1.0,))[1], expected, rtol=1e-6)
    assert_close(srcjax.jit(called)(0.7), f(0.7))
    try:
        found = srcjax.grad(called)(0.7)
    except srcjax.errors.UnsupportedError:
        assert f is changed_after  # a dict that a list holds is written to
        return
    assert_close(found, expected, rtol=1e-6)
    rows = srcjax.vmap(srcjax.grad(called))(np.array([0.7, 0.3]))
    assert_close(rows[0], expected, rtol=1e-6)
