"""Trees that a loop maps again: steps of an optimizer in what is differentiated."""

import numpy as np
import pytest

import srcjax
from srcjax.errors import UnsupportedError
from srcjax.example_libraries import optimizers

X = np.arange(6.0).reshape(2, 3) / 3
P = {"w": np.array([0.3, 0.2, -0.1]), "b": 0.2}


def loss(p):
    return np.sum((X @ p["w"] + p["b"] - 1) ** 2)


def adapted(rate, p):
    for _ in range(3):
        g = srcjax.grad(loss)(p)
        p = srcjax.tree.map(lambda a, b: a - rate * b, p, g)
    return loss(p)


def with_momentum(rate, p):
    init, update, params_of = optimizers.momentum(rate, 0.9)
    state = init(p)
    for i in range(3):
        state = update(i, srcjax.grad(loss)(params_of(state)), state)
    return loss(params_of(state))


def with_velocity(rate, p):
    velocity = srcjax.tree.map(np.zeros_like, p)
    for _ in range(3):
        g = srcjax.grad(loss)(p)
        velocity = srcjax.tree.map(lambda v, g: 0.9 * v + g, velocity, g)
        p = srcjax.tree.map(lambda p, v: p - rate * v, p, velocity)
    return loss(p)


@pytest.mark.parametrize(
    "outer", [adapted, with_momentum, with_velocity], ids=lambda f: f.__name__
)
def test_a_rate_is_learned_through_steps(outer):
    step = 1e-6
    wanted = (outer(0.1 + step, P) - outer(0.1 - step, P)) / (2 * step)
    np.testing.assert_allclose(srcjax.grad(outer)(0.1, P), wanted, rtol=1e-6)
    np.testing.assert_allclose(srcjax.jacfwd(outer)(0.1, P), wanted, rtol=1e-6)


def test_where_steps_start_is_learned():
    got, step = srcjax.grad(adapted, 1)(0.1, P), 1e-6
    higher, lower = {**P, "b": P["b"] + step}, {**P, "b": P["b"] - step}
    wanted = (adapted(0.1, higher) - adapted(0.1, lower)) / (2 * step)
    np.testing.assert_allclose(got["b"], wanted, rtol=1e-6)
    assert got["w"].shape == (3,)


def grown(x, tree):
    for _ in range(2):
        tree = srcjax.tree.map(lambda a: {"a": a * x}, tree)
    return np.sum(srcjax.tree.leaves(tree)[0])


def test_leaves_that_become_trees_are_refused():
    with pytest.raises(UnsupportedError):
        srcjax.grad(grown)(1.5, [np.ones(2)])
