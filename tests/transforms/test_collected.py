"""Lists that are looked at again, and their adjoints, as comprehensions."""

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads, check_passes

V = np.array([0.5, -1.0, 2.0])


def squares(x):
    history = []
    for _ in range(4):
        x = 3.2 * x * (1 - x)
        history.append(x)
    return sum(h**2 for h in history)


def pairs(x):
    steps = []
    for k in range(3):
        x = x * (k + 1)
        steps.append((x, np.sin(x)))
    total = 0.0
    for u, v in steps:
        total += u**2 * v
    return total


def weighted(x):
    history = []
    for _ in range(3):
        x = x * x
        history.append(x)
    total = 0.0
    for i in range(len(history)):
        h = history[i]
        total += h**3 * WEIGHTS[i]
    return total


WEIGHTS = np.array([1.0, -2.0, 0.5])


def arrays(x):
    layers = []
    for k in range(3):
        x = np.tanh(x * (k + 1))
        layers.append(x)
    total = 0.0
    for layer in layers:
        total += np.sum(layer**2)
    return total


WRITTEN = {
    squares: "dhistory = [2 * h for h in history]",
    pairs: "dsteps = [(2 * v * u, u**2) for u, v in steps]",
    weighted: "for i, h in enumerate(history)]",
    arrays: "dlayers = [2 * layer for layer in layers]",
}
AT = {squares: 0.3, pairs: 0.7, weighted: 0.9, arrays: V}


@pytest.mark.parametrize("f", WRITTEN, ids=lambda f: f.__name__)
def test_is_a_comprehension(f):
    text = srcjax.source(srcjax.grad(f), AT[f])
    assert WRITTEN[f] in text, text
    assert "_tape.append(h" not in text
    check_grads(f, (AT[f],))
    check_passes(srcjax.grad(f), AT[f])


# -- those that are none ---------------------------------------------------------------


def sums_of_arrays(x):
    """The adjoint of an item is a number for all of it."""
    rows = []
    for k in range(3):
        rows.append(x * k)
    total = 0.0
    for row in rows:
        total += np.sum(row)
    return total * np.sum(x)


def carried(x):
    history = []
    for _ in range(4):
        x = 3.2 * x * (1 - x)
        history.append(x)
    total = 0.0
    for h in history:
        total = 0.5 * total * h + h
    return total


def changed_afterwards(x):
    history = []
    for k in range(3):
        history.append(x * k)
    total = 0.0
    for h in history:
        total += h**2
    history[1] = x**3
    history.append(x)
    history.pop(0)
    for h in history:
        total += h**3
    return total


def items_changed_in_place(x):
    rows = [x * 1.0, x * 2.0]
    total = 0.0
    for _ in range(2):
        for row in rows:
            total += np.sum(row**3)
        rows[0] *= 2.0
    return total


def item_read_later(x):
    history = []
    for k in range(3):
        history.append(x * (k + 1))
    total = 0.0
    for h in history:
        total += h**2
    return total * h


def looped_over_twice(x):
    history = []
    for k in range(3):
        history.append(x * (k + 1))
    total = 0.0
    for _ in range(2):
        for h in history:
            total += h**2
        history.append(total)
    return total


def through_another_name(x):
    history = [x, 2 * x]
    same = history
    total = 0.0
    for h in history:
        total += h**2
    same[0] = x**2
    for h in history:
        total += h**3
    return total


def with_a_view(x):
    rows = []
    for k in range(2):
        rows.append(x * (k + 1))
    first = rows[0]
    total = 0.0
    for row in rows:
        total += np.sum(row**2)
    first[0] = 5.0
    return total + np.sum(rows[0] ** 3)


def computed_twice(x):
    history = []
    for k in range(3):
        history.append(x * (k + 1))
    total = 0.0
    for h in history:
        e = np.exp(h)
        total += e * e * h
    return total


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (sums_of_arrays, V),
        (carried, 0.3),
        (changed_afterwards, 0.7),
        (items_changed_in_place, V),
        (item_read_later, 0.7),
        (looped_over_twice, 0.7),
        (through_another_name, 0.7),
        (with_a_view, V),
        (computed_twice, 0.2),
    ],
    ids=lambda f: getattr(f, "__name__", "x"),
)
def test_other_loops(f, x):
    check_grads(f, (x,))
    check_passes(srcjax.grad(f), x)
    hvp = srcjax.jvp(srcjax.grad(f))(x, np.ones_like(x) * 1.0)[1]
    step = 1e-6
    gradient = srcjax.grad(f)
    wanted = (gradient(x + step) - gradient(x - step)) / (2 * step)
    np.testing.assert_allclose(hvp, wanted, rtol=1e-5, atol=1e-5)
