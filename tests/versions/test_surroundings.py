"""What a function finds around it may change between calls, in every composition."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcjax
from srcjax import grad, jit, jvp, vjp, vmap

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
