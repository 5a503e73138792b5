"""Textbook functions whose generated gradients are kept as golden files.

Each is written as a user would write it; `textbook.py` has the gradient that a person
would write for it, under the same name.
"""

import copy
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Golden:
    """One function: what it is called with, and what it is differentiated by."""

    name: str
    function: Callable[..., Any]
    examples: tuple
    argnums: int | tuple[int, ...]

    def args(self) -> tuple:
        """Fresh example arguments."""
        return copy.deepcopy(self.examples)


GOLDEN: dict[str, Golden] = {}


def golden(
    *examples: Any, argnums: int | tuple[int, ...] = 0
) -> Callable[[Callable], Callable]:
    """Registers the decorated function with example arguments; leaves it as it is."""

    def register(function: Callable) -> Callable:
        name = function.__name__
        if name in GOLDEN:
            raise ValueError(f"two functions are named {name}")
        count = len(inspect.signature(function).parameters)
        if count != len(examples):
            raise ValueError(f"{name} takes {count} arguments, not {len(examples)}")
        GOLDEN[name] = Golden(name, function, examples, argnums)
        return function

    return register


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    """Fixed numbers from the normal distribution."""
    return np.random.default_rng([seed, *shape]).normal(size=shape)


# --- scalars -------------------------------------------------------------------


@golden(1.3)
def square(x):
    return x * x


@golden(0.7)
def square_plus_sine(x):
    return x**2 + 3 * math.sin(x)


@golden(1.5, 0.4, argnums=(0, 1))
def product(x, y):
    return x * math.sin(y)


@golden(1.7)
def quotient(x):
    return (x + 1) / (x * x + 1)


@golden(0.6)
def chain(x):
    inner = math.sin(x**2)
    return math.exp(inner)


@golden(0.3, 1.2, 0.5, argnums=(0, 1, 2))
def damped_wave(t, frequency, damping):
    envelope = math.exp(-damping * t)
    phase = frequency * t
    return envelope * math.cos(phase)


@golden(np.array([0.5, -1.0, 2.0, 0.25]), 1.1, argnums=(0, 1))
def horner(coefficients, x):
    total = 0.0
    for c in coefficients:
        total = total * x + c
    return total


@golden(1.2, 5)
def power(x, n):
    result = 1.0
    for _ in range(n):
        result = result * x
    return result


@golden(1.1, 5)
def recursive_power(x, n):
    if n == 0:
        return 1.0
    return x * recursive_power(x, n - 1)


@golden(0.8)
def piecewise(x):
    if x < 0:
        y = x * x
    elif x < 1:
        y = math.sin(x)
    else:
        y = math.log(x)
    return 2 * y


@golden(2.5)
def early_return(x):
    if x > 2:
        return x * x
    y = math.exp(x)
    return y - 1


@golden(2.0)
def newton_sqrt(a):
    x = a
    while abs(x * x - a) > 1e-10:
        x = (x + a / x) / 2
    return x


@golden(2.0, 1.0, 0.01, argnums=(0, 1))
def lotka_volterra(prey, predators, dt):
    for _ in range(20):
        births = prey * (1.1 - 0.4 * predators)
        deaths = predators * (0.1 * prey - 0.4)
        prey = prey + dt * births
        predators = predators + dt * deaths
    return prey + predators


# --- regression and classification -----------------------------------------------


@golden(normal(3), normal(6, 3, seed=1), normal(6, seed=2), 0.1)
def ridge_regression(w, features, targets, strength):
    residuals = features @ w - targets
    return np.mean(residuals**2) + strength * np.sum(w**2)


@golden(normal(3), 0.2, normal(6, 3, seed=1), normal(6, seed=2), argnums=(0, 1))
def linear_regression(w, b, features, targets):
    predictions = features @ w + b
    residuals = predictions - targets
    return 0.5 * np.sum(residuals**2)


@golden(normal(3), normal(6, 3, seed=1), np.array([0.0, 1.0, 1.0, 0.0, 1.0, 0.0]))
def logistic_regression(w, features, labels):
    p = 1 / (1 + np.exp(-features @ w))
    return -np.mean(labels * np.log(p) + (1 - labels) * np.log(1 - p))


@golden(normal(4, 3), np.eye(3)[[0, 2, 1, 2]])
def softmax_cross_entropy(logits, targets):
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    log_normaliser = np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.sum(targets * (shifted - log_normaliser))


@golden(normal(5))
def log_sum_exp(x):
    largest = np.max(x)
    return largest + np.log(np.sum(np.exp(x - largest)))


@golden({"w": normal(3), "b": 0.1}, normal(6, 3, seed=1), normal(6, seed=2))
def dict_params(params, features, targets):
    predictions = features @ params["w"] + params["b"]
    return np.mean((predictions - targets) ** 2)


# --- networks ----------------------------------------------------------------------


@golden(
    normal(4, 8),
    normal(8, seed=1),
    normal(8, 2, seed=2),
    normal(2, seed=3),
    normal(5, 4, seed=4),
    normal(5, 2, seed=5),
    argnums=(0, 1, 2, 3),
)
def mlp_unrolled(w1, b1, w2, b2, inputs, targets):
    hidden = np.tanh(inputs @ w1 + b1)
    outputs = hidden @ w2 + b2
    return np.mean((outputs - targets) ** 2)


LAYERS = [
    (normal(4, 6), normal(6, seed=1)),
    (normal(6, 5, seed=2), normal(5, seed=3)),
    (normal(5, 2, seed=4), normal(2, seed=5)),
]


@golden(LAYERS, normal(5, 4, seed=6), normal(5, 2, seed=7))
def mlp_looped(params, inputs, targets):
    for W, b in params:
        outputs = np.dot(inputs, W) + b
        inputs = np.tanh(outputs)
    return np.mean((outputs - targets) ** 2)


def predict(params, inputs):
    for W, b in params:
        outputs = np.dot(inputs, W) + b
        inputs = np.tanh(outputs)
    largest = np.max(outputs, axis=1, keepdims=True)
    shifted = outputs - largest
    log_normaliser = np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return shifted - log_normaliser


@golden(LAYERS, normal(5, 4, seed=6), np.eye(2)[[0, 1, 1, 0, 1]])
def two_function_model(params, inputs, targets):
    log_probabilities = predict(params, inputs)
    return -np.mean(np.sum(targets * log_probabilities, axis=1))


@golden(
    normal(3, 4),
    normal(4, 4, seed=1) / 2,
    normal(4, seed=2),
    normal(6, 3, seed=3),
    argnums=(0, 1, 2),
)
def rnn(w_in, w_hidden, b, sequence):
    h = np.zeros(4)
    for x in sequence:
        h = np.tanh(x @ w_in + h @ w_hidden + b)
    return h @ h


@golden(
    normal(4, 6),
    np.exp(normal(6, seed=1)),
    normal(6, seed=2),
    normal(4, 6, seed=3),
    argnums=(0, 1, 2),
)
def layer_norm(x, gain, bias, targets):
    mean = np.mean(x, axis=1, keepdims=True)
    centred = x - mean
    variance = np.mean(centred**2, axis=1, keepdims=True)
    scale = 1 / np.sqrt(variance + 1e-5)
    normalised = centred * scale
    y = gain * normalised + bias
    return np.sum(y * targets)


@golden(
    normal(5, 4),
    normal(6, 4, seed=1),
    normal(6, 3, seed=2),
    normal(5, 3, seed=3),
    argnums=(0, 1, 2),
)
def attention(queries, keys, values, targets):
    scores = queries @ keys.T / np.sqrt(queries.shape[1])
    exponentials = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    weights = exponentials / np.sum(exponentials, axis=1, keepdims=True)
    mixed = weights @ values
    return np.sum(mixed * targets)


# --- arrays, loops and assignment in place -------------------------------------------


@golden(0.5, 0.9, 8, argnums=(0, 1))
def trajectory(start, rate, steps):
    x = np.zeros(steps + 1)
    x[0] = start
    for t in range(steps):
        x[t + 1] = x[t] + 0.1 * rate * x[t] * (1 - x[t])
    return np.sum(x**2)


@golden(normal(9), 5)
def stencil_1d(u, steps):
    v = u.copy()
    for _ in range(steps):
        v[1:-1] = v[1:-1] + 0.1 * (v[2:] - 2 * v[1:-1] + v[:-2])
    return np.sum(v**2)


@golden(normal(5, 6))
def stencil_2d(u):
    v = u.copy()
    for i in range(1, v.shape[0] - 1):
        for j in range(1, v.shape[1] - 1):
            v[i, j] = 0.25 * (v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1])
    return np.sum(v**2)


@golden(normal(5), normal(5, seed=1))
def cumulative_sum(x, weights):
    positions = np.cumsum(x)
    return np.sum(weights * positions**2)


@golden(normal(5, 4), normal(5, 4, seed=1), 3)
def relaxation(u, f, sweeps):
    for _ in range(sweeps):
        new = u.copy()
        new[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] - f[1:-1, 1:-1])
        u = new
    return np.sum(u**2)


@golden(np.array([-2.0, -0.3, 0.4, 1.8]))
def clipped(x):
    y = np.clip(x, -1.0, 1.0)
    return np.sum(y**2)


@golden(np.array([-2.0, -0.3, 0.4, 1.8]))
def leaky_relu(x):
    y = np.where(x > 0, x, 0.1 * x)
    return np.sum(y**2)


@golden(normal(3, 4), normal(3, seed=1), normal(4, seed=2), argnums=(0, 1, 2))
def bilinear(A, x, y):
    return x @ A @ y


@golden(normal(4), normal(4, seed=1), argnums=(0, 1))
def cosine_similarity(a, b):
    return a @ b / (np.linalg.norm(a) * np.linalg.norm(b))


# --- probability --------------------------------------------------------------------


@golden(0.3, -0.2, normal(6, seed=1), argnums=(0, 1))
def gaussian_log_density(mean, log_sigma, data):
    z = (data - mean) / np.exp(log_sigma)
    constant = 0.5 * np.log(2 * np.pi)
    return np.sum(-0.5 * z**2 - log_sigma - constant)


@golden(normal(2), np.ones(2), np.full(2, 0.5), normal(6, seed=1))
def mixture_likelihood(centers, widths, weights, data):
    density = 0.0
    for k in range(len(centers)):
        z = (data - centers[k]) / widths[k]
        density = density + weights[k] * np.exp(-0.5 * z**2) / widths[k]
    return -np.sum(np.log(density))


@golden(0.3, normal(5))
def kalman_likelihood(noise, data):
    x, p = 0.0, 1.0
    total = 0.0
    for z in data:
        p = p + noise
        s = p + 0.5
        gain = p / s
        r = z - x
        total -= 0.5 * (np.log(s) + r * r / s)
        x = x + gain * r
        p = (1 - gain) * p
    return total


DISTANCES = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))


@golden(1.3, 0.4, DISTANCES, normal(4, seed=1), argnums=(0, 1))
def cholesky_likelihood(scale, noise, distances, y):
    covariance = scale * np.exp(-distances) + noise * np.eye(4)
    factor = np.linalg.cholesky(covariance)
    z = np.linalg.solve(factor, y)
    return -0.5 * z @ z - np.sum(np.log(np.diag(factor)))


# --- closures ------------------------------------------------------------------------


def make_smooth_hinge(width):
    """A loss with a constant of its own."""

    def smooth_hinge(margin):
        scaled = (1 - margin) / width
        return width * np.log(1 + np.exp(scaled))

    return smooth_hinge


smooth_hinge = golden(0.4)(make_smooth_hinge(0.5))
