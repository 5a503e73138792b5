"""What a function changes around it, and reads: backward code has what it was."""

import types

import numpy as np
import pytest

import srcjax
from tests.corpus.harness import assert_close, differences

X = np.array([1.3, 2.0])
STATE = types.SimpleNamespace(n=0)
ITEMS = [0]
KEYS = {"n": 0}
WORK = np.zeros(2)


class Counting:
    """An object whose method counts."""

    def __init__(self):
        self.n = 0

    def loss(self, x):
        s = 1.0
        for _ in range(3):
            self.n += 1
            s = s * x[0] * self.n + x[1]
        return s


COUNTING = Counting()


def attribute(x):
    s = 1.0
    for _ in range(3):
        STATE.n += 1
        s = s * x[0] * STATE.n + x[1]
    return s


def item(x):
    s = 1.0
    for _ in range(3):
        ITEMS[0] += 1
        s = s * x[0] * ITEMS[0] + x[1]
    return s


def key(x):
    s = 1.0
    for _ in range(3):
        KEYS["n"] += 1
        s = s * x[0] * KEYS["n"] + x[1]
    return s


def array(x):
    s = 1.0
    for _ in range(3):
        np.add(WORK, 1.0, out=WORK)
        s = s * np.dot(WORK, x) + x[1]
    return s


def array_twice(x):
    WORK[:] = WORK + 1.0
    s = np.sum(WORK * x)
    WORK[:] = WORK + 1.0
    return s * np.sum(WORK * x)


def method(x):
    return COUNTING.loss(x)


def index(x):
    s = 1.0
    for _ in range(2):
        s = s * x[STATE.n] ** 2
        STATE.n += 1
    return s


def condition(x):
    s = 1.0
    for _ in range(4):
        STATE.n += 1
        if STATE.n > 2:
            s = s * x[0]
            s = s + 1.0
        else:
            s = s * x[1] ** 2
    return s


def trips(x):
    s = 1.0
    for _ in range(3):
        STATE.n += 1
        for _ in range(STATE.n):
            s = s * x[0]
    return s


def of_a_number_made_of_it(x):
    s = 1.0
    for _ in range(3):
        STATE.n += 1
        k = STATE.n * 2
        s = s * x[0] * k + x[1]
    return s


def tick():
    STATE.n += 1


def scaled(x):
    return x[0] * STATE.n


def in_calls(x):
    s = 1.0
    for _ in range(3):
        tick()
        s = s * scaled(x) + x[1]
    return s


PROGRAMS = [
    *(attribute, item, key, array, array_twice, method, index, condition, trips),
    *(of_a_number_made_of_it, in_calls),
]


def reset():
    STATE.n = COUNTING.n = ITEMS[0] = KEYS["n"] = 0
    WORK[:] = 0.0


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(f):
    def from_the_start(x):
        reset()
        return f(x)

    (expected,) = differences(from_the_start, (X,), (0,))
    reset()
    assert_close((srcjax.grad(f)(X),), (expected,), rtol=1e-6, atol=1e-7)
    reset()
    _, moved = srcjax.jvp(f, (X,), (np.ones(2),))
    assert_close(moved, np.sum(expected), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("f", [array, array_twice, item], ids=lambda f: f.__name__)
def test_compiled(f):
    reset()
    value = f(X)
    reset()
    assert_close(srcjax.jit(f)(X), value)
    reset()
    gradient = srcjax.grad(f)(X)
    reset()
    assert_close(srcjax.jit(srcjax.grad(f))(X), gradient)


def test_what_stays_is_read_where_it_stands():
    def loss(x):
        return np.sum(x**2) * STATE.n

    assert "n = STATE.n" not in srcjax.source(srcjax.grad(loss), X)
