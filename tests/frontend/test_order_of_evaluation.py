"""What has effects is evaluated in Python's order, in every mode."""

import numpy as np
import pytest

import srcjax
from tests.corpus.harness import assert_close, differences

X = np.array([0.3, 0.7, 1.1])


class Counter:
    def __init__(self):
        self.n = 0.0

    def next(self):
        self.n = 2 * self.n + 1
        return self.n

    @property
    def following(self):
        return self.next()


def several_values(x):
    c = Counter()
    a, b = c.next() * x[0], c.next() * x[1]
    d, e = c.following, c.following * x[2]
    return a + 2 * b + 3 * d * x[0] + 4 * e


def popped_together(x):
    stack = [x[0], x[1], x[2]]
    for op in "-*":
        b, a = stack.pop(), stack.pop()
        stack.append(a - b if op == "-" else a * b * b)
    return stack[0]


def read_before_it_is_popped(x):
    stack = [x[0], x[1] * 2]
    last, a = stack[-1], stack.pop()
    return last * a + stack[0] * len(stack)


def iterated(x):
    steps = iter([1.0, 2.0, 5.0])
    a, b, c = next(steps) * x[0], next(steps) * x[1], next(steps)
    return a * b + c * x[2]


def into_places(x):
    c, y, d = Counter(), x * 1.0, {}
    y[0], y[1] = c.next() * x[1], c.next() * x[0]
    d[c.next()], d[c.next()] = c.next() * x[0], c.next() * x[1]
    return y[0] + 2 * y[1] + sum(key * value for key, value in d.items())


def compared(x):
    c = Counter()
    inside = c.next() < c.next() * x[0] < c.next()
    return inside * x[1] + c.next() * x[0]


def default_of_a_changed_variable(x):
    k, steps = 2.0, [3.0]
    g = lambda z, k=k, first=steps[0]: z * k * first  # noqa: E731
    k, steps[0] = 10.0, 10.0
    return g(x[0]) + k * x[1]


def default_with_an_effect(x):
    c = Counter()
    g = lambda z, v=c.next(): z * v * c.next()  # noqa: B008, E731
    return g(x[0]) + 2 * g(x[1])


@pytest.mark.parametrize(
    "f",
    [
        compared,
        default_of_a_changed_variable,
        default_with_an_effect,
        several_values,
        popped_together,
        read_before_it_is_popped,
        iterated,
        into_places,
    ],
)
def test_order(f):
    value, gradient = srcjax.value_and_grad(f)(X)
    assert_close(value, f(X))
    assert_close(gradient, differences(f, (X,), (0,))[0])
    assert_close(srcjax.jvp(f, (X,), (X,))[1], np.sum(gradient * X))
    if f is not into_places:  # a loop over the examples, with a warning
        assert_close(srcjax.vmap(f)(np.stack([X, 2 * X])), np.array([f(X), f(2 * X)]))
    assert_close(srcjax.jit(f)(X), f(X))
