"""Functions that each trip of a loop makes, kept for later."""

import functools
from contextlib import nullcontext

import numpy as np
import pytest

import srcjax
from srcjax.errors import SrcjaxError

X = np.array([0.5, 1.2, 0.8])


def with_its_own_default(x):
    functions = []
    for k in range(3):
        functions.append(lambda v, k=k: v * x[k] + 1)
    y = x
    for f in functions:
        y = f(y)
    return np.sum(y)


def with_the_last_value(x):
    functions = []
    for k in range(3):
        functions.append(lambda v: v * x[k] + k)  # noqa: B023  (as people find out)
    return sum(f(x[0]) * f(x[1]) for f in functions)


def with_values_of_the_trip(x):
    functions = []
    for k in range(3):
        c = x[k] ** 2

        def g(v, c=c, *, d=x[k]):
            return np.sin(v * c) + d

        functions.append(g)
    return functions[0](x[2]) * functions[2](x[0])


def with_a_value_that_goes_on(x):
    functions = []
    c = x[0]
    for k in range(3):
        c = c * x[k]
        functions.append(lambda v, c=c: v * c)
    return sum(f(x[1]) * c for f in functions)


def by_a_function_that_makes_them(x):
    def make(k):
        c = x[k]

        def g(v):
            return np.sin(v * c)

        return g

    functions = [make(k) for k in range(3)]
    return functions[0](x[1]) * functions[1](x[2]) * functions[2](x[0])


def in_a_dict(x):
    functions = {}
    for k in range(3):
        functions[k] = lambda v, k=k: v * x[k]
    return functions[0](x[1]) + functions[2](x[0])


def in_records(x):
    constraints = []
    for i in range(2):
        constraints.append({"kind": "eq", "fun": lambda z, i=i: z[i] - z[i + 1] ** 2})
    return sum(c["fun"](x) ** 2 for c in constraints)


def composed(x):
    f = lambda v: v  # noqa: E731
    for k in range(3):
        f = (lambda g, k: lambda v: g(v) * x[k] + 1)(f, k)  # noqa: B023
    return f(x[0])


def in_two_loops(x):
    functions = []
    for i in range(2):
        for j in range(2):
            functions.append(lambda v, i=i, j=j: v * x[i] + x[j + 1] * i)
    return functions[1](x[0]) * functions[2](x[1])


def called_after_the_last_trip(x):
    for k in range(3):

        def g(v, k=k):
            return v * x[k] ** 2

    return g(x[0])


@pytest.mark.parametrize(
    "f",
    [
        with_its_own_default,
        with_the_last_value,
        with_values_of_the_trip,
        with_a_value_that_goes_on,
        by_a_function_that_makes_them,
        in_a_dict,
        in_records,
        composed,
        in_two_loops,
        called_after_the_last_trip,
    ],
)
def test_all_modes(f):
    srcjax.testing.check_grads(f, (X,), order=2)
    batch = np.stack([X, 2 * X])
    expected = [srcjax.grad(f)(X), srcjax.grad(f)(2 * X)]
    loops = pytest.warns(srcjax.errors.PerformanceWarning, match="in a loop")
    with loops if f is in_records else nullcontext():
        found = srcjax.vmap(f)(batch)
        gradients = srcjax.vmap(srcjax.grad(f))(batch)
    np.testing.assert_allclose(found, [f(X), f(2 * X)])
    np.testing.assert_allclose(gradients, expected)
    np.testing.assert_allclose(srcjax.jit(f)(X), f(X))


def counted(x):
    functions = []
    for k in range(3):
        total = x[k]

        def add(v):
            nonlocal total
            total = total + v
            return total

        functions.append(add)
    return functions[0](x[1]) * functions[1](x[2]) + functions[0](x[0])


def of_many(x):
    functions = [functools.partial(lambda v, k: v * x[k % 3], k=k) for k in range(50)]
    y = x[0]
    for f in functions:
        y = f(y) + 1
    return y


def named_later(x):
    functions = []
    for k in range(3):

        def g(v, k=k):
            return v * x[k] ** 2

        functions.append(g)
    return g(x[0]) * functions[0](x[1])


@pytest.mark.parametrize("f", [counted, of_many, named_later])
def test_right_or_refused(f):
    try:
        found = srcjax.grad(f)(X)
    except SrcjaxError:
        return
    step = 1e-6 * np.eye(3)
    expected = [(f(X + h) - f(X - h)) / 2e-6 for h in step]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
