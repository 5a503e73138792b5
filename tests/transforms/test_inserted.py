"""Items that are inserted into lists: from the end, and past the ends."""

import numpy as np
import pytest

import srcjax
from tests.corpus.harness import assert_close, differences


def inserted(x, k):
    ys = [x, x**2, x**3]
    ys.insert(k, np.sin(x))
    return sum((i + 1) * y for i, y in enumerate(ys))


def into_one_of_unknown_length(x, k):
    ys = []
    for i in range(3):
        ys.append(x ** (i + 1))  # noqa: PERF401
    ys.insert(k, np.sin(x))
    return sum((i + 1) * y for i, y in enumerate(ys))


def in_a_loop(x, k):
    ys = [x, x**2]
    for j in range(3):
        ys.insert(k, x * ys[0] + j)
        ys[0] = ys[0] * ys[-1]
    return sum((i + 1) * y for i, y in enumerate(ys))


def put_back(x, k):
    ys = [x, x**2, x**3]
    y = ys.pop(k)
    ys.insert(k, y * ys[0])
    return sum((i + 1) * y for i, y in enumerate(ys))


def from_the_end(x):
    ys = [x**2 for i in range(3)]
    ys.insert(-1, np.sin(x))
    ys.insert(-9, np.cos(x))
    ys.insert(9, np.exp(x))
    return sum((i + 1) * y for i, y in enumerate(ys))


PLACES = [0, 1, 2, -1, -2, 7, -7]
CASES = [(from_the_end, ())]
CASES += [
    (f, (k,)) for f in (inserted, into_one_of_unknown_length, in_a_loop) for k in PLACES
]
CASES += [(put_back, (k,)) for k in (0, 1, 2, -1, -2, -3)]


@pytest.mark.parametrize(("f", "args"), CASES)
def test_derivatives(f, args):
    expected = differences(f, (0.7, *args), (0,))[0]
    assert_close(srcjax.grad(f)(0.7, *args), expected, rtol=1e-6)
    assert_close(srcjax.jit(srcjax.grad(f))(0.7, *args), expected, rtol=1e-6)
    second = differences(srcjax.grad(f), (0.7, *args), (0,))[0]
    assert_close(srcjax.grad(srcjax.grad(f))(0.7, *args), second, rtol=1e-6)
    assert_close(srcjax.hessian(f)(0.7, *args), second, rtol=1e-6)
