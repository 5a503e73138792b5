"""Code and defaults that are assigned to, as what reloads an edited module does."""

from __future__ import annotations

import functools
import types

import numpy as np
import pytest

from srcjax import grad, jit, vmap
from srcjax.errors import ArgumentError

at = np.array([2.0, 3.0])


def first(x, n=2):
    return x**n


def edited(x, n=2):
    return 5.0 * x**n


def more(x, n=2, k=1.0):
    return k * x**n


def doubled(x):
    return 2.0 * x


def tripled(x):
    return 3.0 * x


def fresh(function):
    """The same as another object, which a test may change."""
    return types.FunctionType(
        function.__code__,
        dict(globals()),
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )


@pytest.mark.parametrize("calls", [1, 3])
def test_a_function_whose_code_is_another_one(calls):
    f = fresh(first)
    known = {
        "grad": (grad(f), 2.0, 4.0),
        "jit": (jit(f), 2.0, 4.0),
        "jit of grad": (jit(grad(f)), 2.0, 4.0),
        "grad of grad": (grad(grad(f)), 2.0, 2.0),
        "vmap": (vmap(f), at, at**2),
        "vmap of grad": (vmap(grad(f)), at, 2 * at),
    }
    for df, x, expected in known.values():
        for _ in range(calls):
            np.testing.assert_allclose(df(x), expected)
    f.__code__ = edited.__code__
    for df, x, expected in known.values():
        for _ in range(calls):
            np.testing.assert_allclose(df(x), 5 * expected)


@pytest.mark.parametrize("calls", [1, 3])
def test_a_function_that_is_called_whose_code_is_another_one(calls):
    helper = fresh(doubled)

    def square(x):
        return helper(x) * x

    known = [(grad(square), 2.0, 8.0), (jit(square), 2.0, 8.0)]
    known.append((vmap(square), at, 2 * at**2))
    for df, x, expected in known:
        for _ in range(calls):
            np.testing.assert_allclose(df(x), expected)
    helper.__code__ = tripled.__code__
    for df, x, expected in known:
        for _ in range(calls):
            np.testing.assert_allclose(df(x), 1.5 * expected)


@pytest.mark.parametrize("calls", [1, 3])
def test_defaults_of_a_function_that_is_called(calls):
    helper = fresh(first)

    def power(x):
        return helper(x)

    df = grad(power)
    for n in (2, 3, 2):
        helper.__defaults__ = (n,)
        for _ in range(calls):
            np.testing.assert_allclose(df(2.0), n * 2.0 ** (n - 1))


@pytest.mark.parametrize("transform", [grad, jit, lambda f: vmap(grad(f))])
@pytest.mark.parametrize("change", ["defaults", "parameters"])
def test_other_parameters_or_defaults_are_refused(transform, change):
    f = fresh(first)
    df = transform(f)
    x = at if transform not in (grad, jit) else 2.0
    for _ in range(3):
        df(x)
    if change == "parameters":
        f.__code__ = more.__code__
        f.__defaults__ = more.__defaults__
    else:
        f.__defaults__ = (3,)
    for _ in range(2):
        with pytest.raises(ArgumentError, match="others than when"):
            df(x)
    transform(f)(x)


def test_equal_defaults_are_no_change():
    f = fresh(first)
    df = grad(f)
    for _ in range(3):
        assert df(2.0) == 4.0
    f.__code__, f.__defaults__ = edited.__code__, tuple([2])
    for _ in range(3):
        assert df(2.0) == 20.0


def test_keywords_with_defaults():
    def power(x, *, n=2):
        return x**n

    df = grad(power)
    for _ in range(2):
        assert df(2.0) == 4.0
    power.__kwdefaults__["n"] = 3
    with pytest.raises(ArgumentError, match="others than when"):
        df(2.0)
    assert grad(power)(2.0) == 12.0


def weighted(w, x):
    return np.sum(w * w * x)


def spread(w, *xs):
    return np.sum(w * w * sum(xs))


def test_what_is_bound_to_a_method_is_no_parameter_of_its_function():
    w, x = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    for _ in range(2):
        bound = types.MethodType(weighted, w)
        np.testing.assert_allclose(grad(bound)(x), w * w)
        np.testing.assert_allclose(grad(weighted)(w, x), 2 * w * x)
        given = functools.partial(weighted, w)
        np.testing.assert_allclose(grad(given)(x), w * w)
        np.testing.assert_allclose(grad(weighted)(w, x), 2 * w * x)
        named = functools.partial(weighted, x=x)
        np.testing.assert_allclose(grad(named)(w), 2 * w * x)
        many = types.MethodType(spread, w)
        np.testing.assert_allclose(grad(many)(x, x), w * w)
        np.testing.assert_allclose(grad(spread)(w, x, x), 4 * w * x)
