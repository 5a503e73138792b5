"""What is measured: plain NumPy functions, and their gradients by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Case:
    """One function with arguments, differentiated by the first one."""

    name: str
    function: Callable[..., Any]
    #: The gradient as a person writes it.
    by_hand: Callable[..., Any]
    args: tuple
    #: The same function for JAX (given `jax`), where it has to be written otherwise.
    for_jax: Callable[[Any], Callable[..., Any]] | None = None
    #: Peers that cannot run it, or take too long to be worth it.
    without: tuple[str, ...] = ()


# --- one number ------------------------------------------------------------------


def five_operations(x):
    return math.sin(x) * x + math.exp(-x)


def five_operations_gradient(x):
    return math.cos(x) * x + math.sin(x) - math.exp(-x)


# --- networks --------------------------------------------------------------------


def predict(params, inputs):
    for W, b in params:
        outputs = np.dot(inputs, W) + b
        inputs = np.tanh(outputs)
    return outputs


def squared_error(params, inputs, targets):
    outputs = predict(params, inputs)
    return np.mean((outputs - targets) ** 2)


def forward_by_hand(params, inputs):
    activations = []
    for W, b in params:
        activations.append(inputs)
        outputs = np.dot(inputs, W) + b
        inputs = np.tanh(outputs)
    return activations, outputs


def backward_by_hand(params, activations, doutputs):
    gradients = []
    for i in reversed(range(len(params))):
        W, _ = params[i]
        inputs = activations[i]
        gradients.append((inputs.T @ doutputs, doutputs.sum(axis=0)))
        if i > 0:
            doutputs = (doutputs @ W.T) * (1 - inputs * inputs)
    gradients.reverse()
    return gradients


def squared_error_gradient(params, inputs, targets):
    activations, outputs = forward_by_hand(params, inputs)
    doutputs = (outputs - targets) * (2 / outputs.size)
    return backward_by_hand(params, activations, doutputs)


def cross_entropy(params, inputs, targets):
    logits = predict(params, inputs)
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    log_normaliser = np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(np.sum(targets * (shifted - log_normaliser), axis=1))


def cross_entropy_gradient(params, inputs, targets):
    activations, logits = forward_by_hand(params, inputs)
    exponentials = np.exp(logits - np.max(logits, axis=1, keepdims=True))
    p = exponentials / np.sum(exponentials, axis=1, keepdims=True)
    return backward_by_hand(params, activations, (p - targets) / len(targets))


def network(sizes: list[int], batch: int, dtype: type = np.float64) -> tuple:
    """Parameters, inputs and one-hot targets for a network of these layer sizes."""
    rng = np.random.default_rng(0)
    params = []
    for m, n in zip(sizes[:-1], sizes[1:], strict=True):
        W = (rng.normal(size=(m, n)) / np.sqrt(m)).astype(dtype)
        params.append((W, np.zeros(n, dtype)))
    inputs = rng.normal(size=(batch, sizes[0])).astype(dtype)
    targets = np.eye(sizes[-1], dtype=dtype)[rng.integers(0, sizes[-1], batch)]
    return params, inputs, targets


# --- a long loop -----------------------------------------------------------------


def chain(x, n):
    for _ in range(n):
        x = math.sin(x) + 0.5 * x
    return x


def chain_gradient(x, n):
    saved = []
    for _ in range(n):
        saved.append(x)
        x = math.sin(x) + 0.5 * x
    dx = 1.0
    for x in reversed(saved):
        dx = dx * (math.cos(x) + 0.5)
    return dx


def chain_for_jax(jax):
    def scanned(x, n):
        def step(x, _):
            return jax.numpy.sin(x) + 0.5 * x, None

        return jax.lax.scan(step, x, None, length=n)[0]

    return scanned


# --- calls in calls --------------------------------------------------------------


def deep_1(x):
    y = np.sin(x)
    for _ in range(2):
        y = 0.5 * y * x
    return y


def deep_2(x):
    y = np.sin(x)
    for _ in range(2):
        y = 0.5 * y * x
    return deep_1(y) + x


def deep_3(x):
    y = np.sin(x)
    for _ in range(2):
        y = 0.5 * y * x
    return deep_2(y) + x


def deep_4(x):
    y = np.sin(x)
    for _ in range(2):
        y = 0.5 * y * x
    return deep_3(y) + x


def deep_5(x):
    y = np.sin(x)
    for _ in range(2):
        y = 0.5 * y * x
    return deep_4(y) + x


def deep_6(x):
    y = np.sin(x)
    for _ in range(2):
        y = 0.5 * y * x
    return deep_5(y) + x


def deep_7(x):
    y = np.sin(x)
    for _ in range(2):
        y = 0.5 * y * x
    return deep_6(y) + x


def deep_8(x):
    y = np.sin(x)
    for _ in range(2):
        y = 0.5 * y * x
    return deep_7(y) + x


def deep_9(x):
    y = np.sin(x)
    for _ in range(2):
        y = 0.5 * y * x
    return deep_8(y) + x


def deep_10(x):
    y = np.sin(x)
    for _ in range(2):
        y = 0.5 * y * x
    return deep_9(y) + x


DEEP = {1: deep_1, 2: deep_2, 4: deep_4, 6: deep_6, 8: deep_8, 10: deep_10}


def nested_calls(depth: int) -> tuple[Callable, Callable]:
    """The sum of `deep_<depth>`, and its gradient by hand."""
    deepest = DEEP[depth]

    def nested(x):
        return np.sum(deepest(x))

    def nested_gradient(x):
        saved = []
        for _ in range(depth):
            y = np.sin(x)
            saved.append((x, y))
            x = 0.25 * y * x * x
        dx = np.ones_like(x)
        for level, (x, y) in enumerate(reversed(saved)):
            dy = dx
            dx = dy * 0.25 * (np.cos(x) * x * x + 2 * y * x)
            if level > 0:
                dx += 1
        return dx

    return nested, nested_gradient


# --- assignment in place ---------------------------------------------------------


def sweep(u):
    v = u.copy()
    for i in range(1, len(u) - 1):
        v[i] = 0.5 * v[i - 1] + 0.25 * v[i + 1]
    return np.sum(v**2)


def sweep_gradient(u):
    v = u.copy()
    for i in range(1, len(u) - 1):
        v[i] = 0.5 * v[i - 1] + 0.25 * v[i + 1]
    dv = 2 * v
    for i in reversed(range(1, len(u) - 1)):
        dnew = dv[i]
        dv[i] = 0.0
        dv[i - 1] += 0.5 * dnew
        dv[i + 1] += 0.25 * dnew
    return dv


def sweep_for_jax(jax):
    def scanned(u):
        def step(left, right):
            new = 0.5 * left + 0.25 * right
            return new, new

        _, middle = jax.lax.scan(step, u[0], u[2:])
        return u[0] ** 2 + jax.numpy.sum(middle**2) + u[-1] ** 2

    return scanned


def trajectory(start, steps):
    x = np.zeros(steps + 1)
    x[0] = start
    for t in range(steps):
        x[t + 1] = x[t] + 0.1 * x[t] * (1 - x[t])
    return np.sum(x**2)


def trajectory_gradient(start, steps):
    x = np.zeros(steps + 1)
    x[0] = start
    for t in range(steps):
        x[t + 1] = x[t] + 0.1 * x[t] * (1 - x[t])
    dx = 2 * x
    for t in reversed(range(steps)):
        dx[t] += dx[t + 1] * (1 + 0.1 * (1 - 2 * x[t]))
    return dx[0]


def trajectory_for_jax(jax):
    def scanned(start, steps):
        def step(x, _):
            new = x + 0.1 * x * (1 - x)
            return new, new

        _, later = jax.lax.scan(step, start, None, length=steps)
        return start**2 + jax.numpy.sum(later**2)

    return scanned


def heat(u, steps):
    v = u.copy()
    for _ in range(steps):
        v[1:-1] = v[1:-1] + 0.1 * (v[2:] - 2 * v[1:-1] + v[:-2])
    return np.sum(v**2)


def heat_gradient(u, steps):
    v = u.copy()
    for _ in range(steps):
        v[1:-1] = v[1:-1] + 0.1 * (v[2:] - 2 * v[1:-1] + v[:-2])
    dv = 2 * v
    for _ in range(steps):
        dnew = 0.1 * dv[1:-1]
        dv[1:-1] *= 0.8
        dv[2:] += dnew
        dv[:-2] += dnew
    return dv


def heat_for_jax(jax):
    def scanned(u, steps):
        def step(v, _):
            middle = v[1:-1] + 0.1 * (v[2:] - 2 * v[1:-1] + v[:-2])
            return v.at[1:-1].set(middle), None

        v, _ = jax.lax.scan(step, u, None, length=steps)
        return jax.numpy.sum(v**2)

    return scanned


# --- the list ----------------------------------------------------------------------


def scalar_case() -> Case:
    """A scalar function of five operations."""
    return Case(
        "scalar, 5 operations", five_operations, five_operations_gradient, (0.7,)
    )


def network_case(sizes: list[int], batch: int, dtype: type = np.float64) -> Case:
    """A network with a squared error."""
    name = f"MLP {'-'.join(map(str, sizes))}, batch {batch}, {np.dtype(dtype).name}"
    args = network(sizes, batch, dtype)
    return Case(name, squared_error, squared_error_gradient, args)


def digits_case() -> Case:
    """The network and loss of `srcjax demo`."""
    args = network([64, 128, 10], 128)
    return Case("digits MLP", cross_entropy, cross_entropy_gradient, args)


def chain_case(n: int) -> Case:
    """A loop of `n` rounds on one number."""
    without = () if n <= 1000 else ("autograd", "JAX eager")
    return Case(
        f"loop, n = {n}", chain, chain_gradient, (0.7, n), chain_for_jax, without
    )


def nesting_case(depth: int, size: int = 100) -> Case:
    """Calls nested `depth` deep."""
    function, gradient = nested_calls(depth)
    x = np.linspace(0.5, 1.5, size)
    return Case(f"calls, depth = {depth}", function, gradient, (x,))


def sweep_case(n: int) -> Case:
    """An array of `n`, of which each entry is updated in place, one by one."""
    u = np.sin(np.arange(float(n)))
    name = f"in-place sweep, n = {n}"
    return Case(name, sweep, sweep_gradient, (u,), sweep_for_jax, ("autograd",))


def trajectory_case(n: int) -> Case:
    """A trajectory of `n` steps, written into an array that the function makes."""
    return Case(
        f"trajectory, n = {n}",
        trajectory,
        trajectory_gradient,
        (0.3, n),
        trajectory_for_jax,
        ("autograd", "JAX eager"),
    )


def heat_case(n: int, steps: int = 50) -> Case:
    """An array of `n`, updated in place as a whole in each step."""
    u = np.sin(np.arange(float(n)))
    name = f"in-place heat, n = {n}"
    return Case(name, heat, heat_gradient, (u, steps), heat_for_jax, ("autograd",))


def small_cases() -> list[Case]:
    """Every kind of case at a size that runs at once, for the tests."""
    return [
        scalar_case(),
        network_case([4, 8, 2], 8),
        network_case([20, 16, 16, 5], 12, np.float32),
        digits_case(),
        chain_case(20),
        *(nesting_case(depth, 7) for depth in DEEP),
        sweep_case(12),
        trajectory_case(9),
        heat_case(12, 5),
    ]
