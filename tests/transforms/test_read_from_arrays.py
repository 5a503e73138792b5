"""Numbers that backward code reads from the array that they were put into."""

import math

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads, check_passes

N = np.array([0.7, 0.3, 0.5, 0.9])
M = np.array([[2.0, 0.1, 0.3], [0.3, 1.5, 0.2], [0.4, 0.2, 1.8]])


def solved_forward(L, b):
    y = np.zeros(len(b))
    for i in range(len(b)):
        y[i] = (b[i] - L[i, :i] @ y[:i]) / L[i, i]
    return np.sum(y**2)


def exponentials(a, b):
    out = np.ones(len(b) + 1)
    for i in range(len(b)):
        e = math.exp(a * b[i] * out[i])
        out[i + 1] = e
    return np.sum(out)


def from_the_end(a, b):
    out = np.ones(len(b) + 1)
    for i in range(len(b) - 1, -1, -1):
        e = math.exp(a * b[i] * out[i + 1])
        out[i] = e
    return np.sum(out)


def in_a_table(a, b):
    out = np.ones((2, len(b) + 1))
    for k in range(2):
        for i in range(len(b)):
            e = math.exp(a * b[i] - out[k, i])
            out[k, i + 1] = e
    return np.sum(out)


def two_at_once(a, b):
    out, other = np.ones(len(b) + 1), np.ones(len(b) + 1)
    for i in range(len(b)):
        e = math.exp(a * b[i] * other[i])
        s = math.tanh(a + b[i] * out[i])
        out[i + 1] = e
        other[i + 1] = s
    return out[-1] + other[-1]


FROM_ITEMS = [
    (solved_forward, M, N[:3]),
    (exponentials, 0.4, N),
    (from_the_end, 0.4, N),
    (in_a_table, 0.4, N),
    (two_at_once, 0.4, N),
]


def beside_a_tape(a, b):
    out = np.zeros(len(b))
    for i in range(len(b)):
        e = math.exp(a * b[i])
        out[i] = e
        a = a * e / (1 + e)
    return np.sum(out) + a


def used_before_it_is_put_there(a, b):
    out = np.ones(len(b) + 1)
    for i in range(len(b)):
        e = math.exp(a * b[i] * out[i])
        square = e * (1 + e)
        out[i + 1] = e
        out[0] = out[0] + square * square
    return np.sum(out)


def written_again_at_once(a, b):
    out = np.zeros(len(b))
    for i in range(len(b)):
        e = math.exp(a * b[i])
        out[i] = e
        out[i] = out[i] * b[i]
    return np.sum(out) + a


def written_again_later(a, b):
    out = np.zeros(len(b) + 1)
    for i in range(len(b)):
        e = math.exp(a * b[i])
        out[i] = e
        out[i + 1] = 2 * e
        out[0] = e * a
    return np.sum(out) + a


def written_again_by_another_loop(a, b):
    out = np.zeros(len(b))
    for k in range(2):
        for i in range(len(b)):
            e = math.exp(a * b[i] - 0.3 * k)
            out[i] = e
    return np.sum(out)


def read_before_it_is_written_again(a, b):
    out = np.zeros(len(b))
    total = 0.0
    for k in range(2):
        for i in range(len(b)):
            e = math.exp(a * b[i] - 0.3 * k)
            out[i] = e
        total = total + np.sum(out)
    return total


def scaled_in_the_end(a, b):
    out = np.zeros(len(b))
    for i in range(len(b)):
        e = math.exp(a * b[i])
        out[i] = e
    out *= 3
    out[1] = a
    return np.sum(out) + a


def written_through_a_view(a, b):
    out = np.zeros(len(b))
    rest = out[1:]
    for i in range(len(b)):
        e = math.exp(a * b[i])
        out[i] = e
    rest[0] = 2 * a
    return np.sum(out) + a


def at_places_of_an_array(a, b):
    out = np.zeros(2)
    for i in range(len(b)):
        e = math.exp(a * b[i])
        out[i % 2] = e
    return np.sum(out) + a


def counted_by_hand(a, b):
    out = np.zeros(len(b))
    k = 0
    while k < len(b):
        e = math.exp(a * b[k])
        out[k] = e
        k += 1
    return np.sum(out) + a


def rounded_when_stored(a, b):
    out = np.zeros(len(b), dtype=np.float32)
    total = 0.0
    for i in range(len(b)):
        e = math.exp(a * b[i])
        out[i] = e
        total += e**2
    return total


def bound_anew(a, b):
    total = 0.0
    for _ in range(2):
        out = np.zeros(len(b))
        for i in range(len(b)):
            e = math.exp(a * b[i])
            out[i] = e
            total = total + np.sum(out**2)
    return total + a


def on_one_side(a, b):
    out = np.zeros(len(b))
    for i in range(len(b)):
        e = math.exp(a * b[i])
        if e > 1.3:
            out[i] = e
    return np.sum(out) + a


def swapped_with_another(a, b):
    out, other = np.zeros(len(b)), np.ones(len(b))
    for i in range(len(b)):
        e = math.exp(a * b[i])
        out[i] = e
        out, other = other, out
    return np.sum(out * b) + a


def handed_in(a, b):
    """The array is a copy of the argument, in which each item is read before."""
    b = b.copy()
    for i in range(len(b)):
        e = math.exp(a * b[i])
        b[i] = e
    return np.sum(b) + a


def sorted_in_the_end(a, b):
    out = np.zeros(len(b))
    for i in range(len(b)):
        e = math.exp(a * b[i])
        out[i] = e
    out.sort()
    return out[0] * 2 + out[-1] + a


OTHERS = [
    beside_a_tape,
    used_before_it_is_put_there,
    written_again_at_once,
    written_again_later,
    written_again_by_another_loop,
    read_before_it_is_written_again,
    scaled_in_the_end,
    written_through_a_view,
    at_places_of_an_array,
    counted_by_hand,
    rounded_when_stored,
    bound_anew,
    on_one_side,
    swapped_with_another,
    handed_in,
    sorted_in_the_end,
]
PROGRAMS = [*FROM_ITEMS, *((f, 0.4, N) for f in OTHERS)]
IDS = [f.__name__ for f, *_ in PROGRAMS]


@pytest.mark.parametrize(("f", "a", "b"), PROGRAMS, ids=IDS)
def test_gradient(f, a, b):
    check_grads(f, (a, b), order=2)
    check_passes(srcjax.grad(f, (0, 1)), a, b)


@pytest.mark.parametrize(("f", "a", "b"), FROM_ITEMS, ids=IDS[: len(FROM_ITEMS)])
def test_the_item_is_read(f, a, b):
    text = str(srcjax.source(srcjax.grad(f, (0, 1)), a, b))
    assert not any(line in text for line in ("append(e)", "ratio", " e))", "(e, ")), (
        text
    )


def table(a, b):
    out = np.zeros(len(b))
    for i in range(len(b)):
        e = math.exp(a * b[i])
        out[i] = e
    return out


def test_the_caller_may_write_to_the_result():
    y, pull = srcjax.vjp(table, 0.4, N)
    expected = pull(np.ones(4))
    y2, pull2 = srcjax.vjp(table, 0.4, N)
    y2[:] = 7.0
    for one, other in zip(pull2(np.ones(4)), expected, strict=True):
        np.testing.assert_allclose(one, other)
    np.testing.assert_allclose(y, table(0.4, N))
