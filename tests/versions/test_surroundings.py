"""What a function finds around it may change between calls, in every composition."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcjax
from srcjax import grad, jit, jvp, vjp, vmap

#: The second stage runs all of them.
SAMPLE = {"test_values_around_change": 10}

scale = 3.0
count = 2
matrix = np.array([[1.0, 2.0], [3.0, 5.0]])
weights = [1.0, 2.0]
bend = np.square

AROUND = ("scale", "count", "matrix", "weights", "bend")


def helper(x):
    return scale * (matrix @ x) ** count


def function(x):
    y = helper(x) + bend(x)
    for w in weights:
        y = y + w * x
    return np.sum(y * scale)


def told(x, scale, count, matrix, weights, bend):
    """The same, of arguments."""
    y = scale * (matrix @ x) ** count + bend(x)
    for w in weights:
        y = y + w * x
    return np.sum(y * scale)


CHANGES = [
    ("scale", 7.0),
    ("matrix", np.array([[2.0, 1.0], [1.0, 0.0]])),
    ("count", 3),
    ("weights", [0.5, 4.0]),
    ("weights", (1.0, 2.0, 3.0)),
    ("bend", np.exp),
]

at, along = np.array([0.5, 0.75]), np.array([1.0, -2.0])
batch = np.array([[0.5, 0.75], [1.0, 0.25], [2.0, 1.5]])

#: What a call of a transform of a function gives.
Made = Callable[[Callable], Callable[[], Any]]


def of(transform: Callable, *args: Any) -> Made:
    """Calls of what a transform gives, with these arguments."""

    def made(f: Callable) -> Callable[[], Any]:
        g = transform(f)
        return lambda: g(*args)

    return made


COMPOSITIONS: dict[str, Made] = {
    "grad": of(grad, at),
    "value_and_grad": of(srcjax.value_and_grad, at),
    "jvp": of(lambda f: lambda x: jvp(f, (x,), (along,)), at),
    "vjp": of(lambda f: lambda x: vjp(f, x)[1](1.0), at),
    "vjp of calls": of(lambda f: (lambda g: lambda x: g(x)[1](1.0))(vjp(f)), at),
    "vmap": of(vmap, batch),
    "jit": of(jit, at),
    "linearize": of(lambda f: lambda x: srcjax.linearize(f, x)[1](along), at),
    "vectorize": of(lambda f: srcjax.vectorize(f, signature="(n)->()"), batch),
    "jvp of grad": of(lambda f: lambda x: jvp(grad(f), (x,), (along,)), at),
    "grad of jvp": of(lambda f: grad(lambda x: jvp(f, (x,), (along,))[1]), at),
    "grad of grad": of(lambda f: grad(lambda x: np.sum(grad(f)(x) ** 2)), at),
    "hessian": of(srcjax.hessian, at),
    "hvp": of(lambda f: lambda x: srcjax.hvp(f, (x,), (along,)), at),
    "jacfwd of grad": of(lambda f: srcjax.jacfwd(grad(f)), at),
    "jacrev of grad": of(lambda f: srcjax.jacrev(grad(f)), at),
    "vmap of grad": of(lambda f: vmap(grad(f)), batch),
    "vmap of vmap": of(lambda f: vmap(vmap(f)), batch[None]),
    "vmap of jvp": of(lambda f: vmap(lambda x: jvp(f, (x,), (along,))[1]), batch),
    "vmap of hessian": of(lambda f: vmap(srcjax.hessian(f)), batch),
    "vmap of jacrev": of(lambda f: vmap(srcjax.jacrev(lambda x: f(x) * x)), batch),
    "grad of vmap": of(lambda f: grad(lambda b: np.sum(vmap(f)(b))), batch),
    "jacfwd of vmap": of(lambda f: srcjax.jacfwd(vmap(f)), batch),
    "jit of grad": of(lambda f: jit(grad(f)), at),
    "grad of jit": of(lambda f: grad(jit(f)), at),
    "jit of vmap": of(lambda f: jit(vmap(f)), batch),
    "jit of vmap of grad": of(lambda f: jit(vmap(grad(f))), batch),
    "third order": of(lambda f: grad(grad(grad(lambda s: f(s * at)))), 0.75),
}


def answer(made: Made) -> Any:
    """What the same gives of a function that is given the values there are now."""
    values = {name: globals()[name] for name in AROUND}
    return made(lambda x: told(x, **values))()


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_values_around_change(name, monkeypatch):
    made = COMPOSITIONS[name]
    call = made(function)
    here = sys.modules[__name__]
    check(call(), answer(made))
    for around, value in CHANGES:
        monkeypatch.setattr(here, around, value)
        expected = answer(made)
        check(call(), expected)
        check(call(), expected)
    monkeypatch.undo()
    check(call(), answer(made))


def check(found: Any, expected: Any) -> None:
    if isinstance(expected, (tuple, list)):
        assert type(found) is type(expected) and len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            check(a, b)
        return
    assert type(found) is type(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


# --- functions that are made anew in each call ---


def texts_written(monkeypatch) -> list[str]:
    """The transforms that write a text from here on."""
    from srcjax.versions.callables import Transform

    written: list[str] = []
    built = Transform.built

    def noted(self, *args):
        written.append(self.name)
        return built(self, *args)

    monkeypatch.setattr(Transform, "built", noted)
    return written


def fit(points, steps, rate, transform):
    centre = np.zeros(2)
    for k in range(steps):
        shift = rate * k

        def far(c):
            return np.sum((points - c) ** 2) + shift * np.sum(c**4)  # noqa: B023

        centre = centre - 0.01 * transform(lambda c: far(c) * rate)(centre)
    return centre


@pytest.mark.parametrize(
    "transform", [grad, lambda f: jit(grad(f))], ids=["grad", "jit of grad"]
)
def test_function_made_anew_needs_no_new_text(transform, monkeypatch):
    first, other = batch[:, :2], np.array([[0.1, 4.0], [2.0, 3.0], [0.3, 0.6]])
    expected = []
    for points in (first, other, first + 1.0):
        centre = np.zeros(2)
        for k in range(4):
            slope = 2 * np.sum(centre - points, axis=0) + 4 * 0.5 * k * centre**3
            centre = centre - 0.01 * 0.5 * slope
        expected.append(centre)
    check(fit(first, 4, 0.5, transform), expected[0])
    written = texts_written(monkeypatch)
    check(fit(other, 4, 0.5, transform), expected[1])
    check(fit(first + 1.0, 4, 0.5, transform), expected[2])
    assert not written


def test_pullback_keeps_the_values_it_was_made_beside(monkeypatch):
    here = sys.modules[__name__]
    f = lambda x: function(x)  # noqa: E731
    value, pullback = vjp(f, at)
    slope = answer(of(grad, at))
    monkeypatch.setattr(here, "scale", 11.0)
    monkeypatch.setattr(here, "matrix", np.eye(2))
    other, later = vjp(f, at)
    check(later(1.0)[0], answer(of(grad, at)))
    check(pullback(1.0)[0], slope)


def test_cell_of_one_function_is_not_that_of_another():
    def make(k):
        def f(x):
            return k * x * x

        def change(new):
            nonlocal k
            k = new

        return f, change

    f, change_f = make(2.0)
    g, change_g = make(3.0)
    df, dg, ddf, ddg = grad(f), grad(g), grad(grad(f)), grad(grad(g))
    for _ in range(2):
        assert (df(1.0), dg(1.0), ddf(1.0), ddg(1.0)) == (4.0, 6.0, 4.0, 6.0)
    change_f(5.0)
    assert (df(1.0), dg(1.0), ddf(1.0), ddg(1.0)) == (10.0, 6.0, 10.0, 6.0)
    change_g(7.0)
    assert (df(1.0), dg(1.0), ddf(1.0), ddg(1.0)) == (10.0, 14.0, 10.0, 14.0)
    change_f(7.0)
    assert (df(1.0), dg(1.0), ddf(1.0), ddg(1.0)) == (14.0, 14.0, 14.0, 14.0)
    change_f(2.0)
    assert (df(1.0), dg(1.0), ddf(1.0), ddg(1.0)) == (4.0, 14.0, 4.0, 14.0)


def test_equal_numbers_of_different_names():
    def make(a, b, c=2):
        def scaled(x, n=2):
            return a * x**n

        def f(x):
            total = 0.0
            for _ in range(c):
                total = total + scaled(x) * b
            return total

        return f

    for a, b in ((2, 2), (2, 3), (3, 2), (3, 3), (2.0, 2.0), (2.0, 5.0), (7.0, 7.0)):
        for _ in range(2):
            assert grad(make(a, b))(3.0) == 12.0 * a * b
            assert grad(grad(make(a, b)))(3.0) == 4.0 * a * b
    for c in (1, 2, 3):
        assert grad(make(2, 2, c))(3.0) == 6.0 * 2 * 2 * c


def test_arrays_that_were_one_and_are_two():
    def make(a, b):
        return lambda x: np.sum(a * x) + np.sum(b * x * x)

    one, two = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    for a, b in ((one, one), (one, two), (two, one), (two, two), (one, one)):
        check(grad(make(a, b))(at), a + 2 * b * at)


def test_default_and_bound_values_of_functions_made_anew():
    import functools

    def model(w, x, y, power=2):
        return np.sum((x * w - y) ** power)

    for k in range(3):
        x, y = batch[:, 0] + k, batch[:, 1] * k
        expected = np.sum(2 * x * (x * 0.3 - y))
        bound = functools.partial(model, x=x, y=y)
        for f in (
            bound,
            functools.partial(model, x=x, y=y, power=2),
            lambda w, x=x, y=y: model(w, x, y),
            lambda w, k=k: model(w, batch[:, 0] + k, batch[:, 1] * k),
        ):
            check(grad(f)(0.3), expected)
        cubed = functools.partial(model, x=x, y=y, power=3)
        check(grad(cubed)(0.3), np.sum(3 * x * (x * 0.3 - y) ** 2))


def test_numbers_that_are_defaults_of_functions_that_are_called():
    import functools

    def scaled(k, c):
        return k * c * c

    for k in (2.0, 3.0, 5.0):

        def by_default(c, k=k):
            return k * c * c

        bound = functools.partial(scaled, k)
        for part in (by_default, bound):
            f = lambda c: part(c) * 1.0  # noqa: B023, E731
            assert grad(f)(1.0) == 2 * k
            assert grad(grad(f))(1.0) == 2 * k
            assert vmap(grad(f))(np.ones(2)).tolist() == [2 * k] * 2
            assert jit(f)(1.0) == k


def test_methods_of_objects_that_change():
    class Model:
        def __init__(self, k):
            self.k = k
            self.data = np.array([k, 2.0])

        def loss(self, x):
            return np.sum(self.k * self.data * x**2)

        def slope(self, x):
            return grad(self.loss)(x)

    model = Model(2.0)
    for other in (model, Model(3.0), model):
        for k in (1.0, 4.0):
            other.k = k
            check(other.slope(at), 2 * k * other.data * at)
            other.data = other.data + 1.0
            check(other.slope(at), 2 * k * other.data * at)


def test_source_shows_the_value_there_is_now(monkeypatch):
    assert "scale = 3.0" in srcjax.source(grad(function), at)
    df = grad(function)
    df(at)
    monkeypatch.setattr(sys.modules[__name__], "scale", 4.5)
    df(at)
    assert "scale = 4.5" in srcjax.source(df, at)


# --- rules and methods that are given anew ---


def test_rule_of_a_function_given_anew():
    @srcjax.custom_vjp
    def square(x):
        return x * x

    def f(x):
        return 3 * square(x)

    for factor in (2.0, 100.0):
        square.defvjp(lambda x: (x * x, x), lambda x, d, k=factor: (d * k * x,))
        assert grad(f)(2.0) == 3 * factor * 2.0


def test_method_of_a_class_given_anew():
    class Model:
        def __call__(self, x):
            return self.part(x) * x

        def part(self, x):
            return x

    model = Model()

    def f(x):
        return model(x)

    df = grad(f)
    assert (df(2.0), grad(f)(2.0)) == (4.0, 4.0)
    Model.part = lambda self, x: x * x
    assert (df(2.0), grad(f)(2.0)) == (12.0, 12.0)
    Model.__call__ = lambda self, x: self.part(x)
    assert (df(2.0), grad(f)(2.0)) == (4.0, 4.0)


def test_records_that_are_imported_late_are_no_new_rules():
    """In a process of its own: SciPy's are imported by the second function."""
    text = """
import numpy as np, srcjax
from srcjax.analysis.custom import Rules
import functions
df = srcjax.grad(functions.plain)
df(1.0)
given = Rules.given
srcjax.grad(functions.special)(1.0)
assert Rules.given == given
srcjax.inert(functions.plain)
assert Rules.given > given
"""
    functions = """
import scipy.special
def plain(x):
    return x * x
def special(x):
    return scipy.special.gammaln(x) * x
"""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "functions.py").write_text(functions)
        subprocess.run(
            [sys.executable, "-c", text],
            check=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([folder, *sys.path])},
        )
