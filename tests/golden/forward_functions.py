"""Functions whose texts of forward mode are kept as golden files."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import srcjax


@dataclass(frozen=True)
class Moved:
    """One function, how it is transformed, and the arguments its text is for."""

    name: str
    function: Callable[..., Any]
    args: tuple
    #: `jvp`, or what gives a matrix or a product: `hvp`, `jacfwd`, `hessian`,
    #: `linearize`.
    kind: str = "jvp"

    def text(self) -> str:
        """The generated text."""
        if self.kind == "jvp":
            return srcjax.source(srcjax.jvp(self.function), *self.args)
        if self.kind == "hvp":
            return srcjax.source(srcjax.jvp(srcjax.grad(self.function)), *self.args)
        if self.kind == "linearize":
            return srcjax.source(srcjax.linearize(self.function, *self.args)[1])
        return srcjax.source(getattr(srcjax, self.kind)(self.function), *self.args)


MOVED: dict[str, Moved] = {}


def moved(*args: Any, kind: str = "jvp") -> Callable:
    """Registers the decorated function."""

    def register(function: Callable) -> Callable:
        name = function.__name__
        MOVED[name] = Moved(name, function, args, kind)
        return function

    return register


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


@moved(0.7)
def damped_wave(t):
    return np.exp(-0.1 * t) * np.cos(2 * t)


@moved(normal(4, 3), normal(3, 5), normal(5), normal(5, seed=1))
def mlp(X, W, b, w):
    hidden = np.tanh(X @ W + b)
    return hidden @ w


@moved(1.3)
def power(x):
    y = 1.0
    for _ in range(5):
        y = y * x
    return y


@moved(-0.4)
def leaky(x):
    slope = 1.0
    if x < 0:
        slope = 0.1
        x = x * slope
    return slope * x


@moved(normal(6))
def smoothed(x):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = 0.5 * y[i - 1] + 0.5 * x[i] ** 2
    return y


@moved(2.0)
def newton_sqrt(a):
    x = a
    while abs(x * x - a) > 1e-9 * a:
        x = 0.5 * (x + a / x)
    return x


@moved({"w": normal(3), "b": 0.5}, normal(4, 3))
def linear_model(params, X):
    return X @ params["w"] + params["b"]


@moved(1.1, 4)
def recursive_power(x, n):
    if n == 0:
        return 1.0
    return x * recursive_power(x, n - 1)


@moved(0.2, 9.81, 50)
def pendulum(angle, gravity, steps):
    speed = 0.0
    for _ in range(steps):
        speed = speed - 0.01 * gravity * math.sin(angle)
        angle = angle + 0.01 * speed
    return angle


@moved(normal(5))
def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


SAMPLES = normal(8, 3)
LABELS = np.where(normal(8) > 0, 1.0, -1.0)


@moved(normal(3), kind="hvp")
def logistic_loss(w):
    return np.mean(np.log1p(np.exp(-LABELS * (SAMPLES @ w))))


@moved(normal(3), normal(3, 4), normal(4), kind="jacfwd")
def layer(x, W, b):
    return np.tanh(x @ W + b)


@moved(normal(4), kind="hessian")
def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


@moved(normal(3), normal(3, 4), normal(4), kind="jacrev")
def gated(x, W, b):
    z = x @ W + b
    return z / (1 + np.exp(-z))


@moved(0.7, kind="linearize")
def iterated_sine(x):
    for _ in range(4):
        x = np.sin(x) * x
    return x
