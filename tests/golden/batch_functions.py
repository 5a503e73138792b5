"""Functions of one example, whose batched texts are kept as golden files."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import srcjax


@dataclass(frozen=True)
class Batched:
    """One transformed function and the batch that its text is written for."""

    name: str
    function: Callable[..., Any]
    #: Arguments for a batch of four, and their axes.
    batch: tuple
    axes: tuple
    #: What is batched: the function itself, or its gradient.
    gradient: bool = False
    #: The name of the batch axis, where the function reduces over it.
    axis_name: str | None = None

    def transformed(self) -> Callable[..., Any]:
        """The function of the batch."""
        return srcjax.vmap(self.one(), in_axes=self.axes, axis_name=self.axis_name)

    def one(self) -> Callable[..., Any]:
        """The function of one example."""
        return srcjax.grad(self.function) if self.gradient else self.function


BATCHED: dict[str, Batched] = {}


def batched(
    *batch: Any,
    axes: tuple = (),
    gradient: bool = False,
    axis_name: str | None = None,
) -> Callable:
    """Registers the decorated function of one example."""

    def register(function: Callable) -> Callable:
        name = function.__name__
        chosen = axes or (0,) * len(batch)
        BATCHED[name] = Batched(name, function, batch, chosen, gradient, axis_name)
        return function

    return register


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


@batched(normal(4), axes=(0,))
def logistic(x):
    return 1 / (1 + np.exp(-x))


@batched(normal(4, 3), normal(3, 2), normal(2), axes=(0, None, None))
def layer(x, W, b):
    return np.tanh(x @ W + b)


@batched(normal(3, 2), normal(4, 3), normal(4, 2), axes=(None, 0, 0), gradient=True)
def per_example_loss(W, x, y):
    return np.sum((np.tanh(x @ W) - y) ** 2)


@batched(normal(4, 3), normal(5, 3), axes=(0, None))
def distances(x, points):
    return np.sqrt(np.sum((points - x) ** 2, axis=1))


@batched(normal(4, 3, 3) + 4 * np.eye(3), normal(4, 3))
def solved(A, b):
    return np.linalg.solve(A, b)


@batched(
    normal(4, 3), normal(4, 2), normal(3, 3), normal(2, 3), axes=(0, 0, None, None)
)
def rnn_step(h, x, W, U):
    return np.tanh(h @ W + x @ U)


@batched(normal(4))
def leaky(x):
    if x > 0:
        return x
    return 0.1 * x


@batched(normal(4))
def safe_log(x):
    y = -1.0
    if x > 0:
        y = np.log(x)
    return 2 * y


@batched(np.array([2.0, 3.0, 50.0, 1e4]))
def newton_sqrt(a):
    x = a
    while abs(x * x - a) > 1e-9 * a:
        x = 0.5 * (x + a / x)
    return x


@batched(normal(4, 6) * 3)
def first_above(x):
    for k in range(len(x)):
        if x[k] > 1:
            return k
    return -1


@batched(normal(4, 5), np.array([1, 3, 0, 5]))
def sum_of_first(x, count):
    total = 0.0
    for k in range(count):
        total += x[k]
    return total


@batched(normal(4, 5), np.array([1, 3, 0, 4]))
def picked(x, i):
    return x[i] ** 2


@batched(normal(4, 3), normal(4, 3, seed=1))
def cosine(x, y):
    return x @ y / (np.linalg.norm(x) * np.linalg.norm(y))


@batched(normal(4, 6))
def smoothed(u):
    v = u.copy()
    v[1:-1] = (u[:-2] + u[1:-1] + u[2:]) / 3
    return v


@batched(np.array([0.5, 3.0, 4.2, 1.0]))
def factorial_like(x):
    if x <= 1:
        return 1.0
    return x * factorial_like(x - 1)


@batched(normal(4, 3), normal(4))
def softmax_at(x, temperature):
    z = np.exp((x - np.max(x)) / math.exp(temperature))
    return z / np.sum(z)


@batched(3 * normal(4))
def in_pieces(x):
    if x < 0:
        return np.exp(x)
    if x < 2:
        return 1 + x
    return np.log(x) + 3 - np.log(2.0)


@batched(normal(4, 3), normal(3), normal(3), axes=(0, None, None), axis_name="batch")
def batch_norm(x, scale, shift):
    mean = srcjax.pmean(x, "batch")
    variance = srcjax.pmean((x - mean) ** 2, "batch")
    return scale * (x - mean) / np.sqrt(variance + 1e-5) + shift


@batched(normal(4, 3, 2))
def cheapest_path(cost):
    n, m = cost.shape
    total = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            best = min(total[i - 1, j], total[i, j - 1]) if i and j else 0.0
            total[i, j] = cost[i, j] + best
    return total[-1, -1]


@batched(normal(4), np.array([0, 3, 1, 2]))
def repeated(x, times):
    for _ in range(times):
        x = np.sin(x)
    return x
