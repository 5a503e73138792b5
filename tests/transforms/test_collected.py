"""Lists that are looked at again, and their adjoints, as comprehensions."""

from collections import deque

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads, check_passes

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = {"test_other_loops": 3, "test_items_are_as_they_were": 3}
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
    assert "power rule" in srcjax.source(srcjax.grad(f), AT[f], explain=True)
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


# -- items of dicts and lists that a loop goes on filling ------------------------------


def keys_of_steps(x):
    d = {0: x}
    for t in range(1, 5):
        d[t] = np.sin(d[t - 1]) * d[t - 1]
    return d[4] * d[2]


def keys_written_again(x):
    d = {0: x, 1: x}
    for t in range(1, 4):
        d[t] = d[t - 1] ** 2 + d[t]
        d[t + 1] = d[t] * d[t - 1]
    return d[3] * d[4]


def key_behind(x):
    d = {0: x, 1: 2 * x, 2: x * x}
    for t in range(3):
        y = d[t + 1] if t < 2 else d[0]
        d[t] = y**2
    return d[0] * d[1] * d[2]


def keys_given_back(x):
    d = {-1: x}
    for t in range(4):
        d[t] = d[t - 1] ** 2 * 1.1
        del d[t - 1]
    return d[3]


def index_from_the_start(x):
    xs = [x]
    for t in range(4):
        xs.append(np.sin(xs[t]) * xs[t])
    return xs[4] * xs[2]


def index_from_the_end(x):
    xs = [x]
    for _ in range(4):
        xs.append(np.sin(xs[-1]) * xs[-1])
    return xs[4] * xs[2]


def index_before_the_start(x):
    xs = [x, 2 * x]
    for t in range(3):
        xs.append(xs[t - 1] ** 2 + xs[t])
    return xs[4] * xs[2]


def list_of_places(x):
    xs = [x] * 6
    for t in range(4):
        xs[t + 1] = np.sin(xs[t]) * xs[t - 1]
    return xs[4] * xs[5]


def dict_under_another_name(x):
    d = {0: x}
    e = d
    for t in range(3):
        d[t + 1] = d[t] ** 2
        e[t] = d[t + 1] * d[t]
    return d[3] * d[0] * d[1]


class Front:
    """What is appended comes first."""

    def __init__(self, first):
        self.items = [first]

    def append(self, item):
        self.items.insert(0, item)


def appended_in_front(x):
    front = Front(x)
    total = 0.0
    for t in range(3):
        total += front.items[0] ** 2
        front.append(x * (t + 5))
    return total


def put_in_front(x):
    xs = [x, 2 * x]
    total = 0.0
    for t in range(2):
        total += xs[t] ** 3
        xs.insert(0, x * (t + 5))
    return total


def of_limited_length(x):
    last = deque([x, 2 * x], maxlen=2)
    total = 0.0
    for t in range(2):
        total += last[t] ** 2
        last.append(x * (t + 5))
    return total


@pytest.mark.parametrize(
    "f",
    [
        appended_in_front,
        put_in_front,
        of_limited_length,
        keys_of_steps,
        keys_written_again,
        key_behind,
        keys_given_back,
        index_from_the_start,
        index_from_the_end,
        index_before_the_start,
        list_of_places,
        dict_under_another_name,
    ],
    ids=lambda f: f.__name__,
)
def test_items_are_as_they_were(f):
    check_grads(f, (1.1,))
    check_passes(srcjax.grad(f), 1.1)


@pytest.mark.parametrize("f", [keys_of_steps, index_from_the_start])
def test_are_read_again(f):
    """Of each trip the sine alone is kept."""
    assert "tape.append(sin_" in srcjax.source(srcjax.grad(f), 1.1)
