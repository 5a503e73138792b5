"""Functions that give a module or an object by the types of their arguments."""

import functools
import math
import threading

import numpy as np
import pytest
from numpy import shape as shape_of

import srcjax
from srcjax.testing import check_grads

X = np.array([0.3, 0.7, -0.2])


class Backend:
    """An array namespace as an object."""

    def __init__(self):
        self.scale = 2.0

    def sum(self, x, axis=None):
        return self.scale * np.sum(x, axis)

    def exp(self, x):
        return np.exp(x)

    dot = staticmethod(np.dot)


class OtherBackend(Backend):
    pass


IMPLEMENTATIONS = [Backend, OtherBackend]
INSTANCES = {}
SETTINGS = {"current": Backend()}
NOTES = []


def instance(cls):
    if cls.__name__ not in INSTANCES:
        INSTANCES[cls.__name__] = cls()
    return INSTANCES[cls.__name__]


def get_backend(*args):
    args = [a for a in args if a is not None]
    if not args:
        raise ValueError("no array")
    for implementation in IMPLEMENTATIONS:
        kinds = {isinstance(a, np.ndarray) for a in args}
        if len(kinds) == 1 and kinds.pop():
            return instance(implementation)
    raise ValueError("several kinds of arrays")


@functools.lru_cache
def module_of(cls):
    return np if issubclass(cls, (np.ndarray, np.generic)) else math


def namespace(*xs):
    found = [module_of(type(x)) for x in xs]
    names = {m.__name__ for m in found}
    try:
        (xp,) = [m for m in found if m.__name__ in names][:1]
    except ValueError:
        raise TypeError("no array") from None
    return xp


def by_setting(x):
    return SETTINGS["current"]


def noting(x):
    NOTES.append(type(x))
    return np


def by_value(x):
    return np if x.sum() > 0.0 else math


class Manager:
    local = threading.local()
    current = Backend()

    @classmethod
    def dispatched(cls, name):
        @functools.wraps(getattr(np, name))
        def wrapped(*args, **kwargs):
            held = cls.local.__dict__.get("backend", cls.current)
            return getattr(held, name)(*args, **kwargs)

        return wrapped


sum_of, exp_of, dot_of = map(Manager.dispatched, ("sum", "exp", "dot"))


def of_objects(x):
    nx = get_backend(x)
    return nx.sum(nx.exp(x)) + nx.dot(x, x)


def of_any_number(x):
    given = []
    for v in (x, 2.0 * x):
        if len(v) > 0:
            given.append(v)
    nx = get_backend(*given)
    return nx.sum(nx.exp(given[0]))


def of_modules(x):
    xp = namespace(x, None) if False else namespace(x)
    return xp.sum(xp.exp(x))


def of_arrays(x):
    xp = x.__array_namespace__()
    return xp.sum(xp.exp(x))


def of_managers(x):
    return sum_of(exp_of(x)) + dot_of(x, x)


def of_dicts(x):
    nx = SETTINGS["current"]
    return nx.sum(nx.exp(x))


@pytest.mark.parametrize(
    "f", [of_objects, of_any_number, of_modules, of_arrays, of_managers, of_dicts]
)
def test_methods_of_what_types_tell_are_followed(f):
    check_grads(f, (X,))
    batch = np.stack([X, 2.0 * X])
    np.testing.assert_allclose(srcjax.vmap(f)(batch), [f(x) for x in batch])
    found = srcjax.vmap(srcjax.grad(f))(batch)
    np.testing.assert_allclose(found, [srcjax.grad(f)(x) for x in batch])
    np.testing.assert_allclose(srcjax.jit(f)(X), f(X))


def test_modules_of_numbers_stay_those_of_one_example():
    def f(x):
        xp = module_of(type(x))
        return xp.exp(x)

    np.testing.assert_allclose(srcjax.grad(f)(0.3), math.exp(0.3))
    batch = np.array([0.3, 0.7])
    np.testing.assert_allclose(srcjax.vmap(f)(batch), np.exp(batch))


def test_what_decides_beside_types_is_looked_at_again(monkeypatch):
    def f(x):
        nx = by_setting(x)
        return nx.sum(x)

    df = srcjax.grad(f)
    np.testing.assert_allclose(df(X), [2.0] * 3)
    other = Backend()
    other.scale = 5.0
    monkeypatch.setitem(SETTINGS, "current", other)
    np.testing.assert_allclose(df(X), [5.0] * 3)
    np.testing.assert_allclose(srcjax.grad(of_dicts)(X), 5.0 * np.exp(X))


def test_functions_with_effects_are_not_run_for_their_types():
    def f(x):
        xp = noting(x)
        return xp.sum(x**2)

    NOTES.clear()
    text = srcjax.source(srcjax.grad(f), X)
    assert NOTES == []
    assert "noting" in text or "append" in text


def test_functions_that_look_at_values_are_not_decided():
    def f(x):
        xp = by_value(x)
        return xp.exp(x.sum())

    for x in (X, -X):
        try:
            found = srcjax.grad(f)(x)
        except srcjax.errors.SrcjaxError:
            continue
        np.testing.assert_allclose(found, np.full(3, np.exp(x.sum())))


def test_methods_of_unknown_objects_are_not_those_of_arrays():
    def pick(*args):
        for implementation in IMPLEMENTATIONS:
            NOTES.append(implementation)
            if all(isinstance(a, np.ndarray) for a in args):
                return instance(implementation)
        raise ValueError

    def f(x):
        nx = pick(x)
        return nx.sum(nx.exp(x))

    check_grads(f, (X,), order=1)


def shapes_by_a_name(x):
    f = np.shape
    a, b = f(x)
    return x.sum() * b * np.ones(b).sum()


def shapes_by_an_alias(x):
    return x.sum() * np.ones(shape_of(x)[1]).sum()


def shapes_in_a_list(x):
    fs = [np.size, len]
    total = 0.0
    for f in fs:
        total = total + np.ones(f(x)).sum()
    return x.sum() * total


def shapes_in_a_sum(x):
    return sum(np.ones(f(x)).sum() * x.sum() for f in (len, np.size))


def shapes_by_a_default(x, f=np.shape):
    return x.sum() * np.ones(f(x)[0]).sum()


@pytest.mark.parametrize(
    "f",
    [
        shapes_by_a_name,
        shapes_by_an_alias,
        shapes_in_a_list,
        shapes_in_a_sum,
        shapes_by_a_default,
    ],
)
def test_shapes_are_those_of_an_example_whatever_they_are_asked_by(f):
    batch = np.arange(18.0).reshape(3, 2, 3)
    np.testing.assert_allclose(srcjax.vmap(f)(batch), [f(x) for x in batch])


def by_method(x, method="Spencer"):
    method = method.lower()
    if method == "asce":
        return np.sum(x * x)
    if method.removesuffix("er").startswith(("spen", "other")):
        return np.sum(np.sin(x))
    raise ValueError(method.upper())


def test_how_a_known_string_is_spelled_is_known():
    text = srcjax.source(srcjax.grad(by_method), X)
    assert "if method" not in text
    assert "return np.cos(x)" in text
    check_grads(by_method, (X,))
    check_grads(lambda x: by_method(x, "ASCE"), (X,))
