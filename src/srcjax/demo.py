"""`srcjax demo`: read the gradient of an MLP, and train it on handwritten digits."""

from __future__ import annotations

import inspect
import os
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from srcjax.api import reverse as api
from srcjax.api.compiled import jit
from srcjax.beside.terminal import side_by_side

SIZES = (64, 128, 64, 10)
EPOCHS = 20
BATCH = 64
STEP = 0.1
MOMENTUM = 0.9
HELD_OUT = 360


def predict(params, inputs):
    for W, b in params:
        outputs = np.dot(inputs, W) + b
        inputs = np.tanh(outputs)
    return outputs


def loss(params, inputs, targets):
    logits = predict(params, inputs)
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_sum = np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(np.sum(targets * (shifted - log_sum), axis=1))


def init_params(sizes: Sequence[int], rng: np.random.Generator) -> list[tuple]:
    """A weight matrix and a bias for each layer."""
    return [
        (rng.normal(0, 1 / np.sqrt(m), (m, n)), np.zeros(n))
        for m, n in zip(sizes[:-1], sizes[1:], strict=True)
    ]


def accuracy(params: list[tuple], inputs: np.ndarray, labels: np.ndarray) -> float:
    """The share of digits that are named right."""
    return float(np.mean(predict(params, inputs).argmax(axis=1) == labels))


def relative_error(
    params: list[tuple], batch: tuple, gradient: Any, count: int = 60
) -> float:
    """The largest error of the gradient against central differences.

    Relative to the largest component; `count` entries of each array are compared.
    """
    rng = np.random.default_rng(1)
    scale = max(np.abs(g).max() for pair in gradient for g in pair)
    worst = 0.0
    for arrays, gradients in zip(params, gradient, strict=True):
        for array, found in zip(arrays, gradients, strict=True):
            for k in rng.choice(array.size, min(count, array.size), replace=False):
                place = np.unravel_index(k, array.shape)
                kept = array[place]
                ends = []
                for step in (1e-6, -1e-6):
                    array[place] = kept + step
                    ends.append(loss(params, *batch))
                array[place] = kept
                difference = (ends[0] - ends[1]) / 2e-6
                worst = max(worst, abs(found[place] - difference) / scale)
    return float(worst)


def faster(function: Callable, args: tuple, count: int = 50) -> tuple[Callable, str]:
    """The function compiled, and a line that says what that wins."""
    start = time.perf_counter()
    compiled: Any = jit(function)
    compiled.lower(*args).compile()(*args)
    first = time.perf_counter() - start
    times: list[list[float]] = [[], []]
    for _ in range(count):
        for each, found in zip((function, compiled), times, strict=True):
            start = time.perf_counter()
            each(*args)
            found.append(time.perf_counter() - start)
    plain, fast = (1e6 * statistics.median(found) for found in times)
    return compiled, (
        f"A value and gradient: {plain:.0f} us as it is, {fast:.0f} us compiled "
        f"({plain / fast:.1f} times faster; compiling took {first:.1f} s)"
    )


def load_digits() -> tuple[np.ndarray, np.ndarray]:
    """1797 real digits of 8 by 8 pixels, from 0 to 1, and their labels."""
    from sklearn import datasets

    digits = datasets.load_digits()
    return digits.data / 16.0, digits.target


def missing() -> list[str]:
    """The packages that the demo needs and that are not installed."""
    from importlib.util import find_spec

    needed = {"sklearn": "scikit-learn", "tqdm": "tqdm", "numba": "numba"}
    return [package for name, package in needed.items() if find_spec(name) is None]


def main(epochs: int | None = None) -> int:
    """Run the demo; returns the exit status."""
    if packages := missing():
        print(
            f"srcjax demo needs {' and '.join(packages)}; install with:\n"
            "    pip install 'srcjax[demo]'",
            file=sys.stderr,
        )
        return 1
    from tqdm import tqdm

    inputs, labels = load_digits()
    rng = np.random.default_rng(0)
    order = rng.permutation(len(inputs))
    inputs, labels = inputs[order], labels[order]
    held_inputs, held_labels = inputs[:HELD_OUT], labels[:HELD_OUT]
    inputs, labels = inputs[HELD_OUT:], labels[HELD_OUT:]
    targets = np.eye(10)[labels]
    params = init_params(SIZES, rng)
    batch = (inputs[:BATCH], targets[:BATCH])

    start = time.perf_counter()
    loss_and_grad = api.value_and_grad(loss)
    _, gradient = loss_and_grad(params, *batch)
    first = time.perf_counter() - start

    original = f"{inspect.getsource(predict)}\n\n{inspect.getsource(loss)}"
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    width = shutil.get_terminal_size((160, 40)).columns
    text = api.source(loss_and_grad, params, *batch)
    print(side_by_side(original, text, width, colour))
    print(f"From decoration to the first gradient: {1000 * first:.0f} ms")
    error = relative_error(params, batch, gradient)
    print(f"Largest relative error against finite differences: {error:.1e}")

    compiled, line = faster(loss_and_grad, (params, *batch))
    print(line)

    print(f"Training on {len(inputs)} digits, {HELD_OUT} are held out", flush=True)
    start = time.perf_counter()
    speed = [tuple(np.zeros_like(a) for a in pair) for pair in params]
    epochs = EPOCHS if epochs is None else epochs
    bar = tqdm(range(epochs), unit="epoch")
    for epoch in bar:
        step = STEP * (1 - epoch / epochs)  # down to nothing, so that it settles
        order = rng.permutation(len(inputs))
        for first_row in range(0, len(order), BATCH):
            rows = order[first_row : first_row + BATCH]
            value, gradient = compiled(params, inputs[rows], targets[rows])
            for i, pair in enumerate(gradient):
                speed[i] = tuple(
                    MOMENTUM * v - step * g for v, g in zip(speed[i], pair, strict=True)
                )
                params[i] = tuple(
                    p + v for p, v in zip(params[i], speed[i], strict=True)
                )
        bar.set_postfix(loss=f"{value:.4f}")
    bar.close()
    seconds = time.perf_counter() - start
    held_out = accuracy(params, held_inputs, held_labels)
    print(f"Accuracy on held-out digits: {held_out:.1%} after {seconds:.1f} s")
    return 0
