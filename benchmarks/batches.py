"""Functions of one example: batched by hand, by srcjax, by JAX, and in a loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import srcjax

from .cases import Case
from .peers import (
    BY_HAND,
    JAX_JIT,
    OURS,
    available,
    jax_arguments,
    jax_function,
    the_jax,
)

LOOP = "Python loop"
PEERS = (BY_HAND, OURS, JAX_JIT, LOOP)

Call = Callable[[], Any]


@dataclass(frozen=True)
class Batch(Case):
    """A function of one example with the arguments of a batch; see `Case`."""

    axes: tuple = (0,)
    #: Whether the gradient of each example is wanted, by the first argument.
    gradient: bool = False


def calls_of(case: Batch, peers: tuple[str, ...] = PEERS) -> dict[str, Call]:
    """For each peer, a function without arguments that computes the batch."""
    makers = {BY_HAND: by_hand, OURS: with_srcjax, JAX_JIT: with_jax, LOOP: in_a_loop}
    return {p: makers[p](case) for p in peers if available(p) and p not in case.without}


def by_hand(case: Batch) -> Call:
    return lambda: case.by_hand(*case.args)


def with_srcjax(case: Batch) -> Call:
    one = srcjax.grad(case.function) if case.gradient else case.function
    batched, args = srcjax.vmap(one, in_axes=case.axes), case.args
    return lambda: batched(*args)


def with_jax(case: Batch) -> Call:
    jax = the_jax()
    one = jax_function(case)
    one = jax.grad(one) if case.gradient else one
    batched, args = jax.jit(jax.vmap(one, in_axes=case.axes)), jax_arguments(case)
    return lambda: jax.block_until_ready(batched(*args))


def in_a_loop(case: Batch) -> Call:
    """One example after the other, with the gradient that srcjax writes for one."""
    one = srcjax.grad(case.function) if case.gradient else case.function

    def loop() -> list:
        pairs = list(zip(case.args, case.axes, strict=True))
        count = next(len(arg) for arg, axis in pairs if axis == 0)
        return [
            one(*(arg if axis is None else arg[k] for arg, axis in pairs))
            for k in range(count)
        ]

    return loop


# --- per-example gradients --------------------------------------------------------


def example_loss(params, x, y):
    for W, b in params[:-1]:
        x = np.tanh(x @ W + b)
    W, b = params[-1]
    return np.sum((x @ W + b - y) ** 2)


def example_gradients(params, x, y):
    inputs = []
    for W, b in params[:-1]:
        inputs.append(x)
        x = np.tanh(x @ W + b)
    W, b = params[-1]
    inputs.append(x)
    d = 2 * (x @ W + b - y)
    gradients = []
    for k in reversed(range(len(params))):
        gradients.append((inputs[k][:, :, None] * d[:, None, :], d))
        if k:
            d = (d @ params[k][0].T) * (1 - inputs[k] ** 2)
    return gradients[::-1]


# --- pairwise distances -----------------------------------------------------------


def distances(x, points):
    return np.sqrt(np.sum((points - x) ** 2, axis=1))


def all_distances(x, points):
    return np.sqrt(np.sum((points - x[:, None]) ** 2, axis=2))


# --- linear solves ----------------------------------------------------------------


def solved(A, b):
    return np.linalg.solve(A, b)


def all_solved(A, b):
    return np.linalg.solve(A, b[:, :, None])[:, :, 0]


# --- a step of a recurrent network ------------------------------------------------


def rnn_step(h, x, W, U, b):
    return np.tanh(h @ W + x @ U + b)


# --- a function in pieces ---------------------------------------------------------


def pieces(x):
    if x < 0:
        return np.exp(x)
    if x < 2:
        return 1 + x
    return np.log(x) + 3 - np.log(2.0)


def all_pieces(x):
    low = x < 0
    middle = ~low & (x < 2)
    high = ~(low | middle)
    y = np.empty_like(x)
    y[low] = np.exp(x[low])
    y[middle] = 1 + x[middle]
    y[high] = np.log(x[high]) + 3 - np.log(2.0)
    return y


def pieces_for_jax(jax):
    np = jax.numpy

    def chosen(x):
        low, high = np.exp(np.minimum(x, 0)), np.log(np.maximum(x, 2)) + 3 - np.log(2.0)
        return np.where(x < 0, low, np.where(x < 2, 1 + x, high))

    return chosen


# --- Newton's method, as many steps as each example needs -------------------------


def newton_root(a):
    x = a
    while abs(x * x - a) > 1e-9 * a:
        x = 0.5 * (x + a / x)
    return x


def all_newton_roots(a):
    x = a.copy()
    active = np.arange(len(a))
    while active.size:
        here, target = x[active], a[active]
        going = np.abs(here * here - target) > 1e-9 * target
        active, here, target = active[going], here[going], target[going]
        x[active] = 0.5 * (here + target / here)
    return x


def newton_for_jax(jax):
    def root(a):
        def going(x):
            return abs(x * x - a) > 1e-9 * a

        return jax.lax.while_loop(going, lambda x: 0.5 * (x + a / x), a)

    return root


# --- all of them ------------------------------------------------------------------


def batch_cases(quick: bool = False) -> list[Batch]:
    """Every case, with small batches if `quick`."""
    rng = np.random.default_rng(0)
    n, many = (8, 20) if quick else (128, 10000)

    def normal(*shape: int) -> np.ndarray:
        return rng.normal(size=shape)

    sizes = [64, 32, 10]
    params = [
        (normal(a, b) / np.sqrt(a), normal(b))
        for a, b in zip(sizes[:-1], sizes[1:], strict=True)
    ]
    systems = normal(n, 16, 16) + 8 * np.eye(16)
    per_example = (None, 0, 0)
    weights = (normal(64, 64), normal(32, 64), normal(64))
    return [
        Batch(
            "MLP gradients of each example",
            example_loss,
            example_gradients,
            (params, normal(n, 64), normal(n, 10)),
            axes=per_example,
            gradient=True,
        ),
        Batch(
            "pairwise distances",
            distances,
            all_distances,
            (normal(n, 16), normal(200, 16)),
            axes=(0, None),
        ),
        Batch(
            "linear solves",
            solved,
            all_solved,
            (systems, normal(n, 16)),
            axes=(0, 0),
        ),
        Batch(
            "RNN step",
            rnn_step,
            rnn_step,
            (normal(n, 64), normal(n, 32), *weights),
            axes=(0, 0, None, None, None),
        ),
        Batch(
            "function in pieces",
            pieces,
            all_pieces,
            (2 * normal(many),),
            for_jax=pieces_for_jax,
        ),
        Batch(
            "Newton's method, own number of steps",
            newton_root,
            all_newton_roots,
            (np.exp(3 * normal(many)),),
            for_jax=newton_for_jax,
        ),
    ]
