"""Names that are None or an array, or a number: where a loop or a branch binds one."""

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads
from tests.transforms.differences import check_batches, check_derivatives


def summed(x):
    acc = None
    for i in range(3):
        t = x * (i + 1.0) ** 2
        acc = t if acc is None else acc + t
    return np.sum(acc**2)


def summed_in_place(x):
    acc = None
    for i in range(3):
        t = x * (i + 1.0)
        if acc is None:
            acc = t.copy()
        else:
            acc += t**2
    return np.sum(acc**2)


def difference_from_before(x):
    before = None
    total = 0.0
    for i in range(4):
        now = x * np.cos(i * x)
        if before is not None:
            total += np.sum((now - before) ** 2)
        before = now
    return total


def recurrent(x):
    h = None
    for _ in range(4):
        h = np.tanh(x) if h is None else np.tanh(0.5 * h + x)
    return np.sum(h)


def momentum(x):
    m = None
    for _ in range(3):
        g = 2 * x * x
        m = g if m is None else 0.9 * m + g
        x = x - 0.1 * m
    return np.sum(x**2)


def best_of_arrays(x):
    best = None
    for i in range(3):
        t = np.sin(x * (i + 1))
        if best is None or np.sum(t) > np.sum(best):
            best = t
    return np.sum(best * x)


def range_of_numbers(x):
    low = high = None
    for v in x:
        if low is None or v < low:
            low = v
        if high is None or v > high:
            high = v
    return (high - low) ** 2 * high


def held_later(x):
    a = None
    for i in range(3):
        b = a
        a = x * (i + 1.0)
        if b is not None:
            a = a + b
    return np.sum(a**2) + np.sum(b)


def none_again(x):
    w = None
    total = 0.0
    for i in range(5):
        y = x * (i + 1.0)
        if i % 3 == 2:
            w = None
        elif w is None:
            w = y
        else:
            w = w * y
        if w is not None:
            total += np.sum(w)
    return total


def number_that_is_none_again(x):
    last = None
    total = 0.0
    for i in range(4):
        k = x[i % 3]
        if last is not None:
            total = total + np.exp(-((k - last) ** 2))
        last = k if i != 1 else None
    return total


class Running:
    def __init__(self):
        self.total = None

    def add(self, t):
        if self.total is None:
            self.total = t
        else:
            self.total = self.total + t


def attribute(x):
    running = Running()
    for i in range(3):
        running.add(np.sin(x * i))
    return np.sum(running.total**2)


def item_of_a_dict(x):
    state = {"m": None, "v": None}
    for _ in range(3):
        g = 2 * x
        m, v = state["m"], state["v"]
        state["m"] = g if m is None else 0.9 * m + 0.1 * g
        state["v"] = g**2 if v is None else 0.9 * v + 0.1 * g**2
        x = x - 0.1 * state["m"] / (np.sqrt(state["v"]) + 0.3)
    return np.sum(x**2)


def rows_of_another_shape(x):
    acc = None
    for row in np.outer(x, x):
        acc = row * 2.0 if acc is None else np.maximum(acc, row)
    return np.sum(acc)


def filled_where_it_is_none(x):
    r = None
    for i in range(3):
        if r is None:
            r = np.zeros(3)
        r[i] = x[i] ** 2 + r[i - 1]
    return np.sum(r * x)


def never_made(x):
    w = None
    if x[0] > 5:
        w = x**2
    return np.sum(x if w is None else w * x)


def layer(x, bias=None):
    y = np.sin(x)
    return y if bias is None else y + bias


def handed_on(x):
    bias = None
    for _ in range(3):
        x = layer(x, bias)
        bias = x * 0.5
    return np.sum(x)


def looked_at_when_used(x):
    # `w` is None in the last trip, and what was computed with it was not.
    w = None
    total = 0.0
    for i in range(4):
        if w is not None:
            total += np.sum(w * x)
        total += 1.0 if w is None else 2.0
        w = None if i == 2 else x * i
    return total if w is not None else -total


def items_made_on_demand(x):
    held = {}
    parts = [x[:1] * 1.0, x[1:] * 1.0]
    for _ in range(2):
        for i, p in enumerate(parts):
            g = 2 * p * x[0]
            m = held.get(i)
            m = g if m is None else 0.9 * m + g
            held[i] = m
            p -= 0.1 * m
    return np.sum(parts[0]) + np.sum(parts[1] ** 2)


def product(a, b, out=None):
    return np.multiply(a, b, out=out)


def result_where_one_is_given(x):
    buffer = np.zeros(3)
    product(x, x, out=buffer)
    return np.sum(product(x, x) * buffer)


def result_from_the_trip_before(x):
    buffer = None
    for i in range(3):
        buffer = np.multiply(x, i + 1.0, out=buffer)
    return np.sum(buffer * x)


def result_that_a_branch_has_no_place_for(x):
    out = None if x[0] < 0.5 else np.empty(3)
    y = np.multiply(x, x[1], out=out)
    return np.sum(y) if out is None else np.sum(out * y)


FUNCTIONS = [
    items_made_on_demand,
    result_where_one_is_given,
    result_from_the_trip_before,
    result_that_a_branch_has_no_place_for,
    summed,
    summed_in_place,
    difference_from_before,
    recurrent,
    momentum,
    best_of_arrays,
    range_of_numbers,
    held_later,
    none_again,
    number_that_is_none_again,
    attribute,
    item_of_a_dict,
    rows_of_another_shape,
    never_made,
    handed_on,
    looked_at_when_used,
]
POINTS = np.array([[0.3, -0.7, 1.1], [0.9, 0.4, 0.2]])


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_derivatives(f):
    check_derivatives(f, POINTS[0])


def test_what_is_filled_where_it_is_none():
    # Reverse mode of a gradient within another function is refused.
    for f in (filled_where_it_is_none, srcjax.grad(filled_where_it_is_none)):
        check_grads(f, (POINTS[0],), modes=("fwd", "rev"))
    check_batches(filled_where_it_is_none, POINTS)


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_batches(f):
    check_batches(f, POINTS)


@pytest.mark.parametrize(
    "f", [summed, difference_from_before, recurrent, momentum, best_of_arrays]
)
def test_adjoints_are_arrays_like_the_argument(f):
    text = srcjax.source(srcjax.grad(f), POINTS[0])
    assert "runtime" not in text
    assert "np.zeros_like(x)" in text


def test_a_part_that_may_not_be_evaluated_tells_nothing():
    def f(x):
        w = None
        for _ in range(3):
            large = w is not None and np.sum(w) > 1.0
            size = 0.0 if w is None else np.sum(w**2)
            if w is None:
                w = x * 1.0
            x = x * (2.0 if large else 1.5) + size
        return np.sum(x)

    check_derivatives(f, POINTS[0])


def test_items_that_are_none_have_none_for_an_adjoint():
    def f(zs, x):
        total = 0.0
        for z in zs:
            w = z
            if w is not None:
                total = total - 0.5 * np.sum((w - x) ** 2)
        return total

    for zs in ([1.5, None, 3.0], [np.ones(2), None, np.zeros(2)]):
        found, _ = srcjax.grad(f, argnums=(0, 1))(zs, np.ones(2))
        assert [part is None for part in found] == [False, True, False]


def test_sums_of_adjoints_that_start_as_a_number_are_arrays_in_a_batch():
    def f(x):
        held = {"m": None}
        for _ in range(3):
            m = held["m"]
            held["m"] = x**2 if m is None else 0.9 * m + x
            x = x - 0.1 * held["m"]
        return np.sum(x**2)

    check_derivatives(f, POINTS[0])


def test_what_takes_none_tells_nothing():
    def f(x, large):
        w = x * 2 if x[0] > large else None
        a = np.atleast_1d(w)
        if w is None:
            return np.sum(x**2) * len(a)
        return np.sum(a * x)

    x = POINTS[0]
    np.testing.assert_allclose(srcjax.grad(f)(x, 5.0), 2 * x)
    np.testing.assert_allclose(srcjax.grad(f)(x, 0.0), 4 * x)


def test_what_is_caught_tells_nothing():
    def f(x, large):
        w = x * 2 if x[0] > large else None
        try:
            y = w + x
        except TypeError:
            y = x * x
        return np.sum(y) if w is None else np.sum(y * w)

    x = POINTS[0]
    np.testing.assert_allclose(srcjax.grad(f)(x, 5.0), 2 * x)
    np.testing.assert_allclose(srcjax.grad(f)(x, 0.0), 12 * x)
