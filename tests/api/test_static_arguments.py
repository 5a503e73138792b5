"""Static arguments of `jit`, wherever they stand, before and after it compiles."""

import functools

import numpy as np
import pytest

import srcjax
from srcjax import grad, jit, vmap


def product(y, p):
    return y * p


@functools.partial(jit, static_argnums=0)
def solved(f, y, *p):
    return f(y, *p)


class System:
    def __init__(self, k):
        self.k = k

    @functools.partial(jit, static_argnums=0)
    def step(self, x, v, dt=0.1):
        return x + dt * v * self.k, v - dt * x

    @functools.partial(jit, static_argnames=("self", "n"))
    def run(self, x, n):
        for _ in range(n):
            x = x * self.k
        return x


@functools.partial(jit, static_argnums=(0, 2))
def around(a, x, b, y=3.0, *, c=1.0):
    return a * x + b * y * c


@functools.partial(jit, static_argnums=1)
def between(x, n, *rest, scale=2.0):
    return x**n * scale + sum(rest)


@functools.partial(jit, static_argnums=0)
def by_position(n, /, x):
    return x**n


@functools.partial(jit, static_argnames=["mode"])
def with_more(x, mode="a", **options):
    return x * (2.0 if mode == "a" else 3.0) + sum(options.values())


SYSTEM = System(2.0)
CALLS = {
    "function": (lambda: solved(product, 3.0, 2.0), 6.0),
    "method": (lambda: SYSTEM.step(1.0, 2.0), (1.4, 1.9)),
    "method_by_name": (lambda: SYSTEM.step(1.0, v=2.0, dt=0.5), (3.0, 1.5)),
    "method_named": (lambda: SYSTEM.run(n=3, x=1.5), 12.0),
    "around": (lambda: around(2, 1.5, 3), 12.0),
    "around_more": (lambda: around(2, 1.5, 3, 4.0, c=0.5), 9.0),
    "around_by_name": (lambda: around(b=3, a=2, x=1.5), 12.0),
    "between": (lambda: between(2.0, 3, scale=3.0), 24.0),
    "by_position": (lambda: by_position(2, x=3.0), 9.0),
    "with_more": (lambda: with_more(1.0, mode="b", u=2.0), 5.0),
    "bound_before": (
        lambda: jit(functools.partial(around, 2, b=3))(x=1.5, y=1.0),
        6.0,
    ),
    "gradient": (lambda: grad(lambda x: solved(product, x, 2.0))(3.0), 2.0),
}


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("name", CALLS)
def test_calls(name, at_once, monkeypatch):
    monkeypatch.setattr(srcjax.config, "jit_at_once", at_once)
    call, expected = CALLS[name]
    for _ in range(3):
        assert call() == pytest.approx(expected)


def test_batches():
    found = vmap(lambda x: SYSTEM.step(x, 2.0)[0])(np.array([1.0, 2.0]))
    assert found == pytest.approx([1.4, 2.4])


def test_arguments_that_have_no_name():
    with pytest.raises(srcjax.errors.ArgumentError, match=r"given for `\*rest`"):
        between(2.0, 3, 4.0)
