"""Calls that change what carries no derivative, but is multiplied with what does."""

import collections
import functools
import random

import numpy as np

from .registry import normal, program


def put_first(buffer, value):
    buffer[0] = value
    return 2.0


def put_deep(rows, value):
    for row in rows:
        put_first(row, value)


def put_below(buffer, k):
    if k:
        buffer[k] = 5.0
        put_below(buffer, k - 1)


class Weights:
    def __init__(self, count):
        self.values = np.ones(count)
        self.changes = 0

    def put(self, value):
        self.values[0] = value
        self.changes += 1

    def get(self):
        return self.values


@program(normal(3), jax=False)
def weights_changed_by_a_callee(x):
    w = np.ones(3)
    y = w * x**2
    put_first(w, 4.0)
    part = w[1:]
    z = part * x[1:] ** 3
    put_below(w, 2)
    return np.sum(y) + np.sum(z)


@program(normal(3), jax=False)
def weights_changed_inside_an_expression(x):
    w = np.ones(3)
    y = w * x**2
    factor = 3.0 * put_first(w, 4.0)
    changes = [put_first(v, 6.0) for v in (w, w)]
    return np.sum(y) * factor * len(changes)


@program(normal(3), jax=False)
def weights_changed_in_a_loop(x):
    w = np.ones(3)
    rows = [np.full(3, 2.0), w]
    total = 0.0
    for k in range(3):
        total = total + np.sum(rows[0] * w * x**2)
        put_deep(rows, k + 3.0)
    return total


@program(normal(3), jax=False)
def weights_changed_through_a_partial(x):
    w = np.ones(3)
    change = functools.partial(put_first, w)
    y = w * x**2
    change(4.0)
    changes = {"a": put_first}
    z = w * y
    changes["a"](w, 5.0)
    return np.sum(z)


@program(normal(3), jax=False)
def weights_of_an_object_changed(x):
    model = Weights(3)
    y = model.get() * x**2
    model.put(7.0)
    z = model.values * y
    model.values[1] = 8.0
    return np.sum(z) * model.changes


@program(normal(3), jax=False)
def weights_shuffled_and_sorted(x):
    w = np.arange(3.0)
    y = w * x**2
    np.random.default_rng(0).shuffle(w)
    z = w * y
    scales = [2.0, 3.0, 1.0]
    u = scales[0] * z
    random.Random(1).shuffle(scales)
    np.multiply(w, 2.0, out=w)
    np.ndarray.sort(w)
    return np.sum(u) * scales[0]


@program(normal(3), jax=False)
def buffer_cleared_by_a_callee_then_filled(x):
    buffer = np.empty(3)
    total = 0.0
    for k in range(3):
        buffer[:] = 0.0
        put_first(buffer, 2.0)
        buffer[k] = x[k] ** 2
        total = total + np.prod(1.0 + buffer)
    return total


@program(normal(3), jax=False)
def weights_changed_by_library_calls(x):
    w = np.arange(1.0, 4.0)
    y = w * x
    np.add(w, 1.0, w)
    z = w * y
    np.cumsum(w, 0, None, w)
    counts = collections.defaultdict(float)
    counts["a"] += 2.0
    u = counts["a"] * np.sum(z * w)
    del counts["a"]
    return u * x[0] + counts["a"]


@program(normal(3), jax=False, order=1)
def weights_changed_by_an_iterator(x):
    w = np.arange(1.0, 4.0)
    y = w * x
    with np.nditer(w, op_flags=["readwrite"]) as items:
        for item in items:
            item[...] = 2 * item
    return np.sum(w * y)


@program(normal(3), jax=False)
def weights_filled(x):
    w = np.ones(3)
    y = w * x**2
    w.fill(5.0)
    z = w * y
    text = str(w.fill(3.0)) + "!"
    return np.sum(z * w) * len(text)


def added_into(total, value):
    total += value
    return total


@program(normal(3), jax=False)
def weights_added_to_by_a_helper_that_adds_what_varies_too(x):
    total = added_into(np.zeros(3), x)
    w = np.ones(3)
    y = w * total
    added_into(w, np.arange(3.0))
    return np.sum(y)
