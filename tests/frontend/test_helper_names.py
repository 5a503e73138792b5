"""Names of the user's that generated code needs for itself."""

import importlib
import textwrap

import numpy as np
import pytest

import srcjax
from srcjax import runtime
from srcjax.errors import UnsupportedError
from srcjax.testing import check_grads

X = np.array([1.1, 2.2, 3.4])


def add(a, b):
    return a * b


def untyped(function, argnums=0):
    """The gradient written without types, its text, and its module."""
    transform = srcjax.grad(function, argnums=argnums).__srcjax_transform__
    module = transform.build(transform.hinted_types(), False)
    return getattr(module.load(), module.entry), module.text


def local(x):
    zeros_like = np.zeros_like(x)
    unbroadcast = x[0] * x
    return np.sum(unbroadcast + zeros_like)


def function_of_the_module(x):
    items = [x[0], x[1]]
    for i in range(2):
        items[i] = add(items[i], items[i - 1])
    return (items[0] + items[1]) * items[0]


def argument(x, add):
    items = [x[0], x[1]]
    for i in range(2):
        items[i] = items[i] * items[i - 1] * add
    return (items[0] + items[1]) * items[0]


def builtins_beside_names_inside(x):
    def mean(values):
        sum = 0.0
        for v in values:
            sum += v
        return sum / len(values)

    doubled = [2 * max for max in [max(x) * v for v in x]]
    powers = (lambda abs: abs**3)(abs(x[0]))
    return mean(x) * sum(x) + max(doubled) * powers


HIDING_SOURCE = """
def range(n):
    return [0, 1]

def len(values):
    return 1

def filter(function, values):
    return values

def twice_the_last(v):
    items = []
    for i in range(3):
        items.append(v[i] ** 3)
    total = 0.0
    for item in items[::-1]:
        total = total * 0.5 + item
    return total * len(items)

def until_three(v):
    total, k = 0.0, 0
    while total < 3:
        total = total + v[k] ** 2
        k = k + len(v)
    return total

def filtered(v):
    return sum([x**2 for x in filter(None, v)])
"""


@pytest.fixture(scope="module")
def hiding(tmp_path_factory):
    """A module that has functions of its own under names of builtins."""
    path = tmp_path_factory.mktemp("hiding") / "hiding_builtins.py"
    path.write_text(HIDING_SOURCE)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(path.parent))
        yield importlib.import_module("hiding_builtins")


@pytest.mark.filterwarnings("ignore::srcjax.PerformanceWarning")
def test_names_of_builtins_in_another_module(hiding):
    def f(x):
        total = hiding.twice_the_last(x) * hiding.until_three(x) + hiding.filtered(x)
        for i in range(len(x)):
            total = total * 0.9 + x[i] ** 2
        return total + sum(x[i] for i in filter(lambda i: i > 0, range(len(x))))

    for g in (f, hiding.twice_the_last, hiding.until_three):
        check_grads(g, (X,), order=2)
        batch = np.stack([X, X * 1.1])
        each = [srcjax.grad(g)(x) for x in batch]
        np.testing.assert_allclose(srcjax.vmap(srcjax.grad(g))(batch), each)
        np.testing.assert_allclose(srcjax.jit(srcjax.grad(g))(X), each[0])


def test_names_of_modules_that_are_numbers(tmp_path, monkeypatch):
    rows = """
        import numpy

        np, math = 3, 2

        def f(x):
            total, w = 0.0, numpy.zeros(np)
            for i in range(np):
                total = total + numpy.sin(x[i]) * math
                w[i] = x[i] ** 2
            return total * numpy.sum(w)
    """
    (tmp_path / "numbers_of_points.py").write_text(textwrap.dedent(rows))
    monkeypatch.syspath_prepend(tmp_path)
    points = importlib.import_module("numbers_of_points")
    check_grads(points.f, (X,), order=2)
    check_grads(lambda x: points.f(x) * np.sum(np.exp(x)), (X,), order=2)


@pytest.mark.parametrize("transform", [srcjax.vmap, srcjax.jit, srcjax.grad])
def test_builtins_beside_names_inside(transform):
    f = builtins_beside_names_inside
    if transform is srcjax.grad:
        check_grads(f, (X,), order=2, modes=("rev", "fwd"))
    elif transform is srcjax.vmap:
        np.testing.assert_allclose(srcjax.vmap(f)(np.stack([X, -X])), [f(X), f(-X)])
    else:
        np.testing.assert_allclose(srcjax.jit(f)(X), f(X))


@pytest.mark.parametrize(
    "function, args",
    [(local, (X,)), (function_of_the_module, (X,)), (argument, (X, 1.5))],
)
def test_helpers_are_not_hidden(function, args):
    written, text = untyped(function)
    wanted = srcjax.grad(function)(*args)
    np.testing.assert_allclose(written(*args), wanted, rtol=1e-12)
    check_grads(function, args, order=2, modes=("rev",))
    world: dict = {"__name__": "again"}
    if function is not function_of_the_module:  # that needs the user's own module
        exec(text, world)
        again = world[f"grad_{function.__name__}"](*args)
        np.testing.assert_allclose(again, wanted, rtol=1e-12)


def test_the_helper_takes_another_name_beside_an_argument():
    _, text = untyped(argument)
    assert "def grad_argument(x, add):" in text
    assert "add as add2" in text


def test_names_that_no_helper_needs_stay():
    text = str(srcjax.source(srcjax.grad(stays), X))
    assert "add = np.sin(x)" in text


def stays(x):
    add = np.sin(x)
    return np.sum(np.exp(add))


def test_a_helper_by_its_own_name_is_left():
    assert runtime.zeros_like is not np.zeros_like
    text = str(srcjax.source(srcjax.grad(uses_helper), X))
    assert "zeros_like2" not in text


def uses_helper(x):
    return np.sum(x * x + np.zeros_like(x))


def zeros_like(v):
    return v + 1.0


def called_in_one_sweep_only(x, s):
    y = x.copy()
    for row in y:
        row *= zeros_like(1.0)
    return np.sum(x.sum() * x)


def test_a_helper_in_one_sweep_and_the_users_own_in_the_other():
    def tangent(x, s):
        return srcjax.jvp(called_in_one_sweep_only, (x, s), (direction, 1.0))[1]

    x, direction = np.array([[1.1, 2.2]]), np.array([[0.3, -1.0]])
    dx, ds = srcjax.grad(tangent, argnums=(0, 1))(x, 0.5)
    np.testing.assert_allclose(dx, np.full_like(x, 2 * direction.sum()))
    assert ds == 0.0


def ranged(x, range=(0.0, 1.0)):
    low, high = range
    total = 0.0
    for v in x:
        total += (v - low) * (high - v)
    return total


def scaled(x, np):
    y = x * np
    y[1] *= 3.0
    return (y[0] * y).sum()


def clipped(x, min, max):
    return np.sum(np.clip(x, min, max) ** 2)


@pytest.mark.parametrize(
    ("f", "given", "name"),
    [(ranged, (), "range"), (scaled, (2.0,), "np")],
)
def test_a_parameter_that_hides_what_the_text_needs(f, given, name):
    x = np.array([0.3, 0.6, 0.9])
    with pytest.raises(UnsupportedError, match=f"the parameter `{name}` hides"):
        srcjax.grad(f)(x, *given)
    one = srcjax.vmap(srcjax.grad(f), in_axes=(0, *(None for _ in given)))
    with pytest.raises(UnsupportedError, match=f"the parameter `{name}` hides"):
        one(x[None], *given)
    assert srcjax.jit(f)(x, *given) == f(x, *given)


def test_a_parameter_that_hides_nothing_in_use():
    dx = srcjax.grad(clipped)(np.array([0.3, 0.6, 0.9]), 0.4, 0.8)
    np.testing.assert_allclose(dx, [0.0, 1.2, 0.0])
