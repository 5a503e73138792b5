"""Constructs that are refused, at the line that is the reason and with a way out."""

from collections import deque

import numpy as np
import pytest

import srcjax
from srcjax.errors import UnsupportedError

X = np.array([1.1, 2.0, 0.5])


def fails(state, x):
    state["n"] = x[0] * 3
    if x[0] > 0:
        raise ValueError
    state["n"] = x[0]


def helper(window):
    return window[0]


def iterator_used_twice(x):
    squares = map(lambda v: v * v, x)
    return sum(squares) + sum(squares)


def iterator_used_in_a_loop(x):
    total = 0.0
    pairs = zip(x, x)  # noqa: B905
    for _ in range(2):
        for a, b in pairs:
            total = total + a * b
    return total


def iterator_of_what_changes(x):
    scale = x[0]
    scaled = (scale * v for v in x)
    scale = x[1]
    return sum(scaled) * scale


def callee_changes_and_raises(x):
    state = {"n": x[0]}
    try:  # noqa: SIM105
        fails(state, x)
    except ValueError:
        pass
    return state["n"]


def finally_in_a_split_body(x):
    y = x[0]
    try:  # noqa: SIM105
        try:
            y = y * x[1]
            y = np.sqrt(-y)
        finally:
            y = y + 1
        y = float("none")
    except ValueError:
        y = y * 2
    return y


def walrus_seen_after_an_exception(x):
    y = x[0]
    try:  # noqa: SIM105
        z = fails({}, (y := x * 2))
    except ValueError:
        z = 1.0
    return z * np.sum(y)


def view_of_a_swapped_buffer(x):
    v = x.copy()
    w = np.zeros_like(v)
    row = v[1:]
    for _ in range(3):
        w[:] = v**2
        v, w = w, v
    return np.sum(row * v[1:])


def swapped_buffer_kept_in_a_list(x):
    v = x.copy()
    w = np.zeros_like(v)
    kept = []
    for _ in range(3):
        w[:] = v**2
        v, w = w, v
        kept.append(v)
    return np.sum(kept[0]) + np.sum(v)


def deque_given_away(x):
    window = deque([x[0]])
    return helper(window)


def one_array_twice_in_a_list(x):
    z = x * 2
    for buffer in (buffers := [z, z]):
        buffer[0] = buffer[0] * buffer[1]
    return np.sum(buffers[0] * buffers[1])


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (iterator_used_twice, "more than once"),
        (iterator_used_in_a_loop, "outside of this loop"),
        (iterator_of_what_changes, "may change before"),
        (callee_changes_and_raises, "half done"),
        (finally_in_a_split_body, "half done"),
        (walrus_seen_after_an_exception, "may raise"),
        (view_of_a_swapped_buffer, "that are swapped"),
        (swapped_buffer_kept_in_a_list, "that are swapped"),
        (deque_given_away, "the deque `window`"),
        (one_array_twice_in_a_list, "several arrays"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_refused(function, reason):
    with pytest.raises(UnsupportedError, match=reason) as caught:
        srcjax.grad(function)(X)
    text = str(caught.value)
    assert "test_refused_constructs.py" in text and "Instead: " in text


def test_a_reshape_that_copies_is_no_view():
    def through_a_copy(x):
        turned = np.outer(x, x).T
        flat = turned.reshape(-1)
        flat[0] = 2.0
        return np.sum(turned)

    np.testing.assert_allclose(srcjax.grad(through_a_copy)(X), 2 * np.sum(X) + 0 * X)


def number_times_list(x):
    return np.sum(x[0] * [1.0, 2.0])


def test_number_times_list():
    with pytest.raises(UnsupportedError, match="which Python refuses") as caught:
        srcjax.jvp(number_times_list, (X,), (X,))
    assert caught.value.lineno == number_times_list.__code__.co_firstlineno + 1


def on_each_path_once(x, product):
    both = map(np.sin, (x, 2.0 * x))
    if product:
        return np.prod(list(both))
    return sum(both)


@pytest.mark.parametrize("product", [False, True])
def test_iterators_that_each_path_uses_once(product):
    a, b, da, db = np.sin(0.3), np.sin(0.6), np.cos(0.3), 2.0 * np.cos(0.6)
    expected = da * b + a * db if product else da + db
    got = srcjax.grad(on_each_path_once)(0.3, product)
    np.testing.assert_allclose(got, expected)


def calls_what_is_refused(x):
    return 2.0 * iterator_used_twice(x)


def test_the_reason_is_that_of_the_function_that_is_called():
    with pytest.raises(UnsupportedError, match="more than once"):
        srcjax.grad(calls_what_is_refused)(X)
    with pytest.raises(UnsupportedError, match="more than once"):
        srcjax.jvp(calls_what_is_refused, (X,), (X,))
