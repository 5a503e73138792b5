"""What has effects is evaluated in Python's order, in every mode."""

import numpy as np
import pytest

import srcjax
from srcjax.errors import UnsupportedError
from tests.corpus.harness import assert_close, differences
from tests.plain_kernels import kernels_as_python

X = np.array([0.3, 0.7, 1.1])
#: A batch of these is a loop over the examples, with a warning.
LOOPS = []


def in_a_loop(f):
    LOOPS.append(f)
    return f


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


@in_a_loop
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


def update(v, k):
    v[0] = v[0] * 0.5 + k
    return v[0] + v[-1]


class Total:
    def __init__(self, start):
        self.total = start

    def add(self, value):
        self.total = 0.5 * self.total + value
        return self.total

    @property
    def following(self):
        return self.add(0.3)


def updated_in_tests(x):
    v, s = x * 2.0, x[1]
    if update(v, s) > 0.2:
        s = s * 3
    while update(v, s) < 9 and v[0] < 4:
        v *= 1.5
    assert update(v, s) != 77
    small = not update(v, s) > 99
    return v.sum() * s + small * x[0] + (update(v, s) > 0) * v[0]


@in_a_loop
def formatted(x):
    v = x * 2.0
    return len(f"{update(v, x[1]):5.1f}") * v[0]


@in_a_loop
def popped_in_tests(x):
    stack = [x[0], x[1], x[2], x[0] * x[1], x[2] * 2]
    s = x[2] if stack.pop() > 99 else stack.pop()
    a = stack[int(stack.pop() > 99)]
    return s * a + sum(stack) + (stack.pop() > 0) * len(stack)


def objects_in_tests(x):
    t, u = Total(x[0]), Total(2)
    a = t.following > 99 or t.add(x[1]) > 0.1
    if u.add(x[2]) > t.total:
        a = a + 1
    return t.total * a + u.total


def closures_in_tests(x):
    n = x[0] * 1.0

    def step(k):
        nonlocal n
        n = n * n + k
        return n

    a = n * step(0.5) + n
    if step(x[1]) > 99 or not step(0.1):
        a = a + 1
    n += step(0.3)
    b = [n, step(x[2]), n]
    return a + b[0] + 2 * b[1] + 3 * b[2] + 4 * n


def bound_between_operands(x):
    s = x[0] * 1.0
    a = s * (s := s + x[1]) + s
    b = {"a": s, "b": (s := a * s), "c": s}
    c = [s, (s := s * x[2]), s]
    inside = 99 > s >= (s := 0.5 * s) > (s := s - 1)
    d = mixed(s, c=(s := 2 * s), b=s) + mixed(s, (s := s * x[1]), s)
    return a + b["a"] - 2 * b["b"] + b["c"] + c[0] * c[2] + inside * d * s


def mixed(a, b, c):
    return a + 2 * b * c


def read_before_the_update(x):
    v, stack = x * 2.0, [x[0], x[1], x[2]]
    v[0] += update(v, x[1])
    v[:2] *= update(v, x[2]) + v[2]
    stack[0] += stack.pop() * stack[0]
    t = Total(x[0])
    t.total += t.add(x[1])
    return v.sum() + stack[0] * len(stack) + t.total


def keys_that_are_equal(x):
    k = "a"
    d = {"a": x[0], "b": 0.5, "a": x[1] * x[1]}  # noqa: F601
    e = {k: x[0], "a": x[2]}
    return d["a"] + 2 * e[k] + sum(d.values())


def default_of_two_operations(x):
    k = x[0] * 1.0
    g = lambda z, k=-(k + x[1]): z * k  # noqa: E731
    k = k * 2
    return g(k)


@pytest.mark.parametrize(
    "f",
    [
        bound_between_operands,
        closures_in_tests,
        compared,
        default_of_two_operations,
        formatted,
        keys_that_are_equal,
        objects_in_tests,
        popped_in_tests,
        read_before_the_update,
        updated_in_tests,
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
    if f not in LOOPS:
        assert_close(srcjax.vmap(f)(np.stack([X, 2 * X])), np.array([f(X), f(2 * X)]))
    with kernels_as_python():
        assert_close(srcjax.jit(f)(X), f(X))


def test_a_loop_that_may_stop_before_an_effect():
    def f(x):
        v = x * 2.0
        return any(update(v, k) > 1 for k in x) * v.sum()

    with pytest.raises(UnsupportedError, match="in a loop inside of an expression"):
        srcjax.grad(f)(X)
