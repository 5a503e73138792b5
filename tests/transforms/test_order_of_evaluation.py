"""Calls of the user's that do something are made in the order of the program."""

import gast
import numpy as np
import pytest

import srcjax
from srcjax.analysis.flow.evaluation import evaluated
from srcjax.syntax import dotted

X = np.array([[0.5, 1.0], [2.0, -1.0]])


class Counter:
    """Each of its methods counts, whatever it is called."""

    def __init__(self):
        self.calls = 0

    def get(self):
        self.calls += 1
        return float(self.calls)

    copy = sum = mean = item = get


def three_in_a_row(x):
    q = Counter()
    a = x * q.mean()
    b = x**2 * q.sum()
    c = a * q.copy() + b
    return np.sum(c) * q.item()


def in_front_of_a_choice(x):
    q = Counter()
    a = q.get()
    b = 3.0 * x[0] if x[0] > 0 else a * x[1]
    return b * q.get()


def in_front_of_a_second_test(x):
    q = Counter()
    a = q.get()
    if x[0] > 0 and a > 0.5:
        x = 2 * x
    return np.sum(x) * q.get()


@pytest.mark.parametrize(
    "f", [three_in_a_row, in_front_of_a_choice, in_front_of_a_second_test]
)
def test_as_in_the_program(f):
    def pushed(x, t):
        return srcjax.jvp(f, (x,), (t,))[1]

    ones = np.ones_like(X)
    each = [pushed(x, t) for x, t in zip(X, ones, strict=True)]
    slopes = [(f(x + 1e-6) - f(x - 1e-6)) / 2e-6 for x in X]
    np.testing.assert_allclose(each, slopes, rtol=1e-6)
    np.testing.assert_allclose(srcjax.vmap(pushed)(X, ones), each)
    for x, want in zip(X, each, strict=True):
        np.testing.assert_allclose(np.sum(srcjax.grad(f)(x)), want)
        np.testing.assert_allclose(srcjax.jit(f)(x), f(x))


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("y[i()] = f(g(), h()) + k()", "g h f k i"),
        ("y[i()] += f()", "i f"),
        ("x = {a(): b(), c(): d()}", "a b c d"),
        ("x = a() and b()", "a -"),
        ("x = a() if b() else c()", "b -"),
        ("x = a() < b() < c()", "a b -"),
        ("x = [a() for _ in b()]", "b -"),
        ("x = lambda: a()", "-"),
        ("f(a(), *b(), k=c())", "a b c f"),
    ],
)
def test_order(text, calls):
    (stmt,) = gast.parse(text).body
    found = [
        "-" if node is None else dotted(node.func)
        for node in evaluated(stmt)
        if node is None or isinstance(node, gast.Call)
    ]
    assert " ".join(found) == calls


class Tally:
    """A number that changes when it is asked."""

    def __init__(self, total):
        self.total = total
        self.asked = 0

    @property
    def following(self):
        self.asked += 1
        self.total = self.total * 0.5 + self.asked
        return self.total


def in_a_comparison_with_several(x):
    tally = Tally(x)
    found = [x <= e > tally.following for e in (1, 2)]
    return sum(found) + tally.total


def in_a_test_with_several(x):
    tally, trips = Tally(x), 0.0
    while x <= 2 > tally.following:
        trips += 1.0
    return trips + tally.total


@pytest.mark.parametrize("x", [0.3, 1.5, 5.0])
@pytest.mark.parametrize("f", [in_a_comparison_with_several, in_a_test_with_several])
def test_what_is_compared_last_is_asked_where_the_rest_holds(f, x):
    slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    value, along = srcjax.jvp(f, (x,), (1.0,))
    np.testing.assert_allclose([value, along], [f(x), slope], rtol=1e-6)
    np.testing.assert_allclose(srcjax.grad(f)(x), slope, rtol=1e-6)
    np.testing.assert_allclose(srcjax.jit(f)(x), f(x))
    np.testing.assert_allclose(srcjax.vmap(f)(np.array([x, 0.1])), [f(x), f(0.1)])
