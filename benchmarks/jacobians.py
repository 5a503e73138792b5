"""Whole matrices of derivatives: in one batch, column by column, and by JAX."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import srcjax

from .peers import JAX_JIT, available, on_module, the_jax
from .timing import interleaved, ratio, spell, table

AT_ONCE = "srcjax"
ONE_BY_ONE = "one by one"


@dataclass(frozen=True)
class Matrix:
    """One Jacobian or Hessian."""

    function: Callable[..., Any]
    args: tuple
    #: `jacfwd`, `jacrev` or `hessian`.
    kinds: tuple[str, ...]
    #: The same function for JAX, where it has to be written otherwise.
    in_jax: bool = True


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape)


# --- functions of a vector ----------------------------------------------------------


def network(x, W1, b1, W2, b2):
    return np.tanh(np.tanh(x @ W1 + b1) @ W2 + b2)


def network_loss(x, W1, b1, W2, b2):
    return np.sum(network(x, W1, b1, W2, b2) ** 2)


def elementwise(x):
    return np.exp(-x) * np.sin(x) + x**2


def product(x, A):
    return A @ x


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def heat(u):
    for _ in range(20):
        u = u + 0.1 * (np.roll(u, 1) - 2 * u + np.roll(u, -1)) + 0.01 * u * (1 - u)
    return u


def smoothed_in_place(x):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = 0.5 * y[i - 1] + np.sin(x[i])
    return y


def network_args(inputs: int, hidden: int, outputs: int) -> tuple:
    return (
        random(inputs),
        random(inputs, hidden) / inputs**0.5,
        random(hidden),
        random(hidden, outputs) / hidden**0.5,
        random(outputs),
    )


MATRICES = (
    Matrix(network, network_args(100, 64, 10), ("jacfwd", "jacrev")),
    Matrix(network_loss, network_args(100, 64, 10), ("hessian",)),
    Matrix(elementwise, (random(200),), ("jacfwd", "jacrev")),
    Matrix(product, (random(100), random(50, 100)), ("jacfwd", "jacrev")),
    Matrix(rosenbrock, (random(100),), ("hessian",)),
    Matrix(heat, (random(64),), ("jacfwd", "jacrev")),
    Matrix(smoothed_in_place, (random(50),), ("jacfwd", "jacrev"), in_jax=False),
)


def compare(rounds: int) -> str:
    """One row per matrix."""
    peers = (AT_ONCE, ONE_BY_ONE, JAX_JIT)
    rows = []
    for matrix in MATRICES:
        for kind in matrix.kinds:
            times = interleaved(calls(matrix, kind), rounds)
            shown = [spell(times.get(peer)) for peer in peers]
            faster = ratio(times[ONE_BY_ONE], times[AT_ONCE])
            to_jax = ratio(times[AT_ONCE], times.get(JAX_JIT))
            name = f"{kind} of {matrix.function.__name__}"
            rows.append([name, *shown, faster, to_jax])
    head = ["matrix", *peers, "one by one / srcjax", "srcjax / JAX jit"]
    return table(head, rows)


def calls(matrix: Matrix, kind: str) -> dict[str, Callable[[], Any]]:
    """The ways to fill the matrix; they agree."""
    f, args = matrix.function, matrix.args
    whole = getattr(srcjax, kind)(f)
    found: dict[str, Callable[[], Any]] = {
        AT_ONCE: lambda: whole(*args),
        ONE_BY_ONE: one_by_one(f, args, kind),
    }
    np.testing.assert_allclose(found[AT_ONCE](), found[ONE_BY_ONE](), atol=1e-9)
    if matrix.in_jax and available(JAX_JIT):
        jax = the_jax()
        jitted = jax.jit(getattr(jax, kind)(on_module(f, jax.numpy)))
        given = [jax.device_put(a) for a in args]
        found[JAX_JIT] = lambda: jax.block_until_ready(jitted(*given))
        np.testing.assert_allclose(found[AT_ONCE](), found[JAX_JIT](), atol=1e-9)
    return found


def one_by_one(f: Callable, args: tuple, kind: str) -> Callable[[], np.ndarray]:
    """A loop over the elements, around one transformed function."""
    x, *rest = args
    constant = [None] * len(rest)
    if kind == "jacrev":

        def rows() -> np.ndarray:
            y, pullback = srcjax.vjp(f, *args)
            return np.stack([pullback(dy)[0] for dy in np.eye(y.size)])

        return rows
    g = srcjax.grad(f) if kind == "hessian" else f

    def columns() -> np.ndarray:
        found = [srcjax.jvp(g, args, (x_dot, *constant))[1] for x_dot in np.eye(x.size)]
        return np.stack(found, axis=-1)

    return columns
