"""`jit` and `checkpoint` of functions that are made inside of the transformed one."""

import functools

import numpy as np
import pytest

import srcjax
from srcjax import checkpoint, grad, jit, testing, vmap

X = np.array([0.3, 0.5, 0.2])


def decorated(s, x):
    @jit
    def layer(h):
        return np.tanh(h) * s

    return np.sum(layer(layer(x)))


def under_its_name(s, x):
    def layer(h):
        return h * s

    layer = jit(layer)
    return np.sum(layer(x) ** 2)


def in_a_loop(s, x):
    @functools.partial(jit, static_argnames=("shift",))
    def step(h, k, shift):
        if k > 1:
            return h * s
        return np.sin(h + s) + shift

    for k in range(3):
        x = step(x, k, shift=0.5)
    return np.sum(x)


def with_options(s, x):
    power = jit(lambda h, n: h * s**n, static_argnums=1)
    return np.sum(power(x, 2))


def of_a_gradient(s, x):
    slope = jit(grad(lambda h: np.sum(np.sin(h) * s)))
    return np.sum(slope(x) ** 2)


def of_a_batch(s, x):
    each = jit(vmap(jit(lambda h: np.sin(h) * s)))
    return np.sum(each(x))


def kept_in_a_dict(s, x):
    table = {"f": jit(lambda h: h * s), "g": checkpoint(lambda h: h**2 * s)}
    return np.sum(table["f"](x) + table["g"](x))


def saved_again(s, x):
    @functools.partial(checkpoint, static_argnums=(1,))
    def block(h, shift):
        return np.tanh(h) * s + shift

    return np.sum(block(block(x, 1.0), 0.5))


PROGRAMS = [
    decorated,
    under_its_name,
    in_a_loop,
    with_options,
    of_a_gradient,
    of_a_batch,
    kept_in_a_dict,
    saved_again,
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_gradients(f):
    testing.check_grads(f, (1.3, X), order=2)
    found = jit(grad(f))(1.3, X)
    assert found == pytest.approx(grad(f)(1.3, X))


def test_the_text_is_that_without_jit():
    text = srcjax.source(grad(under_its_name), 1.3, X)
    assert "jit" not in text and "kernel" not in text
