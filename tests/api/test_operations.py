"""Transforms of functions of NumPy, SciPy and Python themselves."""

from __future__ import annotations

import functools
import math
import operator

import numpy as np
import pytest
import scipy.special

import srcjax
from srcjax import grad, hessian, jacrev, jit, value_and_grad, vmap
from srcjax.errors import SourceNotFoundError

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 3

partial = functools.partial
matrices = np.arange(12.0).reshape(3, 2, 2) % 5 + np.eye(2)
rows = matrices[:, 0]


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (np.tanh, (rows,)),
        (np.dot, (rows, rows)),
        (np.outer, (rows, rows)),
        (np.linalg.inv, (matrices,)),
        (np.linalg.solve, (matrices, rows)),
        (np.maximum, (rows, -rows)),
        (np.where, (rows > 1, rows, -rows)),
        (operator.mul, (rows, rows)),
        (scipy.special.gammaln, (rows + 1,)),
        (partial(np.sum, axis=0), (matrices,)),
        (partial(np.einsum, "ij,j->i"), (matrices, rows)),
        (partial(np.dot, np.arange(2.0)), (rows,)),
        (lambda *both: np.dot(*both), (rows, rows)),
        (partial(lambda how, *both: np.einsum(how, *both), "i,i"), (rows, rows)),
    ],
)
def test_vmap(f, args):
    expected = np.stack([f(*example) for example in zip(*args, strict=True)])
    np.testing.assert_allclose(vmap(f)(*args), expected, rtol=1e-12)
    np.testing.assert_allclose(jit(vmap(f))(*args), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (np.sin, (0.5,)),
        (math.sin, (0.5,)),
        (math.hypot, (3.0, 4.0)),
        (math.log, (3.0,)),
        (max, (1.0, 2.0)),
        (operator.pow, (2.0, 3.0)),
        (np.sum, (rows,)),
        (np.linalg.det, (matrices[0],)),
        (partial(np.mean, axis=None), (rows,)),
        (partial(operator.truediv, 3.0), (2.0,)),
        (scipy.special.erf, (0.5,)),
    ],
)
def test_grad(f, args):
    x = np.asarray(args[0], dtype=float)
    found = grad(f)(*args)
    assert np.shape(found) == x.shape
    step = 1e-6
    for place in np.ndindex(x.shape):
        d = np.zeros(x.shape)
        d[place] = step
        ends = [
            f(type(args[0])(a) if not x.shape else a, *args[1:])  # fmt: skip
            for a in (x + d, x - d)
        ]
        difference = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(
            np.asarray(found)[place], difference, rtol=1e-6, atol=1e-8
        )
    value, again = value_and_grad(f)(*args)
    np.testing.assert_allclose(value, f(*args))
    np.testing.assert_allclose(again, found)


def test_jacobians():
    np.testing.assert_array_equal(jacrev(np.cumsum)(rows[0]), np.tri(2))
    assert hessian(np.linalg.det)(matrices[0]).shape == (2, 2, 2, 2)


def test_text_has_the_names_of_the_function():
    text = srcjax.source(grad(np.dot), rows[0], rows[1])
    assert "def grad_dot(a, b):" in text
    assert "*given" not in text


def test_what_has_no_rule_has_no_source():
    with pytest.raises(SourceNotFoundError, match="lambda x:"):
        vmap("a".join)(["b"])


def made(text):
    """What a text without a file defines."""
    space = {}
    exec(text, space)
    return space


def test_jit_runs_what_has_no_source():
    space = made(
        "def f(x, n=2, *, k=1):\n    x[0] = 5\n    return x * n * k\n"
        "def called(args):\n    return args + 1\n"
        "class C:\n    def __call__(self, x):\n        return -x\n"
    )
    f, x = jit(space["f"]), np.ones(3)
    np.testing.assert_array_equal(f(x, 3, k=2), [30, 6, 6])
    np.testing.assert_array_equal(x, [5, 1, 1])
    with pytest.raises(TypeError, match="missing"):
        f()
    assert jit(space["called"])(1) == 2
    assert jit(space["C"]())(2) == -2
    assert jit(sorted)([3, 1], reverse=True) == [3, 1]
    assert jit(dict)(a=1) == {"a": 1}
    assert "runs as it is" in srcjax.explain(jit(sorted), [2, 1])


def test_jit_of_generators():
    @jit
    def count(n):
        yield from range(n)

    assert list(count(3)) == [0, 1, 2]
    assert list(count(2)) == [0, 1]
