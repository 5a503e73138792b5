"""Lists from around a function: each item is known, while the list stays as it is."""

import numpy as np
import pytest

import srcjax

X = np.array([0.5, -1.5, 2.0])


def slope(f, x):
    step = 1e-6 * np.eye(len(x))
    return np.array([(f(x + e) - f(x - e)) / 2e-6 for e in step])


def test_layers_of_several_kinds():
    rng = np.random.default_rng(0)
    layers = [
        (rng.normal(size=(3, 4)), np.zeros(4)),
        (),
        (rng.normal(size=(4, 1)), np.ones(1)),
    ]

    def f(x):
        for k in (0, 2):
            W, b = layers[k]
            x = np.tanh(x @ W + b)
        return x[0]

    df = srcjax.grad(f)
    np.testing.assert_allclose(df(X), slope(f, X), rtol=1e-6)
    assert "unbroadcast" not in srcjax.source(df, X)

    layers[0] = (rng.normal(size=(3, 5)), np.zeros(5))
    layers[2] = (rng.normal(size=(5, 2)), np.ones(2))
    np.testing.assert_allclose(df(X), slope(f, X), rtol=1e-6)
    layers[0] = (np.eye(3), 1.0)
    layers[2] = (rng.normal(size=(3, 2)), 0.5)
    np.testing.assert_allclose(df(X), slope(f, X), rtol=1e-6)


def test_a_list_that_grows_is_no_reason_for_more_texts():
    history = [1.0]

    def f(x):
        return np.sum(x**2) * history[-1] * len(history)

    df = srcjax.grad(f)
    for _ in range(6):
        np.testing.assert_allclose(df(X), 2 * X * history[-1] * len(history))
        history.append(history[-1] + 1.0)
    assert len(set(df.__srcjax_transform__.versions.values())) <= 2


@pytest.mark.parametrize("transform", [srcjax.grad, srcjax.jacfwd, srcjax.hessian])
def test_changes_between_calls(transform):
    steps = [np.sin, np.cos]

    def f(x):
        for g in steps:
            x = g(x) * 2
        return np.sum(x)

    for change in (
        lambda: None,
        lambda: steps.append(np.tanh),
        lambda: steps.__setitem__(0, np.exp),
        lambda: steps.pop(),
        lambda: steps.clear(),
    ):
        change()
        fresh = list(steps)

        def again(x, fresh=fresh):
            for g in fresh:
                x = g(x) * 2
            return np.sum(x)

        np.testing.assert_allclose(transform(f)(X), transform(again)(X))
    functions = (np.sin, np.cos, np.tanh, np.exp)
    assert [f.__qualname__ for f in functions] == ["sin", "cos", "tanh", "exp"]


def test_what_the_function_itself_puts_in():
    seen = [1.0]

    def f(x):
        seen.append(2.0)
        return np.sum(x) * len(seen)

    np.testing.assert_allclose(srcjax.value_and_grad(f)(X)[0], 2 * np.sum(X))
    np.testing.assert_allclose(srcjax.grad(f)(X), [3.0, 3.0, 3.0])


class Scale:
    def __init__(self, by):
        self.by = by

    def __call__(self, x):
        return self.by * x


class Power(Scale):
    def __call__(self, x):
        return x**self.by


def test_objects():
    """Each is the one that it is: its methods are followed."""
    parts = [Scale(2.0), Power(2.0)]

    def f(x):
        for part in parts:
            x = part(x)
            if x[0] > 10:
                break
        return np.sum(x)

    df = srcjax.grad(f)
    for change in (
        lambda: None,
        lambda: setattr(parts[0], "by", 3.0),
        lambda: parts.append(Scale(0.5)),
        lambda: parts.reverse(),
        lambda: setattr(parts[0], "by", np.array([30.0, 2.0, 3.0])),
    ):
        change()
        np.testing.assert_allclose(df(X), slope(f, X), rtol=1e-6)
